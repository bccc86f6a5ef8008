//! The open store: its database and tables, the keys of records, and what is kept in memory, such as the filters and changes of
//! polls that are not written yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use backissue_core::filters::{Action, EntryFilter, PreparedFilters};
use backissue_core::history::{Counters, EntryKey, FeedKey, IndexRow};
use backissue_core::search::{FoldedEntries, LinksInside, NameTest};
use backissue_core::words::frequency::Frequency;
use tempfile::TempDir;
use tokio::sync::watch;

use super::super::search::SharedIndex;
use super::super::system::MeasureRoom;
use super::error::StoreError;
use super::given_numbers::GivenNumbers;
use super::pack::{Database, Table, Tables};
use super::reading::caches::{KnownVerdicts, ListedEntryCache};
use super::sleepy_threads::SessionLength;
use crate::engine::entries::rows::{GapMark, RowKey};
use crate::engine::store_work::StoreFailure;
use crate::io::store::pack::{Batch, TableName};
use crate::io::{clock, codec};

/// The tables, which keep the files open; `None` while the store is closed.
pub(super) type SharedTables = watch::Sender<Option<Arc<Tables>>>;

/// The open store. One thread owns it; see [`super::store_thread::StoreThread`].
#[derive(Debug)]
pub struct Store {
    pub(super) db: Database,
    pub(super) tables: Arc<Tables>,
    /// The filters and their matches, in memory.
    pub(super) filters: AppliedFilters,
    /// The index rows of the feeds that were used so far, in memory.
    pub(super) rows: BTreeMap<FeedKey, Vec<IndexRow>>,
    /// The numbers under which devices know entries; `None` until they are first needed.
    pub(super) numbers: Option<GivenNumbers>,
    /// Cache of the fields of entries that lists show.
    pub(super) shown: ListedEntryCache,
    /// Removed subscriptions; their entries are in no list.
    pub(super) ended: BTreeSet<FeedKey>,
    /// The rows of the open list, in order.
    pub(super) order: Vec<RowKey>,
    /// Entries without a row of their own in the open list, by the entry that is the same article and has a row.
    pub(super) joined: BTreeMap<EntryKey, Vec<EntryKey>>,
    /// Like `joined`, for entries whose texts link to the same page.
    pub(super) folded_inside: BTreeMap<EntryKey, FoldedEntries>,
    /// The links in the texts of the entries of the last days. They are loaded when a list or a write first needs them.
    pub(super) inside: Option<BTreeMap<FeedKey, Vec<LinksInside>>>,
    /// How often the feeds in the open list publish, if it is ordered by that. The values do not change while the list is open,
    /// so that no row moves.
    pub(super) frequencies: BTreeMap<FeedKey, Frequency>,
    /// The entries that the open list shows below those that are ordered by the frequency of their feeds. Sorted by key.
    pub(super) unranked: Vec<EntryKey>,
    /// Whether the open list shows entries that are the same article as one row.
    pub(super) joins: bool,
    /// The gaps in the open list.
    pub(super) gaps: Vec<GapMark>,
    /// The number of the open list.
    pub(super) list_number: u64,
    /// Changes of polls that are written together.
    pub(super) group: WriteGroup,
    /// How often writes of a feed's history failed, and the last failure.
    pub(super) failed: BTreeMap<FeedKey, (u32, StoreFailure)>,
    /// Counters that the job in progress changes.
    pub(super) counted: BTreeMap<FeedKey, Counters>,
    pub(super) data: PathBuf,
    /// Temporary folder of sled's files while the data folder cannot be written.
    pub(super) elsewhere: Option<TempDir>,
    /// Function that measures the free space on the disk.
    pub(super) measure_room: MeasureRoom,
    /// The search index, once it is open.
    pub(super) search_index: SharedIndex,
    /// Results of text tests in recent searches.
    pub(super) verified: KnownVerdicts,
    /// The tables that other threads read.
    pub(super) shared_tables: SharedTables,
    /// How long the store will be open.
    pub(super) stay: SessionLength,
    /// The lock on the data folder.
    pub(super) lock: File,
}

/// The key of the filters in the table of facts; they were once called rules.
pub(super) const FILTERS_KEY: &[u8] = b"rules";

/// The user's filters and the entries that each of them matched.
#[derive(Debug, Default)]
pub(super) struct AppliedFilters {
    pub(super) list: Vec<EntryFilter>,
    pub(super) judge: PreparedFilters,
    pub(super) hits: BTreeMap<(u32, FeedKey), BTreeSet<u32>>,
}

/// Sequence numbers of new entries that filters matched, by the number of the filter.
pub(super) type NewHits = BTreeMap<u32, Vec<u32>>;

