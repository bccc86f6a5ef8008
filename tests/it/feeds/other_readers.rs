//! Files of other feed readers. `newsboat-cache.db` was written by `SQLite` 3.40 with the schema of newsboat 2.30, in pages of 512 bytes,
//! its first row before newsboat's later columns were added. The files in `readers/` have the tables of the readers: of newsraft's
//! `src/db.c`, of the migrations of news-flash 4.0, of Liferea's `src/db.c` and of RSS Guard's `db_init.sql`.

use backissue_core::other_readers::databases;
use backissue_core::other_readers::databases::read;
use backissue_core::other_readers::library::Library;
use backissue_core::other_readers::sqlite::{SqlValue, Sqlite};

const CACHE: &[u8] = include_bytes!("../fixtures/newsboat-cache.db");
const FEED: &str = "http://127.0.0.1:PPPPP/feed.xml";

#[test]
fn newsboat_cache_says_what_was_read_and_flagged() {
    let feeds = databases::read_cache(CACHE).unwrap();
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
    let first = [SqlValue::Integer(1), SqlValue::Null, SqlValue::Null, SqlValue::Null];
    assert_eq!(rows[0], first, "its columns were added later");
    assert_eq!(rows[3][..2], [SqlValue::Integer(4), SqlValue::Text("s".into())]);
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
            refused += usize::from(databases::read_cache(&bytes).is_err());
        }
        refused += usize::from(databases::read_cache(&CACHE[..at]).is_err());
    }
    assert!(refused > CACHE.len() / 7, "each one that is cut off: {refused}");
}

/// Returns the titles and tags of the feed, and the ids of read and of starred entries.
fn told(library: &Library) -> (Option<String>, Vec<String>, Vec<&str>, Vec<&str>) {
    let [feed] = library.list.outlines.as_slice() else { panic!("{:?}", library.list) };
    assert_eq!((feed.xml_url.as_str(), library.entries.len()), (FEED, 1));
    let entries = &library.entries[FEED];
    let read = entries.iter().filter(|it| it.is_read).map(|it| it.entry.id.as_str());
    let starred = entries.iter().filter(|it| it.is_starred);
    for entry in starred.clone() {
        assert_eq!(entry.entry.content.as_deref(), Some("<p>Kept text</p>"));
    }
    let starred = starred.map(|it| it.entry.id.as_str());
    (feed.title.clone(), feed.tags.clone(), read.collect(), starred.collect())
}

#[test]
fn databases_of_other_readers_are_recognised() {
    let named = (Some("My orchard".to_owned()), vec!["Garden/Fruit".to_owned()]);
    for (reader, bytes, (title, tags)) in [
        ("newsraft", &include_bytes!("../fixtures/readers/newsraft.db")[..], Default::default()),
        ("news-flash", include_bytes!("../fixtures/readers/news-flash.db"), named.clone()),
        ("liferea", include_bytes!("../fixtures/readers/liferea.db"), named.clone()),
        ("rssguard", include_bytes!("../fixtures/readers/rssguard.db"), named),
    ] {
        let library = read(bytes).unwrap().unwrap();
        let (read, starred) = (vec!["e-1", "e-3", "gone-1"], vec!["e-3", "gone-1"]);
        assert_eq!(told(&library), (title, tags, read, starred), "{reader}");
        let first = library.entries[FEED].iter().find(|it| it.entry.id == "e-1").unwrap();
        assert_eq!(first.entry.content, None, "{reader}: texts of starred ones alone");
        assert_eq!(first.entry.published.unwrap().timestamp() / 10, 170_000_000, "{reader}");
    }
}

