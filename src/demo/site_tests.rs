//! Tests of the demo site: every document, and how the responses change over time.

use std::collections::BTreeSet;
use std::io::Read as _;

use chrono::{TimeDelta, TimeZone as _};
use feed_rs::model::Feed;

use super::*;

const BASE: &str = "http://127.0.0.1:8080";

fn start() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 2, 10, 0, 0).unwrap()
}

fn site() -> DemoSite {
    DemoSite::new(BASE, start())
}

fn answered(site: &DemoSite, address: &str, running: i64) -> DemoAnswer {
    ask(site, address, running, DemoRequest::default())
}

fn ask(site: &DemoSite, address: &str, running: i64, request: DemoRequest<'_>) -> DemoAnswer {
    let address = address.strip_prefix(BASE).unwrap_or(address);
    let (path, query) = match address.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (address, None),
    };
    site.answer(&DemoRequest { path, query, ..request }, start() + TimeDelta::seconds(running))
}

/// Returns the feed at an address, following redirects as a feed reader would.
fn feed(site: &DemoSite, address: &str, running: i64) -> Feed {
    let answer = answered(site, address, running);
    if let Some(location) = answer.header("location") {
        return feed(site, location, running);
    }
    assert_eq!(answer.status, 200, "{address}");
    feed_rs::parser::parse(answer.body.as_slice()).unwrap_or_else(|e| panic!("{address}: {e}"))
}

fn ids(feed: &Feed) -> BTreeSet<String> {
    feed.entries.iter().map(|entry| entry.id.clone()).collect()
}

fn link(feed: &Feed, rel: &str) -> Option<String> {
    feed.links.iter().find(|l| l.rel.as_deref() == Some(rel)).map(|l| l.href.clone())
}

#[test]
fn every_offered_feed_parses_with_its_offered_title() {
    let site = site();
    assert_eq!(site.subscriptions().len(), OFFERS.len());
    for (subscription, offer) in site.subscriptions().iter().zip(&OFFERS) {
        let feed = feed(&site, &subscription.url, 0);
        assert_eq!(feed.title.as_ref().unwrap().content, offer.title);
        assert!(!subscription.tags.is_empty());
        assert!(feed.entries.len() >= 6, "{}: {} entries", offer.title, feed.entries.len());
    }
}

#[test]
fn no_document_keeps_a_mark() {
    for document in &DOCUMENTS {
        for running in [0, 7200] {
            for edition in [Edition::Feed, Edition::Since(0), Edition::Page] {
                let now = start() + TimeDelta::seconds(running);
                let stage = TemplateContext { base: BASE, started: start(), now };
                let text = expand(document.template, stage, edition).text;
                assert!(!text.contains("{{"), "{}: {text}", document.name);
            }
        }
    }
}

#[test]
fn demo_entries_have_unique_ids_and_recent_dates() {
    for document in &DOCUMENTS {
        let running = 3600;
        let now = start() + TimeDelta::seconds(running);
        let stage = TemplateContext { base: BASE, started: start(), now };
        let text = expand(document.template, stage, Edition::Feed).text;
        let feed = feed_rs::parser::parse(text.as_bytes()).unwrap();
        assert_eq!(ids(&feed).len(), feed.entries.len(), "{}", document.name);
        let dates: Vec<_> =
            feed.entries.iter().map(|e| e.updated.or(e.published).expect("a date")).collect();
        let newest = dates.iter().max().expect("an entry");
        let oldest_allowed = match document.cache_control {
            Some(text) if text.contains("immutable") => TimeDelta::days(400),
            Some(_) | None if document.name.starts_with("finds-") => TimeDelta::days(120),
            Some(_) | None => TimeDelta::days(8),
        };
        assert!(*newest <= now, "{}: {newest}", document.name);
        assert!(*newest >= start() - oldest_allowed, "{}: {newest}", document.name);
    }
}

#[test]
fn every_link_into_the_site_leads_somewhere() {
    let site = site();
    for document in &DOCUMENTS {
        let running = 3600;
        let now = start() + TimeDelta::seconds(running);
        let stage = TemplateContext { base: BASE, started: start(), now };
        let text = expand(document.template, stage, Edition::Page).text;
        for piece in text.split(BASE).skip(1) {
            let address: String =
                piece.chars().take_while(|c| !matches!(c, '"' | '<' | '\\' | ' ')).collect();
            let answer = answered(&site, address.split('#').next().unwrap(), running);
            let allowed: &[u16] = if document.name == "tramway" { &[200, 410] } else { &[200] };
            assert!(allowed.contains(&answer.status), "{}: {address}", document.name);
        }
    }
}

