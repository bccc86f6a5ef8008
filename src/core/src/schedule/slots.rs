//! The slots of `sy` with a base: instants at which the feed can change (SPEC B.6).
//!
//! `s_k = base + k * step` for all integers k, including negative ones. After a poll that follows a slot, nothing new can appear
//! until the next slot.

use chrono::{DateTime, Datelike, Months, Utc};

use crate::feed::{Period, SyHint};
use crate::schedule::limits::{DAY, HOUR, Pace, WEEK, instant, seconds};

/// An instant at which the feed can change according to its `sy` hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) struct Slot {
    pub(in crate::schedule) at: i64,
    /// Seconds from the previous slot to this one, at least 1.
    pub(in crate::schedule) step: i64,
}

/// Returns the nominal length of a period, in seconds (SPEC S0.5).
pub(in crate::schedule) const fn period_seconds(period: Period) -> i64 {
    match period {
        Period::Hourly => HOUR,
        Period::Daily => DAY,
        Period::Weekly => WEEK,
        Period::Monthly => 30 * DAY,
        Period::Yearly => 365 * DAY,
    }
}

/// Returns the interval that a `sy` hint states: period / frequency, in whole seconds, at least 1.
pub(in crate::schedule) fn sy_seconds(sy: SyHint) -> i64 {
    (period_seconds(sy.period) / i64::from(sy.frequency.max(1))).max(1)
}

/// Returns the first slot strictly after an instant; `None` if the slot is outside the supported range of times.
///
/// For one update a month or a year at normal pace, slots are calendar months or years apart, with the day clamped to the length of
/// the month. In all other cases slots are a fixed number of seconds apart.
pub(in crate::schedule) fn next_slot(
    sy: SyHint,
    base: DateTime<Utc>,
    pace: Pace,
    after: i64,
) -> Option<Slot> {
    let calendar_months = match sy.period {
        Period::Monthly => Some(1),
        Period::Yearly => Some(12),
        Period::Hourly | Period::Daily | Period::Weekly => None,
    };
    let once = sy.frequency <= 1 && pace == Pace::Normal;
    match calendar_months.filter(|_| once) {
        Some(months) => next_calendar_slot(base, months, instant(after)),
        None => next_even_slot(sy, seconds(base), pace, after),
    }
}

/// Returns the first slot after `after` if all slots are equally far apart. The distance need not be a whole number of seconds (as
/// with 7 slots a day), so the slot is computed exactly. It is then rounded up, because a poll before the slot would miss the
/// update.
fn next_even_slot(sy: SyHint, base: i64, pace: Pace, after: i64) -> Option<Slot> {
    let (times, by) = pace.ratio();
    let step = i128::from(period_seconds(sy.period) * times);
    let parts = i128::from(by) * i128::from(sy.frequency.max(1));
    let number = (i128::from(after) - i128::from(base)) * parts;
    let next = number.div_euclid(step) + 1;
    let from_base = -(-next * step).div_euclid(parts);
    let at = i64::try_from(i128::from(base) + from_base).ok()?;
    let step = i64::try_from((step / parts).max(1)).ok()?;
    Some(Slot { at, step })
}

fn next_calendar_slot(base: DateTime<Utc>, months: u32, after: DateTime<Utc>) -> Option<Slot> {
    let month_number = |at: DateTime<Utc>| i64::from(at.year()) * 12 + i64::from(at.month0());
    let passed = (month_number(after) - month_number(base)).div_euclid(i64::from(months));
    let slot = |number: i64| shifted(base, number * i64::from(months));
    let next = (passed - 1..=passed + 2).find(|&k| slot(k).is_some_and(|slot| slot > after))?;
    let (before, at) = (seconds(slot(next - 1)?), seconds(slot(next)?));
    Some(Slot { at, step: (at - before).max(1) })
}

/// Shifts a time by calendar months, backwards if negative.
fn shifted(base: DateTime<Utc>, months: i64) -> Option<DateTime<Utc>> {
    let count = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
    if months < 0 { base.checked_sub_months(count) } else { base.checked_add_months(count) }
}

#[cfg(test)]
mod tests {
    use crate::schedule::slots::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().expect("an instant")
    }

    fn check(period: Period, frequency: u32, base: &str, after: &str, expected: &str) {
        let sy = SyHint { period, frequency, base: Some(at(base)) };
        let slot = next_slot(sy, at(base), Pace::Normal, seconds(at(after))).expect("a slot");
        assert_eq!(instant(slot.at), at(expected), "{period:?} {frequency} {base} {after}");
    }

    #[test]
    fn slots_extend_both_ways_from_the_base() {
        let ten_five = "2026-03-02T10:05:00Z";
        check(Period::Hourly, 2, "2000-01-01T12:00:00Z", ten_five, "2026-03-02T10:30:00Z");
        check(Period::Hourly, 3, "1970-01-01T08:20:00Z", ten_five, "2026-03-02T10:20:00Z");
        check(Period::Daily, 1, "2030-06-01T07:20:00Z", ten_five, "2026-03-03T07:20:00Z");
    }

    #[test]
    fn a_slot_is_strictly_later() {
        let base = "2000-01-01T12:00:00Z";
        check(Period::Hourly, 2, base, "2026-03-02T10:30:00Z", "2026-03-02T11:00:00Z");
        check(
            Period::Daily,
            4,
            "2026-01-05T00:00:00Z",
            "2026-03-02T06:00:00Z",
            "2026-03-02T12:00:00Z",
        );
    }

    #[test]
    fn a_step_of_broken_seconds_does_not_drift_and_is_never_early() {
        let base = "2026-03-02T00:00:00Z";
        // Seven slots a day are 12342.857 s apart.
        check(Period::Daily, 7, base, base, "2026-03-02T03:25:43Z");
        check(Period::Daily, 7, base, "2026-03-02T23:59:59Z", "2026-03-03T00:00:00Z");
        check(Period::Hourly, 99_999, base, base, "2026-03-02T00:00:01Z");
    }

    #[test]
    fn months_and_years_follow_the_calendar() {
        let base = "2026-01-31T09:00:00Z";
        check(Period::Monthly, 1, base, "2026-02-01T00:00:00Z", "2026-02-28T09:00:00Z");
        check(Period::Monthly, 1, base, "2026-02-28T09:00:00Z", "2026-03-31T09:00:00Z");
        check(Period::Monthly, 1, base, "2025-11-30T08:59:59Z", "2025-11-30T09:00:00Z");
        check(
            Period::Yearly,
            1,
            "2024-02-29T00:00:00Z",
            "2026-03-02T00:00:00Z",
            "2027-02-28T00:00:00Z",
        );
        check(
            Period::Yearly,
            1,
            "2030-05-01T00:00:00Z",
            "2026-05-01T00:00:00Z",
            "2027-05-01T00:00:00Z",
        );
        // Two slots a month are 15 days apart.
        check(
            Period::Monthly,
            2,
            "1980-01-01T00:00:00Z",
            "1980-01-01T00:15:00Z",
            "1980-01-16T00:00:00Z",
        );
    }

    #[test]
    fn extreme_instants_do_not_panic() {
        for base in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
            for after in [seconds(DateTime::<Utc>::MIN_UTC), seconds(DateTime::<Utc>::MAX_UTC)] {
                for (period, frequency) in
                    [(Period::Hourly, u32::MAX), (Period::Monthly, 1), (Period::Yearly, 0)]
                {
                    let sy = SyHint { period, frequency, base: Some(base) };
                    if let Some(slot) = next_slot(sy, base, Pace::Less, after) {
                        assert!(slot.at > after && slot.step >= 1);
                    }
                }
            }
        }
    }
}
