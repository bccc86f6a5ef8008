//! Calendar days in the user's time zone.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// Returns the day of an instant in a time zone.
pub fn day_of(instant: DateTime<Utc>, zone: Tz) -> NaiveDate {
    instant.with_timezone(&zone).date_naive()
}

/// Returns the first instant of today in the user's time zone. On a day on which clocks go forward at midnight, this is the first
/// time that exists.
pub fn day_start(now: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
    let midnight = now.with_timezone(&zone).date_naive().and_time(NaiveTime::MIN);
    let mut quarters = (0..=12)
        .filter_map(|quarter| midnight.checked_add_signed(TimeDelta::minutes(quarter * 15)));
    let first = quarters.find_map(|time| zone.from_local_datetime(&time).earliest());
    first.map_or(now, |local| local.with_timezone(&Utc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_without_midnight_begins_with_its_first_time() {
        let noon = Utc.with_ymd_and_hms(2026, 4, 24, 10, 0, 0).unwrap();
        // Clocks in Cairo go from 00:00 to 01:00 on this day.
        assert_eq!(
            day_start(noon, Tz::Africa__Cairo),
            Utc.with_ymd_and_hms(2026, 4, 23, 22, 0, 0).unwrap()
        );
        assert_eq!(day_start(noon, Tz::UTC), Utc.with_ymd_and_hms(2026, 4, 24, 0, 0, 0).unwrap());
    }
}
