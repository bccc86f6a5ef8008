//! Converts instants to whole seconds since 1970, with which the schedule calculates, and back.
//!
//! `DateTime<Utc>` covers about 262,000 years before and after 1970, well within `i64` seconds, so adding an interval to an instant
//! needs no check. Only the conversion from seconds to an instant is clamped.

use chrono::{DateTime, Utc};

use super::limits::CLOCK_AHEAD_SECONDS;

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
}
