//! Reads the time of day from the tokens of a date, and converts both to an instant.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};

use super::names::{Meanings, Sense};
use super::tokens::{self, Token};

/// A time of day.
#[derive(Clone, Copy, Default)]
pub(super) struct TimeOfDay {
    pub(super) time: NaiveTime,
    /// Whether the time was written as 24:00, which means midnight at the end of the day.
    pub(super) next_day: bool,
}

/// Creates a time of day, or returns `None` if it is invalid. A leap second is read as the preceding second.
pub(super) fn time_of_day(hour: u32, minute: u32, second: u32) -> Option<TimeOfDay> {
    let next_day = hour == 24;
    let second = if second == 60 { 59 } else { second };
    let time = NaiveTime::from_hms_opt(if next_day { 0 } else { hour }, minute, second)?;
    Some(TimeOfDay { time, next_day })
}

/// Checks whether a year is plausible for a date. Programs write year 1 if they have no date.
fn is_year(year: i32) -> bool {
    (100..=9999).contains(&year)
}

/// Converts a local date and time to an instant. The offset is in minutes east of UTC. A missing time means midnight.
pub(super) fn to_instant(
    date: NaiveDate,
    clock: Option<TimeOfDay>,
    offset_minutes: i32,
) -> Option<DateTime<Utc>> {
    let clock = clock.unwrap_or_default();
    let date = if clock.next_day { date.succ_opt()? } else { date };
    let there = NaiveDateTime::new(date, clock.time);
    let here = there.checked_sub_signed(TimeDelta::minutes(i64::from(offset_minutes)))?;
    Some(here.and_utc()).filter(|here| is_year(date.year()) && is_year(here.year()))
}

/// A part of the day that qualifies the hour, such as am or pm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Morning,
    Afternoon,
    Night,
}

/// Returns the part of the day that a word can mean, or `None` if it does not mean a part of the day.
pub(super) fn half_of(meanings: Meanings) -> Option<Half> {
    meanings.iter().find_map(|meaning| match meaning.sense {
        Sense::Morning => Some(Half::Morning),
        Sense::Afternoon => Some(Half::Afternoon),
        Sense::Night => Some(Half::Night),
        Sense::Month(_) | Sense::Day(_) | Sense::Filler => None,
    })
}

/// Checks whether a token after a time is English *am*, *a.m.* or *a* (or *pm*, *p.m.* or *p*). Written with a space, *a. m.* is
/// Spanish.
pub(super) fn is_english_half(token: &Token<'_>) -> bool {
    let is = |word: &str| ["am", "pm", "a", "p"].iter().any(|half| word.eq_ignore_ascii_case(half));
    token.word().is_some_and(is) && !token.has_space
}

/// A time as written in the text, before am or pm is applied.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    hour: u32,
    minute: u32,
    second: u32,
    /// Number of tokens that the time occupies.
    pub(super) count: usize,
    /// Whether the hour is marked by a letter or word, not by a colon or dot.
    pub(super) has_hour_word: bool,
}

/// Result of checking whether a time begins at a certain token.
pub(super) enum Found {
    Nothing,
    /// Text that resembles a time but is not valid.
    Wrong,
    Time(Clock),
}

impl Clock {
    /// Returns the time of day, with the hour adjusted to the stated part of the day.
    pub(super) fn in_half(self, half: Option<Half>) -> Option<TimeOfDay> {
        let hour = match (half, self.hour) {
            // In Japanese, afternoon hours are written as 午後0 to 午後11.
            (Some(Half::Afternoon), hour @ 0..=11) | (Some(Half::Night), hour @ 6..=11) => {
                hour + 12
            }
            (Some(Half::Morning | Half::Night), 12) => 0,
            (_, hour) => hour,
        };
        time_of_day(hour, self.minute, self.second)
    }

    /// Reads a time written as one number without separators: `hhmm` or `hhmmss`.
    pub(super) fn from_digits(digits: &str) -> Option<Self> {
        let number: u32 = digits.parse().ok()?;
        let (hour, minute, second) = match digits.len() {
            4 => (number / 100, number % 100, 0),
            6 => (number / 10_000, number / 100 % 100, number % 100),
            _ => return None,
        };
        time_of_day(hour, minute, second)?;
        Some(Self { hour, minute, second, count: 1, has_hour_word: false })
    }
}

