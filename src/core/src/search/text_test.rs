//! Tests of the texts of an entry: words and phrases, parts of words, and regular expressions. The body is stripped of markup only
//! if it is needed.
//!
//! How long a text is: its words, or its characters in scripts without spaces, and the minutes that reading it takes.

use std::cell::OnceCell;

use regex::{Regex, RegexBuilder};

use super::words::{WordScanner, folded, is_dense};
use crate::feed::text::{one_line, strip_markup};
use crate::history::{EntryBody, KeptEntry};
use crate::{InputFlaw, flaw};

/// A shorter prefix matches in titles and authors only: nearly every text has a word that begins with it.
const PREFIX_CHARS_MIN: usize = 2;

/// A test of the texts in one field of an entry: what must occur there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextTest {
    /// A word or a phrase.
    Words(Term),
    /// A text in folded form that may begin and end inside a word.
    Part(TextField, String),
    /// A regular expression.
    Regex(TextField, EntryRegex),
    /// Something that belongs to the entry.
    Has(Attachment),
    /// The text is longer than this.
    Longer(LengthLimit),
}

/// Something that an entry can have beside its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    /// An attached file.
    File,
    /// A picture in the text.
    Picture,
}

/// A word or a phrase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// Field in which the term must occur.
    pub field: TextField,
    /// Consecutive words of the term, in folded form; never empty.
    pub words: Vec<String>,
    /// Whether a word that begins with the last word of the term also matches.
    pub prefix: bool,
}

/// The texts of an entry in which something must occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextField {
    /// The title, the author's name or the text.
    Anywhere,
    Title,
    /// The author's name.
    Author,
    /// The address of the entry's page.
    Link,
    /// The categories that the publisher gave the entry.
    Category,
    /// The text of the entry.
    Text,
}

impl TextField {
    /// Checks whether the field includes the text of the entry.
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Anywhere | Self::Text)
    }
}

impl TextTest {
    /// Returns the field in which something must occur.
    pub const fn field(&self) -> TextField {
        match self {
            Self::Words(term) => term.field,
            Self::Part(field, _) | Self::Regex(field, _) => *field,
            Self::Has(_) | Self::Longer(_) => TextField::Text,
        }
    }

    /// A rough measure of the time that the test takes.
    pub(super) const fn cost(&self) -> usize {
        if self.field().has_body() { 4 } else { 2 }
    }

    /// Checks whether the pattern occurs in every entry. An expression that matches an empty text occurs in each, because one of
    /// the texts of an entry is nearly always empty; in a certain field it must also match another text.
    pub(super) fn is_everywhere(&self) -> bool {
        match self {
            Self::Words(_) | Self::Part(..) | Self::Has(_) | Self::Longer(_) => false,
            Self::Regex(field, regex) => {
                regex.is_in("") && (*field == TextField::Anywhere || regex.is_in("x"))
            }
        }
    }

    /// Checks whether the pattern occurs in an entry.
    pub fn holds(&self, entry: &EntryTexts<'_>) -> bool {
        match self {
            Self::Words(term) => term.occurs_in(entry),
            Self::Part(field, part) => occurs(entry, *field, |text| match text {
                FieldText::Short(text) => folded(text).contains(part.as_str()),
                FieldText::Body => entry.folded_line().contains(part.as_str()),
            }),
            Self::Regex(field, regex) => occurs(entry, *field, |text| match text {
                FieldText::Short(text) => regex.is_in(text),
                FieldText::Body => regex.is_in(entry.line()),
            }),
            Self::Has(Attachment::File) => entry.has_file,
            Self::Has(Attachment::Picture) => entry.has_picture(),
            Self::Longer(limit) => limit.is_exceeded(TextLength::of([entry.text()])),
        }
    }
}

/// One of the texts of a field. The body is prepared only if it is needed.
#[derive(Clone, Copy)]
enum FieldText<'e> {
    Short(&'e str),
    Body,
}

