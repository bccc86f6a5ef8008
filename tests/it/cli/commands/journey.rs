//! The usual course of a subscription: a page's address is added, an entry is read, and the feed is polled again.

use super::{each, entries, feeds, new_program};
use crate::support::documents::{page, rss};
use crate::support::site::{Site, answer};

const ODD_TAG: &str = "W/\"odd tag, not quoted-gzip";
const ODD_DATE: &str = "yesterday at noon";

/// Starts a site with a feed whose responses have validators, and a page that links to the feed.
fn site() -> Site {
    Site::start(|request| match request.path() {
        "/feed.xml" => {
            let headers = [("etag", ODD_TAG), ("last-modified", ODD_DATE)];
            let known = request.header("if-none-match") == Some(ODD_TAG)
                && request.header("if-modified-since") == Some(ODD_DATE);
            if known {
                answer(304, &headers, "")
            } else {
                answer(200, &headers, rss("Orchard", "e", 12))
            }
        }
        "/" => {
            let html = page("A site", &[("Orchard", "feed.xml"), ("Comments", "/comments.xml")]);
            answer(200, &[("content-type", "text/html")], html)
        }
        _ => answer(404, &[("content-type", "text/html")], "<html>nothing</html>"),
    })
}

#[test]
fn a_feed_is_added_read_and_listed() {
    let (site, program) = (site(), new_program());
    let url = site.at("/feed.xml");
    let added = program.run(&["add", &url, "--tag", "garden", "--tag", "news/coast"]).with(0);
    assert!(added.out.contains("Orchard") && added.out.contains("12 entries"), "{added:#?}");
    let says = |words: &str| added.out.contains(words);
    assert!(says("next poll in") != says("feeds are polled only when you ask"), "{added:#?}");
    assert_eq!(added.err, "");
    let listed = feeds(&program);
    assert_eq!(each(&listed, "url"), [url.as_str()]);
    let feed = &listed[0];
    assert_eq!((&feed["title"], &feed["state"]), (&"Orchard".into(), &"ok".into()));
    assert_eq!(
        (&feed["unread"], &feed["total"], &feed["starred"]),
        (&12.into(), &12.into(), &0.into())
    );
    assert_eq!(feed["tags"], serde_json::json!(["garden", "news/coast"]));
    assert_eq!((&feed["etag"], &feed["last_modified"]), (&ODD_TAG.into(), &ODD_DATE.into()));
    assert_eq!(site.asked("/feed.xml").len(), 1, "one request, not one to look and one to read");
}

#[test]
fn the_feed_a_page_names_is_found() {
    let (site, program) = (site(), new_program());
    let added = program.run(&["add", &site.at("/")]).with(0);
    assert!(added.out.contains("offers 2 feeds"), "{added:#?}");
    assert!(added.out.contains(&site.at("/comments.xml")), "{added:#?}");
    assert_eq!(each(&feeds(&program), "url"), [site.at("/feed.xml")]);
    let again = program.run(&["add", &site.at("/feed.xml")]).with(0);
    assert!(again.out.contains("already subscribed"), "{again:#?}");
    assert_eq!(feeds(&program).len(), 1);
}

#[test]
fn a_second_poll_is_conditional_and_adds_nothing() {
    let (site, program) = (site(), new_program());
    let url = site.at("/feed.xml");
    program.run(&["add", &url, "--no-poll"]).with(0);
    assert_eq!(site.asked("/feed.xml").len(), 0);
    let first = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!(
        (&first["polled"], &first["read"], &first["new"]),
        (&1.into(), &1.into(), &12.into())
    );
    let feed = &first["feeds"][0];
    assert_eq!(
        (&feed["outcome"], &feed["status"], &feed["conditional"]),
        (&"read".into(), &200.into(), &false.into())
    );
    assert!(feed["wire_bytes"].as_u64().unwrap() > 1000);
    let second = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!(
        (&second["not_modified"], &second["new"], &second["edited"]),
        (&1.into(), &0.into(), &0.into())
    );
    let feed = &second["feeds"][0];
    assert_eq!(
        (&feed["outcome"], &feed["status"], &feed["conditional"]),
        (&"not_modified".into(), &304.into(), &true.into())
    );
    assert!(feed["next_poll"].as_str().unwrap().ends_with('Z'));
    let asked = site.asked("/feed.xml");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].header("if-none-match"), None);
    assert_eq!(asked[1].header("if-none-match"), Some(ODD_TAG));
    assert_eq!(asked[1].header("if-modified-since"), Some(ODD_DATE));
    assert_eq!(feeds(&program)[0]["total"], 12);
    let polls = feeds(&program)[0]["polls"].as_array().unwrap().len();
    assert_eq!(polls, 2);
}

