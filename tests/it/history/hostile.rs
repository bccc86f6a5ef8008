//! Publishers that try to keep a feed reader busy forever (SPEC S2.12, G.46, D.6).

use backissue_core::feed::{Entry, FeedDocument, HistoryLinks, Kind};
use backissue_core::history::{Gap, GapKind, Limit, Reason};

use super::{Answer, Reader};

const FEED: &str = "https://mill.example/feed";

/// Returns a document with entries of these IDs and a link to an older archive.
fn page(url: &str, ids: &[String], prev: Option<&str>) -> Answer {
    let entries =
        ids.iter().map(|id| Entry { id: id.clone(), ..Entry::default() }).collect::<Vec<_>>();
    let prev = prev.map(str::to_owned);
    let history =
        HistoryLinks { prev_archive: prev, archive: url != FEED, ..HistoryLinks::default() };
    let document = FeedDocument { kind: Kind::Atom, entries, history, ..FeedDocument::default() };
    Answer::Document(url.to_owned(), Box::new(document))
}

/// A function that answers the request for an address.
type Site = fn(&str) -> Answer;

fn only_gap(reader: &Reader) -> Gap {
    let mut gaps = reader.gaps();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    gaps.remove(0).1
}

fn number(url: &str) -> u32 {
    url.rsplit('=').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Answers requests with an endless chain of archives; each has an entry of its own if `new`, otherwise all have the same entry.
fn endless(url: &str, new: bool) -> Answer {
    let number = number(url);
    let ids = [if new { format!("e{number}") } else { "always the same".to_owned() }];
    page(url, &ids, Some(&format!("{FEED}?page={}", number + 1)))
}

#[test]
fn endless_chain_stops_at_the_run_and_day_caps() {
    let mut reader = Reader::of(FEED);
    let mut web = |url: &str| endless(url, true);
    reader.poll(&mut web);
    assert_eq!(reader.requests.len(), 20);
    let gap = only_gap(&reader);
    assert_eq!(gap.reason, Reason::Limit { limit: Limit::Documents, fetched: 20 });
    assert_eq!(gap.text(), "older archives exist (20 fetched). Continue?");
    for _ in 0..20 {
        reader.poll(&mut web);
        assert_eq!(reader.gaps().len(), 1);
    }
    assert_eq!(reader.requests.len(), 20, "nobody agreed");
    for _ in 0..15 {
        let key = reader.gaps()[0].0;
        reader.record.go_on(key, &reader.nodes);
        reader.walk(&mut web);
    }
    assert_eq!(reader.requests.len(), 200, "the daily cap holds even with consent");
    let reason = only_gap(&reader).reason;
    assert!(matches!(reason, Reason::Limit { limit: Limit::Day, .. }), "{reason:?}");
    reader.pass(24);
    let key = reader.gaps()[0].0;
    reader.record.go_on(key, &reader.nodes);
    reader.walk(&mut web);
    assert_eq!(reader.requests.len(), 220);
}

#[test]
fn chain_without_news_is_abandoned_after_three() {
    let mut reader = Reader::of(FEED);
    reader.poll(&mut |url: &str| endless(url, false));
    assert_eq!(reader.requests.len(), 3);
    let reason = only_gap(&reader).reason;
    assert_eq!(reason, Reason::Limit { limit: Limit::NothingNew, fetched: 3 });
}

#[test]
fn entry_and_byte_limits_end_a_run() {
    let web = |url: &str| {
        let number = number(url);
        let ids: Vec<String> = (0..1_000).map(|n| format!("{number}/{n}")).collect();
        page(url, &ids, Some(&format!("{FEED}?page={}", number + 1)))
    };
    let mut reader = Reader::of(FEED);
    reader.poll(&mut { web });
    let reason = only_gap(&reader).reason;
    assert_eq!(reason, Reason::Limit { limit: Limit::Entries, fetched: 5 });
    let mut reader = Reader::of(FEED);
    reader.policy.run_bytes = 2_000;
    reader.poll(&mut { web });
    let reason = only_gap(&reader).reason;
    assert_eq!(reason, Reason::Limit { limit: Limit::Bytes, fetched: 2 });
}

#[test]
fn self_links_and_two_cycles_are_loops() {
    let cycle = |url: &str| match number(url) {
        0 => page(url, &["a".into()], Some("https://mill.example/a?n=1")),
        1 => page(url, &["b".into()], Some("https://mill.example/a?n=2")),
        _ => page(url, &["c".into()], Some("HTTPS://mill.example:443/x/../a?n=1")),
    };
    let own = |url: &str| match number(url) {
        0 => page(url, &["a".into()], Some("https://mill.example/a?n=1")),
        _ => page(url, &["b".into()], Some("https://mill.example/a?n=1#older")),
    };
    let back = |url: &str| match number(url) {
        0 => page(url, &["a".into()], Some("https://mill.example/a?n=1")),
        _ => page(url, &["b".into()], Some(FEED)),
    };
    for (web, requests) in [(cycle as Site, 2), (own, 1), (back, 1)] {
        let mut reader = Reader::of(FEED);
        reader.poll(&mut { web });
        assert_eq!(only_gap(&reader).kind(), GapKind::Loop);
        assert_eq!(reader.requests.len(), requests);
        reader.reopen();
        reader.poll(&mut { web });
        assert_eq!(reader.requests.len(), requests);
    }
    let mut reader = Reader::of(FEED);
    reader.poll(&mut |url: &str| page(url, &["a".into()], Some(FEED)));
    assert!(
        reader.gaps().is_empty() && reader.requests.is_empty(),
        "a link to itself does not count"
    );
}

#[test]
fn archive_answered_with_the_feed_document_is_missing() {
    let mut reader = Reader::of(FEED);
    reader.poll(&mut |_: &str| page(FEED, &["a".into()], Some("https://mill.example/a?n=1")));
    assert_eq!(only_gap(&reader).kind(), GapKind::Unreadable);
    assert_eq!(reader.requests.len(), 1);
}

#[test]
fn disallowed_addresses_are_gaps_without_a_request() {
    for link in [
        "http://mill.example/a",
        "file:///etc/passwd",
        "https://me:secret@mill.example/a",
        "gopher://mill.example/",
        "https://",
    ] {
        let mut reader = Reader::of(FEED);
        reader.poll(&mut |url: &str| page(url, &["a".into()], Some(link)));
        assert!(reader.requests.is_empty(), "{link}");
        let gap = only_gap(&reader);
        assert!(matches!(gap.reason, Reason::Blocked(_)), "{link}: {:?}", gap.reason);
        assert_eq!(gap.retry_at, None);
    }
}

#[test]
fn request_names_the_source_of_its_address() {
    let mut reader = Reader::of(FEED);
    let link = Some("https://other.example/a");
    let Answer::Document(url, document) = page(FEED, &["a".into()], link) else { unreachable!() };
    reader.take(&url, &document, true);
    let now = reader.now;
    let backissue_core::history::Next::Fetch(request) = reader.desk().next(now) else {
        panic!("an archive must be pending")
    };
    assert_eq!((request.by.as_str(), request.by_public), (FEED, true));
    assert!(request.cross_origin);
}

#[test]
fn new_link_at_every_poll_keeps_the_record_bounded() {
    let mut reader = Reader::of(FEED);
    for poll in 0..2_000_u32 {
        let link = format!("https://mill.example/never?n={poll}");
        reader.poll(&mut |url: &str| match url {
            FEED => page(url, &[format!("e{poll}")], Some(&link)),
            _ => Answer::Status(410),
        });
        reader.pass(1);
    }
    assert!(reader.record.gaps.len() <= 201, "{}", reader.record.gaps.len());
    assert!(reader.requests.len() <= 2_000);
}

#[test]
fn vanishing_archives_keep_the_record_bounded() {
    let mut reader = Reader::of(FEED);
    for poll in 0..200_u32 {
        let link = format!("https://mill.example/a?n={poll}");
        reader.poll(&mut |url: &str| match url {
            FEED => page(url, &[format!("e{poll}")], Some(&link)),
            url if url == link => page(url, &[format!("a{poll}")], None),
            _ => Answer::Status(410),
        });
        reader.pass(1);
    }
    let parted = reader.record.proof.as_ref().and_then(|proof| proof.parted.as_ref());
    assert_eq!(parted.map(|parted| (parted.stale.len(), parted.is_lost)), Some((8, true)));
    assert!(reader.requests.len() <= 200 * 10, "{}", reader.requests.len());
}

#[test]
fn reading_again_closes_a_seam_without_archives() {
    let mut reader = Reader::of(FEED);
    let number = std::cell::Cell::new(0_u32);
    let ids = |from: u32, to: u32| (from..to).map(|id| format!("e{id}")).collect::<Vec<_>>();
    let mut ask = |url: &str| {
        let now = number.get();
        match url {
            FEED => page(url, &ids(now, now + 1), Some(&format!("https://mill.example/a?n={now}"))),
            _ if now >= 100 => page(url, &ids(0, now), None),
            url if url.ends_with(&format!("={now}")) => page(url, &[format!("a{now}")], None),
            _ => Answer::Status(410),
        }
    };
    for poll in 1..=100 {
        number.set(poll);
        reader.poll(&mut ask);
        reader.pass(1);
    }
    assert!(reader.record.status().text().starts_with("may be incomplete"));
    let desk = reader.desk();
    desk.record.reread(desk.nodes);
    for poll in 100..=101 {
        number.set(poll);
        reader.poll(&mut ask);
        reader.pass(1);
    }
    assert_eq!(reader.record.status().text(), "complete history");
}
