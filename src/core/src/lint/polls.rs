//! The polls that result from a document's polling hints, for a feed reader with default settings.

use chrono::{DateTime, Datelike, Duration, NaiveTime, Utc};

use super::lint_input::LintInput;
use super::table::{self, Findings};
use crate::feed::{DocumentRole, FeedDocument};
use crate::schedule::limits::FOLLOWING_MAX;
use crate::schedule::{Facts, FeedStatus, SettledBy, following_plans};
use crate::words::{about_duration, listed, utc_minute, utc_weekday};

/// Number of polls listed in the report.
const NAMED: usize = 3;

/// The polls of a reader with default settings and without jitter, after a poll on a Monday at 10:00 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polls {
    /// Time of the assumed last poll: the latest Monday 10:00 UTC that is not after `now`.
    pub last_ok: DateTime<Utc>,
    /// The hint or setting that determines the first poll.
    pub settled_by: SettledBy,
    /// The next three polls; empty if the feed is never polled.
    pub next: Vec<DateTime<Utc>>,
    /// Number of polls in the seven days after `last_ok`.
    pub a_week: usize,
}

/// Returns the last Monday 10:00 UTC that is not after `now`.
pub(super) fn reference(now: DateTime<Utc>) -> DateTime<Utc> {
    let days = i64::from(now.weekday().num_days_from_monday());
    let ten = NaiveTime::from_hms_opt(10, 0, 0).unwrap_or_default();
    let monday = (now - Duration::days(days)).date_naive().and_time(ten).and_utc();
    if monday > now { monday - Duration::days(7) } else { monday }
}

/// Returns the scheduling facts for a reader with default settings whose last poll was at the time that [`reference`]
/// returns.
pub(super) fn facts(exhibit: &LintInput<'_>) -> Facts {
    let document = exhibit.document;
    let standing = if document.role == DocumentRole::Archive {
        FeedStatus::Archive
    } else {
        FeedStatus::Active
    };
    let last_ok = reference(exhibit.now);
    let cache = exhibit.cache.map(|cache| cache.repeated_at(last_ok));
    let hints = document.hints.clone();
    Facts { hints, standing, last_ok: Some(last_ok), cache, ..Facts::default() }
}

/// Computes the resulting polls and adds a finding that describes them.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) -> Option<Polls> {
    let polls = polls(exhibit)?;
    let settled_by = polls.settled_by.word();
    if polls.next.is_empty() {
        findings.say(table::NO_POLLS.of("feed"), "", &[&settled_by]);
        return Some(polls);
    }
    let next: Vec<String> = polls.next.iter().copied().map(utc_weekday).collect();
    let (last, next) = (utc_minute(polls.last_ok), listed(&next));
    findings.say(table::POLLS.of("feed"), "", &[&last, &next, &settled_by, &polls.a_week]);
    if exhibit.document.role == DocumentRole::Archive {
        findings.say(table::POLLED_ARCHIVE.of("feed"), "", &[]);
    }
    rate(exhibit.document, findings);
    Some(polls)
}

fn polls(exhibit: &LintInput<'_>) -> Option<Polls> {
    let last_ok = reference(exhibit.now);
    let plans = following_plans(&facts(exhibit), last_ok, FOLLOWING_MAX, |_| 0.0);
    let times = || plans.iter().filter_map(|plan| plan.next_poll);
    let week_end = last_ok + Duration::days(7);
    Some(Polls {
        last_ok,
        settled_by: plans.first()?.settled_by,
        next: times().take(NAMED).collect(),
        a_week: times().take_while(|at| *at <= week_end).count(),
    })
}

/// Adds a finding that states how often entries appear and how far back the document's entries go.
fn rate(document: &FeedDocument, findings: &mut Findings) {
    let Some(gap) = document.mean_gap() else { return };
    let reach = document.entry_dates();
    let (Some(first), Some(last)) = (reach.first(), reach.last()) else { return };
    let reach = about_duration((*last - *first).num_seconds());
    let beyond = match document.role {
        DocumentRole::Plain => {
            "; readers that do not poll for longer miss entries, because there are no archives"
        }
        DocumentRole::Subscription
        | DocumentRole::Archive
        | DocumentRole::Complete
        | DocumentRole::Paged => "",
    };
    findings.say(table::RATE.of("feed"), "", &[&about_duration(gap), &reach, &beyond]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_the_last_monday_at_ten() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().expect("an instant");
        let monday = at("2026-03-02T10:00:00Z");
        for now in ["2026-03-02T10:00:00Z", "2026-03-08T23:59:59Z", "2026-03-09T09:59:59Z"] {
            assert_eq!(reference(at(now)), monday, "{now}");
        }
    }
}
