//! Splits the text of a date into numbers, words and marks.

use std::borrow::Cow;

use super::names::{self, Meanings};

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
    for (at, token) in tokens.iter().enumerate().take(2 * names::WORDS_MAX) {
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
        let (meanings, goes_on) = names::find_start(key);
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
    let after_article = name.split_once('\'').and_then(|(_, rest)| names::find(rest));
    let piece = match after_article.or_else(|| names::find_similar(&name)) {
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
            .find_map(|end| Some((end, names::find(rest.get(..end)?)?)))
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
