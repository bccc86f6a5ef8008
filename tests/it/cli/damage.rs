//! Damaged files of the store and the index. The tests damage them while no process has the store open.

use crate::store::damage::{destroy, plant_where};
use crate::store::small_disk::SmallDisk;
use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// Starts a site whose feed has a validator.
fn site() -> Site {
    Site::start(|request| match request.header("if-none-match") {
        Some("\"one\"") => answer(304, &[], ""),
        _ => answer(200, &[("etag", "\"one\"")], rss("Orchard", "e", 12)),
    })
}

#[test]
fn destroyed_store_is_rebuilt_from_the_daily_backup() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml"), "--no-poll"]).with(0);
    program.run(&["poll", "--all"]).with(0);
    let backups = || std::fs::read_dir(program.data().join("backups")).unwrap().flatten();
    assert_eq!(backups().count(), 1);
    destroy(&program.data());
    let listed = program.run(&["feeds", "--json"]).with(0);
    assert!(listed.err.contains("1 subscription, read marks and stars"), "{listed:#?}");
    assert_eq!((listed.err.lines().count(), &listed.json()[0]["total"]), (1, &12.into()));
    assert_eq!(program.run(&["entries", "--json"]).with(0).json()[0]["title"], "e 12");
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    let feed = &polled["feeds"][0];
    assert_eq!((&feed["conditional"], &feed["status"]), (&false.into(), &200.into()));
    assert_eq!((&polled["new"], &polled["edited"]), (&0.into(), &0.into()));
    assert_eq!(program.run(&["feeds"]).with(0).err, "", "it is reported once");
    program.run(&["doctor"]).with(0);
}

#[test]
fn damaged_index_is_reported_and_repaired() {
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

#[test]
fn doctor_without_write_access_claims_no_repair() {
    let Some(disk) = SmallDisk::mount() else { return };
    let (site, program, data) = (site(), Program::new(), disk.data());
    let data = data.to_str().unwrap();
    let run = |words: &[&str]| program.run(&[words, &["--data-dir", data]].concat());
    run(&["add", &site.at("/feed.xml")]).with(0);
    let kept = disk.data().join("store-damaged-20260101-000000.000");
    std::fs::create_dir(&kept).unwrap();
    let (kept, here) = (format!("kept in {}\n", kept.display()), format!(" kB in {data}\n"));
    disk.allow_writes(false);
    let looked = run(&["doctor"]);
    disk.allow_writes(true);
    assert!(looked.out.contains(&kept) && looked.out.contains(&here), "{looked:#?}");
    looked.with(0);
    disk.allow_writes(false);
    let repaired = run(&["doctor", "--repair"]);
    disk.allow_writes(true);
    let told = repaired.with(2).err;
    assert!(told.contains("nothing can be written to this disk"), "{told}");
}

/// Damages a file of the store by changing a byte in its middle.
fn flip(program: &Program, name: &str) {
    let path = program.data().join("store").join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn damaged_poll_logs_are_reported_and_the_list_is_whole() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    plant_where(&program.data(), "polls", |_| true);
    let listed = program.run(&["feeds", "--json"]).with(1);
    assert_eq!(listed.json()[0]["total"], 12);
    assert!(listed.err.contains("skipped 1 poll log record"), "{listed:?}");
    program.run(&["doctor"]).with(1);
}

#[test]
fn doctor_names_what_it_would_repair() {
    for (table, what) in [
        ("state", "the state of feed 1 is damaged ("),
        ("polls", "a record of the poll log of feed 1 is damaged ("),
        ("meta", "a record of entries of feed 1 is damaged ("),
        ("history", "the history of feed 1 is damaged ("),
    ] {
        let (site, program) = (site(), Program::new());
        program.run(&["add", &site.at("/feed.xml")]).with(0);
        plant_where(&program.data(), table, |_| true);
        let found = program.run(&["doctor"]).with(1).out;
        assert_eq!(found.matches(what).count(), 1, "{table}: {found}");
        let repaired = program.run(&["doctor", "--repair"]).out;
        assert_eq!(repaired.matches(what).count(), 1, "{table}: {repaired}");
        assert!(repaired.contains(" (repaired)"), "{table}: {repaired}");
        let sound = program.run(&["doctor"]).with(0).out;
        assert!(sound.contains("store: no errors found"), "{table}: {sound}");
    }
}

#[test]
fn damaged_entries_are_reported_and_lists_continue() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    program.run(&["search", "text"]).with(0);
    plant_where(&program.data(), "meta", |_| true);
    for args in [&["entries", "--json"][..], &["search", "text", "--json"]] {
        let listed = program.run(args).with(1);
        assert_eq!(listed.json().as_array().map(Vec::len), Some(0), "{listed:?}");
        assert!(listed.err.contains("skipped 12 entries that cannot be read"), "{listed:?}");
    }
}

#[test]
fn unreadable_subscription_is_reported_in_lists() {
    let (site, program) = (site(), Program::new());
    for address in [site.at("/feed.xml"), site.at("/other.xml")] {
        program.run(&["add", &address]).with(0);
    }
    plant_where(&program.data(), "feeds", |key| key == [0, 0, 0, 1]);
    for args in [&["feeds"][..], &["feeds", "--json"], &["export"]] {
        let listed = program.run(args).with(1);
        assert!(
            listed.out.contains("/other.xml") && !listed.out.contains("/feed.xml"),
            "{listed:?}"
        );
        assert!(listed.err.contains("skipped 1 subscription that cannot be read"), "{listed:?}");
    }
}

#[test]
fn damaged_database_settings_cause_no_error() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    program.run(&["mark", "--all"]);
    let before = program.run(&["entries", "--json"]).with(0).out;
    flip(&program, "conf");
    for file in std::fs::read_dir(program.data().join("store")).unwrap().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.starts_with("snap.") {
            flip(&program, &name);
        }
    }
    let listed = program.run(&["entries", "--json"]).with(0);
    assert_eq!((listed.out, listed.err), (before, String::new()));
    program.run(&["doctor"]).with(0);
}

#[test]
fn sound_parts_are_restored_and_damaged_files_cleared() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let pack = program.data().join("store.pack");
    let mut bytes = std::fs::read(&pack).unwrap();
    bytes[10] ^= 4;
    std::fs::write(pack, bytes).unwrap();
    std::fs::remove_dir_all(program.data().join("store")).unwrap();
    let listed = program.run(&["feeds", "--json"]).with(0);
    assert!(listed.err.contains("1 subscription and"), "{listed:?}");
    assert!(listed.err.contains("were recovered from the damaged files"), "{listed:?}");
    assert!(!listed.err.contains("panicked") && !listed.err.contains("sled"), "{listed:?}");
    let told = program.run(&["doctor"]).with(0);
    assert!(told.out.contains("damaged files are kept in"), "{told:?}");
    assert!(told.out.contains("no errors found"), "{told:?}");
    let gone = program.run(&["doctor", "--discard-damaged"]).with(0);
    assert!(gone.out.contains("was deleted"), "{gone:?}");
    let told = program.run(&["doctor"]).with(0);
    assert!(!told.out.contains("damaged"), "{told:?}");
}
