//! A full disk: a failed write fails as a whole, and the next write works when there is room again.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use backissue::engine::entries::rows::Show;
use backissue_core::history::{EntryKey, FeedKey, Flag};

use super::{commit, entry, key, listed, open, polled};
use crate::support::store_port::Task;

#[test]
fn failed_write_is_atomic_and_works_once_there_is_room() {
    static FREE: AtomicU64 = AtomicU64::new(u64::MAX);
    fn free(_: &Path) -> Option<u64> {
        Some(FREE.load(Ordering::Relaxed))
    }
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    store.measure_room_by(free);
    for feed in 1..=3 {
        store
            .commit(&polled(FeedKey(feed), 1, (1..=5).map(|id| entry(id, "a text")).collect()))
            .unwrap();
    }
    let all = listed(&mut store, Show::All);
    let mark = || Task::mark(all.clone(), Flag::Read, true);
    let poll = || Task::poll(polled(FeedKey(1), 2, vec![entry(6, "new")]));
    FREE.store(1_000_000, Ordering::Relaxed);
    for task in [mark(), poll()] {
        let why = task.perform(&mut store).unwrap_err();
        assert!(why.text.starts_with("the disk is full: 1 MB are free"), "{why:?}");
        assert!(why.no_room, "no feed is at fault");
    }
    assert_eq!(listed(&mut store, Show::Unread).len(), 15, "nothing was written");
    assert!(Task::read_entry(key(0)).perform(&mut store).is_ok(), "you can keep reading");
    FREE.store(u64::MAX, Ordering::Relaxed);
    for task in [mark(), poll()] {
        task.perform(&mut store).unwrap();
    }
    assert_eq!(listed(&mut store, Show::Unread).len(), 1);
}

#[test]
fn a_mark_on_many_feeds_is_written_all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "a text")]);
    // Add a second feed, whose counters are then damaged.
    store.commit(&polled(FeedKey(2), 1, vec![entry(1, "a text")])).unwrap();
    drop(store);
    super::damage::plant_where(folder.path(), "counters", |key| key == 2_u32.to_be_bytes());
    let mut store = open(&folder);
    let both = [key(0), EntryKey { feed: FeedKey(2), seq: 0 }];
    assert!(store.mark(&both, Flag::Read, true).is_err());
    assert!(store.entry(key(0)).unwrap().unwrap().1.is_unread(), "not in memory");
    drop(store);
    assert!(open(&folder).entry(key(0)).unwrap().unwrap().1.is_unread(), "nor on the disk");
}
