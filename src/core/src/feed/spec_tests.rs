//! Reads the example documents of SPEC H.

use chrono::{DateTime, Utc};

use super::*;

/// Parses a fixture as if it were fetched from `url`.
macro_rules! document {
    ($file:literal, $url:expr) => {
        parse(
            include_bytes!(concat!("../../../../tests/it/fixtures/spec/", $file)),
            &Origin { url: $url, content_type: None },
        )
    };
}

fn time(text: &str) -> Option<DateTime<Utc>> {
    dates::date::parse_date(text)
}

fn ids(document: &FeedDocument) -> Vec<&str> {
    document.entries.iter().map(|entry| entry.id.as_str()).collect()
}

fn rule(
    minutes: u32,
    hours: (Option<u8>, Option<u8>),
    days: (Option<u8>, Option<u8>),
) -> IntervalRule {
    IntervalRule {
        minutes,
        start_hour: hours.0,
        end_hour: hours.1,
        start_day: days.0,
        end_day: days.1,
        zone: Zone::Utc,
    }
}

const ALWAYS: (Option<u8>, Option<u8>) = (None, None);

#[test]
fn h2_rules_and_legacy_hints_of_an_rss_feed_are_all_read() {
    let document = document!("rules-rss.xml", Some("https://gazette.example/feed.rss"));
    assert_eq!((document.kind, document.role), (Kind::Rss, DocumentRole::Plain));
    let hints = &document.hints;
    assert_eq!(hints.ttl_minutes, Some(120));
    assert_eq!(hints.skip_hours, [0, 10]);
    assert_eq!(hints.skip_days, [DayOfWeek::Sunday]);
    let base = time("2000-01-01T12:00:00Z");
    assert_eq!(hints.sy, Some(SyHint { period: Period::Hourly, frequency: 2, base }));
    assert_eq!(
        hints.intervals,
        [
            rule(240, ALWAYS, ALWAYS),
            rule(30, (Some(9), Some(17)), (Some(1), Some(5))),
            rule(30, (Some(4), Some(4)), ALWAYS)
        ]
    );
    assert_eq!(ids(&document), ["gazette-1041"]);
    let entry = &document.entries[0];
    assert_eq!(entry.title.as_deref(), Some("Tug Ariadne refitted"));
    assert_eq!(entry.link.as_deref(), Some("https://gazette.example/2026/03/ariadne"));
    assert_eq!(entry.published, time("2026-03-02T09:41:00Z"));
    assert_eq!(entry.updated, None);
    assert_eq!(entry.summary.as_deref(), Some("New engine, old paint."));
    assert_eq!(document.head.title.as_deref(), Some("Harbour Gazette"));
    assert_eq!(document.head.updated, time("2026-03-02T10:00:00Z"));
    assert_eq!(document.flaws, []);
}

#[test]
fn h3_a_bad_rule_is_dropped_alone() {
    let document = document!("rules-atom.xml", Some("https://radio.example/log.atom"));
    assert_eq!(document.hints.refresh_rate_ms, Some(900_000));
    assert_eq!(
        document.hints.intervals,
        [rule(20, (Some(22), Some(2)), (Some(5), Some(6))), rule(180, ALWAYS, ALWAYS)]
    );
    assert_eq!(document.flaws.len(), 1);
    assert_eq!(
        (document.flaws[0].element.as_str(), document.flaws[0].text.as_str()),
        ("interval", "25")
    );
    assert_eq!(ids(&document), ["tag:radio.example,2026:log/77"]);
}

#[test]
fn h4_archive_links_are_resolved_against_base_or_document() {
    let index = document!("arch-index.xml", Some("https://orchard.example/notes/index.atom"));
    assert_eq!(index.role, DocumentRole::Subscription);
    assert_eq!(
        index.history.prev_archive.as_deref(),
        Some("https://orchard.example/notes/archive/2026-02.atom")
    );
    assert_eq!(ids(&index), ["tag:orchard.example,2025:n6", "tag:orchard.example,2025:n4"]);
    assert_eq!(index.entries[1].updated, time("2026-02-27T10:00:00Z"));
    assert_eq!(index.entries[1].link.as_deref(), Some("https://orchard.example/notes/n4"));

    let url = "https://orchard.example/notes/archive/2026-02.atom";
    let february = document!("arch-2026-02.xml", Some(url));
    assert_eq!(february.role, DocumentRole::Archive);
    assert_eq!(february.history.this.as_deref(), Some(url));
    assert_eq!(
        february.history.current.as_deref(),
        Some("https://orchard.example/notes/index.atom")
    );
    assert_eq!(
        february.history.prev_archive.as_deref(),
        Some("https://orchard.example/notes/archive/2026-01.atom")
    );

    let january =
        document!("arch-2026-01.xml", Some("https://orchard.example/notes/archive/2026-01.atom"));
    assert_eq!(
        january.history.prev_archive.as_deref(),
        Some("https://orchard.example/notes/archive/2025-12.atom")
    );
    assert_eq!(
        january.history.next_archive.as_deref(),
        Some("https://orchard.example/notes/archive/2026-02.atom")
    );

    let december =
        document!("arch-2025-12.xml", Some("https://orchard.example/notes/archive/2025-12.atom"));
    assert_eq!((december.role, december.history.prev_archive), (DocumentRole::Archive, None));
}

