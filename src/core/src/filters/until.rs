//! Expiry times of filters as users type them: `7d`, `2w`, `6m`, `1y`, or a date.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;

use crate::feed::dates::calendar::{Period, day_start};
use crate::{InputFlaw, flaw};

/// Parses the expiry time of a filter: a number of days, weeks, months or years from now, or the last day on which the
/// filter applies. Returns `Ok(None)` for an empty string, which means that the filter never expires. The error is a full
/// sentence.
pub fn read_until(
    typed: &str,
    now: DateTime<Utc>,
    zone: Tz,
) -> Result<Option<DateTime<Utc>>, InputFlaw> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let until = Period::typed(typed)
        .and_then(|period| period.after(now))
        .or_else(|| end_of_day(typed, zone));
    match until {
        None => {
            Err(flaw!("'{typed}' is not a time: write 7d, 2w, 6m, 1y, or a day like 2027-01-31"))
        }
        Some(until) if until <= now => Err(flaw!("'{typed}' is in the past")),
        Some(until) => Ok(Some(until)),
    }
}

/// Formats the last day on which a filter applies, in the form that [`read_until`] parses.
pub fn until_text(until: DateTime<Utc>, zone: Tz) -> String {
    let last = until.checked_sub_signed(TimeDelta::seconds(1)).unwrap_or(until);
    last.with_timezone(&zone).format("%Y-%m-%d").to_string()
}

/// Returns the first instant after a day, given as `2026-03-02`.
fn end_of_day(typed: &str, zone: Tz) -> Option<DateTime<Utc>> {
    let day = NaiveDate::parse_from_str(typed, "%Y-%m-%d").ok()?.succ_opt()?;
    Some(day_start(day, zone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeZone;

    #[test]
    fn times_are_parsed_as_people_write_them() {
        let now = Utc.with_ymd_and_hms(2026, 3, 2, 10, 0, 0).unwrap();
        for (typed, expected) in [
            ("7d", Some("2026-03-09")),
            ("2w", Some("2026-03-16")),
            ("1m", Some("2026-04-02")),
            ("1Y", Some("2027-03-02")),
            ("2026-03-02", Some("2026-03-02")),
            ("", None),
        ] {
            let read = read_until(typed, now, Tz::Europe__Berlin).unwrap();
            let text = read.map(|until| until_text(until, Tz::Europe__Berlin));
            assert_eq!(text.as_deref(), expected, "{typed}");
        }
        for (typed, part) in [
            ("2026-03-01", "in the past"),
            ("0d", "in the past"),
            ("soon", "is not a time"),
            ("99999999999d", "is not a time"),
            ("é", "is not a time"),
        ] {
            let why = read_until(typed, now, Tz::UTC).unwrap_err();
            assert!(why.contains(part), "{typed}: {why}");
        }
    }
}
