//! Fuzzing of what users type: search queries, filters, the configuration.

use backissue::io::config::config_file;
use backissue_core::filters::{EntryFilter, pattern_query};
use backissue_core::search;
use chrono_tz::Tz;

use super::Target;

const QUERIES: [&str; 5] = [
    "frost \"late pruning\" -apple title:wax feed:orchard tag:garden is:unread after:2014-03 before:7d",
    "-\"two words\" author:ada is:starred -is:read after:yesterday",
    "title:\"quoted",
    "漢字 é\u{301} ſß feed:\"\" tag:a/b",
    "after:9999-99-99 before:999999999w",
];
const QUERY_PIECES: &[&[u8]] = &[
    b"\"",
    b"-",
    b":",
    b"title:",
    b"feed:",
    b"is:",
    b"before:",
    b"99999999999999999999",
    b"\0",
    b"\xff",
    "İ".as_bytes(),
    "\u{1e9e}".as_bytes(),
    "\u{200b}".as_bytes(),
    b"(",
    b"  ",
];
const PATTERNS: [&str; 5] = [
    "rust \"two words\"",
    "/like (this|that)/",
    "/(a{1,9}){1,9}/",
    "/\\p{Greek}+[[:alpha:]]/",
    "é /",
];
const PATTERN_PIECES: &[&[u8]] = &[
    b"/",
    b"(",
    b")",
    b"*",
    b"{9999}",
    b"\\",
    b"[^",
    b"(?i)",
    b"\"",
    b"\xff",
    b"(?:a?){50}",
    b"$",
];
const CONFIG_PIECES: &[&[u8]] = &[
    b"[",
    b"]",
    b"=",
    b"\"",
    b"'''",
    b"\n",
    b"{",
    b"true",
    b"-1",
    b"99999999999999999999",
    b"\xff",
    b"[keys]\n",
    b"\"<C-x>\" = \"quit\"\n",
    b"host_spacing = \"1 s\"\n",
    b"1e999",
];

pub fn queries() -> Target {
    let zones = [Tz::UTC, Tz::Europe__Berlin, Tz::Australia__Lord_Howe];
    Target::of_texts("queries", &QUERIES, QUERY_PIECES, 4_000, move |bytes, number| {
        let text = String::from_utf8_lossy(bytes);
        let zone = zones[number % zones.len()];
        for typing in [true, false] {
            let query = search::parse(&text, typing, zone);
            assert_eq!(query, search::parse(&text, typing, zone), "two answers");
            if let Err(flaw) = query {
                assert!(!flaw.to_string().is_empty());
            }
        }
    })
}

pub fn patterns() -> Target {
    Target::of_texts("patterns", &PATTERNS, PATTERN_PIECES, 1_000, |bytes, _| {
        let text = String::from_utf8_lossy(bytes);
        let query = pattern_query("title", &text);
        assert!(query.is_empty() || query.starts_with("title:"), "{query}");
        let filter = EntryFilter { query, ..EntryFilter::default() };
        filter.check().ok();
        filter.describe(None);
    })
}

pub fn configurations() -> Target {
    let folder = tempfile::tempdir().unwrap();
    let whole = include_str!("../../../assets/config.toml");
    // Second seed: the example configuration with its settings active; they are commented out in the file.
    let bare = whole.replace("\n# ", "\n").replace("\n#", "\n");
    Target::of_texts("configurations", &[whole, &bare], CONFIG_PIECES, 600, move |bytes, _| {
        let path = folder.path().join("config.toml");
        std::fs::write(&path, bytes).unwrap();
        if let Err(why) = config_file::read(&path, true) {
            let is_sentence =
                !why.is_empty() && !why.chars().any(|char| char != '\n' && char.is_control());
            assert!(is_sentence, "{why:?}");
        }
    })
}

#[test]
fn query_parsing_is_deterministic_and_never_panics() {
    queries().run();
}

#[test]
fn filter_patterns_compile_and_match_without_panic() {
    patterns().run();
}

#[test]
fn configurations_are_read_or_refused_with_a_sentence() {
    configurations().run();
}
