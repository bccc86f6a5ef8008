//! Documents that are read in any order, with interruptions or repeatedly, lead to the same entries (SPEC C.5).

use std::collections::BTreeMap;

use backissue_core::feed::{Entry, FeedDocument, FeedHead};
use backissue_core::history::kept::Position;
use backissue_core::history::{DocumentPlace, Gap, GapKey, Merging};
use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;

use super::publisher::{Fault, Publisher, SITE};
use super::{Answer, Reader};

fn at(hours: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000, 0).unwrap() + TimeDelta::hours(hours)
}

/// Generates documents, each with its place in the archive chain. Their entries share a few IDs, and some entries have dates.
fn documents() -> impl Strategy<Value = Vec<(FeedDocument, DocumentPlace)>> {
    let copy = (0..8_u8, proptest::option::of(0..6_i64), 0..3_u8);
    let one = (proptest::collection::vec(copy, 1..6), proptest::option::of(0..6_i64));
    proptest::collection::vec(one, 1..6).prop_map(|documents| {
        let placed = |(depth, (copies, updated)): (usize, (Vec<_>, Option<i64>))| {
            let entry = |(place, (id, updated, text)): (usize, (u8, Option<i64>, u8))| Entry {
                id: id.to_string(),
                title: Some(format!("{text} of document {depth}, copy {place}")),
                updated: updated.map(at),
                ..Entry::default()
            };
            let document = FeedDocument {
                head: FeedHead { updated: updated.map(at), ..FeedHead::default() },
                entries: copies.into_iter().enumerate().map(entry).collect(),
                ..FeedDocument::default()
            };
            let position = match depth {
                0 => Position::Subscription,
                depth => Position::Archive { epoch: 1, depth: -(depth as i32) },
            };
            (document, DocumentPlace { position, fetched_at: at(100) })
        };
        documents.into_iter().enumerate().map(placed).collect()
    })
}

/// Returns the title and rank of each entry, by ID, after the documents were merged in this order.
fn kept(documents: &[&(FeedDocument, DocumentPlace)]) -> BTreeMap<String, String> {
    let mut reader = Reader::of("https://a.example/");
    for (document, place) in documents {
        reader.merge(document, &Merging::at(*place));
    }
    reader
        .kept
        .into_iter()
        .map(|kept| (kept.id, format!("{:?} {:?}", kept.title, kept.rank)))
        .collect()
}

/// Returns the title of each entry, by ID, according to the list-L algorithm of the drafts with its error corrected: the documents
/// are read oldest first, and the copy of an entry in a later document replaces that in an earlier one.
fn list_l(documents: &[(FeedDocument, DocumentPlace)]) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    for (document, _) in documents.iter().rev() {
        let mut own = BTreeMap::new();
        for entry in &document.entries {
            own.entry(entry.id.clone()).or_insert_with(|| entry.title.clone().unwrap());
        }
        kept.extend(own);
    }
    kept
}

