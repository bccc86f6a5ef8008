//! Waits and lifetimes in the headers of an answer that the next request must respect.

use backissue::engine::poll::fetch::AnswerHeaders;
use chrono::{DateTime, TimeDelta};

use super::moments::{Moment, Wait};

/// Returns the wait that a refusing answer requests (SPEC B.4 rule 3).
pub fn wait_of(status: u16, headers: &AnswerHeaders, now: Moment) -> Wait {
    let seconds: i64 = headers.retry_after.as_deref()?.parse().ok()?;
    let wait = TimeDelta::seconds(seconds).min(TimeDelta::days(7));
    (!(200..300).contains(&status) && status != 304).then_some((now, wait))
}

/// Returns the lifetime of an answer, during which it must not be requested again (SPEC B.4 rule 2).
pub fn lifetime_of(headers: &AnswerHeaders, now: Moment) -> Wait {
    let cache = headers.cache_control.as_deref().unwrap_or_default();
    if cache.contains("no-cache") || cache.contains("no-store") {
        return None;
    }
    let stated = cache.split(',').find_map(|part| part.trim().strip_prefix("max-age="));
    let life = if let Some(seconds) = stated.and_then(|age| age.parse::<i64>().ok()) {
        seconds
    } else {
        let date = |text: Option<&String>| DateTime::parse_from_rfc2822(text?).ok();
        (date(headers.expires.as_ref())? - date(headers.date.as_ref())?).num_seconds()
    };
    let (two_days, week) = (48 * 3600, 7 * 24 * 3600);
    let counted = match life {
        life if life > week => 6 * 3600,
        life => life.min(two_days),
    };
    let age: i64 = headers.age.as_deref().and_then(|age| age.parse().ok()).unwrap_or(0);
    (counted > age).then(|| (now, TimeDelta::seconds(counted - age)))
}
