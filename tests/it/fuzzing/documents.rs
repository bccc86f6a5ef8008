//! Fuzzing of publishers' documents. `BACKISSUE_CORPUS=folder` also uses the documents in a folder as seeds.

use std::path::{Path, PathBuf};

use backissue_core::feed::page_feeds::read_page_feeds;
use backissue_core::feed::{Origin, find_oddities, parse};
use backissue_core::lint::examine;

use super::{INPUT_MAX, Target};

/// One in this many inputs is also checked with `lint`, which takes longer.
const EXAMINED: usize = 16;
const URL: &str = "https://a.example/feed";

pub const PIECES: &[&[u8]] = &[
    b"<",
    b">",
    b"</",
    b"&",
    b"\"",
    b"'",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"-->",
    b"\0",
    b"\xff",
    b"\xc3",
    b"<item>",
    b"</item>",
    b"<entry>",
    b" xmlns=\"x\"",
    b"&#0;",
    b"&#x10ffff;",
    b"{",
    b"99999999999999999999",
    "“é@a.bc”".as_bytes(),
];

/// Returns the files below a folder that are not larger than an input may be, sorted by path.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_short = |length: u64| usize::try_from(length).is_ok_and(|it| it <= INPUT_MAX);
            if path.is_dir() {
                folders.push(path);
            } else if entry.metadata().is_ok_and(|file| is_short(file.len())) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the documents in `tests/it/fixtures`, and those in the folder that `BACKISSUE_CORPUS` names.
fn real_documents() -> Vec<Vec<u8>> {
    // The manifest folder belongs either to the program or to the cargo-fuzz targets below it.
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let fixtures = above.map(|folder| folder.join("tests/it/fixtures")).find(|it| it.is_dir());
    let mut paths = files(&fixtures.unwrap());
    paths.extend(std::env::var_os("BACKISSUE_CORPUS").iter().flat_map(|it| files(Path::new(it))));
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Reads the bytes with every parser for documents and pages, and checks the invariants of the result.
fn check(bytes: &[u8], number: usize) {
    let origin = Origin { url: Some(URL), content_type: None };
    let document = parse(bytes, &origin);
    assert_eq!(document, parse(bytes, &origin), "two answers");
    assert!(document.entries.iter().all(|entry| !entry.id.is_empty()), "an empty id");
    find_oddities(bytes, &origin);
    read_page_feeds(bytes, URL);
    if number.is_multiple_of(EXAMINED) {
        examine(bytes, &origin, chrono::DateTime::UNIX_EPOCH);
    }
}

pub fn documents() -> Target {
    Target {
        name: "documents",
        seeds: real_documents(),
        pieces: PIECES,
        inputs: 500,
        check: Box::new(check),
    }
}

#[test]
fn parsing_a_document_is_deterministic_and_never_panics() {
    documents().run();
}
