//! Drops records that cannot be read, so that everything else goes on: texts and entries come again with a poll, sums are
//! counted again.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use sled::IVec;

use super::check::StoreProblem;
use super::newest_backup::BackedUp;
use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
use crate::engine::poll::poll_times::PollTimes;
use crate::io::codec::{self, CodecError};
use crate::io::store::chunks::{ROWS, are_texts};
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;
use crate::io::store::poll_logs::LogRecord;
use crate::io::store::record_keys::{feed_bytes, feed_of, number_of};
use crate::io::store::writing::syncs::SyncedFeed;
use backissue_core::feed::identity::identity_hash;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{ArchiveNode, EntryKey, FeedKey, HistoryRecord, IndexRow, KeptEntry};
use backissue_core::other_readers::elsewhere::SeenElsewhere;

/// How a record is read: by its key and its bytes.
type ReadRecord = fn(&[u8], &[u8]) -> Result<(), CodecError>;

/// A kind of record that can be dropped.
#[derive(Clone, Copy)]
struct Droppable {
    table: TableName,
    /// What a record is called.
    what: &'static str,
    read: ReadRecord,
    /// The newest backup says what it was, or nearly so.
    from_backup: bool,
    /// What becomes of a record that is dropped.
    without: &'static str,
}

/// A record that cannot be read.
struct Unreadable {
    kind: Droppable,
    key: IVec,
    why: CodecError,
}

const POLLED: &str = "the feed is polled again";
const TIMES: &str = "earlier poll times are used";
const LOG: &str = "the other records are kept";
const RHYTHM: &str = "its rhythm is learned again";
const HISTORY: &str = "the feed is polled again, its archives are kept";
const AGAIN: &str = "import it again";
const MARKS: &str = "it is rebuilt from the entries";

impl Store {
    /// The records that can be dropped. Marks come last: they are compared with the entries.
    fn droppable() -> [Droppable; 11] {
        let kinds: [(TableName, &'static str, ReadRecord, bool, &'static str); 11] = [
            (TableName::State, "the state", read::<FeedState>, false, POLLED),
            (TableName::Times, "the record of the last polls", read::<PollTimes>, false, TIMES),
            (
                TableName::Meta,
                "a record of entries",
                read_packed::<Vec<Option<KeptEntry>>>,
                true,
                POLLED,
            ),
            (TableName::Bodies, "a record of texts", read_texts, false, POLLED),
            (TableName::Polls, "a record of the poll log", read_log, false, LOG),
            (TableName::Rhythms, "a record of publication times", read_any, true, RHYTHM),
            (
                TableName::Elsewhere,
                "the state in another reader",
                read::<SeenElsewhere>,
                true,
                AGAIN,
            ),
            (TableName::Syncs, "the state of a sync", read::<SyncedFeed>, true, AGAIN),
            (TableName::History, "the history", read::<HistoryRecord>, true, HISTORY),
            (TableName::Nodes, "a record of an archive", read::<ArchiveNode>, true, POLLED),
            (TableName::Index, "a record of marks", read_rows, true, MARKS),
        ];
        kinds.map(|(table, what, read, from_backup, without)| Droppable {
            table,
            what,
            read,
            from_backup,
            without,
        })
    }

    fn find_unreadable(&self) -> Result<Vec<Unreadable>, StoreError> {
        let mut found = Vec::new();
        for kind in Self::droppable() {
            for pair in self.db.table(kind.table).iter() {
                let (key, bytes) = pair?;
                let Err(why) = (kind.read)(&key, &bytes) else { continue };
                found.push(Unreadable { kind, key, why });
            }
        }
        Ok(found)
    }

