//! Entries that are read from the store before the user opens them.

use crate::engine::entries::loaded_entry::LoadedEntry;
use backissue_core::history::{EntryKey, FeedKey};

/// Entries requested in advance: the next entry in the list, and the next unread entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadAhead {
    /// Requested entries. `None` means that the entry has not arrived yet.
    pub(in crate::ui) entries: Vec<(EntryKey, Option<Box<LoadedEntry>>)>,
}

/// Whether an entry that the user opens has been read in advance.
#[derive(Debug)]
pub enum AheadEntry {
    /// The entry has been read from the store.
    Here(Box<LoadedEntry>),
    /// The entry was requested from the store and has not arrived yet.
    OnItsWay,
    /// The entry was not requested in advance.
    Unknown,
}

impl ReadAhead {
    /// Removes an entry because the user opens it, and returns it if it has arrived.
    pub fn take(&mut self, key: EntryKey) -> AheadEntry {
        let Some(place) = self.entries.iter().position(|(asked, _)| *asked == key) else {
            return AheadEntry::Unknown;
        };
        match self.entries.remove(place).1 {
            Some(entry) => AheadEntry::Here(entry),
            None => AheadEntry::OnItsWay,
        }
    }

    /// Stores an entry that has arrived, if it was requested and is still needed.
    pub fn keep(&mut self, entry: LoadedEntry) {
        if let Some((_, kept)) = self.entries.iter_mut().find(|(asked, _)| *asked == entry.key) {
            *kept = Some(Box::new(entry));
        }
    }

    /// Drops the entries of a feed because they may be outdated. Changed flags do not require this, because flags are taken from
    /// the list rows.
    pub fn forget_feed(&mut self, feed: FeedKey) {
        self.entries.retain(|(key, _)| key.feed != feed);
    }

    /// Drops all entries because they may be outdated.
    pub fn forget(&mut self) {
        self.entries.clear();
    }

    /// Drops an entry that could not be read. If the user opens it, it is requested again.
    pub fn give_up(&mut self, key: EntryKey) {
        self.entries.retain(|(asked, _)| *asked != key);
    }
}
