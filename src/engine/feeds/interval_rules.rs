//! Parser for the user's own interval rules, such as `Mon-Fri 9:00-18:00 45m Europe/Berlin` (SPEC B.2 rank 0.5).
//!
//! The interval is required; days, hours, and zone are optional. The parts may be in any order. The end hour is exclusive:
//! `9:00-18:00` covers the hours 9 to 17. Several rules are separated by `;`.

use crate::engine::durations::{Span, interval_minutes};
use backissue_core::feed::{DayOfWeek, IntervalRule, Zone, read_zone};
use backissue_core::words::interval_text;
use backissue_core::{InputFlaw, flaw};

/// Maximum number of interval rules of a feed.
pub const RULES_MAX: usize = 20;

/// Parses interval rules separated by `;`. A rule that names no time zone gets `zone`. The error is a sentence.
pub fn read_rules(text: &str, zone: &Zone) -> Result<Vec<IntervalRule>, InputFlaw> {
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let rules: Vec<IntervalRule> =
        parts.map(|part| read_rule(part, zone)).collect::<Result<_, _>>()?;
    if rules.len() > RULES_MAX {
        return Err(flaw!("{} rules are too many: the maximum is {RULES_MAX}", rules.len()));
    }
    Ok(rules)
}

/// Parses one interval rule. A rule that names no time zone gets `zone`.
pub fn read_rule(text: &str, zone: &Zone) -> Result<IntervalRule, InputFlaw> {
    let mut minutes = None;
    let (mut days, mut hours, mut stated) = (None, None, None);
    for word in text.split_whitespace() {
        let twice = || format!("'{word}' in the rule '{text}' is a duplicate");
        if word.parse::<Span>().is_ok() {
            put(&mut minutes, interval_minutes(word)?).ok_or_else(twice)?;
        } else if let Some(found) = read_days(word) {
            put(&mut days, found).ok_or_else(twice)?;
        } else if let Some(found) = read_hours(word) {
            put(&mut hours, found).ok_or_else(twice)?;
        } else if let Some(found) = read_zone(word) {
            put(&mut stated, found).ok_or_else(twice)?;
        } else {
            return Err(flaw!(
                "'{word}' is not part of a rule: write it like 'Mon-Fri 9:00-18:00 45m'"
            ));
        }
    }
    let minutes =
        minutes.ok_or_else(|| format!("the rule '{text}' has no interval, like 45m or 2h"))?;
    let (start_day, end_day) = days.filter(|days| *days != (1, 7)).unzip();
    let (start_hour, end_hour) = hours.filter(|hours| *hours != (0, 23)).unzip();
    let zone = stated.unwrap_or_else(|| zone.clone());
    Ok(IntervalRule { minutes, start_hour, end_hour, start_day, end_day, zone })
}

/// Formats an interval rule in the syntax that [`read_rule`] parses.
pub fn rule_text(rule: &IntervalRule) -> String {
    let days = match (rule.start_day.unwrap_or(1), rule.end_day.unwrap_or(7)) {
        (1, 7) => String::new(),
        (first, last) if first == last => format!("{} ", day_word(first)),
        (first, last) => format!("{}-{} ", day_word(first), day_word(last)),
    };
    let hours = match (rule.start_hour.unwrap_or(0), rule.end_hour.unwrap_or(23)) {
        (0, 23) => String::new(),
        (first, last) => format!("{first}:00-{}:00 ", last.saturating_add(1)),
    };
    let zone = match &rule.zone {
        Zone::Utc => "UTC".to_owned(),
        Zone::Offset(minutes) => {
            let (sign, minutes) = (if *minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
        Zone::Named(name) => name.clone(),
    };
    format!("{days}{hours}{} {zone}", interval_text(rule.minutes))
}

/// Formats interval rules in the syntax that [`read_rules`] parses.
pub fn rules_text(rules: &[IntervalRule]) -> String {
    rules.iter().map(rule_text).collect::<Vec<_>>().join("; ")
}

/// Sets `place` to a value. Returns `None` if `place` already has a value, because a rule may state each part only once.
fn put<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}

/// Parses days such as `Mon`, `mon-fri`, and `Saturday-Monday`. Returns the numbers of the first and last day; 1 is Monday.
fn read_days(word: &str) -> Option<(u8, u8)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    Some((read_day(first)?, read_day(last)?))
}

