//! Damage in a store that is found, reported in a sentence, and repaired where possible.
//!
//! The tests damage files through sled itself: the folder names, the trees and the schema's key are the on-disk format, which
//! other versions of the program must also read.

use std::path::Path;

use backissue::engine::change::value::SavedSearch;
use backissue::engine::entries::entry_view::{FullText, ReadingPosition};
use backissue::engine::entries::rows::{RowsWanted, Show};
use backissue::engine::feeds::subscription::{FeedState, HistoryCommit};
use backissue::io::store::{Store, StoreError};
use backissue_core::feed::Entry;
use backissue_core::filters::EntryFilter;
use backissue_core::history::gap::Edge;
use backissue_core::history::{ArchiveNode, Flag, HistoryRecord};
use chrono::NaiveDate;

use super::{FEED, at, commit, entry, key, listed, open, patient};

const DAY: NaiveDate = NaiveDate::from_ymd_opt(2026, 2, 2).unwrap();

/// Changes every value of a tree in a store on disk.
fn plant(folder: &Path, tree: &str, change: impl Fn(&mut [u8])) {
    plant_at(folder, tree, |_| true, change);
}

/// Flips a bit in each value of a tree whose key matches.
pub(crate) fn plant_where(folder: &Path, tree: &str, wanted: impl Fn(&[u8]) -> bool) {
    plant_at(folder, tree, wanted, flip);
}

/// Overwrites the pack of a data folder with nonsense, and removes its index.
pub(crate) fn destroy(folder: &Path) {
    std::fs::write(folder.join("store.pack"), vec![7; 3_000_000]).unwrap();
    std::fs::remove_dir_all(folder.join("store")).unwrap();
}

fn plant_at(folder: &Path, tree: &str, wanted: impl Fn(&[u8]) -> bool, change: impl Fn(&mut [u8])) {
    let files = (0..500).find_map(|_| {
        let opened = sled::open(folder.join("store"));
        if opened.is_err() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        opened.ok()
    });
    let files = files.expect("sled releases its files shortly after it is closed");
    let tree = files.open_tree(tree).unwrap();
    assert!(!tree.is_empty(), "there is something to damage");
    for pair in &tree {
        let (key, bytes) = pair.unwrap();
        if !wanted(&key) {
            continue;
        }
        let mut bytes = bytes.to_vec();
        change(&mut bytes);
        tree.insert(key, bytes).unwrap();
    }
    files.flush().unwrap();
}

fn flip(bytes: &mut [u8]) {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
}

fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, (1..=10).map(|id| entry(id, "some text of some length")).collect());
    store.mark(&[key(0)], Flag::Read, true).unwrap();
    folder
}

fn sentences(store: &mut Store, repair: bool) -> Vec<(String, bool)> {
    let findings = store.check(repair).unwrap().findings.into_iter();
    findings.map(|finding| (finding.text, finding.repaired)).collect()
}

#[test]
fn a_flipped_byte_in_any_record_is_found() {
    for tree in ["counters", "index", "meta", "bodies", "polls"] {
        let folder = filled();
        plant(folder.path(), tree, flip);
        let mut store = open(&folder);
        let found = sentences(&mut store, false);
        assert_eq!(found.len(), 1, "{tree}: {found:?}");
        assert!(!found[0].1 && !found[0].0.contains('\n'), "{tree}: {found:?}");
    }
}

#[test]
fn flipped_byte_in_a_subscription_damages_only_it() {
    for (tree, left) in [("feeds", 0), ("state", 1)] {
        let folder = filled();
        plant(folder.path(), tree, flip);
        let mut store = open(&folder);
        assert_eq!(sentences(&mut store, false).len(), 1, "{tree}");
        let saved = store.subscriptions().unwrap();
        assert_eq!(saved.len(), left, "{tree}");
        assert!(saved.iter().all(|saved| *saved.state == FeedState::default()), "{tree}");
    }
}

