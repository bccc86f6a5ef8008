//! Summarizes a plan in one sentence: when the feed is polled next, and why (UX 2).
//!
//! The sentence rounds times to a precision useful to a person. The steps of the plan contain the exact seconds.

use chrono::{DateTime, Timelike, Utc};
use chrono_tz::Tz;

use crate::feed::text::counted_words;
use crate::schedule::facts::{Facts, FeedStatus};
use crate::schedule::holds::cache::counted;
use crate::schedule::holds::retry_after::{Wait, WaitHeader};
use crate::schedule::learning::{LearnedPlan, PeakDays};
use crate::schedule::limits::{MINUTE, Pace};
use crate::schedule::plan::{Decision, Plan, PlanKind, PlanStep, SettledBy, Value};
use crate::schedule::recommend::Bounds;
use crate::words::{about_interval_words, duration_words, interval_words, when_words};

/// Publications expected in an hour, as a multiple of the hourly mean, below which a feed posts little.
const QUIET_TIMES_MEAN: f64 = 0.5;
/// Number of entries that must have been seen to arrive before a sentence says when a feed posts little.
const ARRIVALS_MIN: usize = 8;

/// Returns when and why a feed is polled next, without the full stop: `Next poll around 20:00, because it usually
/// posts in the evening`.
pub fn plan_sentence(facts: &Facts, decision: &Decision, now: DateTime<Utc>, zone: Tz) -> String {
    let why = reason(facts, decision, zone);
    match decision.next_poll {
        Some(at) => format!("Next poll {}, because {why}", when_words(at, now, zone)),
        None => format!("No automatic polls, because {why}"),
    }
}

/// Describes a plan in sentences: the time of the next poll and the reason, then each step of the calculation. Times include
/// seconds.
pub fn plan_lines(facts: &Facts, plan: &Plan, now: DateTime<Utc>, zone: Tz) -> Vec<String> {
    let mut lines = vec![format!("{}.", plan_sentence(facts, &plan.decision(), now, zone))];
    lines.extend(plan.steps.iter().map(|step| step_line(step, zone)));
    let flaws = plan.flaws.iter();
    lines
        .extend(flaws.map(|flaw| format!("  ! {} '{}': {}", flaw.element, flaw.text, flaw.reason)));
    lines
}

/// Formats one step of the calculation: its stage, the value before and after the step, and the reason.
fn step_line(step: &PlanStep, zone: Tz) -> String {
    let words = |value: Value| match value {
        Value::Seconds(seconds) => duration_words(seconds),
        Value::At(at) => at.with_timezone(&zone).format("%a %-d %b %H:%M:%S").to_string(),
    };
    let values = match (step.before, step.after) {
        (Some(before), Some(after)) if before != after => {
            format!("{} → {}: ", words(before), words(after))
        }
        (_, Some(after)) => format!("{}: ", words(after)),
        (_, None) => String::new(),
    };
    let stage = step.stage.in_words();
    format!("  {stage:<15} {values}{}", step.reason)
}

/// Describes the effect of another pace compared with the current plan: the interval and the next poll, or why nothing changes.
pub fn pace_sentence(
    facts: &Facts,
    current: &Decision,
    other: &Decision,
    now: DateTime<Utc>,
    zone: Tz,
) -> String {
    let placed = crate::schedule::places_polls(facts);
    let every = other.binding_seconds.filter(|_| !placed).map(every_words);
    let same_interval = placed || current.binding_seconds == other.binding_seconds;
    let stays = current.next_poll == other.next_poll;
    match (every, other.next_poll) {
        (_, None) => format!("no effect ({})", reason(facts, other, zone)),
        (_, Some(_)) if stays && same_interval => {
            format!("no effect yet ({})", why_unmoved(facts, other, zone))
        }
        (Some(every), Some(_)) if stays => {
            format!("{every}, but only after the next poll ({})", why_unmoved(facts, other, zone))
        }
        (Some(every), Some(at)) => format!("{every}, next poll {}", when_words(at, now, zone)),
        (None, Some(at)) => format!("next poll {}", when_words(at, now, zone)),
    }
}

/// What settled a plan, with the reason why the plan is therefore the same at any pace.
const UNMOVED_BY: [(SettledBy, &str); 4] = [
    (SettledBy::Fixed, "you fixed the interval"),
    (SettledBy::Minimum, "it is already at the shortest interval"),
    (SettledBy::Maximum, "it is already at the longest interval"),
    (SettledBy::Learned, "the next poll is the same either way"),
];

