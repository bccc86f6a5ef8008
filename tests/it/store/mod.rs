//! Tests of the store; each uses a temporary folder.

pub(crate) mod damage;
pub(crate) mod damages;
mod full_disk;
mod gone_folder;
mod keeping;
mod marking;
mod no_room;
mod numbers;
mod power_cuts;
mod queries;
mod record_places;
mod recovering;
mod rhythms;
mod searching;
mod shedding;
pub(crate) mod small_disk;
mod sums;
mod unchanged;

use backissue::engine::entries::rows::{ListQuery, RowKey, Scope, Show};
use backissue::engine::feeds::subscription::{Commit, FeedState, SubscriptionRecord};
use backissue::engine::poll::poll_log::{PollCause, PollLogEntry};
use backissue::io::store::{Store, StoreError};
use backissue_core::feed::{Entry, FeedDocument, Kind};
use backissue_core::history::{EntryKey, FeedKey, Merged};
use chrono::{DateTime, Utc};

const FEED: FeedKey = FeedKey(1);

/// Opens the store in a folder, waiting if it was closed only a moment ago.
fn open(folder: &tempfile::TempDir) -> Store {
    patient(folder).unwrap()
}

/// Tries to open the store in a folder. sled releases its files a moment after closing, so a failed attempt is repeated.
fn patient(folder: &tempfile::TempDir) -> Result<Store, StoreError> {
    for _ in 0..500 {
        match Store::open(folder.path()) {
            Err(StoreError::InUse { process: None, .. }) => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            other => return other,
        }
    }
    panic!("the store stays locked");
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_770_000_000 + seconds, 0).unwrap()
}

fn key(seq: u32) -> EntryKey {
    EntryKey { feed: FEED, seq }
}

fn entry(id: u32, text: &str) -> Entry {
    Entry {
        id: format!("id-{id}"),
        title: Some(format!("Entry {id}")),
        link: Some(format!("https://site.example/{id}")),
        published: Some(at(-i64::from(id))),
        content: Some(text.into()),
        ..Entry::default()
    }
}

fn document(entries: Vec<Entry>) -> FeedDocument {
    FeedDocument { kind: Kind::Rss, entries, ..FeedDocument::default() }
}

fn record(feed: FeedKey) -> SubscriptionRecord {
    SubscriptionRecord {
        url: format!("https://site.example/{feed}.xml"),
        title: Some(format!("Feed {feed}")),
        tags: vec!["news/coast".into(), "a b".into()],
        added: at(0),
        ..SubscriptionRecord::default()
    }
}

/// Returns the commit of a successful poll of `feed` at this second after the start, with these entries.
fn polled(feed: FeedKey, second: i64, entries: Vec<Entry>) -> Commit {
    let polls = u32::try_from(second).unwrap();
    Commit {
        feed,
        state: Box::new(FeedState { polls, status: Some(200), ..FeedState::default() }),
        record: Some(record(feed)),
        document: Some(Box::new(document(entries))),
        fetched_at: at(second),
        history: None,
        complete: false,
        log: Some(PollLogEntry {
            settled_by: None,
            queued_seconds: 0,
            at: at(second),
            status: Some(200),
            wire_bytes: 10,
            new: 0,
            edited: 0,
            withdrawn: 0,
            cause: PollCause::Due,
            trouble: None,
        }),
    }
}

fn commit(store: &mut Store, second: i64, entries: Vec<Entry>) -> Merged {
    store.commit(&polled(FEED, second, entries)).unwrap()
}

/// Ends a subscription; the data of the feed is deleted the next time the store is opened.
fn end(store: &mut Store, feed: FeedKey) {
    let ended = SubscriptionRecord { ended: Some(at(0)), ..record(feed) };
    store.save_records(&[(feed, ended)]).unwrap();
}

fn listed(store: &mut Store, show: Show) -> Vec<EntryKey> {
    let query = ListQuery {
        scope: Scope::Everything,
        show,
        since: None,
        keep: Default::default(),
        gaps: Vec::new(),
        order: Default::default(),
        join: None,
        apart: Default::default(),
        rare: None,
    };
    store.ordered(&query).unwrap().into_iter().filter_map(RowKey::entry).collect()
}
