//! Formats durations, intervals and interval rules as words, for explanations.

use crate::feed::{DayOfWeek, IntervalRule, Zone};
use crate::schedule::limits::{DAY, HOUR, MINUTE, WEEK};

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
pub(in crate::schedule) fn interval_words(seconds: i64) -> String {
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

/// Formats the hours, days and time zone in which an interval rule applies: `from hour 9 to hour 17, Monday to Friday`.
pub fn rule_words(rule: &IntervalRule) -> String {
    let hours = match (rule.start_hour, rule.end_hour) {
        (None | Some(0), None | Some(23)) => String::new(),
        (start, end) if start.unwrap_or(0) == end.unwrap_or(23) => {
            format!("at hour {}", start.unwrap_or(0))
        }
        (start, end) => {
            format!("from hour {} to hour {}", start.unwrap_or(0), end.unwrap_or(23))
        }
    };
    let days = match (rule.start_day, rule.end_day) {
        (None | Some(1), None | Some(7)) => String::new(),
        (start, end) => day_words(start.unwrap_or(1), end.unwrap_or(7)),
    };
    let when = [hours, days].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let when = if when.is_empty() { "at all times".to_owned() } else { when.join(", ") };
    match &rule.zone {
        Zone::Utc => when,
        Zone::Offset(minutes) => format!("{when}, at UTC{}", offset_words(*minutes)),
        Zone::Named(name) => format!("{when}, in {name}"),
    }
}

fn day_words(start: u8, end: u8) -> String {
    let name = |day: u8| {
        let place = usize::from(day.max(1) - 1);
        DayOfWeek::ALL.get(place).map_or_else(|| format!("day {day}"), |day| day.name().to_owned())
    };
    if start == end {
        format!("on {}", name(start))
    } else {
        format!("{} to {}", name(start), name(end))
    }
}

pub(in crate::schedule) fn offset_words(minutes: i16) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use crate::schedule::explain::wording::*;

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
    fn rule_is_described_in_words() {
        let rule = |hours: Option<(u8, u8)>, days: Option<(u8, u8)>, zone| IntervalRule {
            minutes: 30,
            start_hour: hours.map(|hours| hours.0),
            end_hour: hours.map(|hours| hours.1),
            start_day: days.map(|days| days.0),
            end_day: days.map(|days| days.1),
            zone,
        };
        let check = |rule: IntervalRule, expected: &str| assert_eq!(rule_words(&rule), expected);
        check(rule(None, None, Zone::Utc), "at all times");
        check(
            rule(Some((9, 17)), Some((1, 5)), Zone::Utc),
            "from hour 9 to hour 17, Monday to Friday",
        );
        check(rule(Some((4, 4)), None, Zone::Offset(-480)), "at hour 4, at UTC-08:00");
        check(
            rule(None, Some((7, 7)), Zone::Named("Asia/Tokyo".into())),
            "on Sunday, in Asia/Tokyo",
        );
    }
}
