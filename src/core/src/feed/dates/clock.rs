//! Reads the time of day and the time zone from the tokens of a date, and converts them to an instant.

use chrono::{
    DateTime, Datelike as _, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _, Utc,
};

use super::tokens::{self, DateToken, Meanings, Sense};

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
pub(super) fn is_english_half(token: &DateToken<'_>) -> bool {
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
pub(super) fn read(tokens: &[DateToken<'_>]) -> Found {
    let Some(hour) = short_number(tokens.first()) else { return Found::Nothing };
    match tokens.get(1).and_then(DateToken::mark) {
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

fn short_number(token: Option<&DateToken<'_>>) -> Option<u32> {
    token?.number().filter(|digits| digits.len() <= 2)?.parse().ok()
}

fn is_glued(token: Option<&DateToken<'_>>) -> bool {
    token.is_some_and(|token| !token.is_spaced)
}

fn has_width(token: Option<&DateToken<'_>>, width: usize) -> bool {
    token.and_then(DateToken::number).is_some_and(|digits| digits.len() == width)
}

/// Reads a time whose hour, minute and second are separated by `mark`, with an optional fraction of a second.
fn read_marked(tokens: &[DateToken<'_>], hour: u32, mark: char) -> Found {
    // Returns the number after the mark at `at`, if it is one of `marks` and no space precedes the mark or the number.
    let part = |at: usize, marks: &[char]| {
        let is_marked =
            tokens.get(at).and_then(DateToken::mark).is_some_and(|c| marks.contains(&c));
        let digits = tokens.get(at + 1).and_then(DateToken::number)?;
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
fn read_with_words(tokens: &[DateToken<'_>], hour: u32) -> Option<Clock> {
    const HOURS: [&str; 13] =
        ["h", "hs", "hrs", "u", "uhr", "ч", "час", "時", "时", "点", "點", "시", "giờ"];
    const MINUTES: [&str; 8] = ["m", "min", "mn", "мин", "分", "분", "phút", "хв"];
    const SECONDS: [&str; 7] = ["s", "sec", "sek", "с", "秒", "초", "giây"];
    let is = |at: usize, words: &[&str]| {
        let word = tokens.get(at).and_then(DateToken::word).map(tokens::lower_case);
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

/// Time zone of a date.
#[derive(Clone, Copy)]
pub(super) enum Zone {
    /// Minutes east of UTC.
    Offset(i32),
    Place(chrono_tz::Tz),
}

impl Zone {
    /// Returns the minutes east of UTC that apply in this zone at the local time `there`.
    pub(super) fn minutes_at(self, there: NaiveDateTime) -> i32 {
        match self {
            Self::Offset(minutes) => minutes,
            Self::Place(place) => {
                let local = place.from_local_datetime(&there).earliest();
                let minutes = local.map(|local| (there - local.naive_utc()).num_minutes());
                minutes.and_then(|minutes| i32::try_from(minutes).ok()).unwrap_or(0)
            }
        }
    }
}

/// Finds the zone at the first of these tokens. Returns the zone and the number of tokens that it occupies. `is_next` is true if
/// the tokens directly follow the time. In this case lower-case names and unknown names also count as zones.
pub(super) fn find_zone(tokens: &[DateToken<'_>], is_next: bool) -> Option<(Zone, usize)> {
    if let Some((minutes, count)) = read_offset(tokens) {
        return Some((Zone::Offset(minutes), count));
    }
    let (token, behind) = tokens.split_first()?;
    let word = token.word()?;
    if is_next {
        let words: Vec<&str> = tokens.iter().map_while(DateToken::word).take(4).collect();
        if let Some((minutes, count)) = find_phrase(&words) {
            return Some((Zone::Offset(minutes), count));
        }
    }
    let is_name = token
        .meanings()
        .is_some_and(|names| names.has(|m| m.month().or(m.day()).is_some() && !m.is_minor));
    let is_capital = word.bytes().all(|byte| byte.is_ascii_uppercase());
    let known = find_abbreviation(word)
        .filter(|_| (is_capital && (is_next || !is_name)) || (is_next && word.len() != 2));
    let zone = match known {
        Some(minutes) => Zone::Offset(minutes),
        None if is_next && token.meanings().is_none() && is_like_zone(word) => {
            word.parse().map_or(Zone::Offset(0), Zone::Place)
        }
        None => return None,
    };
    // The name can be followed directly by an offset, as in `GMT+2`.
    match read_offset(behind).filter(|_| behind.first().is_some_and(|sign| !sign.is_spaced)) {
        Some((minutes, count)) => Some((Zone::Offset(minutes), count + 1)),
        None => Some((zone, 1)),
    }
}

/// Reads the zone offset `+hh`, `-hhmm` or `+hh:mm`. Returns the minutes east of UTC and the number of tokens that the offset
/// occupies.
fn read_offset(tokens: &[DateToken<'_>]) -> Option<(i32, usize)> {
    let sign = tokens.first()?.mark().filter(|mark| matches!(mark, '+' | '-'))?;
    let glued = |at: usize| tokens.get(at).filter(|token| !token.is_spaced);
    let digits = glued(1)?.number()?;
    let number: i32 = digits.parse().ok().filter(|_| digits.len() <= 4)?;
    let (hours, minutes, count) = match digits.len() {
        1 | 2 => match (glued(2).and_then(DateToken::mark), glued(3).and_then(DateToken::number)) {
            (Some(':'), Some(minutes)) if minutes.len() == 2 => (number, minutes.parse().ok()?, 4),
            _ => (number, 0, 2),
        },
        _ => (number / 100, number % 100, 2),
    };
    let east = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
    Some((if sign == '+' { east } else { -east }, count))
}

/// Abbreviations of time zones, then their full names, with their minutes east of UTC.
const ZONES: &str = include_str!("../../../assets/dates/zones.txt");
/// The end of the line before the abbreviations.
const ABBREVIATIONS: &str = "come last.\n";
/// The line between the abbreviations and the full names.
const FULL_NAMES: &str = "# Full names.\n";

/// Returns the names, and their minutes as text, in the part of the table after the line `from` and before the next comment.
fn rows(from: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (_, rows) = ZONES.split_once(from).unwrap_or_default();
    let lines = rows.lines().take_while(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t'))
}

/// Finds the full name of a zone at the start of `words`. Returns the minutes east of UTC and the number of words in the name. If
/// `daylight` or `summer` follows a one-word name such as `pacific`, an hour is added.
fn find_phrase(words: &[&str]) -> Option<(i32, usize)> {
    let starts = |phrase: &str, at: usize| {
        phrase.split(' ').enumerate().all(|(place, wanted)| {
            words.get(at + place).is_some_and(|word| word.eq_ignore_ascii_case(wanted))
        })
    };
    let fitting = rows(FULL_NAMES).filter(|(phrase, _)| starts(phrase, 0));
    let (phrase, minutes) = fitting.max_by_key(|(phrase, _)| phrase.len())?;
    let (mut count, minutes) = (phrase.split(' ').count(), minutes.parse().unwrap_or(0));
    if count > 1 {
        return Some((minutes, count));
    }
    let is_summer = starts("daylight", count) || starts("summer", count);
    count += usize::from(is_summer || starts("standard", count));
    let has_time = starts("time", count);
    let minutes = minutes + if is_summer { 60 } else { 0 };
    (has_time || count > 1).then_some((minutes, count + usize::from(has_time)))
}

/// Returns the minutes east of UTC of the zone with this abbreviation.
pub(in crate::feed) fn find_abbreviation(name: &str) -> Option<i32> {
    rows(ABBREVIATIONS)
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .and_then(|(_, minutes)| minutes.parse().ok())
}

/// Checks whether a word looks like the name of a zone: capital letters, or a place like `Europe/Berlin`. An unknown zone is read
/// as UTC.
fn is_like_zone(word: &str) -> bool {
    let is_place = word.split('/').count() > 1
        && word.split('/').all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
    is_place || (word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
}
