//! The example documents of the specification and their exact results (SPEC H.4 to H.7, H.9).

use backissue_core::feed::{FeedDocument, Origin, parse};
use backissue_core::history::kind::{Subscribed, TakesOver, subscribed, takes_over};
use backissue_core::history::{Arrival, GapKind, GoOn, Limit, Mode, Reason, WalkNotice};

use super::{Answer, Reader, document};

macro_rules! example {
    ($name:literal) => {
        include_bytes!(concat!("../fixtures/spec/", $name)).as_slice()
    };
}

const ORCHARD: &str = "https://orchard.example/notes/";
const TOWER: &str = "https://tower.example/rss/";

fn orchard(url: &str) -> Answer {
    let bytes = match url.strip_prefix(ORCHARD).unwrap_or_default() {
        "index.atom" => example!("arch-index.xml"),
        "archive/2026-02.atom" => example!("arch-2026-02.xml"),
        "archive/2026-01.atom" => example!("arch-2026-01.xml"),
        "archive/2025-12.atom" => example!("arch-2025-12.xml"),
        _ => return Answer::Status(404),
    };
    document(url, bytes)
}

fn tower(url: &str) -> Answer {
    let bytes = match url.strip_prefix(TOWER).unwrap_or_default() {
        "current.xml" => example!("arch-rss-index.xml"),
        "a3.xml" => example!("arch-rss-a3.xml"),
        "a2.xml" => example!("arch-rss-a2.xml"),
        "a1.xml" => example!("arch-rss-a1.xml"),
        _ => return Answer::Status(404),
    };
    document(url, bytes)
}

fn read(url: &str, bytes: &[u8]) -> FeedDocument {
    parse(bytes, &Origin { url: Some(url), content_type: None })
}

#[test]
fn h4_an_archived_feed_is_rebuilt() {
    let mut reader = Reader::of("https://orchard.example/notes/index.atom");
    reader.poll(&mut orchard);
    assert_eq!(reader.list(), ["n6", "n4", "n5", "n3", "n2", "n1"]);
    assert_eq!(reader.text("n4"), Some("Four, corrected."));
    assert_eq!(reader.text("n2"), Some("Two, as reprinted in January."));
    assert_eq!(reader.standing(), "complete history");
    assert_eq!(reader.requests.len(), 3);
    assert_eq!((reader.counters.unread, reader.counters.total), (2, 6), "history is not unread");

    reader.pass(1);
    reader.poll(&mut orchard);
    assert_eq!(reader.requests.len(), 3, "a second check requests no archive");
}

#[test]
fn h4_refused_archive_is_one_line_until_it_answers() {
    let mut reader = Reader::of("https://orchard.example/notes/index.atom");
    let refused = |url: &str| {
        if url.ends_with("2026-01.atom") { Answer::Status(403) } else { orchard(url) }
    };
    reader.poll(&mut { refused });
    assert_eq!(reader.list(), ["n6", "n4", "n5", "Unavailable"]);
    assert_eq!(reader.standing(), "history complete except 1 gap");
    let (key, gap) = reader.gaps().remove(0);
    assert_eq!(gap.listed().to_rfc3339(), "2026-02-10T08:00:00+00:00");
    assert_eq!(
        gap.text(),
        "entries before 2026-02-10 missing: archive \
         https://orchard.example/notes/archive/2026-01.atom answered 403"
    );
    assert_eq!(gap.retry_at, None, "a refused archive is retried only by hand");
    assert!(!reader.requests.iter().any(|url| url.contains("2025-12")));

    reader.pass(24 * 30);
    reader.poll(&mut { refused });
    assert_eq!(reader.requests.len(), 2);

    assert_eq!(reader.record.go_on(key, &reader.nodes), GoOn::Walking);
    assert_eq!(reader.walk(&mut { orchard }), Some(WalkNotice::Recovered(3)));
    assert_eq!(WalkNotice::Recovered(3).text(), "3 entries recovered");
    assert_eq!(reader.list(), ["n6", "n4", "n5", "n3", "n2", "n1"]);
    assert_eq!(reader.standing(), "complete history");
}

#[test]
fn h4_missing_archive_is_retried_after_a_good_poll() {
    let mut reader = Reader::of("https://orchard.example/notes/index.atom");
    reader.poll(&mut |url: &str| {
        if url.ends_with("2026-02.atom") { Answer::Status(404) } else { orchard(url) }
    });
    assert_eq!(reader.list(), ["n6", "n4", "Unavailable"]);
    reader.pass(23);
    reader.poll(&mut { orchard });
    assert_eq!(reader.requests.len(), 1);
    reader.pass(2);
    assert_eq!(reader.poll(&mut { orchard }), Some(WalkNotice::Recovered(4)));
    assert_eq!(reader.standing(), "complete history");
    assert_eq!(reader.ids().len(), 6);
}

