//! Damaged files of the store and of the index. They are damaged while nobody has the store open.

use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// A feed that knows its validator.
fn site() -> Site {
    Site::start(|request| match request.header("if-none-match") {
        Some("\"one\"") => answer(304, &[], ""),
        _ => answer(200, &[("etag", "\"one\"")], rss("Orchard", "e", 12)),
    })
}

#[test]
fn a_damaged_store_is_told_in_one_sentence() {
    let program = Program::new();
    program.run(&["feeds"]).with(0);
    std::fs::write(program.data().join("store/db"), vec![0xA5; 70_000]).unwrap();
    let ended = program.run(&["feeds", "--json"]);
    if ended.status != Some(0) {
        let told = ended.refused(2);
        assert!(told.contains("data"), "{told}");
    }
}

#[test]
fn a_store_that_was_destroyed_is_made_anew_from_the_backup_of_the_day() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml"), "--no-poll"]).with(0);
    program.run(&["poll", "--all"]).with(0);
    let backups = || std::fs::read_dir(program.data().join("backups")).unwrap().flatten();
    assert_eq!(backups().count(), 1);
    let log = program.data().join("store/db");
    let length = std::fs::metadata(&log).unwrap().len();
    std::fs::write(&log, vec![0; usize::try_from(length).unwrap()]).unwrap();
    let listed = program.run(&["feeds", "--json"]).with(0);
    assert!(listed.err.contains("1 subscription and what was read"), "{listed:#?}");
    assert_eq!((listed.err.lines().count(), &listed.json()[0]["total"]), (1, &12.into()));
    assert_eq!(program.run(&["entries", "--json"]).with(0).json()[0]["title"], "e 12");
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    let feed = &polled["feeds"][0];
    assert_eq!((&feed["conditional"], &feed["status"]), (&false.into(), &200.into()));
    assert_eq!((&polled["new"], &polled["edited"]), (&0.into(), &0.into()));
    assert_eq!(program.run(&["feeds"]).with(0).err, "", "it is told once");
    program.run(&["doctor"]).with(0);
}

#[test]
fn a_damaged_index_is_told_and_repaired() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    program.run(&["search", "text"]).with(0);
    let healthy = program.run(&["doctor"]).with(0);
    assert!(healthy.out.contains("search: 12 entries indexed"), "{healthy:#?}");
    std::fs::write(program.data().join("index/meta.json"), "{").unwrap();
    let told = program.run(&["doctor"]).with(1);
    assert!(told.out.contains("the search index is damaged"), "{told:#?}");
    let repaired = program.run(&["doctor", "--repair"]).with(0);
    assert!(repaired.out.contains("rebuilt"), "{repaired:#?}");
    assert!(repaired.out.contains("search: 12 entries indexed"), "{repaired:#?}");
    let found = program.run(&["search", "text", "--json"]).with(0).json();
    assert_eq!(found.as_array().unwrap().len(), 12);
}
