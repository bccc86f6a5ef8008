//! Records of each feed: its history, its archives, the times of its last polls, and its poll log. If nothing but these times
//! changed, they are written instead of the whole state of the feed. The poll log is a ring of records of several lines each,
//! because a record for each line would take much more memory.

use std::cmp::Reverse;

use backissue_core::history::{
    ArchiveNode, EntryKey, FeedKey, HistoryRecord, IndexRow, KeptEntry, Nodes, merge,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::super::codec::{self, CodecError};
use super::error::StoreError;
use super::handle::{Store, feed_bytes, number_of, numbered_key};
use crate::engine::feeds::subscription::FeedState;
use crate::engine::poll::poll_log::{POLL_LOG_LINES, PollLogEntry};
use crate::engine::poll::poll_stage::PollTimes;
use crate::engine::store_work::Showing;
use crate::io::store::pack::{Batch, TableName};

/// Returns the key of an archive: its feed and its canonical address.
fn node_key(feed: FeedKey, address: &str) -> Vec<u8> {
    feed_bytes(feed).into_iter().chain(address.bytes()).collect()
}

impl Store {
    /// Returns what is known about a feed's history, or the default if nothing is stored.
    pub fn history_of(&self, feed: FeedKey) -> Result<HistoryRecord, StoreError> {
        let damaged =
            |why| StoreError::Damaged { what: format!("the history of feed {feed}"), why };
        let bytes = self.tables.history.get(feed_bytes(feed))?;
        bytes.map_or(Ok(HistoryRecord::default()), |bytes| codec::decode(&bytes).map_err(damaged))
    }

    /// Returns the fetched archives of a feed. An archive whose record cannot be read counts as not fetched.
    pub fn nodes(&self, feed: FeedKey) -> Result<Nodes, StoreError> {
        let (nodes, _) = self.readable_nodes(feed)?;
        Ok(nodes)
    }

    /// Returns the archives whose records can be read, and the number of damaged records.
    pub fn readable_nodes(&self, feed: FeedKey) -> Result<(Nodes, usize), StoreError> {
        let prefix = feed_bytes(feed);
        let (mut kept, mut damaged) = (Vec::new(), 0_usize);
        for pair in self.tables.nodes.scan(prefix) {
            let (key, bytes) = pair?;
            let address = key.get(prefix.len()..).map(String::from_utf8_lossy);
            match (address, codec::decode::<ArchiveNode>(&bytes)) {
                (Some(address), Ok(node)) => kept.push((address.into_owned(), node)),
                (None, _) | (Some(_), Err(_)) => damaged = damaged.saturating_add(1),
            }
        }
        Ok((Nodes::from_records(kept), damaged))
    }

    /// Returns the batches that write a history record and the changed archives.
    pub(super) fn history_batches(
        feed: FeedKey,
        record: Option<&HistoryRecord>,
        changed: &[(String, Option<ArchiveNode>)],
    ) -> Result<(Batch, Batch), StoreError> {
        let (mut history, mut nodes) = (Batch::default(), Batch::default());
        if let Some(record) = record {
            history.insert(feed_bytes(feed), codec::encode(record)?);
        }
        for (address, node) in changed {
            match node {
                Some(node) => nodes.insert(node_key(feed, address), codec::encode(node)?),
                None => nodes.remove(node_key(feed, address)),
            }
        }
        Ok((history, nodes))
    }

    /// Withdraws entries that came from another source than the publisher's document, or restores withdrawn entries (SPEC C.6,
    /// C.11). Returns the entries that changed.
    pub fn set_withdrawn(
        &mut self,
        feed: FeedKey,
        mut entries: Vec<u32>,
        showing: Showing,
    ) -> Result<Vec<EntryKey>, StoreError> {
        let counters = self.counters_of(feed)?;
        let withdrawn = showing != Showing::Again;
        if showing == Showing::HidesAbsorbed {
            // Meanwhile, the feed itself may have supplied the entry.
            let listed = self.history_of(feed)?.windows.past.pop().unwrap_or_default();
            let rows = self.rows_of(feed)?;
            let is_listed = |row: &IndexRow| listed.contains(&row.identity);
            entries.retain(|seq| !rows.get(*seq as usize).is_some_and(is_listed));
        } else if withdrawn {
            let mut theirs = Vec::new();
            for seq in entries {
                let entry = self.entry(EntryKey { feed, seq })?;
                // In the meantime, the publisher's document may have supplied the entry.
                let is_hidden = |kept: &KeptEntry| match showing {
                    Showing::HidesCopies => kept.is_of_copy(),
                    Showing::HidesUnlisted | Showing::HidesAbsorbed | Showing::Again => {
                        !kept.was_listed()
                    }
                };
                theirs.extend(entry.filter(|(kept, _)| is_hidden(kept)).map(|_| seq));
            }
            entries = theirs;
        }
        let rows = self.rows_of(feed)?;
        let change = merge::set_withdrawn(&entries, withdrawn, rows, counters);
        for (&seq, &flags) in &change.flags {
            if let Some(row) = rows.get_mut(seq as usize) {
                row.flags = flags;
            }
        }
        let seqs: Vec<u32> = change.flags.keys().copied().collect();
        if let Err(error) = self.write_marks(feed, &seqs, change.counters) {
            self.rows.remove(&feed);
            return Err(error);
        }
        Ok(seqs.into_iter().map(|seq| EntryKey { feed, seq }).collect())
    }
}

impl Store {
    /// Returns the batches that write the state of a feed: only the small record of times if nothing else changed, otherwise the
    /// whole state.
    pub(super) fn state_batches(
        &self,
        feed: FeedKey,
        state: &FeedState,
    ) -> Result<Vec<(TableName, Batch)>, StoreError> {
        let key = feed_bytes(feed);
        let mut times = Batch::default();
        let before =
            self.tables.state.get(key)?.and_then(|bytes| codec::decode::<FeedState>(&bytes).ok());
        if before.is_some_and(|before| PollTimes::are_all_that_differs(&before, state)) {
            times.insert(key, codec::encode(&PollTimes::of(state))?);
            return Ok(vec![(TableName::Times, times)]);
        }
        let mut whole = Batch::default();
        whole.insert(key, codec::encode(state)?);
        times.remove(key);
        Ok(vec![(TableName::State, whole), (TableName::Times, times)])
    }

    /// Writes the time of the last attempt to poll a feed. This is done before each request, so that a restart does not repeat
    /// the request (SPEC G.20). Only a small record of about 40 bytes is written, because the whole state has a few hundred.
    pub fn save_try(&mut self, feed: FeedKey, at: DateTime<Utc>) -> Result<(), StoreError> {
        let known = self.times(feed)?;
        let mut times = match known {
            Some(times) => times,
            None => PollTimes::of(&self.whole_state(feed)?),
        };
        times.last_try = Some(at);
        let mut batch = Batch::default();
        batch.insert(feed_bytes(feed), codec::encode(&times)?);
        self.apply(vec![(TableName::Times, batch)])
    }

    /// Returns the state of a feed with the times of its last polls, or the default if there is none or it is damaged.
    pub(super) fn state_of(&self, feed: FeedKey) -> Result<FeedState, StoreError> {
        let mut state = self.whole_state(feed)?;
        if let Some(times) = self.times(feed)? {
            times.set_in(&mut state);
        }
        Ok(state)
    }

    fn whole_state(&self, feed: FeedKey) -> Result<FeedState, StoreError> {
        let bytes = self.tables.state.get(feed_bytes(feed))?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    fn times(&self, feed: FeedKey) -> Result<Option<PollTimes>, StoreError> {
        // A damaged record is reported together with damage of the state. The times are then those of the whole state as it was
        // last written.
        let bytes = self.tables.times.get(feed_bytes(feed))?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()))
    }
}

