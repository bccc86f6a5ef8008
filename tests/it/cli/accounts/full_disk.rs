//! A disk that is full during a sync or a change of the user: what is refused changes nothing, and there is no step of it.

use std::os::unix::fs::symlink;

use super::undoing::with_feeds;
use super::{marks, sync};
use crate::store::small_disk::SmallDisk;
use crate::support::binary::Program;
use crate::support::greader_double::GreaderDouble;

/// Free bytes of a disk that counts as full.
const LEFT: u64 = 1_000_000;

/// A program with two feeds of an account, on a small disk.
fn on_small_disk() -> Option<(SmallDisk, Program, GreaderDouble)> {
    let disk = SmallDisk::mount()?;
    let (program, server) = with_feeds(2);
    let data = program.data();
    std::fs::rename(&data, program.path("moved")).unwrap();
    let copied = std::process::Command::new("cp")
        .args(["-a".as_ref(), program.path("moved").as_os_str(), disk.data().as_os_str()])
        .status();
    assert!(copied.unwrap().success());
    symlink(disk.data(), &data).unwrap();
    server.count_requests();
    Some((disk, program, server))
}

fn filters(program: &Program) -> String {
    program.run(&["filters", "--json"]).with(0).out
}

#[test]
fn a_sync_on_a_full_disk_fails_and_goes_on_when_there_is_room() {
    let Some((disk, program, server)) = on_small_disk() else { return };
    server.publish(1, 100..=119);
    disk.fill(LEFT);
    for _ in 0..3 {
        let told = program.run(&["account", "sync"]).refused(2);
        assert!(told.contains("the disk is full"), "{told}");
        assert_eq!(server.count_requests(), 0, "nothing is fetched that cannot be kept");
    }
    disk.empty();
    let told = sync(&program);
    assert!(told.out.contains("20 new"), "{told:?}");
    assert_eq!(marks(&program), server.marks());
}

#[test]
fn what_a_full_disk_refuses_changes_nothing() {
    let Some((disk, program, _server)) = on_small_disk() else { return };
    program.run(&["filters", "add", "--label", "kept", "--title", "0"]).with(0);
    let state = |program: &Program| (marks(program), filters(program));
    let before = state(&program);
    disk.fill(LEFT);
    for change in [
        &["mark", "read", "--all"][..],
        &["mark", "starred", "1.0"],
        &["filters", "add", "--mark-read", "--title", "e"],
        &["filters", "remove", "1"],
        &["unsubscribe", "1", "2", "--yes"],
        &["undo", "--yes"],
    ] {
        let told = program.run(change).refused(2);
        assert!(told.contains("the disk is full"), "{change:?}: {told}");
        assert_eq!(state(&program), before, "{change:?}");
    }
    disk.empty();
    assert_eq!(state(&program), before);
    let told = program.run(&["undo"]).with(0);
    assert!(told.out.contains("undone: filter '"), "the last change that was saved: {told:?}");
    assert!(program.run(&["undo"]).err.contains("nothing to undo"), "and only that");
    program.run(&["mark", "read", "--all"]).with(0);
    let told = program.run(&["undo"]).with(0);
    assert!(told.out.contains("4 marked read"), "{told:?}");
    assert_eq!(marks(&program), before.0);
}
