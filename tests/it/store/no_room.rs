//! A really full disk during work other than ordinary writes: opening the store, updating the search index, marking many entries
//! at once.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use backissue::engine::change::ChangeId;
use backissue::engine::change::value::LaterStep;
use backissue::engine::entries::filter_work::FilterWork;
use backissue::engine::entries::rows::Show;
use backissue::io::search::{CatchUp, IndexError, SearchIndex};
use backissue::io::store::{SessionLength, Store, StoreError, measure_room};
use backissue_core::filters::{Action, EntryFilter};
use backissue_core::history::{EntryKey, FeedKey, Flag};

use super::small_disk::{SmallDisk, Working, mark, poll, text};
use super::{at, commit, document, entry, listed, polled};
use crate::support::store_port::Task;

/// Number of entries per feed that are marked at once.
const MARKED: u32 = 1500;

/// Opens a store as the program does, including the rebuild of an unreadable one.
fn open_somehow(data: &Path) -> (Store, Option<String>) {
    let opened = Store::open_or_recover(data, at(100), SessionLength::Short);
    opened.unwrap_or_else(|error| panic!("with {:?} bytes free: {error}", measure_room(data)))
}

/// Writes a few long texts to a store.
fn fill_store(data: &Path) {
    let mut store = Store::open(data).unwrap();
    for id in 1..=8 {
        commit(&mut store, i64::from(id), vec![entry(id, &text(id))]);
    }
    store.sync().unwrap();
}

#[test]
fn store_opens_on_a_nearly_full_disk_and_reports_read_only() {
    let Some(disk) = SmallDisk::mount() else { return };
    let data = disk.data();
    fill_store(&data);
    for left in [0, 4, 16, 32, 64, 72, 96, 128, 256, 512, 1024, 4096] {
        disk.fill(left * 1024);
        let (mut store, told) = open_somehow(&data);
        assert_eq!(listed(&mut store, Show::All).len(), 8, "{left} kB");
        assert_eq!(told.is_some(), store.only_reads(), "{left} kB");
        drop(store);
        disk.empty();
    }
    let (store, told) = open_somehow(&data);
    assert!(!store.only_reads() && told.is_none());
}

#[test]
fn read_only_store_is_read_without_maintenance() {
    let Some(disk) = SmallDisk::mount() else { return };
    let data = disk.data();
    fill_store(&data);
    let pack = data.join("store.pack");
    let mut bytes = std::fs::read(&pack).unwrap();
    bytes[1_000] ^= 1;
    std::fs::write(&pack, bytes).unwrap();
    disk.allow_writes(false);
    let (store, told) = open_somehow(&data);
    let told = told.unwrap();
    assert!(told.contains("read-only") && told.contains("also damaged"), "{told}");
    assert!(store.only_reads() && !store.is_worth_compacting().unwrap());
    let refused = store.compact(|_, _| ()).unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly), "{refused}");
    disk.allow_writes(true);
}

#[test]
fn search_index_resumes_when_there_is_room() {
    let Some(disk) = SmallDisk::mount() else { return };
    let data = disk.data();
    let mut working = Working::start_measured(&data, measure_room);
    let missing = |working: &Working| {
        let (answer, answered) = channel();
        working.thread.handle().when_indexed(answer);
        answered.iter().last()
    };
    working.perform(poll(1)).unwrap();
    assert_eq!(missing(&working), Some(0));
    // The remaining space is reserved for the store, so the search index may not use it.
    disk.fill(12_000_000);
    working.perform(poll(2)).unwrap();
    for _ in 0..2 {
        assert_eq!(missing(&working), None, "a search is answered at once");
    }
    disk.empty();
    assert_eq!(missing(&working), Some(0));
    let store = working.thread.stop().unwrap();
    let behind = CatchUp::new(SearchIndex::open(&data).unwrap(), store.texts());
    assert_eq!((behind.state().missing, behind.state().indexed), (0, 6));
}

