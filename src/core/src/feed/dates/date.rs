//! Parses dates as publishers write them, and reads those that contain words.

pub use super::numeric::DateOrder;

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};

use super::clock::{self, Clock, Found, Half, Zone, to_instant};
use super::numeric::{self, Circumstances, Decided, NumericDate};
use super::tokens::{self, DatePiece, DateToken, Meaning, Meanings, Sense};
use super::usual;

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
    if let Some(usual) = usual::read_usual(text) {
        return Some(Reading::full(usual));
    }
    if let Some(epoch) = read_epoch(text) {
        return Some(Reading::full(epoch));
    }
    if let Some(read) = usual::read_iso(text) {
        let at = to_instant(read.date, read.clock, read.offset.unwrap_or(0))?;
        let (has_time, has_zone) = (read.clock.is_some(), read.offset.is_some());
        return Some(Reading { at, has_time, has_zone, is_ambiguous: false, shows: None });
    }
    read_words(text, order)
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

/// Parts of a date found so far.
struct Words<'t> {
    tokens: &'t [DateToken<'t>],
    numeric: Option<NumericDate<'t>>,
    /// Tokens that may name the month.
    months: Vec<MonthCandidate>,
    day: Option<u32>,
    year: Option<i32>,
    clock: Option<Clock>,
    half: Option<(Half, bool)>,
    zone: Option<Zone>,
    /// Whether the zone is stated as a number, such as `+0100`.
    has_offset: bool,
    /// Index of the first token after the time and zone.
    after_clock: usize,
    /// Whether the date begins with an unknown word.
    has_unknown_word: bool,
}

/// Reads a date. `order` states whether the document's other dates put the day or the month first.
pub(super) fn read_words(text: &str, order: Option<DateOrder>) -> Option<Reading> {
    let text = tokens::simplify(text);
    // Timestamps printed by Go programs end with the monotonic clock reading (` m=+0.123`).
    let text = text.split(" m=").next()?;
    let tokens = tokens::split(text)?;
    let has_clear_month =
        tokens.iter().filter_map(DateToken::meanings).any(Meanings::is_clearly_month);
    let numeric = numeric::find(&tokens, !has_clear_month);
    let months = if numeric.is_some() { Vec::new() } else { candidates(&tokens) };
    let mut words = Words {
        tokens: &tokens,
        numeric,
        months,
        day: None,
        year: None,
        clock: None,
        half: None,
        zone: None,
        has_offset: false,
        after_clock: usize::MAX,
        has_unknown_word: false,
    };
    let mut at = 0;
    while at < tokens.len() {
        let count = words.read_token(at)?;
        words.drop_months(at + 1, count.saturating_sub(1));
        at += count;
    }
    words.finish(order, is_thai(text))
}

/// Checks whether a text contains Thai characters. Years in Thai dates are counted from the death of the Buddha.
fn is_thai(text: &str) -> bool {
    text.contains(|c: char| ('\u{e00}'..='\u{e7f}').contains(&c))
}