#[test]
fn damaged_counters_are_recounted() {
    let folder = filled();
    plant(folder.path(), "counters", flip);
    {
        let mut store = open(&folder);
        assert!(sentences(&mut store, true)[0].1, "put right");
        assert_eq!(sentences(&mut store, false), []);
    }
    let mut store = open(&folder);
    let sums = store.subscriptions().unwrap()[0].counters;
    assert_eq!((sums.total, sums.unread, sums.next_seq), (10, 9, 10));
    assert_eq!(commit(&mut store, 2, vec![entry(11, "x")]).new, 1);
}

#[test]
fn damaged_text_hides_only_itself() {
    let folder = filled();
    plant(folder.path(), "bodies", flip);
    let mut store = open(&folder);
    assert_eq!(listed(&mut store, Show::All).len(), 10);
    assert_eq!(store.entry(key(3)).unwrap().unwrap().0.id, "id-4");
    let told = store.body(key(3)).unwrap_err();
    assert!(matches!(told, StoreError::Damaged { .. }), "{told}");
}

#[test]
fn damaged_entry_record_does_not_block_the_list() {
    let folder = filled();
    plant(folder.path(), "meta", flip);
    let mut store = open(&folder);
    assert_eq!(listed(&mut store, Show::All).len(), 10);
    let wanted = RowsWanted::at(1, 0, 24);
    let loaded = store.rows_wanted(&wanted).unwrap();
    assert_eq!((loaded.rows.len(), loaded.total), (0, 0), "no order was asked for");
    let query = backissue::engine::entries::rows::ListQuery {
        scope: backissue::engine::entries::rows::Scope::Everything,
        show: Show::All,
        since: None,
        keep: Default::default(),
        gaps: Vec::new(),
        order: Default::default(),
        join: None,
        apart: Default::default(),
        rare: None,
    };
    let loaded = store.rows_wanted(&RowsWanted { rebuild: Some(query), ..wanted });
    assert_eq!(loaded.expect("every row has its place").rows.len(), 10);
}

#[test]
fn damaged_filter_hit_record_is_found_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    let rule = EntryFilter { id: 1, query: "title:*Entry*".into(), ..EntryFilter::default() };
    store.save_filters(&[rule]).unwrap();
    commit(&mut store, 1, (1..=3).map(|id| entry(id, "a text")).collect());
    assert_eq!(listed(&mut store, Show::Hidden).len(), 3);
    drop(store);
    plant(folder.path(), "rulings", flip);
    let mut store = open(&folder);
    for (repair, repaired) in [(false, false), (true, true)] {
        let found = sentences(&mut store, repair);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0.contains("a filter matched") && found[0].1 == repaired);
    }
    assert_eq!(sentences(&mut store, false), []);
    assert_eq!(listed(&mut store, Show::Hidden).len(), 3, "what it did stays done");
}

#[test]
fn damaged_pages_places_searches_and_folds_are_found() {
    // Repairing these kinds of data loses nothing that cannot be fetched or done again.
    let long = |bytes: &mut [u8]| {
        if bytes.len() > 12 {
            flip(bytes);
        }
    };
    let cases = [
        ("pages", "a stored page"),
        ("places", "your reading positions"),
        ("folded", "folded tags"),
        ("searches", "your saved searches"),
        ("rules", "your filters"),
    ];
    for (what, sentence) in cases {
        let folder = filled();
        let mut store = open(&folder);
        match what {
            "pages" => store.save_full_text(key(0), &FullText::default()).unwrap(),
            "places" => {
                store.save_place(key(0), Some(ReadingPosition { offset: 1, of: 9 })).unwrap();
            }
            "folded" => store.save_folded(&["a tag of some length".to_owned()].into()).unwrap(),
            "rules" => store.save_filters(&[filter("words of some length")]).unwrap(),
            _ => {
                let text = "words of some length".to_owned();
                let search = SavedSearch { id: 1, name: text.clone(), text };
                store.save_searches(&[search]).unwrap();
            }
        }
        drop(store);
        let tree = if matches!(what, "pages" | "places") { what } else { "about" };
        plant(folder.path(), tree, if tree == "about" { long } else { flip });
        let mut store = open(&folder);
        for repair in [false, true] {
            let found = sentences(&mut store, repair);
            assert_eq!(found.len(), 1, "{what}: {found:?}");
            assert!(found[0].0.contains(sentence) && found[0].1 == repair, "{found:?}");
        }
        assert_eq!(sentences(&mut store, false), [], "{what}");
        store.back_up(std::io::sink(), None).unwrap();
        store.compact(|_, _| {}).unwrap();
        assert_eq!(sentences(&mut open(&folder), false), [], "{what}");
    }
}

