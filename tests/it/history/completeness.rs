//! When a history is called complete (SPEC C.8), and what is requested first if two consecutive subscription documents share no
//! entry.

use backissue_core::feed::{Entry, FeedDocument, HistoryLinks, Kind};
use backissue_core::history::walk::adaptor::FoundBy;
use backissue_core::history::{DocumentKind, GapKind};
use chrono::{DateTime, TimeDelta, Utc};

use super::{Answer, Reader, Web};

const FEED: &str = "https://a.example/feed";

pub fn at(day: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_770_000_000, 0).unwrap() + TimeDelta::days(day)
}

pub fn link(name: &str) -> Option<String> {
    Some(format!("https://a.example/{name}"))
}

/// Returns a document with one entry for each of `days`, in this order, and the links that `change` sets.
pub fn document(
    days: impl IntoIterator<Item = i64>,
    change: impl Fn(&mut HistoryLinks),
) -> FeedDocument {
    let entry = |day: i64| Entry {
        id: format!("urn:{day}"),
        title: Some(format!("Entry {day}")),
        published: Some(at(day)),
        ..Entry::default()
    };
    let entries = days.into_iter().map(entry).collect();
    let mut document = FeedDocument { kind: Kind::Atom, entries, ..FeedDocument::default() };
    change(&mut document.history);
    document
}

