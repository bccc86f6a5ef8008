//! A read-only view of rows and texts for threads other than the store thread.
//!
//! The view may lag behind a batch that is being written. The store thread reports changed feeds, so that their entries can be
//! read again. While the store is being reopened, readers wait.
//!
//! The view is also used to find the entries that a filter matches.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use backissue_core::filters::{EntryFilter, PreparedFilters};
use backissue_core::history::{Counters, EntryBody, EntryKey, FeedKey, Flags, IndexRow, KeptEntry};
use backissue_core::search::{EntryTexts, QueriedFeed, Subject};
use backissue_core::words::frequency::Frequency;
use chrono::{DateTime, Utc};
use tokio::sync::watch;

use crate::engine::entries::entry_view::{FullText, LoadedEntry};
use crate::engine::entries::filter_work::{FilterPreview, PREVIEW_TITLES, PreviewTitle};
use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
use crate::io::store::chunks;
use crate::io::store::handle::{
    AppliedFilters, Store, feed_bytes, feed_of, number_of, numbered_key,
};
use crate::io::store::pack::database::PACK;
use crate::io::store::pack::pack_file::is_at;
use crate::io::store::pack::{Table, Tables};
use crate::io::{clock, codec};

/// A read-only view of the store's records.
#[derive(Debug, Clone)]
pub struct Texts(watch::Receiver<Option<Arc<Tables>>>);

impl Store {
    /// Returns a read-only view of rows and texts for another thread.
    pub fn texts(&self) -> Texts {
        Texts(self.shared_tables.subscribe())
    }
}

impl Texts {
    /// Returns the tables for one read, or `None` while the store is closed.
    pub(in crate::io::store) fn tables(&self) -> Option<Arc<Tables>> {
        self.0.borrow().clone()
    }

    /// Checks whether the store's file is still in this data folder. Returns `true` while the store is closed.
    pub fn is_in_place(&self, data: &Path) -> bool {
        self.tables().is_none_or(|tables| is_at(&tables.index.pack, &data.join(PACK)))
    }

    /// Returns all feeds, including those that were unsubscribed and can be restored.
    pub fn feeds(&self) -> Vec<FeedKey> {
        let Some(tables) = self.tables() else { return Vec::new() };
        tables.feeds.keys().filter_map(|key| feed_of(&key.ok()?)).collect()
    }

    pub fn has(&self, feed: FeedKey) -> bool {
        let tables = self.tables();
        tables.is_some_and(|tables| tables.feeds.contains_key(feed_bytes(feed)).unwrap_or(false))
    }

    /// Returns the rows of a feed; none if they are damaged.
    pub fn rows(&self, feed: FeedKey) -> Vec<IndexRow> {
        let rows = self.tables().map(|tables| chunks::rows_in(&tables.index, feed));
        rows.and_then(Result::ok).unwrap_or_default()
    }

