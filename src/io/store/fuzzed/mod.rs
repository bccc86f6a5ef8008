//! Fuzzing of what the store reads, with bytes that were changed at random: records of every kind with a matching checksum,
//! backups, and packs. Only for `cargo test` and for cargo-fuzz (`tests/fuzz/`).
//!
//! The bytes start from real examples: each kind of record of a small store, its backup, and its pack.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::allow_attributes,
    reason = "it is no part of the program: a test may panic"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use backissue_core::feed::{Entry, FeedDocument};
use backissue_core::filters::EntryFilter;
use backissue_core::history::{
    ArchiveNode, Counters, EntryBody, EntryKey, FeedKey, Flag, HistoryRecord, KeptEntry,
};
use backissue_core::schedule::learning::{LearnedRecord, Publications};
use chrono::{DateTime, Duration, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::chunks::BodyChunk;
use super::device_records::DeviceRecord;
use super::given_numbers::NumberRecord;
use super::history::LogRecord;
use super::pack::database::{PACK, SoundRecords};
use super::pack::{Database, Table};
use super::sleepy_threads::SessionLength;
use super::upkeep::backup::read_backup;
use crate::engine::change::MarkChange;
use crate::engine::change::undo_stack::{SavedStep, Step, StepChanges};
use crate::engine::change::value::{ChangeId, SavedSearch};
use crate::engine::downloads::progress::sample;
use crate::engine::downloads::record::Download;
use crate::engine::entries::entry_view::{FullText, ReadingPosition};
use crate::engine::feeds::subscription::{Commit, FeedState, HistoryCommit, SubscriptionRecord};
use crate::engine::poll::poll_log::{PollCause, PollLogEntry};
use crate::engine::poll::poll_stage::PollTimes;
use crate::io::codec::{self, CodecError};
use crate::io::store::Store;
use crate::io::store::pack::TableName;

/// Byte sequences that have a meaning in a record, in a backup or in a pack.
pub const PIECES: &[&[u8]] = &[
    b"\xdd\xff\xff\xff\xff",
    b"\xdb\x7f\xff\xff\xff",
    b"\xdf\x00\x01\x00\x00",
    b"\xc6\xff\xff\xff\xff",
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00",
    b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
    b"\xca\x7f\x80\x00\x00",
    b"\xc0",
    b"\xc1",
    b"\x90",
    b"\x91",
    b"\x81",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xff\0\0\0",
    b"\xf0\xff\xff\xff",
    b"9999-12-31T23:59:59Z",
    b"\xad-262143-01-01",
    b"\0\0\0\0",
];

/// Reads bytes as everything that the store reads. Panics if something that was read cannot be written and read again, or if more
/// data was read than the bytes can contain.
pub fn check(bytes: &[u8]) {
    let rows = codec::seal_as(codec::ROWS_FORM, bytes);
    for sealed in [codec::seal(bytes), codec::seal(&codec::pack(bytes).unwrap()), rows] {
        check_records(&sealed);
    }
    check_backup(bytes);
    check_pack(bytes);
}

fn check_records(sealed: &[u8]) {
    plain::<SubscriptionRecord>(sealed);
    plain::<FeedState>(sealed);
    plain::<PollTimes>(sealed);
    plain::<Counters>(sealed);
    written_again(LogRecord::read(sealed), codec::encode, LogRecord::read);
    plain::<Publications>(sealed);
    plain::<LearnedRecord>(sealed);
    plain::<HistoryRecord>(sealed);
    plain::<ArchiveNode>(sealed);
    plain::<Vec<(u32, ReadingPosition)>>(sealed);
    plain::<Vec<SavedSearch>>(sealed);
    plain::<Vec<Download>>(sealed);
    plain::<Vec<EntryFilter>>(sealed);
    plain::<BTreeSet<String>>(sealed);
    packed::<Vec<Option<KeptEntry>>>(sealed);
    packed::<BodyChunk>(sealed);
    packed::<EntryBody>(sealed);
    packed::<FullText>(sealed);
    packed::<BTreeSet<u32>>(sealed);
    packed::<SavedStep>(sealed);
    packed::<NumberRecord>(sealed);
    plain::<BTreeMap<String, DeviceRecord>>(sealed);
    written_again(
        codec::decode_rows(sealed),
        |rows| Ok(codec::encode_rows(rows)),
        codec::decode_rows,
    );
}

fn plain<T: Serialize + DeserializeOwned>(sealed: &[u8]) {
    written_again(codec::decode(sealed), codec::encode::<T>, codec::decode);
}

fn packed<T: Serialize + DeserializeOwned>(sealed: &[u8]) {
    written_again(
        codec::decode_compressed(sealed),
        codec::encode_compressed::<T>,
        codec::decode_compressed,
    );
}

/// Writes a record that was read, reads it again, and checks that writing it once more gives the same bytes.
fn written_again<T>(
    read: Result<T, CodecError>,
    write: fn(&T) -> Result<Vec<u8>, CodecError>,
    read_again: fn(&[u8]) -> Result<T, CodecError>,
) {
    let Ok(record) = read else { return };
    let what = std::any::type_name::<T>();
    let written = write(&record).unwrap_or_else(|_| panic!("{what} cannot be written"));
    let again = read_again(&written).unwrap_or_else(|_| panic!("{what} cannot be read again"));
    assert!(write(&again).as_ref() == Ok(&written), "{what} is another one");
}

/// Reads bytes as a backup.
fn check_backup(bytes: &[u8]) {
    let (mut told, mut records) = (0, 0);
    let read = read_backup(bytes, &mut |(_, key, value)| {
        told += key.len() + value.len();
        records += 1;
        Ok(())
    });
    assert!(told <= bytes.len(), "{told} bytes of {}", bytes.len());
    if let Ok(backup) = read {
        assert!(backup.records >= records);
    }
}

/// Reads bytes as a pack that may be damaged.
fn check_pack(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(PACK), bytes).unwrap();
    let sound = SoundRecords::read(folder.path()).unwrap();
    let mut told = 0;
    sound
        .for_each(&mut |(_, key, value)| {
            told += key.len() + value.len();
            Ok(())
        })
        .unwrap();
    assert!(told <= bytes.len(), "{told} bytes of {}", bytes.len());
    // If the pack opens as undamaged, the database has the same records.
    if let Ok(database) = Database::open(folder.path(), SessionLength::Short) {
        let records = database.tables.all().flat_map(Table::iter);
        let held = records.map(Result::unwrap).map(|(key, value)| key.len() + value.len());
        assert_eq!(held.sum::<usize>(), told);
    }
}

