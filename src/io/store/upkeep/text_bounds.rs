//! The limit on stored texts and articles (SPEC C.10): beyond it those of the oldest entries that are read and not
//! starred are dropped. Their ids and ranks stay, so that nothing is fetched again or shown as new.

use std::collections::{BTreeMap, BTreeSet};

use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;
use crate::io::store::record_keys::TextRecord;
use backissue_core::history::{EntryKey, FeedKey};

/// The key of the size on disk when texts were measured last.
const MEASURED_KEY: &[u8] = b"texts_measured";

/// Growth of the files, in bytes, after which texts are measured again.
const GROWTH_MIN: u64 = 1024 * 1024;

/// The texts that were dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedTexts {
    /// Number of entries whose text was dropped.
    pub entries: usize,
    /// Bytes of texts and articles before.
    pub before: u64,
}

impl Store {
    /// Whether the texts may exceed `max` bytes, because the files have grown by an eighth of that since they were
    /// measured last. Reads no record.
    pub fn may_hold_too_much(&self, max: u64) -> Result<bool, StoreError> {
        let bytes = self.db.disk_bytes();
        let measured = self.facts.get(MEASURED_KEY)?;
        let measured =
            measured.and_then(|bytes| (*bytes).try_into().ok()).map_or(0, u64::from_be_bytes);
        // A compacted store is smaller than what was measured.
        let grown = bytes < measured || bytes.saturating_sub(measured) > (max / 8).max(GROWTH_MIN);
        Ok(bytes > max && grown)
    }

    /// If the texts exceed `max` bytes, drops texts until at most nine tenths of that are left. Texts of unread and
    /// starred entries always stay.
    pub fn shed_texts(&mut self, max: u64) -> Result<DroppedTexts, StoreError> {
        let records = self.text_records().chain(self.page_records());
        let sizes: BTreeMap<TextRecord, u64> = records.collect::<Result<_, _>>()?;
        let before = sizes.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        let mut shed = DroppedTexts { entries: 0, before };
        if before > max {
            let wanted = before.saturating_sub(max / 10 * 9);
            for (feed, seqs) in self.oldest_texts(&sizes, wanted)? {
                shed.entries = shed.entries.saturating_add(seqs.len());
                self.drop_texts(feed, seqs.iter().copied())?;
                self.drop_pages(feed, seqs.into_iter())?;
            }
        }
        self.put(TableName::Facts, MEASURED_KEY, self.db.disk_bytes().to_be_bytes())?;
        self.sync()?;
        Ok(shed)
    }

    /// Returns the oldest entries whose texts may be dropped, as many as free `wanted` bytes. `sizes`: the bytes of
    /// the records.
    fn oldest_texts(
        &mut self,
        sizes: &BTreeMap<TextRecord, u64>,
        wanted: u64,
    ) -> Result<BTreeMap<FeedKey, BTreeSet<u32>>, StoreError> {
        let mut held: BTreeMap<EntryKey, u64> = BTreeMap::new();
        let mut dropped: BTreeMap<FeedKey, BTreeSet<u32>> = BTreeMap::new();
        let mut freed = 0_u64;
        for key in self.oldest_read(sizes) {
            if freed >= wanted {
                break;
            }
            if !held.contains_key(&key) {
                for (key, record, sharing) in self.held_beside(key) {
                    // Texts that are packed together are taken to be of one size.
                    let bytes = sizes.get(&record).copied().unwrap_or_default();
                    held.insert(key, bytes / u64::from(sharing.max(1)));
                }
            }
            let page = sizes.get(&TextRecord::Page(key)).copied();
            // Where nothing is held any more nothing is freed either.
            for bytes in held.remove(&key).into_iter().chain(page) {
                freed = freed.saturating_add(bytes);
                dropped.entry(key.feed).or_default().insert(key.seq);
            }
        }
        Ok(dropped)
    }

    /// Returns the entries that are read and not starred, of all feeds with texts, the oldest first.
    fn oldest_read(&mut self, sizes: &BTreeMap<TextRecord, u64>) -> Vec<EntryKey> {
        let feeds: BTreeSet<FeedKey> = sizes.keys().map(|record| record.feed()).collect();
        let mut oldest: Vec<(i64, EntryKey)> = Vec::new();
        for feed in feeds {
            // Of a feed whose index is damaged nobody knows what was read.
            let Ok(rows) = self.rows_of(feed) else { continue };
            let rows = (0_u32..).zip(rows.iter());
            let may_go = rows.filter(|(_, row)| row.flags.is_read() && !row.flags.is_starred());
            oldest.extend(may_go.map(|(seq, row)| (row.listed, EntryKey { feed, seq })));
        }
        oldest.sort_unstable();
        oldest.into_iter().map(|(_, key)| key).collect()
    }
}
