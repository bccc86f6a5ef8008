//! Packed records: index rows, entries and texts, read and written by sequence number.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::io::store::pack::{Batch, Table, TableName};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::codec;
use super::error::StoreError;
use super::handle::{Store, TextRecord, feed_bytes, feed_of, number_of, numbered_key};
use super::reading::caches::{EntryRecord, ListedEntry};
use backissue_core::history::{
    Counters, EntryBody, EntryKey, FeedKey, IndexRow, KeptEntry, MergedEntry,
};

/// Number of index rows in one packed record.
pub(super) const ROWS: u32 = 64;
/// Number of entries in one packed record.
pub(super) const ENTRIES: u32 = 32;
/// Number of texts in one packed record.
pub(super) const BODIES: u32 = 16;
/// Maximum size in bytes of a text in a shared record. A longer text has a record of its own, so that reading its neighbours stays
/// fast.
const BODY_ALONE_BYTES: usize = 512 * 1024;

/// Names of damaged records in error messages.
const ENTRIES_OF: &str = "a record of entries";
const TEXTS_OF: &str = "a record of texts";

/// Number of bytes of texts, before compression, after which they are written ahead of the rest of the document.
const AHEAD_BYTES: usize = 512 * 1024;

/// One slot of a record of texts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) enum BodySlot {
    /// The entry has no text.
    #[default]
    Empty,
    Here(EntryBody),
    /// The text has a record of its own.
    Alone,
    /// The text was dropped to keep the store within its limit (SPEC C.10).
    Dropped,
}

impl BodySlot {
    /// Returns the text in this slot.
    fn text(self, bodies: &Table, key: EntryKey) -> Result<Option<EntryBody>, StoreError> {
        match self {
            Self::Empty | Self::Dropped => Ok(None),
            Self::Here(body) => Ok(Some(body)),
            Self::Alone => {
                let damaged =
                    |why| StoreError::Damaged { what: format!("the text of entry {key}"), why };
                let bytes = bodies.get(alone_key(key))?;
                bytes.map(|bytes| codec::decode_compressed(&bytes).map_err(damaged)).transpose()
            }
        }
    }
}

/// Checks whether the bytes are a readable record of texts: of one entry if `alone` is set, otherwise of at least one entry.
pub(super) fn are_texts(bytes: &[u8], alone: bool) -> bool {
    if alone {
        return codec::decode_compressed::<EntryBody>(bytes).is_ok();
    }
    codec::decode_compressed::<BodyChunk>(bytes).is_ok_and(|chunk| !chunk.is_empty())
}

pub(super) type EntryChunk = Vec<Option<KeptEntry>>;
pub(super) type BodyChunk = Vec<BodySlot>;

pub(super) fn alone_key(entry: EntryKey) -> Vec<u8> {
    let mut key = numbered_key(entry.feed, entry.seq / BODIES).to_vec();
    key.extend_from_slice(&entry.seq.to_be_bytes());
    key
}

pub(super) const fn slot(seq: u32, size: u32) -> usize {
    (seq % size) as usize
}

/// Sets a slot, filling the slots before it with defaults.
fn put<T: Default + Clone>(chunk: &mut Vec<T>, place: usize, value: T) {
    if chunk.len() <= place {
        chunk.resize(place.saturating_add(1), T::default());
    }
    if let Some(target) = chunk.get_mut(place) {
        *target = value;
    }
}

impl Store {
    /// Returns the counters of a feed.
    pub(super) fn counters_of(&self, feed: FeedKey) -> Result<Counters, StoreError> {
        let bytes = self.tables.counters.get(feed_bytes(feed))?;
        let damaged =
            |why| StoreError::Damaged { what: format!("the counters of feed {feed}"), why };
        bytes.map_or(Ok(Counters::default()), |bytes| codec::decode(&bytes).map_err(damaged))
    }

    /// Adds the counters of a feed to a batch, and to what is reported of the job in progress.
    pub(super) fn put_counters(
        &mut self,
        batch: &mut Batch,
        feed: FeedKey,
        counters: Counters,
    ) -> Result<(), StoreError> {
        batch.insert(feed_bytes(feed), codec::encode(&counters)?);
        self.counted.insert(feed, counters);
        Ok(())
    }