    /// Drops what cannot be read, or puts it back as the newest backup has it, and puts what belongs together in line again.
    /// Returns what was found, by name.
    pub(in crate::io::store) fn drop_unreadable(
        &mut self,
    ) -> Result<Vec<StoreProblem>, StoreError> {
        let (mut found, mut polled) = (Vec::new(), BTreeSet::new());
        let unreadable = self.find_unreadable()?;
        let wanted = unreadable.iter().filter(|record| record.kind.from_backup);
        let wanted = wanted.map(|record| (record.kind.table, record.key.to_vec()));
        let backup = BackedUp::read(&self.data, &wanted.collect());
        for record in &unreadable {
            let told = self.put_back(record, &backup)?;
            let (kind, feed) = (&record.kind, feed_of(&record.key));
            let is_history = kind.table == TableName::History;
            if told.is_none() {
                self.drop_record(kind.table, &record.key)?;
            }
            if is_history || (kind.table == TableName::Nodes && told.is_none()) {
                polled.extend(feed);
            }
            let of = feed.map_or_else(String::new, |feed| format!(" of feed {feed}"));
            let told = told.unwrap_or_else(|| format!("dropped, {}", kind.without));
            let text = format!("{}{of} is damaged ({}); {told}", kind.what, record.why);
            found.push(StoreProblem { text, repaired: true });
        }
        found.extend(self.revive_feeds()?.iter().map(Revived::told));
        if !found.is_empty() {
            self.rows.clear();
            self.shown.clear();
            let missing = self.mend_feeds(false)?;
            found.extend(missing.words().map(|text| StoreProblem { text, repaired: true }));
        }
        for feed in polled {
            self.ask_whole(feed)?;
        }
        Ok(found)
    }

    /// Puts a record back as a backup has it; says what was put back. `None`: it has none that can be read.
    fn put_back(
        &mut self,
        record: &Unreadable,
        backup: &BackedUp,
    ) -> Result<Option<String>, StoreError> {
        let Unreadable { kind, key, .. } = record;
        let Some((day, bytes)) = backup.get(kind.table, key) else { return Ok(None) };
        if (kind.read)(key, bytes).is_err() {
            return Ok(None);
        }
        if kind.table != TableName::Index {
            self.put(kind.table, key, bytes)?;
            return Ok(Some(format!("restored from the backup of {day}")));
        }
        let rows = self.rows_that_fit(key, codec::decode_rows(bytes)?)?;
        if rows.is_empty() {
            return Ok(None);
        }
        self.put(kind.table, key, codec::encode_rows(&rows))?;
        let marks = counted_words(rows.len(), "entry", "entries");
        Ok(Some(format!("the marks of {marks} were restored from the backup of {day}")))
    }

    /// Those of the rows of a record, from its first one on, that are of the entries that stand at their places.
    fn rows_that_fit(
        &self,
        key: &[u8],
        mut rows: Vec<IndexRow>,
    ) -> Result<Vec<IndexRow>, StoreError> {
        let (Some(feed), Some(chunk)) = (feed_of(key), number_of(key)) else {
            return Ok(Vec::new());
        };
        let keys: Vec<EntryKey> = (chunk.saturating_mul(ROWS)..)
            .zip(&rows)
            .map(|(seq, _)| EntryKey { feed, seq })
            .collect();
        let kept = self.readable_entries(&keys)?;
        let fits = |(key, row): &(&EntryKey, &IndexRow)| {
            kept.get(*key).is_none_or(|kept| identity_hash(&kept.id) == row.identity)
        };
        let fitting = keys.iter().zip(&rows).take_while(fits).count();
        rows.truncate(fitting);
        Ok(rows)
    }

