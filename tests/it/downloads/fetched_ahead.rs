//! The real binary fetches texts, pictures and a file ahead, and needs no server to show them.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backissue::io::pictures::PictureCache;

use crate::support::binary::{BINARY, Program};
use crate::support::scripted::png;
use crate::support::site::{Site, answer};
use crate::support::terminal_session::Session;

const CONFIGURATION: &str =
    "[network]\nspace_loopback = false\n[downloads]\nfolder = \"~/shows\"\n";
const FILE: &[u8] = b"the bytes of an episode";

/// Returns a feed with three entries, the first of them with an attached file; or, before they are published, with none.
fn feed(host: &str, is_published: bool) -> String {
    let item = |number: u32| {
        let file = format!("<enclosure url='http://{host}/1.mp3' type='audio/mpeg' length='23'/>");
        let file = if number == 1 { file } else { String::new() };
        format!(
            "<item><guid isPermaLink='false'>{number}</guid><title>Wax {number}</title>\
             <pubDate>Mon, 02 Mar 2026 10:0{number}:00 GMT</pubDate><link>http://{host}/page{number}</link>\
             <description>teaser</description>{file}</item>"
        )
    };
    let items: String = (1..=3).map(item).collect();
    let items = if is_published { items } else { String::new() };
    format!("<rss version='2.0'><channel><title>Show</title>{items}</channel></rss>")
}

fn page(number: &str) -> String {
    let text = "The wax is warmed slowly, in water, and never over an open flame. ".repeat(12);
    let image = format!("<p>Warm.</p><img src='/{number}.png' alt='a pot'>");
    format!(
        "<html><body><article><h1>Wax</h1>{image}<p>{text}</p><p>{text}</p></article></body></html>"
    )
}

/// Serves the feed, its pages of which the third is missing, and what they contain.
fn published_site() -> Site {
    Site::start(|request| {
        let host = request.header("host").unwrap_or_default().to_owned();
        let html = [("Content-Type", "text/html")];
        match request.path() {
            "/feed" => answer(200, &[], feed(&host, true)),
            "/1.mp3" => answer(200, &[("Content-Type", "audio/mpeg")], FILE),
            "/page3" => answer(404, &[], ""),
            path if path.starts_with("/page") => answer(200, &html, page(&path[5..])),
            "/1.png" | "/2.png" => answer(200, &[], png(60, 60)),
            _ => answer(404, &[], ""),
        }
    })
}

#[test]
fn a_query_is_fetched_ahead_once_and_what_is_missing_is_named() {
    let site = published_site();
    let program = Program::new();
    program.write("config.toml", CONFIGURATION);
    program.run(&["add", &site.at("/feed")]).with(0);
    program.run(&["set", "1", "--full-text", "on"]).with(0);
    let ahead = |args: &[&str], query: &str| {
        program.run(&[args, &["poll", "--ahead", query]].concat()).with(0).out
    };
    let none = program.run(&["poll", "--ahead", "label:later"]).with(0);
    assert!(none.out.contains("0 entries: 0 of 0 full texts"), "{none:?}");
    let before = ahead(&["--offline"], "title:wax");
    let counts = "3 entries: 0 of 3 full texts, 0 of 0 pictures, 0 of 1 files are here";
    assert!(before.contains(counts), "{before}");
    assert!(before.contains("Wax 1: no full text (not fetched)\n"), "{before}");
    assert!(site.asked("/page1").is_empty(), "nothing is fetched offline");
    // Only what the query finds is fetched, also if it was read.
    program.run(&["mark", "read", "1.0"]).with(0);
    let first = ahead(&[], "is:read");
    assert!(first.contains("1 entry: 1 of 1 full texts, 1 of 1 pictures"), "{first}");
    assert_eq!([1, 2].map(|page| site.asked(&format!("/page{page}")).len()), [1, 0]);
    let all = ahead(&[], "title:wax");
    let counts = "3 entries: 2 of 3 full texts, 2 of 2 pictures, 1 of 1 files are here";
    assert!(all.contains(counts), "{all}");
    assert!(all.contains("Wax 3: no full text (the server answered 404"), "{all}");
    assert_eq!(site.asked("/page1").len(), 1, "a page is fetched once");
    let plan = program.run(&["plan", "1"]).with(0).out;
    assert!(!plan.contains("ahead"), "the setting of the feed stays: {plan}");
    drop(site);
    let json = program.run(&["--offline", "poll", "--ahead", "title:wax", "--json"]).with(0).json();
    assert_eq!(
        (&json["ahead"]["entries"], &json["ahead"]["files"]["here"]),
        (&3.into(), &1.into())
    );
    assert_eq!(json["ahead"]["missing"].as_array().unwrap().len(), 1, "{json:#}");
    let wrong = program.run(&["poll", "--ahead", "titel:wax"]).refused(2);
    assert!(wrong.contains("did you mean 'title:'?"), "{wrong}");
}