    /// Reads the index rows of a feed from the table, without the cache.
    pub(super) fn read_rows(&self, feed: FeedKey) -> Result<Vec<IndexRow>, StoreError> {
        rows_in(&self.tables.index, feed)
    }

    /// Returns the index rows of a feed; they are read once and kept in memory.
    pub(super) fn rows_of(&mut self, feed: FeedKey) -> Result<&mut Vec<IndexRow>, StoreError> {
        if !self.rows.contains_key(&feed) {
            let rows = self.read_rows(feed)?;
            self.rows.insert(feed, rows);
        }
        Ok(self.rows.entry(feed).or_default())
    }

    fn entry_chunk(&self, feed: FeedKey, chunk: u32) -> Result<EntryChunk, StoreError> {
        record_in(&self.tables.meta, ENTRIES_OF, feed, chunk, |_| true)
    }

    fn body_chunk(&self, feed: FeedKey, chunk: u32) -> Result<BodyChunk, StoreError> {
        record_in(&self.tables.bodies, TEXTS_OF, feed, chunk, |_| true)
    }

    /// Returns the slot of an entry in its record of texts; `None` if there is none.
    fn body_slot(&self, key: EntryKey) -> Result<Option<BodySlot>, StoreError> {
        let place = slot(key.seq, BODIES);
        let wanted = |slot| slot == place;
        let mut chunk: BodyChunk =
            record_in(&self.tables.bodies, TEXTS_OF, key.feed, key.seq / BODIES, wanted)?;
        Ok(chunk.get_mut(place).map(std::mem::take))
    }

    /// Returns the entries with these keys. Missing entries are left out.
    pub(super) fn read_entries(
        &self,
        keys: &[EntryKey],
    ) -> Result<BTreeMap<EntryKey, KeptEntry>, StoreError> {
        let mut chunks: BTreeMap<(FeedKey, u32), EntryChunk> = BTreeMap::new();
        let mut found = BTreeMap::new();
        for &key in keys {
            let place = (key.feed, key.seq / ENTRIES);
            let chunk = match chunks.entry(place) {
                Entry::Occupied(chunk) => chunk.into_mut(),
                Entry::Vacant(empty) => empty.insert(self.entry_chunk(place.0, place.1)?),
            };
            if let Some(kept) = chunk.get_mut(slot(key.seq, ENTRIES)).and_then(Option::take) {
                found.insert(key, kept);
            }
        }
        Ok(found)
    }

    /// Returns some of the fields of each entry in a record of entries.
    pub(super) fn entry_record<T: DeserializeOwned>(
        &self,
        (feed, chunk): EntryRecord,
    ) -> Result<Vec<Option<T>>, StoreError> {
        record_in(&self.tables.meta, ENTRIES_OF, feed, chunk, |_| true)
    }

    /// Returns the fields of an entry that lists show, or `None` if its record is lost. The record is read once and kept in memory.
    pub(super) fn listed_entry(
        &mut self,
        key: EntryKey,
    ) -> Result<Option<&ListedEntry>, StoreError> {
        let record = (key.feed, key.seq / ENTRIES);
        let read = || record_in(&self.tables.meta, ENTRIES_OF, record.0, record.1, |_| true);
        match self.shown.get(record, slot(key.seq, ENTRIES), read) {
            // Treat a damaged record like a missing one, so that the list shows the other entries.
            Err(StoreError::Damaged { .. }) => Ok(None),
            shown => shown,
        }
    }

    /// Like [`Self::read_entries`], but leaves out entries whose records cannot be read, so that a list can still show the rest.
    pub fn readable_entries(
        &self,
        keys: &[EntryKey],
    ) -> Result<BTreeMap<EntryKey, KeptEntry>, StoreError> {
        match self.read_entries(keys) {
            Err(StoreError::Damaged { .. }) => {
                let mut kept = BTreeMap::new();
                for &key in keys {
                    match self.read_entries(&[key]) {
                        Err(StoreError::Damaged { .. }) => {}
                        one => kept.extend(one?),
                    }
                }
                Ok(kept)
            }
            kept => kept,
        }
    }

