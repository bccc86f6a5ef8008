//! Checks of polling hints: describes each hint, states which hint takes precedence over it, reports errors, and computes the polls
//! of a feed reader with default settings.

use chrono::{DateTime, Datelike, Duration, NaiveTime, Utc};

use super::document;
use super::table::{self, Findings, LintInput, Topic};
use crate::feed::text::counted_words;
use crate::feed::{DocumentRole, FeedDocument, Hints, SyHint};
use crate::schedule::limits::{DEFAULT_MAX_SECONDS, DEFAULT_MIN_SECONDS, FOLLOWING_MAX, MINUTE};
use crate::schedule::{
    Facts, FeedStatus, PlanStage, ScheduleSettings, SettledBy, Value, decide, following_plans,
    rule_in_force, rule_words,
};
use crate::words::{about_duration, duration_words, listed, utc_minute, utc_weekday};

/// Values that are common for an interval in seconds but unusual for one in minutes.
const COMMON_SECONDS: [u32; 8] = [900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400];
/// Number of hours in a week.
const WEEK_HOURS: i64 = 168;

/// Checks the polling hints of a document.
pub(super) fn check(input: &LintInput<'_>, findings: &mut Findings) {
    let hints = &input.document.hints;
    let speakers = speakers(hints, reference(input.now));
    if input.document.role == DocumentRole::Archive {
        archive(hints, &speakers, findings);
    } else {
        let uncovered = rules(input, &speakers, findings);
        for (rank, speaker) in speakers.iter().enumerate() {
            let above = speakers.get(..rank).unwrap_or_default();
            flat(hints, *speaker, &rank_words(above, *speaker, uncovered), findings);
        }
        skips(hints, &speakers, findings);
        if speakers.is_empty() && !hints.expired {
            findings.say(table::NO_HINT.of("feed"), "", &[]);
        }
    }
    others(hints, findings);
    ttl_in_seconds(input, findings);
    document::check_oddities(input, Topic::Hints, findings);
}

fn archive(hints: &Hints, speakers: &[StatedHint], findings: &mut Findings) {
    if !speakers.is_empty() || !hints.skip_hours.is_empty() || !hints.skip_days.is_empty() {
        findings.say(table::HINTS_IN_ARCHIVE, "", &[]);
    }
}

/// Describes the interval rules and reports rules that never apply. Returns the number of hours in a week that no rule
/// covers.
fn rules(input: &LintInput<'_>, speakers: &[StatedHint], findings: &mut Findings) -> usize {
    let rules = &input.document.hints.intervals;
    if rules.is_empty() {
        return 0;
    }
    let (in_force, uncovered) = week(input);
    for (at, rule) in rules.iter().enumerate() {
        let seconds = i64::from(rule.minutes) * MINUTE;
        let held = held_words(seconds);
        let (every, when) = (duration_words(seconds), rule_words(rule));
        findings.say(table::RULE, "", &[&(at + 1), &every, &when, &held]);
        if !in_force.contains(&at) {
            findings.say(table::UNUSED_RULE, &rule.minutes.to_string(), &[&(at + 1)]);
        }
    }
    let next = speakers.get(1).copied();
    if uncovered > 0 {
        let instead = next.map_or("the reader's default", StatedHint::name);
        findings.say(table::UNCOVERED, "", &[&uncovered, &WEEK_HOURS, &instead]);
    }
    uncovered
}

/// Returns the indices of the rules that apply in at least one hour of the week, and the number of hours without a rule.
fn week(input: &LintInput<'_>) -> (Vec<usize>, usize) {
    let facts = facts(input);
    let start: DateTime<Utc> = reference(input.now);
    let hours = (0..WEEK_HOURS).map(|hour| rule_in_force(&facts, start + Duration::hours(hour)));
    let (mut in_force, mut uncovered) = (Vec::new(), 0);
    for rule in hours {
        match rule {
            Some(rule) => in_force.push(rule),
            None => uncovered += 1,
        }
    }
    (in_force, uncovered)
}

/// Describes which hint takes precedence over this hint, or that readers follow this hint.
fn rank_words(above: &[StatedHint], speaker: StatedHint, uncovered: usize) -> String {
    match above {
        [] => format!("; readers follow it{}", held_words(speaker.seconds.unwrap_or_default())),
        [rules] if rules.by == SettledBy::Rules && uncovered > 0 => {
            "; overruled by the interval rules in the hours they cover".to_owned()
        }
        [strongest, ..] => format!("; overruled by {}", strongest.name()),
    }
}

/// Describes the interval of a hint that is not an interval rule.
fn flat(hints: &Hints, speaker: StatedHint, standing: &str, findings: &mut Findings) {
    let Some(seconds) = speaker.seconds else { return };
    let every = duration_words(seconds);
    let asks = match (speaker.by, hints.sy) {
        (SettledBy::Sy, Some(sy)) => sy_words(sy, &every),
        (SettledBy::BoilerplateSy, _) => format!(
            "hourly, once, without a base: WordPress writes this into every feed, so it counts as every {every}, \
             and only if there is no other hint"
        ),
        _ => format!("every {every}"),
    };
    findings.say(table::STATED_INTERVAL.of(speaker.name()), "", &[&asks, &standing]);
}

