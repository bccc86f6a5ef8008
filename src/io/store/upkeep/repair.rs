//! Checks the store: reads every record and recalculates every counter. A repair drops records that cannot be read, so that all
//! others can be used. Later polls restore texts and entries, and counters are corrected.

use std::collections::BTreeSet;

use backissue_core::feed::identity::identity_hash;
use backissue_core::feed::text::counted_words;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{
    ArchiveNode, Counters, EntryKey, FeedKey, HistoryRecord, IndexRow, KeptEntry, TEXT_LOST,
};
use backissue_core::other_readers::elsewhere::SeenElsewhere;
use serde::de::DeserializeOwned;
use sled::IVec;

use super::daily_backup::BackedUp;
use crate::engine::change::value::SavedSearch;
use crate::engine::downloads::record::Download;
use crate::engine::entries::entry_view::{FullText, ReadingPosition};
use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
use crate::engine::poll::poll_stage::PollTimes;
use crate::io::codec::{self, CodecError};
use crate::io::store::chunks::{ROWS, are_texts};
use crate::io::store::error::StoreError;
use crate::io::store::filters::FOLDED_KEY;
use crate::io::store::handle::{FILTERS_KEY, Store, feed_bytes, feed_of, number_of};
use crate::io::store::history::LogRecord;
use crate::io::store::pack::{Batch, TableName};
use crate::io::store::reading::same_links::APART_KEY;
use crate::io::store::reading::search::SAVED_KEY;
use crate::io::store::reading::small_records::DOWNLOADS_KEY;
use crate::io::store::syncs::SyncedFeed;

/// A function that reads a record, given its key and its bytes, to find damage.
type ReadRecord = fn(&[u8], &[u8]) -> Result<(), CodecError>;

/// A kind of record that a repair can drop. `key` is the key of the only such record in its table, or `None` if all records of
/// the table are of this kind. `what` names the kind. `from_backup` is set if the newest backup has this record or a similar one.
/// `until` describes the effects while the record is damaged, and `without` those after it was dropped.
#[derive(Clone, Copy)]
struct Droppable {
    table: TableName,
    key: Option<&'static [u8]>,
    what: &'static str,
    read: ReadRecord,
    from_backup: bool,
    until: &'static str,
    without: &'static str,
}

/// A record that cannot be read.
struct Unreadable {
    kind: Droppable,
    key: IVec,
    why: CodecError,
}

const POLLED: &str = "the feed is polled again";
const AGAIN: &str = "import it again";