/// Reads the time at the start of the tokens: `9:15`, `09.15.30`, `9h15`, `9時15分`, `9 pm`.
pub(super) fn read(tokens: &[Token<'_>]) -> Found {
    let Some(hour) = short_number(tokens.first()) else { return Found::Nothing };
    match tokens.get(1).and_then(Token::mark) {
        Some(':') if is_glued(tokens.get(1)) && is_glued(tokens.get(2)) => {
            read_marked(tokens, hour, ':')
        }
        Some('.') if is_glued(tokens.get(1)) && has_width(tokens.get(2), 2) => {
            match read_marked(tokens, hour, '.') {
                Found::Wrong => Found::Nothing,
                found @ (Found::Nothing | Found::Time(_)) => found,
            }
        }
        Some(_) => Found::Nothing,
        None => read_with_words(tokens, hour).map_or(Found::Nothing, Found::Time),
    }
}

fn short_number(token: Option<&Token<'_>>) -> Option<u32> {
    token?.number().filter(|digits| digits.len() <= 2)?.parse().ok()
}

fn is_glued(token: Option<&Token<'_>>) -> bool {
    token.is_some_and(|token| !token.is_spaced)
}

fn has_width(token: Option<&Token<'_>>, width: usize) -> bool {
    token.and_then(Token::number).is_some_and(|digits| digits.len() == width)
}

/// Reads a time whose hour, minute and second are separated by `mark`, with an optional fraction of a second.
fn read_marked(tokens: &[Token<'_>], hour: u32, mark: char) -> Found {
    // Returns the number after the mark at `at`, if it is one of `marks` and no space precedes the mark or the number.
    let part = |at: usize, marks: &[char]| {
        let is_marked = tokens.get(at).and_then(Token::mark).is_some_and(|c| marks.contains(&c));
        let digits = tokens.get(at + 1).and_then(Token::number)?;
        (is_marked && is_glued(tokens.get(at)) && is_glued(tokens.get(at + 1))).then_some(digits)
    };
    let short = |digits: &str| digits.parse().ok().filter(|_| digits.len() <= 2);
    let Some(minute) = part(1, &[mark]).and_then(short) else { return Found::Wrong };
    let (mut second, mut count) = (0, 3);
    if let Some(digits) = part(3, &[mark]) {
        let Some(read) = short(digits) else { return Found::Wrong };
        (second, count) = (read, 5);
        if part(5, &['.', ',']).is_some() {
            count = 7;
        }
    } else if mark == ':' && part(3, &['.']).is_some() {
        count = 5;
    }
    if part(count, &[':', '.']).is_some() || time_of_day(hour, minute, second).is_none() {
        return Found::Wrong;
    }
    Found::Time(Clock { hour, minute, second, count, has_hour_word: false })
}

/// Reads a time with unit words after its numbers (`9h15`).
fn read_with_words(tokens: &[Token<'_>], hour: u32) -> Option<Clock> {
    const HOURS: [&str; 13] =
        ["h", "hs", "hrs", "u", "uhr", "ч", "час", "時", "时", "点", "點", "시", "giờ"];
    const MINUTES: [&str; 8] = ["m", "min", "mn", "мин", "分", "분", "phút", "хв"];
    const SECONDS: [&str; 7] = ["s", "sec", "sek", "с", "秒", "초", "giây"];
    let is = |at: usize, words: &[&str]| {
        let word = tokens.get(at).and_then(Token::word).map(tokens::lower_case);
        word.is_some_and(|word| words.contains(&word.as_str()))
    };
    let next = tokens.get(1)?;
    let word = next.word()?;
    if word.len() <= 2 && is_english_half(next) && next.meanings().and_then(half_of).is_some() {
        time_of_day(hour, 0, 0).filter(|_| (1..=12).contains(&hour))?;
        return Some(Clock { hour, minute: 0, second: 0, count: 1, has_hour_word: false });
    }
    if !is(1, &HOURS) {
        return None;
    }
    let (mut minute, mut second, mut count) = (0, 0, 2);
    let has_minute_word = is(3, &MINUTES);
    if has_width(tokens.get(2), 2) || has_minute_word {
        (minute, count) = (short_number(tokens.get(2))?, if has_minute_word { 4 } else { 3 });
        if has_minute_word && is(5, &SECONDS) {
            (second, count) = (short_number(tokens.get(4))?, 6);
        }
    }
    time_of_day(hour, minute, second)?;
    Some(Clock { hour, minute, second, count, has_hour_word: true })
}
