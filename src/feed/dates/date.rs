//! Parses dates as publishers write them: RFC 822 with its usual faults, RFC 3339 and W3C-DTF in all partial forms.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};

use super::zone_names;

/// Longest text taken for a date, in bytes.
const DATE_BYTES_MAX: usize = 100;

/// Parses a date in any form that feeds use, with one-second resolution. No zone means UTC, no time means
/// midnight, a wrong name of the day is ignored, 24:00 is the start of the next day. Years before 2 and
/// after 9999 are no dates.
pub fn parse_date(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if text.is_empty() || text.len() > DATE_BYTES_MAX {
        return None;
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) && matches!(text.len(), 9 | 10 | 13) {
        return read_epoch(text);
    }
    read_usual_form(text)
        .or_else(|| read_iso(text))
        .or_else(|| read_words(text))
        .or_else(|| read_words(&without_comments(text)?))
}

/// The form nearly every RSS feed writes, `Mon, 02 Mar 2026 10:00:00 GMT`, read without a search for anything
/// else: dates are most of the work in a feed of many short entries.
fn read_usual_form(text: &str) -> Option<DateTime<Utc>> {
    const LENGTHS: [usize; 2] =
        ["Mon, 02 Mar 2026 10:00:00 GMT".len(), "Mon, 02 Mar 2026 10:00:00 +0000".len()];
    if !LENGTHS.contains(&text.len()) {
        return None;
    }
    let read = DateTime::parse_from_rfc2822(text).ok()?.to_utc();
    (read.timestamp_subsec_nanos() == 0).then_some(read)
}

/// Whether a date states a time but no zone: then it changes when a zone is appended.
pub fn has_no_zone(text: &str) -> bool {
    let text = text.trim();
    let moved = parse_date(&format!("{text} PST"));
    !has_no_time(text) && moved.is_some() && moved != parse_date(text)
}

/// Whether a date states no time: then one can be appended.
pub fn has_no_time(text: &str) -> bool {
    let text = text.trim();
    parse_date(text).is_some() && parse_date(&format!("{text} 12:00")).is_some()
}

/// Reads seconds, or milliseconds, since 1970.
fn read_epoch(digits: &str) -> Option<DateTime<Utc>> {
    let number: i64 = digits.parse().ok()?;
    DateTime::from_timestamp(if digits.len() == 13 { number / 1_000 } else { number }, 0)
}

/// Removes the comments in parentheses from a mail date (RFC 822 §3.4.3). `None` means that it has none.
fn without_comments(text: &str) -> Option<String> {
    let (mut depth, mut escaped) = (0_u32, false);
    let mut out = String::new();
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if depth > 0 => escaped = true,
            '(' => {
                depth += 1;
                out.push(' ');
            }
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    text.contains('(').then_some(out)
}

/// A time of day.
#[derive(Clone, Copy, Default)]
struct TimeOfDay {
    time: NaiveTime,
    /// It was written as 24:00.
    next_day: bool,
}

fn to_instant(date: NaiveDate, clock: TimeOfDay, offset_minutes: i32) -> Option<DateTime<Utc>> {
    let date = if clock.next_day { date.succ_opt()? } else { date };
    let there = NaiveDateTime::new(date, clock.time);
    let here = there.checked_sub_signed(TimeDelta::minutes(i64::from(offset_minutes)))?;
    Some(here.and_utc()).filter(|_| (2..=9999).contains(&chrono::Datelike::year(&date)))
}

fn time_of_day(hour: u32, minute: u32, second: u32) -> Option<TimeOfDay> {
    let next_day = hour == 24;
    let second = if second == 60 { 59 } else { second };
    let time = NaiveTime::from_hms_opt(if next_day { 0 } else { hour }, minute, second)?;
    Some(TimeOfDay { time, next_day })
}

/// Reads from the front of a text.
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

    fn eat(&mut self, wanted: &[char]) -> bool {
        self.0.strip_prefix(wanted).inspect(|rest| self.0 = rest).is_some()
    }

    fn digits_ahead(&self) -> usize {
        self.0.bytes().take_while(u8::is_ascii_digit).count()
    }
}

/// Reads RFC 3339, W3C-DTF, and the forms of ISO 8601 that feeds use.
fn read_iso(text: &str) -> Option<DateTime<Utc>> {
    let text = text.split('[').next().unwrap_or(text).trim_end();
    let mut scan = Scan(text);
    let date = read_iso_date(&mut scan)?;
    let before_time = scan.0;
    if !(scan.eat(&['T', 't']) || scan.eat(&[' '])) {
        return to_instant(date, TimeOfDay::default(), read_zone_offset(before_time)?);
    }
    scan.0 = scan.0.trim_start();
    let clock = read_iso_time(&mut scan)?;
    to_instant(date, clock, read_zone_offset(scan.0)?)
}

