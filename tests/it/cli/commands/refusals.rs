//! Wrong input: the program prints one sentence that says what to do, exits with the right status, and does not panic (UX 4).

use std::process::Command;

use super::new_program;
use crate::support::binary::BINARY;
use crate::support::documents::{garbage, page, rss};
use crate::support::site::{Site, answer};

fn site() -> Site {
    Site::start(|request| match request.path() {
        "/page" => answer(200, &[("content-type", "text/html")], page("No feeds here", &[])),
        "/binary" => answer(200, &[("content-type", "application/rss+xml")], garbage()),
        "/garden/orchard.xml" => answer(200, &[], rss("Orchard", "e", 2)),
        "/forbidden" => answer(403, &[], ""),
        _ => answer(404, &[], ""),
    })
}

#[test]
fn a_word_is_no_address() {
    let program = new_program();
    for word in ["orchard", "", " ", "ftp://a.example/feed", "http://", "javascript:alert(1)"] {
        let told = program.run(&["add", word]).refused(2);
        assert!(told.contains("address"), "{word:?}: {told}");
    }
}

#[test]
fn unreachable_host_is_reported() {
    let told = new_program().run(&["add", "http://127.0.0.1:1/feed"]).refused(2);
    assert!(told.contains("no connection to 127.0.0.1"), "{told}");
}

#[test]
fn page_without_feeds_is_reported_with_its_title() {
    let site = site();
    let told = new_program().run(&["add", &site.at("/page")]).refused(2);
    assert!(told.contains("No feeds here") && told.contains(&site.at("/page")), "{told}");
}

#[test]
fn random_bytes_are_reported_as_no_feed() {
    let site = site();
    let told = new_program().run(&["add", &site.at("/binary")]).refused(2);
    assert!(told.contains("not a feed") || told.contains("no feed"), "{told}");
    assert!(told.chars().all(|char| !char.is_control()), "{told:?}");
}

#[test]
fn error_status_is_reported_as_such() {
    let site = site();
    let told = new_program().run(&["add", &site.at("/forbidden")]).refused(2);
    assert!(told.contains("403"), "{told}");
}

#[test]
fn offline_asks_nobody() {
    let site = site();
    let told = new_program().run(&["--offline", "add", &site.at("/garden/orchard.xml")]).refused(2);
    assert!(told.contains("--offline"), "{told}");
    assert_eq!(site.asked("/garden/orchard.xml").len(), 0);
}

#[test]
fn unknown_feed_is_reported_as_such() {
    let program = new_program();
    for args in [["poll", "nowhere"], ["entries", "nowhere"], ["entries", "77"]] {
        let told = program.run(&args).refused(2);
        assert!(told.contains(args[1]) && told.contains("backissue feeds"), "{args:?}: {told}");
    }
}

#[test]
fn ambiguous_title_is_reported_with_feed_numbers() {
    let program = new_program();
    program
        .run(&["add", "--no-poll", "http://127.0.0.1:1/a.xml", "http://127.0.0.1:1/b.xml"])
        .with(0);
    let told = program.run(&["poll", "127.0"]).refused(2);
    assert!(told.contains("2 subscriptions") && told.contains("number"), "{told}");
}

#[test]
fn unknown_entry_number_is_reported() {
    let program = new_program();
    for entry in ["abc", "1", "1.", ".1", "1.2.3", "99999999999.1", "1.99"] {
        let told = program.run(&["show", entry]).refused(2);
        assert!(told.contains(entry) && told.contains("backissue entries"), "{entry}: {told}");
    }
}

#[test]
fn invalid_date_is_reported_by_name() {
    let program = new_program();
    for date in ["soon", "2026-13-01", "2026-02-30", "12:00"] {
        let told = program.run(&["entries", "--since", date]).refused(2);
        assert!(told.contains(date) && told.contains("2026-03-01"), "{date}: {told}");
    }
}

#[test]
fn export_to_a_missing_folder_is_reported() {
    let program = new_program();
    let nowhere = program.path("no/such/folder/feeds.opml");
    let told = program.run(&["export", nowhere.to_str().unwrap()]).refused(2);
    assert!(told.contains("feeds.opml"), "{told}");
}

#[test]
fn low_memory_is_reported_before_any_work() {
    let home = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 150000; exec \"$0\" poll", BINARY]).env_clear();
    let told = shell.env("HOME", home.path()).output().unwrap();
    let text = String::from_utf8(told.stderr).unwrap();
    assert!(text.starts_with("backissue: not enough memory: the system refused"), "{text}");
    assert_eq!((told.status.code(), text.lines().count()), (Some(2), 1));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing was started");
}
