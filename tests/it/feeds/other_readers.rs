//! Files of other feed readers. `newsboat-cache.db` was written by `SQLite` 3.40 with the schema of newsboat 2.30, in pages of 512 bytes,
//! its first row before newsboat's later columns were added.

use backissue_core::other_readers::newsboat;
use backissue_core::other_readers::sqlite::{Sqlite, Value};

const CACHE: &[u8] = include_bytes!("../fixtures/newsboat-cache.db");
const FEED: &str = "http://127.0.0.1:PPPPP/feed.xml";

#[test]
fn newsboat_cache_says_what_was_read_and_flagged() {
    let feeds = newsboat::read_cache(CACHE).unwrap();
    assert_eq!(feeds.keys().collect::<Vec<_>>(), [FEED, "https://other.example/atom"]);
    let entries = &feeds[FEED];
    assert_eq!(entries.len(), 61);
    // Even numbers and the first one were read; the fifth was deleted.
    assert_eq!(entries.iter().filter(|it| it.is_read).count(), 33);
    let starred: Vec<_> = entries.iter().filter(|it| it.is_starred).collect();
    let [fourth, gone] = starred.as_slice() else { panic!("{starred:?}") };
    assert_eq!((fourth.entry.id.as_str(), gone.entry.id.as_str()), ("e-4", "gone-900"));
    let text = fourth.entry.content.as_ref().unwrap();
    assert_eq!(*text, format!("<p>{}</p>", "Frost and wax. ".repeat(200)), "on several pages");
    let first = &entries[0].entry;
    assert_eq!(first.link.as_deref(), Some("https://site.example/e/1"));
    assert_eq!(first.published.unwrap().to_rfc3339(), "2026-03-02T00:01:00+00:00");
    assert_eq!(first.content, None, "texts of starred ones alone");
    assert_eq!(feeds["https://other.example/atom"][0].entry.id, "tag:é");
}

#[test]
fn sqlite_columns_are_found_by_name() {
    let database = Sqlite::open(CACHE).unwrap();
    let rows = database.read("rss_item", &["ID", "flags", "nothing", "enqueued"]).unwrap().unwrap();
    let first = [Value::Integer(1), Value::Null, Value::Null, Value::Null];
    assert_eq!(rows[0], first, "its columns were added later");
    assert_eq!(rows[3][..2], [Value::Integer(4), Value::Text("s".into())]);
    assert_eq!(database.read("no_table", &[]), Ok(None));
    assert!(Sqlite::open(b"SQLite format 3\0").is_err());
}

#[test]
fn damaged_databases_end_with_an_error_or_fewer_rows() {
    let mut refused = 0;
    for at in (0..CACHE.len()).step_by(7) {
        for byte in [0, 5, 0xff] {
            let mut bytes = CACHE.to_vec();
            bytes[at] = byte;
            refused += usize::from(newsboat::read_cache(&bytes).is_err());
        }
        refused += usize::from(newsboat::read_cache(&CACHE[..at]).is_err());
    }
    assert!(refused > CACHE.len() / 7, "each one that is cut off: {refused}");
}
