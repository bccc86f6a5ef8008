//! The short run of what the store reads, and what the examples must hold.

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

#[test]
fn records_backups_and_files_are_read_or_refused_and_what_was_read_is_written_again() {
    let check = Box::new(|bytes: &[u8], _| check(bytes));
    target::Target { name: "records", seeds: examples(), pieces: PIECES, inputs: 500, check }.run();
}

#[test]
fn there_is_an_example_of_every_kind_of_record() {
    let examples = examples();
    let read_as =
        |decode: &dyn Fn(&[u8]) -> bool| examples.iter().filter(|bytes| decode(bytes)).count();
    fn plain<T: DeserializeOwned>(bytes: &[u8]) -> bool {
        codec::decode::<T>(&codec::seal(bytes)).is_ok()
    }
    for (what, found) in [
        ("a subscription", read_as(&plain::<SubscriptionRecord>)),
        ("a state", read_as(&plain::<FeedState>)),
        ("times", read_as(&plain::<PollTimes>)),
        ("a line of the poll log", read_as(&plain::<PollLogEntry>)),
        ("publications", read_as(&plain::<Publications>)),
        ("a history", read_as(&plain::<HistoryRecord>)),
        ("an archive", read_as(&plain::<ArchiveNode>)),
        ("places", read_as(&plain::<Vec<(u32, ReadingPosition)>>)),
        ("searches", read_as(&plain::<Vec<SavedSearch>>)),
        ("filters", read_as(&plain::<Vec<EntryFilter>>)),
        ("folded tags", read_as(&plain::<BTreeSet<String>>)),
        ("entries", read_as(&plain::<Vec<Option<KeptEntry>>>)),
        ("texts", read_as(&plain::<BodyChunk>)),
        ("a page", read_as(&plain::<FullText>)),
        ("hits", read_as(&plain::<BTreeSet<u32>>)),
        ("steps of undo", read_as(&plain::<SavedStep>)),
    ] {
        assert!(found > 0, "{what}");
    }
}