/// The kinds of records that can be dropped. Rows with marks come last, because they are compared with the entries.
#[rustfmt::skip]
const DROPPABLE: [Droppable; 19] = {
    const fn all(table: TableName, what: &'static str, read: ReadRecord, from_backup: bool, without: &'static str) -> Droppable {
        Droppable { table, key: None, what, read, from_backup, until: "", without }
    }
    const fn fact(key: &'static [u8], what: &'static str, read: ReadRecord, until: &'static str, without: &'static str) -> Droppable {
        Droppable { table: TableName::Facts, key: Some(key), what, read, from_backup: true, until, without }
    }
    [
        fact(FILTERS_KEY, "the record of your filters", read::<Vec<EntryFilter>>, "; no filter is applied", "but the effects of the filters remain"),
        fact(FOLDED_KEY, "the record of folded tags", read::<BTreeSet<String>>, "; no tag is folded", "no tag is folded"),
        fact(APART_KEY, "the record of entries that are not the same story", read::<BTreeSet<u64>>, "; none is known", "they share a row again"),
        fact(SAVED_KEY, "the record of your saved searches", read::<Vec<SavedSearch>>, "; no search is shown", "no search is left"),
        fact(DOWNLOADS_KEY, "the record of your downloads", read::<Vec<Download>>, "; no download is listed", "the files remain"),
        all(TableName::FilterHits, "a list of entries that a filter matched", read_packed::<BTreeSet<u32>>, false, "its effects remain; edit the filter to apply it again"),
        all(TableName::Pages, "a stored page", read_packed::<FullText>, false, "the reader fetches it again"),
        all(TableName::Places, "the record of your reading positions", read::<Vec<(u32, ReadingPosition)>>, false, "entries open at their start"),
        all(TableName::State, "the state", read::<FeedState>, false, POLLED),
        all(TableName::Times, "the record of the last polls", read::<PollTimes>, false, "earlier poll times are used"),
        all(TableName::Meta, "a record of entries", read_packed::<Vec<Option<KeptEntry>>>, true, POLLED),
        all(TableName::Bodies, "a record of texts", read_texts, false, POLLED),
        all(TableName::Polls, "a record of the poll log", read_log, false, "the other records are kept"),
        all(TableName::Rhythms, "a record of publication times", read_any, true, "its rhythm is learned again"),
        all(TableName::Elsewhere, "the state in another reader", read::<SeenElsewhere>, true, AGAIN),
        all(TableName::Syncs, "the state of a sync", read::<SyncedFeed>, true, "the next sync rebuilds it"),
        all(TableName::History, "the history", read::<HistoryRecord>, true, "the feed is polled again, its archives are kept"),
        all(TableName::Nodes, "a record of an archive", read::<ArchiveNode>, true, POLLED),
        all(TableName::Index, "a record of marks", read_rows, true, "it is rebuilt from the entries"),
    ]
};

impl Store {
    fn find_unreadable(&self) -> Result<Vec<Unreadable>, StoreError> {
        let mut found = Vec::new();
        for kind in DROPPABLE {
            for pair in self.tables.of(kind.table).iter() {
                let (key, bytes) = pair?;
                if kind.key.is_some_and(|only| *key != *only) {
                    continue;
                }
                let Err(why) = (kind.read)(&key, &bytes) else { continue };
                found.push(Unreadable { kind, key, why });
            }
        }
        Ok(found)
    }

    /// Finds records that cannot be read, and the feeds that they belong to. With `repair`, each is restored from the newest backup
    /// or dropped, all remaining records are made consistent, and no feeds are returned.
    pub(in crate::io::store) fn find_damage(
        &mut self,
        repair: bool,
    ) -> Result<(Vec<StoreProblem>, BTreeSet<FeedKey>), StoreError> {
        let unreadable = self.find_unreadable()?;
        let lost = self.lost_feeds()?;
        let of_feeds = unreadable.iter().filter(|record| record.kind.key.is_none());
        let feeds =
            of_feeds.filter_map(|record| feed_of(&record.key)).chain(lost.clone()).collect();
        let tell = |record: &Unreadable, then: &str| {
            let Unreadable { kind, key, why } = record;
            let feed = feed_of(key).filter(|_| kind.key.is_none());
            let of = feed.map_or_else(String::new, |feed| format!(" of feed {feed}"));
            let text = format!("{}{of} is damaged ({why}){then}", kind.what);
            StoreProblem { text, repaired: repair }
        };
        if !repair {
            let told = unreadable.iter().map(|record| tell(record, record.kind.until));
            let lost = lost.iter().map(|feed| StoreProblem {
                text: format!("the record of feed {feed} is damaged: the feed is not shown"),
                repaired: false,
            });
            return Ok((told.chain(lost).collect(), feeds));
        }
        let (mut found, mut polled) = (Vec::new(), BTreeSet::new());
        let wanted = unreadable.iter().filter(|record| record.kind.from_backup);
        let wanted = wanted.map(|record| (record.kind.table, record.key.to_vec()));
        let backup = BackedUp::read(&self.data, &wanted.collect());
        for record in &unreadable {
            let told = self.put_back(record, &backup)?;
            let table = record.kind.table;
            if told.is_none() {
                self.drop_record(table, &record.key)?;
            }
            if table == TableName::History || (table == TableName::Nodes && told.is_none()) {
                polled.extend(feed_of(&record.key));
            }
            let told = told.unwrap_or_else(|| format!("dropped, {}", record.kind.without));
            found.push(tell(record, &format!("; {told}")));
        }
        found.extend(self.revive_feeds()?.iter().map(Revived::told));
        if !found.is_empty() {
            self.rows.clear();
            self.inside = None;
            self.shown.clear();
            self.load_filters()?;
            let missing = self.mend_feeds(false)?;
            found.extend(missing.words().map(|text| StoreProblem { text, repaired: true }));
        }
        for feed in polled {
            self.ask_whole(feed)?;
        }
        Ok((found, BTreeSet::new()))
    }

