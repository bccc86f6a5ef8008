//! A short run of the fuzzing, and a check that there is an example of every kind of record.

#[path = "../../../../tests/it/support/dice.rs"]
#[allow(
    clippy::allow_attributes,
    dead_code,
    unreachable_pub,
    reason = "the other tests use all of it"
)]
mod dice;
#[path = "../../../../tests/it/fuzzing/target.rs"]
mod target;

use super::*;
use crate::io::clock;
use crate::io::store::given_numbers::{NUMBERS_KEY, record_key};

#[test]
fn records_and_backups_are_read_or_refused_and_round_trip() {
    let check = Box::new(|bytes: &[u8], _| check(bytes));
    target::Target { name: "records", seeds: examples(), pieces: PIECES, inputs: 500, check }.run();
}

fn reads<T: DeserializeOwned>(bytes: &[u8]) -> bool {
    codec::decode::<T>(&codec::seal(bytes)).is_ok()
}

#[test]
fn there_is_an_example_of_every_kind_of_record() {
    let examples = examples();
    let read_as =
        |decode: &dyn Fn(&[u8]) -> bool| examples.iter().filter(|bytes| decode(bytes)).count();
    for (what, found) in [
        ("a subscription", read_as(&reads::<SubscriptionRecord>)),
        ("a state", read_as(&reads::<FeedState>)),
        ("times", read_as(&reads::<PollTimes>)),
        ("a record of the poll log", read_as(&reads::<LogRecord>)),
        ("publications", read_as(&reads::<Publications>)),
        ("a history", read_as(&reads::<HistoryRecord>)),
        ("an archive", read_as(&reads::<ArchiveNode>)),
        ("places", read_as(&reads::<Vec<(u32, ReadingPosition)>>)),
        ("searches", read_as(&reads::<Vec<SavedSearch>>)),
        ("downloads", read_as(&reads::<Vec<Download>>)),
        ("filters", read_as(&reads::<Vec<EntryFilter>>)),
        ("folded tags", read_as(&reads::<BTreeSet<String>>)),
        ("entries", read_as(&reads::<Vec<Option<KeptEntry>>>)),
        ("texts", read_as(&reads::<BodyChunk>)),
        ("a page", read_as(&reads::<FullText>)),
        ("hits", read_as(&reads::<BTreeSet<u32>>)),
        ("steps of undo", read_as(&reads::<SavedStep>)),
    ] {
        assert!(found > 0, "{what}");
    }
}

#[test]
fn damaged_numbers_are_replaced_and_none_is_given_twice() {
    let numbers = |store: &mut Store| {
        // This reads the records.
        store.numbered(&[]).unwrap();
        let given = store.numbers.as_ref().unwrap().of_feed(FEED);
        given.iter().copied().collect::<BTreeSet<u64>>()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    fill(&mut store);
    let give = |store: &mut Store| {
        let (new, _) = store.without_number(None).unwrap();
        store.give_numbers(&new, 1_000).unwrap();
        !new.is_empty()
    };
    give(&mut store);
    let mut given = numbers(&mut store);
    let count = given.len();
    assert!(count > 9);
    let wild = PIECES.concat();
    let sealed = codec::seal(&wild);
    let other = codec::encode_compressed(&NumberRecord::default()).unwrap();
    let (head, record) = (NUMBERS_KEY.to_vec(), record_key(0));
    for (key, bytes) in [
        (&record, wild.clone()),
        (&head, sealed.clone()),
        (&record, sealed),
        (&record, other),
        (&head, wild),
        (&record, Vec::new()),
    ] {
        store.put(TableName::Facts, key, bytes.clone()).unwrap();
        store.numbers = None;
        // Both calls use the same time, so only the other record can show which numbers were given before.
        assert!(give(&mut store), "{bytes:?}");
        let after = numbers(&mut store);
        assert!(after.is_disjoint(&given), "{bytes:?}: {after:?}");
        assert_eq!(after.len(), count);
        store.numbers = None;
        assert_eq!(numbers(&mut store), after, "the new ones stay");
        given.extend(after);
    }
}
