//! Parses the date formats found in nearly every feed on a fast path, because parsing dates is most of the work for a feed with
//! many short entries.

use chrono::{DateTime, NaiveDate, Utc};

use super::clock::{self, TimeOfDay};
use super::zone_names;

/// Reads an RFC 3339 date, or an RFC 822 date such as `Mon, 02 Mar 2026 10:00:00 GMT`, in which the weekday and the seconds are
/// optional.
pub(super) fn read(text: &str) -> Option<DateTime<Utc>> {
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
            _ => zone_names::find(std::str::from_utf8(self.letters()).ok()?)?,
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
