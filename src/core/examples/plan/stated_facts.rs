//! Reads the facts about a feed that a file states as JSON.

use backissue_core::{InputFlaw, flaw};
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};

use backissue_core::feed::hints::INTERVAL_MINUTES_MAX;
use backissue_core::feed::{Hints, Zone};
use backissue_core::schedule::learning::{
    LearnTerms, MINUTE_MAX, PRICE_MINUTES, PUBLICATIONS_MAX, Publications, learn,
};
use backissue_core::schedule::{
    CacheState, Facts, FeedStatus, Learned, Pace, PollFailure, ScheduleSettings, TimingHeaders,
    Wait,
};

/// The facts stated in JSON, with the time and the share of the jitter for the plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedFacts {
    /// The facts that the plan uses.
    pub(crate) facts: Facts,
    /// Time of the plan: as stated, otherwise the later of `last_try` and `last_ok`, otherwise the caller's clock. If any time is
    /// stated, the plan is therefore the same on any day.
    pub(crate) now: DateTime<Utc>,
    /// The feed's share of the jitter: as stated, otherwise 0.
    pub(crate) u: f64,
}

/// The fields of the JSON text that states the facts. An absent field and null both mean the default.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FactsText {
    last_ok: Option<DateTime<Utc>>,
    last_try: Option<DateTime<Utc>>,
    now: Option<DateTime<Utc>>,
    u: Option<f64>,
    pace: Option<Pace>,
    min_minutes: Option<f64>,
    max_minutes: Option<f64>,
    default_minutes: Option<f64>,
    fixed_minutes: Option<f64>,
    failures: Option<u32>,
    status: Option<u16>,
    headers: Option<BTreeMap<String, Value>>,
    learned: Option<Value>,
    ignore_cache_lifetime: Option<bool>,
    ignore_skips: Option<bool>,
    loopback: Option<bool>,
    standing: Option<FeedStatus>,
}

/// Reads the JSON text of stated facts. The error is a sentence that tells the user what to change.
pub(crate) fn read_facts(
    hints: Hints,
    text: &str,
    clock: DateTime<Utc>,
) -> Result<StatedFacts, InputFlaw> {
    let unreadable = |error| format!("the facts cannot be read: {error}");
    let object: Map<String, Value> = serde_json::from_str(text).map_err(unreadable)?;
    let stated: FactsText = serde_json::from_value(Value::Object(object)).map_err(unreadable)?;
    let now = stated.now.or(stated.last_try.max(stated.last_ok)).unwrap_or(clock);
    let mut facts = Facts {
        hints,
        settings: settings(&stated)?,
        standing: stated.standing.unwrap_or_default(),
        last_ok: stated.last_ok,
        last_try: stated.last_try.or(stated.last_ok),
        loopback: stated.loopback.unwrap_or(false),
        ..Facts::default()
    };
    if let Some(value) = &stated.learned {
        facts.learned = learned(value, &facts, now)?;
    }
    apply_answer(&mut facts, &stated, now);
    Ok(StatedFacts { facts, now, u: stated.u.unwrap_or(0.0) })
}

fn settings(stated: &FactsText) -> Result<ScheduleSettings, InputFlaw> {
    let defaults = ScheduleSettings::default();
    let or = |name, minutes: Option<f64>, default: u32| {
        minutes.map_or(Ok(default), |minutes| seconds_of(name, minutes))
    };
    let fixed = stated.fixed_minutes.map(|minutes| seconds_of("fixed_minutes", minutes));
    Ok(ScheduleSettings {
        pace: stated.pace.unwrap_or_default(),
        min_seconds: or("min_minutes", stated.min_minutes, defaults.min_seconds)?,
        max_seconds: or("max_minutes", stated.max_minutes, defaults.max_seconds)?,
        default_seconds: or("default_minutes", stated.default_minutes, defaults.default_seconds)?,
        fixed_seconds: fixed.transpose()?,
        ignore_cache_lifetime: stated.ignore_cache_lifetime.unwrap_or(false),
        ignore_skips: stated.ignore_skips.unwrap_or(false),
        ..defaults
    })
}

/// Converts minutes, possibly fractional, to seconds. More than 366 days count as 366 days.
fn seconds_of(name: &str, minutes: f64) -> Result<u32, InputFlaw> {
    if !(minutes.is_finite() && minutes >= 0.0) {
        return Err(flaw!("{name} must be a number of minutes, 0 or more, but is {minutes}"));
    }
    let longest = f64::from(INTERVAL_MINUTES_MAX) * 60.0;
    #[expect(clippy::cast_possible_truncation, reason = "limited to 366 days")]
    #[expect(clippy::cast_sign_loss, reason = "checked to be 0 or more")]
    let seconds = (minutes * 60.0).round().min(longest) as u32;
    Ok(seconds)
}

