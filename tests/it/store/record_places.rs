//! Finds the positions of the large records of a store in its pack, without using the program's code.
//!
//! A small record is both in the pack and in sled's files, so damage of one file loses none.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use backissue_core::history::{EntryKey, FeedKey};

/// The name of a record: its table and its key.
pub(super) type RecordName = (String, Vec<u8>);

/// Numbers of entries whose rows, contents and texts share one record each.
const ROWS: u32 = 64;
const ENTRIES: u32 = 32;
const TEXTS: u32 = 16;

/// The positions of the large records of a store.
pub(super) struct RecordPlaces {
    /// The byte range of each in the pack; none for a small record.
    places: BTreeMap<RecordName, Option<Range<usize>>>,
}

impl RecordPlaces {
    /// Reads the positions from sled's files in `copy`, a copy of the data folder; sled changes the folder it opens.
    pub(super) fn find(copy: &Path) -> Self {
        let mut places = BTreeMap::new();
        let db = (0..500).find_map(|_| {
            let opened = sled::open(copy.join("store"));
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
                // A large value: 1, its place in the pack, its length.
                let number = |range: Range<usize>| {
                    let bytes = value[range].iter().rev();
                    bytes.fold(0_usize, |sum, byte| sum * 256 + usize::from(*byte))
                };
                let place = (value[0] == 1).then(|| number(1..9)..number(1..9) + number(9..13));
                places.insert((name.clone(), key.to_vec()), place);
            }
        }
        Self { places }
    }

    /// Returns the records whose bytes in the pack overlap the damaged ones.
    pub(super) fn within(&self, damaged: &Range<usize>) -> BTreeSet<&RecordName> {
        let is_hit = |place: &Range<usize>| place.start < damaged.end && damaged.start < place.end;
        let hit = self.places.iter().filter(|(_, place)| place.as_ref().is_some_and(is_hit));
        hit.map(|(record, _)| record).collect()
    }

    /// Describes the positions of the records that hold an item, for debugging.
    pub(super) fn told(&self, thing: &Thing) -> String {
        let places = records_of(thing).into_iter().filter_map(|record| self.places.get(&record));
        format!("{thing:?}: {:?}", places.collect::<Vec<_>>())
    }

    /// Returns the number of large records, and of all.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.places.values().flatten().count(), self.places.len())
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
