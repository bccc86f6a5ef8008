//! Parses the dates and times given as arguments.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use super::session::Failure;

/// Parses a date or an instant, in UTC.
pub(super) fn parse_instant(typed: &str) -> Result<DateTime<Utc>, Failure> {
    let full = DateTime::parse_from_rfc3339(typed).map(|instant| instant.to_utc()).ok();
    let day = || {
        NaiveDate::parse_from_str(typed, "%Y-%m-%d")
            .ok()
            .map(|day| day.and_time(NaiveTime::MIN).and_utc())
    };
    full.or_else(day).ok_or_else(|| {
        Failure::new(format!(
            "'{typed}' is not a date; write it like 2026-03-01 or 2026-03-01T12:00:00Z"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_starts_at_midnight_and_instant_is_exact() {
        for (typed, expected) in [
            ("2026-03-01", "2026-03-01T00:00:00+00:00"),
            ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00+00:00"),
        ] {
            assert_eq!(parse_instant(typed).unwrap().to_rfc3339(), expected);
        }
        assert!(parse_instant("March").unwrap_err().sentence.contains("is not a date"));
    }
}
