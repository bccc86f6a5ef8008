//! Histories from numbered pages, and from copies in an imitation of the Internet Archive, read by the real binary over loopback.

use backissue::io::http_server::{ServedAnswer, ServedRequest};
use serde_json::Value;

use crate::support::binary::Program;
use crate::support::site::{Site, answer};
use crate::support::world::rss;

const RSS: [(&str, &str); 1] = [("content-type", "application/rss+xml")];

/// Starts a site that serves a blog with three numbered pages, and an imitation of the Internet Archive with one copy of the blog a
/// year, of which one is missing.
fn site() -> Site {
    Site::start(|request| blog(&request).or_else(|| copies(&request)).unwrap_or_else(missing))
}

fn missing() -> ServedAnswer {
    answer(404, &[], "")
}

fn blog(request: &ServedRequest) -> Option<ServedAnswer> {
    let number: i64 = match (request.path(), request.query()) {
        ("/feed", None) => 1,
        ("/feed", Some(query)) => query.strip_prefix("paged=")?.parse().ok()?,
        _ => return None,
    };
    let entry = (&*format!("e{number}"), "An entry", number * 10, "text");
    (number <= 3).then(|| answer(200, &RSS, rss("Blog", &[entry])))
}

/// Serves a blog whose numbered pages never end, with dates in the future and in the past.
fn endless(request: &ServedRequest) -> ServedAnswer {
    let number: i64 = match (request.path(), request.query()) {
        ("/feed", None) => 1,
        ("/feed", Some(query)) => query.trim_start_matches("paged=").parse().unwrap(),
        _ => return missing(),
    };
    let hours = (number % 3 - 1) * 50_000;
    answer(200, &RSS, rss("Blog", &[(&*format!("e{number}"), "An entry", hours, "text")]))
}

fn copies(request: &ServedRequest) -> Option<ServedAnswer> {
    if request.path() == "/cdx/search/cdx" {
        let listing = r#"[["timestamp","digest"],["20210101000000","A"],["20220101000000","B"],
            ["20230101000000","C"],["20240101000000","A"]]"#;
        return Some(answer(200, &[("content-type", "application/json")], listing));
    }
    let year: i64 = request.path_and_query.strip_prefix("/web/")?.get(..4)?.parse().ok()?;
    let entry = (&*format!("y{year}"), "Copied", (2026 - year) * 8760, "text");
    (year != 2022).then(|| answer(200, &RSS, rss("Blog", &[entry])))
}

fn subscribed(site: &Site) -> Program {
    let program = Program::new();
    let configuration = format!(
        "[network]\nspace_loopback = false\n[history]\ninternet_archive = \"{}/\"\n",
        site.at("")
    );
    program.write("config.toml", configuration);
    let added = program.run(&["add", &site.at("/feed")]).with(0).out;
    assert!(added.contains("this feed offers no older entries"), "{added}");
    program
}

fn entries(program: &Program) -> usize {
    program.run(&["entries", "1", "--json"]).with(0).json().as_array().unwrap().len()
}

fn history(program: &Program) -> Value {
    program.run(&["history", "1", "--json"]).with(0).json()
}

#[test]
fn numbered_pages_are_read_after_the_next_poll() {
    let site = site();
    let program = subscribed(&site);
    assert!(site.asked("/feed?paged=2").is_empty());
    let told = program.run(&["set", "1", "--archives", "wordpress"]).with(0).out;
    assert!(told.contains("archives: none → wordpress"), "{told}");
    program.run(&["poll", "1"]).with(0);
    program.run(&["poll", "1", "--force"]).with(0);
    let known = history(&program);
    assert_eq!(known["history"]["state"], "adapted");
    assert_eq!(known["archives"].as_array().unwrap().len(), 2);
    for number in 2..=4 {
        assert_eq!(site.asked(&format!("/feed?paged={number}")).len(), 1, "{number}");
    }
    assert_eq!(site.asked("/robots.txt").len(), 1);
    program.run(&["set", "1", "--archives", "none"]).with(0);
    assert_eq!(history(&program)["history"]["state"], "not_offered");
}