/// Returns why a plan is the same at any pace.
fn why_unmoved(facts: &Facts, decision: &Decision, zone: Tz) -> String {
    let unmoved = UNMOVED_BY.iter().find(|(by, _)| *by == decision.settled_by);
    unmoved.map_or_else(|| reason(facts, decision, zone), |(_, why)| (*why).to_owned())
}

fn every_words(seconds: u32) -> String {
    about_interval_words(i64::from(seconds))
}

/// Returns the reason for the time of the next poll, phrased to follow `because`.
fn reason(facts: &Facts, decision: &Decision, zone: Tz) -> String {
    let every = || decision.binding_seconds.map_or_else(|| "at times".to_owned(), every_words);
    let begins = decision.kind == PlanKind::Boundary;
    match decision.settled_by {
        SettledBy::Fixed => format!("you want it polled {}", every()),
        SettledBy::OwnRules if begins => {
            format!("your rules ask for a poll {} from then on", every())
        }
        SettledBy::OwnRules => paced(facts, "your rules", "at this time", &every()),
        SettledBy::Rules if begins => {
            format!("the publisher's rules ask for a poll {} from then on", every())
        }
        SettledBy::Rules => paced(facts, "the publisher's rules", "at this time", &every()),
        SettledBy::Sy if decision.kind == PlanKind::Slot => {
            "it follows an update time stated by the publisher".to_owned()
        }
        SettledBy::Sy | SettledBy::Ttl | SettledBy::RefreshRate => {
            paced(facts, "the publisher", "", &every())
        }
        SettledBy::BoilerplateSy => paced(facts, "the publisher's software", "", &every()),
        SettledBy::Learned => learned_reason(facts, decision, zone),
        SettledBy::Default => {
            format!("nothing is known about when it posts: it is polled {}", every())
        }
        SettledBy::Minimum => minimum_reason(facts),
        SettledBy::Maximum if facts.standing == FeedStatus::Archive => {
            "it is an archive, which never changes".to_owned()
        }
        SettledBy::Maximum => {
            let bounds = Bounds::from_facts(facts);
            let longest = interval_words(bounds.max);
            if bounds.has_usual_max() {
                format!("every feed is polled at least {longest}")
            } else {
                format!("you want it polled at least {longest}")
            }
        }
        SettledBy::BackOff => match facts.failures {
            0 | 1 => "the last attempt failed".to_owned(),
            failures => format!("the last {failures} attempts failed"),
        },
        SettledBy::CacheLifetime => lifetime_reason(facts),
        SettledBy::RetryAfter => wait_reason(facts),
        SettledBy::Dead => "it has not been found for a month: it is polled once a week".into(),
        SettledBy::SkipHours => "the publisher asks for no polls in the hours before then".into(),
        SettledBy::SkipDays => "the publisher asks for no polls on the days before then".into(),
        SettledBy::Overdue => "it was due while backissue was not running".into(),
        SettledBy::FirstPoll => "it has not been read yet".into(),
        SettledBy::Gone => "the publisher ended it".into(),
        SettledBy::Stopped => "its address leads nowhere".into(),
        SettledBy::ByServer => "the server of your account polls it".into(),
        SettledBy::Paused => "you paused it".into(),
        SettledBy::Expired => "the publisher says that it is finished".into(),
    }
}

/// Describes the cache lifetime that the server stated for its last response, and how much of this lifetime is respected.
fn lifetime_reason(facts: &Facts) -> String {
    let stated =
        facts.cache.filter(|_| facts.failures == 0).and_then(|cache| cache.stated_seconds());
    match stated.map(|stated| (stated, counted(stated))) {
        Some((stated, counted)) if counted < stated => format!(
            "its server says that its last response is fresh for {}, but only {} count",
            duration_words(stated),
            duration_words(counted)
        ),
        Some(_) | None => "its server says that its last response is fresh until then".to_owned(),
    }
}

/// Describes the source that requests an interval, and how the user's pace changes the interval.
fn paced(facts: &Facts, who: &str, at: &str, every: &str) -> String {
    let verb = if who.ends_with("rules") { "ask" } else { "asks" };
    let at = if at.is_empty() { String::new() } else { format!(" {at}") };
    match facts.settings.pace {
        Pace::Normal => format!("{who} {verb} for a poll {every}{at}"),
        Pace::More => format!("you want it twice as often as {who} {verb}{at}: {every}"),
        Pace::Less => format!("you want it half as often as {who} {verb}{at}: {every}"),
    }
}

