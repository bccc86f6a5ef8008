//! A change as a value.

use serde::{Deserialize, Serialize};

use super::feed_change::FeedChange;
use super::key_runs;
use crate::engine::saved_searches::SavedSearch;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag};

/// Id of a change, used to drop its undo step if the write fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub u64);

/// A change that is shown before it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A mark on entries.
    Mark(MarkChange),
    /// Settings, addresses or the status of feeds.
    Feeds(Vec<(FeedKey, FeedChange)>),
    /// New subscriptions, and changes of existing ones.
    Subscribed(Vec<FeedKey>, Vec<(FeedKey, FeedChange)>),
    /// A subscription that was removed.
    Unsubscribed(FeedKey),
    /// A removed subscription that was restored.
    Resubscribed(FeedKey),
    /// A subscription that was merged into another.
    Merged {
        /// The removed subscription.
        from: FeedKey,
        /// The remaining subscription.
        into: FeedKey,
        /// Tags added to the remaining subscription.
        tags: Vec<String>,
    },
    /// One filter.
    Filter {
        /// Id of the filter.
        id: u32,
        /// The filter before; `None` if it is new.
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
    /// The mark.
    pub flag: Flag,
    /// `true` to set the mark, `false` to clear it.
    pub value: bool,
    /// The entries. Each of them is expected to have the opposite value before; the store reports the entries that already had
    /// this value.
    #[serde(with = "key_runs")]
    pub keys: Vec<EntryKey>,
}

impl MarkChange {
    /// Returns the opposite change.
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
    /// Id of the undo step for the change.
    pub step: Option<ChangeId>,
}
