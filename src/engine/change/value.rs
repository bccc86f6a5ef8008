//! Changes that are shown before they are written, and the values needed to revert each of them.

use serde::{Deserialize, Serialize};

use super::change_id::ChangeId;
use super::feed_change::FeedChange;
use super::key_runs;
use super::list_change::ListChange;
use crate::engine::feeds::subscription::HistoryCommit;
use crate::engine::saved_searches::SavedSearch;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag, GapKey, GapState};

/// Who makes a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// The user.
    #[default]
    User,
    /// The user, who was asked about it and said yes. If it undoes a change, with the id of that change.
    Answered(Option<ChangeId>),
    /// A server or a publisher: the change is none of those that the user can undo.
    Arrived,
}

/// A change that is shown before it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A mark was set or cleared on entries.
    Mark(MarkChange),
    /// Settings, addresses or the status of existing feeds were changed.
    Feeds(Vec<(FeedKey, FeedChange)>),
    /// Subscriptions were added (first list), and existing subscriptions were changed (second list).
    Subscribed(Vec<FeedKey>, Vec<(FeedKey, FeedChange)>),
    /// A subscription was removed.
    Unsubscribed(FeedKey),
    /// A removed subscription was restored.
    Resubscribed(FeedKey),
    /// A subscription was merged into another subscription.
    Merged {
        /// The removed subscription.
        from: FeedKey,
        /// The remaining subscription, and the change of its tags.
        into: (FeedKey, Box<FeedChange>),
    },
    /// A gap was hidden or shown again in the history that is written, with its state before.
    Gap(Box<HistoryCommit>, GapKey, GapState),
    /// Filters were added, changed or removed.
    Filters(ListChange<EntryFilter>),
    /// Saved searches were added, changed or removed.
    Searches(ListChange<SavedSearch>),
}

impl Change {
    /// Returns the change of the filters, if it is one.
    pub const fn filters(&mut self) -> Option<&mut ListChange<EntryFilter>> {
        if let Self::Filters(change) = self { Some(change) } else { None }
    }

    /// Returns the change of the saved searches, if it is one.
    pub const fn searches(&mut self) -> Option<&mut ListChange<SavedSearch>> {
        if let Self::Searches(change) = self { Some(change) } else { None }
    }
}

/// A mark that is set or cleared on entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkChange {
    /// The mark.
    pub flag: Flag,
    /// `true` to set the mark, `false` to clear it.
    pub value: bool,
    /// The entries. Each entry is expected to have the opposite value before the change; the store reports which entries were
    /// changed.
    #[serde(with = "key_runs")]
    pub keys: Vec<EntryKey>,
}

impl MarkChange {
    /// Returns the change that sets the opposite value on the same entries.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { value: !self.value, ..self }
    }
}
