//! Moving in from other feed readers.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{entries, ids, row};

use crate::support::binary::{Program, StoreOwner};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

const CACHE: &[u8] = include_bytes!("../../fixtures/newsboat-cache.db");
/// Address of the feed in the cache.
const PLACEHOLDER: &[u8] = b"http://127.0.0.1:PPPPP/feed.xml";

/// Writes the folder of a newsboat with a feed whose address ends with a port of five digits and `/feed.xml`.
fn newsboat(folder: &Path, feed: &str) {
    fs::create_dir(folder).unwrap();
    let query = "\"query:Unread:unread = \\\"yes\\\"\"";
    fs::write(folder.join("urls"), format!("{feed} garden/fruit \"~My orchard\"\n{query}\n"))
        .unwrap();
    fs::write(folder.join("cache.db"), with_address(CACHE, feed)).unwrap();
}

/// Returns a database with an address in place of the placeholder, which has the same length.
fn with_address(database: &[u8], feed: &str) -> Vec<u8> {
    let mut changed = database.to_vec();
    let places: Vec<usize> = memchr::memmem::find_iter(database, PLACEHOLDER).collect();
    assert!(feed.len() == PLACEHOLDER.len() && !places.is_empty(), "{feed}");
    for place in places {
        changed[place..place + feed.len()].copy_from_slice(feed.as_bytes());
    }
    changed
}

#[test]
fn newsboat_marks_count_before_and_after_the_first_poll() {
    for owner in [StoreOwner::Nobody, StoreOwner::Service] {
        for is_polled in [false, true] {
            let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 20)));
            let program = Program::owned_by(owner);
            let folder = program.path("newsboat");
            newsboat(&folder, &site.at("/feed.xml"));
            let folder = folder.to_str().unwrap();
            if is_polled {
                program.run(&["add", &site.at("/feed.xml")]).with(0);
            }
            let dry = program.run(&["import", "--from", "newsboat", "--dry-run", folder]).with(0);
            assert!(
                dry.out.contains("1 subscription and 1 search would be imported"),
                "{}",
                dry.out
            );
            assert_eq!(row(&dry.out, "read entries"), ["33", "33"], "{}", dry.out);
            assert_eq!(row(&dry.out, "saved searches"), ["1", "1"], "{}", dry.out);
            assert_eq!(entries(&program, &["--starred"]).len(), 0);
            let done = program.run(&["import", "--from", "newsboat", folder]).with(0);
            assert!(done.out.contains("1 search saved"), "{done:?}");
            // Ten even numbers, the first one, and the one that was deleted; those that are not in the feed wait.
            let told = if is_polled {
                "13 marked; 20 wait for later polls"
            } else {
                "2 marked; 31 wait for later polls"
            };
            assert!(done.out.contains(told), "{done:?}");
            assert_eq!(row(&done.out, "starred entries"), ["2", "2"], "{done:?}");
            program.run(&["poll", "--all"]).with(0);
            let all = entries(&program, &[]);
            let mut read: Vec<String> = (2..=20).step_by(2).map(|n| format!("e-{n}")).collect();
            read.extend(["e-1".into(), "e-5".into(), "gone-900".into()]);
            read.sort();
            assert_eq!((all.len(), ids(&all, "read")), (21, read), "{owner:?} {is_polled}");
            assert_eq!(ids(&all, "starred"), ["e-4", "gone-900"]);
            let labelled =
                all.iter().map(|it| (it["id"].as_str().unwrap(), it["labels"].to_string()));
            let mut labelled: Vec<_> = labelled.filter(|(_, labels)| labels != "[]").collect();
            labelled.sort();
            assert_eq!(labelled, [("e-4", "[\"s\"]".into()), ("gone-900", "[\"a\",\"b\"]".into())]);
            let feed = &program.run(&["feeds", "--json"]).with(0).json()[0];
            assert_eq!(
                (&feed["unread"], &feed["total"], &feed["starred"]),
                (&8.into(), &21.into(), &2.into())
            );
            assert_eq!(feed["tags"][0], "garden/fruit");
            let gone = all.iter().find(|it| it["id"] == "gone-900").unwrap();
            let text = program.run(&["show", gone["number"].as_str().unwrap(), "--text"]).with(0);
            assert!(text.out.contains("No feed has this any more."), "{text:?}");
            program.run(&["doctor"]).with(0);
        }
    }
}

