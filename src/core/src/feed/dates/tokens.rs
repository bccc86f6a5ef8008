//! Splits the text of a date into numbers, words and marks.
//!
//! Names of months, weekdays and other words in dates, in the languages of Unicode CLDR.

use std::borrow::Cow;

/// A number, name, word or mark in the text of a date.
#[derive(Clone, Copy, Debug)]
pub(super) enum DatePiece<'a> {
    /// A number, written in ASCII digits.
    Number(&'a str),
    /// A name from the table of names (its first word as written) with its meanings.
    Name(&'a str, Meanings),
    /// A word that is not in the table of names.
    Word(&'a str),
    Mark(char),
}

/// A piece of a date text, with the white space around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct DateToken<'a> {
    pub(super) piece: DatePiece<'a>,
    pub(super) is_spaced: bool,
    /// Whether white space also separates the words inside this token.
    pub(super) has_space: bool,
}

impl<'a> DateToken<'a> {
    pub(super) fn number(&self) -> Option<&'a str> {
        match self.piece {
            DatePiece::Number(digits) => Some(digits),
            DatePiece::Name(..) | DatePiece::Word(_) | DatePiece::Mark(_) => None,
        }
    }

    pub(super) fn mark(&self) -> Option<char> {
        match self.piece {
            DatePiece::Mark(mark) => Some(mark),
            DatePiece::Number(_) | DatePiece::Name(..) | DatePiece::Word(_) => None,
        }
    }

    pub(super) fn meanings(&self) -> Option<Meanings> {
        match self.piece {
            DatePiece::Name(_, meanings) => Some(meanings),
            DatePiece::Number(_) | DatePiece::Word(_) | DatePiece::Mark(_) => None,
        }
    }

    /// Returns the word as written, whether it is in the table of names or not.
    pub(super) fn word(&self) -> Option<&'a str> {
        match self.piece {
            DatePiece::Name(word, _) | DatePiece::Word(word) => Some(word),
            DatePiece::Number(_) | DatePiece::Mark(_) => None,
        }
    }
}

/// Code points of the digit zero in the scripts used for dates. The digits 1 to 9 of each script follow its zero.
const ZEROS: [u32; 46] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
    0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x11450, 0x116c0, 0x16ac0, 0x1e140, 0x1e950,
];

/// Replaces digits, marks and spaces of other scripts with their ASCII equivalents, and removes invisible characters.
pub(super) fn simplify(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter_map(simplify_char).collect())
}

fn simplify_char(c: char) -> Option<char> {
    let code = u32::from(c);
    if c.is_ascii() {
        return Some(c);
    }
    if let Some(digit) = ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|at| *at < 10))
    {
        return char::from_digit(digit, 10);
    }
    match c {
        // Invisible direction and joining marks.
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}'
        | '\u{180e}'
        | '\u{61c}'
        | '\u{70f}'
        | '\u{ad}' => None,
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(code - 0xff01 + 0x21),
        '‐'..='―' | '−' | '﹣' => Some('-'),
        '’' | 'ʼ' | '‘' => Some('\''),
        '،' | '、' | '᠂' => Some(','),
        '॰' | '․' | '。' => Some('.'),
        '∶' | '׃' => Some(':'),
        '•' | '●' | '・' | '│' => Some('|'),
        _ if c.is_whitespace() => Some(' '),
        _ => Some(c),
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphabetic() || !(c.is_ascii() || c.is_whitespace() || is_symbol(c))
}

fn is_symbol(c: char) -> bool {
    matches!(c, '·' | '«' | '»' | '§' | '©' | '®' | '°' | '¡' | '¿' | '\u{a2}'..='\u{a5}')
        || matches!(c, '\u{2010}'..='\u{206f}' | '\u{20a0}'..='\u{20cf}' | '\u{2190}'..='\u{2bff}')
        || matches!(c, '\u{3008}'..='\u{303f}' | '\u{1f000}'..='\u{1faff}')
}

