//! The constants of scheduling, in seconds (SPEC section 0).

/// One minute.
pub const MINUTE: i64 = 60;
/// One hour.
pub const HOUR: i64 = 60 * MINUTE;
/// One day.
pub const DAY: i64 = 24 * HOUR;
/// One week.
pub const WEEK: i64 = 7 * DAY;

/// Nothing automatic goes below this, except on loopback hosts (`HARD_MIN`).
pub const HARD_MIN_SECONDS: i64 = 5 * MINUTE;
/// The reader's minimum until changed (`DEFAULT_MIN`).
pub const DEFAULT_MIN_SECONDS: u32 = 15 * 60;
/// The reader's maximum until changed (`DEFAULT_MAX`).
pub const DEFAULT_MAX_SECONDS: u32 = 1440 * 60;
/// The interval where nobody says anything (`DEFAULT_INTERVAL`).
pub const DEFAULT_INTERVAL_SECONDS: u32 = 60 * 60;
/// The longest interval any text or setting may ask for: 366 days (SPEC S0.7, A.5.2).
pub const INTERVAL_MAX_SECONDS: i64 = 527_040 * MINUTE;
/// The interval taken from boilerplate `sy` (SPEC B.2 rank 5).
pub const BOILERPLATE_SECONDS: i64 = HOUR;

/// Half of the widest spread (`JITTER_CAP`).
pub const JITTER_CAP_SECONDS: i64 = 120 * MINUTE;
/// The widest spread of a poll that a learned plan places (SCHEDULING annex A.3).
pub const PLACED_JITTER_SECONDS: i64 = MINUTE;

/// A cache lifetime up to this counts in full (`CACHE_FLOOR_FULL`).
pub const CACHE_FULL_SECONDS: i64 = 48 * HOUR;
/// A longer cache lifetime than this is taken for a mistake (`CACHE_FLOOR_ABSURD`).
pub const CACHE_ABSURD_SECONDS: i64 = 7 * DAY;
/// What a mistaken cache lifetime counts as (`CACHE_FLOOR_FALLBACK`).
pub const CACHE_FALLBACK_SECONDS: i64 = 6 * HOUR;
/// The longest wait a server can impose (`RETRY_AFTER_CAP`).
pub const RETRY_AFTER_CAP_SECONDS: i64 = 7 * DAY;

/// The wait after the first failure (`BACKOFF_BASE`).
pub const BACK_OFF_BASE_SECONDS: i64 = 15 * MINUTE;
/// The longest wait that failures alone impose (`BACKOFF_CAP`).
pub const BACK_OFF_CAP_SECONDS: i64 = DAY;
/// The pace of polls for a feed that has answered nothing but 404 for 30 days (SPEC D.2).
pub const DEAD_SECONDS: i64 = WEEK;

/// Two requests for one feed by hand are at least this far apart (SPEC B.8).
pub const COOL_DOWN_SECONDS: i64 = MINUTE;
/// Interval rules beyond this many are ignored (`RULES_MAX`); one bit each in a `u64`.
pub const RULES_MAX: usize = 64;
/// Without a change of interval within this time there never is one (SPEC A.5.4).
pub const HORIZON_SECONDS: i64 = 8 * DAY;
/// A list of following polls is at most this long.
pub const FOLLOWING_MAX: usize = 1000;
