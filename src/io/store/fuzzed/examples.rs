//! Real ones: what a small store writes, record by record, its backup, and its pack.

use std::collections::BTreeSet;
use std::fs;

use chrono::{DateTime, Duration, Utc};

use crate::engine::change::MarkChange;
use crate::engine::change::change_id::ChangeId;
use crate::engine::change::step::Step;
use crate::engine::change::undo_stack::{SavedStep, StepChanges};
use crate::engine::downloads::queue::sample;
use crate::engine::entries::full_text::FullText;
use crate::engine::entries::loaded_entry::ReadingPosition;
use crate::engine::feeds::subscription::{Commit, FeedState, HistoryCommit, SubscriptionRecord};
use crate::engine::poll::poll_log::{PollCause, PollLogEntry};
use crate::engine::saved_searches::SavedSearch;
use crate::io::codec;
use crate::io::store::Store;
use crate::io::store::pack::TableName;
use crate::io::store::pack::database::PACK;
use backissue_core::feed::{Entry, FeedDocument};
use backissue_core::filters::EntryFilter;
use backissue_core::history::{ArchiveNode, EntryKey, FeedKey, Flag, HistoryRecord};

const FEED: FeedKey = FeedKey(1);
/// Tables whose records are compressed.
const PACKED: [TableName; 5] =
    [TableName::Meta, TableName::Bodies, TableName::Pages, TableName::FilterHits, TableName::Undo];
/// Examples of records of one table.
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

/// Writes something of each kind.
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

/// What a small store writes.
pub fn examples() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    fill(&mut store);
    store.sync().unwrap();
    let mut examples = Vec::new();
    for table in store.db.tables() {
        for record in table.iter().take(OF_ONE_TABLE) {
            // The schema and the salt are bare numbers.
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