/// Splits a text returned by [`simplify`] into tokens. Returns `None` if there are too many tokens for a date.
pub(super) fn split(text: &str) -> Option<Vec<DateToken<'_>>> {
    const TOKENS_MAX: usize = 60;
    let mut raw: Vec<DateToken<'_>> = Vec::new();
    let (mut rest, mut is_spaced) = (text, false);
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            is_spaced = true;
            rest = rest.trim_start();
            continue;
        }
        let length = match first {
            '0'..='9' => rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()),
            _ if is_word_char(first) => word_length(rest),
            _ => first.len_utf8(),
        };
        let (text, after) = rest.split_at_checked(length)?;
        let piece = match first {
            '0'..='9' => DatePiece::Number(text),
            _ if is_word_char(first) => DatePiece::Word(text),
            _ => DatePiece::Mark(first),
        };
        raw.push(DateToken { piece, is_spaced, has_space: false });
        (rest, is_spaced) = (after, false);
        if raw.len() > TOKENS_MAX {
            return None;
        }
    }
    Some(name_words(&raw))
}

/// Returns the length of the word at the start of `text`. A word consists of letters, with apostrophes, hyphens, slashes or similar
/// characters between them.
fn word_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = matches!(c, '\'' | '-' | '/' | '_' | '·');
        let goes_on = joins && chars.peek().is_some_and(|(_, next)| is_word_char(*next));
        if !(is_word_char(c) || goes_on) {
            return at;
        }
    }
    text.len()
}

/// Replaces words that are names in the table with name tokens. If several names begin at a word, the longest one is used.
fn name_words<'a>(raw: &[DateToken<'a>]) -> Vec<DateToken<'a>> {
    let mut out: Vec<DateToken<'a>> = Vec::with_capacity(raw.len());
    let mut key = String::new();
    let mut at = 0;
    while let Some(token) = raw.get(at) {
        let after_number =
            !token.is_spaced && out.last().is_some_and(|last| last.number().is_some());
        let ahead = raw.get(at..).unwrap_or_default();
        if let Some((count, piece)) = find_name(ahead, after_number, &mut key) {
            let inner = raw.get(at + 1..at + count).unwrap_or_default();
            let has_space = inner.iter().any(|token| token.is_spaced);
            out.push(DateToken { piece, is_spaced: token.is_spaced, has_space });
            at += count;
            continue;
        }
        match token.piece {
            DatePiece::Word(word) => {
                push_word(&mut out, word, token.is_spaced, after_number);
            }
            DatePiece::Number(_) | DatePiece::Name(..) | DatePiece::Mark(_) => out.push(*token),
        }
        at += 1;
    }
    out
}

/// Finds the longest name in the table that begins at the first token. Returns the number of tokens in the name and the name
/// itself.
fn find_name<'a>(
    tokens: &[DateToken<'a>],
    after_number: bool,
    key: &mut String,
) -> Option<(usize, DatePiece<'a>)> {
    key.clear();
    let mut found = None;
    let mut first = None;
    for (at, token) in tokens.iter().enumerate().take(2 * WORDS_MAX) {
        let word = match token.piece {
            DatePiece::Word(word) => word,
            // `7月` and `7-р` begin names, but `7 mar` does not.
            DatePiece::Number(digits) if at == 0 && is_joined(tokens.get(1)) => digits,
            // `M7` and Vietnamese `tháng 7` are names, but the `o 7` of `o 7:15` and the `th 7` of `5th 7` are not.
            DatePiece::Number(digits)
                if at > 0 && !after_number && (!token.is_spaced || key.starts_with("th")) =>
            {
                digits
            }
            DatePiece::Mark('.') if at > 0 => continue,
            DatePiece::Mark('-') if at == 1 && is_joined(tokens.get(2)) => continue,
            DatePiece::Number(_) | DatePiece::Name(..) | DatePiece::Mark(_) => break,
        };
        if !key.is_empty() {
            key.push(' ');
        }
        push_lower_case(key, word);
        let first = *first.get_or_insert(word);
        let (meanings, goes_on) = find_start(key);
        if let Some(meanings) = meanings {
            found = Some((at + 1, DatePiece::Name(first, meanings)));
        }
        if !goes_on {
            break;
        }
    }
    found
}