#[test]
fn everything_fetched_ahead_is_there_without_the_server() {
    let published = Arc::new(AtomicBool::new(false));
    let is_published = Arc::clone(&published);
    let site = Site::start(move |request| {
        let host = request.header("host").unwrap_or_default().to_owned();
        match request.path() {
            "/feed" => answer(200, &[], feed(&host, is_published.load(Ordering::SeqCst))),
            "/1.mp3" => answer(200, &[("Content-Type", "audio/mpeg")], FILE),
            "/1.png" | "/2.png" | "/3.png" => answer(200, &[], png(60, 60)),
            path => answer(
                200,
                &[("Content-Type", "text/html")],
                page(path.trim_start_matches("/page")),
            ),
        }
    });
    let program = Program::new();
    program.write("config.toml", CONFIGURATION);
    program.run(&["add", &site.at("/feed")]).with(0);
    let set = program.run(&["set", "1", "--full-text", "on", "--ahead", "all"]).with(0).out;
    assert!(set.contains("ahead") && set.contains("all"), "{set}");
    published.store(true, Ordering::SeqCst);
    program.run(&["poll", "1", "--force"]).with(0);
    program.run(&["downloads", "run"]).with(0);
    let plan = program.run(&["plan", "1"]).with(0).out;
    for told in [
        "full texts are fetched ahead after each poll: 3 of at most 50 pages today",
        "pictures are fetched ahead after each poll: 3 of at most 100 pictures today, 1 of 20 MiB",
        "attached files of new entries are added to the downloads: 1 of at most 10 files today",
    ] {
        assert!(plan.contains(told), "{told}: {plan}");
    }
    let pictures =
        ["/1.png", "/2.png", "/3.png"].map(|path| (site.at(path), site.asked(path).len()));
    drop(site);
    let cache = PictureCache::beside(&program.data());
    for (url, requests) in pictures {
        assert_eq!((cache.find(&url), requests), (Some(png(60, 60)), 1), "{url}");
    }
    // What is exported has the texts of the pages, and a book their pictures.
    let text = program.run(&["export", "--entries", "is:unread"]).with(0).out;
    assert_eq!(text.matches("![a pot]").count(), 3, "{text}");
    assert!(text.contains("The wax is warmed slowly") && !text.contains("teaser"), "{text}");
    let path = program.path("wax.epub");
    program.run(&["export", "--entries", "is:unread", path.to_str().unwrap()]).with(0);
    let book = fs::read(path).unwrap();
    assert!(memchr::memmem::find(&book, b"OEBPS/picture-3.png").is_some());
    let file = program.path("shows/Show/2026-03-02 Wax 1.mp3");
    assert_eq!(fs::read(file).unwrap(), FILE);
    let [data, config] = ["data", "config.toml"].map(|name| program.path(name));
    let args =
        ["--data-dir", data.to_str().unwrap(), "--config", config.to_str().unwrap(), "--offline"];
    let mut session = Session::start_at_home(&program.path(""), BINARY, &args, 120, 36);
    session.until_it_says("Wax 3");
    session.press("\r\r");
    session.until_it_says("The wax is warmed slowly");
    session.press("qqq");
    assert!(session.ended().success());
}
