//! An entry as loaded from the store, with its text and marks.

use serde::{Deserialize, Serialize};

use super::full_text::FullText;
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

/// A position in a text, counted in characters so that it does not depend on the width of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingPosition {
    /// Number of characters before the first line shown.
    pub offset: u32,
    /// Number of characters in the whole text. If the text has changed, the position is scaled to the new length.
    pub of: u32,
}