    /// Restores a record from a backup, and returns what was restored. Returns `None` if the backup has no readable record.
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

    /// Returns the rows of a record up to the first row that belongs to another entry than the stored one.
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

    /// Returns the feeds whose subscription record is damaged or missing.
    fn lost_feeds(&self) -> Result<Vec<FeedKey>, StoreError> {
        let mut lost: Vec<FeedKey> = Vec::new();
        for key in self.tables.state.keys().chain(self.tables.feeds.keys()) {
            let Some(feed) = feed_of(&key?) else { continue };
            let record = self.tables.feeds.get(feed_bytes(feed))?;
            let is_sound =
                record.is_some_and(|bytes| codec::decode::<SubscriptionRecord>(&bytes).is_ok());
            if !is_sound && !lost.contains(&feed) {
                lost.push(feed);
            }
        }
        Ok(lost)
    }

    /// Restores subscription records that are damaged or missing, from the newest backup, or else with the address of the last
    /// request. If neither is available, the feed is removed.
    pub(in crate::io::store) fn revive_feeds(&mut self) -> Result<Vec<Revived>, StoreError> {
        let lost = self.lost_feeds()?;
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

/// The result of an attempt to restore a subscription whose record is damaged or missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::io::store) enum Revived {
    AsBackedUp(FeedKey),
    /// Only its address is known.
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

/// Describes what happened to subscriptions with damaged records, with their numbers, one fragment for each result.
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

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    pub feeds: usize,
    pub entries: usize,
    pub disk_bytes: u64,
    pub findings: Vec<StoreProblem>,
    /// Whether the pack is damaged. To repair it, compact the store after the check.
    pub is_pack_damaged: bool,
}

/// Something that is wrong with the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreProblem {
    /// What is wrong, as a sentence.
    pub text: String,
    pub repaired: bool,
}

impl Store {
    /// Reads every record. `repair` restores or drops damaged records, and corrects the counters.
    pub fn check(&mut self, repair: bool) -> Result<Health, StoreError> {
        self.guarded(|store| store.check_records(repair))
    }

    fn check_records(&mut self, repair: bool) -> Result<Health, StoreError> {
        let mut health = Health { disk_bytes: self.db.disk_bytes(), ..Health::default() };
        let scanned = self.db.scan()?;
        if !scanned.is_sound() {
            health.is_pack_damaged = true;
            let parts = counted_words(
                scanned.gaps.len().saturating_add(scanned.unsound),
                "part of the store's file is",
                "parts of the store's file are",
            );
            let then = if repair { "; it was written again from what is sound" } else { "" };
            health
                .findings
                .push(StoreProblem { text: format!("{parts} damaged{then}"), repaired: repair });
        }
        let (unreadable, damaged) = self.find_damage(repair)?;
        health.findings.extend(unreadable);
        let keys: Vec<_> = self.tables.feeds.keys().collect::<Result<_, _>>()?;
        for feed in keys.iter().filter_map(|key| feed_of(key)) {
            // Records of an unsubscribed feed are checked too, but the feed is not counted, because no list shows it.
            health.feeds = health.feeds.saturating_add(usize::from(!self.ended.contains(&feed)));
            let found = self.check_feed(feed, repair, &mut health);
            if let Err(error @ StoreError::Corrupted(_)) = found {
                return Err(error);
            }
            // If the feed has a damaged record, the damage was already reported.
            if let Err(error) = found
                && !damaged.contains(&feed)
            {
                health.findings.push(StoreProblem { text: error.to_string(), repaired: false });
            }
        }
        health.findings.extend(self.check_steps(repair)?);
        if repair {
            self.sync()?;
        }
        Ok(health)
    }