impl<'t> Words<'t> {
    fn rest(&self, at: usize) -> &'t [DateToken<'t>] {
        self.tokens.get(at..).unwrap_or_default()
    }

    /// Reads the part of a date that begins at the token `at`. Returns the number of tokens read, or `None` if the whole text is
    /// not a date.
    fn read_token(&mut self, at: usize) -> Option<usize> {
        if let Some(numeric) = self.numeric.as_ref().filter(|numeric| numeric.range.contains(&at)) {
            return Some(numeric.range.end - at);
        }
        let token = self.tokens.get(at)?;
        if self.clock.is_none() {
            match clock::read(self.rest(at)) {
                Found::Wrong => return None,
                Found::Nothing => {}
                Found::Time(clock) => return Some(self.take_clock(at, clock)),
            }
        } else if let Some((zone, count)) = self.find_zone(at) {
            self.take_zone(zone, token.mark().is_some() || count > 1);
            self.after_clock = at + count;
            self.drop_months(at, 1);
            return Some(count);
        }
        match token.piece {
            DatePiece::Mark('(') if self.clock.is_none() && self.has_clock_at(at + 1) => Some(1),
            DatePiece::Mark('(') => self.read_comment(at),
            DatePiece::Mark(mark) => self.read_mark(at, mark),
            DatePiece::Number(digits) => self.read_number(at, digits),
            DatePiece::Name(word, meanings) => self.read_name(at, word, meanings),
            DatePiece::Word(word) => self.read_unknown(at, word),
        }
    }

    /// Stores a time and reads the part of the day (am or pm) that follows it.
    fn take_clock(&mut self, at: usize, clock: Clock) -> usize {
        self.clock = Some(clock);
        let mut end = at + clock.count;
        if let Some(next) = self.tokens.get(end) {
            let is_english = clock::is_english_half(next);
            let word = next.word().unwrap_or_default();
            let is_capital = word.chars().all(char::is_uppercase);
            let meanings = next.meanings().filter(|names| !is_main_day(*names) || is_capital);
            let half = meanings.and_then(clock::half_of);
            // The part of the day can be a single letter directly after the time, as in `9:15p`.
            let short = (!next.is_spaced && is_english).then(|| {
                let is_morning = word.starts_with(['a', 'A']);
                if is_morning { Half::Morning } else { Half::Afternoon }
            });
            if let Some(half) = half.or(short) {
                self.half = Some((half, is_english));
                self.drop_months(end, 1);
                end += 1;
            }
        }
        self.after_clock = end;
        end - at
    }

    /// Removes `count` tokens from `at` onwards from the candidates for the month, because they have another meaning.
    fn drop_months(&mut self, at: usize, count: usize) {
        self.months.retain(|month| !(at..at + count).contains(&month.at));
    }

    fn take_zone(&mut self, zone: Zone, is_offset: bool) {
        // A numeric zone takes precedence over a zone name: `EST -0500` states the same zone twice.
        if self.zone.is_none() || (is_offset && !self.has_offset) {
            self.zone = Some(zone);
            self.has_offset = is_offset;
        }
    }

    /// Skips a comment in parentheses. A comment after the time can contain the zone.
    fn read_comment(&mut self, at: usize) -> Option<usize> {
        if self.clock.is_some()
            && self.zone.is_none()
            && let Some((zone, _)) = self.find_zone_in_comment(at + 1)
        {
            self.take_zone(zone, false);
        }
        let mut depth = 0_u32;
        let mut is_escaped = false;
        for (count, token) in self.rest(at).iter().enumerate() {
            match token.mark().filter(|_| !is_escaped) {
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                _ => {}
            }
            is_escaped = token.mark() == Some('\\');
            if depth == 0 {
                return Some(count + 1);
            }
        }
        Some(self.rest(at).len())
    }

    fn find_zone(&self, at: usize) -> Option<(Zone, usize)> {
        clock::find_zone(self.rest(at), at == self.after_clock)
    }

    fn find_zone_in_comment(&self, at: usize) -> Option<(Zone, usize)> {
        let (zone, count) = self.find_zone(at)?;
        (self.tokens.get(at + count)?.mark()? == ')').then_some((zone, count))
    }

    /// Skips a mark that can separate the parts of a date. Returns `None` if the mark cannot occur in a date.
    fn read_mark(&self, at: usize, mark: char) -> Option<usize> {
        let token = self.tokens.get(at)?;
        let next_is_glued = self.tokens.get(at + 1).is_some_and(|next| !next.is_spaced);
        let before = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let is_allowed = match mark {
            ',' | '.' | ';' => before.is_some(),
            // A hyphen before the first number is the sign of a negative year and must not be skipped.
            '-' | '/' => before.is_some() && !(token.is_spaced && next_is_glued),
            '|' | '·' | '@' | '~' => token.is_spaced && !next_is_glued,
            '\'' => next_is_glued || before.is_some_and(|before| before.word().is_some()),
            // Accept the colon in `Date:`, and the first one in `2021:09:15:00` as written by web servers.
            ':' => {
                before.is_some_and(|before| before.word().is_some())
                    || !next_is_glued
                    || (self.year.is_some() && self.has_clock_at(at + 1))
            }
            // Accept the closing parenthesis of a time in parentheses.
            ')' => self.clock.is_some(),
            _ => false,
        };
        is_allowed.then_some(1)
    }

    fn read_number(&mut self, at: usize, digits: &str) -> Option<usize> {
        let width = digits.len();
        let number: u32 = digits.parse().ok()?;
        let count = 1 + self.ordinal_ending(at + 1);
        if self.numeric.is_some() || (width >= 4 && self.year.is_some()) {
            // The number may be a time without a colon, such as `0915`.
            let is_free = self.clock.is_none() && (self.numeric.is_some() || self.day.is_some());
            let clock = Clock::from_digits(digits).filter(|_| is_free)?;
            return Some(self.take_clock(at, clock));
        }
        match width {
            4 => self.year = Some(i32::try_from(number).ok()?),
            // Some programs write the number of years since 1900.
            3 if self.year.is_none() => self.year = Some(1900 + i32::try_from(number).ok()?),
            1 | 2 if self.day.is_none() => self.day = Some(number),
            1 | 2 if self.year.is_none() => self.year = Some(usual::expand_year(number)),
            _ => return None,
        }
        Some(count)
    }

    /// Returns the number of tokens at `at` that turn the preceding number into an ordinal (`5th`), or 0 if there are none.
    fn ordinal_ending(&self, at: usize) -> usize {
        const ENDINGS: [&str; 22] = [
            "st", "nd", "rd", "th", "er", "re", "e", "ème", "eme", "º", "ª", "o", "a", "го", "е",
            "й", "ое", "η", "ος", "ed", "de", "ste",
        ];
        let is_ending = |at: usize| {
            let word =
                self.tokens.get(at).filter(|token| !token.is_spaced).and_then(DateToken::word);
            word.is_some_and(|word| ENDINGS.contains(&tokens::lower_case(word).as_str()))
        };
        let has_hyphen = self.tokens.get(at).is_some_and(|t| !t.is_spaced && t.mark() == Some('-'));
        match (is_ending(at), has_hyphen && is_ending(at + 1)) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 0,
        }
    }

    fn read_name(&mut self, at: usize, word: &str, meanings: Meanings) -> Option<usize> {
        let is_filler = meanings.has(|meaning| meaning.month().is_none() && !meaning.is_half());
        if self.half.is_none()
            && let Some(half) = clock::half_of(meanings)
        {
            let token = self.tokens.get(at)?;
            let is_english = clock::is_english_half(token);
            let has_dot = self.tokens.get(at + 1).and_then(DateToken::mark) == Some('.');
            // Some words, such as German `am` and French `du`, have another meaning in dates. They count as a part of the day only
            // with a dot.
            let is_certain =
                !is_filler || has_dot || (is_english && word.starts_with(['A', 'P', 'p']));
            let next = at + 1 + usize::from(has_dot);
            let is_before = self.clock.is_none() && is_certain && self.has_clock_at(next);
            // Accept the part of the day after the time in `9:15 ч. pm`, but not the `am` in `12:15 Uhr am 5. Juli`.
            let is_half_first = meanings.iter().next().is_some_and(Meaning::is_half);
            let is_late = self.clock.is_some() && is_half_first && word != "am";
            if is_before || is_late {
                self.half = Some((half, is_english));
                self.drop_months(at, 1);
                return Some(1);
            }
        }
        (is_filler || self.months.iter().any(|month| month.at == at)).then_some(1)
    }

    fn has_clock_at(&self, at: usize) -> bool {
        let is_date = self.numeric.as_ref().is_some_and(|numeric| numeric.range.contains(&at));
        !is_date && matches!(clock::read(self.rest(at)), Found::Time(_))
    }

    /// Reads a word that is not in the table of names: a unit, the `T` before a time, or a weekday in an unknown language.
    fn read_unknown(&mut self, at: usize, word: &str) -> Option<usize> {
        const UNITS: [&str; 8] = ["年", "月", "日", "号", "號", "년", "월", "일"];
        let next = self.tokens.get(at + 1);
        if UNITS.contains(&word) {
            return Some(1);
        }
        if word.eq_ignore_ascii_case("t") && self.clock.is_none() && self.has_clock_at(at + 1) {
            return Some(1);
        }
        let is_marked =
            next.and_then(DateToken::mark).is_some_and(|mark| matches!(mark, ',' | '.'));
        self.has_unknown_word = at == 0 && (is_marked || word.chars().count() <= 4);
        self.has_unknown_word.then_some(1)
    }

    fn finish(self, order: Option<DateOrder>, is_thai: bool) -> Option<Reading> {
        if self.has_unknown_word && self.clock.is_none() {
            return None;
        }
        let decided = self.decide(order, is_thai)?;
        let half = self.half.map(|(half, _)| half);
        let clock = match self.clock {
            Some(clock) => Some(clock.in_half(half)?),
            None => None,
        };
        let there = decided.date.and_time(clock.unwrap_or_default().time);
        let offset = self.zone.map_or(0, |zone| zone.minutes_at(there));
        Some(Reading {
            at: to_instant(decided.date, clock, offset)?,
            has_time: clock.is_some(),
            has_zone: self.zone.is_some(),
            is_ambiguous: decided.is_ambiguous,
            shows: decided.shows,
        })
    }

    fn decide(&self, order: Option<DateOrder>, is_thai: bool) -> Option<Decided> {
        let year = |year: i32| {
            if is_thai && (2400..2700).contains(&year) { year - 543 } else { year }
        };
        let Some(numeric) = &self.numeric else {
            let date = decide(self.tokens, &self.months, year(self.year?), self.day?)?;
            return Some(Decided { date, is_ambiguous: false, shows: None });
        };
        let has_hour_word = self.clock.is_some_and(|clock| clock.has_hour_word);
        let names = self.tokens.iter().filter_map(DateToken::meanings).flat_map(Meanings::days);
        let days: Vec<u32> = names.filter_map(Meaning::day).collect();
        let seen = Circumstances { days: &days, half: self.half, has_hour_word };
        numeric.decide(&seen, order, |digits| {
            let number: u32 = digits.parse().ok()?;
            let full = i32::try_from(number).ok()?;
            Some(year(if digits.len() == 2 { usual::expand_year(number) } else { full }))
        })
    }
}

