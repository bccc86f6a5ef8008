//! Interval rules and feeds that several test modules use (SPEC A.6, B.7).

use chrono::{DateTime, NaiveDateTime, Utc};

use super::facts::{Facts, ScheduleSettings};
use crate::feed::{DayOfWeek, Hints, IntervalRule, Period, SyHint, Zone};

/// Parses `03-02 10:00` or `03-02 10:00:30` as a time in 2026. 2 March 2026 is a Monday.
pub(super) fn at(text: &str) -> DateTime<Utc> {
    let seconds = if text.len() == 11 { ":00" } else { "" };
    let text = format!("2026-{text}{seconds}");
    NaiveDateTime::parse_from_str(&text, "%Y-%m-%d %H:%M:%S").expect("a time in 2026").and_utc()
}

/// Creates a rule from minutes, first and last hour, and first and last day.
pub(super) fn rule(minutes: u32, hours: Option<(u8, u8)>, days: Option<(u8, u8)>) -> IntervalRule {
    IntervalRule {
        minutes,
        start_hour: hours.map(|hours| hours.0),
        end_hour: hours.map(|hours| hours.1),
        start_day: days.map(|days| days.0),
        end_day: days.map(|days| days.1),
        zone: Zone::Utc,
    }
}

/// 30 minutes during hours 9 to 17, Monday to Friday.
pub(super) fn office() -> IntervalRule {
    rule(30, Some((9, 17)), Some((1, 5)))
}

/// The rules from the paper on interval rules.
pub(super) fn set_p() -> Vec<IntervalRule> {
    vec![rule(240, None, None), office(), rule(30, Some((4, 4)), None)]
}

/// Overlapping rules: one hour with a longer interval inside a period with a shorter one.
pub(super) fn set_o() -> Vec<IntervalRule> {
    vec![rule(240, None, None), office(), rule(120, Some((12, 12)), None)]
}

/// A rule whose hours wrap past midnight.
pub(super) fn set_w() -> Vec<IntervalRule> {
    vec![rule(180, None, None), rule(20, Some((22, 2)), Some((5, 6)))]
}

/// A rule whose days wrap past the weekend.
pub(super) fn set_v() -> Vec<IntervalRule> {
    vec![rule(360, None, None), rule(60, None, Some((6, 1)))]
}

/// A rule in a zone west of UTC.
pub(super) fn set_t() -> Vec<IntervalRule> {
    vec![
        rule(240, None, None),
        IntervalRule { zone: Zone::Offset(-480), ..rule(30, Some((9, 20)), Some((1, 5))) },
    ]
}

/// A rule in a zone with a half-hour offset.
pub(super) fn set_half() -> Vec<IntervalRule> {
    vec![rule(240, None, None), IntervalRule { zone: Zone::Offset(330), ..office() }]
}

/// A rule that leaves hours uncovered, to be combined with a `ttl` of 120 minutes.
pub(super) fn set_n() -> Vec<IntervalRule> {
    vec![office()]
}

/// Three rules with different intervals, to test that only periods with a shorter interval than all earlier periods matter.
pub(super) fn set_m() -> Vec<IntervalRule> {
    vec![rule(240, None, None), rule(120, Some((10, 10)), None), rule(180, Some((12, 12)), None)]
}

/// Four rules with intervals of 8 to 24 hours, each of the shorter ones for one hour.
pub(super) fn set_m2() -> Vec<IntervalRule> {
    vec![
        rule(1440, None, None),
        rule(480, Some((6, 6)), None),
        rule(720, Some((9, 9)), None),
        rule(600, Some((11, 11)), None),
    ]
}

/// Creates a feed with these rules, last polled at `last_ok`.
pub(super) fn with_rules(intervals: Vec<IntervalRule>, last_ok: &str) -> Facts {
    let last_ok = Some(at(last_ok));
    Facts { hints: Hints { intervals, ..Hints::default() }, last_ok, ..Facts::default() }
}

/// Creates a feed with this `ttl`, in minutes, last polled at `last_ok`.
pub(super) fn with_ttl(minutes: u32, last_ok: &str) -> Facts {
    let hints = Hints { ttl_minutes: Some(minutes), ..Hints::default() };
    Facts { hints, last_ok: Some(at(last_ok)), ..Facts::default() }
}

/// Creates a feed with this `sy` hint, last polled at `last_ok`.
pub(super) fn with_sy(
    period: Period,
    frequency: u32,
    base: Option<DateTime<Utc>>,
    last_ok: &str,
) -> Facts {
    let hints = Hints { sy: Some(SyHint { period, frequency, base }), ..Hints::default() };
    Facts { hints, last_ok: Some(at(last_ok)), ..Facts::default() }
}

/// Adds the skip windows from the paper on feed state: hours 6 to 11, and Sunday.
pub(super) fn with_windows(mut facts: Facts) -> Facts {
    facts.hints.skip_hours = (6..=11).collect();
    facts.hints.skip_days = vec![DayOfWeek::Sunday];
    facts
}

/// Returns the feed with another minimum and maximum interval, in minutes.
pub(super) fn bounded(facts: Facts, min: u32, max: u32) -> Facts {
    let settings =
        ScheduleSettings { min_seconds: min * 60, max_seconds: max * 60, ..facts.settings.clone() };
    Facts { settings, ..facts }
}
