//! Records of the devices that sync with this program: when each was last seen, and what it changed, so that the user can undo it.
//!
//! Also the numbers under which devices know entries. Like the entry numbers of `FreshRSS`, each is a time in microseconds. Numbers
//! are given in the order in which entries arrive. Each is larger than all earlier ones and is never used again.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeInclusive};

use backissue_core::history::{EntryKey, FeedKey, Flags};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::given_numbers::{Epoch, GivenNumbers, NUMBERS_KEY, NumberRecord, record_key};
use super::handle::{Store, feed_of};
use super::pack::TableName;
use crate::engine::change::MarkChange;
use crate::engine::feeds::setting_row::Chosen;
use crate::io::codec;

const DEVICES_KEY: &[u8] = b"devices";
/// Maximum number of stored steps of a device. The oldest are dropped first.
const STEPS_MAX: usize = 200;
/// How long a step can be undone. Removed subscriptions can be restored for the same time.
const STEP_TIME: TimeDelta = TimeDelta::weeks(1);

/// What is stored about a device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceRecord {
    /// Time of the last request of the device, accurate to a few minutes.
    pub seen: Option<DateTime<Utc>>,
    /// The requests of the device that changed something, oldest first.
    pub steps: Vec<DeviceStep>,
    /// Feeds from which the device asked to unsubscribe, until the user confirms or rejects it.
    pub held: Vec<FeedKey>,
}

/// A request of a device that changed something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceStep {
    pub at: DateTime<Utc>,
    pub changes: Vec<DeviceChange>,
}

/// A change, with what is needed to revert it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum DeviceChange {
    Marked(MarkChange),
    Labelled {
        name: String,
        keys: Vec<EntryKey>,
        set: bool,
    },
    Subscribed(FeedKey),
    Unsubscribed(FeedKey),
    /// The title or tags of a feed were changed. Contains the former values.
    Arranged(FeedKey, Box<Chosen>),
}

impl DeviceRecord {
    /// Counts the changes after `since` for which `is_kind` returns `true`.
    pub fn count(&self, since: DateTime<Utc>, is_kind: impl Fn(&DeviceChange) -> bool) -> usize {
        let steps = self.steps.iter().filter(|step| step.at > since);
        steps.flat_map(|step| &step.changes).filter(|change| is_kind(change)).count()
    }
}

impl Store {
    /// Returns the records of all devices, by name. A damaged record counts as empty.
    pub fn device_records(&self) -> Result<BTreeMap<String, DeviceRecord>, StoreError> {
        let bytes = self.tables.facts.get(DEVICES_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Stores the feeds from which a device asked to unsubscribe.
    pub fn save_held(&mut self, name: &str, held: Vec<FeedKey>) -> Result<(), StoreError> {
        let mut records = self.device_records()?;
        records.entry(name.to_owned()).or_default().held = held;
        self.put(TableName::Facts, DEVICES_KEY, codec::encode(&records)?)
    }

    /// Changes the record of a device. If `change` returns `None`, the record is removed.
    pub fn change_device<T>(
        &mut self,
        name: &str,
        now: DateTime<Utc>,
        change: impl FnOnce(&mut DeviceRecord) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut records = self.device_records()?;
        let mut record = records.remove(name).unwrap_or_default();
        let done = change(&mut record);
        if done.is_some() {
            record.steps.retain(|step| step.at > now - STEP_TIME);
            let old = record.steps.len().saturating_sub(STEPS_MAX);
            record.steps.drain(..old);
            records.insert(name.to_owned(), record);
        }
        self.put(TableName::Facts, DEVICES_KEY, codec::encode(&records)?)?;
        Ok(done)
    }
}

/// The entries that a device requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntriesWanted {
    /// The feeds whose entries the device may see.
    pub feeds: Vec<FeedKey>,
    /// Tests that an entry must pass (`true`) or fail (`false`).
    pub tests: Vec<(EntryTest, bool)>,
    /// First and last number of the wanted entries. If either is set, entries from the history of their feeds are left out.
    pub since: Option<u64>,
    pub until: Option<u64>,
    /// The last number of the previous page.
    pub after: Option<u64>,
    pub oldest_first: bool,
    pub count: usize,
}

/// A test of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryTest {
    Read,
    Starred,
    /// The entry is in one of these feeds, or one of these filters matched it.
    Among(Vec<FeedKey>, Vec<u32>),
}

