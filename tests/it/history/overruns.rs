//! Suspected overruns (entries that left the feed between two polls): the five conditions, the verification by a second request,
//! and the record (SPEC C.8.1).

use backissue_core::feed::{Entry, FeedDocument, HistoryLinks, Kind, Tombstone};
use backissue_core::history::kept::Position;
use backissue_core::history::overrun::OverrunVerdict;
use backissue_core::history::{DocumentPlace, GapKind, GapState, Merging, Polled};
use chrono::{DateTime, TimeDelta, Utc};

use super::Reader;

const FEED: &str = "https://wire.example/feed";

fn at(hours: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_772_000_000, 0).unwrap() + TimeDelta::hours(hours)
}

fn entry(number: i64) -> Entry {
    Entry {
        id: format!("urn:{number}"),
        title: Some(format!("Entry {number}")),
        link: Some(format!("https://wire.example/{number}")),
        published: Some(at(number)),
        ..Entry::default()
    }
}

fn window(numbers: impl IntoIterator<Item = i64>) -> FeedDocument {
    let entries = numbers.into_iter().map(entry).collect();
    FeedDocument { kind: Kind::Rss, entries, ..FeedDocument::default() }
}

fn reader_of(documents: &[FeedDocument]) -> Reader {
    let mut reader = Reader::of(FEED);
    for document in documents {
        assert_eq!(reader.take(FEED, document, true), OverrunVerdict::Fine);
        reader.pass(1);
    }
    reader
}

/// Checks whether an overrun is suspected if a poll returns `after` and the polls before it returned `before`.
fn suspected(before: &[FeedDocument], after: &FeedDocument) -> bool {
    let mut reader = reader_of(before);
    matches!(reader.take(FEED, after, true), OverrunVerdict::Missed(_))
}

#[test]
fn a_full_window_that_shares_no_entry_is_an_overrun() {
    let before = [window(0..10), window(2..12)];
    assert!(suspected(&before, &window(40..50)));
    assert!(!suspected(&before, &window(11..21)), "one shared entry");
    assert!(!suspected(&[], &window(40..50)), "the first document");
}

#[test]
fn each_condition_alone_rules_out_an_overrun() {
    let before = [window(0..10), window(2..12)];
    let complete = FeedDocument {
        history: HistoryLinks { complete: true, ..HistoryLinks::default() },
        ..window(40..50)
    };
    let archived = FeedDocument {
        history: HistoryLinks {
            prev_archive: Some("https://wire.example/a".into()),
            ..HistoryLinks::default()
        },
        ..window(40..50)
    };
    assert!(!suspected(&before, &complete), "1: a complete feed");
    assert!(!suspected(&before, &window([])), "1: an empty document");
    assert!(!suspected(&before, &archived), "2: the walk has its own gap");
    assert!(!suspected(&before, &window(40..45)), "4: a window that shrank was trimmed");
    let mut moved = window(2..12);
    moved.entries.iter_mut().for_each(|entry| entry.id = format!("https{}", entry.id));
    assert!(!suspected(&before, &moved), "5: only the ids changed");
}

#[test]
fn pinned_entries_do_not_link_windows() {
    let with_notice =
        |numbers: std::ops::Range<i64>| window(std::iter::once(-1_000).chain(numbers));
    let moving: Vec<FeedDocument> = (0..5).map(|n| with_notice(n * 4..n * 4 + 9)).collect();
    assert!(suspected(&moving, &with_notice(100..109)), "the notice is sticky");
    let resting: Vec<FeedDocument> = (0..2).map(|n| with_notice(n * 4..n * 4 + 9)).collect();
    assert!(!suspected(&resting, &with_notice(100..109)), "two windows are too few to know");
}

#[test]
fn conditional_answer_is_verified_before_an_overrun() {
    let mut reader = reader_of(&[window(0..10)]);
    let after = window(40..50);
    let polled = Polled {
        requested: FEED,
        answered: FEED,
        public: true,
        fetched_at: reader.now,
        whole: true,
        proven: true,
        verifies: None,
        document: &after,
    };
    let before = reader.record.windows.clone();
    assert_eq!(reader.record.compare_windows(&polled, true), OverrunVerdict::Verify);
    assert_eq!(reader.record.windows, before);
    assert!(reader.gaps().is_empty());
    // The full document shares entries with the one before the first answer, so the first answer was only a part.
    let whole = window(5..50);
    let polled = Polled { document: &whole, ..polled };
    assert_eq!(reader.record.compare_windows(&polled, false), OverrunVerdict::Fine);
    assert!(reader.gaps().is_empty());
}

