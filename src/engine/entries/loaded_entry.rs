//! An entry as loaded from the store, with its text and marks.

use serde::{Deserialize, Serialize};

use super::full_text::FullText;
use backissue_core::feed::text::strip_markup;
use backissue_core::history::{EntryBody, EntryKey, Flags, KeptEntry};

/// An entry loaded from the store to be shown or passed to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedEntry {
    /// Key of the entry.
    pub key: EntryKey,
    /// Fields that lists show.
    pub kept: KeptEntry,
    /// Marks of the entry.
    pub flags: Flags,
    /// Text of the entry from the feed.
    pub body: Option<EntryBody>,
    /// `true` if the text is no longer stored.
    pub text_gone: bool,
    /// Saved reading position in the text of the entry.
    pub place: Option<ReadingPosition>,
    /// Stored text of the page that the entry links to.
    pub full: Option<FullText>,
    /// Numbers of the filters that matched the entry.
    pub ruled: Vec<u32>,
}

impl LoadedEntry {
    /// Creates an entry without its texts, as lists need it.
    pub const fn without_text(
        key: EntryKey,
        kept: KeptEntry,
        flags: Flags,
        ruled: Vec<u32>,
    ) -> Self {
        Self { key, kept, flags, body: None, text_gone: false, place: None, full: None, ruled }
    }

    /// Returns the markup of the text from the feed.
    pub fn feed_text(&self) -> Option<&str> {
        self.body.as_ref().and_then(EntryBody::text)
    }

    /// Returns the text of the entry's page. Returns `None` if the page was not fetched, contains no readable text, or has less of
    /// the text than the feed.
    pub fn page(&self) -> Option<&FullText> {
        self.full.as_ref().filter(|full| full.failed.is_none() && !self.has_more_than(full))
    }

    /// Checks whether the feed has more of the text than the page.
    fn has_more_than(&self, full: &FullText) -> bool {
        let letters =
            |html: &str| strip_markup(html).chars().filter(|c| !c.is_whitespace()).count();
        self.feed_text().is_some_and(|text| {
            text.len() > full.html.len() / 2 && letters(text) > letters(&full.html)
        })
    }
}

/// A position in a text, counted in characters so that it does not depend on the width of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingPosition {
    /// Number of characters before the first line shown.
    pub offset: u32,
    /// Number of characters in the whole text. If the text has changed, the position is scaled to the new length.
    pub of: u32,
}