/// Checks whether one of the texts in a field is accepted by `is_in`. The body comes last, because preparing it takes longest.
fn occurs(
    entry: &EntryTexts<'_>,
    field: TextField,
    mut is_in: impl FnMut(FieldText<'_>) -> bool,
) -> bool {
    match field {
        TextField::Title => is_in(FieldText::Short(entry.title)),
        TextField::Author => is_in(FieldText::Short(entry.author)),
        TextField::Link => is_in(FieldText::Short(entry.link)),
        TextField::Category => entry.categories.iter().any(|one| is_in(FieldText::Short(one))),
        TextField::Text => is_in(FieldText::Body),
        TextField::Anywhere => {
            is_in(FieldText::Short(entry.title))
                || is_in(FieldText::Short(entry.author))
                || is_in(FieldText::Body)
        }
    }
}

impl Term {
    /// Returns whether the term consists of several words, so that an index of words alone cannot answer it.
    pub const fn is_phrase(&self) -> bool {
        self.words.len() > 1
    }

    /// Returns whether the term is the beginning of a word that is too short to be looked for in texts.
    pub fn is_short_prefix(&self) -> bool {
        let is_short = |word: &String| word.is_ascii() && word.len() < PREFIX_CHARS_MIN;
        self.prefix && self.words.len() == 1 && self.words.iter().all(is_short)
    }

    fn occurs_in(&self, entry: &EntryTexts<'_>) -> bool {
        occurs(entry, self.field, |text| match text {
            FieldText::Short(text) => self.occurs_in_text(text, self.prefix),
            FieldText::Body => {
                self.occurs_in_text(entry.text(), self.prefix && !self.is_short_prefix())
            }
        })
    }

    fn occurs_in_text(&self, text: &str, prefix: bool) -> bool {
        let (mut scanner, mut word) = (WordScanner::new(text), String::new());
        // For each occurrence that has begun, how many of its words have been found.
        let mut begun: Vec<usize> = Vec::new();
        while scanner.next_into(&mut word).is_some() {
            begun.push(0);
            begun.retain_mut(|found| {
                let is_next = self.words.get(*found).is_some_and(|wanted| {
                    let is_last = found.saturating_add(1) == self.words.len();
                    *wanted == word || (is_last && prefix && word.starts_with(wanted.as_str()))
                });
                *found = found.saturating_add(1);
                is_next
            });
            if begun.first().is_some_and(|found| *found == self.words.len()) {
                return true;
            }
        }
        false
    }
}

/// Bytes of a text in which words are looked for; the rest of a longer one is not searched.
const TEXT_BYTES_MAX: usize = 1_000_000;
/// Characters of a text in which parts of words and regular expressions are looked for. Longer texts would slow down polls.
const LINE_CHARS_MAX: usize = 100_000;

/// The texts of an entry.
#[derive(Debug, Default)]
pub struct EntryTexts<'e> {
    /// Title, or an empty string; so are the other texts that an entry lacks.
    pub title: &'e str,
    pub author: &'e str,
    pub link: &'e str,
    pub categories: &'e [String],
    has_file: bool,
    markup: &'e str,
    text: OnceCell<String>,
    line: OnceCell<String>,
    folded: OnceCell<String>,
}

