//! Parses dates as publishers write them: RFC 822 with common errors, RFC 3339 and W3C-DTF in all partial forms, and common date
//! formats in many languages.

use chrono::{DateTime, Utc};

use super::clock::to_instant;
pub use super::numeric::DateOrder;
use super::{iso, usual, words};

/// Maximum length of a date text, in bytes.
const DATE_BYTES_MAX: usize = 240;

/// A parsed date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadDate {
    pub at: DateTime<Utc>,
    /// Whether it is unclear which number is the day and which is the month.
    pub is_ambiguous: bool,
}

/// A parsed date, with details of how it was written: whether it states a time and a zone, and whether the day or the month comes
/// first.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) at: DateTime<Utc>,
    pub(super) has_time: bool,
    pub(super) has_zone: bool,
    pub(super) is_ambiguous: bool,
    pub(super) shows: Option<DateOrder>,
}

impl Reading {
    /// Creates the reading of an unambiguous date that states a time and a zone.
    fn full(at: DateTime<Utc>) -> Self {
        Self { at, has_time: true, has_zone: true, is_ambiguous: false, shows: None }
    }
}

/// Parses a date in any form used in feeds, with one-second resolution. A missing zone means UTC, and a missing time means
/// midnight. A wrong weekday name is ignored, and 24:00 is the start of the next day. Dates with a year before 100 or after 9999
/// are not accepted. If it is unclear which number is the day, the order of RFC 822 (day first) is assumed.
pub fn parse_date(text: &str) -> Option<DateTime<Utc>> {
    read_date(text, None).map(|read| read.at)
}

/// Parses a date like `parse_date`. `order` states whether the other dates of the document put the day or the month first, and is
/// used if this date is ambiguous.
pub(crate) fn read_date(text: &str, order: Option<DateOrder>) -> Option<ReadDate> {
    read(text, order).map(|read| ReadDate { at: read.at, is_ambiguous: read.is_ambiguous })
}

/// Returns the offset that a date ends with, such as `+0100` or `-05:30`, in minutes east of UTC.
pub(crate) fn stated_offset(text: &str) -> Option<i16> {
    let text = text.trim_end().as_bytes();
    let (before, sign, [a, b, c, d]) = match text {
        [before @ .., sign @ (b'+' | b'-'), a, b, b':', c, d]
        | [before @ .., sign @ (b'+' | b'-'), a, b, c, d] => (before, *sign, [*a, *b, *c, *d]),
        _ => return None,
    };
    if ![a, b, c, d].iter().all(u8::is_ascii_digit) || !before.contains(&b':') {
        return None;
    }
    let number = |tens: u8, ones: u8| i16::from(tens - b'0') * 10 + i16::from(ones - b'0');
    let east = number(a, b) * 60 + number(c, d);
    Some(if sign == b'-' { -east } else { east })
}

/// Checks whether a date states a time but no zone, so that appending a zone would change the parsed instant.
pub(crate) fn has_no_zone(text: &str) -> bool {
    read(text, None).is_some_and(|read| read.has_time && !read.has_zone)
}

/// Checks whether a date states no time, so that a time can be appended.
pub(crate) fn has_no_time(text: &str) -> bool {
    read(text, None).is_some_and(|read| !read.has_time && !read.has_zone)
}

/// Returns the order of day and month if the date itself shows which number is the day, as in 25/12/2021.
fn shown_order(text: &str) -> Option<DateOrder> {
    read(text, None)?.shows
}

/// Returns the order of day and month in most of a document's unambiguous dates. English *am* or *pm* next to a date of three
/// numbers indicates that the month is first. Dates with dots are not counted.
pub(crate) fn order_of<'a>(texts: impl Iterator<Item = &'a str>) -> Option<DateOrder> {
    let (mut day_first, mut month_first) = (0_u32, 0_u32);
    for text in texts.filter(|text| can_show(text)) {
        match shown_order(text) {
            Some(DateOrder::DayFirst) => day_first += 1,
            Some(DateOrder::MonthFirst) => month_first += 1,
            None => {}
        }
    }
    match day_first.cmp(&month_first) {
        std::cmp::Ordering::Less => Some(DateOrder::MonthFirst),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(DateOrder::DayFirst),
    }
}

/// Checks quickly whether a text can contain a date of three numbers that starts with the day or the month.
fn can_show(text: &str) -> bool {
    if !text.is_ascii() {
        return true;
    }
    let mut digits = 0;
    for byte in text.trim_start().bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'/' | b'-' if matches!(digits, 1 | 2) => return true,
            b' ' if digits > 0 => {}
            _ => digits = 0,
        }
    }
    false
}

fn read(text: &str, order: Option<DateOrder>) -> Option<Reading> {
    let text = text.trim();
    if text.is_empty() || text.len() > DATE_BYTES_MAX {
        return None;
    }
    if let Some(usual) = usual::read(text) {
        return Some(Reading::full(usual));
    }
    if let Some(epoch) = read_epoch(text) {
        return Some(Reading::full(epoch));
    }
    if let Some(read) = iso::read(text) {
        let at = to_instant(read.date, read.clock, read.offset.unwrap_or(0))?;
        let (has_time, has_zone) = (read.clock.is_some(), read.offset.is_some());
        return Some(Reading { at, has_time, has_zone, is_ambiguous: false, shows: None });
    }
    words::read(text, order)
}

/// Reads a Unix timestamp: seconds with an optional fraction, or milliseconds.
fn read_epoch(text: &str) -> Option<DateTime<Utc>> {
    let (digits, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_epoch = match digits.len() {
        9 | 10 => true,
        13 => digits.len() == text.len(),
        _ => false,
    };
    if !(is_epoch && is_number(digits) && is_number(fraction)) {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    DateTime::from_timestamp(if digits.len() == 13 { number / 1_000 } else { number }, 0)
}

#[cfg(test)]
#[path = "date_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "form_tests.rs"]
mod form_tests;
