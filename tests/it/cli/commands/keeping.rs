//! Backup, restore and compaction.

use super::new_program;
use crate::support::binary::Program;
use crate::support::site::{Site, answer};
use crate::support::world::rss;

/// Returns the output of `feeds --json` and `entries --json`, which shows whether two stores have the same contents.
fn seen(program: &Program) -> (String, String) {
    let feeds = program.run(&["feeds", "--json"]).with(0).out;
    (feeds, program.run(&["entries", "--json"]).with(0).out)
}

fn subscribed() -> (Site, Program) {
    let document = rss("Garden", &[("a", "Frost", 1, "white"), ("b", "Wax", 2, "")]);
    let site = Site::start(move |request| match request.path() {
        "/feed" => answer(200, &[], document.as_str()),
        _ => answer(404, &[], ""),
    });
    let program = new_program();
    program.run(&["add", &site.at("/feed"), "--tag", "green"]).with(0);
    (site, program)
}

#[test]
fn a_backup_is_restored_elsewhere_with_its_entries_and_searches() {
    let (_site, program) = subscribed();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.backup");
    let told = program.run(&["backup", file.to_str().unwrap()]).with(0).err;
    assert!(told.starts_with("1 subscription ("), "{told}");
    let other = new_program();
    other.run(&["feeds"]).with(0);
    let told = other.run(&["restore", file.to_str().unwrap()]).with(0).err;
    assert!(told.starts_with("1 subscription restored"), "{told}");
    assert!(told.contains("is kept in"), "{told}");
    assert_eq!(seen(&other), seen(&program));
    assert!(other.run(&["search", "white"]).with(0).out.contains("Frost"));
}

#[test]
fn invalid_backup_is_refused_and_changes_nothing() {
    let (_site, program) = subscribed();
    let before = seen(&program);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x");
    std::fs::write(&file, "<opml/>").unwrap();
    let told = program.run(&["restore", file.to_str().unwrap()]).with(2).err;
    assert!(told.contains("it was not written by 'backissue backup'"), "{told}");
    program.run(&["restore", "/nowhere/at/all"]).with(2);
    program.run(&["backup", "/nowhere/at/all"]).with(2);
    assert_eq!(seen(&program), before);
}

#[test]
fn a_compacted_store_shows_the_same() {
    let (_site, program) = subscribed();
    let before = seen(&program);
    let told = program.run(&["doctor", "--compact"]).with(0).err;
    assert!(told.contains("the store was compacted"), "{told}");
    assert_eq!(seen(&program), before);
    program.run(&["doctor"]).with(0);
}

#[test]
fn store_and_other_files_are_never_overwritten() {
    let (_site, program) = subscribed();
    let before = seen(&program);
    let store = program.data().join("store.pack");
    let notes = program.write("notes", "precious");
    for command in ["export", "backup"] {
        let told = program.run(&[command, store.to_str().unwrap(), "--force"]).with(2).err;
        assert!(told.contains("its own data in"), "{told}");
        let told = program.run(&[command, &notes]).with(2).err;
        assert!(told.contains(&format!("'backissue {command} --force'")), "{told}");
        assert_eq!(std::fs::read(&notes).unwrap(), b"precious");
    }
    for force in [&["--force"][..], &[]] {
        program.run(&[&["backup", &notes], force].concat()).with(0);
    }
    assert_eq!(seen(&program), before);
}