/// Reads the `learned` field: an interval in minutes, an object with `interval_minutes`, or an object with the `publications` to
/// learn from.
fn learned(value: &Value, facts: &Facts, now: DateTime<Utc>) -> Result<Option<Learned>, InputFlaw> {
    if value.is_null() {
        return Ok(None);
    }
    if let Some(stated) = value.get("publications") {
        return learned_from(stated, value.get("since"), facts, now).map(Some);
    }
    let stated = value.get("interval_minutes").unwrap_or(value).as_f64();
    let minutes = stated
        .ok_or("learned must be null, a number of minutes, {\"interval_minutes\": number}, or {\"publications\": times}")?;
    let interval_seconds = seconds_of("learned", minutes)?;
    Ok((interval_seconds > 0).then(|| Learned::every(interval_seconds)))
}

/// Learns a plan from publications, stated as minutes since 1970 or RFC 3339 times. No publication is missing since `since`, or, if
/// it is absent, since the first publication.
fn learned_from(
    stated: &Value,
    since: Option<&Value>,
    facts: &Facts,
    now: DateTime<Utc>,
) -> Result<Learned, InputFlaw> {
    let wrong =
        "publications and since must be minutes since 1970 or times like 2026-03-02T10:00:00Z";
    let minutes = stated.as_array().and_then(|times| {
        let minutes = times.iter().take(PUBLICATIONS_MAX).map(minute_of);
        minutes.collect::<Option<Vec<i64>>>()
    });
    let minutes = minutes.ok_or(wrong)?;
    let now_minute = now.timestamp().div_euclid(60);
    let first = minutes.iter().copied().min().unwrap_or(now_minute);
    let since = match since {
        Some(since) => minute_of(since).ok_or(wrong)?,
        None => first,
    };
    let settings = &facts.settings;
    let terms = LearnTerms {
        min_seconds: settings.min_seconds,
        max_seconds: settings.max_seconds,
        price_minutes: PRICE_MINUTES,
        zone: Zone::Utc,
    };
    let known = Publications::of_minutes(minutes, since, now_minute);
    let plan =
        learn(&known, &terms, now).ok_or("nothing can be learned from these publications")?;
    Ok(Learned::by_plan(Arc::new(plan), facts.last_ok, settings))
}

fn minute_of(value: &Value) -> Option<i64> {
    let stated = || value.as_str()?.parse::<DateTime<Utc>>().ok();
    let minute = value.as_i64().or_else(|| stated().map(|at| at.timestamp().div_euclid(60)));
    minute.filter(|minute| (0..=MINUTE_MAX).contains(minute))
}

/// Updates the facts with the stated status, failures and headers of the last response.
///
/// An error status counts as one failure even if no failures are stated. A status of 0, or failures without a status, mean that
/// there was no response.
fn apply_answer(facts: &mut Facts, stated: &FactsText, now: DateTime<Utc>) {
    let failures = stated.failures.unwrap_or(0);
    let good = |status| matches!(status, 200 | 203 | 226 | 304);
    let failed = failures > 0 || stated.status.is_some_and(|status| status != 0 && !good(status));
    let texts = header_texts(stated);
    let headers = answer_headers(&texts);
    let status = stated.status.unwrap_or(if failed { 0 } else { 200 });
    let received_at = if failed { facts.last_try } else { facts.last_ok };
    let received_at = received_at.unwrap_or(now);
    facts.retry_after = Wait::of_answer(status, &headers, received_at);
    if !failed {
        facts.cache = Some(CacheState::of_document(&headers, received_at));
        return;
    }
    facts.failures = failures.max(1);
    facts.failure = Some(match status {
        0 => PollFailure::Unanswered,
        good_status if good(good_status) => PollFailure::Unreadable,
        status => PollFailure::Status(status),
    });
    if status == 410 {
        facts.standing = FeedStatus::Gone;
    }
}

/// Returns the stated header values by header name in lower case. A list of values is joined with commas, as in HTTP.
fn header_texts(stated: &FactsText) -> BTreeMap<String, String> {
    let headers = stated.headers.iter().flatten();
    headers.filter_map(|(name, value)| Some((name.to_ascii_lowercase(), text_of(value)?))).collect()
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(values) => {
            Some(values.iter().filter_map(text_of).collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

fn answer_headers(texts: &BTreeMap<String, String>) -> TimingHeaders<'_> {
    let header = |name| texts.get(name).map(String::as_str);
    TimingHeaders {
        cache_control: header("cache-control"),
        expires: header("expires"),
        date: header("date"),
        age: header("age"),
        retry_after: header("retry-after"),
        rate_limits: None,
    }
}