#[test]
fn one_undo_takes_back_all_of_an_import() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 20)));
    let program = Program::new();
    let folder = program.path("newsboat");
    newsboat(&folder, &site.at("/feed.xml"));
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let before = entries(&program, &[]);
    program.run(&["import", "--from", "newsboat", folder.to_str().unwrap()]).with(0);
    assert_ne!(ids(&entries(&program, &[]), "read"), ids(&before, "read"));
    program.run(&["undo", "--yes"]).with(0);
    let after = entries(&program, &[]);
    let kept = |flag| ids(&after, flag).into_iter().filter(|id| !id.starts_with("gone"));
    for flag in ["read", "starred"] {
        assert_eq!(kept(flag).collect::<Vec<_>>(), ids(&before, flag), "{flag}");
    }
    let feed = &program.run(&["feeds", "--json"]).with(0).json()[0];
    assert_eq!(feed["tags"], Value::Array(Vec::new()));
    assert!(
        program.run(&["undo", "--yes"]).out.contains("unsubscribed"),
        "the import was one step"
    );
}

#[test]
fn the_table_says_what_was_not_taken() {
    let program = Program::new();
    let folder = program.path("newsboat");
    newsboat(&folder, "http://127.0.0.1:12345/feed.xml");
    let urls = "http://127.0.0.1:1/a \"~One\" news\nhttp://127.0.0.1:1/b ! news\nexec:ls\n\
                \"query:Old:unread_count > 3\"\nhttp://127.0.0.1:1/c\n";
    fs::write(folder.join("urls"), urls).unwrap();
    program.run(&["add", "--no-poll", "http://127.0.0.1:1/a"]).with(0);
    for dry in [true, false] {
        let args = ["import", "--from", "newsboat", folder.to_str().unwrap(), "--dry-run"];
        let done = program.run(&args[..if dry { 5 } else { 4 }]).with(i32::from(!dry));
        for (what, numbers) in [
            ("feeds", ["4", "3"]),
            ("titles", ["1", "0"]),
            ("tags", ["1", "1"]),
            ("hidden feeds", ["1", "1"]),
            ("read entries", ["33", "0"]),
            ("starred entries", ["2", "0"]),
            ("saved searches", ["1", "0"]),
        ] {
            assert_eq!(row(&done.out, what), numbers, "{done:?}");
        }
        assert!(done.out.contains("33 in feeds you are not subscribed to"), "{done:?}");
        assert!(done.err.contains("line 4: the search 'Old' is left out"), "{done:?}");
        assert!(done.err.contains("exec:ls: this feed runs a program: to allow that"), "{done:?}");
    }
    let list = program.run(&["export"]).with(0).out;
    let quiet: Vec<&str> = list.lines().filter(|line| line.contains("bi:quiet=\"on\"")).collect();
    assert!(quiet.len() == 1 && quiet[0].contains("http://127.0.0.1:1/b"), "{list}");
}

