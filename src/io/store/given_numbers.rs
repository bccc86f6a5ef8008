//! The numbers under which devices know entries: their records, and the same numbers in memory.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::history::{EntryKey, FeedKey};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::pack::Batch;
use crate::io::codec;

/// Prefix of the keys of the number records in the table of facts.
pub(super) const NUMBERS_KEY: &[u8] = b"numbers";
/// Maximum number of entries in one record.
const RECORD_MAX: usize = 4_096;

/// Describes the complete set of number records. If the stored records do not match it, all entries get new numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Epoch {
    /// The first number of the set. Each record contains it, so that records of an earlier set are recognised.
    pub(super) first: u64,
    /// The last number that was given.
    pub(super) last: u64,
    /// Number of records.
    pub(super) records: u32,
}

/// A record of numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct NumberRecord {
    /// First number of the set to which this record belongs; see [`Epoch::first`].
    pub(super) epoch: u64,
    pub(super) runs: Vec<NumberRun>,
}

/// Consecutive numbers that entries were given at the same time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct NumberRun {
    first: u64,
    /// Whether the entries came from the history of their feeds, and are therefore not new.
    pub(super) is_old: bool,
    /// Feeds and sequence numbers of the entries.
    pub(super) keys: Vec<(u32, u32)>,
}

/// All numbers, in memory.
#[derive(Debug, Default)]
pub(super) struct GivenNumbers {
    pub(super) epoch: Epoch,
    pub(super) records: Vec<NumberRecord>,
    /// The numbers of each feed's entries, indexed by sequence number; 0 means that the entry has no number. An entry that got
    /// several numbers, because two merged feeds had it, has the first of them here.
    pub(super) by_feed: BTreeMap<FeedKey, Vec<u64>>,
    /// The feeds that may have entries without a number.
    pub(super) unchecked: BTreeSet<FeedKey>,
    /// How many times entries, with their numbers, were moved to another feed.
    pub(super) moves: u32,
}

impl NumberRun {
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, EntryKey)> {
        let keys = self.keys.iter().map(|&(feed, seq)| EntryKey { feed: FeedKey(feed), seq });
        (self.first..).zip(keys)
    }

    pub(super) fn get(&self, number: u64) -> Option<EntryKey> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.keys.get(place).map(|&(feed, seq)| EntryKey { feed: FeedKey(feed), seq })
    }
}

impl NumberRecord {
    fn len(&self) -> usize {
        self.runs.iter().map(|run| run.keys.len()).sum()
    }

    fn first(&self) -> u64 {
        self.runs.first().map_or(0, |run| run.first)
    }
}

pub(super) fn record_key(number: usize) -> Vec<u8> {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    [NUMBERS_KEY, b"/", &number.to_be_bytes()].concat()
}

impl GivenNumbers {
    /// Returns the run that may contain a number.
    pub(super) fn run_of(&self, number: u64) -> Option<&NumberRun> {
        let after = self.records.partition_point(|record| record.first() <= number);
        let record = self.records.get(after.checked_sub(1)?)?;
        let after = record.runs.partition_point(|run| run.first <= number);
        record.runs.get(after.checked_sub(1)?)
    }

    /// Returns the numbers of a feed's entries, indexed by sequence number; 0 means that the entry has no number.
    pub(super) fn of_feed(&self, feed: FeedKey) -> &[u64] {
        self.by_feed.get(&feed).map_or(&[], Vec::as_slice)
    }

    fn note(&mut self, number: u64, key: EntryKey) {
        let numbers = self.by_feed.entry(key.feed).or_default();
        let place = key.seq as usize;
        if numbers.len() <= place {
            numbers.resize(place.saturating_add(1), 0);
        }
        if let Some(known) = numbers.get_mut(place).filter(|known| **known == 0) {
            *known = number;
        }
    }

    pub(super) fn note_all(&mut self) {
        self.by_feed.clear();
        let runs = self.records.iter().flat_map(|record| &record.runs);
        let entries: Vec<(u64, EntryKey)> = runs.flat_map(NumberRun::entries).collect();
        for (number, key) in entries {
            self.note(number, key);
        }
    }

    /// Gives consecutive numbers to entries, in this order, starting at `now` in microseconds or after the last number, whichever
    /// is later. Returns the index of the first record that changed.
    pub(super) fn give(&mut self, keys: &[EntryKey], is_old: bool, now: u64) -> usize {
        let changed = self.records.len().saturating_sub(1);
        let mut first = now.max(self.epoch.last.saturating_add(1));
        if self.epoch.first == 0 {
            self.epoch.first = first;
        }
        let mut rest = keys;
        while !rest.is_empty() {
            let room = self.records.last().map_or(0, |last| RECORD_MAX.saturating_sub(last.len()));
            if room == 0 {
                self.records.push(NumberRecord { epoch: self.epoch.first, runs: Vec::new() });
                continue;
            }
            let (now, later) = rest.split_at(room.min(rest.len()));
            let run = NumberRun {
                first,
                is_old,
                keys: now.iter().map(|key| (key.feed.0, key.seq)).collect(),
            };
            for (number, key) in run.entries() {
                self.note(number, key);
                self.epoch.last = number;
            }
            if let Some(record) = self.records.last_mut() {
                record.runs.push(run);
            }
            (rest, first) = (later, self.epoch.last.saturating_add(1));
        }
        self.epoch.records = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        changed
    }

    pub(super) fn batch(
        &self,
        changed: impl IntoIterator<Item = usize>,
    ) -> Result<Batch, StoreError> {
        let mut batch = Batch::default();
        for place in changed {
            if let Some(record) = self.records.get(place) {
                batch.insert(record_key(place), codec::encode_compressed(record)?);
            }
        }
        batch.insert(NUMBERS_KEY, codec::encode(&self.epoch)?);
        Ok(batch)
    }
}