/// Checks whether `token` is a word or hyphen that follows the previous token without a space.
fn is_joined(token: Option<&DateToken<'_>>) -> bool {
    let is_joint = |next: &DateToken<'_>| next.word().is_some() || next.mark() == Some('-');
    token.is_some_and(|next| !next.is_spaced && is_joint(next))
}

/// Appends a word to `key` in the form used in the table of names: numbers without leading zeros, letters in lower case.
fn push_lower_case(key: &mut String, word: &str) {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        key.push_str(word.trim_start_matches('0'));
    } else if word.is_ascii() {
        key.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    } else {
        key.extend(word.to_lowercase().chars().filter(|c| *c != '\u{307}'));
    }
}

/// Returns a word in the form used in the table of names.
pub(super) fn lower_case(word: &str) -> String {
    let mut key = String::with_capacity(word.len());
    push_lower_case(&mut key, word);
    key
}

/// Appends a word that the table of names does not contain exactly: as its parts, as the name that it abbreviates, or else as an
/// unknown word.
fn push_word<'a>(out: &mut Vec<DateToken<'a>>, word: &'a str, is_spaced: bool, after_number: bool) {
    if word.starts_with(has_no_spaces) {
        return push_parts(out, word, is_spaced, after_number);
    }
    let name = lower_case(word);
    let after_article = name.split_once('\'').and_then(|(_, rest)| find(rest));
    let piece = match after_article.or_else(|| find_similar(&name)) {
        Some(meanings) => DatePiece::Name(word, meanings),
        None => DatePiece::Word(word),
    };
    out.push(DateToken { piece, is_spaced, has_space: false });
}

/// Checks whether a character belongs to a script that is written without spaces between words.
fn has_no_spaces(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{f00}'..='\u{fff}' | '\u{1000}'..='\u{109f}')
        || matches!(c, '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
        || matches!(c, '\u{ac00}'..='\u{d7af}')
}

/// Splits a word of a script without spaces into names, and appends them. If the word follows a number, its first character can be
/// a unit such as 年.
fn push_parts<'a>(
    out: &mut Vec<DateToken<'a>>,
    word: &'a str,
    is_spaced: bool,
    after_number: bool,
) {
    const UNITS: &str = "年月日号號時时点點分秒년월일시분초";
    let (mut rest, mut is_spaced, mut after_number) = (word, is_spaced, after_number);
    // The Tibetan syllable mark can occur inside or after a name and is skipped.
    while let Some(first) = rest.trim_start_matches('་').chars().next() {
        rest = rest.trim_start_matches('་');
        let mut ends = rest.char_indices().rev().map(|(at, c)| at + c.len_utf8());
        let name = ends
            .find_map(|end| Some((end, find(rest.get(..end)?)?)))
            .filter(|_| !(after_number && UNITS.contains(first)));
        let (length, piece) = match name {
            Some((end, meanings)) => {
                let Some(part) = rest.get(..end) else { return };
                (end, DatePiece::Name(part, meanings))
            }
            None if UNITS.contains(first) => {
                let Some(part) = rest.get(..first.len_utf8()) else { return };
                (first.len_utf8(), DatePiece::Word(part))
            }
            None => (rest.len(), DatePiece::Word(rest)),
        };
        out.push(DateToken { piece, is_spaced, has_space: false });
        rest = rest.get(length..).unwrap_or_default();
        (is_spaced, after_number) = (false, false);
    }
}

/// Words used in dates, sorted by their bytes. The header of the file `months.txt` explains its format.
const TABLE: &str = include_str!("../../../assets/dates/months.txt");

/// Minimum length of an abbreviated month or weekday name, in characters.
const PREFIX_CHARS_MIN: usize = 3;

/// Maximum number of words in a name in [`TABLE`].
pub(super) const WORDS_MAX: usize = 7;

/// Meaning of a word in a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Month(u32),
    /// A weekday, from 1 (Monday) to 7 (Sunday).
    Day(u32),
    Morning,
    Afternoon,
    /// Part of the day after midnight or late in the evening.
    Night,
    /// A word without a meaning for the date, such as *of*.
    Filler,
}