#[test]
fn killfile_and_keys_of_newsboat_are_taken_over() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 20)));
    let program = Program::new();
    let folder = program.path("newsboat");
    newsboat(&folder, &site.at("/feed.xml"));
    let config = format!(
        "browser \"firefox '%u'\"\nignore-article * \"title =~ \\\"7$\\\"\"\n\
         ignore-article {} \"title =~ \\\"8$\\\"\"\n\
         ignore-article https://gone.example/ \"title =~ \\\"8$\\\"\"\n\
         highlight articlelist \"9$\" red\nignore-article * \"guid = \\\"x\\\"\"\n\
         define-filter Young \"age < 3\"\nbind-key ^R reload-all\nbind-key X delete-article\n\
         color background white black\n",
        site.at("/feed.xml")
    );
    fs::write(folder.join("config"), config).unwrap();
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let done = program.run(&["import", "--from", "newsboat", folder.to_str().unwrap()]).with(0);
    for (what, numbers) in
        [("filters", ["4", "2"]), ("saved searches", ["2", "2"]), ("keys", ["2", "1"])]
    {
        assert_eq!(row(&done.out, what), numbers, "{done:?}");
    }
    for line in [
        "open = \"firefox {link}\"",
        "keys = \"newsboat\"",
        "\"Ctrl-r\" = [\"poll-all\"]",
        "query = \"title:/9$/\"",
        "text = \"white black\"",
    ] {
        assert!(done.out.lines().any(|it| it == line), "{line} {done:?}");
    }
    for part in [
        "newsboat's config, line 6, is left out: ignore-article: queries here",
        "newsboat's config, line 9, is left out: key 'X': delete",
    ] {
        assert!(done.err.contains(part), "{part} {done:?}");
    }
    let hidden = entries(&program, &["--hidden"]);
    let titles: Vec<&str> = hidden.iter().map(|it| it["title"].as_str().unwrap()).collect();
    assert!(titles.len() == 4 && titles.iter().all(|it| it.ends_with(['7', '8'])), "{titles:?}");
    assert!(
        entries(&program, &[]).iter().all(|it| !it["labels"].to_string().contains("highlight"))
    );
    program.run(&["undo", "--yes"]).with(0);
    assert_eq!(entries(&program, &["--hidden"]).len(), 0);
    let filters = program.run(&["filters", "--json"]).with(0).json();
    assert_eq!(filters.as_array().map(Vec::len), Some(0), "{filters}");
}

#[test]
fn configuration_is_written_only_if_there_is_none() {
    let program = Program::new();
    let folder = program.path("newsboat");
    newsboat(&folder, "http://127.0.0.1:12345/feed.xml");
    let config = "player mpv\nshow-read-feeds no\ncolor listfocus black yellow\nreload-time 9\n\
                  browser \"sh -c 'w3m %u'\"\n";
    fs::write(folder.join("config"), config).unwrap();
    // A file that is named with --config must exist.
    let path = program.path(".config/backissue/config.toml");
    let (folder, config) = (folder.to_str().unwrap(), path.to_str().unwrap());
    let args = ["import", "--from", "newsboat", folder, "--write-config"];
    let import = || program.run_bare(&args);
    let done = import().with(0);
    assert!(done.out.contains(&format!("written to {config}")), "{done:?}");
    assert!(done.out.contains("  reload-time: '[poll] default'"), "{done:?}");
    assert!(
        done.err.contains(
            "newsboat's config, line 5, is left out: browser: its line would be invalid: [commands] open: {link}"
        ),
        "{done:?}"
    );
    let written = || fs::read_to_string(&path).unwrap();
    assert_eq!(written(), "[ui]\nfeeds = \"unread\"\ntheme = \"newsboat\"\n");
    let checked = program.run_bare(&["config"]).with(0);
    assert_eq!(checked.out.lines().count(), 1, "the theme is read: {checked:?}");
    fs::write(&path, "# mine\n").unwrap();
    let again = import().with(0);
    assert!(
        again.err.contains("config.toml is not written: you have a configuration"),
        "{again:?}"
    );
    assert_eq!(written(), "# mine\n");
}

