//! The words of a text, as stored in the index and used in queries.
//!
//! A word is a run of letters and digits, folded to remove case and accents. Scripts written without spaces have no such
//! runs: in them, every two neighbouring characters form a word, and the last character of a run is also a word. Any part of
//! a text can therefore be found by its consecutive words.

use super::fold::{is_dense, is_of_word, is_silent, push_folded};

/// Maximum number of characters in a word. A longer word is indexed by its beginning.
const WORD_CHARS_MAX: usize = 48;

/// The position of a word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScannedWord {
    /// Offset of the word's first byte.
    pub from: usize,
    /// Offset of the byte after the word.
    pub to: usize,
    /// Number of words before this word in the text.
    pub place: usize,
}

/// A scanner that returns the words of a text one by one.
#[derive(Debug, Clone)]
pub struct WordScanner<'t> {
    text: &'t str,
    at: usize,
    place: usize,
}

impl<'t> WordScanner<'t> {
    /// Creates a scanner at the beginning of a text.
    pub const fn new(text: &'t str) -> Self {
        Self { text, at: 0, place: 0 }
    }

    /// Returns the position of the next word, and writes its folded form to `folded`.
    pub fn next_into(&mut self, folded: &mut String) -> Option<ScannedWord> {
        loop {
            folded.clear();
            let first = self.skip_to_word()?;
            let from = self.at;
            let to = if is_dense(first) { self.pair(folded, first) } else { self.run(folded) };
            if folded.is_empty() {
                // The run contains only joiners and accents, so it is not a word.
                continue;
            }
            let place = self.place;
            self.place = place.saturating_add(1);
            return Some(ScannedWord { from, to, place });
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_to_word(&mut self) -> Option<char> {
        let found = self.rest().char_indices().find(|(_, char)| is_of_word(*char));
        let Some((skipped, char)) = found else {
            self.at = self.text.len();
            return None;
        };
        self.at = self.at.saturating_add(skipped);
        Some(char)
    }

    /// Reads a word in a script without spaces: two neighbouring characters, or the last character of a run. Returns the
    /// offset of its end.
    fn pair(&mut self, folded: &mut String, first: char) -> usize {
        push_folded(folded, first);
        let behind = self.at.saturating_add(first.len_utf8());
        self.at = behind;
        match self.rest().chars().next().filter(|next| is_dense(*next)) {
            Some(next) => {
                push_folded(folded, next);
                behind.saturating_add(next.len_utf8())
            }
            None => behind,
        }
    }

    /// Reads a word that is a run of letters and digits. Returns the offset of its end.
    fn run(&mut self, folded: &mut String) -> usize {
        let mut chars = 0_usize;
        let mut to = self.text.len();
        for (offset, char) in self.rest().char_indices() {
            if !is_of_word(char) || (!char.is_ascii() && is_dense(char)) {
                to = self.at.saturating_add(offset);
                break;
            }
            if chars < WORD_CHARS_MAX && !is_silent(char) {
                push_folded(folded, char);
                chars = chars.saturating_add(1);
            }
        }
        self.at = to;
        to
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let (mut scanner, mut folded, mut words) = (WordScanner::new(text), String::new(), vec![]);
        while scanner.next_into(&mut folded).is_some() {
            words.push(folded.clone());
        }
        words
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        for (text, expected) in [
            ("The late Frost, 2014!", vec!["the", "late", "frost", "2014"]),
            ("don't re-use C++", vec!["don", "t", "re", "use", "c"]),
            ("caf\u{e9} soft\u{ad}ware", vec!["cafe", "software"]),
            ("漢字かな", vec!["漢字", "字か", "かな", "な"]),
            ("東京2020", vec!["東京", "京", "2020"]),
            ("한국어 글", vec!["한국", "국어", "어", "글"]),
            ("हिन्दी", vec!["हिन्दी"]),
            ("\u{301} \u{200d}", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert_eq!(words(&"x".repeat(500)), ["x".repeat(WORD_CHARS_MAX)]);
    }

    proptest! {
        #[test]
        fn words_are_ordered_at_character_boundaries(text in any::<String>()) {
            let (mut scanner, mut folded) = (WordScanner::new(&text), String::new());
            let (mut place, mut from) = (0, 0);
            while let Some(word) = scanner.next_into(&mut folded) {
                prop_assert!(text.get(word.from..word.to).is_some());
                prop_assert!(word.from >= from && word.to > word.from && word.place == place);
                prop_assert!(!folded.is_empty());
                (place, from) = (place + 1, word.from);
            }
        }
    }
}
