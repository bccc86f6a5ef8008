//! Subscriptions to archives instead of feeds, and responses that are not a whole feed, through the real binary (SPEC C.2, D.2).

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::{feeds, new_program};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// Number of feeds in the imported list.
const FEEDS: usize = 17;
/// Number of archive addresses in the imported list.
const ARCHIVES: usize = 3;

/// Returns a document of the archived feed `number`: its subscription document if `archive` is `None`, otherwise archive 1 or 2.
fn document(number: usize, archive: Option<usize>) -> String {
    let mut text = format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
         <title>Press {number}</title><id>urn:press:{number}</id><updated>2026-01-01T00:00:00Z</updated>"
    );
    if archive.is_some() {
        write!(text, "<fh:archive/><link rel='current' href='/press/{number}/index.atom'/>")
            .unwrap();
    }
    let older = archive.unwrap_or(3) - 1;
    if older > 0 {
        write!(text, "<link rel='prev-archive' href='/press/{number}/{older}.atom'/>").unwrap();
    }
    let month = archive.unwrap_or(3);
    write!(
        text,
        "<entry><id>urn:{number}:{month}</id><title>Month {month}</title>\
         <updated>2025-{month:02}-01T00:00:00Z</updated></entry></feed>"
    )
    .unwrap();
    text
}

/// Returns an Atom document with the given link elements and one entry, whose ID and title are `entry`.
fn linked(entry: &str, links: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>Linked</title><id>urn:linked</id>\
         <updated>2026-01-01T00:00:00Z</updated>{links}<entry><id>urn:{entry}</id><title>{entry}</title>\
         <updated>2025-01-01T00:00:00Z</updated></entry></feed>"
    )
}

/// Starts a site with feeds at `/feed/N` and archived feeds at `/press/N/`.
fn site() -> Site {
    Site::start(|request| {
        let path = request.path().to_owned();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            ["feed", number] => answer(200, &[], rss(&format!("Feed {number}"), number, 3)),
            ["press", number, "index.atom"] => {
                answer(200, &[], document(number.parse().unwrap(), None))
            }
            ["press", number, name] => {
                let archive = name.trim_end_matches(".atom").parse().unwrap();
                answer(200, &[], document(number.parse().unwrap(), Some(archive)))
            }
            ["alone"] => {
                let archive = document(9, Some(1));
                let link = "<link rel='current' href='/press/9/index.atom'/>";
                answer(200, &[], archive.replace(link, ""))
            }
            // A document that links to a newer document and is not an archive (draft -05).
            ["older"] => answer(200, &[], linked("older", "<link rel='current' href='/newer'/>")),
            ["newer"] => answer(200, &[], linked("newer", "")),
            // `chain` is a subscription document. Its newest archive `a2` links to `a1`, which does not exist, and to the newer
            // archive `a3`, which the subscription document does not name.
            ["chain"] => answer(200, &[], linked("chain", "<link rel='prev-archive' href='/a2'/>")),
            ["a2"] => answer(
                200,
                &[],
                linked(
                    "a2",
                    "<link rel='next-archive' href='/a3'/><link rel='prev-archive' href='/a1'/>",
                ),
            ),
            ["a3"] => answer(200, &[], linked("a3", "<link rel='prev-archive' href='/a2'/>")),
            ["part"] => answer(206, &[], rss("Part", "p", 2)),
            ["delta"] => answer(226, &[("im", "feed")], rss("Delta", "d", 2)),
            _ => answer(404, &[], ""),
        }
    })
}

fn list(addresses: &[String]) -> String {
    let outlines: String =
        addresses.iter().map(|url| format!("<outline type=\"rss\" xmlUrl=\"{url}\"/>")).collect();
    format!("<opml version=\"2.0\"><body>{outlines}</body></opml>")
}

#[test]
fn imported_archives_lead_to_their_feeds_at_first_poll() {
    let (site, program) = (site(), new_program());
    let plain = (1..=FEEDS).map(|number| site.at(&format!("/feed/{number}")));
    let archives = (1..=ARCHIVES).map(|number| site.at(&format!("/press/{number}/1.atom")));
    let addresses: Vec<String> = plain.chain(archives).collect();
    program.run_with(&["import", "-"], list(&addresses).as_bytes()).with(0);
    let told = program.run(&["poll"]).with(0);
    let listed = feeds(&program);
    assert_eq!(listed.len(), FEEDS + ARCHIVES);
    for (feed, imported) in listed.iter().zip(&addresses) {
        if imported.contains("/feed/") {
            assert_eq!(feed["url"], imported.as_str());
            assert_eq!(feed["history"]["state"], "not_offered");
            assert_eq!(feed["former_urls"], Value::Array(Vec::new()));
            continue;
        }
        let current = imported.replace("1.atom", "index.atom");
        assert_eq!(feed["url"], current.as_str(), "{told:#?}");
        assert_eq!(feed["former_urls"][0]["url"], imported.as_str());
        assert_eq!(feed["total"], 3, "the current document and both archives were read");
        assert_eq!(feed["history"]["text"], "complete history");
        assert_eq!(feed["attention"]["state"], "moved");
        assert!(told.out.contains(&format!("now read from {current}")), "{told:#?}");
    }
    program.run_with(&["import", "-"], list(&addresses).as_bytes()).with(0);
    assert_eq!(feeds(&program).len(), listed.len(), "by their former addresses they are known");
    for number in 1..=ARCHIVES {
        let archive = format!("/press/{number}/1.atom");
        assert_eq!(site.asked(&archive).len(), 1, "{archive} is not requested twice");
    }
}

