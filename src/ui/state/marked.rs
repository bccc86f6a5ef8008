//! What the reader marked, to do something with all of it at once.

use std::collections::BTreeSet;

use super::layout::Pane;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey};

/// Feeds and entries that are marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marked {
    /// The feeds.
    pub feeds: BTreeSet<FeedKey>,
    /// The entries, of the open list.
    pub entries: BTreeSet<EntryKey>,
    /// The pane and the place of the row that was marked last: a range begins there.
    pub(in crate::ui) last: Option<(Pane, usize)>,
}

impl Marked {
    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.feeds.is_empty() && self.entries.is_empty()
    }

    /// Marks feeds, or takes the marks away where all of them have one.
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

    /// Marks an entry, or takes its mark away.
    pub(in crate::ui) fn toggle_entry(&mut self, entry: EntryKey) {
        if !self.entries.remove(&entry) {
            self.entries.insert(entry);
        }
    }

    /// What is marked, in words.
    pub fn words(&self) -> String {
        let counted = |count: usize, one: &str, more: &str| {
            (count > 0).then(|| counted_words(count, one, more))
        };
        let feeds = counted(self.feeds.len(), "feed", "feeds");
        let entries = counted(self.entries.len(), "entry", "entries");
        feeds.into_iter().chain(entries).collect::<Vec<_>>().join(" and ")
    }
}
