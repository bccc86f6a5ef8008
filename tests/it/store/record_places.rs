//! Finds the positions of each record of a store in the store's files by searching for the record's bytes, without using the
//! program's code.
//!
//! sled protects each message of its log with one checksum. A record therefore counts as damaged if all messages that contain it
//! are damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use backissue_core::history::{EntryKey, FeedKey};

/// The name of a record: its tree and its key.
pub(super) type RecordName = (String, Vec<u8>);

/// Numbers of entries whose rows, contents and texts share one record each.
const ROWS: u32 = 64;
const ENTRIES: u32 = 32;
const TEXTS: u32 = 4;

/// The positions of all records of a store.
pub(super) struct RecordPlaces {
    /// For each record, the files and byte ranges of all its copies.
    places: BTreeMap<RecordName, Vec<(PathBuf, Range<usize>)>>,
}

/// Length of a segment of sled's log in bytes.
const SEGMENT: usize = 512 * 1024;
/// Number of leading bytes of a value to compare first: they include its format and its checksum, which identify it.
const BEGIN: usize = 9;

impl RecordPlaces {
    /// Searches `files` for all values that sled reads from `copy`, a copy of the data folder; sled changes the folder it opens.
    pub(super) fn find(files: &[PathBuf], copy: &Path) -> Self {
        let mut begins: BTreeMap<Vec<u8>, Vec<(RecordName, Vec<u8>)>> = BTreeMap::new();
        let mut places = BTreeMap::new();
        let db = (0..500).find_map(|_| {
            let opened = sled::open(copy);
            if opened.is_err() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            opened.ok()
        });
        let db = db.expect("sled releases its files shortly after it is closed");
        for tree in db.tree_names() {
            let name = String::from_utf8_lossy(&tree).into_owned();
            for pair in &db.open_tree(&tree).unwrap() {
                let (key, value) = pair.unwrap();
                // Values of only a few bytes are skipped, because they could be found anywhere.
                if value.len() < BEGIN {
                    continue;
                }
                let record = (name.clone(), key.to_vec());
                places.insert(record.clone(), Vec::new());
                let begin = value[..BEGIN].to_vec();
                begins.entry(begin).or_default().push((record, value.to_vec()));
            }
        }
        let firsts: BTreeSet<u8> =
            begins.keys().filter_map(|begin| begin.first()).copied().collect();
        for file in files {
            let bytes = fs::read(file).unwrap();
            let messages = if file.ends_with("db") {
                messages(&bytes)
            } else {
                std::iter::once(0..bytes.len()).collect()
            };
            for at in 0..bytes.len() {
                if !firsts.contains(&bytes[at]) {
                    continue;
                }
                let end = (at + BEGIN).min(bytes.len());
                for (record, value) in begins.get(&bytes[at..end]).into_iter().flatten() {
                    if bytes[at..].starts_with(value) {
                        let value = at..at + value.len();
                        let around = messages.iter().find(|message| message.contains(&at));
                        let place = (file.clone(), around.cloned().unwrap_or(value));
                        places.get_mut(record).unwrap().push(place);
                    }
                }
            }
        }
        Self { places }
    }

    /// Returns the records all of whose copies are in this file, in messages that overlap the damaged bytes.
    pub(super) fn within(&self, file: &Path, damaged: &Range<usize>) -> BTreeSet<&RecordName> {
        let hit = |(in_file, place): &(PathBuf, Range<usize>)| {
            in_file == file && place.start < damaged.end && damaged.start < place.end
        };
        let all_hit = self.places.iter().filter(|(_, places)| places.iter().all(hit));
        all_hit.filter(|(_, places)| !places.is_empty()).map(|(record, _)| record).collect()
    }

    /// Returns the records that were not found in any file.
    pub(super) fn unplaced(&self) -> Vec<&RecordName> {
        self.places.iter().filter(|(_, places)| places.is_empty()).map(|(name, _)| name).collect()
    }

    /// Describes the positions of the records that hold an item, for debugging.
    pub(super) fn told(&self, thing: &Thing) -> String {
        let places = records_of(thing).into_iter().filter_map(|record| self.places.get(&record));
        format!("{thing:?}: {:?}", places.collect::<Vec<_>>())
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}

/// Returns the byte ranges of the messages in an undamaged log. A segment starts with 20 bytes of its own; a message starts with
/// a checksum of four bytes, its kind, and three numbers: length, segment, page.
fn messages(log: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for begin in (0..log.len()).step_by(SEGMENT) {
        let end = (begin + SEGMENT).min(log.len());
        let mut at = begin + 20;
        while at + 32 <= end && (1..=11).contains(&log[at + 4]) {
            let (length, behind) = number(log, at + 5);
            let behind = number(log, number(log, behind).1).1;
            let next = behind.saturating_add(length);
            if next > end {
                break;
            }
            found.push(at..next);
            at = next;
        }
    }
    found
}

/// Reads a number with sled's variable-length encoding; returns it with the position after it.
fn number(log: &[u8], at: usize) -> (usize, usize) {
    let byte = |place: usize| usize::from(log.get(place).copied().unwrap_or_default());
    match byte(at) {
        small @ 0..=240 => (small, at + 1),
        middle @ 241..=248 => (240 + 256 * (middle - 241) + byte(at + 1), at + 2),
        249 => (2288 + 256 * byte(at + 1) + byte(at + 2), at + 3),
        large => {
            let length = large - 247;
            let bytes = (0..length).map(|place| byte(at + 1 + place));
            let number = bytes.rev().fold(0_usize, |sum, byte| sum.wrapping_mul(256) + byte);
            (number, at + 1 + length)
        }
    }
}

/// Returns the names of the records that hold an item of the user's data.
pub(super) fn records_of(thing: &Thing) -> Vec<RecordName> {
    let numbered = |tree: &str, key: &EntryKey, each: u32| {
        let chunk = (key.seq / each).to_be_bytes();
        (tree.to_owned(), [&key.feed.0.to_be_bytes()[..], &chunk].concat())
    };
    let (rows, entries) = (
        |key: &EntryKey| numbered("index", key, ROWS),
        |key: &EntryKey| numbered("meta", key, ENTRIES),
    );
    match thing {
        Thing::Feed(feed) => vec![("feeds".into(), feed.0.to_be_bytes().to_vec())],
        Thing::History(feed) => vec![("history".into(), feed.0.to_be_bytes().to_vec())],
        Thing::Archive(feed, address) => {
            vec![("nodes".into(), [&feed.0.to_be_bytes()[..], address.as_bytes()].concat())]
        }
        Thing::Position(key) => vec![("places".into(), key.feed.0.to_be_bytes().to_vec())],
        Thing::Step(change) => vec![("undo".into(), change.to_be_bytes().to_vec())],
        Thing::Filters => vec![("about".into(), b"rules".to_vec())],
        Thing::Searches => vec![("about".into(), b"searches".to_vec())],
        Thing::Entry(key) | Thing::Marks(key) => vec![rows(key), entries(key)],
        Thing::Text(key) => {
            let (tree, packed) = numbered("bodies", key, TEXTS);
            let alone = [&packed[..], &key.seq.to_be_bytes()].concat();
            vec![rows(key), entries(key), (tree.clone(), packed), (tree, alone)]
        }
    }
}

/// An item of the user's data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    Feed(FeedKey),
    Entry(EntryKey),
    Marks(EntryKey),
    Text(EntryKey),
    History(FeedKey),
    Archive(FeedKey, String),
    Position(EntryKey),
    /// An undo step.
    Step(u64),
    Filters,
    Searches,
}