/// One meaning of a word in a date, such as a month.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    pub(super) sense: Sense,
    /// Whether the meaning occurs only in languages that are not main languages.
    pub(super) is_minor: bool,
    /// Languages in which the word has this meaning, separated by commas. Empty if the language does not matter.
    languages: &'static str,
}

impl Meaning {
    fn read(code: &'static str) -> Option<Self> {
        let (sense, languages) = code.split_once(':').unwrap_or((code, ""));
        let bare = sense.trim_end_matches('~');
        let read = match bare {
            "a" => Sense::Morning,
            "p" => Sense::Afternoon,
            "n" => Sense::Night,
            "w" => Sense::Filler,
            _ => match bare.strip_prefix('d') {
                Some(day) => Sense::Day(day.parse().ok()?),
                None => Sense::Month(bare.parse().ok()?),
            },
        };
        Some(Self { sense: read, is_minor: bare.len() < sense.len(), languages })
    }

    /// Returns the number of the month, or `None` if the meaning is not a month.
    pub(super) fn month(self) -> Option<u32> {
        match self.sense {
            Sense::Month(month) => Some(month),
            Sense::Day(_) | Sense::Morning | Sense::Afternoon | Sense::Night | Sense::Filler => {
                None
            }
        }
    }

    /// Returns the number of the weekday, or `None` if the meaning is not a weekday.
    pub(super) fn day(self) -> Option<u32> {
        match self.sense {
            Sense::Day(day) => Some(day),
            Sense::Month(_) | Sense::Morning | Sense::Afternoon | Sense::Night | Sense::Filler => {
                None
            }
        }
    }

    /// Checks whether the meaning is a part of the day, such as am or pm.
    pub(super) fn is_half(self) -> bool {
        matches!(self.sense, Sense::Morning | Sense::Afternoon | Sense::Night)
    }

    /// Checks whether the words with these two meanings can be from the same language.
    pub(super) fn shares_language(self, other: Self) -> bool {
        !self.languages.is_empty()
            && self.languages.split(',').any(|one| other.languages.split(',').any(|two| one == two))
    }
}

/// All meanings of one word, starting with those in the most common languages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meanings(&'static str);

impl Meanings {
    pub(super) fn iter(self) -> impl Iterator<Item = Meaning> {
        self.0.split(' ').filter_map(Meaning::read)
    }

    pub(super) fn has(self, wanted: impl FnMut(Meaning) -> bool) -> bool {
        self.iter().any(wanted)
    }

    /// Returns the months that the word can mean.
    pub(super) fn months(self) -> impl Iterator<Item = (u32, Meaning)> {
        self.iter().filter_map(|meaning| Some((meaning.month()?, meaning)))
    }

    /// Returns the weekdays that the word can mean. Returns nothing if the most common meaning of the word is neither a month nor a
    /// weekday, as for `h`.
    pub(super) fn days(self) -> impl Iterator<Item = Meaning> {
        let first = self.iter().next();
        let is_name = first.is_some_and(|first| first.month().or(first.day()).is_some());
        self.iter().filter(move |meaning| is_name && meaning.day().is_some())
    }

    /// Checks whether the only meaning of the word in the main languages is a month.
    pub(super) fn is_clearly_month(self) -> bool {
        let has_main = self.has(|meaning| meaning.month().is_some() && !meaning.is_minor);
        self.has(|meaning| meaning.month().is_some())
            && self
                .iter()
                .all(|meaning| meaning.month().is_some() || (has_main && meaning.is_minor))
    }
}

/// Looks up the meanings of a name in the table. The words of `name` must be in lower case, without dots and separated by one
/// space.
pub(super) fn find(name: &str) -> Option<Meanings> {
    find_start(name).0
}