/// Maximum number of lines in a record.
const LINES: u32 = 7;
/// Maximum number of records of a feed.
const RECORDS: u32 = 8;
// Even right after the oldest record was overwritten, the records contain as many lines as must be kept.
const _: () = assert!((RECORDS - 1) * LINES + 1 >= POLL_LOG_LINES);

/// Lines of consecutive polls, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogRecord {
    /// Number of the record, counted from the feed's first poll. Its place in the ring is this number modulo [`RECORDS`]. `None` if
    /// its lines are older than the first counted poll.
    #[serde(rename = "r")]
    number: Option<u32>,
    #[serde(rename = "l")]
    lines: Vec<PollLogEntry>,
}

impl LogRecord {
    /// Reads a record.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, CodecError> {
        match codec::decode::<Self>(bytes) {
            // A record has at least one line, so these bytes are something else.
            Ok(record) if record.lines.is_empty() => Err(CodecError::Content),
            read => read,
        }
    }

    /// Returns a value that is larger for the later of two records of a feed. The times alone are not enough, because the clock may
    /// have been set back.
    pub(super) fn order(&self) -> (Option<u32>, Option<DateTime<Utc>>) {
        (self.number, self.lines.last().map(|line| line.at))
    }
}

impl Store {
    /// Returns the batch that writes the line of a feed's `count`-th poll. Earlier changes of the feed must have been written.
    pub(super) fn poll_log_batch(
        &self,
        feed: FeedKey,
        count: u32,
        line: PollLogEntry,
    ) -> Result<Batch, StoreError> {
        let number = count / LINES;
        let mut batch = Batch::default();
        let place = numbered_key(feed, number % RECORDS);
        // Replace a damaged record, because its content cannot be restored.
        let there = self.tables.polls.get(place)?.and_then(|bytes| LogRecord::read(&bytes).ok());
        let is_begun = |record: &LogRecord| {
            record.number == Some(number) && record.lines.len() <= (count % LINES) as usize
        };
        let mut lines = match there {
            Some(record) if is_begun(&record) => record.lines,
            _ => self.pack_lines_before(feed, count, &mut batch)?,
        };
        lines.push(line);
        let record = LogRecord { number: Some(number), lines };
        batch.insert(place, codec::encode(&record)?);
        Ok(batch)
    }