#[test]
fn enclosures_state_the_length_they_have() {
    let site = site();
    let text = String::from_utf8(answered(&site, "/last-ferry/episodes.xml", 0).body).unwrap();
    for (address, _, bytes) in ENCLOSED {
        assert_eq!(answered(&site, address, 0).body, bytes);
        let stated = format!("{BASE}{address}\" length=\"{}\"", bytes.len());
        assert_eq!(text.contains(address), text.contains(&stated), "{address}");
    }
}

#[test]
fn each_validator_brings_a_304_while_nothing_changes() {
    let site = site();
    for document in &DOCUMENTS {
        let Access::Open = document.access else { continue };
        let first = answered(&site, document.address, 10);
        let (tag, date) = (first.header("etag"), first.header("last-modified"));
        assert_eq!(tag.is_some(), document.validators != DemoValidators::Date);
        assert_eq!(date.is_some(), document.validators != DemoValidators::Tag);
        for request in [
            DemoRequest { if_none_match: tag, ..DemoRequest::default() },
            DemoRequest { if_modified_since: date, ..DemoRequest::default() },
        ] {
            let conditional =
                request.if_none_match.is_some() || request.if_modified_since.is_some();
            let again = ask(&site, document.address, 20, request);
            assert_eq!(again.status, if conditional { 304 } else { 200 }, "{}", document.name);
            assert_eq!(again.header("etag"), tag);
            assert_eq!(again.body.is_empty(), conditional);
        }
    }
}

#[test]
fn a_strange_tag_or_an_early_date_brings_the_whole_document() {
    let early = "Mon, 02 Mar 2026 09:59:59 GMT";
    for (request, status) in [
        (DemoRequest { if_none_match: Some("\"x\""), ..DemoRequest::default() }, 200),
        (DemoRequest { if_none_match: Some("\"x\", W/\"desk-0\""), ..DemoRequest::default() }, 304),
        (DemoRequest { if_modified_since: Some(early), ..DemoRequest::default() }, 200),
        (DemoRequest { if_modified_since: Some("yesterday"), ..DemoRequest::default() }, 200),
    ] {
        assert_eq!(ask(&site(), "/desk/feed.xml", 0, request).status, status, "{request:?}");
    }
}

#[test]
fn newsroom_publishes_every_ninety_seconds() {
    let site = site();
    let count = |running| feed(&site, "/courier/feed.xml", running).entries.len();
    for (running, new) in [(0, 0), (89, 0), (90, 1), (180, 2), (899, 9), (900, 10), (9000, 10)] {
        assert_eq!(count(running), count(0) + new, "{running} s");
    }
    let newest = feed(&site, "/courier/feed.xml", 185).entries[0].published;
    assert_eq!(newest, Some(start() + TimeDelta::seconds(180)));
}

#[test]
fn newsroom_sends_only_new_entries_as_a_delta() {
    let site = site();
    let first = answered(&site, "/courier/feed.xml", 100);
    let request = DemoRequest {
        if_none_match: first.header("etag"),
        a_im: Some("feed, gzip"),
        ..DemoRequest::default()
    };
    assert_eq!(ask(&site, "/courier/feed.xml", 170, request).status, 304);
    let delta = ask(&site, "/courier/feed.xml", 280, request);
    assert_eq!((delta.status, delta.header("im")), (226, Some("feed")));
    let news = feed_rs::parser::parse(delta.body.as_slice()).unwrap();
    let known = ids(&feed(&site, "/courier/feed.xml", 100));
    let now = ids(&feed(&site, "/courier/feed.xml", 280));
    assert_eq!(ids(&news), now.difference(&known).cloned().collect());
    assert_eq!(delta.header("etag"), answered(&site, "/courier/feed.xml", 280).header("etag"));
}

#[test]
fn archives_reach_the_oldest_after_the_missing_one_heals() {
    let walk = |site: &DemoSite, running| {
        let mut next = Some("/garden/diary.xml".to_owned());
        let mut statuses = Vec::new();
        while let Some(address) = next.take() {
            let answer = answered(site, &address, running);
            statuses.push(answer.status);
            let document = feed_rs::parser::Builder::new()
                .base_uri(Some(format!("{BASE}{}", address.trim_start_matches(BASE))))
                .build()
                .parse(answer.body.as_slice());
            next = document.ok().and_then(|document| link(&document, "prev-archive"));
        }
        statuses
    };
    assert_eq!(walk(&site(), 59), [200, 200, 200, 403]);
    assert_eq!(walk(&site(), 60), [200; 7]);
    let healed = site();
    healed.heal();
    assert_eq!(walk(&healed, 0), [200; 7]);
}