#[test]
fn endless_pages_with_wrong_dates_end_at_the_limit() {
    let site = Site::start(|request| endless(&request));
    let program = subscribed(&site);
    let told = program.run(&["history", "1", "--archives", "wordpress"]).with(0).out;
    assert!(told.contains("19 older entries from WordPress' pages"), "{told}");
    assert!(told.contains("; there is more"), "{told}");
    // A row is the gap below them, because the robots.txt is one of the 20 requests.
    assert_eq!((entries(&program), site.asked("/feed?paged=21").len()), (21, 0));
    program.run(&["undo"]).with(0);
    assert_eq!(entries(&program), 2);
}

#[test]
fn copy_of_another_reader_is_read_and_forgotten() {
    let copy = |request: &ServedRequest| {
        let rows = [("e1", "Forged", 1, "text"), ("old", "Copied", 9_000, "text")];
        (request.path() == "/copy").then(|| answer(200, &RSS, rss("Copy", &rows)))
    };
    let site = Site::start(move |request| {
        copy(&request).or_else(|| blog(&request)).unwrap_or_else(missing)
    });
    let program = subscribed(&site);
    let told = program.run(&["history", "1", "--archives", &site.at("/copy")]).with(0).out;
    assert!(told.contains("1 older entry from 127.0.0.1's copy"), "{told}");
    assert_eq!(entries(&program), 2);
    assert_eq!(history(&program)["history"]["state"], "not_offered", "a copy proves nothing");
    program.run(&["history", "1", "--forget", "127.0.0.1"]).with(0);
    assert_eq!(entries(&program), 1);
    let told = program.run(&["history", "1", "--forget", "127.0.0.1"]).with(2).err;
    assert!(told.contains("no copy at '127.0.0.1' was read"), "{told}");
}

#[test]
fn copies_are_listed_and_read_and_a_gone_one_is_a_gap() {
    let site = site();
    let program = subscribed(&site);
    program.run(&["set", "1", "--archives", "internet-archive"]).with(0);
    program.run(&["poll", "1"]).with(0);
    let known = history(&program);
    let text = known["history"]["text"].as_str().unwrap();
    let told = "history from the Internet Archive (not by the publisher): may be incomplete, 1 gap";
    assert_eq!(text, told);
    assert_eq!(known["archives"].as_array().unwrap().len(), 2, "{known:#}");
    let rows = program.run(&["entries", "1", "--json"]).with(0).json();
    let kinds: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["entry", "entry", "gap", "entry"], "in its place");
    let (feed, copy) = (site.at("/feed"), |year: u32| format!("/web/{year}0101000000id_/"));
    assert_eq!(site.asked(&format!("{}{feed}", copy(2021))).len(), 1);
    assert!(site.asked(&format!("{}{feed}", copy(2024))).is_empty(), "it says what 2021 said");
    // No service outside has copies of this machine, so only another reader is left.
    assert_eq!(known["elsewhere"].as_array().unwrap().len(), 1, "{known:#}");
    assert_eq!(known["elsewhere"][0]["source"], Value::Null);
    let figure = program.run(&["history", "1", "--figure"]).with(0).out;
    assert!(figure.contains("Blog: history from the Internet Archive"), "{figure}");
    assert!(figure.contains("2023 |") && figure.contains("I Internet Archive, ! missing"));
    let (file, command) = (program.path("years.svg"), ["history", "1", "--figure", "--svg"]);
    let command = [&command[..], &[file.to_str().unwrap()]].concat();
    for _ in 0..2 {
        // A picture of an earlier run is replaced.
        program.run(&command).with(0);
        let picture = std::fs::read_to_string(&file).unwrap();
        assert!(picture.starts_with("<svg") && picture.contains("2023</text>"), "{picture}");
    }
    program.run(&["history", "1", "--retry"]).with(1);
    assert_eq!(site.asked(&format!("{}{feed}", copy(2022))).len(), 2);
    assert_eq!(site.asked(&format!("{}{feed}", copy(2023))).len(), 1);
}