    /// If the lines of a feed before its `count`-th poll are out of order, repacks them. This happens after the state of a feed was
    /// lost, because its polls are then counted from the beginning. Returns the lines with which the record of this poll begins.
    fn pack_lines_before(
        &self,
        feed: FeedKey,
        count: u32,
        batch: &mut Batch,
    ) -> Result<Vec<PollLogEntry>, StoreError> {
        let number = count / LINES;
        let (mut lines, mut keys, mut are_in_order) = (Vec::new(), Vec::new(), true);
        for pair in self.tables.polls.scan(feed_bytes(feed)) {
            let (key, bytes) = pair?;
            are_in_order &= number_of(&key).is_some_and(|place| place < RECORDS);
            keys.push(key);
            let Ok(record) = LogRecord::read(&bytes) else { continue };
            are_in_order &= record.number.is_some_and(|known| known < number);
            lines.extend(record.lines);
        }
        if are_in_order {
            return Ok(Vec::new());
        }
        for key in keys {
            batch.remove(key);
        }
        lines.sort_by_key(|line| line.at);
        // Lines that were restored from a backup may exist twice.
        lines.dedup();
        let first = lines.len().saturating_sub((count % LINES) as usize);
        let begun = lines.split_off(first);
        for (before, lines) in (1..RECORDS).zip(lines.rchunks(LINES as usize)) {
            let place = (number % RECORDS + RECORDS - before) % RECORDS;
            let record = LogRecord { number: number.checked_sub(before), lines: lines.to_vec() };
            batch.insert(numbered_key(feed, place), codec::encode(&record)?);
        }
        Ok(begun)
    }

    /// Returns the last lines of the poll log of a feed, newest first.
    ///
    /// # Errors
    ///
    /// Fails if a record of it cannot be read.
    pub fn poll_log(&self, feed: FeedKey) -> Result<Vec<PollLogEntry>, StoreError> {
        let records =
            self.tables.polls.scan(feed_bytes(feed)).map(|pair| pair.map(|(_, value)| value));
        let records = records.map(|bytes| Ok(LogRecord::read(&bytes?)?));
        Ok(newest_lines(records.collect::<Result<_, StoreError>>()?))
    }