/// Looks up the meanings of a name in the table. The second value is true if the table also contains longer names that begin with
/// `name` and another word.
pub(super) fn find_start(name: &str) -> (Option<Meanings>, bool) {
    let mut lines = TABLE.get(lower_bound(name)..).unwrap_or_default().lines().peekable();
    let read = |line: &'static str| line.split_once('\t').filter(|(known, _)| *known == name);
    let found = lines.peek().and_then(|line| read(line)).map(|(_, codes)| Meanings(codes));
    if found.is_some() {
        lines.next();
    }
    // A space sorts before all other characters in names, so a longer name with the same first words is on the next line.
    let next = lines.next().and_then(|line| line.strip_prefix(name));
    (found, next.is_some_and(|rest| rest.starts_with(' ')))
}

/// Looks up a name that is written without its accents or without its last letters. `word` must be in the form that `find`
/// requires. Returns `None` if more than one month or weekday of the main languages matches.
pub(super) fn find_similar(word: &str) -> Option<Meanings> {
    let is_mark = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    if word.contains(is_mark) {
        let plain: String = word.chars().filter(|c| !is_mark(*c)).collect();
        if let Some(found) = find(&plain) {
            return Some(found);
        }
    }
    find_prefix(word).or_else(|| {
        let (at, _) = word.char_indices().next_back()?;
        let stem = word.get(..at)?;
        let least = if word.is_ascii() { PREFIX_CHARS_MIN + 2 } else { PREFIX_CHARS_MIN };
        (stem.chars().count() >= least).then(|| find_prefix(stem)).flatten()
    })
}

/// Returns the meanings of the only month or weekday whose name begins with `start`. If a name has several meanings, only the first
/// one is compared.
fn find_prefix(start: &str) -> Option<Meanings> {
    if start.chars().count() < PREFIX_CHARS_MIN {
        return None;
    }
    let lines = TABLE.get(lower_bound(start)..)?.lines().take_while(|line| line.starts_with(start));
    let (mut main, mut minor) = (Agreement::None, Agreement::None);
    for line in lines {
        let Some((_, codes)) = line.split_once('\t') else { continue };
        let first = codes.split(' ').next().unwrap_or(codes);
        let Some(meaning) = Meaning::read(first) else { continue };
        if meaning.month().or(meaning.day()).is_some() {
            let group = if meaning.is_minor { &mut minor } else { &mut main };
            *group = group.add(meaning.sense, first);
        }
    }
    match (main, minor) {
        (Agreement::One(_, codes), _) | (Agreement::None, Agreement::One(_, codes)) => {
            Some(Meanings(codes))
        }
        (Agreement::Several, _) | (Agreement::None, Agreement::None | Agreement::Several) => None,
    }
}

/// Result of comparing the meanings of several names: no meaning, one common meaning, or different meanings.
#[derive(Clone, Copy)]
enum Agreement {
    None,
    One(Sense, &'static str),
    Several,
}

impl Agreement {
    fn add(self, sense: Sense, codes: &'static str) -> Self {
        match self {
            Self::None => Self::One(sense, codes),
            Self::One(known, _) if known == sense => self,
            Self::One(..) | Self::Several => Self::Several,
        }
    }
}

/// Returns the byte offset of the first line in the table that does not sort before `name`.
fn lower_bound(name: &str) -> usize {
    let bytes = TABLE.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = low.midpoint(high);
        let before = bytes.get(..middle).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1).max(low);
        let line = bytes.get(start..).unwrap_or_default();
        let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
        let line = line.get(..end).unwrap_or_default();
        let key = line.split(|byte| *byte == b'\t').next().unwrap_or_default();
        if line.starts_with(b"#") || key < name.as_bytes() {
            low = (start + end + 1).min(high);
        } else {
            high = start;
        }
    }
    low
}

#[cfg(test)]
mod names_tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_line_is_found() {
        let lines: Vec<_> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(lines.len() > 9_000, "{}", lines.len());
        for line in lines {
            let (name, codes) = line.split_once('\t').unwrap();
            assert_eq!(find(name).map(|found| found.0), Some(codes), "{name}");
            assert_eq!(find(name).unwrap().iter().count(), codes.split(' ').count(), "{line}");
            assert!(name.split(' ').count() <= WORDS_MAX, "{name}");
        }
        assert!(find("").is_none() && find("#").is_none() && find("zzzzzz").is_none());
    }
}
