//! What was shown ahead of a write, so that a write that fails takes back exactly that.

use super::address_change::AddressChange;
use super::undo_stack::ChangeId;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::saved_searches::SavedSearch;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag};

/// How to take back what was shown ahead of one job.
#[derive(Debug, Clone, PartialEq)]
pub enum Rollback {
    /// A mark on entries.
    Marks {
        /// The entries that it was shown on.
        keys: Vec<EntryKey>,
        /// Which mark.
        flag: Flag,
        /// What was shown.
        value: bool,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
    /// A filter as it was before; `None`: there was none.
    Filter {
        /// Its number.
        id: u32,
        /// The filter.
        before: Option<Box<EntryFilter>>,
    },
    /// The whole list of filters as it was before.
    Filters(Vec<EntryFilter>),
    /// The saved searches as they were before.
    Searches {
        /// The searches.
        before: Vec<SavedSearch>,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
    /// A subscription was given up, or had back.
    Subscription {
        /// Which one.
        feed: FeedKey,
        /// It was given up.
        given_up: bool,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
    /// Subscriptions were made.
    Subscribed {
        /// Which ones.
        feeds: Vec<FeedKey>,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
    /// A subscription is read from another address, or what is proposed of one was answered.
    Address {
        /// Which one.
        feed: FeedKey,
        /// What that changed.
        changed: Box<AddressChange>,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
    /// A subscription goes on as another one.
    Merged {
        /// The one that was given up.
        from: FeedKey,
        /// The one that goes on.
        into: FeedKey,
        /// Tags that this one has from the other.
        tags: Vec<String>,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
    /// What was chosen for feeds before.
    Settings {
        /// The feeds.
        before: Vec<(FeedKey, Chosen)>,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
}