#[test]
fn h5_an_rss_archive_is_read_and_an_empty_link_ends_it() {
    let index = document!("arch-rss-index.xml", Some("https://tower.example/rss/current.xml"));
    assert_eq!(index.role, DocumentRole::Subscription);
    assert_eq!(index.history.prev_archive.as_deref(), Some("https://tower.example/rss/a3.xml"));
    assert_eq!(ids(&index), ["b7", "b6"]);
    assert!(index.entries.iter().all(|entry| entry.updated.is_none() && entry.published.is_none()));

    let third = document!("arch-rss-a3.xml", Some("https://tower.example/rss/a3.xml"));
    assert_eq!(third.role, DocumentRole::Archive);
    assert_eq!(third.history.this.as_deref(), Some("https://tower.example/rss/current.xml"));
    assert_eq!(third.history.prev_archive.as_deref(), Some("https://tower.example/rss/a2.xml"));
    let second = document!("arch-rss-a2.xml", Some("https://tower.example/rss/a2.xml"));
    assert_eq!(second.history.current.as_deref(), Some("https://tower.example/rss/current.xml"));
    let first = document!("arch-rss-a1.xml", Some("https://tower.example/rss/a1.xml"));
    assert_eq!((first.role, first.history.prev_archive), (DocumentRole::Archive, None));
    assert_eq!(document!("arch-rss-a1.xml", None).history.prev_archive, None);
}

#[test]
fn h6_a_complete_feed_says_so() {
    let document = document!("complete.xml", Some("https://lakes.example/top.atom"));
    assert_eq!((document.role, document.history.complete), (DocumentRole::Complete, true));
    assert_eq!(document.entries[0].summary.as_deref(), Some("0.4 degrees"));
}

#[test]
fn h7_pages_are_distinguished_from_archives() {
    let first = document!("paged-1.xml", Some("https://find.example/rss?q=bicycles"));
    assert_eq!(first.role, DocumentRole::Paged);
    assert_eq!(first.history.next.as_deref(), Some("https://find.example/rss?q=bicycles&page=2"));
    let second = document!("paged-2.xml", Some("https://find.example/rss?q=bicycles&page=2"));
    assert_eq!((second.role, second.history.next.as_deref()), (DocumentRole::Paged, None));
    assert_eq!(second.history.previous.as_deref(), Some("https://find.example/rss?q=bicycles"));
}

#[test]
fn h8_redirect_documents_lead_elsewhere_or_nowhere() {
    let new = Some(NewLocation::At("https://new.example/feed.xml".to_owned()));
    let document = document!("redirect.xml", None);
    assert_eq!((document.kind, &document.new_location), (Kind::Redirect, &new));
    assert_eq!(document!("redirect-gone.xml", None).new_location, Some(NewLocation::Gone));
    let long = "x".repeat(9000);
    let text = format!("<redirect><newLocation>{long}</newLocation></redirect>");
    let found = parse(text.as_bytes(), &Origin::default());
    assert_eq!((found.kind, found.new_location), (Kind::Redirect, None), "it ends nothing");

    let read = |text: &str| parse(text.as_bytes(), &Origin::default());
    let malformed = "<?xml version=\"1.0\"?>\n<redirect>\n <newLocation>https://new.example/feed.xml<newLocation>\n</redirect>";
    assert_eq!(read(malformed).new_location, new);
    let by_attribute = "<redirect><newLocation href='https://new.example/feed.xml'/></redirect>";
    assert_eq!(read(by_attribute).new_location, new);
    assert_eq!(
        read("<redirect><newLocation> \n</newLocation></redirect>").new_location,
        Some(NewLocation::Gone)
    );
    assert_eq!(read("<redirect><elsewhere/></redirect>").kind, Kind::None);
}

#[test]
fn h9_history_in_the_forms_of_the_drafts_is_understood() {
    let document = document!("legacy-prev.xml", Some("https://old.example/feed.atom"));
    assert_eq!((document.kind, document.role), (Kind::Atom, DocumentRole::Subscription));
    assert!(document.history.incremental);
    assert_eq!(
        document.history.prev_archive.as_deref(),
        Some("https://old.example/archive/2005-08.atom")
    );
    assert_eq!(ids(&document), ["tag:old.example,2005:9"]);

    let document = document!("legacy-previous.xml", Some("https://mid.example/rss"));
    assert_eq!(document.role, DocumentRole::Subscription);
    assert_eq!(document.history.previous.as_deref(), Some("https://mid.example/2006/01.rss"));
    assert_eq!(document.history.prev_archive, None);
}

#[test]
fn h10_json_feed_keeps_its_usable_parts() {
    let document = document!("json-page.json", Some("https://kites.example/feed.json"));
    assert_eq!((document.kind, document.role), (Kind::Json, DocumentRole::Paged));
    assert_eq!(document.history.next.as_deref(), Some("https://kites.example/feed.json?p=2"));
    assert_eq!(
        document.hints.intervals,
        [rule(240, ALWAYS, ALWAYS), rule(30, (Some(9), Some(17)), (Some(1), Some(5)))]
    );
    assert_eq!(ids(&document), ["12"]);
    assert_eq!(document.entries[0].content.as_deref(), Some("Numeric id becomes \"12\"."));
    assert_eq!(document.flaws.len(), 1);
}