#[test]
fn lists_of_google_reader_are_recognised_by_their_form() {
    let item = |guid: &str, more: &str| {
        format!(
            r#"{{"id":"tag:google.com,2005:reader/item/1","guid":"{guid}","title":"T","published":1700000000,
            "canonical":[{{"href":"http://127.0.0.1/{guid}"}}],"content":{{"content":"<p>Kept text</p>"}},
            "origin":{{"streamId":"feed/12","title":"Orchard","feedUrl":"{FEED}"}},"categories":[{more}]}}"#
        )
    };
    let freshrss = format!(
        r#"{{"id":"user/me/state/org.freshrss/starred","items":[{},{}]}}"#,
        item("e-1", r#""user/-/state/com.google/starred""#),
        item("e-2", r#""user/-/state/com.google/read""#)
    );
    let library = read(freshrss.as_bytes()).unwrap().unwrap();
    let title = Some("Orchard".to_owned());
    assert_eq!(told(&library), (title, vec![], vec!["e-2"], vec!["e-1", "e-2"]));
    let takeout = freshrss.replace("org.freshrss", "com.google").replace("feed/12", "x");
    let library = read(takeout.as_bytes()).unwrap().unwrap();
    assert_eq!(told(&library).3, ["e-1", "e-2"]);
    for (text, part) in [
        ("{", "it is JSON, but neither"),
        (r#"{"items":3}"#, "it is JSON, but neither"),
        (r#"{"version":"https://jsonfeed.org/version/1.1"}"#, "it is JSON, but neither"),
    ] {
        assert!(read(text.as_bytes()).unwrap_err().contains(part), "{text}");
    }
    assert_eq!(read(b"https://a.example/feed"), Ok(None));
    assert_eq!(read(br#"{"items":[3,{"origin":[]},null]}"#), Ok(Some(Library::default())));
}

#[test]
fn the_file_of_feedr_is_recognised() {
    let text = format!(
        r#"{{"bookmarks":["{FEED}","https://b.example/feed"],"read_items":["http://127.0.0.1/1"],
        "starred_items":["http://127.0.0.1/1","http://127.0.0.1/2"],
        "categories":[{{"id":"1","name":"Fruit","feeds":["{FEED}"],"expanded":true}}]}}"#
    );
    let library = read(text.as_bytes()).unwrap().unwrap();
    assert_eq!(library.list.outlines.len(), 2);
    assert_eq!(library.list.outlines[0].tags, ["Fruit"]);
    let entries = &library.entries[FEED];
    let marks: Vec<_> = entries.iter().map(|it| (it.is_read, it.is_starred)).collect();
    assert_eq!(marks, [(true, true), (false, true)], "{entries:?}");
}

#[test]
fn damaged_states_lose_the_damaged_lines_alone() {
    let line = |kind: &str, more: &str| format!("{{\"kind\":\"{kind}\"{more}}}\n");
    let entries: String = (1..=20)
        .map(|id| line("entry", &format!(",\"feed\":\"{FEED}\",\"id\":\"{id}\",\"read\":true")))
        .collect();
    let feed = line("feed", &format!(",\"url\":\"{FEED}\""));
    let text = [line("state", ",\"version\":1"), feed, entries, line("end", "")].concat();
    let first = text.find('\n').unwrap();
    for at in (first + 1..text.len()).step_by(5) {
        for byte in [b'"', b'{', b'\n', 0x1b, b'9', 0xff] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = byte;
            let library = read(&bytes).unwrap().unwrap();
            let kept = library.entries.values().map(Vec::len).sum::<usize>();
            assert!(kept >= 18, "{at} {byte}: {kept}");
        }
    }
}

const CHANNEL: &str = "UC0123456789abcdefghijkl";

/// Returns the addresses and titles of the feeds in a file.
fn feeds(library: &Library) -> Vec<(&str, Option<&str>)> {
    let feeds = library.list.outlines.iter();
    feeds.map(|feed| (feed.xml_url.as_str(), feed.title.as_deref())).collect()
}

#[test]
fn channels_of_video_players_become_feeds() {
    let feed = format!("https://www.youtube.com/feeds/videos.xml?channel_id={CHANNEL}");
    let second = CHANNEL.replace('0', "9");
    let takeout = format!(
        "\u{feff}Kanal-ID,Kanal-URL,Kanaltitel\r\n{CHANNEL},http://www.youtube.com/channel/{CHANNEL},Orchard\r\n\
         {second},http://www.youtube.com/channel/{second},\"Wax, \"\"warm\"\"\"\r\n\r\nbroken\r\n"
    );
    let library = read(takeout.as_bytes()).unwrap().unwrap();
    let other = feed.replace(CHANNEL, &second);
    assert_eq!(
        feeds(&library),
        [(feed.as_str(), Some("Orchard")), (other.as_str(), Some("Wax, \"warm\""))]
    );
    assert_eq!(library.list.left_out(), ["line 5: has no known feed (broken)"]);
    let newpipe = format!(
        "{{\"app_version\":\"0.27\",\"subscriptions\":[{{\"service_id\":0,\"url\":\"https://www.youtube.com/channel/{CHANNEL}\",\
         \"name\":\"Orchard\"}},{{\"service_id\":1,\"url\":\"https://soundcloud.com/orchard\",\"name\":\"Songs\"}}]}}"
    );
    let library = read(newpipe.as_bytes()).unwrap().unwrap();
    assert_eq!(feeds(&library), [(feed.as_str(), Some("Orchard"))]);
    let told = library.list.left_out();
    assert_eq!(told, ["line 1: has no known feed (https://soundcloud.com/orchard)"]);
    // A list of addresses is none.
    assert_eq!(read(b"https://a.example/a,b,c\nhttps://b.example/\n").unwrap(), None);
}