fn read_day(word: &str) -> Option<u8> {
    let word = word.to_ascii_lowercase();
    let is_meant =
        |day: &DayOfWeek| word.len() >= 3 && day.name().to_ascii_lowercase().starts_with(&word);
    DayOfWeek::ALL.iter().position(is_meant).and_then(|place| u8::try_from(place + 1).ok())
}

/// Parses hours such as `9:00-18:00` or `9-18` (the hours 9 to 17), or `22-2` (across midnight). Returns the first and the last
/// hour.
fn read_hours(word: &str) -> Option<(u8, u8)> {
    let (from, to) = word.split_once('-')?;
    let (first, end) = (read_hour(from)?, read_hour(to)?);
    // Equal start and end hours are an error, because they could mean a whole day or no time at all.
    (first < 24 && first != end).then_some((first, if end == 0 { 23 } else { end - 1 }))
}

fn read_hour(word: &str) -> Option<u8> {
    let hour = word.strip_suffix(":00").unwrap_or(word);
    let is_number = (1..=2).contains(&hour.len()) && hour.bytes().all(|byte| byte.is_ascii_digit());
    hour.parse().ok().filter(|hour| is_number && *hour <= 24)
}

fn day_word(day: u8) -> &'static str {
    let name = DayOfWeek::ALL.get(usize::from(day.max(1) - 1)).map_or("Sunday", |day| day.name());
    name.get(..3).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::interval_rules::*;

    fn rule(minutes: u32, days: Option<(u8, u8)>, hours: Option<(u8, u8)>) -> IntervalRule {
        let (start_day, end_day) = days.unzip();
        let (start_hour, end_hour) = hours.unzip();
        IntervalRule { minutes, start_hour, end_hour, start_day, end_day, zone: Zone::Utc }
    }

    #[test]
    fn interval_rules_parse_and_print_as_typed() {
        for (text, expected, written) in [
            (
                "Mon-Fri 9:00-18:00 45m",
                rule(45, Some((1, 5)), Some((9, 17))),
                "Mon-Fri 9:00-18:00 45m UTC",
            ),
            ("2h sat 22-2", rule(120, Some((6, 6)), Some((22, 1))), "Sat 22:00-2:00 2h UTC"),
            ("saturday-mon 1d", rule(1440, Some((6, 1)), None), "Sat-Mon 1d UTC"),
            ("0:00-24:00 mon-sun 30m", rule(30, None, None), "30m UTC"),
            ("20-24 30m", rule(30, None, Some((20, 23))), "20:00-24:00 30m UTC"),
            ("22-0 30m", rule(30, None, Some((22, 23))), "22:00-24:00 30m UTC"),
        ] {
            let read = read_rule(text, &Zone::Utc).unwrap();
            assert_eq!(read, expected, "{text}");
            assert_eq!(rule_text(&read), written);
            assert_eq!(read_rule(written, &Zone::Offset(60)).unwrap(), expected);
        }
        let two = read_rules("Mon 1h; Tue 2h +05:30;", &Zone::Named("Europe/Berlin".into()));
        let two = two.unwrap();
        assert_eq!(two[0].zone, Zone::Named("Europe/Berlin".into()));
        assert_eq!(two[1].zone, Zone::Offset(330));
        assert_eq!(read_rules(&rules_text(&two), &Zone::Utc).unwrap(), two);
        assert!(read_rules(" ; ", &Zone::Utc).unwrap().is_empty());
    }

    #[test]
    fn invalid_rule_is_refused_in_words() {
        for (text, part) in [
            ("Mon-Fri", "has no interval"),
            ("9-18 45m 2h", "'2h' in the rule"),
            ("9:30-18:00 45m", "'9:30-18:00' is not part"),
            ("9-9 45m", "'9-9' is not part"),
            ("24-3 45m", "is not part"),
            ("Nowhere/Land 45m", "is not part"),
            ("+9-+12 45m", "is not part"),
        ] {
            let why = read_rule(text, &Zone::Utc).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
        assert!(read_rules(&"1h;".repeat(21), &Zone::Utc).unwrap_err().contains("too many"));
    }
}