fn filter(query: &str) -> EntryFilter {
    EntryFilter { id: 1, query: query.into(), ..EntryFilter::default() }
}

#[test]
fn damaged_filters_and_searches_return_from_the_backup() {
    let folder = filled();
    let mut store = open(&folder);
    let filters = [filter("words of some length")];
    store.save_filters(&filters).unwrap();
    let text = "other words of some length".to_owned();
    let searches = [SavedSearch { id: 1, name: text.clone(), text }];
    store.save_searches(&searches).unwrap();
    store.back_up_daily(DAY).unwrap();
    drop(store);
    plant_where(folder.path(), "about", |key| matches!(key, b"rules" | b"searches"));
    let mut store = open(&folder);
    assert_eq!(
        (store.saved_filters().unwrap().len(), store.saved_searches().unwrap().len()),
        (0, 0)
    );
    let found = sentences(&mut store, true);
    let is_told = |(text, done): &(String, bool)| *done && text.contains("backup of 2026-02-02");
    assert!(found.len() == 2 && found.iter().all(is_told), "{found:?}");
    assert_eq!(sentences(&mut store, false), []);
    assert_eq!(store.saved_filters().unwrap(), filters);
    assert_eq!(store.saved_searches().unwrap(), searches);
    commit(
        &mut store,
        9,
        vec![Entry { title: Some("Words of some length".into()), ..entry(90, "x") }],
    );
    assert_eq!(listed(&mut store, Show::Hidden).len(), 1, "they apply");
}

#[test]
fn damaged_marks_return_from_the_backup_and_losses_count() {
    let folder = filled();
    let mut store = open(&folder);
    store.mark(&[key(1)], Flag::Starred, true).unwrap();
    store.back_up_daily(DAY).unwrap();
    commit(&mut store, 2, vec![entry(11, "came later")]);
    drop(store);
    plant(folder.path(), "index", flip);
    let mut store = open(&folder);
    let found = sentences(&mut store, true);
    let says = |words: &str| found.iter().any(|(text, done)| *done && text.contains(words));
    assert!(
        says("the marks of 10 entries were restored from the backup of 2026-02-02"),
        "{found:?}"
    );
    assert!(says("the marks of 1 entry are lost: they count as unread"), "{found:?}");
    assert_eq!(sentences(&mut store, false), []);
    assert!(store.entry(key(0)).unwrap().unwrap().1.is_read());
    assert!(store.entry(key(1)).unwrap().unwrap().1.is_starred());
    assert_eq!(listed(&mut store, Show::Unread).len(), 10);
}

/// Records two archives of the feed as read.
fn with_archives(store: &mut Store) {
    let address = |name: &str| format!("https://site.example/{name}.xml");
    let edge = |name| Edge { url: address(name), key: address(name), ..Edge::default() };
    let node =
        |prev: Option<&str>| ArchiveNode { prev: prev.map(address), ..ArchiveNode::default() };
    let record = HistoryRecord {
        archived: true,
        walked: true,
        archives: 2,
        head: Some(edge("b")),
        settled: Some(address("b")),
        ..HistoryRecord::default()
    };
    let nodes = vec![(address("b"), Some(node(Some("a")))), (address("a"), Some(node(None)))];
    let commit =
        HistoryCommit { feed: FEED, record: std::sync::Arc::new(record), nodes, document: None };
    store.keep_history(&commit).unwrap();
}

