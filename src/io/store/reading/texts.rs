//! A second, read-only view of rows and texts, which other threads use beside the store's own.
//!
//! It may lag behind a batch that is being written; the store's thread says when a feed has changed, and it is read
//! again. While the store is opened again it waits.

use std::collections::BTreeMap;
use std::path::Path;

use tokio::sync::watch;

use crate::engine::entries::full_text::FullText;
use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::io::codec;
use crate::io::store::chunks;
use crate::io::store::handle::{Store, TextTables};
use crate::io::store::pack::database::PACK;
use crate::io::store::pack::pack_place::is_at;
use crate::io::store::record_keys::{feed_bytes, feed_of, number_of, numbered_key};
use backissue_core::history::{EntryBody, EntryKey, FeedKey, Flags, IndexRow, KeptEntry};

/// A read-only view of the store's records.
#[derive(Debug, Clone)]
pub struct Texts(watch::Receiver<Option<TextTables>>);

impl Store {
    /// Returns a read-only view of rows and texts for another thread.
    pub fn texts(&self) -> Texts {
        Texts(self.shared_tables.subscribe())
    }

    pub(in crate::io::store) fn text_tables(&self) -> TextTables {
        TextTables {
            facts: self.facts.clone(),
            filter_hits: self.filter_hits.clone(),
            feeds: self.feeds.clone(),
            index: self.index.clone(),
            meta: self.meta.clone(),
            bodies: self.bodies.clone(),
            pages: self.pages.clone(),
        }
    }
}

impl Texts {
    /// The tables, for one reading.
    pub(in crate::io::store) fn tables(&self) -> Option<TextTables> {
        self.0.borrow().clone()
    }

    /// Returns whether the store's file is still in this data folder. While the store is opened again, it is.
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

    /// Returns entries of a feed with their texts, by number; what cannot be read is left out.
    pub fn read(
        &self,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> BTreeMap<u32, (KeptEntry, Option<EntryBody>)> {
        let Some(tables) = self.tables() else { return BTreeMap::new() };
        chunks::read_in(&tables.meta, &tables.bodies, feed, seqs)
    }

    /// Returns the entries of a feed with an article of the page that they link to, by number, with the lengths of the records.
    pub fn pages(&self, feed: FeedKey) -> BTreeMap<u32, u64> {
        let Some(tables) = self.tables() else { return BTreeMap::new() };
        let lengths = tables.pages.lengths(feed_bytes(feed));
        lengths
            .filter_map(|pair| pair.ok().and_then(|(key, length)| Some((number_of(&key)?, length))))
            .collect()
    }

    /// Returns the article of the page that an entry links to.
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
