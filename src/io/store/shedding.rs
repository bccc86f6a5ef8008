//! The bound on stored texts (SPEC C.10): beyond it those of the oldest read entries without a star are dropped. Their
//! ids and ranks stay, so that nothing is fetched again or shown as new.

use std::collections::BTreeMap;

use super::error::StoreError;
use super::open::Store;
use crate::history::{EntryKey, FeedKey};

/// Name of the size on disk when texts were measured last.
const MEASURED_KEY: &[u8] = b"texts_measured";

/// A log that has grown by less than these bytes is not measured again.
const GROWTH_MIN: u64 = 1024 * 1024;

/// What was dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shed {
    /// Entries whose text went.
    pub entries: usize,
    /// Bytes of texts before.
    pub before: u64,
}

impl Store {
    /// Whether the texts may be more than `max` bytes: the files have grown by an eighth of that since they were
    /// measured last. Reads no record.
    pub fn may_hold_too_much(&self, max: u64) -> Result<bool, StoreError> {
        let bytes = self.db.size_on_disk()?;
        let measured = self.about.get(MEASURED_KEY)?;
        let measured =
            measured.and_then(|bytes| bytes.as_ref().try_into().ok()).map_or(0, u64::from_be_bytes);
        // A compacted store is smaller than what was measured.
        let grown = bytes < measured || bytes.saturating_sub(measured) > (max / 8).max(GROWTH_MIN);
        Ok(bytes > max && grown)
    }

    /// Drops texts until those left are at most nine tenths of `max` bytes, if they are more than `max` bytes now. Texts of
    /// entries that are unread or starred stay, however many they are.
    pub fn shed_texts(&mut self, max: u64) -> Result<Shed, StoreError> {
        let mut shares: BTreeMap<EntryKey, u64> = BTreeMap::new();
        let mut before = 0_u64;
        for record in self.text_records() {
            let (first, entries, bytes) = record?;
            before = before.saturating_add(bytes);
            // Texts that are packed together are taken to be of one size.
            for seq in first.seq..first.seq.saturating_add(entries) {
                let share = shares.entry(EntryKey { seq, ..first }).or_default();
                *share = share.saturating_add(bytes / u64::from(entries));
            }
        }
        let mut shed = Shed { entries: 0, before };
        if before > max {
            let wanted = before.saturating_sub(max / 10 * 9);
            for (feed, seqs) in self.oldest_texts(&shares, wanted)? {
                let dropped = self.drop_texts(feed, seqs.into_iter())?;
                shed.entries = shed.entries.saturating_add(dropped);
            }
        }
        self.about.insert(MEASURED_KEY, &self.db.size_on_disk()?.to_be_bytes())?;
        self.sync()?;
        Ok(shed)
    }

    /// The oldest entries that may lose their texts, as many as bring `wanted` bytes.
    fn oldest_texts(
        &mut self,
        shares: &BTreeMap<EntryKey, u64>,
        wanted: u64,
    ) -> Result<BTreeMap<FeedKey, Vec<u32>>, StoreError> {
        let mut oldest: Vec<(i64, EntryKey, u64)> = Vec::new();
        let mut dropped = Vec::new();
        for (&key, &bytes) in shares {
            // Of a feed whose index is damaged nobody knows what was read.
            let Ok(rows) = self.rows_of(key.feed) else { continue };
            let Some(row) = rows.get(key.seq as usize).copied() else { continue };
            if row.flags.is_read() && !row.flags.is_starred() {
                oldest.push((row.listed, key, bytes));
            }
        }
        oldest.sort_unstable();
        let mut freed = 0_u64;
        for (_, key, bytes) in oldest {
            if freed >= wanted {
                break;
            }
            freed = freed.saturating_add(bytes);
            dropped.push(key);
        }
        dropped.sort_unstable();
        let mut by_feed: BTreeMap<FeedKey, Vec<u32>> = BTreeMap::new();
        for key in dropped {
            by_feed.entry(key.feed).or_default().push(key.seq);
        }
        Ok(by_feed)
    }
}
