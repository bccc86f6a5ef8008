//! Converts the parts of a date to an instant.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, TimeDelta, Utc};

use super::clock::TimeOfDay;

/// Checks whether a year is plausible for a date. Programs write year 1 if they have no date.
fn is_year(year: i32) -> bool {
    (100..=9999).contains(&year)
}

/// Converts a date with a time, or midnight, in a zone east of UTC to an instant.
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