#[test]
fn refresh_is_another_name_of_poll() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml"), "--no-poll"]).with(0);
    let polled = program.run(&["refresh", "--all", "--json"]).with(0).json();
    assert_eq!(polled["read"], 1);
}

#[test]
fn due_only_poll_skips_feeds_silently() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let polled = program.run(&["poll", "--json"]).with(0).json();
    assert_eq!((&polled["polled"], &polled["skipped"]), (&0.into(), &1.into()));
    assert_eq!(site.asked("/feed.xml").len(), 1);
    program.run(&["poll", "orchard"]).with(0);
    assert_eq!(site.asked("/feed.xml").len(), 2, "named: polled");
    program.run(&["--offline", "poll", "--all"]).with(0);
    assert_eq!(site.asked("/feed.xml").len(), 2, "offline: not asked");
}

#[test]
fn entries_are_listed_newest_first_and_filtered() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml"), "--title", "My orchard"]).with(0);
    let all = entries(&program, &[]);
    let expected: Vec<String> = (1..=12).rev().map(|number| format!("e {number}")).collect();
    assert_eq!(each(&all, "title"), expected);
    let newest = &all[0];
    assert_eq!((&newest["kind"], &newest["id"]), (&"entry".into(), &"e-12".into()));
    assert_eq!(
        (&newest["published"], &newest["read"]),
        (&"2026-03-02T00:12:00Z".into(), &false.into())
    );
    assert_eq!(newest["feed_title"], "My orchard");
    assert_eq!(entries(&program, &["--limit", "3"]).len(), 3);
    assert_eq!(entries(&program, &["--unread", "my orch"]).len(), 12);
    assert_eq!(entries(&program, &["--starred"]).len(), 0);
    assert_eq!(entries(&program, &["--since", "2026-03-02T00:10:00Z"]).len(), 3);
    assert_eq!(entries(&program, &["--since", "2026-03-02"]).len(), 12);
    assert_eq!(entries(&program, &["--since", "2026-03-03"]).len(), 0);
    let plain = program.run(&["entries", "--limit", "2"]).with(0);
    assert_eq!(plain.out.lines().count(), 2, "{plain:#?}");
}

#[test]
fn one_entry_is_shown_as_text_and_as_markup() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let number = entries(&program, &["--limit", "1"])[0]["number"].as_str().unwrap().to_owned();
    let shown = program.run(&["show", &number]).with(0);
    assert!(
        shown.out.contains("e 12") && shown.out.contains("https://site.example/e/12"),
        "{shown:#?}"
    );
    assert!(shown.out.contains("Text of e 12"), "{shown:#?}");
    assert_eq!(program.run(&["show", &number, "--text"]).with(0).out, "Text of e 12\n");
    assert_eq!(program.run(&["show", &number, "--html"]).with(0).out, "Text of <b>e 12</b>\n");
}

#[test]
fn doctor_names_a_theme_that_cannot_be_used() {
    let program = new_program();
    std::fs::create_dir(program.path("themes")).unwrap();
    program.write("themes/night.toml", "star = \"red\"\nstarr = \"red\"\n");
    let told = program.run(&["doctor"]).with(1).out;
    assert!(
        told.contains("theme: ansi16; available: ansi16, dark, light, high-contrast"),
        "{told}"
    );
    assert!(told.contains("line 2: unknown role 'starr'; did you mean 'star'?"), "{told}");
}

#[test]
fn doctor_finds_nothing_wrong_with_what_was_read() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let told = program.run(&["doctor"]).with(0);
    assert!(told.out.contains("1 subscription, 12 entries"), "{told:#?}");
    program.run(&["doctor", "--repair"]).with(0);
}

#[test]
fn empty_lists_are_no_failure() {
    let program = new_program();
    assert_eq!(feeds(&program), [] as [serde_json::Value; 0]);
    assert_eq!(entries(&program, &[]), [] as [serde_json::Value; 0]);
    assert_eq!(program.run(&["poll", "--all", "--json"]).with(0).json()["polled"], 0);
    program.run(&["doctor"]).with(0);
}

#[test]
fn some_failing_feeds_give_status_1() {
    let (site, program) = (site(), new_program());
    let (good, bad) = (site.at("/feed.xml"), site.at("/nothing.xml"));
    let added = program.run(&["add", &good, &bad]).with(1);
    assert_eq!(added.err.lines().count(), 1, "{added:#?}");
    assert_eq!(feeds(&program).len(), 1);
    program.run(&["add", "--no-poll", &bad]).with(0);
    let polled = program.run(&["poll", "--all", "--json"]).with(1).json();
    assert_eq!((&polled["failed"], &polled["not_modified"]), (&1.into(), &1.into()));
}
