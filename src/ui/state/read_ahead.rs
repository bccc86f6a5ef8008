//! Entries read from the store before they are opened.

use crate::engine::entries::loaded_entry::LoadedEntry;
use backissue_core::history::{EntryKey, FeedKey};

/// Entries requested in advance: the next one in the list, and the next unread one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ahead {
    /// Entries, or `None` for those still pending.
    pub(in crate::ui) entries: Vec<(EntryKey, Option<Box<LoadedEntry>>)>,
}

/// The state of an entry at the time when the user opens it.
#[derive(Debug)]
pub enum AheadEntry {
    /// The entry has been read.
    Here(Box<LoadedEntry>),
    /// The entry was requested and will arrive.
    OnItsWay,
    /// The entry must be requested.
    Unknown,
}

impl Ahead {
    /// Removes and returns an entry that the user opens.
    pub fn take(&mut self, key: EntryKey) -> AheadEntry {
        let Some(place) = self.entries.iter().position(|(asked, _)| *asked == key) else {
            return AheadEntry::Unknown;
        };
        match self.entries.remove(place).1 {
            Some(entry) => AheadEntry::Here(entry),
            None => AheadEntry::OnItsWay,
        }
    }

    /// Keeps an entry that has arrived, if it is still wanted.
    pub fn keep(&mut self, entry: LoadedEntry) {
        if let Some((_, kept)) = self.entries.iter_mut().find(|(asked, _)| *asked == entry.key) {
            *kept = Some(Box::new(entry));
        }
    }

    /// Drops the entries of a feed because they may be outdated. (Flags may change; the list rows have the current ones.)
    pub fn forget_feed(&mut self, feed: FeedKey) {
        self.entries.retain(|(key, _)| key.feed != feed);
    }

    /// Drops all entries because they may be outdated.
    pub fn forget(&mut self) {
        self.entries.clear();
    }

    /// Drops an entry that could not be read. Opening it requests it again.
    pub fn give_up(&mut self, key: EntryKey) {
        self.entries.retain(|(asked, _)| *asked != key);
    }
}
