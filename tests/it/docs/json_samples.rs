//! Checks that the JSON samples in the documents have exactly the fields that the program writes.

use std::collections::BTreeMap;

use backissue::io::store::Store;
use backissue_core::filters::EntryFilter;
use serde_json::Value;

use super::pages::page;
use crate::support::binary::Program;
use crate::support::site::{Site, answer};

/// A feed with a polling hint (`ttl`) that is not a number.
const FLAWED: &str = "<rss version=\"2.0\"><channel><title>Notes</title><ttl>soon</ttl>\
    <item><guid isPermaLink=\"false\">a</guid><title>Ladders</title><category>tools</category>\
    <enclosure url=\"https://site.example/a.mp3\" type=\"audio/mpeg\" length=\"12\"/></item>\
    </channel></rss>";
/// The subscription document of a feed with two archives, of which the older one is missing.
const NEWEST: &str = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Orchard</title>\
    <id>tag:site.example,2026:o</id><updated>2026-03-01T08:00:00Z</updated>\
    <link rel=\"prev-archive\" href=\"1.xml\"/>\
    <entry><title>Pruning</title><id>n2</id><updated>2026-03-01T08:00:00Z</updated></entry></feed>";
/// The newer archive of the feed `NEWEST`.
const ARCHIVE: &str = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Orchard</title>\
    <id>tag:site.example,2026:o</id><updated>2026-02-01T08:00:00Z</updated>\
    <link rel=\"prev-archive\" href=\"2.xml\"/>\
    <entry><title>Frost</title><id>n1</id><updated>2026-02-01T08:00:00Z</updated></entry></feed>";

/// The fields of JSON values by their path, each with whether it has a value other than null or an empty list in any of the values.
type Fields = BTreeMap<String, bool>;

fn collect(value: &Value, path: &str, fields: &mut Fields) {
    match value {
        Value::Object(inside) => {
            for (name, value) in inside {
                let path = format!("{path}.{name}");
                let filled = match value {
                    Value::Null => false,
                    Value::Array(items) => !items.is_empty(),
                    _ => true,
                };
                *fields.entry(path.clone()).or_default() |= filled;
                collect(value, &path, fields);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, fields)),
        _ => {}
    }
}

fn fields(value: &Value) -> Fields {
    let mut found = Fields::new();
    collect(value, "", &mut found);
    found
}

/// Returns the fields that only the sample has and those it lacks, compared with values that the program wrote. Fields inside an
/// object or list that is null or empty in all those values are not compared.
fn differences(sample: &Value, written: &[Value]) -> Vec<String> {
    let (mut seen, named) = (Fields::new(), fields(sample));
    for value in written {
        collect(value, "", &mut seen);
    }
    let hidden = |path: &String| {
        let mut outer = path.as_str();
        while let Some((shorter, _)) = outer.rsplit_once('.') {
            outer = shorter;
            if seen.get(outer) == Some(&false) {
                return true;
            }
        }
        false
    };
    let lacking = seen.keys().filter(|path| !named.contains_key(*path));
    let extra = named.keys().filter(|path| !seen.contains_key(*path) && !hidden(path));
    let lacking = lacking.map(|path| format!("lacks {path}"));
    lacking.chain(extra.map(|path| format!("has {path} too much"))).collect()
}

/// Returns the JSON sample with this name from `docs/interface.md`.
fn sample(name: &str) -> Value {
    let text = page("docs/interface.md");
    let mark = format!("<!-- json {name} -->\n```json\n");
    let (_, rest) = text.split_once(&mark).unwrap_or_else(|| panic!("no sample '{name}'"));
    serde_json::from_str(rest.split_once("\n```").unwrap().0).unwrap()
}

#[track_caller]
fn check(name: &str, written: &[Value]) {
    assert_eq!(differences(&sample(name), written), [""; 0], "docs/interface.md, json {name}");
}

fn of_kind(values: &Value, kind: &str) -> Vec<Value> {
    let all = values.as_array().unwrap().iter();
    all.filter(|value| value["kind"] == kind).cloned().collect()
}

/// Returns the number of the first entry with an attached file.
fn podcast(entries: &Value) -> String {
    let has_file =
        |entry: &&Value| entry["enclosures"].as_array().is_some_and(|files| !files.is_empty());
    entries.as_array().unwrap().iter().find(has_file).unwrap()["number"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn document_json_matches_the_sample() {
    let program = Program::new();
    let flawed = program.write("flawed.xml", FLAWED);
    let rules = super::pages::root().join("tests/it/fixtures/spec/rules-rss.xml");
    let parse = |file: &str| program.run(&["parse", file, "--json"]).with(0).json();
    check("parse", &[parse(&flawed), parse(rules.to_str().unwrap())]);
}

#[test]
fn stored_data_json_matches_the_samples() {
    let site = Site::start(|request| match request.path() {
        "/notes.xml" => answer(200, &[], FLAWED),
        "/orchard.xml" => answer(200, &[("etag", "\"a\"")], NEWEST),
        "/1.xml" => answer(200, &[], ARCHIVE),
        _ => answer(403, &[], ""),
    });
    let program = Program::new();
    let rule = EntryFilter { id: 7, query: "title:sponsored".into(), ..EntryFilter::default() };
    Store::open(&program.data()).unwrap().save_filters(&[rule]).unwrap();
    for path in ["/notes.xml", "/orchard.xml"] {
        program.run(&["add", &site.at(path)]).with(0);
    }
    let json = |args: &[&str]| {
        let ended = program.run(&[args, &["--json"]].concat());
        ended.json()
    };
    check("feeds", &[json(&["feeds"])]);
    check("stats", &[json(&["feeds", "--stats"])]);
    let entries = json(&["entries"]);
    check("entries", &of_kind(&entries, "entry"));
    let history = json(&["history", "orchard"]);
    check("history", &[history]);
    let gaps = of_kind(&entries, "gap");
    assert_eq!(gaps.len(), 1, "{entries:#}");
    assert_eq!(differences(&sample("history")["gaps"], &gaps), [""; 0]);
    check("poll", &[json(&["poll", "--all", "--ahead", "feed:orchard"])]);
    check("filters", &[json(&["rules"])]);
    program.run(&["downloads", "add", &podcast(&entries)]).with(0);
    check("downloads", &[json(&["downloads"])]);
    check("unread", &[json(&["unread"])]);
    check("mark", &[json(&["mark", "read", "--all"])]);
    check("lint", &[json(&["lint", &site.at("/orchard.xml")])]);
    let mut hit = sample("entries");
    hit[0]["score"] = 1.5.into();
    hit[0]["snippet"] = "Ladders".into();
    assert_eq!(differences(&hit, &[json(&["search", "ladders"])]), [""; 0]);
    let mut told = json(&["plan", "notes", "--next", "2"]);
    check("learned", &[told["learned"].take()]);
    for more in ["number", "url", "title", "next_polls", "learned"] {
        assert!(told.as_object_mut().unwrap().shift_remove(more).is_some(), "{more}");
    }
    check("plan", &[told]);
}

#[test]
fn a_sample_with_another_field_is_found() {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let written = json("{\"a\": 1, \"b\": null, \"c\": [{\"d\": 2}]}");
    let same = json("{\"a\": 2, \"b\": {\"x\": 1}, \"c\": [{\"d\": 3}]}");
    assert_eq!(differences(&same, std::slice::from_ref(&written)), [""; 0]);
    let other = json("{\"a\": 2, \"b\": null, \"c\": [{\"e\": 3}]}");
    assert_eq!(differences(&other, &[written]), ["lacks .c.d", "has .c.e too much"]);
}
