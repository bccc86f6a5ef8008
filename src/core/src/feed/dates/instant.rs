//! Converts a date, a time and a zone offset to an instant.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, TimeDelta, Utc};

use super::clock::TimeOfDay;

/// Checks whether a year is plausible for a date. Programs write year 1 if they have no date.
fn is_year(year: i32) -> bool {
    (100..=9999).contains(&year)
}

/// Converts a local date and time to an instant. The offset is in minutes east of UTC. A missing time means midnight.
pub(super) fn to_instant(
    date: NaiveDate,
    clock: Option<TimeOfDay>,
    offset_minutes: i32,
) -> Option<DateTime<Utc>> {
    let clock = clock.unwrap_or_default();
    let date = if clock.next_day { date.succ_opt()? } else { date };
    let there = NaiveDateTime::new(date, clock.time);
    let here = there.checked_sub_signed(TimeDelta::minutes(i64::from(offset_minutes)))?;
    Some(here.and_utc()).filter(|here| is_year(date.year()) && is_year(here.year()))
}