#[test]
fn overrun_is_one_line_naming_both_days() {
    let mut reader = reader_of(&[window(0..10)]);
    reader.now = at(300);
    assert!(matches!(reader.take(FEED, &window(240..250), true), OverrunVerdict::Missed(_)));
    let (key, gap) = reader.gaps().remove(0);
    assert_eq!(gap.kind(), GapKind::Overrun);
    assert_eq!(gap.text(), "entries may have been missed between 2026-02-25 and 2026-03-07");
    assert!(gap.advice().unwrap().contains("10 entries at a time, about 24 a day"));
    let list = reader.list();
    assert_eq!(list.iter().position(|row| row == "Overrun"), Some(10), "between the two windows");
    assert_eq!(reader.standing(), "this feed offers no older entries");

    assert_eq!(reader.take(FEED, &window(240..250), true), OverrunVerdict::Fine);
    assert_eq!(reader.gaps().len(), 1, "once");
    assert!(reader.record.dismiss(key));
    assert!(reader.gaps().is_empty());
    assert_eq!(reader.record.gaps[&key].state, GapState::Dismissed);
}

#[test]
fn delta_is_never_compared_and_precedes_the_window() {
    let mut reader = reader_of(&[window(0..10)]);
    let polled = |document, whole| Polled {
        requested: FEED,
        answered: FEED,
        public: true,
        fetched_at: at(1_000),
        whole,
        proven: true,
        verifies: None,
        document,
    };
    let delta = window(40..45);
    // Until a plain request has verified a larger delta, this one is not used.
    assert_eq!(reader.record.compare_windows(&polled(&delta, false), true), OverrunVerdict::Verify);
    assert_eq!(reader.record.compare_windows(&polled(&delta, false), false), OverrunVerdict::Fine);
    let next = window(44..54);
    assert_eq!(reader.record.compare_windows(&polled(&next, true), false), OverrunVerdict::Fine);
}

#[test]
fn entries_with_new_ids_match_the_old_ones() {
    let mut reader = reader_of(&[window(0..10)]);
    let mut moved = window(0..10);
    moved.entries.iter_mut().for_each(|entry| entry.id = format!("https{}", entry.id));
    assert_eq!(reader.take(FEED, &moved, true), OverrunVerdict::Fine);
    assert_eq!(reader.ids().len(), 10, "no entry twice");
    assert!(reader.ids().iter().all(|id| id.starts_with("https")));
}

#[test]
fn deleted_entry_is_hidden_until_a_newer_copy_comes() {
    let undated = |hour: Option<i64>| {
        let mut document = window(0..1);
        document.entries[0].updated = hour.map(at);
        document
    };
    let tombstones = FeedDocument {
        tombstones: vec![Tombstone { id: "urn:0".into(), when: at(5) }],
        ..window(1..2)
    };
    for (hour, stays) in [(None, false), (Some(4), false), (Some(5), false), (Some(6), true)] {
        for tombstone_first in [false, true] {
            let mut reader = Reader::of(FEED);
            let entry = undated(hour);
            let order = if tombstone_first { [&tombstones, &entry] } else { [&entry, &tombstones] };
            for document in order {
                reader.take(FEED, document, true);
                reader.pass(1);
            }
            assert_eq!(reader.ids().contains(&"urn:0"), stays, "{hour:?}, {tombstone_first}");
            assert_eq!(reader.kept.len(), 2);
            reader.take(FEED, &undated(Some(7)), true);
            assert!(reader.ids().contains(&"urn:0"), "a newer copy revives it");
        }
    }
}

#[test]
fn undated_archive_entries_take_the_place_of_the_merge() {
    let mut reader = Reader::of(FEED);
    let place = DocumentPlace { position: Position::Page, fetched_at: at(10) };
    let undated = Entry { id: "old".into(), ..Entry::default() };
    let document = FeedDocument { entries: vec![undated], ..FeedDocument::default() };
    reader.merge(&document, &Merging { placed: Some(at(3)), ..Merging::at(place) });
    assert_eq!(reader.kept[0].listed(), at(3));
    assert!(reader.rows[0].flags.is_from_history());
}
