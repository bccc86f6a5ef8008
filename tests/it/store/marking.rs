//! Marks of entries: changing, counting and undoing them.

use backissue::engine::entries::rows::Show;
use backissue::io::store::Store;
use backissue_core::history::{FeedKey, Flag};

use super::{at, commit, entry, key, listed, open, polled};

fn filled() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, (1..=100).map(|id| entry(id, "text")).collect());
    (folder, store)
}

/// The numbers of unread entries of all feeds.
fn unread(store: &Store) -> Vec<u32> {
    store.subscriptions().unwrap().iter().map(|feed| feed.counters.unread).collect()
}

#[test]
fn mark_reports_its_changes_and_the_new_counts() {
    let (_folder, mut store) = filled();
    let first = store.mark(&[key(3), key(70)], Flag::Read, true).unwrap();
    assert_eq!(first, [key(3), key(70)]);
    assert_eq!(unread(&store), [98]);
    let again = store.mark(&[key(3), key(4)], Flag::Read, true).unwrap();
    assert_eq!(again, [key(4)], "only what was not read before");
    assert_eq!(store.mark(&[key(3)], Flag::Read, true).unwrap(), []);
}

#[test]
fn undoing_a_mark_restores_every_count() {
    let (folder, mut store) = filled();
    store.mark(&[key(5)], Flag::Starred, true).unwrap();
    store.mark(&[key(5), key(6)], Flag::Read, true).unwrap();
    let before = store.subscriptions().unwrap()[0].counters;
    let all = listed(&mut store, Show::All);
    let done = store.mark(&all, Flag::Read, true).unwrap();
    assert_eq!((done.len(), unread(&store)), (98, vec![0]));
    assert_eq!(store.mark(&done, Flag::Read, false).unwrap(), done);
    assert_eq!(store.subscriptions().unwrap()[0].counters, before);
    drop(store);
    let mut store = open(&folder);
    assert_eq!(store.subscriptions().unwrap()[0].counters, before);
    assert_eq!(listed(&mut store, Show::Starred), [key(5)]);
    assert_eq!(listed(&mut store, Show::Unread).len(), 98);
}

#[test]
fn marks_over_several_feeds_are_counted_for_each() {
    let (_folder, mut store) = filled();
    store.commit(&polled(FeedKey(2), 1, vec![entry(1, "a"), entry(2, "b")])).unwrap();
    let other = backissue_core::history::EntryKey { feed: FeedKey(2), seq: 1 };
    store.mark(&[other, key(0)], Flag::Read, true).unwrap();
    assert_eq!(unread(&store), [99, 1]);
}

#[test]
fn missing_entry_cannot_be_marked() {
    let (_folder, mut store) = filled();
    let nowhere = backissue_core::history::EntryKey { feed: FeedKey(8), seq: 0 };
    assert_eq!(store.mark(&[key(100), nowhere], Flag::Starred, true).unwrap(), []);
    assert_eq!(store.check(false).unwrap().findings, []);
}

#[test]
fn unread_since_a_time_uses_the_listed_date() {
    let (_folder, mut store) = filled();
    // Entry n is dated n seconds before the start.
    assert_eq!(store.unread_since(at(-10)).unwrap(), 10);
    store.mark(&[key(0), key(50)], Flag::Read, true).unwrap();
    assert_eq!(store.unread_since(at(-10)).unwrap(), 9);
    assert_eq!(store.unread_since(at(0)).unwrap(), 0);
}