#[test]
fn h4_subscribing_to_an_archive_leads_to_the_index() {
    let url = "https://orchard.example/notes/archive/2026-01.atom";
    let archive = read(url, example!("arch-2026-01.xml"));
    let index = "https://orchard.example/notes/index.atom";
    assert_eq!(subscribed(&archive, &[url]), Subscribed::ToAnArchiveOf(index.into()));
    let found = read(index, example!("arch-index.xml"));
    assert_eq!(takes_over((url, &archive), (index, &found)), TakesOver::Yes);
    assert_eq!(takes_over((url, &archive), (url, &archive)), TakesOver::No);
}

#[test]
fn h5_undated_items_are_ordered_by_archive() {
    let mut reader = Reader::of("https://tower.example/rss/current.xml");
    reader.poll(&mut { tower });
    assert_eq!(reader.ids(), ["b1", "b4", "b5", "b6", "b7"]);
    assert_eq!(reader.list(), ["b7", "b6", "b5", "b4", "b1"]);
    assert_eq!(reader.text("b5"), Some("five, newer copy"));
    assert_eq!(reader.text("b6"), Some("six, current text"));
    assert_eq!(reader.standing(), "complete history");
    assert_eq!(reader.requests.len(), 3, "the wrong self link of a3 does not end the walk");
}

#[test]
fn h5_looping_chain_is_one_line_at_its_end() {
    let mut reader = Reader::of("https://tower.example/rss/current.xml");
    let text = std::str::from_utf8(example!("arch-rss-a1.xml")).unwrap();
    let looped =
        text.replace(r#"rel="prev-archive" href="""#, r#"rel="prev-archive" href="a3.xml""#);
    assert_ne!(looped, text);
    let mut web = |url: &str| {
        if url.ends_with("a1.xml") { document(url, looped.as_bytes()) } else { tower(url) }
    };
    reader.poll(&mut web);
    assert_eq!(reader.list(), ["b7", "b6", "b5", "b4", "b1", "Loop"]);
    assert_eq!(reader.requests.len(), 3, "no further request");
    assert_eq!(reader.standing(), "may be incomplete: its archives form a loop");
    reader.pass(24 * 365);
    reader.poll(&mut web);
    assert_eq!(reader.requests.len(), 3, "a loop is never retried automatically");
    let key = reader.gaps()[0].0;
    assert_eq!(reader.record.go_on(key, &reader.nodes), GoOn::Walking);
    reader.walk(&mut { tower });
    assert_eq!(reader.standing(), "complete history", "the archive was mended and read again");
}

/// Returns a publisher of the subscription document `index`, the archives `a1` (oldest) to `a3`, and `b1` and `b2`; `links` gives
/// the link elements of each by name.
fn chain<'a>(links: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Answer + 'a {
    move |url: &str| {
        let site = "https://chain.example/";
        let name = url.strip_prefix(site).unwrap_or_default();
        if !["index", "a1", "a2", "a3", "b1", "b2"].contains(&name) {
            return Answer::Status(404);
        }
        let links: String = links
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, link)| (*link).to_owned())
            .collect();
        let text = format!(
            "<feed xmlns='http://www.w3.org/2005/Atom'><id>urn:chain</id>{links}\
             <entry><id>{name}</id><title>{name}</title></entry></feed>"
        );
        document(url, text.as_bytes())
    }
}

#[test]
fn next_archive_of_the_newest_one_is_read_too() {
    // The subscription document skips the newest archive (`a3`), which the `next-archive` link of `a2` names (SPEC C.9).
    let links = [
        ("index", "<link rel='prev-archive' href='a2'/>"),
        ("a2", "<link rel='next-archive' href='a3'/><link rel='prev-archive' href='a1'/>"),
        ("a3", "<link rel='prev-archive' href='a2'/>"),
        ("a1", "<link rel='next-archive' href='a2'/>"),
    ];
    let mut reader = Reader::of("https://chain.example/index");
    reader.poll(&mut chain(&links));
    assert_eq!(reader.ids(), ["a1", "a2", "a3", "index"]);
    assert_eq!(reader.standing(), "complete history");
    assert_eq!(reader.requests.len(), 3);
}

#[test]
fn unfollowed_next_archive_links_are_reported() {
    // A skipped archive (`b2`) is read, but its links to unknown documents and a `next-archive` at another origin are not followed
    // (SPEC C.9).
    let links = [
        ("index", "<link rel='prev-archive' href='a2'/>"),
        ("a2", "<link rel='next-archive' href='b2'/><link rel='prev-archive' href='a1'/>"),
        ("b2", "<link rel='prev-archive' href='b1'/>"),
        ("a1", "<link rel='next-archive' href='https://elsewhere.example/x'/>"),
    ];
    let mut reader = Reader::of("https://chain.example/index");
    reader.poll(&mut chain(&links));
    assert_eq!(reader.ids(), ["a1", "a2", "b2", "index"]);
    let mut said: Vec<String> = reader.gaps().iter().map(|(_, gap)| gap.edge.url.clone()).collect();
    said.sort();
    assert_eq!(said, ["https://chain.example/b1", "https://elsewhere.example/x"]);
    assert_eq!(reader.standing(), "3 archives read so far");
    let key = reader.gaps().iter().find(|(_, gap)| gap.edge.url.ends_with("b1")).unwrap().0;
    reader.record.go_on(key, &reader.nodes);
    reader.walk(&mut chain(&links));
    assert_eq!(reader.ids(), ["a1", "a2", "b1", "b2", "index"]);

    // Once an archive of the chain itself links to `b1`, that link is followed like any other.
    let mended = [links[0], links[1], links[2], ("a1", "<link rel='prev-archive' href='b1'/>")];
    let mut reader = Reader::of("https://chain.example/index");
    reader.poll(&mut chain(&mended));
    assert_eq!(reader.ids(), ["a1", "a2", "b1", "b2", "index"]);
    assert_eq!(reader.standing(), "complete history");
}

