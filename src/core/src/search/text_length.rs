//! How long a text is: its words, or its characters in scripts without spaces, and the minutes that reading it takes.

use super::words::is_dense;

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
mod tests {
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