#[test]
fn index_without_room_stays_sound_and_resumes() {
    let Some(disk) = SmallDisk::mount() else { return };
    let data = disk.data();
    fill_store(&data);
    let store = Store::open(&data).unwrap();
    let index = SearchIndex::open(&data).unwrap();
    disk.fill(0);
    let mut behind = CatchUp::new(index.clone(), store.texts());
    let done = behind.everything(&mut |_| true).and_then(|_| behind.commit());
    let refused = done.unwrap_err();
    assert!(matches!(refused, IndexError::Passing(_)), "{refused}");
    assert!(!refused.to_string().contains("os error"), "{refused}");
    drop(behind);
    disk.empty();
    let mut behind = CatchUp::new(index, store.texts());
    behind.everything(&mut |_| true).unwrap();
    behind.commit().unwrap();
    assert_eq!((behind.state().missing, behind.state().indexed), (0, 8));
}

#[test]
fn a_refused_bulk_change_leaves_neither_effects_nor_a_step() {
    static IS_BLIND: AtomicBool = AtomicBool::new(false);
    let Some(disk) = SmallDisk::mount() else { return };
    let data = disk.data();
    let measure =
        |folder: &Path| if IS_BLIND.load(Ordering::Relaxed) { None } else { measure_room(folder) };
    let mut working = Working::start_measured(&data, measure);
    let mut all = Vec::new();
    for feed in (1..=3).map(FeedKey) {
        let commit = polled(feed, 1, Vec::new());
        let entries = (0..MARKED).map(|id| entry(id, "a text")).collect();
        let document = Some(Box::new(document(entries)));
        let commit = backissue::engine::feeds::subscription::Commit { document, ..commit };
        working.perform(Task::poll(commit)).unwrap();
        all.extend((0..MARKED).map(|seq| EntryKey { feed, seq }));
    }
    let mark_all = |value| Task::mark_list(all.clone(), Flag::Read, value);
    let filter = EntryFilter { id: 1, action: Action::Read, ..EntryFilter::default() };
    let apply = |hits: &[EntryKey], list| {
        let (action, hits) = (Action::Read, hits.to_vec());
        Task::filter(FilterWork::Apply { filter: 1, action, hits }, list)
    };
    let state = |working: Working| {
        drop(working.thread.stop().unwrap());
        let mut store = Store::open(&data).unwrap();
        let unread = listed(&mut store, Show::Unread).len();
        let found =
            (unread, store.saved_steps().unwrap().len(), store.saved_filters().unwrap().len());
        drop(store);
        (found, Working::start_measured(&data, measure))
    };
    let mut refused = [0, 0];
    for left in 0..6 {
        for is_filter in [false, true] {
            disk.fill(left * 16_384);
            IS_BLIND.store(true, Ordering::Relaxed);
            let step = LaterStep { id: ChangeId(1), at: at(1), filters: Vec::new(), joins: false };
            let task = if is_filter { apply(&all, vec![filter.clone()]) } else { mark_all(true) };
            let done = working.perform_beside(task, Some(step));
            IS_BLIND.store(false, Ordering::Relaxed);
            disk.empty();
            // After a failed write the store must be reopened, which this mark causes.
            working.perform(mark(FeedKey(1), 0)).unwrap();
            let expected = match &done {
                Ok(_) => (0, 1, usize::from(is_filter)),
                Err(why) => {
                    assert!(why.no_room, "{why:?}");
                    refused[usize::from(is_filter)] += 1;
                    (all.len() - 1, 0, 0)
                }
            };
            let found;
            (found, working) = state(working);
            assert_eq!(found, expected, "{left}: {is_filter}");
            working.perform(apply(&[], Vec::new())).unwrap();
            working.perform(mark_all(false)).unwrap();
            let gone = vec![ChangeId(1)];
            working.begin(Task::drop_steps(gone), None);
        }
    }
    assert!(refused[0] > 0 && refused[1] > 0, "the disk was not full");
}
