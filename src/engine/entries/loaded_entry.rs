//! An entry read from the store with everything that is kept of it.

use serde::{Deserialize, Serialize};

use super::full_text::FullText;
use backissue_core::history::{EntryBody, EntryKey, Flags, KeptEntry};

/// An entry read from the store to be shown or handed on.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedEntry {
    /// Its name.
    pub key: EntryKey,
    /// What lists show of it.
    pub kept: KeptEntry,
    /// Its marks.
    pub flags: Flags,
    /// Its text.
    pub body: Option<EntryBody>,
    /// It had a text that is not kept any more.
    pub text_gone: bool,
    /// Where the reader left it.
    pub place: Option<ReadingPosition>,
    /// What is kept of the page it links to.
    pub full: Option<FullText>,
    /// The filters that hit it, by their numbers.
    pub ruled: Vec<u32>,
}

/// A place in a text, counted in characters so that it is the same at every width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingPosition {
    /// Characters before the first line shown.
    pub offset: u32,
    /// Characters of the whole text: a text that has changed since is entered at the same share of it.
    pub of: u32,
}
