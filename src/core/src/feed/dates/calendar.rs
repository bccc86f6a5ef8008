//! Calendar days in a time zone, and periods as users type them.

use chrono::{DateTime, Months, NaiveDate, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// Returns the day of an instant in a time zone.
pub fn day_of(instant: DateTime<Utc>, zone: Tz) -> NaiveDate {
    instant.with_timezone(&zone).date_naive()
}

/// Returns the first instant of a day in a time zone. On a day on which clocks go forward at midnight, this is the first time that
/// exists.
pub fn day_start(day: NaiveDate, zone: Tz) -> DateTime<Utc> {
    let midnight = day.and_time(NaiveTime::MIN);
    // Clocks go forward by at most a day, where a country crosses the date line.
    let mut quarters = (0..=24 * 4)
        .filter_map(|quarter| midnight.checked_add_signed(TimeDelta::minutes(quarter * 15)));
    let first = quarters.find_map(|time| zone.from_local_datetime(&time).earliest());
    first.map_or_else(|| midnight.and_utc(), |local| local.with_timezone(&Utc))
}

/// A period as users type it: `12h`, `7d`, `2w`, `6m` (months) or `1y`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// A number of hours, days or weeks.
    Time(TimeDelta),
    /// A number of months or years.
    Months(Months),
}

impl Period {
    /// Parses a period. Returns `None` if the text is not a period.
    pub fn typed(text: &str) -> Option<Self> {
        let (unit, _) = text.as_bytes().split_last()?;
        let count: u32 = text.get(..text.len().checked_sub(1)?)?.parse().ok()?;
        let hours = |each: i64| TimeDelta::try_hours(i64::from(count).checked_mul(each)?);
        match unit.to_ascii_lowercase() {
            b'h' => hours(1).map(Self::Time),
            b'd' => hours(24).map(Self::Time),
            b'w' => hours(24 * 7).map(Self::Time),
            b'm' => Some(Self::Months(Months::new(count))),
            b'y' => Some(Self::Months(Months::new(count.checked_mul(12)?))),
            _ => None,
        }
    }

    /// Returns the instant one period before another. Returns `None` if no calendar has it.
    pub fn before(self, instant: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Time(time) => instant.checked_sub_signed(time),
            Self::Months(months) => instant.checked_sub_months(months),
        }
    }

    /// Returns the instant one period after another. Returns `None` if no calendar has it.
    pub fn after(self, instant: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Time(time) => instant.checked_add_signed(time),
            Self::Months(months) => instant.checked_add_months(months),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_without_midnight_begins_with_its_first_time() {
        // Clocks in Cairo go from 00:00 to 01:00 on this day.
        for (day, zone, start) in [
            ("2026-04-24", Tz::Africa__Cairo, "2026-04-23T22:00:00Z"),
            ("2026-04-24", Tz::UTC, "2026-04-24T00:00:00Z"),
            ("2011-12-30", Tz::Pacific__Apia, "2011-12-30T10:00:00Z"),
        ] {
            let start: DateTime<Utc> = start.parse().unwrap();
            assert_eq!(day_start(day.parse().unwrap(), zone), start, "{day} {zone}");
        }
    }
}
