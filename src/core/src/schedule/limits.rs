//! Scheduling constants, in seconds (SPEC section 0), and the pace: the user's choice of more or fewer polls, as a factor on every
//! interval.

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
pub(crate) const RETRY_AFTER_CAP_SECONDS: i64 = 7 * DAY;

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