    /// Returns the text of an entry, or `None` if it has none or its text was dropped.
    pub fn body(&self, key: EntryKey) -> Result<Option<EntryBody>, StoreError> {
        self.body_slot(key)?.unwrap_or_default().text(&self.tables.bodies, key)
    }

    /// Checks whether nothing of the text of an entry is lost: its slot can be read and, if the text has a record of its own, that
    /// record too. An entry without a text and an entry whose text was dropped pass the check.
    pub(super) fn has_text_record(&self, key: EntryKey) -> bool {
        match self.body_slot(key).unwrap_or_default() {
            Some(BodySlot::Empty | BodySlot::Here(_) | BodySlot::Dropped) => true,
            Some(BodySlot::Alone) => self
                .tables
                .bodies
                .get(alone_key(key))
                .is_ok_and(|bytes| bytes.is_some_and(|bytes| are_texts(&bytes, true))),
            None => false,
        }
    }

    /// Whether the text of an entry was dropped.
    pub(super) fn is_dropped(&self, key: EntryKey) -> Result<bool, StoreError> {
        Ok(matches!(self.body_slot(key)?, Some(BodySlot::Dropped)))
    }

    /// Returns the stored texts of the entries that share a record of texts with this entry, including its own text: for each text,
    /// the record that contains it and the number of texts in that record. Returns nothing if the shared record is damaged; the
    /// check of the store reports that.
    pub(super) fn held_beside(&self, key: EntryKey) -> Vec<(EntryKey, TextRecord, u32)> {
        let first = key.seq / BODIES * BODIES;
        let chunk = self.body_chunk(key.feed, key.seq / BODIES).unwrap_or_default();
        let packed = chunk.iter().filter(|slot| matches!(slot, BodySlot::Here(_))).count();
        let packed = u32::try_from(packed).unwrap_or(u32::MAX);
        let held = |(seq, slot): (u32, &BodySlot)| {
            let (key, first) = (EntryKey { seq, ..key }, EntryKey { seq: first, ..key });
            match slot {
                BodySlot::Empty | BodySlot::Dropped => None,
                BodySlot::Here(_) => Some((key, TextRecord::Packed(first), packed)),
                BodySlot::Alone => Some((key, TextRecord::Alone(key), 1)),
            }
        };
        (first..).zip(&chunk).filter_map(held).collect()
    }

    /// Drops the texts of entries of a feed in one batch.
    pub(super) fn drop_texts(
        &mut self,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        let mut current: Option<(u32, BodyChunk)> = None;
        for seq in seqs {
            let open = |chunk| self.body_chunk(feed, chunk);
            let texts = match opened(&mut current, &mut batch, feed, seq / BODIES, open) {
                Ok(texts) => texts,
                // Skip a damaged record, which the check of the store reports.
                Err(StoreError::Damaged { .. }) => continue,
                Err(error) => return Err(error),
            };
            let Some(text) = texts.get_mut(slot(seq, BODIES)) else { continue };
            match text {
                BodySlot::Here(_) => {}
                BodySlot::Alone => batch.remove(alone_key(EntryKey { feed, seq })),
                BodySlot::Empty | BodySlot::Dropped => continue,
            }
            *text = BodySlot::Dropped;
        }
        packed(current, &mut batch, feed)?;
        self.db.commit(&[(TableName::Bodies, &batch)])
    }

    /// Returns the records of texts, without fetched pages, with their sizes in bytes.
    pub(super) fn text_records(
        &self,
    ) -> impl Iterator<Item = Result<(TextRecord, u64), StoreError>> {
        self.tables.bodies.lengths([]).filter_map(|pair| {
            let (key, length) = match pair {
                Ok(pair) => pair,
                Err(error) => return Some(Err(error)),
            };
            let feed = feed_of(&key)?;
            // The key of a text with a record of its own ends with the number of the entry.
            let alone = number_of(key.get(4..)?).map(|seq| EntryKey { feed, seq });
            let first = EntryKey { feed, seq: number_of(&key)?.saturating_mul(BODIES) };
            let record = alone.map_or(TextRecord::Packed(first), TextRecord::Alone);
            Some(Ok((record, length)))
        })
    }