    /// Puts records of subscriptions back that are damaged or missing: as the newest backup has them, else with the
    /// address that was asked last. Without either the feed cannot be restored.
    pub(in crate::io::store) fn revive_feeds(&mut self) -> Result<Vec<Revived>, StoreError> {
        let mut lost: Vec<FeedKey> = Vec::new();
        for key in self.state.keys().chain(self.feeds.keys()) {
            let Some(feed) = feed_of(&key?) else { continue };
            let record = self.feeds.get(feed_bytes(feed))?;
            let is_sound =
                record.is_some_and(|bytes| codec::decode::<SubscriptionRecord>(&bytes).is_ok());
            if !is_sound && !lost.contains(&feed) {
                lost.push(feed);
            }
        }
        let wanted = lost.iter().map(|feed| (TableName::Feeds, feed_bytes(*feed).to_vec()));
        let backup = BackedUp::read(&self.data, &wanted.collect());
        let mut found = Vec::new();
        for feed in lost {
            let asked = self.state_of(feed).unwrap_or_default().validators.url;
            found.push(if let Some((_, bytes)) = backup.get(TableName::Feeds, &feed_bytes(feed)) {
                self.put(TableName::Feeds, feed_bytes(feed), bytes)?;
                Revived::AsBackedUp(feed)
            } else if asked.is_empty() {
                self.remove(&[feed])?;
                Revived::Lost(feed)
            } else {
                let record = SubscriptionRecord { url: asked.clone(), ..Default::default() };
                self.put(TableName::Feeds, feed_bytes(feed), codec::encode(&record)?)?;
                Revived::ByAddress(feed, asked)
            });
        }
        Ok(found)
    }
}

/// What became of a subscription whose record is damaged or missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::io::store) enum Revived {
    AsBackedUp(FeedKey),
    /// Nothing but its address is known.
    ByAddress(FeedKey, String),
    Lost(FeedKey),
}

impl Revived {
    fn told(&self) -> StoreProblem {
        let text = match self {
            Self::AsBackedUp(feed) => {
                format!("the record of feed {feed} is damaged; restored from the newest backup")
            }
            Self::ByAddress(feed, asked) => format!(
                "the record of feed {feed} is damaged; it is fetched again from {asked}, without its tags and settings"
            ),
            Self::Lost(feed) => {
                format!("the record of feed {feed} is damaged and its address is unknown: removed")
            }
        };
        StoreProblem { text, repaired: true }
    }
}

/// What became of such subscriptions in numbers, a fragment for each kind.
pub(super) fn revived_words(revived: &[Revived]) -> Vec<String> {
    let (mut backed_up, mut by_address, mut lost) = (0_u32, 0_u32, 0_u32);
    for one in revived {
        let count = match one {
            Revived::AsBackedUp(_) => &mut backed_up,
            Revived::ByAddress(..) => &mut by_address,
            Revived::Lost(_) => &mut lost,
        };
        *count = count.saturating_add(1);
    }
    let told = [
        (backed_up, "restored from a backup"),
        (by_address, "restored without tags and settings"),
        (lost, "lost"),
    ];
    let told = told.into_iter().filter(|(count, _)| *count > 0);
    told.map(|(count, what)| {
        format!("{} {what}", counted_words(count, "subscription is", "subscriptions are"))
    })
    .collect()
}

fn read<T: DeserializeOwned>(_: &[u8], bytes: &[u8]) -> Result<(), CodecError> {
    codec::decode::<T>(bytes).map(drop)
}

fn read_packed<T: DeserializeOwned>(_: &[u8], bytes: &[u8]) -> Result<(), CodecError> {
    codec::decode_compressed::<T>(bytes).map(drop)
}

fn read_texts(key: &[u8], bytes: &[u8]) -> Result<(), CodecError> {
    are_texts(bytes, key.len() > 8).then_some(()).ok_or(CodecError::Checksum)
}

fn read_log(_: &[u8], bytes: &[u8]) -> Result<(), CodecError> {
    LogRecord::read(bytes).map(drop)
}

fn read_rows(_: &[u8], bytes: &[u8]) -> Result<(), CodecError> {
    codec::decode_rows(bytes).map(drop)
}

fn read_any(_: &[u8], bytes: &[u8]) -> Result<(), CodecError> {
    codec::is_sound(bytes).then_some(()).ok_or(CodecError::Checksum)
}
