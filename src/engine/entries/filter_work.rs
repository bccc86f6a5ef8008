//! State of the user's filters in the engine, and the jobs they create for the store.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::change::value::LaterStep;
use backissue_core::feed::hints::is_default;
use backissue_core::filters::{Action, EntryFilter};
use backissue_core::history::{EntryKey, FeedKey, Flag};

/// Maximum number of titles in the preview of a filter.
pub const PREVIEW_TITLES: usize = 12;

/// The user's filters, their match counts, and the changes of filters in progress.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters {
    /// Filters in order of creation.
    pub list: Vec<EntryFilter>,
    /// Match counts by filter number.
    pub counts: BTreeMap<u32, FilterCount>,
    /// Changes of filters in progress, oldest first.
    pub(super) pending: Vec<Pending>,
}

impl Filters {
    /// Checks whether a change of any filter is in progress.
    pub const fn is_any_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Checks whether a change of this filter is in progress.
    pub fn is_pending(&self, id: u32) -> bool {
        self.pending.iter().any(|pending| pending.filter == id)
    }

    /// Returns the labels of an entry, sorted and each once. `ruled` are the numbers of the filters that matched it.
    pub fn labels(&self, ruled: &[u32]) -> Vec<String> {
        let named = |id: &u32| self.list.iter().find(|filter| filter.id == *id)?.action.label();
        let labels: BTreeSet<&str> = ruled.iter().filter_map(named).collect();
        labels.into_iter().map(str::to_owned).collect()
    }
}

/// Counts of the entries that a filter matched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FilterCount {
    /// Number of matching entries.
    pub hits: u32,
    /// Number of matching entries that the user's filters hide.
    pub hidden: u32,
}

/// A change of a filter whose effects on entries the store has not written yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pending {
    pub(super) filter: u32,
    /// The undo step of the change, with the filters before it.
    pub(super) step: LaterStep,
    /// New filter to apply to stored entries as soon as the filter is written.
    pub(super) look_for: Option<EntryFilter>,
    /// Whether the filter was written, although its effects on entries are not.
    pub(super) is_saved: bool,
    /// Whether the effects on entries were sent to the store.
    pub(super) is_sent: bool,
}

/// Preview of the entries that a filter would match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterPreview {
    /// Number of matching entries.
    pub hits: u32,
    /// Number of unread matching entries.
    pub unread: u32,
    /// Number of stored entries that the preview examined.
    pub of: u32,
    /// Newest matching entries, newest first.
    pub newest: Vec<PreviewTitle>,
}

/// An entry that a filter would match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewTitle {
    /// Feed of the entry.
    pub feed: FeedKey,
    /// Date that the entry is listed under.
    pub listed: DateTime<Utc>,
    /// Title of the entry.
    pub title: String,
}

impl FilterPreview {
    /// Sorts the titles by date, newest first, and keeps [`PREVIEW_TITLES`] of them.
    pub fn sort(&mut self) {
        self.newest.sort_by_key(|title| std::cmp::Reverse(title.listed));
        self.newest.truncate(PREVIEW_TITLES);
    }
}

/// A store job that changes the entries that a filter matches.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterWork {
    /// Apply the filter to exactly these entries. Entries that the filter hid and that it no longer matches are shown again.
    Apply {
        /// Number of the filter.
        filter: u32,
        /// Action to apply to the entries.
        action: Action,
        /// Matching entries.
        hits: Vec<EntryKey>,
    },
    /// Add a label that the user sets by hand to these entries, or remove it from them.
    Label {
        /// Number of the filter.
        filter: u32,
        /// Entries that are labelled, or no longer labelled.
        keys: Vec<EntryKey>,
        /// `true` to set the label, `false` to remove it.
        set: bool,
    },
    /// Undo or redo changes that a filter made to entries.
    Replay {
        /// Changes to undo or redo.
        changes: Box<FilterChanges>,
        /// `true` to redo, `false` to undo.
        forward: bool,
    },
}

impl FilterWork {
    /// Returns the number of the filter.
    pub const fn filter(&self) -> u32 {
        match self {
            Self::Apply { filter, .. } | Self::Label { filter, .. } => *filter,
            Self::Replay { changes, .. } => changes.filter,
        }
    }
}

/// Changes that a filter made to entries. `before` and `after` are sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterChanges {
    /// Number of the filter.
    pub filter: u32,
    /// Entries that the filter matched before the change.
    #[serde(with = "crate::engine::change::key_runs")]
    pub before: Vec<EntryKey>,
    /// Entries that the filter matches after the change.
    #[serde(with = "crate::engine::change::key_runs")]
    pub after: Vec<EntryKey>,
    /// Entries with a changed mark and the new value of the mark.
    #[serde(with = "crate::engine::change::key_runs::flags")]
    pub flags: Vec<(EntryKey, Flag, bool)>,
    /// `true` if only some of the matches are listed, because the filter stays.
    #[serde(default, skip_serializing_if = "is_default")]
    pub of_some: bool,
}

impl FilterChanges {
    /// Returns the changes of a filter that changed no entry.
    pub fn none(filter: u32) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Returns the number of entries whose marks changed, or that the filter started or stopped matching.
    pub fn entries(&self) -> usize {
        let marked = self.flags.iter().map(|(key, _, _)| *key);
        let left = self.before.iter().filter(|key| self.after.binary_search(key).is_err());
        let hit = self.after.iter().filter(|key| self.before.binary_search(key).is_err());
        marked.chain(left.chain(hit).copied()).collect::<BTreeSet<_>>().len()
    }
}

impl Filters {
    /// Creates the state with the filters loaded from the store.
    pub fn new(list: Vec<EntryFilter>) -> Self {
        Self { list, ..Self::default() }
    }

    /// Returns the filter with this number.
    pub fn get(&self, id: u32) -> Option<&EntryFilter> {
        self.list.iter().find(|rule| rule.id == id)
    }
}
