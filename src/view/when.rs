//! Formats times for people.

use chrono::{DateTime, Datelike, Utc};
use chrono_tz::Tz;

/// Formats a number of seconds in the largest unit that fits: `45s`, `12m`, `3h`, `6d`, `9w`, `2y`.
pub fn span_words(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "m"),
        3600..172_800 => (seconds / 3600, "h"),
        172_800..1_209_600 => (seconds / 86_400, "d"),
        1_209_600..63_072_000 => (seconds / 604_800, "w"),
        _ => (seconds / 31_536_000, "y"),
    };
    format!("{count}{unit}")
}

/// Formats a time relative to the current time: `in 12m`, `now`, `3h ago`.
pub fn relative(at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let seconds = at.signed_duration_since(now).num_seconds();
    match seconds {
        ..0 => format!("{} ago", span_words(seconds.saturating_neg())),
        0 => "now".into(),
        _ => format!("in {}", span_words(seconds)),
    }
}

/// Formats the time of the next poll relative to the current time: `in 12m`, or `now` if the poll is due.
pub fn coming(at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    relative(at.max(now), now)
}

/// Formats a time in the given time zone, with date and minute.
pub fn minute(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).format("%a %-d %b %Y %H:%M").to_string()
}

/// Formats a date for a column: the time of day if it is today, the day and month if it is this year, or else the day, month and
/// year. A short date of another year has no day.
pub(super) fn date(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz, has_day: bool) -> String {
    let (at, now) = (at.with_timezone(&zone), now.with_timezone(&zone));
    let form = if at.date_naive() == now.date_naive() {
        "%H:%M"
    } else if at.year() == now.year() {
        "%-d %b"
    } else if has_day {
        "%-d %b %Y"
    } else {
        "%b %Y"
    };
    at.format(form).to_string()
}

/// Formats a day heading: `Today`, `Yesterday` or the day of the week, followed by the date. The year is added only if it is not
/// the current year.
pub(super) fn day(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz) -> String {
    let (day, today) =
        (at.with_timezone(&zone).date_naive(), now.with_timezone(&zone).date_naive());
    match today.signed_duration_since(day).num_days() {
        0 => format!("Today, {}", day.format("%-d %B")),
        1 => format!("Yesterday, {}", day.format("%-d %B")),
        _ if day.year() == today.year() => day.format("%A, %-d %B").to_string(),
        _ => day.format("%A, %-d %B %Y").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overdue_poll_is_due_now() {
        let at = |seconds| DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(seconds);
        assert_eq!(coming(at(8), at(10)), "now");
        assert_eq!(coming(at(130), at(10)), "in 2m");
    }

    #[test]
    fn day_headings_show_the_year_only_if_it_differs() {
        let at = |text: &str| -> DateTime<Utc> { text.parse().unwrap() };
        let now = at("2026-11-17T12:00:00Z");
        for (listed, expected) in [
            ("2026-11-17T01:00:00Z", "Today, 17 November"),
            ("2026-11-16T01:00:00Z", "Yesterday, 16 November"),
            ("2026-11-15T01:00:00Z", "Sunday, 15 November"),
            ("2026-01-08T01:00:00Z", "Thursday, 8 January"),
            ("2025-12-31T01:00:00Z", "Wednesday, 31 December 2025"),
        ] {
            assert_eq!(day(at(listed), now, Tz::UTC), expected);
        }
    }

    #[test]
    fn durations_use_their_largest_unit() {
        for (seconds, expected) in [
            (-5, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3599, "59m"),
            (7200, "2h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (1_209_600, "2w"),
            (63_072_000, "2y"),
        ] {
            assert_eq!(span_words(seconds), expected);
        }
    }
}
