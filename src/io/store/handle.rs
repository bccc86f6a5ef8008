//! The open store: the trees of its database, and what is remembered of them in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;

use sled::{Db, Tree};

use super::super::search::SharedIndex;
use super::applied_filters::AppliedFilters;
use super::reading::listed_entries::ListedEntryCache;
use super::upkeep::sync::Syncer;
use crate::history::{FeedKey, IndexRow};
use crate::ui::panes::entry_list::RowKey;
use crate::ui::panes::gap_rows::GapMark;

/// The open store. Its owner is one thread; see [`super::Keeper`].
#[derive(Debug)]
pub struct Store {
    pub(super) db: Db,
    pub(super) facts: Tree,
    pub(super) feeds: Tree,
    pub(super) state: Tree,
    pub(super) counters: Tree,
    pub(super) index: Tree,
    pub(super) meta: Tree,
    pub(super) bodies: Tree,
    pub(super) polls: Tree,
    /// When each feed published.
    pub(super) rhythms: Tree,
    /// The times of each feed's last polls, where they are later than its state says.
    pub(super) times: Tree,
    /// Pages that entries link to.
    pub(super) pages: Tree,
    /// Where the reader was in texts.
    pub(super) places: Tree,
    pub(super) history: Tree,
    pub(super) nodes: Tree,
    /// Which entries each rule of the reader's hit.
    pub(super) filter_hits: Tree,
    /// The rules, and what they hit; the store's own copy of what the tree says.
    pub(super) filters: AppliedFilters,
    /// Index rows of the feeds looked at so far; the store's own copy of what the tree says.
    pub(super) rows: BTreeMap<FeedKey, Vec<IndexRow>>,
    /// What lists show of the entries looked at last.
    pub(super) shown: ListedEntryCache,
    /// Subscriptions given up since the store was opened; their entries are in no list.
    pub(super) ended: BTreeSet<FeedKey>,
    /// The order of the open list.
    pub(super) order: Vec<RowKey>,
    /// The gaps in it.
    pub(super) gaps: Vec<GapMark>,
    /// The number of that list.
    pub(super) list_number: u64,
    /// The folder it stands in.
    pub(super) data: PathBuf,
    /// The index to search in, once it is open.
    pub(super) search_index: SharedIndex,
    pub(super) syncer: Syncer,
    /// Held as long as the store is open.
    pub(super) lock: File,
}