fn read_iso_date(scan: &mut Scan<'_>) -> Option<NaiveDate> {
    if scan.eat(&['-']) {
        let year = expand_year(scan.number(2)?);
        scan.eat(&['-']);
        return NaiveDate::from_ymd_opt(year, scan.number(2)?, 1);
    }
    match scan.digits_ahead() {
        4 => {
            let year = i32::try_from(scan.number(4)?).ok()?;
            if !scan.eat(&['-', '/']) {
                return NaiveDate::from_ymd_opt(year, 1, 1);
            }
            if scan.digits_ahead() == 3 {
                return NaiveDate::from_yo_opt(year, scan.number(3)?);
            }
            let month = scan.number(2)?;
            let day = if scan.eat(&['-', '/']) { scan.number(2)? } else { 1 };
            NaiveDate::from_ymd_opt(year, month, day)
        }
        8 | 14 => {
            let year = i32::try_from(scan.number(4)?).ok()?;
            NaiveDate::from_ymd_opt(year, scan.number(2)?, scan.number(2)?)
        }
        7 => {
            let year = i32::try_from(scan.number(4)?).ok()?;
            NaiveDate::from_yo_opt(year, scan.number(3)?)
        }
        6 => {
            NaiveDate::from_ymd_opt(expand_year(scan.number(2)?), scan.number(2)?, scan.number(2)?)
        }
        2 => {
            let year = expand_year(scan.number(2)?);
            if !scan.eat(&['-']) {
                return None;
            }
            if scan.digits_ahead() == 3 {
                return NaiveDate::from_yo_opt(year, scan.number(3)?);
            }
            let month = scan.number(2)?;
            let day = scan.eat(&['-']).then(|| scan.number(2)).flatten()?;
            if scan.digits_ahead() > 0 { None } else { NaiveDate::from_ymd_opt(year, month, day) }
        }
        _ => None,
    }
}

fn read_iso_time(scan: &mut Scan<'_>) -> Option<TimeOfDay> {
    let hour = scan.number(2)?;
    let colon = scan.eat(&[':']);
    let minute = if colon || scan.digits_ahead() >= 2 { scan.number(2)? } else { 0 };
    let more = scan.eat(&[':']) || (!colon && scan.digits_ahead() >= 2);
    let second = if more { scan.number(2)? } else { 0 };
    if scan.eat(&['.', ',']) {
        scan.digits(20);
    }
    time_of_day(hour, minute, second)
}

/// Reads the zone at the end of a text as minutes east of UTC. Nothing means UTC.
fn read_zone_offset(text: &str) -> Option<i32> {
    let text = text.trim();
    let Some(sign) = text.chars().next().filter(|c| matches!(c, '+' | '-' | '−')) else {
        return zone_names::find_offset(text);
    };
    read_numeric_zone(text.get(sign.len_utf8()..)?)
        .map(|minutes| if sign == '+' { minutes } else { -minutes })
}

/// `hh`, `hhmm`, `hh:mm` or `h:mm`, perhaps with a comment in parentheses.
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

/// Completes a year of two digits, as RFC 2822 §4.3 reads it.
fn expand_year(year: u32) -> i32 {
    let year = i32::try_from(year).unwrap_or_default();
    if year < 50 { 2000 + year } else { 1900 + year }
}

/// The parts of a date written in words, as far as found.
#[derive(Default)]
struct DateParts {
    day: Option<u32>,
    month: Option<u32>,
    year: Option<i32>,
    clock: Option<TimeOfDay>,
    offset: Option<i32>,
    afternoon: Option<bool>,
}

/// Reads RFC 822 and 2822, RFC 850, `asctime`, and their variations.
fn read_words(text: &str) -> Option<DateTime<Utc>> {
    let mut parts = DateParts::default();
    let tokens = text
        .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .filter(|token| !token.is_empty());
    for (at, token) in tokens.enumerate() {
        parts.read_word(token, at == 0)?;
    }
    let date = NaiveDate::from_ymd_opt(parts.year?, parts.month?, parts.day?)?;
    let clock = parts.apply_half_of_day()?;
    to_instant(date, clock, parts.offset.unwrap_or(0))
}