#[test]
fn gone_feed_answers_each_reader_once_for_a_minute() {
    let site = site();
    let first = answered(&site, "/tramway/feed.xml", 2);
    let known = DemoRequest { if_none_match: first.header("etag"), ..DemoRequest::default() };
    assert_eq!(first.status, 200);
    assert_eq!(ask(&site, "/tramway/feed.xml", 3, known).status, 410);
    assert_eq!(answered(&site, "/tramway/feed.xml", 59).status, 200);
    assert_eq!(answered(&site, "/tramway/feed.xml", 60).status, 410);
}

#[test]
fn the_moved_feed_names_its_new_address() {
    let moved = answered(&site(), "/ferry/feed.xml", 0);
    let to = format!("{BASE}/last-ferry/episodes.xml");
    assert_eq!((moved.status, moved.header("location")), (301, Some(to.as_str())));
}

#[test]
fn the_paged_feed_has_three_pages_without_a_shared_entry() {
    let site = site();
    let mut address = "/finds/feed.json".to_owned();
    let mut seen = BTreeSet::new();
    for page in 1..=3 {
        let text = String::from_utf8(answered(&site, &address, 0).body).unwrap();
        let page_ids = ids(&feed_rs::parser::parse(text.as_bytes()).unwrap());
        assert!(page_ids.is_disjoint(&seen), "page {page}");
        seen.extend(page_ids);
        let next = text.split_once("\"next_url\": \"").map(|(_, rest)| rest.split('"').next());
        assert_eq!(next.is_some(), page < 3, "page {page}");
        address = next.flatten().unwrap_or_default().to_owned();
    }
    assert!(seen.len() >= 18);
}

#[test]
fn the_ranking_stays_ten_long_while_entries_come_and_go() {
    let site = site();
    let ranking = |running| ids(&feed(&site, "/benches/ranking.xml", running));
    let (first, second, third) = (ranking(0), ranking(180), ranking(360));
    for set in [&first, &second, &third] {
        assert_eq!(set.len(), 10);
    }
    assert_eq!(first.difference(&second).count(), 1);
    assert_eq!(second.difference(&third).count(), 1);
}

#[test]
fn gzip_is_used_when_accepted_and_weakens_the_tag() {
    let site = site();
    let plain = answered(&site, "/courier/feed.xml", 0);
    for (accept_encoding, compressed) in
        [("gzip", true), ("br, GZIP;q=0.5", true), ("gzip;q=0", false), ("br", false)]
    {
        let request =
            DemoRequest { accept_encoding: Some(accept_encoding), ..DemoRequest::default() };
        let answer = ask(&site, "/courier/feed.xml", 0, request);
        assert_eq!(answer.header("content-encoding").is_some(), compressed, "{accept_encoding}");
        if compressed {
            let mut body = Vec::new();
            flate2::read::GzDecoder::new(answer.body.as_slice()).read_to_end(&mut body).unwrap();
            assert_eq!(body, plain.body);
            assert_eq!(answer.header("etag"), Some("W/\"courier-0\""));
        }
    }
}

#[test]
fn the_front_page_and_each_home_page_name_their_feeds() {
    let site = site();
    let html = |address: &str| {
        let answer = answered(&site, address, 0);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(HTML)), "{address}");
        String::from_utf8(answer.body).unwrap()
    };
    let front = html("/");
    assert_eq!(front.matches("rel=\"alternate\"").count(), OFFERS.len());
    for offer in &OFFERS {
        assert!(front.contains(&format!("href=\"{}\"", offer.address)));
    }
    assert!(html("/courier/").contains("href=\"/courier/feed.xml\""));
}

#[test]
fn the_linked_page_of_a_summary_has_the_full_text() {
    let site = site();
    let feed = feed(&site, "/kitchen/feed.xml", 0);
    let entry = &feed.entries[0];
    assert!(entry.content.is_none());
    let page = String::from_utf8(answered(&site, &entry.links[0].href, 0).body).unwrap();
    assert!(page.contains("<article>"));
    assert!(page.len() > 2 * entry.summary.as_ref().unwrap().content.len());
}

#[test]
fn unpublished_path_is_answered_404() {
    for address in ["/x", "/courier/nothing", "/courier/feed.xml?page=2", "", "//", "/é/é"] {
        assert_eq!(answered(&site(), address, 0).status, 404, "{address}");
    }
}