    fn check_feed(
        &mut self,
        feed: FeedKey,
        repair: bool,
        health: &mut Health,
    ) -> Result<(), StoreError> {
        self.check_entries(feed, repair, health)?;
        let rows = self.read_rows(feed)?;
        if !self.ended.contains(&feed) {
            health.entries = health.entries.saturating_add(rows.len());
        }
        let mut recount = Counters {
            next_seq: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            ..Counters::default()
        };
        for row in &rows {
            recount.shift(None, Some(row.flags));
        }
        let stored = self.counters_of(feed);
        recount.counted = stored.as_ref().map_or(recount.counted, |stored| stored.counted);
        if !matches!(&stored, Ok(stored) if *stored == recount) {
            let mut text = format!("feed {feed}: its counts do not match its entries");
            if repair {
                let mut batch = Batch::default();
                batch.insert(feed_bytes(feed), codec::encode(&recount)?);
                self.db.commit(&[(TableName::Counters, &batch)])?;
                text.push_str("; corrected");
            }
            health.findings.push(StoreProblem { text, repaired: repair });
        }
        self.publications(feed)?;
        self.check_history(feed, repair, health)
    }

    /// Finds entries that have a row but no record, for example because the end of the pack is missing.
    fn check_entries(
        &mut self,
        feed: FeedKey,
        repair: bool,
        health: &mut Health,
    ) -> Result<(), StoreError> {
        let rows = self.read_rows(feed)?;
        let keys: Vec<EntryKey> =
            (0_u32..).zip(&rows).map(|(seq, _)| EntryKey { feed, seq }).collect();
        let kept = self.read_entries(&keys)?;
        // Keep rows of lost entries that were reported earlier, so that the numbers of entries do not change.
        let was_told = |row: &IndexRow| row.flags.is_withdrawn() && row.content == TEXT_LOST;
        let lost = keys.iter().zip(&rows);
        let lost = lost.filter(|(key, row)| !kept.contains_key(key) && !was_told(row)).count();
        if lost > 0 {
            let mut text = format!("feed {feed}: {lost} entries have a row but no record");
            if repair {
                self.mend_feed(feed, false)?;
                text.push_str("; they are no longer listed, and the feed is polled again");
            }
            health.findings.push(StoreProblem { text, repaired: repair });
        }
        Ok(())
    }

    /// Checks whether the archives of a feed are consistent. If they are not, `repair` has them fetched again.
    fn check_history(
        &mut self,
        feed: FeedKey,
        repair: bool,
        health: &mut Health,
    ) -> Result<(), StoreError> {
        let mut tell = |text, repaired| health.findings.push(StoreProblem { text, repaired });
        let (nodes, _) = self.readable_nodes(feed)?;
        if repair && !nodes.is_empty() && !self.tables.history.contains_key(feed_bytes(feed))? {
            self.keep_history_of_archives(feed, &nodes)?;
        }
        let record = self.history_of(feed)?;
        let Err(why) = nodes.check_invariant(&record) else { return Ok(()) };
        let then = if repair {
            // Also request the document unconditionally: if the history record was lost, only the document says where the archives
            // begin.
            self.ask_whole(feed)?;
            self.reread_archives(feed)?;
            "they are fetched again automatically".into()
        } else {
            format!("'backissue history {feed} --reread' fetches them again")
        };
        tell(format!("feed {feed}: its archives are inconsistent: {why}; {then}"), repair);
        Ok(())
    }
}