/// Answers requests with the document whose name is the last part of the address, and with 404 if there is none.
pub fn web(documents: Vec<(&'static str, FeedDocument)>) -> Box<Web<'static>> {
    Box::new(move |url: &str| {
        let found = documents.iter().find(|(name, _)| url == link(name).unwrap());
        found.map_or(Answer::Status(404), |(_, document)| {
            Answer::Document(url.to_owned(), Box::new(document.clone()))
        })
    })
}

/// Returns a feed reader that polled `FEED` and walked its archives once.
fn reader_of(documents: Vec<(&'static str, FeedDocument)>) -> Reader {
    let mut reader = Reader::of(FEED);
    reader.record.old_form_confirmed = true;
    reader.poll(&mut *web(documents));
    reader
}

/// A function that changes the links of a document.
type Change = fn(&mut HistoryLinks);

#[test]
fn history_is_complete_only_without_contrary_documents() {
    let oldest = || document([1], |h| h.archive = true);
    let cases: [(&str, Change, Change, &str); 8] = [
        ("archives", |h| h.prev_archive = link("1"), |_| (), "complete history"),
        (
            "next-archive",
            |h| (h.prev_archive, h.next_archive) = (link("1"), link("9")),
            |_| (),
            "may be incomplete: there is a newer document",
        ),
        (
            "current elsewhere",
            |h| (h.prev_archive, h.current) = (link("1"), link("9")),
            |_| (),
            "may be incomplete: there is a newer document",
        ),
        (
            "its own current",
            |h| (h.prev_archive, h.current) = (link("1"), link("feed")),
            |_| (),
            "complete history",
        ),
        ("archive", |h| h.archive = true, |_| (), "an archive, not the feed itself"),
        ("draft -05", |h| h.previous = link("1"), |_| (), "complete history"),
        (
            "a page",
            |h| h.previous = link("1"),
            |h| h.next = link("feed"),
            "paged: may be incomplete",
        ),
        (
            "a last page",
            |h| h.previous = link("1"),
            |h| h.first = link("0"),
            "paged: may be incomplete",
        ),
    ];
    for (name, feed, end, text) in cases {
        let mut last = oldest();
        end(&mut last.history);
        let reader = reader_of(vec![("feed", document([9, 8], feed)), ("1", last)]);
        assert_eq!(reader.standing(), text, "{name}");
    }
}

#[test]
fn archive_above_the_newest_answering_404_is_a_gap() {
    let feed = document([9], |h| h.prev_archive = link("2"));
    let newest = document([5], |h| {
        (h.archive, h.prev_archive, h.next_archive) = (true, link("1"), link("3"));
    });
    let oldest = document([1], |h| (h.archive, h.next_archive) = (true, link("an old name of 2")));
    let reader = reader_of(vec![("feed", feed), ("2", newest), ("1", oldest)]);
    let gaps: Vec<String> = reader.gaps().iter().map(|(_, gap)| gap.text()).collect();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert!(gaps[0].contains("https://a.example/3 answered 404"), "{gaps:?}");
    assert_eq!(reader.standing(), "2 archives read so far, 1 gap");
}

#[test]
fn disjoint_windows_are_a_gap_even_with_archives() {
    let feed = |days: std::ops::Range<i64>| document(days.rev(), |h| h.prev_archive = link("1"));
    let archive = |days: std::ops::Range<i64>| document(days.rev(), |h| h.archive = true);
    for (grown, later, text) in [
        (archive(0..10), archive(0..10), "history complete except 1 gap"),
        (archive(0..30), archive(0..31), "complete history"),
    ] {
        let mut reader = reader_of(vec![("feed", feed(10..15)), ("1", archive(0..10))]);
        assert_eq!(reader.standing(), "complete history");
        reader.pass(1);
        reader.requests.clear();
        reader.poll(&mut *web(vec![("feed", feed(30..35)), ("1", grown.clone())]));
        assert_eq!(reader.standing(), text);
        let requests = &reader.requests;
        assert_eq!(requests.len(), 1, "the archive is requested first: {requests:?}");
        // Once more when the window's oldest entry has left it, because only then must the archive hold both sides of the seam.
        for days in [31..36, 32..37] {
            reader.pass(1);
            reader.poll(&mut *web(vec![("feed", feed(days)), ("1", later.clone())]));
            assert_eq!((reader.standing().as_str(), reader.requests.len()), (text, 2));
        }
    }
    // If the feed links to a new archive, the archives are walked from there, so the missed entries are found.
    let mut reader = reader_of(vec![("feed", feed(10..15)), ("1", archive(0..10))]);
    reader.pass(1);
    let moved = document((30..35).rev(), |h| h.prev_archive = link("2"));
    let second = document((10..30).rev(), |h| (h.archive, h.prev_archive) = (true, link("1")));
    reader.poll(&mut *web(vec![("feed", moved), ("2", second), ("1", archive(0..10))]));
    assert_eq!(reader.standing(), "complete history");
}

#[test]
fn unreadable_newest_archive_leaves_only_the_overrun_gap() {
    let feed = |days: std::ops::Range<i64>| document(days.rev(), |h| h.prev_archive = link("1"));
    let mut reader =
        reader_of(vec![("feed", feed(10..15)), ("1", document([1], |h| h.archive = true))]);
    reader.pass(1);
    reader.policy.mode = backissue_core::history::Mode::Off;
    reader.poll(&mut *web(vec![("feed", feed(30..35))]));
    let kinds: Vec<GapKind> = reader.gaps().iter().map(|(_, gap)| gap.kind()).collect();
    assert_eq!(kinds, [GapKind::Overrun]);
    assert_eq!(reader.standing(), "history complete except 1 gap");
    assert_eq!(reader.record.head.as_ref().map(|head| head.via), Some(FoundBy::Link));
    assert_eq!(reader.record.kind, DocumentKind::Archived);
}

#[test]
fn gap_is_listed_below_new_entries_but_above_pinned_ones() {
    let feed = document([-2_000, 9, 8, 7], |h| h.prev_archive = link("1"));
    let reader = reader_of(vec![("feed", feed)]);
    assert_eq!(reader.list(), ["9", "8", "7", "Unavailable", "-2000"]);
    let ascending = document([7, 8, 9], |h| h.prev_archive = link("1"));
    let reader = reader_of(vec![("feed", ascending)]);
    assert_eq!(reader.list(), ["9", "8", "7", "Unavailable"]);
}

#[test]
fn archive_without_dates_gives_no_start_date() {
    let mut undated = document([2, 1], |h| h.archive = true);
    undated.entries.iter_mut().for_each(|entry| entry.published = None);
    let feed = document([9, 8], |h| h.prev_archive = link("1"));
    let reader = reader_of(vec![("feed", feed), ("1", undated)]);
    assert_eq!(reader.record.reaches, None);
    assert!(reader.nodes.iter().all(|(_, node)| node.span.is_none()));
    assert_eq!(reader.list(), ["9", "8", "2", "1"]);
}

#[test]
fn unread_target_address_prevents_completeness() {
    let feed = document([9], |h| h.complete = true);
    let mut reader = reader_of(vec![("feed", feed.clone())]);
    assert_eq!(reader.standing(), "complete history");
    reader.record.not_read();
    assert_eq!(reader.standing(), "may be incomplete: it may redirect to another feed");
    reader.poll(&mut *web(vec![("feed", feed)]));
    assert_eq!(reader.standing(), "complete history");
}

#[test]
fn run_limits_count_requests() {
    let mut reader = reader_of(vec![("feed", document([9], |h| h.prev_archive = link("5")))]);
    reader.policy.run_documents = 5;
    reader.record.frontiers.clear();
    reader.record.gaps.clear();
    reader.record.head = None;
    reader.record.run = backissue_core::history::WalkRun::default();
    reader.record.count_redirects(8);
    assert_eq!((reader.record.run.documents, reader.record.day.documents), (8, 9));
}
