//! Checks whether the words of a phrase follow each other in an entry.

use super::query::{QueryField, Term};
use super::words::WordScanner;
use crate::history::KeptEntry;

/// The texts of an entry in which a term can occur.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntryTexts<'t> {
    pub title: &'t str,
    pub author: &'t str,
    /// The text without markup.
    pub text: &'t str,
}

impl<'t> EntryTexts<'t> {
    /// Returns the texts of an entry, given its text without markup.
    pub fn new(kept: &'t KeptEntry, text: &'t str) -> Self {
        let title = kept.title.as_deref().unwrap_or_default();
        Self { title, author: kept.author.as_deref().unwrap_or_default(), text }
    }
}

impl Term {
    /// Returns whether the term consists of several words, so that an index of words alone cannot answer it.
    pub const fn is_phrase(&self) -> bool {
        self.words.len() > 1
    }

    /// Returns whether the term occurs in an entry, whether it is excluded or not.
    pub fn occurs_in(&self, entry: &EntryTexts<'_>) -> bool {
        let fields = match self.field {
            QueryField::Title => [entry.title, "", ""],
            QueryField::Author => [entry.author, "", ""],
            QueryField::Anywhere => [entry.title, entry.author, entry.text],
        };
        fields.iter().any(|text| self.occurs_in_text(text))
    }

    fn occurs_in_text(&self, text: &str) -> bool {
        let (mut scanner, mut word) = (WordScanner::new(text), String::new());
        // For each occurrence that has begun, how many of its words have been found.
        let mut begun: Vec<usize> = Vec::new();
        while scanner.next_into(&mut word).is_some() {
            begun.push(0);
            begun.retain_mut(|found| {
                let is_next = self.words.get(*found).is_some_and(|wanted| {
                    let is_last = found.saturating_add(1) == self.words.len();
                    *wanted == word || (is_last && self.prefix && word.starts_with(wanted.as_str()))
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

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use chrono_tz::Tz;

    use super::*;

    #[test]
    fn phrases_are_found_where_their_words_follow_each_other() {
        let entry = EntryTexts {
            title: "Frost and wax",
            author: "Ada Frost",
            text: "The late late frost came; wax and frost and honey.",
        };
        for (query, typing, expected) in [
            ("\"frost and wax\"", false, true),
            ("\"late frost came\"", false, true),
            ("\"late late frost\"", false, true),
            ("frost-and-hon", true, true),
            ("\"frost and hon\"", false, false),
            ("\"came wax\"", false, true),
            ("\"frost wax\"", false, false),
            ("\"wax the\"", false, false),
            ("title:\"late frost\"", false, false),
            ("author:\"ada frost\"", false, true),
            ("\"and honey\"", false, true),
        ] {
            let parsed = super::super::parse(query, typing, DateTime::UNIX_EPOCH, Tz::UTC).unwrap();
            assert!(parsed.terms[0].is_phrase(), "{query}");
            assert_eq!(parsed.terms[0].occurs_in(&entry), expected, "{query}");
        }
    }
}