#[test]
fn archive_naming_no_feed_asks_and_is_never_complete() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/alone"), "--no-poll"]).with(0);
    program.run(&["poll"]).with(0);
    let feed = &feeds(&program)[0];
    assert_eq!(feed["history"]["state"], "archive");
    assert_eq!(feed["attention"]["state"], "archive");
    let listed = program.run(&["feeds"]).with(0);
    assert!(!listed.out.contains("complete"), "{listed:#?}");
}

#[test]
fn known_archive_is_not_refetched_after_no_history() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/press/1/1.atom"), "--no-poll"]).with(0);
    program.run(&["poll", "--no-history"]).with(0);
    assert!(site.asked("/press/1/2.atom").is_empty(), "no archive is requested");
    let feed = &feeds(&program)[0];
    assert_eq!(feed["url"], site.at("/press/1/index.atom"));
    assert_eq!(feed["history"]["text"], "1 archive read so far");
    program.run(&["poll", "--all"]).with(0);
    assert_eq!(feeds(&program)[0]["history"]["text"], "complete history");
    assert_eq!(feeds(&program)[0]["total"], 3);
    assert_eq!(site.asked("/press/1/1.atom").len(), 1);
}

#[test]
fn newer_document_is_read_once_without_a_move() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/older")]).with(0);
    let feed = &feeds(&program)[0];
    assert_eq!((&feed["url"], &feed["total"]), (&site.at("/older").into(), &2.into()), "{feed:#}");
    assert_eq!((site.asked("/older").len(), site.asked("/newer").len()), (1, 1));
}

#[test]
fn next_archive_is_read_and_the_missing_one_says_why() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/chain")]).with(0);
    assert_eq!((site.asked("/a3").len(), site.asked("/a1").len()), (1, 1));
    let feed = &feeds(&program)[0];
    assert_eq!((&feed["total"], &feed["history"]["gaps"]), (&3.into(), &1.into()), "{feed:#}");
    assert_ne!(feed["history"]["state"], "complete");
    let told = program.run(&["history", "1"]).out;
    assert!(told.contains("/a1") && told.contains("404"), "{told}");
}

#[test]
fn a_410_after_a_redirect_and_an_empty_move_end_no_feed() {
    let turned = Arc::new(AtomicBool::new(false));
    let has_turned = Arc::clone(&turned);
    let site =
        Site::start(move |request| match (request.path(), has_turned.load(Ordering::Relaxed)) {
            ("/ended", true) => answer(302, &[("location", "/gone")], ""),
            ("/moved", true) => answer(301, &[("location", "/empty")], ""),
            ("/empty", _) => answer(200, &[], rss("Empty", "e", 0)),
            ("/gone", _) => answer(410, &[], ""),
            (path, _) => answer(200, &[], rss(path, "e", 2)),
        });
    let program = new_program();
    program.run(&["add", &site.at("/ended"), &site.at("/moved")]).with(0);
    turned.store(true, Ordering::Relaxed);
    program.run(&["poll", "--all"]).with(1);
    let listed = feeds(&program);
    let at = |path: &str| listed.iter().find(|feed| feed["url"] == site.at(path)).unwrap();
    assert_eq!(at("/ended")["state"], "failing");
    let moved = at("/moved");
    assert_eq!(moved["state"], "failing");
    assert_eq!(moved["proposed_url"], site.at("/empty"));
    assert_eq!(moved["attention"]["state"], "move proposed");
}

#[test]
fn partial_feed_answer_is_reported_at_once() {
    let (site, program) = (site(), new_program());
    for (path, status) in [("/part", "206"), ("/delta", "226")] {
        let added = program.run(&["add", &site.at(path)]).with(1);
        assert!(added.err.contains(status), "{added:#?}");
    }
    let good = program.run(&["add", &site.at("/feed/1")]).with(0);
    assert_eq!(good.err, "");
}
