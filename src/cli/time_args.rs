//! Parses the dates and times given as arguments.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::session::Failure;
use crate::io::clock;
use backissue_core::search::When;

/// Parses an instant, or a date or period as in a query, in the time zone of the user.
pub(super) fn parse_instant(typed: &str) -> Result<DateTime<Utc>, Failure> {
    parse_at(typed, clock::precise_now(), clock::zone())
}

fn parse_at(typed: &str, now: DateTime<Utc>, zone: Tz) -> Result<DateTime<Utc>, Failure> {
    if let Ok(instant) = DateTime::parse_from_rfc3339(typed) {
        return Ok(instant.to_utc());
    }
    match When::typed(typed, zone).map(|when| when.fixed(now)) {
        Some(When::At(instant)) => Ok(instant),
        Some(When::Ago(_)) | None => Err(Failure::new(format!(
            "'{typed}' is not a date; write 2026, 2026-03, 2026-03-01, 2026-03-01T12:00:00Z, or 7d for seven days ago"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_in_a_query_and_an_instant_is_exact() {
        let now = "2026-03-08T10:00:00Z".parse().unwrap();
        let read = |typed: &str| parse_at(typed, now, Tz::UTC);
        for (typed, expected) in [
            ("2026", "2026-01-01T00:00:00+00:00"),
            ("7d", "2026-03-01T10:00:00+00:00"),
            ("2026-03-01", "2026-03-01T00:00:00+00:00"),
            ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00+00:00"),
        ] {
            assert_eq!(read(typed).unwrap().to_rfc3339(), expected);
        }
        assert!(read("March").unwrap_err().sentence.contains("is not a date"));
    }
}
