//! Durations, intervals, times and lists in words, for the screen, the command line and sentences; and why something that a person
//! typed cannot be used. A time of day is in the zone that the caller passes, which is the reader's.

use std::ops::Deref;

use chrono::{DateTime, Datelike, SecondsFormat, TimeDelta, Timelike, Utc};
use chrono_tz::Tz;

pub mod frequency;

/// Seconds in a minute, an hour, a day and a week.
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
/// If the poll is less than this many seconds away, show the remaining time in minutes.
const MINUTES_BELOW: i64 = 60 * 60;
/// If the poll is at least this many seconds away, show only its day.
const DAYS_FROM: i64 = 24 * 60 * 60;
/// Rounding step for times of day, in minutes.
const CLOCK_STEP: u32 = 15;

/// Formats a duration exactly, with units: `7 min 30 s`, `2 h`, `1 d 2 h`.
pub fn duration_words(seconds: i64) -> String {
    let sign = if seconds < 0 { "-" } else { "" };
    let mut rest = seconds.saturating_abs();
    let mut words = Vec::new();
    for (unit, name) in [(DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1, "s")] {
        let count = rest / unit;
        rest %= unit;
        if count > 0 {
            words.push(format!("{count} {name}"));
        }
    }
    if words.is_empty() { "0 s".to_owned() } else { format!("{sign}{}", words.join(" ")) }
}