    /// Returns the batch that writes rows from memory: the records of rows that contain these entries.
    pub(super) fn index_batch(
        &mut self,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> Result<Batch, StoreError> {
        let mut batch = Batch::default();
        self.add_rows(&mut batch, feed, seqs)?;
        Ok(batch)
    }

    /// Adds rows from memory to a batch: the records of rows that contain these entries.
    pub(super) fn add_rows(
        &mut self,
        batch: &mut Batch,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> Result<(), StoreError> {
        let chunks: std::collections::BTreeSet<u32> = seqs.map(|seq| seq / ROWS).collect();
        let rows = self.rows_of(feed)?;
        for chunk in chunks {
            let part = rows.chunks(ROWS as usize).nth(chunk as usize).unwrap_or_default();
            batch.insert(numbered_key(feed, chunk), codec::encode_rows(part));
        }
        Ok(())
    }

    /// Returns the batches that write entries and texts.
    ///
    /// To save memory, a record is packed as soon as its last entry was added, and if there are many texts, the first ones are
    /// written here, ahead of the returned batches. If the batches are never written, no row refers to these texts, and the next
    /// document writes them again.
    pub(super) fn entry_batches(
        &mut self,
        feed: FeedKey,
        entries: BTreeMap<u32, MergedEntry>,
    ) -> Result<(Batch, Batch), StoreError> {
        self.shown.forget(feed);
        if let Some(numbers) = &mut self.numbers {
            numbers.unchecked.insert(feed);
        }
        let (mut meta, mut bodies) = (Batch::default(), Batch::default());
        let mut entry_chunk: Option<(u32, EntryChunk)> = None;
        let mut body_chunk: Option<(u32, BodyChunk)> = None;
        let mut ahead_bytes = 0_usize;
        for (seq, entry) in entries {
            let open = |chunk| self.entry_chunk(feed, chunk);
            let kept = opened(&mut entry_chunk, &mut meta, feed, seq / ENTRIES, open)?;
            put(kept, slot(seq, ENTRIES), Some(entry.kept));
            let Some(body) = entry.body else { continue };
            let length = body.len();
            let value = if body.is_empty() {
                BodySlot::Empty
            } else if body.len() > BODY_ALONE_BYTES {
                let alone = codec::encode_compressed(&body)?;
                bodies.insert(alone_key(EntryKey { feed, seq }), alone);
                BodySlot::Alone
            } else {
                BodySlot::Here(body)
            };
            let open = |chunk| self.body_chunk(feed, chunk);
            let texts = opened(&mut body_chunk, &mut bodies, feed, seq / BODIES, open)?;
            put(texts, slot(seq, BODIES), value);
            ahead_bytes = ahead_bytes.saturating_add(length);
            if ahead_bytes > AHEAD_BYTES {
                ahead_bytes = 0;
                self.db.commit(&[(TableName::Bodies, &std::mem::take(&mut bodies))])?;
            }
        }
        packed(entry_chunk, &mut meta, feed)?;
        packed(body_chunk, &mut bodies, feed)?;
        Ok((meta, bodies))
    }
}

/// Reads the index rows of a feed.
pub(super) fn rows_in(index: &Table, feed: FeedKey) -> Result<Vec<IndexRow>, StoreError> {
    let mut rows = Vec::new();
    for pair in index.scan(feed_bytes(feed)) {
        let (_, bytes) = pair?;
        let damaged = |why| StoreError::Damaged { what: format!("the index of feed {feed}"), why };
        rows.extend(codec::decode_rows(&bytes).map_err(damaged)?);
    }
    rows.shrink_to_fit();
    Ok(rows)
}

/// Reads numbered items from the packed records of a feed. Items are requested in ascending order, so each record is read only
/// once.
struct Items<'t, T> {
    table: &'t Table,
    what: &'static str,
    feed: FeedKey,
    /// Number of items in one record.
    size: u32,
    /// Sequence numbers of the wanted items, in ascending order.
    wanted: &'t [u32],
    open: Option<(u32, Vec<T>)>,
}

impl<T: DeserializeOwned + Default> Items<'_, T> {
    /// Returns an item, or the default value if it cannot be read.
    fn take(&mut self, seq: u32) -> T {
        let number = seq / self.size;
        let chunk = match &mut self.open {
            Some((open, chunk)) if *open == number => chunk,
            open => {
                let first = number.saturating_mul(self.size) as usize;
                let is_wanted = |place: usize| {
                    let seq = first.saturating_add(place);
                    self.wanted.binary_search_by(|wanted| (*wanted as usize).cmp(&seq)).is_ok()
                };
                let read = record_in(self.table, self.what, self.feed, number, is_wanted);
                &mut open.insert((number, read.unwrap_or_default())).1
            }
        };
        chunk.get_mut(slot(seq, self.size)).map(std::mem::take).unwrap_or_default()
    }
}

