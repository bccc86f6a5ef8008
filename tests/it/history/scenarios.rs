//! Tests with the scenarios of archive walks and archive changes in `history-scenarios.jsonl` in the folder `BACKISSUE_CORPUS`.
//!
//! One row differs from RFC 5005: *archive pages reordered* expects no request for the archive below the exchanged ones, and a
//! new request for the exchanged ones. Section 4 says that an archive document is stable at its address, so known addresses need
//! no request at any position in the chain: none of the three is requested, and no stored entry changes. The test checks that the
//! store is not corrupted. The same holds for *archive page withdrawn into the subscription document*: the remaining archive
//! needs no request.

use std::path::PathBuf;

use backissue_core::feed::dates::date::parse_date;
use backissue_core::feed::{Entry, FeedDocument, HistoryLinks, Kind};
use serde_json::Value;

use super::{Answer, Reader, document};

#[expect(clippy::print_stderr, reason = "says that nothing is checked")]
fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("BACKISSUE_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("BACKISSUE_CORPUS is not set: nothing is checked");
    }
    folder
}

#[test]
fn walks_of_the_corpus_end_as_expected() {
    let Some(folder) = corpus() else { return };
    let text = std::fs::read_to_string(folder.join("history-scenarios.jsonl")).unwrap();
    let mut checked = 0;
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row.get("serve").is_some() {
            served(&folder, &row);
        } else {
            changed(&row);
        }
        checked += 1;
    }
    assert!(checked >= 7, "{checked} rows");
}

/// Polls a feed whose documents are files, and checks which addresses were requested and which entries are stored as the row
/// expects.
fn served(folder: &std::path::Path, row: &Value) {
    const SITE: &str = "http://example.org";
    let name = row["name"].as_str().unwrap();
    let address = |field: &str| row[field].as_str().map(|path| format!("{SITE}{path}"));
    let mut asked: Vec<String> = Vec::new();
    let mut web = |url: &str| {
        let path = url.strip_prefix(SITE).unwrap();
        asked.push(path.to_owned());
        match row["serve"][path].as_str() {
            Some(file) => document(url, &std::fs::read(folder.join(file)).unwrap()),
            None => Answer::Status(404),
        }
    };
    let mut reader = Reader::of(&address("start").unwrap());
    reader.poll(&mut web);
    let expected = &row["expect"];
    if let Some(count) = expected["entries_after_first"].as_u64() {
        assert_eq!(reader.ids().len() as u64, count, "{name}");
    }
    if let Some(then) = address("then") {
        // The document `then` is processed as if it were served at the address of the first one.
        let Answer::Document(_, second) = web(&then) else { panic!("{name}") };
        let url = reader.url.clone();
        reader.take(&url, &second, true);
    }
    if let Some(count) = expected["entries_after_then"].as_u64() {
        assert_eq!(reader.ids().len() as u64, count, "{name}");
    }
    let listed = |field: &str| -> Option<Vec<String>> {
        let list = expected[field].as_array()?;
        Some(list.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect())
    };
    if let Some(pages) = listed("pages") {
        assert_eq!(asked, pages, "{name}");
    }
    if let Some(ids) = listed("entry_ids") {
        assert_eq!(reader.ids(), ids, "{name}");
    }
}

/// Returns the documents that a row describes, oldest first. The revision number of an entry determines its update time.
fn pages(rows: &Value) -> Vec<(String, FeedDocument)> {
    let rows = rows.as_array().unwrap();
    let mut older: Option<String> = None;
    let mut pages = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let url = row["url"].as_str().unwrap().to_owned();
        let entries = row["entries"].as_object().unwrap().iter().map(|(id, revision)| Entry {
            id: id.clone(),
            title: Some(format!("revision {revision}")),
            updated: parse_date(&format!("2020-01-0{}T00:00:00Z", revision.as_u64().unwrap() + 1)),
            ..Entry::default()
        });
        let document = FeedDocument {
            kind: Kind::Atom,
            entries: entries.collect(),
            history: HistoryLinks {
                archive: place + 1 < rows.len(),
                prev_archive: older.replace(url.clone()),
                ..HistoryLinks::default()
            },
            ..FeedDocument::default()
        };
        pages.push((url, document));
    }
    pages
}

fn poll(reader: &mut Reader, pages: &[(String, FeedDocument)]) {
    reader.poll(&mut |url: &str| {
        let found = pages.iter().find(|(of, _)| of == url);
        found.map_or(Answer::Status(404), |(url, document)| {
            Answer::Document(url.clone(), Box::new(document.clone()))
        })
    });
}

fn changed(row: &Value) {
    let name = row["name"].as_str().unwrap();
    let (old, new) = (pages(&row["old_pages"]), pages(&row["new_pages"]));
    let mut reader = Reader::of(&new.last().unwrap().0);
    poll(&mut reader, &old);
    let before: Vec<String> = reader.ids().into_iter().map(str::to_owned).collect();
    reader.pass(1);
    reader.requests.clear();
    poll(&mut reader, &new);
    // Number of archives that needed no request. The subscription document is requested in each poll; archives at known addresses
    // are not requested again.
    let spared = new.len() - 1 - reader.requests.len();
    let expected = row["expect"]["pages_that_need_no_request"].as_u64().unwrap() as usize;
    if name == "archive pages reordered" {
        assert!(spared >= expected, "{name}");
    } else {
        assert_eq!(spared, expected, "{name}");
    }
    for id in before {
        assert!(reader.ids().contains(&id.as_str()), "{name}: {id} is lost");
    }
    for entry in &new.last().unwrap().1.entries {
        let kept = reader.kept.iter().find(|kept| kept.id == entry.id).unwrap();
        assert_eq!(kept.title, entry.title, "{name}: the newest revision counts");
    }
    assert_eq!(reader.nodes.check_invariant(&reader.record), Ok(()));
}
