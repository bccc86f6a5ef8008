//! The feeds or entries that the user marked so that one action applies to all of them.

use std::collections::BTreeSet;

use super::layout::Pane;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey};

/// The feeds and entries that the user marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkedRows {
    /// The marked feeds.
    pub feeds: BTreeSet<FeedKey>,
    /// The marked entries of the open list.
    pub entries: BTreeSet<EntryKey>,
    /// Pane and index of the row that was marked last. Marking a range starts at this row.
    pub(in crate::ui) last: Option<(Pane, usize)>,
}

impl MarkedRows {
    /// Checks whether no feed and no entry is marked.
    pub fn is_empty(&self) -> bool {
        self.feeds.is_empty() && self.entries.is_empty()
    }

    /// Marks feeds, or unmarks them if all of them are marked.
    pub(in crate::ui) fn toggle_feeds(&mut self, feeds: &[FeedKey]) {
        let all = feeds.iter().all(|feed| self.feeds.contains(feed));
        for feed in feeds {
            if all {
                self.feeds.remove(feed);
            } else {
                self.feeds.insert(*feed);
            }
        }
    }

    /// Marks or unmarks an entry.
    pub(in crate::ui) fn toggle_entry(&mut self, entry: EntryKey) {
        if !self.entries.remove(&entry) {
            self.entries.insert(entry);
        }
    }

    /// Describes how many feeds and entries are marked.
    pub fn words(&self) -> String {
        let counted = |count: usize, one: &str, more: &str| {
            (count > 0).then(|| counted_words(count, one, more))
        };
        let feeds = counted(self.feeds.len(), "feed", "feeds");
        let entries = counted(self.entries.len(), "entry", "entries");
        feeds.into_iter().chain(entries).collect::<Vec<_>>().join(" and ")
    }
}
