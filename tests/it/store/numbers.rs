//! The numbers under which devices know entries.

use std::collections::BTreeMap;

use backissue::io::store::{EntriesWanted, EntryTest, Store};
use backissue_core::history::{EntryKey, FeedKey, Flag};

use super::{FEED, at, commit, entry, key, open, polled};

/// Microseconds of a second after the start.
fn us(second: i64) -> u64 {
    u64::try_from(at(second).timestamp_micros()).unwrap()
}

/// Gives numbers to new entries, as before each answer to a device. Returns whether there were any.
fn give(store: &mut Store, now: u64) -> bool {
    let (mut new, mut after) = (Vec::new(), None);
    loop {
        let found = store.without_number(after).unwrap();
        new.extend(found.0);
        after = found.1;
        if after.is_none() {
            break;
        }
    }
    new.sort_unstable();
    store.give_numbers(&new, now).unwrap();
    !new.is_empty()
}

fn all(store: &mut Store) -> Vec<(u64, EntryKey)> {
    let feeds = vec![FEED, FeedKey(2)];
    let wanted = EntriesWanted { feeds, oldest_first: true, count: 1000, ..Default::default() };
    store.numbered_entries(&wanted).unwrap().entries
}

fn numbers(store: &mut Store) -> Vec<u64> {
    all(store).into_iter().map(|(number, _)| number).collect()
}

#[test]
fn a_number_is_given_once_in_order_of_arrival() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "a"), entry(2, "b")]);
    assert!(numbers(&mut store).is_empty(), "no device has asked");
    assert!(give(&mut store, us(10)));
    assert!(!give(&mut store, us(11)), "nothing arrived");
    let first = all(&mut store);
    let given: Vec<u64> = first.iter().map(|(number, _)| *number).collect();
    assert_eq!(given, [us(10), us(10) + 1]);
    assert!(first[0].1.seq != first[1].1.seq);
    // A clock that was set back does not give a number again.
    commit(&mut store, 20, vec![entry(0, "c"), entry(1, "a"), entry(2, "b")]);
    assert!(give(&mut store, us(5)));
    assert_eq!(numbers(&mut store), [us(10), us(10) + 1, us(10) + 2]);
    let before = all(&mut store);
    drop(store);
    let mut store = open(&folder);
    assert!(!give(&mut store, us(30)));
    assert_eq!(all(&mut store), before, "they outlive the process");
    let asked = [us(10), 7, us(10) + 9];
    assert_eq!(store.numbered(&asked).unwrap(), [before[0]]);
}

#[test]
fn a_page_continues_by_number_whatever_is_marked_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, (0..50).map(|id| entry(id, "text")).collect());
    give(&mut store, us(10));
    for oldest_first in [true, false] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let wanted = EntriesWanted {
                feeds: vec![FEED],
                tests: vec![(EntryTest::Read, false)],
                oldest_first,
                after,
                count: 7,
                ..Default::default()
            };
            let page = store.numbered_entries(&wanted).unwrap();
            seen.extend(page.entries.iter().map(|(number, _)| *number));
            after = page.entries.last().map(|(number, _)| *number);
            // What was seen leaves the list.
            let keys: Vec<EntryKey> = page.entries.iter().map(|(_, key)| *key).collect();
            store.mark(&keys, Flag::Read, true).unwrap();
            if !page.has_more {
                break;
            }
        }
        let mut expected: Vec<u64> = (0..50).map(|place| us(10) + place).collect();
        if !oldest_first {
            expected.reverse();
        }
        assert_eq!(seen, expected);
        let keys: Vec<EntryKey> = (0..50).map(key).collect();
        store.mark(&keys, Flag::Read, false).unwrap();
    }
}

#[test]
fn entries_of_the_history_are_not_new() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "a")]);
    store.mark(&[key(0)], Flag::FromHistory, true).unwrap();
    commit(&mut store, 2, vec![entry(0, "b"), entry(1, "a")]);
    give(&mut store, us(10));
    let since = |since, until| EntriesWanted {
        feeds: vec![FEED],
        since,
        until,
        count: 9,
        ..Default::default()
    };
    for (from, to, found) in [
        (Some(us(10)), None, 1),
        (Some(us(11)), None, 0),
        (None, Some(us(11)), 1),
        (None, Some(us(9)), 0),
        (None, None, 2),
    ] {
        let page = store.numbered_entries(&since(from, to)).unwrap();
        assert_eq!(page.entries.len(), found, "{from:?} {to:?}");
    }
}

#[test]
fn a_restored_backup_gives_new_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "a")]);
    give(&mut store, us(10));
    let mut backup = Vec::new();
    store.back_up(&mut backup, None).unwrap();
    commit(&mut store, 2, vec![entry(0, "b"), entry(1, "a")]);
    give(&mut store, us(20));
    let before = numbers(&mut store);
    drop(store);
    let other = tempfile::tempdir().unwrap();
    Store::restore_backup(other.path(), backup.as_slice(), "aside").unwrap();
    let mut store = open(&other);
    commit(&mut store, 3, vec![entry(5, "c"), entry(1, "a")]);
    give(&mut store, us(30));
    let after = numbers(&mut store);
    assert_eq!(after.len(), 2);
    assert!(after.iter().all(|number| !before.contains(number)), "{before:?} {after:?}");
}

#[test]
fn entries_of_a_merged_feed_keep_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "a"), entry(2, "b")]);
    store.commit(&polled(FeedKey(2), 1, vec![entry(2, "b"), entry(3, "c")])).unwrap();
    give(&mut store, us(10));
    let texts = |store: &mut Store, numbers: &[u64]| {
        let found = store.numbered(numbers).unwrap();
        let id = |store: &mut Store, key| store.entry(key).unwrap().unwrap().0.id;
        found.into_iter().map(|(number, key)| (number, id(store, key))).collect::<BTreeMap<_, _>>()
    };
    let all: Vec<u64> = (0..4).map(|place| us(10) + place).collect();
    let before = texts(&mut store, &all);
    assert_eq!(before.len(), 4);
    // One that arrived and has no number yet goes along.
    commit(&mut store, 2, vec![entry(9, "d"), entry(1, "a"), entry(2, "b")]);
    let moves = |store: &mut Store| {
        let wanted = EntriesWanted { count: 9, ..Default::default() };
        store.numbered_in(&wanted, &[FEED, FeedKey(2)]).unwrap().1
    };
    let moves_before = moves(&mut store);
    store.absorb(FEED, FeedKey(2)).unwrap();
    assert!(moves(&mut store) > moves_before, "a page that is being made is made again");
    super::end(&mut store, FEED);
    drop(store);
    let mut store = open(&folder);
    assert_eq!(texts(&mut store, &all), before, "each number names what it named");
    give(&mut store, us(20));
    assert_eq!(numbers(&mut store).len(), 4, "each entry has one number in lists");
}

#[test]
fn many_numbers_take_several_records() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, (0..5000).map(|id| entry(id, "t")).collect());
    give(&mut store, us(10));
    drop(store);
    let mut store = open(&folder);
    assert_eq!(store.numbered(&[us(10) + 4999, us(10) + 5000]).unwrap().len(), 1);
    let wanted = EntriesWanted { feeds: vec![FEED], count: 9_999, ..Default::default() };
    assert_eq!(store.numbered_entries(&wanted).unwrap().entries.len(), 5000);
}
