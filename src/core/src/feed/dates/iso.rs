//! Reads RFC 3339, W3C-DTF and the forms of ISO 8601 that feeds use.

use chrono::{NaiveDate, Weekday};

use super::clock::{self, TimeOfDay};
use super::zone_names;

/// A date, with the time and zone if stated.
#[derive(Clone, Copy)]
pub(super) struct IsoDate {
    pub(super) date: NaiveDate,
    pub(super) clock: Option<TimeOfDay>,
    pub(super) offset: Option<i32>,
}

/// The part of a text that was not read yet.
struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    fn digits(&mut self, most: usize) -> Option<&'a str> {
        let count = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(digits).filter(|digits| !digits.is_empty())
    }

    fn number(&mut self, most: usize) -> Option<u32> {
        self.digits(most)?.parse().ok()
    }

    fn year(&mut self) -> Option<i32> {
        i32::try_from(self.number(4)?).ok()
    }

    fn eat(&mut self, wanted: &[char]) -> bool {
        self.0.strip_prefix(wanted).inspect(|rest| self.0 = rest).is_some()
    }

    fn digits_ahead(&self) -> usize {
        self.0.bytes().take_while(u8::is_ascii_digit).count()
    }
}

/// Reads a date in one of the machine-readable formats of ISO 8601, such as RFC 3339.
pub(super) fn read(text: &str) -> Option<IsoDate> {
    let text = text.split('[').next().unwrap_or(text).trim_end();
    let mut scan = Scan(text);
    let (date, is_full) = read_date(&mut scan)?;
    let before_time = scan.0;
    if !(scan.eat(&['T', 't']) || scan.eat(&[' '])) {
        return IsoDate { date, clock: None, offset: None }.in_zone(before_time);
    }
    scan.0 = scan.0.trim_start();
    let clock = read_time(&mut scan).filter(|_| is_full)?;
    IsoDate { date, clock: Some(clock), offset: None }.in_zone(scan.0)
}

/// Reads the date, and determines whether it states the day.
fn read_date(scan: &mut Scan<'_>) -> Option<(NaiveDate, bool)> {
    if scan.eat(&['-']) {
        let year = expand_year(scan.number(2)?);
        scan.eat(&['-']);
        return Some((NaiveDate::from_ymd_opt(year, scan.number(2)?, 1)?, false));
    }
    let date = match scan.digits_ahead() {
        4 => return read_long_year(scan),
        8 | 14 => NaiveDate::from_ymd_opt(scan.year()?, scan.number(2)?, scan.number(2)?),
        7 => NaiveDate::from_yo_opt(scan.year()?, scan.number(3)?),
        6 => {
            NaiveDate::from_ymd_opt(expand_year(scan.number(2)?), scan.number(2)?, scan.number(2)?)
        }
        2 => read_short_year(scan),
        _ => None,
    };
    date.map(|date| (date, true))
}

fn read_long_year(scan: &mut Scan<'_>) -> Option<(NaiveDate, bool)> {
    let year = scan.year()?;
    let has_mark = scan.eat(&['-', '/']);
    if scan.eat(&['W', 'w']) {
        let week = scan.number(2)?;
        scan.eat(&['-']);
        let day = if scan.digits_ahead() > 0 { scan.number(1)? } else { 1 };
        let day = Weekday::try_from(u8::try_from(day).ok()?.checked_sub(1)?).ok()?;
        return Some((NaiveDate::from_isoywd_opt(year, week, day)?, true));
    }
    if !has_mark {
        return Some((NaiveDate::from_ymd_opt(year, 1, 1)?, false));
    }
    if scan.digits_ahead() == 3 {
        return Some((NaiveDate::from_yo_opt(year, scan.number(3)?)?, true));
    }
    let month = scan.number(2)?;
    let has_day = scan.eat(&['-', '/']);
    let day = if has_day { scan.number(2)? } else { 1 };
    Some((NaiveDate::from_ymd_opt(year, month, day)?, has_day))
}

/// Reads `yy-ddd` (year and day of the year) or `yy-mm-dd`, where the two-digit year comes first.
fn read_short_year(scan: &mut Scan<'_>) -> Option<NaiveDate> {
    let year = expand_year(scan.number(2)?);
    if !scan.eat(&['-']) {
        return None;
    }
    if scan.digits_ahead() == 3 {
        return NaiveDate::from_yo_opt(year, scan.number(3)?);
    }
    let month = (scan.digits_ahead() == 2).then(|| scan.number(2)).flatten()?;
    let day = (scan.eat(&['-']) && scan.digits_ahead() == 2).then(|| scan.number(2)).flatten()?;
    NaiveDate::from_ymd_opt(year, month, day)
}

fn read_time(scan: &mut Scan<'_>) -> Option<TimeOfDay> {
    let hour = scan.number(2)?;
    let colon = scan.eat(&[':']);
    let has_minute = colon || scan.digits_ahead() >= 2;
    if !has_minute && scan.0.starts_with('.') {
        // `09.15` is 9:15, not a fraction of an hour.
        return None;
    }
    let minute = if has_minute { scan.number(2)? } else { 0 };
    let more = scan.eat(&[':']) || (!colon && scan.digits_ahead() >= 2);
    let second = if more { scan.number(2)? } else { 0 };
    if scan.eat(&['.', ',']) {
        scan.digits(20);
    }
    clock::time_of_day(hour, minute, second)
}

impl IsoDate {
    /// Sets the zone offset to the one stated in `text`, the text after the time. Returns `None` if `text` is neither empty nor a
    /// zone.
    fn in_zone(self, text: &str) -> Option<Self> {
        let text = text.trim();
        let offset = match text.chars().next() {
            None => None,
            Some(sign @ ('+' | '-' | '−')) => {
                let minutes = read_numeric_zone(text.get(sign.len_utf8()..)?)?;
                Some(if sign == '+' { minutes } else { -minutes })
            }
            Some(_) => Some(zone_names::find(text)?),
        };
        Some(Self { offset, ..self })
    }
}

/// Reads the zone offset `hh`, `hhmm`, `hh:mm` or `h:mm`, with an optional comment in parentheses, in minutes.
fn read_numeric_zone(text: &str) -> Option<i32> {
    let text = text.split('(').next()?.trim();
    let (hours, minutes) = match text.split_once(':') {
        Some(parts) => parts,
        None if text.len() > 2 => text.split_at_checked(text.len() - 2)?,
        None => (text, "0"),
    };
    let (hours, minutes): (i32, i32) = (read_digits(hours)?, read_digits(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

fn read_digits(text: &str) -> Option<i32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Expands a two-digit year as in RFC 2822 §4.3.
pub(super) fn expand_year(year: u32) -> i32 {
    let year = i32::try_from(year).unwrap_or_default();
    if year < 50 { 2000 + year } else { 1900 + year }
}