#[test]
fn files_of_other_readers_are_recognised_and_imported() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 20)));
    for (name, bytes) in [
        ("newsraft.sqlite3", &include_bytes!("../../fixtures/readers/newsraft.db")[..]),
        ("database.sqlite", include_bytes!("../../fixtures/readers/news-flash.db")),
        ("liferea.db", include_bytes!("../../fixtures/readers/liferea.db")),
        ("database.db", include_bytes!("../../fixtures/readers/rssguard.db")),
    ] {
        let program = Program::new();
        let folder = program.path("other");
        fs::create_dir(&folder).unwrap();
        let file = folder.join(name);
        fs::write(&file, with_address(bytes, &site.at("/feed.xml"))).unwrap();
        fs::write(folder.join(format!("{name}-wal")), "no log").unwrap();
        let done = program.run(&["import", file.to_str().unwrap()]).with(0);
        assert_eq!(row(&done.out, "read entries"), ["3", "3"], "{done:?}");
        program.run(&["poll", "--all"]).with(0);
        let all = entries(&program, &[]);
        assert_eq!(
            (all.len(), ids(&all, "read")),
            (21, vec!["e-1".into(), "e-3".into(), "gone-1".into()])
        );
        assert_eq!(ids(&all, "starred"), ["e-3", "gone-1"], "{name}");
        // The folder is recognised by its files.
        let again = program.run(&["import", folder.to_str().unwrap()]).with(0);
        assert!(again.out.contains("0 added, 1 already subscribed"), "{again:?}");
    }
    let program = Program::new();
    let file = program.path("starred.json");
    let list = r#"{"id":"user/1/state/com.google/starred","items":[{"title":"Gone","content":{"content":"Kept text"},
        "alternate":[{"href":"http://127.0.0.1:1/gone"}],"origin":{"streamId":"feed/http://127.0.0.1:1/feed"}}]}"#;
    fs::write(&file, list).unwrap();
    let file = file.to_str().unwrap();
    program.run(&["import", "--from", "freshrss", file]).with(0);
    assert_eq!(ids(&entries(&program, &["--starred"]), "starred"), ["http://127.0.0.1:1/gone"]);
    let feed = &program.run(&["feeds", "--json"]).with(0).json()[0];
    assert_eq!(feed["unread"], 1, "it was not read there");
    program.run(&["import", "--from", "miniflux"]).refused(2);
}

#[test]
fn folders_that_are_not_of_newsboat_are_named() {
    let program = Program::new();
    let folder = program.path("newsboat");
    fs::create_dir(&folder).unwrap();
    let path = folder.to_str().unwrap();
    let import = || program.run(&["import", "--from", "newsboat", path]);
    assert!(import().refused(2).contains("no file 'urls' of newsboat was found"));
    fs::write(folder.join("urls"), "http://127.0.0.1:1/feed.xml\n").unwrap();
    fs::write(folder.join("cache.db"), "not a database").unwrap();
    assert!(import().refused(2).contains("it is not an SQLite database"));
    assert_eq!(program.run(&["feeds", "--json"]).with(0).json(), Value::Array(Vec::new()));
    fs::remove_file(folder.join("cache.db")).unwrap();
    let done = import().with(0);
    assert!(done.err.contains("no cache.db was found"), "{done:?}");
}

#[test]
fn tags_of_newsboat_are_never_titles() {
    let program = Program::new();
    let list = "http://127.0.0.1:1/a \"tag one\"\nhttp://127.0.0.1:1/b \"two\"\n";
    for (name, args, titled) in [
        ("list", &["import"][..], true),
        ("list", &["import", "--from", "newsboat"], false),
        ("urls", &["import"], false),
    ] {
        let path = program.path(name);
        fs::write(&path, list).unwrap();
        let dry = program.run(&[args, &["--dry-run", path.to_str().unwrap()]].concat()).with(0);
        assert!(dry.out.contains("2 subscriptions"), "{dry:?}");
        program.run(&[args, &[path.to_str().unwrap()]].concat()).with(0);
        let feed = &program.run(&["feeds", "--json"]).with(0).json()[0];
        assert_eq!(feed["title"] == "tag one", titled, "{name} {args:?} {feed}");
        assert_eq!(feed["tags"][0] == "tag one", !titled, "{feed}");
        program.run(&["undo", "--yes"]).with(0);
    }
}

#[test]
fn reader_without_feeds_moves_in_from_a_reader_that_it_finds() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard Notes", "n", 3)));
    let program = Program::new();
    newsboat(&program.path(".newsboat"), &site.at("/feed.xml"));
    let mut reader = program.start_reader();
    reader.until_it_says("1  move in from newsboat");
    reader.press("1");
    reader.until_it_says("Enter opens the reader");
    reader.press("\r");
    reader.until_it_says("My orchard");
    reader.press("\x03");
    assert!(reader.ended().success());
    assert!(program.run(&["undo", "--yes"]).with(0).out.contains("import"));
}
