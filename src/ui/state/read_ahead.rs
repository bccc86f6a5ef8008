//! Entries that were read from the store before they are opened.

use crate::engine::entries::loaded_entry::LoadedEntry;
use backissue_core::history::{EntryKey, FeedKey};

/// The entries asked for ahead: the next of the list, and the next unread one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ahead {
    /// `None`: it is on its way.
    pub(in crate::ui) entries: Vec<(EntryKey, Option<Box<LoadedEntry>>)>,
}

/// What there is of an entry that is opened.
#[derive(Debug)]
pub enum AheadEntry {
    /// It is here.
    Here(Box<LoadedEntry>),
    /// It was asked for and will come.
    OnItsWay,
    /// It is to be asked for.
    Unknown,
}

impl Ahead {
    /// Takes out an entry that is opened.
    pub fn take(&mut self, key: EntryKey) -> AheadEntry {
        let Some(place) = self.entries.iter().position(|(asked, _)| *asked == key) else {
            return AheadEntry::Unknown;
        };
        match self.entries.remove(place).1 {
            Some(entry) => AheadEntry::Here(entry),
            None => AheadEntry::OnItsWay,
        }
    }

    /// Keeps an entry that has come, if it is still waited for.
    pub fn keep(&mut self, entry: LoadedEntry) {
        if let Some((_, kept)) = self.entries.iter_mut().find(|(asked, _)| *asked == entry.key) {
            *kept = Some(Box::new(entry));
        }
    }

    /// What was read of a feed's entries may not hold any more. (Marks may change: the rows of the list have them.)
    pub fn forget_feed(&mut self, feed: FeedKey) {
        self.entries.retain(|(key, _)| key.feed != feed);
    }

    /// What was read may not hold any more.
    pub fn forget(&mut self) {
        self.entries.clear();
    }

    /// It could not be read, and will be asked for again if it is opened.
    pub fn give_up(&mut self, key: EntryKey) {
        self.entries.retain(|(asked, _)| *asked != key);
    }
}