    /// Returns the last lines of a poll log that can be read, newest first, and the number of its damaged records.
    pub fn readable_poll_log(
        &self,
        feed: FeedKey,
    ) -> Result<(Vec<PollLogEntry>, usize), StoreError> {
        let (mut records, mut damaged) = (Vec::new(), 0_usize);
        for bytes in
            self.tables.polls.scan(feed_bytes(feed)).map(|pair| pair.map(|(_, value)| value))
        {
            match LogRecord::read(&bytes?) {
                Ok(record) => records.push(record),
                Err(_) => damaged = damaged.saturating_add(1),
            }
        }
        Ok((newest_lines(records), damaged))
    }
}

/// The last lines of a feed's records, newest first.
fn newest_lines(mut records: Vec<LogRecord>) -> Vec<PollLogEntry> {
    records.sort_by_key(|record| Reverse(record.order()));
    let lines = records.into_iter().flat_map(|record| record.lines.into_iter().rev());
    let mut log: Vec<PollLogEntry> = lines.take(POLL_LOG_LINES as usize).collect();
    log.sort_by_key(|line| Reverse(line.at));
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::poll::poll_log::PollCause;
    use crate::io::store::pack::TableName;

    const FEED: FeedKey = FeedKey(7);

    fn line(second: u32) -> PollLogEntry {
        PollLogEntry {
            at: DateTime::<Utc>::UNIX_EPOCH + chrono::TimeDelta::seconds(second.into()),
            status: Some(200),
            wire_bytes: 0,
            new: 0,
            edited: 0,
            withdrawn: 0,
            cause: PollCause::Due,
            settled_by: None,
            queued_seconds: 0,
            trouble: None,
        }
    }

    fn write(store: &mut Store, count: u32, second: u32) {
        let batch = store.poll_log_batch(FEED, count, line(second)).unwrap();
        store.db.commit(&[(TableName::Polls, &batch)]).unwrap();
    }

    fn seconds(store: &Store) -> Vec<i64> {
        store.poll_log(FEED).unwrap().iter().map(|line| line.at.timestamp()).collect()
    }

    fn newest_first(from: i64, to: i64) -> Vec<i64> {
        (from..=to).rev().collect()
    }

    #[test]
    fn fifty_poll_lines_are_kept_in_eight_records() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        for count in 1..200 {
            write(&mut store, count, count);
            let last = i64::from(count);
            assert_eq!(seconds(&store), newest_first((last - 49).max(1), last));
            assert!(store.tables.polls.len() <= RECORDS as usize);
        }
    }

    #[test]
    fn recent_polls_are_kept_after_the_clock_was_set_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        for count in 1..56 {
            write(&mut store, count, if count < 50 { 1000 + count } else { count });
        }
        let shown = seconds(&store);
        assert_eq!(shown.len(), 50);
        assert_eq!(shown[44..], newest_first(50, 55), "the last six polls");
    }

    #[test]
    fn recounted_polls_sort_before_earlier_ones() {
        for before in [2, 5, 12, 50, 52, 55, 80] {
            let folder = tempfile::tempdir().unwrap();
            let mut store = Store::open(folder.path()).unwrap();
            (1..=before).for_each(|count| write(&mut store, count, count));
            for count in 1..=30 {
                write(&mut store, count, before + count);
                let newest = i64::from(before + count);
                let expected = newest_first((newest - 49).max(1), newest);
                assert_eq!(seconds(&store), expected, "{before} {count}");
            }
        }
    }

    #[test]
    fn unreadable_poll_log_is_reported_and_restarted() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        (1..=10).for_each(|count| write(&mut store, count, count));
        store.put(TableName::Polls, numbered_key(FEED, 1), b"?").unwrap();
        assert!(store.poll_log(FEED).is_err());
        let (lines, damaged) = store.readable_poll_log(FEED).unwrap();
        assert_eq!((lines.len(), damaged), (6, 1));
        write(&mut store, 11, 11);
        assert_eq!(seconds(&store), [11, 6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn rewritten_poll_evicts_no_other_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        for second in 1..=90 {
            write(&mut store, 3, second);
            let newest = i64::from(second);
            assert_eq!(seconds(&store), newest_first((newest - 49).max(1), newest));
            assert!(store.tables.polls.len() <= RECORDS as usize);
        }
    }
}