/// An entry without a number: whether it is new, which means that it does not come from the history of its feed; its date in Unix
/// seconds; and its key. Entries get their numbers in ascending order of these tuples.
pub type NewToDevices = (bool, i64, EntryKey);

/// Number of rows after which a search for entries without a number returns, so that the store can answer the reader in between.
const LOOKED_AT: usize = 10_000;

impl EntriesWanted {
    /// Returns the range of the wanted numbers. It never contains 0, which means that an entry has no number.
    fn numbers(&self) -> RangeInclusive<u64> {
        let (mut first, mut last) =
            (self.since.unwrap_or(1).max(1), self.until.unwrap_or(u64::MAX));
        match self.after {
            Some(after) if self.oldest_first => first = first.max(after.saturating_add(1)),
            Some(after) => last = last.min(after.saturating_sub(1)),
            None => {}
        }
        first..=last
    }

    /// Returns the first page of the wanted entries that were found, in the requested order.
    pub fn page(&self, mut found: Vec<(u64, EntryKey)>) -> NumberedEntries {
        let order = |number: u64| if self.oldest_first { number } else { u64::MAX - number };
        let has_more = found.len() > self.count;
        if has_more && self.count > 0 {
            found.select_nth_unstable_by_key(self.count, |(number, _)| order(*number));
        }
        found.truncate(self.count);
        found.sort_unstable_by_key(|(number, _)| order(*number));
        NumberedEntries { entries: found, has_more }
    }

    fn has_flags(&self, flags: Flags) -> bool {
        flags.is_shown()
            && self.tests.iter().all(|(test, wanted)| match test {
                EntryTest::Read => flags.is_unread() != *wanted,
                EntryTest::Starred => flags.is_starred() == *wanted,
                EntryTest::Among(..) => true,
            })
    }
}

/// A page of entries with their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NumberedEntries {
    pub entries: Vec<(u64, EntryKey)>,
    /// Whether there are more entries than fit on the page.
    pub has_more: bool,
}

impl Store {
    fn numbers(&mut self) -> Result<&mut GivenNumbers, StoreError> {
        if self.numbers.is_none() {
            let mut numbers = self.read_numbers()?;
            let feeds = self.tables.feeds.keys().map(|key| Ok(feed_of(&key?)));
            let feeds = feeds.collect::<Result<Vec<_>, StoreError>>()?;
            numbers.unchecked = feeds.into_iter().flatten().collect();
            self.numbers = Some(numbers);
        }
        Ok(self.numbers.get_or_insert_default())
    }

    /// Reads the records of numbers. If a record is missing or damaged, returns no numbers, so that all entries get new ones,
    /// larger than any number that was found.
    fn read_numbers(&self) -> Result<GivenNumbers, StoreError> {
        let bytes = self.tables.facts.get(NUMBERS_KEY)?;
        let epoch = bytes.and_then(|bytes| codec::decode::<Epoch>(&bytes).ok()).unwrap_or_default();
        let mut numbers = GivenNumbers { epoch, ..GivenNumbers::default() };
        let (count, mut last) = (epoch.records as usize, 0);
        for place in 0.. {
            let bytes = self.tables.facts.get(record_key(place))?;
            // Records of an earlier epoch may follow. If the number of records is not known, read all that exist.
            if bytes.is_none() && place >= count {
                break;
            }
            let record =
                bytes.and_then(|bytes| codec::decode_compressed::<NumberRecord>(&bytes).ok());
            let run = record.as_ref().and_then(|record| record.runs.last());
            last = run.and_then(|run| run.entries().last()).map_or(last, |(it, _)| it.max(last));
            let is_current = |record: &NumberRecord| place < count && record.epoch == epoch.first;
            numbers.records.extend(record.filter(is_current));
        }
        if numbers.records.len() != count || last != epoch.last {
            let epoch = Epoch { last: last.max(epoch.last), ..Epoch::default() };
            return Ok(GivenNumbers { epoch, ..GivenNumbers::default() });
        }
        numbers.note_all();
        Ok(numbers)
    }