#[test]
fn h6_complete_feed_withdraws_the_rest_undoably() {
    let url = "https://lakes.example/top.atom";
    let mut reader = Reader::of(url);
    let before = "<feed xmlns='http://www.w3.org/2005/Atom'><id>x</id>\
         <entry><id>tag:lakes.example,2026:old</id><title>Old</title></entry></feed>";
    reader.take(url, &read(url, before.as_bytes()), true);
    reader.take(url, &read(url, example!("complete.xml")), true);
    assert_eq!(reader.list(), ["morn"]);
    assert_eq!(reader.standing(), "complete history");
    reader.undo_withdrawal();
    assert_eq!(reader.ids().len(), 2);
}

#[test]
fn h7_paged_feed_loads_on_demand_and_is_never_complete() {
    let url = "https://find.example/rss?q=bicycles";
    let mut reader = Reader::of(url);
    reader.poll(&mut |asked: &str| {
        assert_eq!(asked, url, "only the first page is polled");
        document(asked, example!("paged-1.xml"))
    });
    assert_eq!(reader.standing(), "paged: may be incomplete");
    assert_eq!(reader.list(), ["f-90", "Paged"]);

    let key = reader.gaps()[0].0;
    assert_eq!(reader.record.go_on(key, &reader.nodes), GoOn::Page);
    let page = reader.record.next_page(&reader.policy).unwrap().unwrap();
    assert_eq!(page.url, "https://find.example/rss?q=bicycles&page=2");
    let second = read(&page.url, example!("paged-2.xml"));
    let arrival = Arrival {
        url: &page.url,
        public: true,
        fetched_at: reader.now,
        wire_bytes: 500,
        document: &second,
    };
    let taken = reader.record.page_arrived(&arrival);
    let new = reader.merge(&second, &taken.merging.unwrap()).new;
    assert!(!reader.record.page_merged(new, taken.more), "its previous link is no archive link");
    assert_eq!(reader.list(), ["f-90", "f-88", "Paged"]);
    assert_eq!(reader.standing(), "paged: may be incomplete", "even after the last page");
    assert_eq!(reader.record.next_page(&reader.policy), Ok(None));
}

#[test]
fn h9_the_drafts_prev_is_an_archive_link() {
    let mut reader = Reader::of("https://old.example/2005/index.atom");
    reader.poll(&mut |url: &str| {
        if url.ends_with("index.atom") {
            document(url, example!("legacy-prev.xml"))
        } else {
            Answer::Status(410)
        }
    });
    assert_eq!(reader.requests, ["https://old.example/2005/archive/2005-08.atom"]);
    assert_eq!(reader.list(), ["9", "Unavailable"]);
}

#[test]
fn h9_previous_is_an_archive_link_after_one_confirmation() {
    let mut reader = Reader::of("https://mid.example/rss");
    let archive = "<rss version='2.0'><channel><title>Middle Style</title>\
         <item><guid isPermaLink='false'>m29</guid><title>Older</title></item></channel></rss>";
    let mut web = |url: &str| {
        if url.ends_with("/rss") {
            document(url, example!("legacy-previous.xml"))
        } else {
            document(url, archive.as_bytes())
        }
    };
    reader.poll(&mut web);
    assert!(reader.requests.is_empty());
    let (key, gap) = reader.gaps().remove(0);
    assert_eq!(gap.reason, Reason::Limit { limit: Limit::OldForm, fetched: 0 });
    assert_eq!(gap.kind(), GapKind::Limit);

    reader.record.go_on(key, &reader.nodes);
    reader.walk(&mut web);
    assert_eq!(reader.requests, ["https://mid.example/2006/01.rss"]);
    assert_eq!(reader.list(), ["m30", "m29"]);
    assert!(reader.record.old_form_confirmed);
}

#[test]
fn modes_ask_and_off_fetch_nothing_automatically() {
    for (mode, limit) in [(Mode::Ask, Limit::Consent), (Mode::Off, Limit::Off)] {
        let mut reader = Reader::of("https://orchard.example/notes/index.atom");
        reader.policy.mode = mode;
        reader.poll(&mut { orchard });
        assert!(reader.requests.is_empty(), "{mode:?}");
        let (key, gap) = reader.gaps().remove(0);
        assert_eq!(gap.reason, Reason::Limit { limit, fetched: 0 });
        reader.poll(&mut { orchard });
        assert_eq!(reader.gaps().len(), 1);
        reader.record.go_on(key, &reader.nodes);
        reader.walk(&mut { orchard });
        assert_eq!(reader.standing(), "complete history", "{mode:?}");
    }
}