/// Checks whether a word is a weekday in a main language.
fn is_main_day(meanings: Meanings) -> bool {
    meanings.has(|meaning| meaning.day().is_some() && !meaning.is_minor)
}

/// A token that may name the month.
#[derive(Clone, Copy)]
pub(super) struct MonthCandidate {
    pub(super) at: usize,
    names: Meanings,
    /// Whether each criterion indicates that this token is the month, the most important criterion first.
    weight: [bool; 5],
}

/// Finds the tokens that may name the month.
pub(super) fn candidates(tokens: &[DateToken<'_>]) -> Vec<MonthCandidate> {
    let is_day = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        token.and_then(DateToken::number).is_some_and(|digits| digits.len() <= 2)
    };
    let is_day_name = |token: &DateToken<'_>| token.meanings().is_some_and(is_day_name);
    let has_days = tokens.iter().filter(|token| is_day_name(token)).count() > 1;
    let is_clock = |at: usize| tokens.get(at).and_then(DateToken::mark) == Some(':');
    let candidate = |(at, token): (usize, &DateToken<'_>)| {
        let names = token.meanings()?;
        names.months().next()?;
        let is_main = names.months().any(|(_, meaning)| !meaning.is_minor);
        let other = names.iter().find(|meaning| meaning.month().is_none() && !meaning.is_minor);
        // A word that is common in a main language is not read as a month of a minor language.
        if !is_main && other.is_some_and(|other| other.day().is_none() || !has_days) {
            return None;
        }
        let is_filler = names.has(|meaning| meaning.sense == Sense::Filler);
        let is_first = names.iter().next().is_some_and(|meaning| meaning.month().is_some());
        let is_beside_day =
            is_day(at.checked_sub(1)) || (is_day(Some(at + 1)) && !is_clock(at + 2));
        let weight = [names.is_clearly_month(), is_main, !is_filler, is_first, is_beside_day];
        Some(MonthCandidate { at, names, weight })
    };
    tokens.iter().enumerate().filter_map(candidate).collect()
}