/// Returns the filters in their order, or no filters if their record is damaged.
pub(super) fn saved_in(facts: &Table) -> Result<Vec<EntryFilter>, StoreError> {
    let bytes = facts.get(FILTERS_KEY)?;
    Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
}

impl AppliedFilters {
    /// Reads the filters and their matches; a damaged record of matches counts as empty.
    pub(super) fn load(facts: &Table, filter_hits: &Table) -> Result<Self, StoreError> {
        let list = saved_in(facts)?;
        let mut hits: BTreeMap<(u32, FeedKey), BTreeSet<u32>> = BTreeMap::new();
        for pair in filter_hits.iter() {
            let (key, bytes) = pair?;
            let (Some(feed), Some(filter)) = (feed_of(&key), number_of(&key)) else { continue };
            let seqs = codec::decode_compressed::<BTreeSet<u32>>(&bytes).unwrap_or_default();
            hits.insert((filter, feed), seqs);
        }
        Ok(Self { judge: PreparedFilters::new(&list, clock::zone()), list, hits })
    }

    pub(super) fn hits_of(&self, filter: u32) -> impl Iterator<Item = EntryKey> + '_ {
        let of_filter = self.hits.range((filter, FeedKey(0))..=(filter, FeedKey(u32::MAX)));
        of_filter
            .flat_map(|((_, feed), seqs)| seqs.iter().map(|&seq| EntryKey { feed: *feed, seq }))
    }

    pub(super) fn has_hit(&self, filter: u32, key: EntryKey) -> bool {
        self.hits.get(&(filter, key.feed)).is_some_and(|seqs| seqs.contains(&key.seq))
    }

    /// Checks whether an entry has a label whose name passes this test.
    pub(super) fn has_label(&self, key: EntryKey, name: &NameTest) -> bool {
        let mut rules = self.list.iter();
        rules.any(|filter| {
            filter.action.label().is_some_and(|label| name.is_label(label))
                && self.has_hit(filter.id, key)
        })
    }

    /// Checks whether a filter other than this one hides an entry.
    pub(super) fn is_hidden_otherwise(&self, filter: u32, key: EntryKey) -> bool {
        let mut others = self.list.iter().filter(|other| other.id != filter);
        others.any(|other| other.action == Action::Hide && self.has_hit(other.id, key))
    }
}

/// Returns the key of a feed's records.
pub(super) const fn feed_bytes(feed: FeedKey) -> [u8; 4] {
    feed.0.to_be_bytes()
}

/// Returns the key of a numbered record of a feed; keys sort by feed, then by number.
pub(super) const fn numbered_key(feed: FeedKey, number: u32) -> [u8; 8] {
    ((feed.0 as u64) << 32 | number as u64).to_be_bytes()
}

/// Reads the number of a [`numbered_key`].
pub(super) fn number_of(key: &[u8]) -> Option<u32> {
    key.get(4..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Reads the feed of a [`feed_bytes`] or [`numbered_key`].
pub(super) fn feed_of(key: &[u8]) -> Option<FeedKey> {
    key.first_chunk().map(|bytes| FeedKey(u32::from_be_bytes(*bytes)))
}

/// A record that contains texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextRecord {
    /// Texts of consecutive entries. Contains the key of the first one.
    Packed(EntryKey),
    /// The text of one entry.
    Alone(EntryKey),
    /// The page that an entry links to.
    Page(EntryKey),
}

impl TextRecord {
    pub(super) const fn feed(self) -> FeedKey {
        match self {
            Self::Packed(key) | Self::Alone(key) | Self::Page(key) => key.feed,
        }
    }
}

/// Maximum number of documents in a group, because their texts are in memory until the group is written.
const DOCUMENTS_MAX: usize = 16;

/// Changes that are prepared but not written yet, so that the changes of many feeds are written as one frame.
#[derive(Debug, Default)]
pub(super) struct WriteGroup {
    /// Whether the change in progress may be added to the group.
    pub(super) is_open: bool,
    /// The batches to write, in order.
    pub(super) batches: Vec<(TableName, Batch)>,
    /// Feeds whose records the group changes.
    pub(super) feeds: BTreeSet<FeedKey>,
    /// Number of documents in the group.
    pub(super) documents: usize,
}

impl WriteGroup {
    /// Closes the group, so that the change in progress is written immediately.
    pub(super) const fn close(&mut self) {
        self.is_open = false;
    }

    /// Returns the number of batches in the group.
    pub(super) const fn changes(&self) -> usize {
        self.batches.len()
    }

    /// Checks whether the group has the maximum number of documents.
    pub(super) const fn is_full(&self) -> bool {
        self.documents >= DOCUMENTS_MAX
    }
}
