//! Instants as typed in a query: a year, a month, a day, or a period of time that ends now.

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

use crate::feed::dates::calendar::{Period, day_start};

/// An instant in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// A fixed instant.
    At(DateTime<Utc>),
    /// A period before the current time.
    Ago(Period),
}

impl When {
    /// Parses an instant: the start of the year `2014`, of the month `2014-03` or of the day `2014-03-05`; or the time `7d`, `2w`,
    /// `6m` or `1y` before now.
    pub fn typed(typed: &str, zone: Tz) -> Option<Self> {
        if let Some(period) = Period::typed(typed) {
            return Some(Self::Ago(period));
        }
        let whole = match typed.bytes().filter(|byte| *byte == b'-').count() {
            0 => format!("{typed}-01-01"),
            1 => format!("{typed}-01"),
            _ => typed.to_owned(),
        };
        Some(Self::At(day_start(NaiveDate::parse_from_str(&whole, "%Y-%m-%d").ok()?, zone)))
    }

    /// Returns the same instant, no longer counted from the current time.
    #[must_use]
    pub fn fixed(self, now: DateTime<Utc>) -> Self {
        Self::At(match self {
            Self::At(at) => at,
            // A period that is longer than the calendar excludes nothing.
            Self::Ago(period) => period.before(now).unwrap_or(DateTime::<Utc>::MIN_UTC),
        })
    }

    /// Returns the instant in Unix seconds.
    pub(super) fn seconds(self, now: DateTime<Utc>) -> i64 {
        match self.fixed(now) {
            Self::At(at) => at.timestamp(),
            Self::Ago(_) => i64::MIN,
        }
    }
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
            let read = When::typed(typed, Tz::UTC).unwrap();
            assert_eq!(read.fixed(now), When::At(expected), "{typed}");
            assert_eq!(read.seconds(now), expected.timestamp(), "{typed}");
        }
        for typed in ["", "d", "x7d", "2014-13", "2014-02-30", "4294967295y", "1-2-3-4", "日"] {
            assert_eq!(When::typed(typed, Tz::UTC), None, "{typed}");
        }
        let long = When::typed("4000000000d", Tz::UTC).unwrap();
        assert_eq!(long.fixed(now), When::At(DateTime::<Utc>::MIN_UTC));
        let vienna = When::typed("2014", Tz::Europe__Vienna).unwrap();
        assert_eq!(vienna, When::At("2013-12-31T23:00:00Z".parse().unwrap()));
    }
}