const FEED: FeedKey = FeedKey(1);
/// Tables whose records are compressed.
const PACKED: [TableName; 5] =
    [TableName::Meta, TableName::Bodies, TableName::Pages, TableName::FilterHits, TableName::Undo];
/// Number of example records from each table.
const OF_ONE_TABLE: usize = 6;

fn at(hours: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + Duration::days(20_000) + Duration::hours(hours)
}

fn entry(number: i64) -> Entry {
    Entry {
        id: format!("id-{number}"),
        title: Some(format!("Wax & frost {number}")),
        link: Some(format!("https://a.example/{number}?x=1")),
        author: Some("Ada".to_owned()),
        published: Some(at(-number)),
        updated: Some(at(1 - number)),
        content: Some(format!("<p>The {number}. text of the orchard</p>").repeat(9)),
        summary: (number % 3 == 0).then(|| "In short".to_owned()),
        categories: vec!["pruning".to_owned()],
        ..Entry::default()
    }
}

fn poll(number: i64) -> Commit {
    let entries = (number * 7..number * 7 + 9).map(entry).collect();
    let state = FeedState {
        failing_since: (number % 2 == 0).then(|| at(number)),
        status: Some(200),
        trouble: Some("the server does not answer".to_owned()),
        polls: 7,
        ..FeedState::default()
    };
    Commit {
        feed: FEED,
        state: Box::new(state),
        record: Some(SubscriptionRecord {
            url: "https://a.example/feed".to_owned(),
            title: Some("The orchard".to_owned()),
            tags: vec!["news/coast".to_owned(), "a b".to_owned()],
            added: at(0),
            ..SubscriptionRecord::default()
        }),
        document: Some(Box::new(FeedDocument { entries, ..FeedDocument::default() })),
        fetched_at: at(number * 7),
        history: None,
        complete: false,
        log: Some(PollLogEntry {
            settled_by: None,
            queued_seconds: 3,
            at: at(number * 7),
            status: Some(200),
            wire_bytes: 4711,
            new: 9,
            edited: 1,
            withdrawn: 0,
            cause: PollCause::Due,
            trouble: (number % 2 == 1).then(|| "it broke off".to_owned()),
        }),
    }
}

