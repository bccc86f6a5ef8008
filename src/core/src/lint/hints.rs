//! Checks of polling hints: describes each hint, states which hint takes precedence over it, and reports errors.

use chrono::{DateTime, Duration, Utc};

use super::finding::Topic;
use super::lint_input::LintInput;
use super::polls::{facts, reference};
use super::stated_hints::{StatedHint, speakers};
use super::table::Findings;
use super::{oddities, table};
use crate::feed::text::counted_words;
use crate::feed::{DocumentRole, Hints, SyHint};
use crate::schedule::limits::{DEFAULT_MAX_SECONDS, DEFAULT_MIN_SECONDS, MINUTE};
use crate::schedule::{SettledBy, rule_in_force, rule_words};
use crate::words::{about_duration, duration_words, listed, utc_minute};

/// Values that are common for an interval in seconds but unusual for one in minutes.
const COMMON_SECONDS: [u32; 8] = [900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400];
/// Number of hours in a week.
const WEEK_HOURS: i64 = 168;

/// Checks the polling hints of a document.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let hints = &exhibit.document.hints;
    let speakers = speakers(hints, reference(exhibit.now));
    if exhibit.document.role == DocumentRole::Archive {
        archive(hints, &speakers, findings);
    } else {
        let uncovered = rules(exhibit, &speakers, findings);
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
    ttl_in_seconds(exhibit, findings);
    oddities::check(exhibit, Topic::Hints, findings);
}

fn archive(hints: &Hints, speakers: &[StatedHint], findings: &mut Findings) {
    if !speakers.is_empty() || !hints.skip_hours.is_empty() || !hints.skip_days.is_empty() {
        findings.say(table::HINTS_IN_ARCHIVE, "", &[]);
    }
}

/// Describes the interval rules and reports rules that never apply. Returns the number of hours in a week that no rule
/// covers.
fn rules(exhibit: &LintInput<'_>, speakers: &[StatedHint], findings: &mut Findings) -> usize {
    let rules = &exhibit.document.hints.intervals;
    if rules.is_empty() {
        return 0;
    }
    let (in_force, uncovered) = week(exhibit);
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
fn week(exhibit: &LintInput<'_>) -> (Vec<usize>, usize) {
    let facts = facts(exhibit);
    let start: DateTime<Utc> = reference(exhibit.now);
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
fn ttl_in_seconds(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let hints = &exhibit.document.hints;
    let Some(ttl) = hints.ttl_minutes else { return };
    let gap = exhibit.document.mean_gap().filter(|gap| hints.ttl_like_seconds(*gap).is_some());
    let because = match gap {
        Some(gap) => format!(", since an entry appears about every {}", about_duration(gap)),
        None if COMMON_SECONDS.contains(&ttl) => String::new(),
        None => return,
    };
    let minutes = duration_words(i64::from(ttl) * MINUTE);
    findings.say(table::TTL_IN_SECONDS, &ttl.to_string(), &[&because, &minutes]);
}