/// Reads entries with their texts; leaves out entries that cannot be read.
pub(super) fn read_in(
    meta: &Table,
    bodies: &Table,
    feed: FeedKey,
    seqs: impl Iterator<Item = u32>,
) -> BTreeMap<u32, (KeptEntry, Option<EntryBody>)> {
    let mut read = kept_in(meta, feed, seqs);
    let wanted: Vec<u32> = read.keys().copied().collect();
    let (what, size) = (TEXTS_OF, BODIES);
    let mut texts = Items { table: bodies, what, feed, size, wanted: &wanted, open: None };
    for (&seq, (_, body)) in &mut read {
        let slot: BodySlot = texts.take(seq);
        *body = slot.text(bodies, EntryKey { feed, seq }).ok().flatten();
    }
    read
}

/// Reads entries without their texts; leaves out entries that cannot be read.
pub(super) fn kept_in(
    meta: &Table,
    feed: FeedKey,
    seqs: impl Iterator<Item = u32>,
) -> BTreeMap<u32, (KeptEntry, Option<EntryBody>)> {
    let mut wanted: Vec<u32> = seqs.collect();
    wanted.sort_unstable();
    let (what, size) = (ENTRIES_OF, ENTRIES);
    let mut entries = Items { table: meta, what, feed, size, wanted: &wanted, open: None };
    let found = wanted.iter().filter_map(|&seq| {
        let kept: Option<KeptEntry> = entries.take(seq);
        Some((seq, (kept?, None)))
    });
    found.collect()
}

/// Reads the wanted items of a packed record as type `T`, which may have fewer fields than the stored items.
fn record_in<T: DeserializeOwned + Default>(
    tree: &Table,
    what: &str,
    feed: FeedKey,
    chunk: u32,
    is_wanted: impl Fn(usize) -> bool,
) -> Result<Vec<T>, StoreError> {
    let damaged = |why| StoreError::Damaged { what: format!("{what} of feed {feed}"), why };
    let bytes = tree.get(numbered_key(feed, chunk))?;
    bytes.map_or(Ok(Vec::new()), |bytes| codec::decode_items(&bytes, is_wanted).map_err(damaged))
}

/// Returns the chunk with this number so that it can be changed. If another chunk was open, packs that chunk into the batch first.
fn opened<'c, T: Serialize>(
    current: &'c mut Option<(u32, Vec<T>)>,
    batch: &mut Batch,
    feed: FeedKey,
    number: u32,
    open: impl FnOnce(u32) -> Result<Vec<T>, StoreError>,
) -> Result<&'c mut Vec<T>, StoreError> {
    let chunk = if let Some(same) = current.take_if(|(at, _)| *at == number) {
        same
    } else {
        packed(current.take(), batch, feed)?;
        (number, open(number)?)
    };
    Ok(&mut current.insert(chunk).1)
}

/// Packs a chunk into a batch.
fn packed<T: Serialize>(
    chunk: Option<(u32, Vec<T>)>,
    batch: &mut Batch,
    feed: FeedKey,
) -> Result<(), StoreError> {
    if let Some((number, slots)) = chunk {
        batch.insert(numbered_key(feed, number), codec::encode_compressed(&slots)?);
    }
    Ok(())
}