#[test]
fn damaged_archive_records_return_from_the_backup() {
    for tree in ["history", "nodes"] {
        let folder = filled();
        let mut store = open(&folder);
        with_archives(&mut store);
        let before = (store.history_of(FEED).unwrap(), store.nodes(FEED).unwrap());
        store.back_up_daily(DAY).unwrap();
        drop(store);
        plant(folder.path(), tree, flip);
        let mut store = open(&folder);
        let found = sentences(&mut store, true);
        assert!(found.iter().all(|(text, done)| *done && text.contains("2026-02-02")), "{found:?}");
        assert_eq!(sentences(&mut store, false), [], "{tree}");
        let after = (store.history_of(FEED).unwrap(), store.nodes(FEED).unwrap());
        assert!(after == before, "{tree}: nothing is requested again");
    }
}

#[test]
fn a_newer_schema_is_refused_and_left_as_it_is() {
    let folder = filled();
    // The first byte says that the value follows.
    plant(folder.path(), "about", |bytes| bytes[1] = 200);
    for _ in 0..2 {
        let refused = patient(&folder).unwrap_err();
        assert!(matches!(refused, StoreError::Newer { found: 200, .. }), "{refused}");
        let sentence = refused.to_string();
        assert!(sentence.contains("newer") && !sentence.contains('\n'), "{sentence}");
    }
}

#[test]
fn unreadable_records_are_dropped_and_the_store_is_sound() {
    for (tree, name, entries) in [
        ("feeds", "the record of feed 1", 10),
        ("state", "the state of feed 1", 10),
        ("index", "a record of marks of feed 1", 10),
        ("meta", "a record of entries of feed 1", 0),
        ("bodies", "a record of texts of feed 1", 10),
        ("polls", "a record of the poll log of feed 1", 10),
        ("times", "the record of the last polls of feed 1", 10),
        ("rhythms", "a record of publication times of feed 1", 10),
        ("history", "the history of feed 1", 10),
        ("nodes", "a record of an archive of feed 1", 10),
    ] {
        let folder = filled();
        // These validators name the feed's address, so that the feed can be found again if its record is lost.
        let mut store = open(&folder);
        let saved = store.subscriptions().unwrap().remove(0);
        let mut state = saved.state;
        state.validators.url = saved.record.url.clone();
        state.validators.etag = Some(b"x".to_vec());
        store.save_state(saved.key, &state).unwrap();
        store.save_try(saved.key, at(50)).unwrap();
        with_archives(&mut store);
        drop(store);
        plant(folder.path(), tree, flip);
        let mut store = open(&folder);
        let found = sentences(&mut store, true);
        assert!(found.iter().any(|(text, done)| *done && text.contains(name)), "{tree}: {found:?}");
        assert!(found.iter().all(|(_, done)| *done), "{tree}: {found:?}");
        assert_eq!(sentences(&mut store, false), [], "{tree}");
        store.back_up(std::io::sink(), None).unwrap();
        let saved = store.subscriptions().unwrap();
        assert_eq!(saved[0].record.url, "https://site.example/1.xml", "{tree}");
        let is_asked_whole =
            matches!(tree, "meta" | "bodies" | "index" | "state" | "history" | "nodes");
        assert_eq!(saved[0].state.validators.etag.is_none(), is_asked_whole, "{tree}");
        let walks = store.history_of(FEED).unwrap().run.rereading;
        assert_eq!(walks, matches!(tree, "meta" | "bodies" | "index" | "nodes"), "{tree}");
        let there = (0..10).filter(|seq| store.entry(key(*seq)).unwrap().is_some()).count();
        assert_eq!(there, entries, "{tree}");
        store.compact(|_, _| {}).unwrap();
        assert_eq!(sentences(&mut open(&folder), false), [], "{tree}");
    }
}
