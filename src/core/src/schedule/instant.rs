//! Instants as whole seconds since 1970: the arithmetic of this folder cannot overflow on them.
//!
//! `DateTime<Utc>` reaches about 262,000 years either way, which is far inside `i64` seconds, so
//! sums of an instant and an interval need no check; only the way back is clamped.

use chrono::{DateTime, Utc};

/// Whole seconds since 1970, fractions cut off downwards (SPEC section 0).
pub(super) const fn seconds(at: DateTime<Utc>) -> i64 {
    at.timestamp()
}

/// Whole seconds since 1970, a fraction counted as a full second: for waits, which must not end
/// early by the part of a second in which they began.
pub(super) fn seconds_up(at: DateTime<Utc>) -> i64 {
    at.timestamp() + i64::from(at.timestamp_subsec_nanos() > 0)
}

/// Back to an instant; beyond what chrono can hold, the last or first instant it can.
pub(super) fn instant(seconds: i64) -> DateTime<Utc> {
    let limit = if seconds < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
    DateTime::from_timestamp(seconds, 0).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_comes_back_and_an_impossible_one_is_clamped() {
        assert_eq!(seconds(instant(1_772_445_600)), 1_772_445_600);
        assert_eq!(instant(i64::MAX), DateTime::<Utc>::MAX_UTC);
        assert_eq!(instant(i64::MIN), DateTime::<Utc>::MIN_UTC);
        assert_eq!(seconds(instant(-1)), -1);
        let half = DateTime::from_timestamp(5, 500_000_000).expect("an instant");
        assert_eq!((seconds(half), seconds_up(half), seconds_up(instant(5))), (5, 6, 5));
    }
}
