//! The one place where the clock, the time zone and chance are read.

use chrono::{DateTime, Timelike, Utc};
use chrono_tz::Tz;

/// The wall clock, in whole seconds (SPEC 0).
pub fn now() -> DateTime<Utc> {
    let now = precise_now();
    now.with_nanosecond(0).unwrap_or(now)
}

/// The wall clock, for pauses between requests.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn precise_now() -> DateTime<Utc> {
    Utc::now()
}

/// The monotonic clock, for measuring.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn instant() -> std::time::Instant {
    std::time::Instant::now()
}

/// The zone that `TZ` names, else the one the machine is set to; UTC if there is none.
pub fn zone() -> Tz {
    let named = std::env::var("TZ").ok().and_then(|name| name.trim_start_matches(':').parse().ok());
    if let Some(zone) = named {
        return zone;
    }
    iana_time_zone::get_timezone().ok().and_then(|name| name.parse().ok()).unwrap_or(Tz::UTC)
}

/// A number for the salt of a new installation: time and process are enough to spread readers apart.
pub fn chance() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one((precise_now().timestamp_nanos_opt(), std::process::id()))
}
