//! Reads the usual forms of dates: those of nearly every feed on a fast path, and RFC 3339, W3C-DTF and ISO 8601.

use chrono::{DateTime, NaiveDate, Utc, Weekday};

use super::clock::{self, TimeOfDay};

/// Reads an RFC 3339 date, or an RFC 822 date such as `Mon, 02 Mar 2026 10:00:00 GMT`, in which the weekday and the seconds are
/// optional.
pub(super) fn read_usual(text: &str) -> Option<DateTime<Utc>> {
    let mut bytes = Bytes(text.as_bytes());
    if bytes.0.get(4) == Some(&b'-') { bytes.read_rfc_3339() } else { bytes.read_mail() }
}

/// The part of a text that was not read yet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn read_mail(&mut self) -> Option<DateTime<Utc>> {
        if self.0.first()?.is_ascii_alphabetic() {
            let name = self.letters();
            if !is_english_day(name) {
                return None;
            }
            self.eat(b',').then(|| self.eat(b' '))?;
        }
        let day = self.number(1, 2)?;
        self.eat(b' ').then_some(())?;
        let month = english_month(self.letters())?;
        self.eat(b' ').then_some(())?;
        let year = self.number(4, 4)?;
        self.eat(b' ').then_some(())?;
        let clock = self.clock(false)?;
        self.eat(b' ').then_some(())?;
        let offset = match self.0.first()? {
            b'+' | b'-' => self.offset()?,
            b'G' if self.0 == b"GMT" => {
                self.0 = &[];
                0
            }
            _ => clock::find_abbreviation(std::str::from_utf8(self.letters()).ok()?)?,
        };
        self.finish(year, month, day, clock, offset)
    }

    fn read_rfc_3339(&mut self) -> Option<DateTime<Utc>> {
        let year = self.number(4, 4)?;
        self.eat(b'-').then_some(())?;
        let month = self.number(2, 2)?;
        self.eat(b'-').then_some(())?;
        let day = self.number(2, 2)?;
        self.eat(b'T').then_some(())?;
        let clock = self.clock(true)?;
        let offset = if self.eat(b'Z') { 0 } else { self.offset()? };
        self.finish(year, month, day, clock, offset)
    }

    fn finish(
        &self,
        year: u32,
        month: u32,
        day: u32,
        clock: TimeOfDay,
        offset: i32,
    ) -> Option<DateTime<Utc>> {
        let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
        clock::to_instant(date, Some(clock), offset).filter(|_| self.0.is_empty())
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let rest = self.0.split_first().filter(|(first, _)| **first == wanted);
        rest.inspect(|(_, rest)| self.0 = rest).is_some()
    }

    fn letters(&mut self) -> &'a [u8] {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (letters, rest) = self.0.split_at_checked(length).unwrap_or_default();
        self.0 = rest;
        letters
    }

    /// Reads a number with at least `least` and at most `most` digits. Returns `None` if the number is longer or shorter.
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let (mut number, mut count) = (0, 0);
        while let Some((digit @ b'0'..=b'9', rest)) = self.0.split_first() {
            count += 1;
            if count > most {
                return None;
            }
            number = number * 10 + u32::from(digit - b'0');
            self.0 = rest;
        }
        (count >= least).then_some(number)
    }

    fn clock(&mut self, has_fraction: bool) -> Option<TimeOfDay> {
        let hour = self.number(2, 2)?;
        self.eat(b':').then_some(())?;
        let minute = self.number(2, 2)?;
        let second = if self.eat(b':') { self.number(2, 2)? } else { 0 };
        if has_fraction && self.eat(b'.') {
            let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.0 = self.0.get(digits..).filter(|_| digits > 0)?;
        }
        clock::time_of_day(hour, minute, second)
    }

    /// Reads the zone offset `+hhmm` or `+hh:mm`, in minutes east of UTC.
    fn offset(&mut self) -> Option<i32> {
        let is_west = self.eat(b'-');
        if !is_west && !self.eat(b'+') {
            return None;
        }
        let (hours, minutes) = if self.0.get(2) == Some(&b':') {
            let hours = self.number(2, 2)?;
            self.eat(b':');
            (hours, self.number(2, 2)?)
        } else {
            let both = self.number(4, 4)?;
            (both / 100, both % 100)
        };
        let east =
            i32::try_from(hours * 60 + minutes).ok().filter(|_| hours < 24 && minutes < 60)?;
        Some(if is_west { -east } else { east })
    }
}

fn is_english_day(name: &[u8]) -> bool {
    let &[first, second, third] = name else { return false };
    matches!(
        &[first | 0x20, second | 0x20, third | 0x20],
        b"mon" | b"tue" | b"wed" | b"thu" | b"fri" | b"sat" | b"sun"
    )
}

fn english_month(name: &[u8]) -> Option<u32> {
    let &[first, second, third] = name else { return None };
    Some(match &[first | 0x20, second | 0x20, third | 0x20] {
        b"jan" => 1,
        b"feb" => 2,
        b"mar" => 3,
        b"apr" => 4,
        b"may" => 5,
        b"jun" => 6,
        b"jul" => 7,
        b"aug" => 8,
        b"sep" => 9,
        b"oct" => 10,
        b"nov" => 11,
        b"dec" => 12,
        _ => return None,
    })
}

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
pub(super) fn read_iso(text: &str) -> Option<IsoDate> {
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
            Some(_) => Some(clock::find_abbreviation(text)?),
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
