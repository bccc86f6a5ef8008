//! Moving in from other feed readers.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::binary::{Program, StoreOwner};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

const CACHE: &[u8] = include_bytes!("../fixtures/newsboat-cache.db");
/// Address of the feed in the cache.
const PLACEHOLDER: &[u8] = b"http://127.0.0.1:PPPPP/feed.xml";

/// Writes the folder of a newsboat with a feed whose address ends with a port of five digits and `/feed.xml`.
fn newsboat(folder: &Path, feed: &str) {
    fs::create_dir(folder).unwrap();
    let query = "\"query:Unread:unread = \\\"yes\\\"\"";
    fs::write(folder.join("urls"), format!("{feed} garden/fruit \"~My orchard\"\n{query}\n"))
        .unwrap();
    // An address of the same length can be written over the one in the file.
    let mut cache = CACHE.to_vec();
    let places: Vec<usize> = memchr::memmem::find_iter(CACHE, PLACEHOLDER).collect();
    assert!(feed.len() == PLACEHOLDER.len() && places.len() == 61, "{feed}");
    for place in places {
        cache[place..place + feed.len()].copy_from_slice(feed.as_bytes());
    }
    fs::write(folder.join("cache.db"), cache).unwrap();
}

fn entries(program: &Program, args: &[&str]) -> Vec<Value> {
    let all = [&["entries", "--json", "--limit", "500"], args].concat();
    program.run(&all).with(0).json().as_array().unwrap().clone()
}

fn ids(entries: &[Value], flag: &str) -> Vec<String> {
    let with = entries.iter().filter(|it| it[flag] == true);
    let mut ids: Vec<String> = with.map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
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
            assert!(dry.out.contains("1 subscription would be imported"), "{}", dry.out);
            assert!(dry.out.contains("62 entries there: 33 read, 2 flagged"), "{}", dry.out);
            assert_eq!(entries(&program, &["--starred"]).len(), 0);
            let done = program.run(&["import", "--from", "newsboat", folder]).with(0);
            assert!(done.out.contains("1 search saved"), "{done:?}");
            // Ten even numbers, the first one, and the one that was deleted; those that are not in the feed wait.
            let (here, later) = if is_polled { (12, 20) } else { (0, 31) };
            let told = format!("{here} marked here, ");
            assert!(done.out.contains(&told), "{done:?}");
            assert!(done.out.contains(&format!("{later} waiting")), "{done:?}");
            program.run(&["poll", "--all"]).with(0);
            let all = entries(&program, &[]);
            let mut read: Vec<String> = (2..=20).step_by(2).map(|n| format!("e-{n}")).collect();
            read.extend(["e-1".into(), "e-5".into(), "gone-900".into()]);
            read.sort();
            assert_eq!((all.len(), ids(&all, "read")), (21, read), "{owner:?} {is_polled}");
            assert_eq!(ids(&all, "starred"), ["e-4", "gone-900"]);
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