fn sy_words(sy: SyHint, every: &str) -> String {
    let times = counted_words(sy.frequency, "update", "updates");
    let phase = match sy.base {
        Some(base) => format!("aligned with {}", utc_minute(base)),
        None => "counted from the last poll, since no base is stated".to_owned(),
    };
    format!("{}, {times}: every {every}, {phase}", sy.period.word())
}

/// Describes how a reader's default minimum and maximum change an interval.
fn held_words(seconds: i64) -> String {
    let (min, max) = (i64::from(DEFAULT_MIN_SECONDS), i64::from(DEFAULT_MAX_SECONDS));
    if seconds < min {
        format!(", raised to a reader's usual minimum of {}", duration_words(min))
    } else if seconds > max {
        format!(", cut to a reader's usual maximum of {}", duration_words(max))
    } else {
        String::new()
    }
}

/// Describes the hours and days in which the feed asks not to be polled, and whether readers respect them (SPEC B.5).
fn skips(hints: &Hints, speakers: &[StatedHint], findings: &mut Findings) {
    let (hours, days) = (hints.skip_hours.len(), hints.skip_days.len());
    let covers_all = hours >= 24 || days >= 7;
    if (hours == 0 && days == 0) || covers_all {
        return;
    }
    let mut windows = Vec::new();
    if hours > 0 {
        let numbers: Vec<String> = hints.skip_hours.iter().map(u8::to_string).collect();
        let unit = if hours == 1 { "hour" } else { "hours" };
        windows.push(format!("{unit} {}", listed(&numbers)));
    }
    windows.extend(hints.skip_days.iter().map(|day| day.name().to_owned()));
    let replaced =
        speakers.iter().find(|speaker| matches!(speaker.by, SettledBy::Rules | SettledBy::Sy));
    let closed = WEEK_HOURS - i64::try_from((24 - hours) * (7 - days)).unwrap_or(0);
    let share = (closed * 100 + WEEK_HOURS / 2) / WEEK_HOURS;
    let standing = match replaced {
        Some(speaker) => format!("ignored, because {} replaces the skip windows", speaker.name())
            .replace("rules replaces", "rules replace"),
        None => format!("no automatic polls then ({share} % of the week)"),
    };
    let element = if hours > 0 { "skipHours" } else { "skipDays" };
    findings.say(table::SKIP_WINDOWS.of(element), "", &[&listed(&windows), &standing]);
}

fn others(hints: &Hints, findings: &mut Findings) {
    if hints.offers_push {
        findings.say(table::PUSH.of("hub"), "", &[]);
    }
    if hints.expired {
        findings.say(table::ENDED.of("expired"), "", &[]);
    }
}

/// Reports a `ttl` that was probably meant in seconds, although the unit is minutes. Readers never correct it (SPEC G.3).
fn ttl_in_seconds(input: &LintInput<'_>, findings: &mut Findings) {
    let hints = &input.document.hints;
    let Some(ttl) = hints.ttl_minutes else { return };
    let gap = input.document.mean_gap().filter(|gap| hints.ttl_like_seconds(*gap).is_some());
    let because = match gap {
        Some(gap) => format!(", since an entry appears about every {}", about_duration(gap)),
        None if COMMON_SECONDS.contains(&ttl) => String::new(),
        None => return,
    };
    let minutes = duration_words(i64::from(ttl) * MINUTE);
    findings.say(table::TTL_IN_SECONDS, &ttl.to_string(), &[&because, &minutes]);
}

/// A hint that states an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StatedHint {
    pub(super) by: SettledBy,
    /// Requested interval in seconds, before the user's minimum and maximum are applied; `None` for interval rules, which
    /// state several intervals.
    pub(super) seconds: Option<i64>,
}

impl StatedHint {
    /// Returns the name of the hint, as used in the report.
    pub(super) fn name(self) -> &'static str {
        match self.by.hint_name() {
            "" => "the reader's default",
            name => name,
        }
    }
}

/// Returns the hints that state an interval, the one with the highest precedence first (SPEC B.2). Determines the order by
/// repeatedly computing the schedule and removing the hint that determines the next poll.
fn speakers(hints: &Hints, now: DateTime<Utc>) -> Vec<StatedHint> {
    let mut left =
        Hints { skip_hours: Vec::new(), skip_days: Vec::new(), expired: false, ..hints.clone() };
    let mut speakers = Vec::new();
    if !left.intervals.is_empty() {
        left.intervals.clear();
        speakers.push(StatedHint { by: SettledBy::Rules, seconds: None });
    }
    loop {
        let speaker = strongest(&left, now);
        let was_stated = if matches!(speaker.by, SettledBy::Sy | SettledBy::BoilerplateSy) {
            left.sy.take().is_some()
        } else if speaker.by == SettledBy::Ttl {
            left.ttl_minutes.take().is_some()
        } else {
            speaker.by == SettledBy::RefreshRate && left.refresh_rate_ms.take().is_some()
        };
        if !was_stated {
            return speakers;
        }
        speakers.push(speaker);
    }
}

