//! The times with which the schedule calculates: whole seconds since 1970, and a week as 168 hours starting at Monday 00:00.
//!
//! `DateTime<Utc>` covers about 262,000 years before and after 1970, well within `i64` seconds, so adding an interval to an instant
//! needs no check. Only the conversion from seconds to an instant is clamped.

use chrono::{DateTime, Utc};

use super::limits::{CLOCK_AHEAD_SECONDS, HOUR};

/// Returns whole seconds since 1970, rounded down (SPEC section 0).
pub(super) const fn seconds(at: DateTime<Utc>) -> i64 {
    at.timestamp()
}

/// Returns whole seconds since 1970, rounded up. Used for waits, which must not end a fraction of a second early.
pub(super) fn seconds_up(at: DateTime<Utc>) -> i64 {
    at.timestamp() + i64::from(at.timestamp_subsec_nanos() > 0)
}

/// Returns a stored time in seconds, not after `clock`. A time far ahead was stored while the clock was wrong, and is unknown (SPEC
/// A.9).
pub(super) fn not_later(at: Option<DateTime<Utc>>, clock: i64) -> Option<i64> {
    let known = at.map(seconds).filter(|&at| at <= clock + CLOCK_AHEAD_SECONDS);
    known.map(|at| at.min(clock))
}

/// Converts seconds back to an instant, clamped to the range that chrono supports.
pub(super) fn instant(seconds: i64) -> DateTime<Utc> {
    let limit = if seconds < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
    DateTime::from_timestamp(seconds, 0).unwrap_or(limit)
}

/// Number of hours in a week.
pub(super) const HOURS: u8 = 168;

/// A set of hours of the week.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WeekMask([u64; 3]);

impl WeekMask {
    /// Adds an hour, 0 to 167. Larger values wrap around the week.
    pub(super) fn insert(&mut self, hour: u8) {
        let hour = hour % HOURS;
        if let Some(word) = self.0.get_mut(usize::from(hour / 64)) {
            *word |= 1 << (hour % 64);
        }
    }

    /// Checks whether an hour, 0 to 167, is in the set.
    pub(super) fn contains(&self, hour: u8) -> bool {
        self.0.get(usize::from(hour / 64)).is_some_and(|word| word >> (hour % 64) & 1 == 1)
    }

    /// Returns the number of hours in the set, 0 to 168. Of several rules, the one that covers the fewest hours takes precedence
    /// (SPEC A.5.2).
    pub(super) fn weight(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Checks whether the set is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.weight() == 0
    }
}

/// Returns the hour of the week, 0 to 167, of a local time in seconds since 1970-01-01 (a Thursday).
pub(super) fn hour_of_week(local: i64) -> u8 {
    const THURSDAY: i64 = 3 * 24;
    let hour = (local.div_euclid(HOUR) + THURSDAY).rem_euclid(i64::from(HOURS));
    u8::try_from(hour).unwrap_or(0)
}

/// Returns the start of the next hour after a local time, both in seconds since 1970-01-01.
pub(super) fn next_hour(local: i64) -> i64 {
    local + HOUR - local.rem_euclid(HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instant_round_trips_and_impossible_ones_are_clamped() {
        assert_eq!(seconds(instant(1_772_445_600)), 1_772_445_600);
        assert_eq!(instant(i64::MAX), DateTime::<Utc>::MAX_UTC);
        assert_eq!(instant(i64::MIN), DateTime::<Utc>::MIN_UTC);
        assert_eq!(seconds(instant(-1)), -1);
        let half = DateTime::from_timestamp(5, 500_000_000).expect("an instant");
        assert_eq!((seconds(half), seconds_up(half), seconds_up(instant(5))), (5, 6, 5));
    }

    #[test]
    fn hours_of_the_week_start_on_monday() {
        // 2026-03-02T00:00:00Z is a Monday.
        const MONDAY: i64 = 1_772_409_600;
        assert_eq!(hour_of_week(MONDAY), 0);
        assert_eq!(hour_of_week(MONDAY - 1), 167);
        assert_eq!(hour_of_week(MONDAY + 25 * HOUR), 25);
        assert_eq!(hour_of_week(0), 72);
        assert_eq!(hour_of_week(-1), 71);
    }

    #[test]
    fn the_next_hour_is_strictly_later() {
        assert_eq!(next_hour(0), HOUR);
        assert_eq!(next_hour(HOUR - 1), HOUR);
        assert_eq!(next_hour(-1), 0);
    }

    #[test]
    fn a_mask_counts_its_hours() {
        let mut mask = WeekMask::default();
        assert!(mask.is_empty());
        for hour in 0..HOURS {
            assert!(!mask.contains(hour));
            mask.insert(hour);
            assert!(mask.contains(hour));
        }
        assert_eq!(mask.weight(), 168);
    }
}