impl DateParts {
    /// Reads one word. `None` means that the whole text is no date.
    fn read_word(&mut self, token: &str, first: bool) -> Option<()> {
        if token.contains(':') && token.starts_with(|c: char| c.is_ascii_digit()) {
            return self.read_time(token);
        }
        if self.clock.is_some() && token.starts_with(['+', '-', '−']) {
            self.offset = Some(self.offset.unwrap_or(0) + read_zone_offset(token)?);
            return Some(());
        }
        let bare = token.trim_end_matches('.');
        if let Some(number) = read_ordinal(bare) {
            let width = bare.bytes().filter(u8::is_ascii_digit).count();
            return self.read_number(number, width);
        }
        if let Some(month) = zone_names::find_month(bare).filter(|_| self.month.is_none()) {
            self.month = Some(month);
            return Some(());
        }
        if bare.eq_ignore_ascii_case("am") || bare.eq_ignore_ascii_case("pm") {
            self.afternoon = Some(bare.starts_with(['p', 'P']));
            return Some(());
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return self.read_compound(token);
        }
        if self.clock.is_some() {
            // After the time a word is a zone; one in parentheses only repeats what stands before.
            if self.offset.is_none() {
                self.offset = read_zone_words(token);
            }
            return Some(());
        }
        (first || zone_names::is_filler(bare)).then_some(())
    }

    fn read_time(&mut self, token: &str) -> Option<()> {
        let end = token
            .find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.'))
            .unwrap_or(token.len());
        let (time, tail) = token.split_at_checked(end)?;
        let mut scan = Scan(time);
        let read = read_iso_time(&mut scan)?;
        if !scan.0.is_empty() || self.clock.is_some() {
            return None;
        }
        self.clock = Some(read);
        if tail.is_empty() { Some(()) } else { self.read_word(tail, false) }
    }

    fn read_number(&mut self, number: u32, width: usize) -> Option<()> {
        if width >= 3 && self.year.is_none() {
            self.year = Some(if width == 3 { 1900 } else { 0 } + i32::try_from(number).ok()?);
        } else if self.day.is_none() && width <= 4 {
            self.day = Some(number);
        } else if self.year.is_none() {
            self.year = Some(expand_year(number));
        } else if width == 4 && self.clock.is_none() {
            // A time without its colon.
            self.clock = Some(time_of_day(number / 100, number % 100, 0)?);
        } else {
            return None;
        }
        Some(())
    }

    /// `06-Nov-94`, `6/11/1994`, `6.11.1994`: day first, but month first with strokes where it can be.
    fn read_compound(&mut self, token: &str) -> Option<()> {
        let separator = token.find(['-', '/', '.'])?;
        let mark = token.get(separator..)?.chars().next()?;
        let mut pieces = token.splitn(3, mark);
        let (first, second, third) = (pieces.next()?, pieces.next()?, pieces.next()?);
        if let Some(month) = zone_names::find_month(second) {
            self.month = Some(month);
            let (day, year) = if first.len() == 4 { (third, first) } else { (first, third) };
            self.day = Some(read_ordinal(day)?);
            return self.read_year(year);
        }
        let is_year_first = first.len() == 4;
        let (first, second) = (read_ordinal(first)?, read_ordinal(second)?);
        if is_year_first {
            (self.year, self.month, self.day) =
                (Some(i32::try_from(first).ok()?), Some(second), Some(read_ordinal(third)?));
            return Some(());
        }
        let month_first = mark == '/' && first <= 12;
        (self.month, self.day) =
            if month_first { (Some(first), Some(second)) } else { (Some(second), Some(first)) };
        self.read_year(third)
    }

    fn read_year(&mut self, text: &str) -> Option<()> {
        let number = read_ordinal(text)?;
        self.year =
            Some(if text.len() <= 2 { expand_year(number) } else { i32::try_from(number).ok()? });
        Some(())
    }

    fn apply_half_of_day(&self) -> Option<TimeOfDay> {
        use chrono::Timelike as _;
        let read = self.clock.unwrap_or_default();
        match (self.afternoon, read.time.hour()) {
            (Some(true), hour @ 1..=11) => {
                time_of_day(hour + 12, read.time.minute(), read.time.second())
            }
            (Some(false), 12) => time_of_day(0, read.time.minute(), read.time.second()),
            _ => Some(read),
        }
    }
}

/// `GMT+0200`, `UTC-5`, `(CET)`, `Etc/GMT`, names.
fn read_zone_words(token: &str) -> Option<i32> {
    let token = token.trim_matches(['(', ')']);
    let name_end = token.find(['+', '-', '−']).unwrap_or(token.len());
    let (name, offset) = token.split_at_checked(name_end)?;
    if offset.is_empty() { zone_names::find_offset(name) } else { read_zone_offset(offset) }
}

/// Reads a number, perhaps with an English or French ending.
fn read_ordinal(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, ending) = text.split_at_checked(end)?;
    matches!(ending, "" | "st" | "nd" | "rd" | "th" | "er" | "º")
        .then(|| number.parse().ok())
        .flatten()
}

#[cfg(test)]
#[path = "date_tests.rs"]
mod tests;