/// Writes a record of each kind.
fn fill(store: &mut Store) {
    let filter = EntryFilter { id: 3, query: "frost".to_owned(), ..EntryFilter::default() };
    store.save_filters(&[filter]).unwrap();
    for number in 0..6 {
        store.commit(&poll(number)).unwrap();
    }
    let keys: Vec<EntryKey> = (0..20).map(|seq| EntryKey { feed: FEED, seq }).collect();
    store.mark(&keys, Flag::Read, true).unwrap();
    let first = EntryKey { feed: FEED, seq: 0 };
    store.save_place(first, Some(ReadingPosition { offset: 7, of: 900 })).unwrap();
    store.save_try(FEED, at(99)).unwrap();
    let full = FullText {
        url: "https://a.example/0".to_owned(),
        html: "<p>All.</p>".repeat(9),
        ..FullText::default()
    };
    store.save_full_text(first, &full).unwrap();
    let search =
        SavedSearch { id: 1, name: "frost".to_owned(), text: "frost is:unread".to_owned() };
    store.save_searches(&[search]).unwrap();
    store.save_downloads(&[sample(1, "https://a.example/1.mp3")]).unwrap();
    store.save_folded(&BTreeSet::from(["news/coast".to_owned()])).unwrap();
    let history = HistoryCommit {
        feed: FEED,
        record: std::sync::Arc::new(HistoryRecord {
            archived: true,
            own: vec!["https://a.example/feed".to_owned()],
            bottom: Some(at(-9)),
            ..HistoryRecord::default()
        }),
        nodes: vec![(
            "https://a.example/old".to_owned(),
            Some(ArchiveNode {
                url: "https://a.example/old".to_owned(),
                span: Some((at(0), at(-90))),
                ..ArchiveNode::default()
            }),
        )],
        document: None,
    };
    store.keep_history(&history).unwrap();
    let steps = [
        Step::Marked(MarkChange { flag: Flag::Read, value: true, keys: keys.clone() }),
        Step::Unsubscribed(FEED),
        Step::Withdrawn { feed: FEED, withdrawn: vec![1, 2, 9] },
        Step::Filters {
            before: Vec::new(),
            changes: Box::new(crate::engine::entries::filter_work::FilterChanges {
                filter: 3,
                before: keys.clone(),
                after: keys,
                flags: vec![(first, Flag::Hidden, true), (first, Flag::Starred, false)],
                of_some: false,
            }),
            forward: false,
        },
    ];
    let kept = (1..).zip(steps).map(|(id, step)| SavedStep {
        id: ChangeId(id),
        at: at(3),
        step,
        undone: false,
    });
    store.save_steps(&StepChanges { kept: kept.collect(), gone: Vec::new() }).unwrap();
}

/// Returns the records of a small store, its backup and its pack as examples.
pub fn examples() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    fill(&mut store);
    store.sync().unwrap();
    let mut examples = Vec::new();
    for table in store.tables.all() {
        for record in table.iter().take(OF_ONE_TABLE) {
            // Skip the schema and the salt, which are plain numbers without a checksum.
            let (_, value) = record.unwrap();
            let Ok(payload) = codec::unseal(&value) else { continue };
            examples.push(if PACKED.contains(&table.name()) {
                codec::unpack(payload).unwrap()
            } else {
                payload.to_vec()
            });
        }
    }
    let mut backup = Vec::new();
    store.back_up(&mut backup, Some("[poll]\n")).unwrap();
    drop(store);
    examples.extend([backup, fs::read(folder.path().join(PACK)).unwrap()]);
    examples
}

#[cfg(test)]
mod tests;