/// Returns the hint that determines the next poll if the user's minimum and maximum have no effect.
fn strongest(hints: &Hints, now: DateTime<Utc>) -> StatedHint {
    let settings =
        ScheduleSettings { min_seconds: 1, max_seconds: u32::MAX, ..ScheduleSettings::default() };
    let facts = Facts {
        hints: hints.clone(),
        settings,
        last_ok: Some(now),
        loopback: true,
        ..Facts::default()
    };
    let plan = decide(&facts, now, 0.0);
    let stated = plan.steps.iter().find(|step| step.stage == PlanStage::Recommendation);
    let seconds = match stated.and_then(|step| step.after) {
        Some(Value::Seconds(seconds)) => Some(seconds),
        Some(Value::At(_)) | None => None,
    };
    StatedHint { by: plan.settled_by, seconds }
}

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
pub(super) fn facts(input: &LintInput<'_>) -> Facts {
    let document = input.document;
    let standing = if document.role == DocumentRole::Archive {
        FeedStatus::Archive
    } else {
        FeedStatus::Active
    };
    let last_ok = reference(input.now);
    let cache = input.cache.map(|cache| cache.repeated_at(last_ok));
    let hints = document.hints.clone();
    Facts { hints, standing, last_ok: Some(last_ok), cache, ..Facts::default() }
}

/// Computes the resulting polls and adds a finding that describes them.
pub(super) fn check_polls(input: &LintInput<'_>, findings: &mut Findings) -> Option<Polls> {
    let polls = polls(input)?;
    let settled_by = polls.settled_by.word();
    if polls.next.is_empty() {
        findings.say(table::NO_POLLS.of("feed"), "", &[&settled_by]);
        return Some(polls);
    }
    let next: Vec<String> = polls.next.iter().copied().map(utc_weekday).collect();
    let (last, next) = (utc_minute(polls.last_ok), listed(&next));
    findings.say(table::POLLS.of("feed"), "", &[&last, &next, &settled_by, &polls.a_week]);
    if input.document.role == DocumentRole::Archive {
        findings.say(table::POLLED_ARCHIVE.of("feed"), "", &[]);
    }
    rate(input.document, findings);
    Some(polls)
}

fn polls(input: &LintInput<'_>) -> Option<Polls> {
    let last_ok = reference(input.now);
    let plans = following_plans(&facts(input), last_ok, FOLLOWING_MAX, |_| 0.0);
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
    use crate::feed::{IntervalRule, Period, SyHint, Zone};

    fn check(hints: &Hints, expected: &[(SettledBy, Option<i64>)]) {
        let found = speakers(hints, DateTime::UNIX_EPOCH);
        let found: Vec<_> = found.iter().map(|speaker| (speaker.by, speaker.seconds)).collect();
        assert_eq!(found, expected, "{hints:?}");
    }

    #[test]
    fn hints_rank_in_the_order_of_the_schedule() {
        let rule = IntervalRule {
            minutes: 30,
            start_hour: None,
            end_hour: None,
            start_day: None,
            end_day: None,
            zone: Zone::Utc,
        };
        let sy = SyHint { period: Period::Hourly, frequency: 1, base: None };
        let all = Hints {
            intervals: vec![rule],
            sy: Some(sy),
            ttl_minutes: Some(1),
            refresh_rate_ms: Some(900_000),
            skip_hours: vec![0],
            expired: true,
            ..Hints::default()
        };
        let (rules, ttl) = ((SettledBy::Rules, None), (SettledBy::Ttl, Some(60)));
        let rate = (SettledBy::RefreshRate, Some(900));
        check(&all, &[rules, (SettledBy::Sy, Some(3_600)), ttl, rate]);
        let wordpress = Hints { generator: Some("https://wordpress.org/?v=6".into()), ..all };
        check(&wordpress, &[rules, ttl, rate, (SettledBy::BoilerplateSy, Some(3_600))]);
        let base = Some(DateTime::UNIX_EPOCH);
        let yearly = SyHint { period: Period::Yearly, frequency: 1, base };
        check(
            &Hints { sy: Some(yearly), ttl_minutes: Some(527_040), ..Hints::default() },
            &[(SettledBy::Sy, Some(365 * 86_400)), (SettledBy::Ttl, Some(527_040 * 60))],
        );
        check(&Hints::default(), &[]);
    }

    #[test]
    fn the_reference_is_the_last_monday_at_ten() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().expect("an instant");
        let monday = at("2026-03-02T10:00:00Z");
        for now in ["2026-03-02T10:00:00Z", "2026-03-08T23:59:59Z", "2026-03-09T09:59:59Z"] {
            assert_eq!(reference(at(now)), monday, "{now}");
        }
    }
}