impl<'e> EntryTexts<'e> {
    /// Returns the texts of an entry.
    pub fn new(kept: &'e KeptEntry, body: Option<&'e EntryBody>) -> Self {
        Self {
            title: kept.title.as_deref().unwrap_or_default(),
            author: kept.author.as_deref().unwrap_or_default(),
            link: kept.link.as_deref().unwrap_or_default(),
            categories: &kept.categories,
            has_file: !kept.enclosures.is_empty(),
            markup: body.and_then(EntryBody::text).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Returns the texts that the row of a list has.
    pub fn of_row(title: &'e str, author: Option<&'e str>, link: Option<&'e str>) -> Self {
        let (author, link) = (author.unwrap_or_default(), link.unwrap_or_default());
        Self { title, author, link, ..Self::default() }
    }

    /// Checks whether the text shows a picture.
    fn has_picture(&self) -> bool {
        let tag = b"<img";
        self.markup.as_bytes().windows(tag.len()).any(|part| part.eq_ignore_ascii_case(tag))
    }

    /// Returns the text without markup.
    pub fn text(&self) -> &str {
        let text = self.text.get_or_init(|| strip_markup(self.markup));
        text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default()
    }

    /// Returns the text on one line.
    pub(super) fn line(&self) -> &str {
        self.line.get_or_init(|| one_line(self.text(), LINE_CHARS_MAX))
    }

    /// Returns the text on one line in folded form.
    pub(super) fn folded_line(&self) -> &str {
        self.folded.get_or_init(|| folded(self.line()))
    }
}

/// Maximum length of an expression in characters.
const CHARS_MAX: usize = 1_000;
/// Maximum size of a compiled expression in bytes. Larger ones are not allowed, because they could slow down polls.
const BYTES_MAX: usize = 1 << 20;

/// A compiled regular expression that ignores case. Two are equal if they are written equally.
#[derive(Debug, Clone)]
pub struct EntryRegex(Regex);

impl PartialEq for EntryRegex {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for EntryRegex {}

impl EntryRegex {
    /// Compiles an expression. The error is a reason without the expression.
    pub(super) fn compile(expression: &str) -> Result<Self, InputFlaw> {
        if expression.chars().count() > CHARS_MAX {
            return Err(flaw!("it has more than {CHARS_MAX} characters"));
        }
        let built = RegexBuilder::new(expression)
            .case_insensitive(true)
            .size_limit(BYTES_MAX)
            .dfa_size_limit(BYTES_MAX)
            .build();
        built.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large: use fewer repetitions".into(),
            error @ (regex::Error::Syntax(_) | _) => reason(&error.to_string()).into(),
        })
    }

    /// Checks whether the expression matches any part of a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Extracts the reason from an error message of the regex library: its last line. The lines before it only show the position
/// of the error.
fn reason(said: &str) -> String {
    let last = said.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Words that are read in a minute.
const WORDS_A_MINUTE: usize = 220;
/// Characters that are read in a minute in scripts without spaces between words.
const CHARACTERS_A_MINUTE: usize = 500;
/// Characters of such a script that count as a word.
const CHARACTERS_A_WORD: usize = 2;

/// The length of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextLength {
    words: usize,
    /// Characters of scripts without spaces between words.
    characters: usize,
}

impl TextLength {
    /// Counts a text that is given in parts. A word does not continue in the next part.
    pub fn of<'t>(parts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut length = Self::default();
        for word in parts.into_iter().flat_map(str::split_whitespace) {
            let dense = word.chars().filter(|char| is_dense(*char)).count();
            let is_word = word.chars().any(|char| char.is_alphanumeric() && !is_dense(char));
            length.characters += dense;
            length.words += usize::from(is_word);
        }
        length
    }

    /// Returns the number of words. Two characters of a script without spaces count as one.
    pub const fn words(self) -> usize {
        self.words + self.characters / CHARACTERS_A_WORD
    }

    /// Returns the minutes that reading the text takes, at least 1.
    pub const fn minutes(self) -> usize {
        let parts = self.words * CHARACTERS_A_MINUTE + self.characters * WORDS_A_MINUTE;
        parts.div_ceil(WORDS_A_MINUTE * CHARACTERS_A_MINUTE)
    }
}

/// A limit of the length of a text, as typed in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthLimit {
    Words(usize),
    Minutes(usize),
}

impl LengthLimit {
    /// Parses a number of words, or of minutes: `1000`, `6min`.
    pub(super) fn typed(typed: &str) -> Option<Self> {
        match typed.to_ascii_lowercase().strip_suffix("min") {
            Some(minutes) => minutes.trim().parse().ok().map(Self::Minutes),
            None => typed.parse().ok().map(Self::Words),
        }
    }

    /// Checks whether a text is longer than the limit.
    pub(super) const fn is_exceeded(self, length: TextLength) -> bool {
        match self {
            Self::Words(words) => length.words() > words,
            Self::Minutes(minutes) => length.minutes() > minutes,
        }
    }
}

#[cfg(test)]
mod text_length_tests {
    use super::*;

    #[test]
    fn texts_are_counted_by_words_or_characters() {
        let (latin, chinese) = ("one two — ".repeat(660), "春眠不覺曉".repeat(500));
        for (text, words, minutes) in [
            ("", 0, 0),
            ("It's late\u{a0}frost.", 3, 1),
            (latin.as_str(), 1320, 6),
            (chinese.as_str(), 1250, 5),
            ("Rust 入門", 2, 1),
        ] {
            let length = TextLength::of([text]);
            assert_eq!((length.words(), length.minutes()), (words, minutes));
        }
        assert_eq!(TextLength::of(["two", "words"]).words(), 2);
    }

    #[test]
    fn limits_are_words_or_minutes() {
        for (typed, limit) in [
            ("1000", Some(LengthLimit::Words(1000))),
            ("6min", Some(LengthLimit::Minutes(6))),
            ("6 MIN", Some(LengthLimit::Minutes(6))),
            ("6m", None),
            ("min", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(LengthLimit::typed(typed), limit, "{typed}");
        }
    }
}
