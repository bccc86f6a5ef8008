//! Dates as typed in a query: a year, a month, a day, or a period of time that ends now.

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

use crate::feed::dates::calendar::{Period, day_start};

/// Returns the start of a typed period: of the year `2014`, the month `2014-03` or the day `2014-03-05`; or the time `7d`,
/// `2w`, `6m` or `1y` before `now`.
pub(super) fn beginning(typed: &str, now: DateTime<Utc>, zone: Tz) -> Option<DateTime<Utc>> {
    if let Some(period) = Period::typed(typed) {
        return period.before(now);
    }
    let whole = match typed.bytes().filter(|byte| *byte == b'-').count() {
        0 => format!("{typed}-01-01"),
        1 => format!("{typed}-01"),
        _ => typed.to_owned(),
    };
    Some(day_start(NaiveDate::parse_from_str(&whole, "%Y-%m-%d").ok()?, zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_months_days_and_spans_are_read() {
        let now = "2026-03-02T10:00:00Z".parse().unwrap();
        for (typed, expected) in [
            ("2014", "2014-01-01T00:00:00Z"),
            ("2014-03", "2014-03-01T00:00:00Z"),
            ("2014-03-05", "2014-03-05T00:00:00Z"),
            ("7d", "2026-02-23T10:00:00Z"),
            ("2W", "2026-02-16T10:00:00Z"),
            ("1m", "2026-02-02T10:00:00Z"),
            ("3y", "2023-03-02T10:00:00Z"),
            ("12h", "2026-03-01T22:00:00Z"),
        ] {
            let expected: DateTime<Utc> = expected.parse().unwrap();
            assert_eq!(beginning(typed, now, Tz::UTC), Some(expected), "{typed}");
        }
        for typed in ["", "d", "7", "x7d", "2014-13", "2014-02-30", "4294967295y", "1-2-3-4", "日"]
        {
            let read = beginning(typed, now, Tz::UTC);
            // Of these texts, only the single digit is a date: it is parsed as a year.
            assert!(read.is_none() || typed == "7", "{typed}: {read:?}");
        }
        let vienna = beginning("2014", now, Tz::Europe__Vienna).unwrap();
        assert_eq!(vienna, "2013-12-31T23:00:00Z".parse::<DateTime<Utc>>().unwrap());
    }
}
