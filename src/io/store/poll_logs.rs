//! The poll log of each feed: a ring of records of several lines. A record of its own for each line would take much more
//! room in memory.

use std::cmp::Reverse;

use crate::io::store::pack::Batch;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::super::codec::{self, CodecError};
use super::error::StoreError;
use super::handle::Store;
use super::record_keys::{feed_bytes, number_of, numbered_key};
use crate::engine::poll::poll_log::{POLL_LOG_LINES, PollLogEntry};
use backissue_core::history::FeedKey;

/// Lines of a record at most.
const LINES: u32 = 7;
/// Records of a feed at most.
const RECORDS: u32 = 8;
// Also right after the oldest record was overwritten, as many lines are there as are kept.
const _: () = assert!((RECORDS - 1) * LINES + 1 >= POLL_LOG_LINES);

/// Lines of consecutive polls, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogRecord {
    /// Number of the record, counted from the feed's first poll. The ring has it at this number modulo [`RECORDS`]. `None`: its
    /// lines are older than the first poll that is counted.
    #[serde(rename = "r")]
    number: Option<u32>,
    #[serde(rename = "l")]
    lines: Vec<PollLogEntry>,
}

impl LogRecord {
    /// Reads a record.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, CodecError> {
        match codec::decode::<Self>(bytes) {
            // A record always has a line: these bytes are something else.
            Ok(record) if record.lines.is_empty() => Err(CodecError::Content),
            read => read,
        }
    }

    /// What says which of two records of a feed is the later one. The times alone do not: the clock may have been set back.
    pub(super) fn order(&self) -> (Option<u32>, Option<DateTime<Utc>>) {
        (self.number, self.lines.last().map(|line| line.at))
    }
}

impl Store {
    /// Returns what writes the line of a feed's `count`-th poll. What the feed wrote before must be in the store.
    pub(super) fn poll_log_batch(
        &self,
        feed: FeedKey,
        count: u32,
        line: PollLogEntry,
    ) -> Result<Batch, StoreError> {
        let number = count / LINES;
        let mut batch = Batch::default();
        let place = numbered_key(feed, number % RECORDS);
        // A damaged one is replaced by a new one: its content cannot be restored.
        let there = self.polls.get(place)?.and_then(|bytes| LogRecord::read(&bytes).ok());
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

    /// Repacks the lines of a feed before its `count`-th poll if they are out of order: after the state of a feed was lost, its
    /// polls are counted from the beginning. Returns the lines that the record of this poll begins with.
    fn pack_lines_before(
        &self,
        feed: FeedKey,
        count: u32,
        batch: &mut Batch,
    ) -> Result<Vec<PollLogEntry>, StoreError> {
        let number = count / LINES;
        let (mut lines, mut keys, mut are_in_order) = (Vec::new(), Vec::new(), true);
        for pair in self.polls.scan(feed_bytes(feed)) {
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
        // What a backup brought back may be there twice.
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
        let records = self.polls.scan(feed_bytes(feed)).map(|pair| pair.map(|(_, value)| value));
        let records = records.map(|bytes| Ok(LogRecord::read(&bytes?)?));
        Ok(newest_lines(records.collect::<Result<_, StoreError>>()?))
    }

    /// Returns the last lines of a poll log that can be read, newest first, and how many records of it cannot be.
    pub fn readable_poll_log(
        &self,
        feed: FeedKey,
    ) -> Result<(Vec<PollLogEntry>, usize), StoreError> {
        let (mut records, mut damaged) = (Vec::new(), 0_usize);
        for bytes in self.polls.scan(feed_bytes(feed)).map(|pair| pair.map(|(_, value)| value)) {
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
            assert!(store.polls.len() <= RECORDS as usize);
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
            assert!(store.polls.len() <= RECORDS as usize);
        }
    }
}