/// Generates documents of a publisher that changes IDs, dates and texts of its entries at will, but not links and titles. Each
/// document is a list of publications; the ID of each contains a version number.
fn documents_with_changing_ids() -> impl Strategy<Value = Vec<FeedDocument>> {
    let copy = (0..9_u8, 0..4_u8, proptest::option::of(0..9_i64));
    let one = proptest::collection::vec(copy, 1..9);
    proptest::collection::vec(one, 1..8).prop_map(|documents| {
        let document = |mut copies: Vec<(u8, u8, Option<i64>)>| {
            copies.sort_unstable();
            copies.dedup_by_key(|(publication, ..)| *publication);
            let entry = |(publication, version, date): (u8, u8, Option<i64>)| Entry {
                id: format!("{publication}-{version}"),
                title: Some(format!("Publication {publication}")),
                link: Some(format!("https://a.example/{publication}")),
                published: date.map(at),
                content: Some(format!("{version}")),
                ..Entry::default()
            };
            let entries = copies.into_iter().map(entry).collect();
            FeedDocument { entries, ..FeedDocument::default() }
        };
        documents.into_iter().map(document).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_and_repetition_keep_the_same_entries(
        documents in documents(),
        order in proptest::collection::vec(0..6_usize, 0..20),
    ) {
        let all: Vec<_> = documents.iter().collect();
        let expected = kept(&all);
        let mut shuffled: Vec<_> =
            order.iter().filter_map(|place| documents.get(*place)).collect();
        shuffled.extend(documents.iter().rev());
        prop_assert_eq!(kept(&shuffled), expected);
    }

    #[test]
    fn no_document_sequence_duplicates_a_publication(
        documents in documents_with_changing_ids(),
        archives in proptest::collection::vec(any::<bool>(), 8),
    ) {
        let mut reader = Reader::of("https://a.example/");
        for (hours, (document, is_archive)) in (0..).zip(documents.iter().zip(archives)) {
            let position = if is_archive {
                Position::Archive { epoch: 1, depth: 0 }
            } else {
                Position::Subscription
            };
            reader.merge(document, &Merging::at(DocumentPlace { position, fetched_at: at(hours) }));
        }
        let titles: Vec<_> = reader.kept.iter().map(|kept| kept.title.clone()).collect();
        let publications: std::collections::BTreeSet<_> = titles.iter().collect();
        prop_assert_eq!(publications.len(), titles.len(), "{:?}", titles);
    }

    #[test]
    fn undated_chain_ends_as_the_corrected_drafts_require(mut documents in documents()) {
        for (document, _) in &mut documents {
            document.head.updated = None;
            document.entries.iter_mut().for_each(|entry| entry.updated = None);
        }
        let mut reader = Reader::of("https://a.example/");
        for (document, place) in &documents {
            reader.merge(document, &Merging::at(*place));
        }
        let kept: BTreeMap<String, String> =
            reader.kept.into_iter().map(|kept| (kept.id, kept.title.unwrap())).collect();
        prop_assert_eq!(kept, list_l(&documents));
    }

    #[test]
    fn any_interruption_loses_and_refetches_nothing(
        archives in 1..25_usize,
        broken in proptest::collection::btree_map(1..25_usize, 0..4_u8, 0..3),
        crashes in proptest::collection::btree_set(1..60_u32, 0..12),
        undated in any::<bool>(),
    ) {
        let walked = |crashes: Vec<u32>| {
            let mut publisher = Publisher::new(archives, 3);
            publisher.undated = undated;
            publisher.faults = broken
                .iter()
                .map(|(archive, kind)| (*archive, match kind {
                    0 => Fault::Status(403),
                    1 => Fault::Timeout,
                    2 => Fault::Nonsense,
                    _ => Fault::Loop(archives.max(*archive)),
                }))
                .collect();
            let mut reader = Reader::of(SITE);
            reader.crashes = crashes;
            reader.policy.run_documents = 100;
            reader.poll(&mut |url: &str| publisher.answer(url));
            reader
        };
        let whole = walked(Vec::new());
        let interrupted = walked(crashes.into_iter().rev().collect());
        prop_assert_eq!(whole.list(), interrupted.list());
        prop_assert_eq!(whole.standing(), interrupted.standing());
        let ranks = |reader: &Reader| -> BTreeMap<String, (Option<String>, Position)> {
            let kept = reader.kept.iter();
            kept.map(|kept| (kept.id.clone(), (kept.title.clone(), kept.rank.position))).collect()
        };
        prop_assert_eq!(ranks(&whole), ranks(&interrupted));
        prop_assert!(interrupted.applied.values().all(|times| *times == 1));
        prop_assert_eq!(whole.nodes.len(), interrupted.nodes.len());
    }

    #[test]
    fn any_publisher_leaves_the_record_sound(
        archives in proptest::collection::vec((0..14_usize, 0..14_usize, 0..10_u8), 12),
        rounds in proptest::collection::vec((0..12_usize, 0..5_u8), 1..6),
    ) {
        let reader = read(&archives, &rounds);
        prop_assert_eq!(reader.nodes.check_invariant(&reader.record), Ok(()));
        prop_assert!(reader.record.frontiers.is_empty());
    }
}

/// An archive: the number of the archive in its `prev-archive` link and in its `next-archive` link (12 does not exist, 13 means no
/// link), and how it is answered: 0 with an error, 1 with the older archive's address after a redirect, otherwise normally.
type Archive = (usize, usize, u8);

/// Polls a feed in rounds. Each round states the newest archive that the feed links to, and what the user does then: 0 continue and
/// stop, 1 reread, 2 nothing, 3 continue.
fn read(archives: &[Archive], rounds: &[(usize, u8)]) -> Reader {
    let mut reader = Reader::of("https://b.example/feed");
    reader.policy.run_documents = 4;
    go_on(reader, archives, rounds)
}

fn go_on(mut reader: Reader, archives: &[Archive], rounds: &[(usize, u8)]) -> Reader {
    let address = |n: usize| format!("https://b.example/{n}");
    let link = |n: usize| (n != 13).then(|| address(n));
    for (round, (head, wish)) in rounds.iter().copied().enumerate() {
        let mut web = |url: &str| {
            let document = |prev: Option<String>, next: Option<String>, id: String| FeedDocument {
                kind: backissue_core::feed::Kind::Atom,
                entries: vec![Entry { id, ..Entry::default() }],
                history: backissue_core::feed::HistoryLinks {
                    prev_archive: prev,
                    next_archive: next,
                    ..backissue_core::feed::HistoryLinks::default()
                },
                ..FeedDocument::default()
            };
            let Some(number) = url.rsplit('/').next().and_then(|n| n.parse::<usize>().ok()) else {
                let document = document(link(head), None, format!("new {round}"));
                return Answer::Document(url.to_owned(), Box::new(document));
            };
            let Some((prev, next, kind)) = archives.get(number).copied() else {
                return Answer::Status(404);
            };
            let document = document(link(prev), link(next), url.to_owned());
            match kind {
                0 => Answer::Status(500),
                1 if prev != 13 => Answer::Document(address(prev), Box::new(document)),
                _ => Answer::Document(url.to_owned(), Box::new(document)),
            }
        };
        reader.poll(&mut web);
        reader.reopen();
        match wish {
            0 => {
                reader.record.go_on_everywhere(&reader.nodes);
                reader.record.stop(reader.now);
            }
            1 => reader.record.reread(&mut reader.nodes),
            2 => {}
            _ => {
                reader.record.go_on_everywhere(&reader.nodes);
            }
        }
        reader.walk(&mut web);
        reader.pass(3);
    }
    reader
}

#[test]
fn missing_archive_stays_known_without_old_feed_documents() {
    let refused = (13, 13, 0);
    let mut archives = [refused; 12];
    for (archive, prev, next) in [(2, 6, 0), (6, 10, 0), (10, 9, 2), (9, 7, 2), (7, 5, 4)] {
        archives[archive] = (prev, next, 2);
    }
    let reader = read(&archives, &[(5, 3), (2, 3), (9, 3)]);
    assert_eq!(reader.nodes.check_invariant(&reader.record), Ok(()));
    let missing = |(_, gap): &(GapKey, Gap)| gap.edge.key == "https://b.example/5";
    assert!(reader.gaps().iter().any(missing), "{:?}", reader.gaps());
}

#[test]
fn side_archive_is_followed_once_the_chain_reaches_it() {
    // At first archive 0 is answered with an error, and only the `next-archive` link of archive 2 leads to it. Later the
    // subscription document links to it.
    let mut archives = [(13, 13, 2); 12];
    (archives[0], archives[1], archives[2]) = ((5, 13, 0), (2, 13, 2), (3, 0, 2));
    let mut reader = read(&archives, &[(1, 2)]);
    let missing = reader.gaps().into_iter().find(|(_, gap)| gap.edge.key == "https://b.example/0");
    assert!(missing.unwrap().1.edge.side);
    archives[0].2 = 2;
    reader = go_on(reader, &archives, &[(0, 3)]);
    assert!(reader.ids().contains(&"https://b.example/5"), "{:?}", reader.ids());
}
