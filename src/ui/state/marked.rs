//! Feeds or entries that the user marked for a common action.

use std::collections::BTreeSet;

use super::layout::Pane;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey};

/// The marked feeds and entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkedRows {
    /// The feeds.
    pub feeds: BTreeSet<FeedKey>,
    /// The entries of the open list.
    pub entries: BTreeSet<EntryKey>,
    /// Pane and index of the row marked last, where a range starts.
    pub(in crate::ui) last: Option<(Pane, usize)>,
}

impl MarkedRows {
    /// Checks whether nothing is marked.
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

    /// Describes the marked feeds and entries in words.
    pub fn words(&self) -> String {
        let counted = |count: usize, one: &str, more: &str| {
            (count > 0).then(|| counted_words(count, one, more))
        };
        let feeds = counted(self.feeds.len(), "feed", "feeds");
        let entries = counted(self.entries.len(), "entry", "entries");
        feeds.into_iter().chain(entries).collect::<Vec<_>>().join(" and ")
    }
}