    /// Returns entries without a number, by feed and sequence number; sort them before they get numbers. A call may stop early,
    /// to limit its duration. It then also returns the last feed that was searched, and `after` continues from there.
    pub fn without_number(
        &mut self,
        after: Option<FeedKey>,
    ) -> Result<(Vec<NewToDevices>, Option<FeedKey>), StoreError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let feeds = self.numbers()?.unchecked.range((from, Bound::Unbounded)).copied();
        let (feeds, mut new, mut looked_at) = (feeds.collect::<Vec<_>>(), Vec::new(), 0);
        for feed in feeds {
            let before = new.len();
            // If the index of a feed is damaged, continue with the other feeds.
            if self.rows_of(feed).is_ok()
                && let (Some(rows), Some(numbers)) = (self.rows.get(&feed), &self.numbers)
            {
                looked_at += rows.len();
                let numbers = numbers.of_feed(feed).iter().copied().chain(std::iter::repeat(0));
                let rows = (0_u32..).zip(rows).zip(numbers).filter(|(_, number)| *number == 0);
                new.extend(rows.map(|((seq, row), _)| {
                    let is_new = !row.flags.is_from_history();
                    (is_new, row.listed, EntryKey { feed, seq })
                }));
            }
            if new.len() == before {
                self.numbers()?.unchecked.remove(&feed);
            }
            if looked_at > LOOKED_AT {
                return Ok((new, Some(feed)));
            }
        }
        Ok((new, None))
    }

    /// Gives numbers to the entries that have none, in this order, but entries from history first. `now` is in microseconds since
    /// 1970. Sync the store before a device receives one of the numbers.
    pub fn give_numbers(&mut self, new: &[NewToDevices], now: u64) -> Result<(), StoreError> {
        let numbers = self.numbers()?;
        let has_none = |&&(_, _, EntryKey { feed, seq }): &&NewToDevices| {
            numbers.of_feed(feed).get(seq as usize).is_none_or(|number| *number == 0)
        };
        let new = new.iter().filter(has_none);
        let (young, old): (Vec<NewToDevices>, Vec<NewToDevices>) =
            new.copied().partition(|(is_new, ..)| *is_new);
        let keys =
            |new: Vec<NewToDevices>| new.into_iter().map(|(.., key)| key).collect::<Vec<_>>();
        let first = numbers.give(&keys(old), true, now);
        numbers.give(&keys(young), false, now);
        let batch = numbers.batch(first..numbers.records.len())?;
        let written = self.db.commit(&[(TableName::Facts, &batch)]);
        if written.is_err() {
            // Read the records again when the numbers are needed next.
            self.numbers = None;
        }
        written
    }

    /// Returns the entries with these numbers. Unknown numbers, and entries of unsubscribed feeds, are left out.
    pub fn numbered(&mut self, numbers: &[u64]) -> Result<Vec<(u64, EntryKey)>, StoreError> {
        let known = self.numbers()?;
        let found = numbers.iter().filter_map(|&it| Some((it, known.run_of(it)?.get(it)?)));
        let mut found: Vec<(u64, EntryKey)> = found.collect();
        found.retain(|(_, key)| !self.ended.contains(&key.feed));
        Ok(found)
    }

    /// Returns the first page of the wanted entries.
    pub fn numbered_entries(
        &mut self,
        wanted: &EntriesWanted,
    ) -> Result<NumberedEntries, StoreError> {
        Ok(wanted.page(self.numbered_in(wanted, &wanted.feeds)?.0))
    }

    /// Returns the wanted entries of some of the feeds, without those on earlier pages, in any order. Also returns how many times
    /// entries were moved to another feed, so that the caller notices a move between two calls.
    pub fn numbered_in(
        &mut self,
        wanted: &EntriesWanted,
        feeds: &[FeedKey],
    ) -> Result<(Vec<(u64, EntryKey)>, u32), StoreError> {
        // Test each possible value of the flags once, because there are only 256 of them and many rows.
        let by_flags: Vec<bool> =
            (0..=u8::MAX).map(|flags| wanted.has_flags(Flags(flags))).collect();
        let within = wanted.numbers();
        let mut found = Vec::new();
        for &feed in feeds {
            if self.ended.contains(&feed) {
                continue;
            }
            // Rows that are already in memory are faster to read than the counters.
            if !self.rows.contains_key(&feed) && self.counts_exclude(feed, wanted)? {
                continue;
            }
            // If the index of a feed is damaged, continue with the other feeds.
            if self.rows_of(feed).is_err() {
                continue;
            }
            self.numbers()?;
            let (Some(rows), Some(numbers)) = (self.rows.get(&feed), &self.numbers) else {
                continue;
            };
            let numbered = (0_u32..).zip(rows).zip(numbers.of_feed(feed));
            let rows = numbered.filter_map(|((seq, row), number)| {
                let fits = by_flags.get(usize::from(row.flags.0)) == Some(&true)
                    && within.contains(number);
                let key = EntryKey { feed, seq };
                (fits && self.is_among(key, &wanted.tests)).then_some((*number, key))
            });
            found.extend(rows);
        }
        let numbers = self.numbers()?;
        if wanted.since.is_some() || wanted.until.is_some() {
            found.retain(|&(it, _)| !numbers.run_of(it).is_some_and(|run| run.is_old));
        }
        Ok((found, numbers.moves))
    }

    /// Returns the largest number of a feed's entries, or 0 if no entry has one.
    pub fn newest_number(&mut self, feed: FeedKey) -> Result<u64, StoreError> {
        let numbers = self.numbers()?.by_feed.get(&feed);
        Ok(numbers.and_then(|numbers| numbers.iter().max()).copied().unwrap_or_default())
    }

    /// Checks whether the counters of a feed show that none of its entries is wanted.
    fn counts_exclude(&self, feed: FeedKey, wanted: &EntriesWanted) -> Result<bool, StoreError> {
        let has = |test, value| wanted.tests.contains(&(test, value));
        let counters = self.counters_of(feed)?;
        let has_none = (has(EntryTest::Read, false) && counters.unread == 0)
            || (has(EntryTest::Starred, true) && counters.starred == 0);
        Ok(has_none || counters.next_seq == 0)
    }

    /// Checks the tests that depend on feeds and filters. [`EntriesWanted::has_flags`] checks the others.
    fn is_among(&self, key: EntryKey, tests: &[(EntryTest, bool)]) -> bool {
        tests.iter().all(|(test, wanted)| match test {
            EntryTest::Read | EntryTest::Starred => true,
            EntryTest::Among(feeds, filters) => {
                let is_hit = |filter: &u32| self.filters.has_hit(*filter, key);
                *wanted == (feeds.contains(&key.feed) || filters.iter().any(is_hit))
            }
        })
    }

    /// Assigns the numbers of entries that moved to another feed to their new keys. `now_as` maps the old sequence numbers to the
    /// new ones.
    pub(super) fn hand_numbers(
        &mut self,
        from: FeedKey,
        into: FeedKey,
        now_as: &BTreeMap<u32, u32>,
    ) -> Result<(), StoreError> {
        let numbers = self.numbers()?;
        let mut changed = Vec::new();
        for (place, record) in numbers.records.iter_mut().enumerate() {
            let keys = record.runs.iter_mut().flat_map(|run| &mut run.keys);
            let mut is_changed = false;
            for key in keys.filter(|(feed, _)| *feed == from.0) {
                if let Some(&seq) = now_as.get(&key.1) {
                    (*key, is_changed) = ((into.0, seq), true);
                }
            }
            changed.extend(is_changed.then_some(place));
        }
        if changed.is_empty() {
            return Ok(());
        }
        numbers.note_all();
        numbers.moves = numbers.moves.saturating_add(1);
        let batch = numbers.batch(changed)?;
        self.db.commit(&[(TableName::Facts, &batch)])
    }
}
