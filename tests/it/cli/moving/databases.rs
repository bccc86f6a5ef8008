//! Databases of other readers with many feeds and entries: their state and ours agree for every entry that both know, in whichever
//! order feeds are polled and the database is imported. `BACKISSUE_READER_FEEDS=60` takes more feeds, with 30 entries each.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use super::row;
use crate::feeds::corpus::tell;
use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// Number of entries at the end of a feed that the other reader does not know.
const NEWER: usize = 2;

/// Returns whether a program that makes databases is there.
fn can_make() -> bool {
    let found = Command::new("python3").args(["-c", "import sqlite3"]).status();
    let is_there = found.is_ok_and(|status| status.success());
    if !is_there {
        tell("nothing is checked: python3 with sqlite3 is missing");
    }
    is_there
}

fn make(reader: &str, target: &Path, site: &Site, feeds: usize, entries: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/readers");
    let made = Command::new("python3")
        .arg(folder.join("fill.py"))
        .arg(reader)
        .arg(folder.join(format!("{reader}.db")))
        .arg(target)
        .args([site.at(""), feeds.to_string(), entries.to_string()])
        .status();
    assert!(made.unwrap().success());
}

/// Compares the state of each entry with that in the database. Returns the numbers of entries that both know, that are read and that
/// are starred.
fn compare(state: &str, feeds: usize, entries: usize, has_labels: bool) -> [usize; 3] {
    let lines = state.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut counts = [0; 3];
    for line in lines.filter(|line| line["kind"] == "entry") {
        let id = line["id"].as_str().unwrap();
        let (feed, number) = id.strip_prefix('f').unwrap().split_once('-').unwrap();
        let (feed, number): (usize, usize) = (feed.parse().unwrap(), number.parse().unwrap());
        let index = (feed - 1) * entries + number;
        let is_known = number <= entries;
        let read = is_known && index.is_multiple_of(2);
        let starred = is_known && index.is_multiple_of(feeds * entries / 20);
        let labelled = is_known && has_labels && index.is_multiple_of(9);
        assert_eq!((&line["read"], &line["starred"]), (&read.into(), &starred.into()), "{line}");
        assert_eq!(line.get("labels").is_some(), labelled, "{line}");
        for (count, is) in counts.iter_mut().zip([is_known, read, starred]) {
            *count += usize::from(is);
        }
    }
    counts
}

#[test]
fn states_agree_with_large_databases_of_other_readers() {
    if !can_make() {
        return;
    }
    let wished = std::env::var("BACKISSUE_READER_FEEDS").ok().and_then(|feeds| feeds.parse().ok());
    let (feeds, entries) = wished.map_or((12, 20), |feeds: usize| (feeds, 30));
    let count = u32::try_from(entries + NEWER).unwrap();
    let site = Site::start(move |request| {
        let name = request.path_and_query.trim_matches('/').trim_end_matches(".xml").to_owned();
        answer(200, &[], rss(&format!("Feed {name}"), &name, count))
    });
    for reader in ["newsraft", "news-flash"] {
        for is_polled in [false, true] {
            let program = Program::new();
            let database = program.path("other.db");
            make(reader, &database, &site, feeds, entries);
            let addresses: Vec<String> =
                (1..=feeds).map(|feed| site.at(&format!("/f{feed}.xml"))).collect();
            if is_polled {
                let list = program.path("list");
                std::fs::write(&list, addresses.join("\n")).unwrap();
                program.run(&["import", list.to_str().unwrap()]).with(0);
                program.run(&["poll", "--all"]).with(0);
            }
            let started = Instant::now();
            let done = program.run(&["import", database.to_str().unwrap()]).with(0);
            let took = started.elapsed();
            program.run(&["poll", "--all"]).with(0);
            let all = feeds * entries;
            assert_eq!(
                row(&done.out, "read entries"),
                [(all / 2).to_string(), (all / 2).to_string()]
            );
            let state = program.run(&["export", "--state"]).with(0).out;
            let compared = compare(&state, feeds, entries, reader == "news-flash");
            assert_eq!(compared, [all, all / 2, 20], "{reader} {is_polled}");
            let order = if is_polled { "poll, import" } else { "import, poll" };
            tell(&format!(
                "{reader}, {order}: {feeds} feeds, {compared:?} known, read, starred; import {took:?}"
            ));
        }
    }
}

/// Makes the database of newsboat with eight read entries, five of them in its log, and more in the log that were not committed.
const WITH_LOG: &str = "
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute('pragma journal_mode=wal')
c.execute('pragma wal_autocheckpoint=0')
c.execute('pragma page_size=512')
c.execute('create table rss_feed (rssurl varchar primary key, url varchar, title varchar)')
c.execute('create table rss_item (id integer primary key, guid varchar, title varchar, author varchar, url varchar, feedurl varchar, pubDate integer, content varchar, unread integer, enclosure_url varchar, enclosure_type varchar, enqueued integer, flags varchar, deleted integer)')
c.execute(\"insert into rss_feed values ('http://127.0.0.1:9/a.xml', 'http://127.0.0.1:9/', 'A')\")
for k in range(8):
    if k == 3:
        c.execute('pragma wal_checkpoint(truncate)')
    c.execute(\"insert into rss_item values (?, ?, 'T', '', ?, 'http://127.0.0.1:9/a.xml', 1790000000, ?, 0, '', '', 0, '', 0)\", (k, f'g{k}', f'http://127.0.0.1:9/{k}', 'text ' * 500))
import os, shutil
for end in ('', '-wal'):
    shutil.copy(sys.argv[1] + end, sys.argv[2] + end)
";

#[test]
fn database_is_read_with_its_log_or_not_at_all() {
    if !can_make() {
        return;
    }
    let program = Program::new();
    let folder = program.path("newsboat");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("urls"), "http://127.0.0.1:9/a.xml\n").unwrap();
    let (open, cache) = (program.path("open.db"), folder.join("cache.db"));
    let made = Command::new("python3").args(["-c", WITH_LOG]).arg(open).arg(&cache).status();
    assert!(made.unwrap().success());
    let dry = ["import", "--from", "newsboat", folder.to_str().unwrap(), "--dry-run"];
    let told = program.run(&dry).with(0).out;
    assert!(told.contains("8 "), "{told}");
    let log = folder.join("cache.db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let cut = program.run(&dry).with(0).out;
    assert!(!cut.contains("8 "), "what follows damage was never committed: {cut}");
    let journal = [&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7][..], &[0; 500]].concat();
    std::fs::write(folder.join("cache.db-journal"), journal).unwrap();
    let why = program.run(&dry).refused(2);
    assert!(why.contains("a change of it is not finished"), "{why}");
}