/// Checks whether a word can mean a weekday.
fn is_day_name(names: Meanings) -> bool {
    names.has(|meaning| meaning.day().is_some())
}

/// Chooses the date if several words, or several meanings of one word, can be the month. The language of the weekday name and the
/// actual weekday of the date decide, then `MonthCandidate::weight`. If these are equal, the first language in the table of names is
/// used.
pub(super) fn decide(
    tokens: &[DateToken<'_>],
    candidates: &[MonthCandidate],
    year: i32,
    day: u32,
) -> Option<NaiveDate> {
    let date = |month: u32| NaiveDate::from_ymd_opt(year, month, day);
    if let [only] = candidates {
        let mut months = only.names.months();
        if let (Some((month, _)), None) = (months.next(), months.next()) {
            return date(month);
        }
    }
    let mut best = None;
    for candidate in candidates {
        let others = candidates.iter().filter(|other| other.at != candidate.at);
        let is_month_only =
            |other: &MonthCandidate| other.names.iter().all(|m| m.month().is_some());
        if others.into_iter().any(is_month_only) {
            continue;
        }
        let days = days_beside(tokens, candidate.at);
        for (month, meaning) in candidate.names.months() {
            let Some(date) = date(month) else { continue };
            let number = date.weekday().number_from_monday();
            let shares = days.iter().any(|day| day.shares_language(meaning));
            let is_on_day = days.iter().any(|day| day.day() == Some(number));
            let score = (shares && is_on_day, candidate.weight, shares, is_on_day);
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, date));
            }
        }
    }
    best.map(|(_, date)| date)
}

/// Returns the weekday meanings of all tokens except the one at index `except`.
fn days_beside(tokens: &[DateToken<'_>], except: usize) -> Vec<Meaning> {
    let names = tokens.iter().enumerate().filter(|(at, _)| *at != except);
    names.filter_map(|(_, token)| token.meanings()).flat_map(Meanings::days).collect()
}

#[cfg(test)]
#[path = "date_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "form_tests.rs"]
mod form_tests;