fn minimum_reason(facts: &Facts) -> String {
    let bounds = Bounds::from_facts(facts);
    let shortest = interval_words(bounds.min);
    if bounds.has_least_min() {
        format!("no feed is polled more often than {shortest}")
    } else if bounds.has_usual_min() {
        format!("no feed is polled more often than {shortest} unless you ask for it")
    } else {
        format!("you want it polled no more often than {shortest}")
    }
}

/// Describes what was learned and why it results in this poll time.
fn learned_reason(facts: &Facts, decision: &Decision, zone: Tz) -> String {
    let learned = facts.learned.as_ref();
    let Some(plan) = learned.and_then(|learned| learned.plan.as_deref()) else {
        return "that matches when it has posted so far".to_owned();
    };
    let rhythm = &plan.rhythm;
    if !plan.is_placed() {
        let posts = counted_words(rhythm.publications, "post", "posts");
        return format!("that suits its {posts} in twelve weeks");
    }
    let posts = rhythm.posts_words();
    let set_times = rhythm.has_set_times();
    match decision.due.filter(|_| set_times).and_then(|at| plan.peak_before(at)) {
        Some((published, days)) => {
            let part = part_of_day(published.with_timezone(&zone), days);
            format!("it {} {part}", posts.usual)
        }
        None if is_quiet_until(plan, facts, decision) && set_times => {
            "it usually posts little before then".to_owned()
        }
        None => format!("it {} {}", posts.plain, rhythm.rate_words()),
    }
}

/// Checks whether a placed poll comes at its time because few publications are expected before it, as arrivals have shown, and not
/// because of the shortest gap or the pace.
fn is_quiet_until(plan: &LearnedPlan, facts: &Facts, decision: &Decision) -> bool {
    // The grid of a plan rounds the shortest gap up.
    let shortest = Bounds::from_facts(facts).min + 5 * MINUTE;
    let gap = decision.binding_seconds.map_or(0, i64::from);
    let is_low = decision.due.is_some_and(|at| plan.times_mean(at) < QUIET_TIMES_MEAN);
    let is_seen = plan.rhythm.is_certain() && plan.rhythm.arrivals >= ARRIVALS_MIN;
    is_seen && is_low && gap > shortest && facts.settings.pace == Pace::Normal
}

/// Describes the part of the day in which a feed posts: `in the evening`, `on weekend mornings`, `on Tuesday nights`.
fn part_of_day(published: DateTime<Tz>, days: PeakDays) -> String {
    let (in_it, parts) = match published.hour() {
        5..=11 => ("in the morning", "mornings"),
        12..=17 => ("in the afternoon", "afternoons"),
        18..=22 => ("in the evening", "evenings"),
        _ => ("at night", "nights"),
    };
    match days {
        PeakDays::Working => in_it.to_owned(),
        PeakDays::Weekend => format!("on weekend {parts}"),
        PeakDays::One(_) => format!("on {} {parts}", published.format("%A")),
    }
}

/// Returns a sentence fragment about a wait of a host: for how long, until when, and why.
pub fn wait_words(wait: &Wait, host: Option<String>, now: DateTime<Utc>, zone: Tz) -> String {
    let host = host.unwrap_or_default();
    let until = wait.end().unwrap_or(now);
    let left = duration_words(until.signed_duration_since(now).num_seconds().max(1));
    let left = format!("{left}, until {}", until.with_timezone(&zone).format("%H:%M"));
    match (wait.stated_by, wait.stated_by.limit_name()) {
        (WaitHeader::RetryAfter, _) => format!("{host} asked backissue to wait {left}"),
        (_, Some(name)) => format!("{host} takes no request for {left} ({name})"),
        (_, None) => format!("{host} answered 429: no request for {left}"),
    }
}

/// Returns why the server takes no request before the end of its wait. "Asked to wait" is said only if it did.
fn wait_reason(facts: &Facts) -> String {
    let waits = [facts.retry_after, facts.host_wait].into_iter().flatten();
    let latest = waits.max_by_key(Wait::end);
    match latest.map(|wait| wait.stated_by) {
        Some(WaitHeader::RetryAfter) | None => {
            "its server asked backissue to wait until then".into()
        }
        Some(WaitHeader::CacheControl | WaitHeader::Nothing) => {
            "its server answered 429 Too Many Requests".into()
        }
        Some(header) => format!(
            "its server takes no request before then ({})",
            header.limit_name().unwrap_or_default()
        ),
    }
}

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
