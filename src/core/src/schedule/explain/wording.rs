//! Formats interval rules as words, for explanations.

use crate::feed::{DayOfWeek, IntervalRule, Zone};

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
