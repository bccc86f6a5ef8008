//! Documents from the bug reports of other programs, and how each must be read.

use std::fs;

use backissue_core::feed::{Entry, FeedDocument, Origin, parse};
use serde_json::Value;

use super::wild;

/// Reads and parses a document of the folder; `None` if the folder is missing.
fn read(name: &str, url: Option<&str>, content_type: Option<&str>) -> Option<FeedDocument> {
    let bytes = fs::read(wild()?.join(name)).unwrap();
    Some(parse(&bytes, &Origin { url, content_type }))
}

/// Checks the document's entries: `line` converts each entry to the string that is compared.
fn check(name: &str, line: impl Fn(&Entry) -> String, expected: &[&str]) {
    let Some(document) = read(name, None, Some("application/xml; charset=utf-8")) else { return };
    let lines: Vec<String> = document.entries.iter().map(line).collect();
    assert_eq!(lines, expected, "{name}");
}

fn title(entry: &Entry) -> String {
    entry.title.clone().unwrap_or_default()
}

fn text(entry: &Entry) -> String {
    entry.body().unwrap_or_default().to_owned()
}

fn date(entry: &Entry) -> String {
    let date = entry.published.or(entry.updated);
    date.map(|at| at.format("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default()
}

#[test]
fn angle_brackets_are_text() {
    check(
        "01-title-angle-brackets/feed.xml",
        title,
        &[
            "A short guide to <head> elements",
            "Why Vec<T> beats LinkedList<T>",
            "Bounds for all k<n and every p>2 proved",
            "<blink>",
            "Using <String> in maps",
            "Plain bold and R&D",
            "Mail from Ada <ada@tinker.example> arrived",
        ],
    );
    let Some(arxiv) = read("33-arxiv/feed.xml", None, None) else { return };
    let text = backissue_core::feed::text::strip_markup(&text(&arxiv.entries[0]));
    assert!(text.contains("for all $k<n$ the bound of Ada holds, while for $m>n$ it fails"));
    assert!(text.contains("Let $a<b<c$ be integers with $c>7$;"));
    let videos = read("03-plain-text-line-breaks/yt2.xml", None, None).unwrap();
    let text = videos.entries[1].summary.clone().unwrap();
    assert!(text.contains("\n\nWrite to &lt;ada@pots.example&gt; or see &lt;https://pots.exam"));
    let mut titles = read("24-titles-cdata/feed.xml", None, None).unwrap();
    titles.entries.retain(|entry| ["7", "10"].contains(&entry.id.as_str()));
    let titles: Vec<String> = titles.entries.iter().map(title).collect();
    assert_eq!(titles, ["Wrapped", "C₂H₆ and 10⁶ volts"]);
}

#[test]
fn damaged_characters_and_surrogates_are_lost_alone() {
    check(
        "02-surrogate-references/feed.xml",
        title,
        &["Launch day 😀 at last", "Noncharacter and inside", "Copyright © 2024 & Sons"],
    );
    check("10-damaged-utf8/cesu8-emoji.xml", title, &["We’re open 😀", "Menu for Monday"]);
    check("10-damaged-utf8/cut-one.xml", title, &["It is Ren\u{fffd}..."]);
    check(
        "10-damaged-utf8/one-latin1-name.xml",
        title,
        &["Interview with Jos\u{fffd} Garc\u{fffd}a", "Menu for Monday"],
    );
    let Some(cut) = read("10-damaged-utf8/cut-excerpts.xml", None, None) else { return };
    assert_eq!(cut.head.title.as_deref(), Some("Café news"));
    assert_eq!(title(&cut.entries[0]), "Mayor’s plan 0");
    assert!(text(&cut.entries[0]).ends_with("harbo\u{fffd}..."));
    check("09-junk-around/json-lone-surrogate.json", title, &["A \u{fffd} B", "ok"]);
}

#[test]
fn dates_of_many_languages_and_forms_are_read() {
    let Some(folder) = wild() else { return };
    let expected = fs::read(folder.join("04-dates/expected.json")).unwrap();
    let expected: Vec<[Value; 3]> = serde_json::from_slice(&expected).unwrap();
    let document = read("04-dates/feed.xml", None, None).unwrap();
    for [id, written, at] in expected.iter().filter(|row| row[2] != "(arguable)") {
        let entry = document.entries.iter().find(|entry| *id == entry.id.as_str()).unwrap();
        assert_eq!(date(entry), at.as_str().unwrap_or_default(), "{written}");
    }
    let months: Vec<String> = read("04-dates/more.xml", None, None)
        .unwrap()
        .entries
        .iter()
        .map(|entry| date(entry).get(..7).unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        months,
        [
            "2013-11", "2013-10", "2013-10", "2013-11", "2021-07", "2022-10", "2022-10", "2013-11",
            "2013-08", "2013-08", "2013-07", "2023-02", "2013-03", "2013-11", "2013-03", "2013-12"
        ]
    );
    let zero = read("05-zero-time-dates/feed.xml", None, None).unwrap();
    assert_eq!(zero.head.updated, None);
    for entry in &zero.entries {
        let is_dated = ["New post", "Epoch", "Excel 1900"].contains(&title(entry).as_str());
        assert_eq!(!date(entry).is_empty(), is_dated, "{}", title(entry));
    }
    for entry in &read("06-pm-with-dots/feed.xml", None, None).unwrap().entries {
        let expected = match title(entry) {
            title if title.contains("12:15") => "2021-07-05T00:15:00Z",
            title if title.contains("EDT") || title.contains("-0400") => "2021-07-06T01:15:00Z",
            _ => "2021-07-05T21:15:00Z",
        };
        assert_eq!(date(entry), expected, "{}", title(entry));
    }
}

#[test]
fn relative_links_lead_to_the_page_of_the_entry() {
    let url = Some("https://feeds.proxy.example/walks-rss");
    let Some(walks) = read("07-relative-links-in-text/feed.xml", url, None) else { return };
    for (place, addresses) in [
        (0, ["hill/top.jpg\"", "maps/hill.pdf\"", "2026/dale/\""]),
        (1, ["unq/top.jpg ", "maps/hill.pdf>", "2026/dale/>"]),
    ] {
        for address in addresses {
            let text = text(&walks.entries[place]);
            assert!(text.contains(address) && !text.contains("proxy"), "{address} in {text}");
        }
    }
    let atom = read("07-relative-links-in-text/atom.xml", url, None).unwrap();
    assert!(text(&atom.entries[1]).contains("href=https://walks.example/blog/x.html"));
    assert!(text(&atom.entries[1]).contains("src=https://walks.example/blog/z.png"));
}

#[test]
fn unclosed_elements_lose_nothing() {
    let Some(folder) = wild() else { return };
    for file in fs::read_dir(folder.join("08-unclosed-elements")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if name == "expected.txt" {
            continue;
        }
        let document = read(&format!("08-unclosed-elements/{name}"), None, None).unwrap();
        let ids: Vec<&str> = document.entries.iter().map(|entry| entry.id.as_str()).collect();
        let is_cut = name == "truncated-in-item.xml";
        match name.as_str() {
            "cms.xml" => assert_eq!(ids, ["c1", "c2"]),
            // In this file a comment contains a guid, so only the number of entries is checked.
            "comment.xml" => assert_eq!(ids.len(), 3),
            _ => assert_eq!(ids, ["g1", "g2", "g3"], "{name}"),
        }
        assert_eq!(document.is_truncated(), is_cut, "{name}");
        assert!(document.entries.iter().all(|entry| is_cut || !date(entry).is_empty()), "{name}");
    }
    check("08-unclosed-elements/cms.xml", text, &["First text", "Second text"]);
}

#[test]
fn junk_around_a_feed_is_no_part_of_it() {
    let Some(folder) = wild() else { return };
    let no_json = ["array", "bad-escape", "nan", "prefix", "trailing-comma"];
    for file in fs::read_dir(folder.join("09-junk-around")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if name == "expected.txt" {
            continue;
        }
        let bytes = fs::read(folder.join("09-junk-around").join(&name)).unwrap();
        let document = parse(&bytes, &Origin::default());
        let is_read = !no_json.iter().any(|no| name == format!("json-{no}.json"));
        assert_eq!(document.kind.is_feed(), is_read, "{name}: {:?}", document.flaws);
        let is_empty = name == "json-no-items.json" || !is_read;
        assert_eq!(document.entries.is_empty(), is_empty, "{name}");
    }
}

#[test]
fn vocabularies_are_known_by_their_names() {
    let Some(folder) = wild() else { return };
    for file in fs::read_dir(folder.join("32-namespaces")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if name != "expected.txt" {
            let document = read(&format!("32-namespaces/{name}"), None, None).unwrap();
            assert_eq!(document.entries.len(), 1, "{name}");
        }
    }
}

#[test]
fn links_and_attachments_are_the_intended_ones() {
    let Some(links) = read("21-links/feed.xml", None, None) else { return };
    for (id, link) in [
        ("1", "https://l.example/a"),
        ("2", "https://l.example/long/path?x=1"),
        ("11", "https://l.example/zw"),
        ("21", "https://l.example/21"),
    ] {
        let entry = links.entries.iter().find(|entry| entry.id == id).unwrap();
        assert_eq!(entry.link.as_deref(), Some(link));
    }
    let podcast = read("22-enclosures/feed.xml", None, None).unwrap();
    let first = |id: &str| {
        let entry = podcast.entries.iter().find(|entry| entry.id == id).unwrap();
        let file = &entry.enclosures[0];
        (file.url.rsplit('/').next().unwrap().to_owned(), file.duration_seconds)
    };
    assert_eq!(first("2"), ("2.mp3".into(), Some(3_723)));
    assert_eq!(first("3"), ("3.mp3".into(), Some(3_723)));
    assert_eq!(first("9").0, "9.mp3");
    let atom = read("23-atom-oddities/feed.xml", None, None).unwrap();
    assert_eq!(atom.head.title.as_deref(), Some("Harbour & Sons"));
    let source = atom.entries.iter().find(|entry| entry.id == "e5").unwrap();
    assert_eq!(source.link.as_deref(), Some("https://h.example/5.html"));
}