    /// Returns entries of a feed with their texts, by sequence number. Entries that cannot be read are left out.
    pub fn read(
        &self,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> BTreeMap<u32, (KeptEntry, Option<EntryBody>)> {
        let Some(tables) = self.tables() else { return BTreeMap::new() };
        chunks::read_in(&tables.meta, &tables.bodies, feed, seqs)
    }

    /// Returns the numbers of the entries of a feed whose page was fetched, with the sizes of the records in bytes.
    pub fn pages(&self, feed: FeedKey) -> BTreeMap<u32, u64> {
        let Some(tables) = self.tables() else { return BTreeMap::new() };
        let lengths = tables.pages.lengths(feed_bytes(feed));
        lengths
            .filter_map(|pair| pair.ok().and_then(|(key, length)| Some((number_of(&key)?, length))))
            .collect()
    }

    /// Returns the fetched page of an entry.
    pub fn page(&self, key: EntryKey) -> Option<FullText> {
        let bytes = self.tables()?.pages.get(numbered_key(key.feed, key.seq)).ok()??;
        codec::decode_compressed(&bytes).ok()
    }

    /// Returns an entry with its texts, but without its marks and filters; `None` if it cannot be read.
    pub fn entry(&self, key: EntryKey) -> Option<LoadedEntry> {
        let (kept, body) = self.read(key.feed, std::iter::once(key.seq)).remove(&key.seq)?;
        let entry = LoadedEntry::without_text(key, kept, Flags::OLD, Vec::new());
        Some(LoadedEntry { body, full: self.page(key), ..entry })
    }
}

/// Number of entries that are read together.
const SLICE: usize = 256;

/// The entries that a filter matches.
#[derive(Debug, Default)]
pub struct RuleHits {
    /// The entries, by feed and number.
    pub keys: Vec<EntryKey>,
    /// The number of entries, and the newest ones.
    pub preview: FilterPreview,
}

impl Texts {
    /// Finds all entries that a filter matches. Calls `goes_on` from time to time, and returns `None` as soon as it returns
    /// `false`.
    pub fn hits(
        &self,
        rule: &EntryFilter,
        now: DateTime<Utc>,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<RuleHits> {
        let mut found = RuleHits::default();
        let judge = PreparedFilters::new(std::slice::from_ref(rule), clock::zone());
        let labels = if judge.looks_at_labels() { self.other_labels(rule) } else { Labels::new() };
        for feed in self.feeds() {
            let Some(record) = self.record(feed).filter(|record| record.ended.is_none()) else {
                continue;
            };
            let rates = judge.looks_at_rates();
            let names = record
                .queried(feed, if rates { self.frequency(feed) } else { Frequency::default() });
            let judge = judge.for_feed(&names, now);
            if judge.is_empty() {
                continue;
            }
            let rows = self.rows(feed);
            let findable = (0_u32..).zip(&rows).filter(|(_, row)| row.flags.is_findable());
            let seqs: Vec<u32> = findable.map(|(seq, _)| seq).collect();
            let looked = LookedAt { names, rows: &rows, labels: &labels, now };
            for slice in seqs.chunks(SLICE) {
                if !goes_on() {
                    return None;
                }
                self.look_at(&looked, slice, &judge, &mut found);
            }
        }
        found.preview.sort();
        Some(found)
    }

    fn look_at(
        &self,
        looked: &LookedAt<'_>,
        seqs: &[u32],
        judge: &PreparedFilters,
        found: &mut RuleHits,
    ) {
        let preview = &mut found.preview;
        preview.of = preview.of.saturating_add(u32::try_from(seqs.len()).unwrap_or(u32::MAX));
        let (feed, wanted) = (looked.names.key, seqs.iter().copied());
        let entries = if judge.looks_at_texts() {
            self.read(feed, wanted)
        } else {
            let trees = self.tables();
            trees.map(|trees| chunks::kept_in(&trees.meta, feed, wanted)).unwrap_or_default()
        };
        for (seq, (kept, body)) in entries {
            let (key, row) = (EntryKey { feed, seq }, looked.rows.get(seq as usize));
            let Some(&IndexRow { flags, listed, .. }) = row else { continue };
            let texts = EntryTexts::new(&kept, body.as_ref());
            let labels = looked.labels.get(&key).map(Vec::as_slice).unwrap_or_default();
            let (feed, now) = (looked.names, looked.now);
            let subject = Subject { feed, flags, listed, labels, texts: &texts, now };
            if judge.hits(&subject).is_empty() {
                continue;
            }
            found.keys.push(key);
            preview.hits = preview.hits.saturating_add(1);
            preview.unread = preview.unread.saturating_add(u32::from(flags.is_unread()));
            let title = kept.shown_title().to_owned();
            preview.newest.push(PreviewTitle { feed: key.feed, listed: kept.listed(), title });
            if preview.newest.len() > 4 * PREVIEW_TITLES {
                preview.sort();
            }
        }
    }

    fn record(&self, feed: FeedKey) -> Option<SubscriptionRecord> {
        let bytes = self.tables()?.feeds.get(feed_bytes(feed)).ok().flatten()?;
        codec::decode(&bytes).ok()
    }

    fn frequency(&self, feed: FeedKey) -> Frequency {
        let Some(tables) = self.tables() else { return Frequency::default() };
        frequency_in(&tables.state, &tables.counters, feed)
    }

    /// Returns the labels that filters other than this one gave to entries.
    fn other_labels(&self, rule: &EntryFilter) -> Labels {
        let mut labels = Labels::new();
        let Some(tables) = self.tables() else { return labels };
        let Ok(filters) = AppliedFilters::load(&tables.facts, &tables.filter_hits) else {
            return labels;
        };
        for filter in filters.list.iter().filter(|filter| filter.id != rule.id) {
            let Some(label) = filter.action.label() else { continue };
            for key in filters.hits_of(filter.id) {
                labels.entry(key).or_default().push(label.to_owned());
            }
        }
        labels
    }
}

/// Returns how often a feed publishes, by its stored state and counters.
pub(in crate::io::store) fn frequency_in(
    state: &Table,
    counters: &Table,
    feed: FeedKey,
) -> Frequency {
    let stored = |table: &Table| table.get(feed_bytes(feed)).ok().flatten();
    let counted = stored(counters).and_then(|bytes| codec::decode::<Counters>(&bytes).ok());
    let state = stored(state).and_then(|bytes| codec::decode::<FeedState>(&bytes).ok());
    state.unwrap_or_default().facts.frequency(counted.unwrap_or_default().counted)
}

/// The labels of entries.
type Labels = BTreeMap<EntryKey, Vec<String>>;

/// A feed whose entries are tested against a filter.
struct LookedAt<'l> {
    names: QueriedFeed<'l>,
    rows: &'l [IndexRow],
    labels: &'l Labels,
    now: DateTime<Utc>,
}
