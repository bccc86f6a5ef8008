//! The open store: the trees of its database, and what is kept of them in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;

use sled::{Db, Tree};
use tempfile::TempDir;
use tokio::sync::watch;

use super::super::search::SharedIndex;
use super::applied_filters::AppliedFilters;
use super::reading::listed_entries::ListedEntryCache;
use super::sleepy_threads::SessionLength;
use super::upkeep::free_room::MeasureRoom;
use super::upkeep::sync::Syncer;
use super::writing::group::Group;
use crate::engine::entries::rows::{GapMark, RowKey};
use backissue_core::history::{FeedKey, IndexRow};

/// A copy that is open in place of a store that cannot be written.
#[derive(Debug)]
pub(super) struct ReadingCopy {
    /// The data folder of that store.
    pub(super) from: PathBuf,
    /// Where the copy stands.
    pub(super) folder: TempDir,
}

/// The trees in which rows and texts are; none: the store is closed.
pub(super) type SharedTrees = watch::Sender<Option<TextTrees>>;

/// The trees in which rows and texts are. Whoever holds them keeps the files open.
#[derive(Debug, Clone)]
pub(super) struct TextTrees {
    pub(super) feeds: Tree,
    pub(super) index: Tree,
    pub(super) meta: Tree,
    pub(super) bodies: Tree,
}

/// The open store. One thread owns it; see [`super::store_thread::StoreThread`].
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
    /// Publication times of each feed.
    pub(super) rhythms: Tree,
    /// Times of each feed's last polls, where they are later than those in its state.
    pub(super) times: Tree,
    /// The articles of the pages that entries link to.
    pub(super) pages: Tree,
    pub(super) places: Tree,
    pub(super) history: Tree,
    pub(super) nodes: Tree,
    /// The entries that each filter hit.
    pub(super) filter_hits: Tree,
    /// Steps that take the reader's changes back.
    pub(super) undo: Tree,
    /// The filters and their hits, in memory.
    pub(super) filters: AppliedFilters,
    /// The index rows of the feeds that were used so far, in memory.
    pub(super) rows: BTreeMap<FeedKey, Vec<IndexRow>>,
    /// What lists show of the entries that were listed last.
    pub(super) shown: ListedEntryCache,
    /// Subscriptions that were given up; their entries are in no list.
    pub(super) ended: BTreeSet<FeedKey>,
    /// The rows of the open list, in order.
    pub(super) order: Vec<RowKey>,
    /// The gaps in the open list.
    pub(super) gaps: Vec<GapMark>,
    /// The number of the open list.
    pub(super) list_number: u64,
    /// What polls changed and is written together.
    pub(super) group: Group,
    pub(super) data: PathBuf,
    /// Bytes on disk when it was opened.
    pub(super) opened_bytes: u64,
    /// It is a copy of one that cannot be written.
    pub(super) copy: Option<ReadingCopy>,
    /// Where a copy of it stood, in which the search index still is.
    pub(super) former_copy: Option<TempDir>,
    /// How the room on the disk is measured.
    pub(super) measure_room: MeasureRoom,
    /// The search index, once it is open.
    pub(super) search_index: SharedIndex,
    /// What other threads read of it.
    pub(super) shared_trees: SharedTrees,
    /// How long it will be open.
    pub(super) stay: SessionLength,
    pub(super) syncer: Syncer,
    /// The lock on the data folder.
    pub(super) lock: File,
}
