//! The clock, the time zone and random numbers. Only this module gets them from the system.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use chrono_tz::Tz;

/// Returns the wall-clock time in whole seconds (SPEC 0).
pub fn now() -> DateTime<Utc> {
    let now = precise_now();
    now.with_nanosecond(0).unwrap_or(now)
}

/// Returns the precise wall-clock time, for pauses between requests. It may be before 1970 on a machine whose clock was never set.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn precise_now() -> DateTime<Utc> {
    // `Utc::now` panics before 1970.
    std::time::SystemTime::now().into()
}

/// Checks that the clock can be used. The error is a sentence.
pub fn check() -> Result<(), String> {
    check_time(precise_now())
}

/// The store's database and other libraries cannot handle times before 1970.
fn check_time(now: DateTime<Utc>) -> Result<(), String> {
    if now >= DateTime::UNIX_EPOCH {
        return Ok(());
    }
    let day = now.format("%Y-%m-%d");
    Err(format!(
        "the clock of this computer shows {day}, before 1970: set it, then start backissue again"
    ))
}

/// Returns the time of the monotonic clock, for measuring durations.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn instant() -> std::time::Instant {
    std::time::Instant::now()
}

/// Detects that the wall clock moved differently from the monotonic clock because the machine was asleep (SPEC G.32) or the
/// clock was set.
#[derive(Debug)]
pub struct SleepWatch {
    wall: DateTime<Utc>,
    monotonic: std::time::Instant,
}

/// Minimum difference between the two clocks that counts. Smaller differences come from clock corrections or from pauses of this
/// process.
const SLEEP_MIN: TimeDelta = TimeDelta::seconds(30);

impl SleepWatch {
    pub fn start() -> Self {
        Self { wall: precise_now(), monotonic: instant() }
    }

    /// Checks whether the machine was asleep or its clock was set since the last call.
    pub fn jumped(&mut self) -> bool {
        let (wall, monotonic) = (precise_now(), instant());
        let shown = wall.signed_duration_since(self.wall);
        let passed = monotonic.duration_since(self.monotonic);
        (self.wall, self.monotonic) = (wall, monotonic);
        has_jumped(shown, passed)
    }
}

fn has_jumped(shown: TimeDelta, passed: std::time::Duration) -> bool {
    let passed = TimeDelta::from_std(passed).unwrap_or(TimeDelta::MAX);
    shown.checked_sub(&passed).is_some_and(|missing| missing.abs() > SLEEP_MIN)
}

/// Returns the time zone that `TZ` names, or else the machine's time zone, or else UTC.
pub fn zone() -> Tz {
    let named = std::env::var("TZ").ok().and_then(|name| name.trim_start_matches(':').parse().ok());
    let of_machine = || iana_time_zone::get_timezone().ok().and_then(|name| name.parse().ok());
    usual_name(named.or_else(of_machine).unwrap_or(Tz::UTC))
}

/// Interval between checks of the time zone.
const ZONE_PAUSE: std::time::Duration = std::time::Duration::from_secs(30);

/// Detects changes of the machine's time zone.
#[derive(Debug)]
pub struct ZoneWatch {
    zone: Tz,
    looked: std::time::Instant,
}

impl ZoneWatch {
    /// Starts to watch for changes from the current time zone.
    pub fn start() -> Self {
        Self { zone: zone(), looked: instant() }
    }

    /// Returns the new time zone if the zone changed since the last call.
    pub fn changed(&mut self) -> Option<Tz> {
        self.changed_to(instant(), zone)
    }

    fn changed_to(&mut self, now: std::time::Instant, zone: impl Fn() -> Tz) -> Option<Tz> {
        if now.saturating_duration_since(self.looked) < ZONE_PAUSE {
            return None;
        }
        self.looked = now;
        let before = std::mem::replace(&mut self.zone, zone());
        (before != self.zone).then_some(self.zone)
    }
}

/// Names of time zones that are aliases of UTC and that machines commonly use.
const UTC_NAMES: [Tz; 7] = [
    Tz::Etc__UCT,
    Tz::Etc__UTC,
    Tz::Etc__Universal,
    Tz::Etc__Zulu,
    Tz::UCT,
    Tz::Universal,
    Tz::Zulu,
];

/// Replaces an alias of UTC with `UTC`, the name that users know.
fn usual_name(zone: Tz) -> Tz {
    if UTC_NAMES.contains(&zone) { Tz::UTC } else { zone }
}

/// Returns a number for the salt of a new installation. It is made from the time and the process ID, so that almost no two
/// installations have the same one, which suffices to spread the polls of different users.
pub fn chance() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one((precise_now().timestamp_nanos_opt(), std::process::id()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_before_1970_is_refused() {
        let before = std::time::UNIX_EPOCH - Duration::from_secs(1);
        let told = check_time(before.into()).unwrap_err();
        assert!(told.contains("1969-12-31"), "{told}");
        assert_eq!(check_time(std::time::UNIX_EPOCH.into()), Ok(()));
    }

    #[test]
    fn wall_clock_ahead_means_sleep_and_behind_means_set() {
        for (shown, passed, expected) in
            [(3600, 20, true), (50, 20, false), (20, 20, false), (-3600, 20, true), (-9, 20, false)]
        {
            let asleep = has_jumped(TimeDelta::seconds(shown), Duration::from_secs(passed));
            assert_eq!(asleep, expected, "{shown} {passed}");
        }
    }

    #[test]
    fn changed_time_zone_is_noticed_once_within_30_seconds() {
        let mut watch = ZoneWatch { zone: Tz::UTC, looked: instant() };
        let start = watch.looked;
        for (seconds, changed) in [(29, None), (30, Some(Tz::Asia__Tokyo)), (60, None)] {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(watch.changed_to(now, || Tz::Asia__Tokyo), changed, "{seconds}");
        }
    }

    #[test]
    fn utc_is_recognised_by_all_its_names() {
        for (name, expected) in
            [("Etc/UTC", Tz::UTC), ("Zulu", Tz::UTC), ("Asia/Tokyo", Tz::Asia__Tokyo)]
        {
            assert_eq!(usual_name(name.parse().unwrap()), expected, "{name}");
        }
    }
}