/// Formats an interval exactly, in everyday words: `every hour`, `every 90 minutes`, `every 2 days`, `every 1 h 5 min 30 s`.
pub(crate) fn interval_words(seconds: i64) -> String {
    let units = [(WEEK, "week"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")];
    let whole = units.into_iter().find(|(unit, _)| seconds >= *unit && seconds % unit == 0);
    match whole {
        Some((unit, name)) if seconds == unit => format!("every {name}"),
        Some((unit, name)) => format!("every {} {name}s", seconds / unit),
        None => format!("every {}", duration_words(seconds)),
    }
}

/// Formats an approximate interval, rounded to a suitable precision: `about every hour`, `about every 2 and a half
/// hours`, `about every 12 hours`.
pub fn about_interval_words(seconds: i64) -> String {
    let (step, unit, name) = match seconds {
        ..MINUTE => (1, 1, "second"),
        MINUTE..7_200 => (MINUTE, MINUTE, "minute"),
        7_200..21_600 => (HOUR / 2, HOUR, "hour"),
        21_600..172_800 => (HOUR, HOUR, "hour"),
        172_800..518_400 => (DAY / 2, DAY, "day"),
        _ => (DAY, DAY, "day"),
    };
    let rounded = seconds.saturating_add(step / 2) / step * step;
    if unit != step && rounded % unit != 0 {
        return format!("about every {} and a half {name}s", rounded / unit);
    }
    format!("about {}", interval_words(rounded))
}

/// Formats a duration, rounded to a few units.
pub(crate) fn about_duration(seconds: i64) -> String {
    let unit = match seconds {
        ..DAY => MINUTE,
        DAY.. if seconds < 10 * DAY => HOUR,
        _ => DAY,
    };
    duration_words((seconds + unit / 2) / unit * unit)
}

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
pub fn date(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz, has_day: bool) -> String {
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
pub fn day(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz) -> String {
    let (day, today) =
        (at.with_timezone(&zone).date_naive(), now.with_timezone(&zone).date_naive());
    match today.signed_duration_since(day).num_days() {
        0 => format!("Today, {}", day.format("%-d %B")),
        1 => format!("Yesterday, {}", day.format("%-d %B")),
        _ if day.year() == today.year() => day.format("%A, %-d %B").to_string(),
        _ => day.format("%A, %-d %B %Y").to_string(),
    }
}

/// Formats the time until an instant: `in 25 min`, `in 1 h 5 min`, `now`.
pub fn until_words(at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let seconds = at.signed_duration_since(now).num_seconds();
    match seconds {
        ..=0 => "now".into(),
        1..60 => format!("in {}", duration_words(seconds)),
        _ => format!("in {}", duration_words(seconds.saturating_add(30) / 60 * 60)),
    }
}

/// Formats a time with decreasing precision: `now`, `in 12 minutes`, `around 20:00`, `tomorrow around 07:00`, `on
/// Thursday`, `on 12 March`.
pub fn when_words(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz) -> String {
    let seconds = at.signed_duration_since(now).num_seconds();
    if seconds <= 0 {
        return "now".to_owned();
    }
    if seconds < MINUTES_BELOW {
        // Round down, as the lists on the screen do, so that the sentence shows the same number.
        let minutes = seconds / 60;
        return if minutes < 2 { "in a minute".into() } else { format!("in {minutes} minutes") };
    }
    let half_step = TimeDelta::seconds(i64::from(CLOCK_STEP) * 30);
    let local = at.checked_add_signed(half_step).unwrap_or(at).with_timezone(&zone);
    let today = now.with_timezone(&zone).date_naive();
    if seconds < DAYS_FROM {
        let day = if local.date_naive() == today { "" } else { "tomorrow " };
        let minute = local.minute() / CLOCK_STEP * CLOCK_STEP;
        return format!("{day}around {:02}:{minute:02}", local.hour());
    }
    let day = at.with_timezone(&zone).date_naive();
    match day.signed_duration_since(today).num_days() {
        ..=1 => "tomorrow".to_owned(),
        2..=6 => day.format("on %A").to_string(),
        _ if day.year() == today.year() => day.format("on %-d %B").to_string(),
        _ => day.format("on %-d %B %Y").to_string(),
    }
}

/// Formats a future time as `today 18:00`, `tomorrow 18:00` or `on 4 March 18:00`, and a past time as `after the next poll`.
pub(crate) fn day_and_time(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz) -> String {
    if at <= now {
        return "after the next poll".to_owned();
    }
    let (then, today) = (at.with_timezone(&zone), now.with_timezone(&zone).date_naive());
    let time = then.format("%H:%M");
    match then.date_naive().signed_duration_since(today).num_days() {
        0 => format!("today {time}"),
        1 => format!("tomorrow {time}"),
        _ => format!("on {} {time}", then.format("%-d %B")),
    }
}

/// Formats a duration in seconds like a clock, with hours only if needed.
pub fn clock_words(seconds: u32) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Formats an interval in minutes as a user would type it: `15m`, `2h`, `1d`.
pub fn interval_text(minutes: u32) -> String {
    match minutes {
        0 => "0m".into(),
        days if days.is_multiple_of(1440) => format!("{}d", days / 1440),
        hours if hours.is_multiple_of(60) => format!("{}h", hours / 60),
        minutes => format!("{minutes}m"),
    }
}

/// Formats a time of UTC as `Monday 2026-03-02 10:00 UTC`.
pub(crate) fn utc_minute(at: DateTime<Utc>) -> String {
    at.format("%A %Y-%m-%d %H:%M UTC").to_string()
}

/// Formats a time of UTC as `Monday 10:30`, with seconds unless they are zero.
pub(crate) fn utc_weekday(at: DateTime<Utc>) -> String {
    let form = if at.timestamp() % MINUTE == 0 { "%A %H:%M" } else { "%A %H:%M:%S" };
    at.format(form).to_string()
}

/// Formats a time for programs, as `2026-03-02T10:00:00Z`.
pub fn rfc_3339(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Joins words as in `a, b and c`.
pub(crate) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A sentence, or the end of one, about what a person typed or wrote into a file. It is shown as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputFlaw(String);

/// Creates an [`InputFlaw`] like `format!`.
#[macro_export]
macro_rules! flaw {
    ($($text:tt)*) => {
        $crate::words::InputFlaw::from(format!($($text)*))
    };
}

impl From<String> for InputFlaw {
    fn from(sentence: String) -> Self {
        Self(sentence)
    }
}

impl From<&str> for InputFlaw {
    fn from(sentence: &str) -> Self {
        Self(sentence.to_owned())
    }
}

impl From<InputFlaw> for String {
    fn from(flaw: InputFlaw) -> Self {
        flaw.0
    }
}

impl Deref for InputFlaw {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Formats a number of bytes in the largest unit that fits: `0 B`, `1.2 kB`, `24 MB`.
pub fn byte_words(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| bytes >= *unit) else {
        return format!("{bytes} B");
    };
    let (whole, tenth) = (bytes / unit, bytes % unit * 10 / unit);
    if whole >= 10 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts_use_a_fitting_unit() {
        let words = [0, 999, 1000, 1234, 12_499, 999_999, 1_000_000, 3_449_999, 3_000_000_000]
            .map(byte_words);
        let expected =
            ["0 B", "999 B", "1.0 kB", "1.2 kB", "12 kB", "999 kB", "1.0 MB", "3.4 MB", "3.0 GB"];
        assert_eq!(words, expected);
    }

    #[test]
    fn durations_are_named_with_their_units() {
        let words = [0, 59, 60, 450, 3600, 17_280, 86_400, 93_600, -90].map(duration_words);
        let expected = [
            "0 s",
            "59 s",
            "1 min",
            "7 min 30 s",
            "1 h",
            "4 h 48 min",
            "1 d",
            "1 d 2 h",
            "-1 min 30 s",
        ];
        assert_eq!(words, expected);
        assert!(!duration_words(i64::MIN).is_empty());
    }

    #[test]
    fn usual_intervals_are_named_and_others_rounded() {
        for (seconds, exact, about) in [
            (30, "every 30 s", "about every 30 s"),
            (60, "every minute", "about every minute"),
            (900, "every 15 minutes", "about every 15 minutes"),
            (3600, "every hour", "about every hour"),
            (5400, "every 90 minutes", "about every 90 minutes"),
            (3930, "every 1 h 5 min 30 s", "about every 66 minutes"),
            (9000, "every 150 minutes", "about every 2 and a half hours"),
            (17_280, "every 288 minutes", "about every 5 hours"),
            (86_400, "every day", "about every day"),
            (302_400, "every 84 hours", "about every 3 and a half days"),
            (604_800, "every week", "about every week"),
        ] {
            assert_eq!(
                (interval_words(seconds), about_interval_words(seconds)),
                (exact.into(), about.into())
            );
        }
    }

    #[test]
    fn overdue_poll_is_due_now() {
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
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

    #[test]
    fn durations_are_rounded_to_what_matters() {
        let words = [90, 3_700, 90_000, 864_000, 9_999_999].map(about_duration);
        assert_eq!(words, ["2 min", "1 h 2 min", "1 d 1 h", "10 d", "116 d"]);
    }

    #[test]
    fn lists_are_joined_in_plain_english() {
        let words = |count: usize| (0..count).map(|word| word.to_string()).collect::<Vec<_>>();
        assert_eq!(
            [0, 1, 2, 3].map(|count| listed(&words(count))),
            ["", "0", "0 and 1", "0, 1 and 2"]
        );
    }
}
