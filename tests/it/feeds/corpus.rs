//! Tests with subscription lists, pages, dates and attacks from third-party documents in the folder that `BACKISSUE_CORPUS` names.
//!
//! Without the variable these tests check nothing and print that. `--nocapture` shows the rows whose result differs from the
//! expected one.

use std::path::PathBuf;

use backissue::io::clock;
use backissue_core::feed::dates::date::parse_date;
use backissue_core::feed::opml::read_opml;
use backissue_core::feed::opml::subscription_list::{OpmlFeed, normal_tag};
use backissue_core::feed::page_feeds::read_page_feeds;
use backissue_core::feed::{Origin, parse};
use serde_json::Value;

/// Returns the folder of third-party documents, if the environment names one.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("BACKISSUE_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        tell("BACKISSUE_CORPUS is not set: nothing is checked");
    }
    folder
}

#[expect(clippy::print_stderr, reason = "differing rows, for a manual run")]
pub(crate) fn tell(line: &str) {
    eprintln!("{line}");
}

pub(crate) fn rows(folder: &std::path::Path, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(text).filter(|text| !text.is_empty())
}

/// Prints the differing rows and checks that at least this percentage of all rows has the expected result.
fn demand(name: &str, total: usize, differing: &[String], percent: usize) {
    for row in differing {
        tell(row);
    }
    let good = total - differing.len();
    tell(&format!("{name}: {good} of {total}"));
    assert!(total > 0 && good * 100 >= total * percent, "{name}: {good} of {total}");
}

/// Checks whether an address can be subscribed to.
fn is_web(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    (address.starts_with("http://") || address.starts_with("https://")) && address.len() > 8
}

/// Returns an address in the form in which addresses are compared (SPEC C.4), for example with `/` for an empty path.
fn canonical(address: &str) -> String {
    url::Url::parse(address).map_or_else(|_| address.to_owned(), String::from)
}

/// Returns how a feed that was read from a list differs from the expected one. If the list contains an address twice, the feed may
/// have either title.
fn feed_differs(expected: &Value, all: &[Value], found: &[OpmlFeed]) -> Option<String> {
    let address = text(&expected["xml_url"])?;
    let is_same = |other: &str| canonical(other) == canonical(&address);
    let Some(feed) = found.iter().find(|feed| is_same(&feed.xml_url)) else {
        return is_web(&address).then(|| format!("{address} is missing"));
    };
    let again = all.iter().filter(|row| text(&row["xml_url"]).is_some_and(|other| is_same(&other)));
    let titles: Vec<String> = again.filter_map(|row| text(&row["title"])).collect();
    if feed.title.as_ref().is_some_and(|title| !titles.contains(title)) {
        return Some(format!("{address} is called {:?}, not {titles:?}", feed.title));
    }
    let page = text(&expected["html_url"]);
    if page.is_some() && feed.html_url != page {
        return Some(format!("{address} has the page {:?}, not {page:?}", feed.html_url));
    }
    let path: Vec<&str> = expected["path"].as_array()?.iter().filter_map(Value::as_str).collect();
    let tag = normal_tag(&path.iter().map(|part| part.trim()).collect::<Vec<_>>().join("/"));
    let missing = tag.filter(|tag| !feed.tags.contains(tag))?;
    Some(format!("{address} has the tags {:?}, without {missing}", feed.tags))
}

fn states_feeds(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).to_ascii_lowercase().contains("xmlurl=")
}

fn list_differs(all: &[Value], found: &[OpmlFeed]) -> Option<String> {
    let addresses: Vec<String> =
        all.iter().filter_map(|row| text(&row["xml_url"])).map(|url| canonical(&url)).collect();
    let extra = found.iter().find(|feed| !addresses.contains(&canonical(&feed.xml_url)));
    all.iter()
        .find_map(|expected| feed_differs(expected, all, found))
        .or_else(|| extra.map(|feed| format!("{} is extra", feed.xml_url)))
}

#[test]
fn real_world_lists_are_read_as_intended() {
    let Some(folder) = corpus() else { return };
    let (mut differing, mut total) = (Vec::new(), 0);
    for row in rows(&folder, "opml.jsonl") {
        total += 1;
        let file = row["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let read = read_opml(&bytes);
        let found = read.map(|list| list.outlines).unwrap_or_default();
        // An ill-formed list has no expected result; it is enough that some feed is read if the list has any.
        let wrong = match row["feeds"].as_array() {
            None => (found.is_empty() && states_feeds(&bytes))
                .then(|| "ill-formed, and nothing was read".to_owned()),
            Some(all) => list_differs(all, &found),
        };
        differing.extend(wrong.map(|wrong| format!("{file}: {wrong}")));
    }
    demand("lists", total, &differing, 98);
}

#[test]
fn real_world_pages_lead_to_their_feeds() {
    let Some(folder) = corpus() else { return };
    let (mut differing, mut total) = (Vec::new(), 0);
    for row in rows(&folder, "autodiscovery.jsonl") {
        total += 1;
        let file = row["file"].as_str().unwrap();
        let page = std::fs::read(folder.join(file)).unwrap();
        let found: Vec<String> = read_page_feeds(&page, row["page_url"].as_str().unwrap())
            .named
            .into_iter()
            .map(|candidate| candidate.url)
            .collect();
        let all = |key: &str| -> Vec<String> {
            let list = row[key].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (expected, forbidden) = (all("expected"), all("must_not"));
        let forms = |list: &[String]| list.iter().map(|url| canonical(url)).collect::<Vec<_>>();
        let same = forms(&expected) == forms(&found);
        if !same || forbidden.iter().any(|address| found.contains(address)) {
            differing.push(format!("{file}: {found:?}, not {expected:?}"));
        }
    }
    demand("pages", total, &differing, 98);
}

#[test]
fn real_world_dates_match_their_expected_values() {
    const LIVING: [&str; 5] = ["rfc822", "w3dtf", "w3cdtf", "simplepie", "iso8601"];
    let Some(folder) = corpus() else { return };
    let (mut differing, mut total) = (Vec::new(), 0);
    for row in rows(&folder, "dates.jsonl") {
        if !LIVING.contains(&row["syntax"].as_str().unwrap()) {
            continue;
        }
        total += 1;
        let input = row["input"].as_str().unwrap();
        let found = parse_date(input).map(|at| at.timestamp());
        let expected = row["expected"]
            .as_str()
            .map(|text| text.parse::<chrono::DateTime<chrono::Utc>>().unwrap().timestamp());
        if found != expected {
            differing
                .push(format!("{input:?} ({}): {found:?}, not {}", row["syntax"], row["expected"]));
        }
    }
    demand("dates", total, &differing, 98);
}

#[test]
fn real_world_attacks_end_quickly() {
    let Some(folder) = corpus() else { return };
    let rows = rows(&folder, "attacks.jsonl");
    for row in &rows {
        let file = row["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let start = clock::instant();
        let document = parse(&bytes, &Origin::default());
        read_opml(&bytes).ok();
        read_page_feeds(&bytes, "https://a.example/");
        let took = start.elapsed();
        let held: usize =
            document.entries.iter().filter_map(|entry| entry.body()).map(str::len).sum();
        tell(&format!("{file}: {} bytes, {took:?}, {} flaws", bytes.len(), document.flaws.len()));
        assert!(
            took.as_secs() < 2 && held <= bytes.len() * 4 + 10_000,
            "{file}: {took:?}, {held} bytes held"
        );
    }
    demand("attacks", rows.len(), &[], 100);
}
