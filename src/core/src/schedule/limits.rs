//! Scheduling constants, in seconds (SPEC section 0), and the pace: the user's choice of more or fewer polls, as a factor on every
//! interval.
//!
//! The times with which the schedule calculates: whole seconds since 1970, and a week as 168 hours starting at Monday 00:00.
//!
//! `DateTime<Utc>` covers about 262,000 years before and after 1970, well within `i64` seconds, so adding an interval to an instant
//! needs no check. Only the conversion from seconds to an instant is clamped.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::feed::hints::INTERVAL_MINUTES_MAX;

/// One minute.
pub(crate) const MINUTE: i64 = 60;
/// One hour.
pub(crate) const HOUR: i64 = 60 * MINUTE;
/// One day.
pub const DAY: i64 = 24 * HOUR;
/// One week.
pub(crate) const WEEK: i64 = 7 * DAY;

/// Minimum interval of automatic polls, except on loopback hosts (`HARD_MIN`).
pub const HARD_MIN_SECONDS: i64 = 5 * MINUTE;
/// Default of the user's minimum interval (`DEFAULT_MIN`).
pub(crate) const DEFAULT_MIN_SECONDS: u32 = 15 * 60;
/// Default of the user's maximum interval (`DEFAULT_MAX`).
pub(crate) const DEFAULT_MAX_SECONDS: u32 = 1440 * 60;
/// Interval used when no source recommends one (`DEFAULT_INTERVAL`).
pub(crate) const DEFAULT_INTERVAL_SECONDS: u32 = 60 * 60;
/// [`INTERVAL_MINUTES_MAX`] in seconds.
pub(crate) const INTERVAL_MAX_SECONDS: i64 = INTERVAL_MINUTES_MAX as i64 * MINUTE;
/// Interval used for the `sy` hint that `WordPress` writes into every feed (SPEC B.2 rank 5).
pub(crate) const BOILERPLATE_SECONDS: i64 = HOUR;

/// Maximum jitter shift in either direction (`JITTER_CAP`).
pub(crate) const JITTER_CAP_SECONDS: i64 = 120 * MINUTE;
/// Maximum jitter shift of a poll that a learned plan places (SCHEDULING annex A.3).
pub(crate) const PLACED_JITTER_SECONDS: i64 = MINUTE;

/// Longest cache lifetime that is respected in full; longer ones are cut to this value (`CACHE_FLOOR_FULL`).
pub(crate) const CACHE_FULL_SECONDS: i64 = 48 * HOUR;
/// Cache lifetime above which the value is treated as a mistake (`CACHE_FLOOR_ABSURD`).
pub(crate) const CACHE_ABSURD_SECONDS: i64 = 7 * DAY;
/// Cache lifetime assumed when the stated one is a mistake (`CACHE_FLOOR_FALLBACK`).
pub(crate) const CACHE_FALLBACK_SECONDS: i64 = 6 * HOUR;
/// Longest wait a server can impose (`RETRY_AFTER_CAP`).
pub const RETRY_AFTER_CAP_SECONDS: i64 = 7 * DAY;

/// Backoff after the first failure (`BACKOFF_BASE`).
pub(crate) const BACK_OFF_BASE_SECONDS: i64 = 15 * MINUTE;
/// Longest backoff that repeated doubling reaches (`BACKOFF_CAP`).
pub(crate) const BACK_OFF_CAP_SECONDS: i64 = DAY;
/// Polling interval of a feed that has returned only 404 for 30 days (SPEC D.2).
pub(crate) const DEAD_SECONDS: i64 = WEEK;

/// How far a stored time may be ahead of the clock. A later one was stored while the clock was wrong, and counts as unknown (SPEC
/// A.9).
pub(crate) const CLOCK_AHEAD_SECONDS: i64 = HOUR;
/// Minimum time between two manual requests for the same feed (SPEC B.8).
pub(crate) const COOL_DOWN_SECONDS: i64 = MINUTE;
/// Maximum number of interval rules; further rules are ignored (`RULES_MAX`). Each rule uses one bit of a `u64`.
pub const RULES_MAX: usize = 64;
/// How far ahead to search for a change of interval. If the interval does not change within this time, it never changes (SPEC
/// A.5.4).
pub(crate) const HORIZON_SECONDS: i64 = 8 * DAY;
/// Maximum number of upcoming polls that are computed for a list.
pub(crate) const FOLLOWING_MAX: usize = 1000;

/// The three settings of the pace (SPEC A.8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Every interval is halved.
    More,
    /// Intervals are used as recommended.
    #[default]
    Normal,
    /// Every interval is doubled.
    Less,
}

impl Pace {
    /// All paces, most frequent first.
    pub const ALL: [Self; 3] = [Self::More, Self::Normal, Self::Less];

    /// Returns the factor by which intervals are multiplied, as a numerator and a denominator.
    pub(super) const fn ratio(self) -> (i64, i64) {
        match self {
            Self::More => (1, 2),
            Self::Normal => (1, 1),
            Self::Less => (2, 1),
        }
    }

    /// Returns the name of the pace as `--pace` accepts it (UX 4).
    pub const fn word(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Normal => "normal",
            Self::Less => "less",
        }
    }
}

/// Returns whole seconds since 1970, rounded down (SPEC section 0).
#[inline]
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
#[inline]
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
    #[inline]
    pub(super) fn insert(&mut self, hour: u8) {
        let hour = hour % HOURS;
        if let Some(word) = self.0.get_mut(usize::from(hour / 64)) {
            *word |= 1 << (hour % 64);
        }
    }

    /// Checks whether an hour, 0 to 167, is in the set.
    #[inline]
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
#[inline]
pub(super) fn hour_of_week(local: i64) -> u8 {
    const THURSDAY: i64 = 3 * 24;
    let hour = (local.div_euclid(HOUR) + THURSDAY).rem_euclid(i64::from(HOURS));
    u8::try_from(hour).unwrap_or(0)
}

/// Returns the start of the next hour after a local time, both in seconds since 1970-01-01.
#[inline]
pub(super) fn next_hour(local: i64) -> i64 {
    local + HOUR - local.rem_euclid(HOUR)
}

#[cfg(test)]
mod times_tests {
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
