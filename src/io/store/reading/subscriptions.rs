//! The subscriptions, with everything that the program needs when it starts. Each table is read as a whole, because looking up each
//! feed in each table takes several times as long.

use std::sync::Arc;

use std::collections::BTreeMap;
use std::thread;

use crate::io::store::pack::{Pair, Table};
use crossbeam_channel::Sender;
use serde::de::DeserializeOwned;

use crate::engine::feeds::subscription::{FeedState, SavedSubscription, SubscriptionRecord};
use crate::engine::poll::poll_stage::PollTimes;
use crate::io::codec::{self, CodecError};
use crate::io::store::catch_sled_panic;
use crate::io::store::error::StoreError;
use crate::io::store::handle::{Store, feed_bytes, feed_of};
use backissue_core::history::{Counters, FeedKey, HistoryRecord};

/// Number of records in a batch that one of two threads decodes, and of batches that may wait.
const BATCH: usize = 64;
const BATCHES: usize = 8;

/// The records of a table that has one record for each feed.
type FeedRecords<T> = BTreeMap<FeedKey, Result<T, CodecError>>;

/// Which subscriptions to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedsWanted {
    /// All of them.
    All,
    /// The one with this number, if there is one.
    One(FeedKey),
}

/// Subscriptions as they were read.
#[derive(Debug, Default)]
pub struct LoadedSubscriptions {
    /// The selected subscriptions, in order of their numbers.
    pub saved: Vec<SavedSubscription>,
    /// A sentence for each subscription that cannot be read completely, including those that were not selected.
    pub unreadable: Vec<String>,
}

impl Store {
    /// Returns all subscriptions, in order of their numbers.
    pub fn subscriptions(&self) -> Result<Vec<SavedSubscription>, StoreError> {
        Ok(self.load_subscriptions(FeedsWanted::All)?.saved)
    }

    /// Returns these subscriptions, and a sentence for each one that cannot be read completely.
    pub fn load_subscriptions(
        &self,
        wanted: FeedsWanted,
    ) -> Result<LoadedSubscriptions, StoreError> {
        self.load_where(wanted, |record| record.ended.is_none())
    }

    /// Returns the removed subscriptions that can be restored, in order of their numbers.
    pub fn ended_subscriptions(&self) -> Result<Vec<SavedSubscription>, StoreError> {
        let mut ended = Vec::new();
        for &feed in &self.ended {
            let one = self.load_where(FeedsWanted::One(feed), |record| record.ended.is_some())?;
            ended.extend(one.saved);
        }
        Ok(ended)
    }

    /// Returns the subscriptions with their counters, in order of their numbers, without their state and history.
    pub fn sums(&self) -> Result<Vec<(FeedKey, SubscriptionRecord, Counters)>, StoreError> {
        let mut counters = records::<Counters>(&self.tables.counters, FeedsWanted::All)?;
        let active = self.records()?.into_iter();
        Ok(active.map(|(feed, record)| (feed, record, take(&mut counters, feed))).collect())
    }

    /// Returns the records of the subscriptions, in order of their numbers.
    pub fn records(&self) -> Result<Vec<(FeedKey, SubscriptionRecord)>, StoreError> {
        let active =
            records::<SubscriptionRecord>(&self.tables.feeds, FeedsWanted::All)?.into_iter();
        let active = active.filter_map(|(feed, record)| {
            Some((feed, record.ok().filter(|record| record.ended.is_none())?))
        });
        Ok(active.collect())
    }

    /// Counts the subscriptions whose records cannot be read, which are not shown anywhere.
    pub fn count_lost(&self) -> Result<usize, StoreError> {
        let records = records::<SubscriptionRecord>(&self.tables.feeds, FeedsWanted::All)?;
        Ok(records.values().filter(|record| record.is_err()).count())
    }

