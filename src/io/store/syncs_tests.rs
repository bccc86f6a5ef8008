//! Tests of syncs with servers.

use super::*;
use backissue_core::feed::Entry;
use backissue_core::feed::identity::hashed_identity;

const FEED: FeedKey = FeedKey(1);
const NOW: DateTime<Utc> = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
const UNREAD: Marks = Marks { is_read: false, is_starred: false };
const READ_THERE: Marks = Marks { is_read: true, is_starred: false };
const STARRED_THERE: Marks = Marks { is_read: false, is_starred: true };

fn id(number: u32) -> ItemId {
    ItemId::read(&number.to_string()).unwrap()
}

fn entry(id: &str, number: u32) -> Entry {
    Entry {
        id: id.into(),
        link: Some(format!("https://a.example/{number}")),
        title: Some(format!("Entry {number}")),
        content: Some("text".into()),
        published: DateTime::from_timestamp(i64::from(number) * 100, 0),
        ..Entry::default()
    }
}

fn sync(arrived: &[u32], marks: &[(u32, Marks)]) -> FeedSync {
    let arrived = arrived.iter().map(|&number| (id(number), entry(&id(number).long(), number)));
    let marks = marks.iter().map(|&(number, marks)| (id(number), marks)).collect();
    FeedSync { arrived: arrived.collect(), marks, ..FeedSync::new(FEED, NOW) }
}

fn flags(store: &mut Store) -> Vec<(bool, bool)> {
    let rows = store.rows_of(FEED).unwrap();
    rows.iter().map(|row| (row.flags.is_read(), row.flags.is_starred())).collect()
}

/// The numbers of unread and starred entries.
fn sums(store: &Store) -> (u32, u32) {
    let counters = store.counters_of(FEED).unwrap();
    (counters.unread, counters.starred)
}

fn changed(store: &mut Store) -> Vec<ItemId> {
    let (_, marks) = store.synced(FEED).unwrap();
    marks.into_iter().filter(|(_, it)| it.changed() != Marks::default()).map(|it| it.0).collect()
}

#[test]
fn entries_and_marks_of_a_server_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let first = sync(&[1, 2, 3], &[(1, UNREAD), (2, READ_THERE), (3, STARRED_THERE)]);
    let (done, _) = store.sync_feed(&first).unwrap();
    assert_eq!((done.new, done.marked, sums(&store)), (3, 0, (2, 1)));
    assert_eq!(flags(&mut store), [(false, false), (true, false), (false, true)]);
    let again = (FeedSynced { new: 0, ..done }, Vec::new());
    assert_eq!(store.sync_feed(&first).unwrap(), again, "it arrives again");
    // The first entry was read here and is unread on the server. The third one was read on the server.
    store.mark(&[EntryKey { feed: FEED, seq: 0 }], Flag::Read, true).unwrap();
    let later = sync(&[], &[(1, UNREAD), (2, UNREAD), (3, READ_THERE)]);
    let (done, marks) = store.sync_feed(&later).unwrap();
    assert_eq!((done.marked, sums(&store)), (2, (1, 0)));
    let mark =
        |flag, value, seq| MarkChange { flag, value, keys: vec![EntryKey { feed: FEED, seq }] };
    let expected =
        [mark(Flag::Read, false, 1), mark(Flag::Read, true, 2), mark(Flag::Starred, false, 2)];
    assert_eq!(marks, expected, "no other entry");
    assert_eq!(flags(&mut store), [(true, false), (false, false), (true, false)]);
    assert_eq!(changed(&mut store), [id(1)], "only the mark made here is to be sent");
    drop(store);
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(changed(&mut store), [id(1)], "a mark to send outlives the process");
    let gone = FeedSync { gone: BTreeSet::from([id(1)]), ..FeedSync::new(FEED, NOW) };
    store.sync_feed(&gone).unwrap();
    assert_eq!(flags(&mut store).len(), 3, "an entry that is gone there stays here");
    assert_eq!(store.synced(FEED).unwrap().1.len(), 2);
}

#[test]
fn an_entry_that_ended_here_stays_unread_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    store.sync_feed(&sync(&[1, 2, 3], &[(1, UNREAD), (2, UNREAD), (3, UNREAD)])).unwrap();
    let key = |seq| EntryKey { feed: FEED, seq };
    store.mark(&[key(0), key(1), key(2)], Flag::Ended, true).unwrap();
    assert_eq!(changed(&mut store), [], "nothing is sent");
    store.mark(&[key(1)], Flag::Opened, true).unwrap();
    assert_eq!(changed(&mut store), [id(2)], "it was read after all");
    // On the server, the first entry is still unread and now starred, and the third one was read.
    let starred = Marks { is_starred: true, ..UNREAD };
    store.sync_feed(&sync(&[], &[(1, starred), (3, READ_THERE)])).unwrap();
    assert_eq!(flags(&mut store), [(true, true), (true, false), (true, false)]);
    store.sync_feed(&sync(&[], &[(3, UNREAD)])).unwrap();
    assert_eq!(flags(&mut store)[2], (false, false), "marked unread there");
}

#[test]
fn entries_of_a_poll_are_the_same_as_those_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let polled = |position| {
        let entries = (1..=4).map(|number| entry(&format!("urn:{number}"), number)).collect();
        let document = FeedDocument { entries, ..FeedDocument::default() };
        (document, Merging::at(DocumentPlace { position, fetched_at: NOW }))
    };
    let (document, merging) = polled(Position::Page);
    let tombstones = Tombstones::default();
    let (merged, _) = store.merge(FEED, &document, &merging, &tombstones).unwrap();
    store.write(FEED, merged, CommitParts::default()).unwrap();
    // The entries are old here and count as read. The user has read one of them.
    store.mark(&[EntryKey { feed: FEED, seq: 1 }], Flag::Opened, true).unwrap();
    let marks = [(1, UNREAD), (2, UNREAD), (3, READ_THERE), (5, UNREAD)];
    let (done, _) = store.sync_feed(&sync(&[1, 2, 3, 5], &marks)).unwrap();
    assert_eq!(done.new, 1, "three are here already");
    let read: Vec<bool> = flags(&mut store).into_iter().map(|(read, _)| read).collect();
    assert_eq!(read, [false, true, true, true, false]);
    assert_eq!(changed(&mut store), [id(2)], "nothing that nobody read is sent as read");
    // For the fourth entry, the server returns another link, title and date, and only the hash of its id.
    let mut hashed = sync(&[40], &[(40, READ_THERE)]);
    hashed.arrived[0].1.id = hashed_identity("urn:4");
    assert_eq!(store.sync_feed(&hashed).unwrap().0.new, 0);
    // A later poll adds the entry that the server had first.
    let mut document = polled(Position::Subscription).0;
    document.entries.push(entry("urn:5", 5));
    let place = DocumentPlace { position: Position::Subscription, fetched_at: NOW };
    let (merged, _) = store.merge(FEED, &document, &Merging::at(place), &tombstones).unwrap();
    assert_eq!(merged.new, 0);
}
