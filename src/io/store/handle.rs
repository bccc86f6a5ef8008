//! The open store: its database, the tables of that, and what is kept of them in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;

use tempfile::TempDir;
use tokio::sync::watch;

use super::super::search::SharedIndex;
use super::applied_filters::AppliedFilters;
use super::pack::{Database, Table};
use super::reading::listed_entries::ListedEntryCache;
use super::reading::search_hits::KnownVerdicts;
use super::sleepy_threads::SessionLength;
use super::upkeep::free_room::MeasureRoom;
use super::writing::group::WriteGroup;
use crate::engine::entries::rows::{GapMark, RowKey};
use backissue_core::history::{EntryKey, FeedKey, IndexRow};

/// The tables of rows and texts; `None` while the store is closed.
pub(super) type SharedTables = watch::Sender<Option<TextTables>>;

/// The tables of rows and texts. Their clones keep the files open.
#[derive(Debug, Clone)]
pub(super) struct TextTables {
    pub(super) facts: Table,
    pub(super) filter_hits: Table,
    pub(super) feeds: Table,
    pub(super) index: Table,
    pub(super) meta: Table,
    pub(super) bodies: Table,
    pub(super) pages: Table,
}

/// The open store. One thread owns it; see [`super::store_thread::StoreThread`].
#[derive(Debug)]
pub struct Store {
    pub(super) db: Database,
    pub(super) facts: Table,
    pub(super) feeds: Table,
    pub(super) state: Table,
    pub(super) counters: Table,
    pub(super) index: Table,
    pub(super) meta: Table,
    pub(super) bodies: Table,
    pub(super) polls: Table,
    /// Publication times of each feed.
    pub(super) rhythms: Table,
    /// Times of each feed's last polls, where they are later than those in its state.
    pub(super) times: Table,
    /// The articles of the pages that entries link to.
    pub(super) pages: Table,
    pub(super) places: Table,
    pub(super) history: Table,
    pub(super) nodes: Table,
    /// The entries that each filter hit.
    pub(super) filter_hits: Table,
    /// Steps that take the reader's changes back.
    pub(super) undo: Table,
    /// The filters and their hits, in memory.
    pub(super) filters: AppliedFilters,
    /// The index rows of the feeds that were used so far, in memory.
    pub(super) rows: BTreeMap<FeedKey, Vec<IndexRow>>,
    /// What lists show of the entries that were listed last.
    pub(super) shown: ListedEntryCache,
    /// Removed subscriptions; their entries are in no list.
    pub(super) ended: BTreeSet<FeedKey>,
    /// The rows of the open list, in order.
    pub(super) order: Vec<RowKey>,
    /// Entries without a row in the open list, because the entry that is the key is the same article.
    pub(super) joined: BTreeMap<EntryKey, Vec<EntryKey>>,
    /// Whether the same articles are joined in the open list.
    pub(super) joins: bool,
    /// The gaps in the open list.
    pub(super) gaps: Vec<GapMark>,
    /// The number of the open list.
    pub(super) list_number: u64,
    /// What polls changed and is written together.
    pub(super) group: WriteGroup,
    pub(super) data: PathBuf,
    /// Where sled's files are while nothing can be written to the data folder.
    pub(super) elsewhere: Option<TempDir>,
    /// How the room on the disk is measured.
    pub(super) measure_room: MeasureRoom,
    /// The search index, once it is open.
    pub(super) search_index: SharedIndex,
    /// Tests that were made of texts.
    pub(super) verified: KnownVerdicts,
    /// What other threads read of it.
    pub(super) shared_tables: SharedTables,
    /// How long it will be open.
    pub(super) stay: SessionLength,
    /// The lock on the data folder.
    pub(super) lock: File,
}