    fn load_where(
        &self,
        of: FeedsWanted,
        wanted: impl Fn(&SubscriptionRecord) -> bool,
    ) -> Result<LoadedSubscriptions, StoreError> {
        thread::scope(|scope| {
            // The histories are the largest records. A second thread reads them, and this one helps when it has the rest.
            let (sender, unread) = crossbeam_channel::bounded(BATCHES);
            let read =
                move || catch_sled_panic(|| shared_records(&self.tables.history, of, &sender));
            let other = scope.spawn(read);
            let feeds = records::<SubscriptionRecord>(&self.tables.feeds, of)?;
            let mut states = records::<Box<FeedState>>(&self.tables.state, of)?;
            let mut times = records::<PollTimes>(&self.tables.times, of)?;
            let mut counters = records(&self.tables.counters, of)?;
            let died = |_| Err(StoreError::Corrupted("they cannot be read".into()));
            let mut histories: FeedRecords<HistoryRecord> = BTreeMap::new();
            unread.iter().for_each(|pairs| decode_into(&mut histories, pairs));
            histories.extend(other.join().unwrap_or_else(died)?);
            let mut loaded = LoadedSubscriptions::default();
            for (feed, record) in feeds {
                let (state, times) = (states.remove(&feed), times.remove(&feed));
                loaded.note_damages(feed, &record, state.as_ref(), times.as_ref());
                let Some(record) = record.ok().filter(&wanted) else { continue };
                let mut state = state.and_then(Result::ok).unwrap_or_default();
                if let Some(Ok(times)) = times {
                    times.set_in(&mut state);
                }
                let history: HistoryRecord = take(&mut histories, feed);
                let counters: Counters = take(&mut counters, feed);
                loaded.saved.push(SavedSubscription {
                    key: feed,
                    record,
                    state,
                    history: Arc::new(history),
                    counters,
                });
            }
            Ok(loaded)
        })
    }
}

impl LoadedSubscriptions {
    fn note_damages(
        &mut self,
        feed: FeedKey,
        record: &Result<SubscriptionRecord, CodecError>,
        state: Option<&Result<Box<FeedState>, CodecError>>,
        times: Option<&Result<PollTimes, CodecError>>,
    ) {
        if let Err(why) = record {
            self.unreadable.push(format!(
                "the record of feed {feed} is damaged ({why}): the feed is not shown"
            ));
        }
        let state = state.and_then(|state| state.as_ref().err());
        if let Some(why) = state.or(times.and_then(|times| times.as_ref().err())) {
            self.unreadable.push(format!(
                "the state of feed {feed} is damaged ({why}): the feed is fetched again"
            ));
        }
    }
}

fn records<T: DeserializeOwned>(
    tree: &Table,
    of: FeedsWanted,
) -> Result<FeedRecords<T>, StoreError> {
    let mut records = BTreeMap::new();
    for pair in tree.scan(prefix(of)) {
        decode_into(&mut records, [pair?]);
    }
    Ok(records)
}

/// Returns the prefix of the keys of the wanted records.
fn prefix(of: FeedsWanted) -> Vec<u8> {
    match of {
        FeedsWanted::All => Vec::new(),
        FeedsWanted::One(feed) => feed_bytes(feed).to_vec(),
    }
}

/// Reads the records of a table. Sends batches of them to another thread, and decodes those that it has no time for.
fn shared_records<T: DeserializeOwned>(
    tree: &Table,
    of: FeedsWanted,
    sender: &Sender<Vec<Pair>>,
) -> Result<FeedRecords<T>, StoreError> {
    let (mut records, mut unread) = (BTreeMap::new(), tree.scan(prefix(of)));
    loop {
        let pairs = unread.by_ref().take(BATCH).collect::<Result<Vec<_>, StoreError>>()?;
        if pairs.is_empty() {
            return Ok(records);
        }
        if let Err(unsent) = sender.try_send(pairs) {
            decode_into(&mut records, unsent.into_inner());
        }
    }
}

fn decode_into<T: DeserializeOwned>(
    records: &mut FeedRecords<T>,
    pairs: impl IntoIterator<Item = Pair>,
) {
    for (key, bytes) in pairs {
        if let Some(feed) = feed_of(&key) {
            records.insert(feed, codec::decode(&bytes));
        }
    }
}

/// Removes and returns the record of a feed. Returns the default value if there is none or it is damaged.
fn take<T: Default>(records: &mut FeedRecords<T>, feed: FeedKey) -> T {
    records.remove(&feed).and_then(Result::ok).unwrap_or_default()
}
