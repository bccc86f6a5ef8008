//! The texts of an entry in which a query looks for words. The body is stripped of markup only if it is needed.

use std::cell::OnceCell;

use super::fold::folded;
use crate::feed::text::{one_line, strip_markup};
use crate::history::{EntryBody, KeptEntry};

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
            markup: body.and_then(EntryBody::text).unwrap_or_default(),
            ..Self::default()
        }
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
