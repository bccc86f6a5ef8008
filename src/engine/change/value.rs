//! A change as a value.

use serde::{Deserialize, Serialize};

use super::feed_change::FeedChange;
use super::key_runs;
use crate::engine::saved_searches::SavedSearch;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag};

/// Names a change, so that one that could not be written is forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub u64);

/// A change that is shown before it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A mark on entries.
    Mark(MarkChange),
    /// Settings, addresses or the standing of feeds.
    Feeds(Vec<(FeedKey, FeedChange)>),
    /// New subscriptions, and changes of feeds that were subscribed to before.
    Subscribed(Vec<FeedKey>, Vec<(FeedKey, FeedChange)>),
    /// A subscription that was removed.
    Unsubscribed(FeedKey),
    /// A removed subscription that was restored.
    Resubscribed(FeedKey),
    /// A subscription that continues as another one.
    Merged {
        /// The one that was removed.
        from: FeedKey,
        /// The one that continues.
        into: FeedKey,
        /// Tags that it took from the other.
        tags: Vec<String>,
    },
    /// One filter; `None`: it is new.
    Filter {
        /// Its number.
        id: u32,
        /// The filter before.
        before: Option<Box<EntryFilter>>,
    },
    /// All filters, as they were before.
    Filters(Vec<EntryFilter>),
    /// The saved searches, as they were before.
    Searches(Vec<SavedSearch>),
}

/// A mark that is set or cleared on entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkChange {
    /// Which mark.
    pub flag: Flag,
    /// Set or cleared.
    pub value: bool,
    /// The entries.
    #[serde(with = "key_runs")]
    pub keys: Vec<EntryKey>,
}

impl MarkChange {
    /// The opposite change.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { value: !self.value, ..self }
    }
}

/// A change that is being written.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingChange {
    /// The change.
    pub change: Change,
    /// The step of undo that was recorded for it.
    pub step: Option<ChangeId>,
}
