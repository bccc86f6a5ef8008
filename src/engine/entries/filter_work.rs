//! The reader's filters as the engine holds them, and the work that they give the store.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use backissue_core::filters::{Action, EntryFilter};
use backissue_core::history::{Counters, EntryKey, FeedKey, Flag};

/// Titles that a preview shows.
pub const PREVIEW_TITLES: usize = 12;

/// The filters as the engine holds them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters {
    /// In the order they were made.
    pub list: Vec<EntryFilter>,
    /// What each hit.
    pub counts: BTreeMap<u32, FilterCount>,
    /// Changes under way, oldest first.
    pub(super) pending: Vec<Pending>,
    /// The list was handed to the store again because a change of it failed, and is not known to be durable.
    pub(super) is_written_again: bool,
}

impl Filters {
    /// Whether a change of this filter is not finished yet.
    pub fn is_pending(&self, id: u32) -> bool {
        self.pending.iter().any(|pending| pending.filter == id)
    }
}

/// What a filter hit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FilterCount {
    /// Entries.
    pub hits: u32,
    /// Of them, those that are hidden.
    pub hidden: u32,
}

/// A change of the filters that the store has not finished.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pending {
    pub(super) filter: u32,
    pub(super) before: Vec<EntryFilter>,
    /// The filter to look through the store for, once it is durable.
    pub(super) look_for: Option<EntryFilter>,
}

/// What a filter would hit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterPreview {
    /// Entries.
    pub hits: u32,
    /// Of them, unread ones.
    pub unread: u32,
    /// Entries that were looked at.
    pub of: u32,
    /// The newest of the hits, newest first.
    pub newest: Vec<PreviewTitle>,
}

/// An entry that a filter would hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewTitle {
    /// Its feed.
    pub feed: FeedKey,
    /// The date it is listed under.
    pub listed: DateTime<Utc>,
    /// Its title.
    pub title: String,
}

impl FilterPreview {
    /// Puts the newest first and keeps [`PREVIEW_TITLES`] of them.
    pub fn sort(&mut self) {
        self.newest.sort_by_key(|title| std::cmp::Reverse(title.listed));
        self.newest.truncate(PREVIEW_TITLES);
    }
}

/// What is to be done with the entries of a filter.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterWork {
    /// It hits these entries now and no others: its action is done to them, and what it hid of others is shown.
    Apply {
        /// The filter's number.
        filter: u32,
        /// What is done to the entries.
        action: Action,
        /// The entries.
        hits: Vec<EntryKey>,
    },
    /// Changes are taken back, or made again.
    Replay {
        /// The changes.
        changes: Box<FilterChanges>,
        /// Made again.
        forward: bool,
    },
}

impl FilterWork {
    /// The filter's number.
    pub const fn filter(&self) -> u32 {
        match self {
            Self::Apply { filter, .. } => *filter,
            Self::Replay { changes, .. } => changes.filter,
        }
    }
}

/// What a change of a filter did to entries; both lists in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterChanges {
    /// The filter's number.
    pub filter: u32,
    /// The entries it had hit before.
    #[serde(with = "crate::engine::undo::key_runs")]
    pub before: Vec<EntryKey>,
    /// The entries it hits now.
    #[serde(with = "crate::engine::undo::key_runs")]
    pub after: Vec<EntryKey>,
    /// The marks that changed, and what they are now.
    #[serde(with = "crate::engine::undo::key_runs::flags")]
    pub flags: Vec<(EntryKey, Flag, bool)>,
}

impl FilterChanges {
    /// How many entries changed, or were hit or left.
    pub fn entries(&self) -> usize {
        let marked = self.flags.iter().map(|(key, _, _)| *key);
        let left = self.before.iter().filter(|key| self.after.binary_search(key).is_err());
        let hit = self.after.iter().filter(|key| self.before.binary_search(key).is_err());
        marked.chain(left.chain(hit).copied()).collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// The answer of the store to a [`FilterWork`].
#[derive(Debug, Clone, PartialEq)]
pub struct Filtered {
    /// What changed.
    pub changes: FilterChanges,
    /// The sums of the feeds afterwards.
    pub counters: Vec<(FeedKey, Counters)>,
}

impl Filters {
    /// Those that the store has.
    pub fn new(list: Vec<EntryFilter>) -> Self {
        Self { list, ..Self::default() }
    }

    /// One of them.
    pub fn get(&self, id: u32) -> Option<&EntryFilter> {
        self.list.iter().find(|rule| rule.id == id)
    }
}
