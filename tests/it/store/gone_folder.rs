//! The data folder is moved, deleted, replaced or unmounted while the store is open: changes are refused, no second store is created,
//! and the store is used again once it is back.

use std::fs;
use std::path::Path;
use std::process::Command;

use backissue::io::store::{Store, StoreError};
use backissue_core::history::Flag;

use super::small_disk::{SmallDisk, Working};
use super::{commit, entry, key};
use crate::support::binary::wait_until;
use crate::support::store_port::{Done, StoreFailure, Task};

const ENTRIES: u32 = 6;

/// Creates a store with entries.
fn create(data: &Path) {
    let mut store = Store::open(data).unwrap();
    commit(&mut store, 1, (0..ENTRIES).map(|id| entry(id, "a text")).collect());
    store.sync().unwrap();
}

fn star(working: &mut Working, seq: u32) -> Result<Done, StoreFailure> {
    working.perform(Task::mark(vec![key(seq)], Flag::Starred, true))
}

/// Stars an entry while the folder is gone: it must be refused, with the sentence.
#[track_caller]
fn refused(working: &mut Working, data: &Path) {
    for seq in [3, 4] {
        let why = star(working, seq).unwrap_err();
        assert!(why.no_room, "polls wait: {why:?}");
        assert_eq!(why.text, StoreError::Gone(data.into()).to_string());
    }
    let read = working.perform(Task::read_entry(key(0))).unwrap().entry();
    let text = read.body.as_ref().and_then(|body| body.text());
    assert_eq!(text, Some("a text"), "it can still be read");
    for day in [1, 2] {
        let day = chrono::NaiveDate::from_ymd_opt(2026, 3, day).unwrap();
        working.begin(Task::back_up(day), None);
    }
}

/// Returns the names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = found.map(|file| file.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Checks that exactly these entries are starred in the store of a folder, and that `doctor` finds nothing.
#[track_caller]
fn holds(data: &Path, starred: &[u32]) {
    let mut store = Store::open(data).unwrap();
    let stars: Vec<u32> = (0..ENTRIES)
        .filter(|&seq| store.entry(key(seq)).unwrap().unwrap().1.is_starred())
        .collect();
    assert_eq!(stars, starred);
    assert_eq!(store.check(false).unwrap().findings, []);
}

/// Runs a session in which the folder goes away after one star and, if `back` is given, comes back before the last star.
fn session(data: &Path, away: impl FnOnce(), seen: impl FnOnce(), back: Option<&dyn Fn()>) {
    // An index that is there already would not show when this session opens it.
    fs::remove_dir_all(data.join("index")).ok();
    let mut working = Working::start_measured(data, |_| None);
    star(&mut working, 0).unwrap();
    // The search index is opened meanwhile; it is to be in the folder that goes away.
    wait_until("the index is open", || data.join("index").exists());
    away();
    refused(&mut working, data);
    seen();
    if let Some(back) = back {
        back();
        star(&mut working, 1).unwrap();
    }
    drop(working.thread.stop().unwrap());
}

#[test]
fn a_moved_folder_is_used_again_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let (data, other) = (folder.path().join("D"), folder.path().join("D2"));
    create(&data);
    let away = || fs::rename(&data, &other).unwrap();
    let seen = || assert_eq!(names(folder.path()), ["D2"], "nothing is created");
    session(&data, away, seen, Some(&|| fs::rename(&other, &data).unwrap()));
    holds(&data, &[0, 1]);
    session(&data, away, seen, None);
    assert_eq!(names(folder.path()), ["D2"], "also at the end");
    holds(&other, &[0, 1]);
}

#[test]
fn a_deleted_folder_is_not_created_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("D");
    create(&data);
    let seen = || assert!(names(folder.path()).is_empty());
    session(&data, || fs::remove_dir_all(&data).unwrap(), seen, None);
    assert!(names(folder.path()).is_empty(), "also at the end");
}

#[test]
fn another_store_at_the_path_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    create(&at("D"));
    create(&at("other"));
    let files = |data: &Path| {
        let has_index = data.join("store/db").exists();
        (names(data), has_index, fs::read(data.join("store.pack")).unwrap())
    };
    let before = files(&at("other"));
    let away = || {
        fs::rename(at("D"), at("D2")).unwrap();
        fs::rename(at("other"), at("D")).unwrap();
    };
    let back = || {
        fs::rename(at("D"), at("other")).unwrap();
        fs::rename(at("D2"), at("D")).unwrap();
    };
    session(&at("D"), away, || assert_eq!(files(&at("D")), before), Some(&back));
    assert_eq!(files(&at("other")), before);
    holds(&at("D"), &[0, 1]);
    session(&at("D"), away, || (), None);
    assert_eq!(files(&at("D")), before, "also at the end");
    holds(&at("D"), &[]);
    holds(&at("D2"), &[0, 1]);
}

#[test]
fn an_older_copy_underneath_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let copy = |from: &str, to: &str| {
        let done = Command::new("cp").arg("-a").args([at(from), at(to)]).status().unwrap();
        assert!(done.success());
    };
    create(&at("D"));
    copy("D", "older");
    let away = || {
        fs::rename(at("D"), at("D2")).unwrap();
        copy("older", "D");
    };
    let back = || {
        fs::remove_dir_all(at("D")).unwrap();
        // A copy of all of it, as a synchronising program makes it.
        copy("D2", "D");
    };
    session(&at("D"), away, || (), Some(&back));
    holds(&at("D"), &[0, 1]);
    holds(&at("D2"), &[0]);
    // The pack alone is replaced, or written over.
    for is_renamed in [true, false] {
        fs::remove_dir_all(at("D")).unwrap();
        fs::remove_dir_all(at("D2")).unwrap();
        copy("older", "D");
        let (pack, former) = (at("D/store.pack"), at("former"));
        let older = at("older/store.pack");
        let away = || {
            if is_renamed {
                fs::rename(&pack, &former).unwrap();
            } else {
                fs::copy(&pack, &former).unwrap();
            }
            fs::copy(&older, &pack).unwrap();
        };
        let back = || {
            if is_renamed {
                fs::rename(&former, &pack).unwrap();
            } else {
                fs::copy(&former, &pack).unwrap();
            }
        };
        session(&at("D"), away, || (), Some(&back));
        holds(&at("D"), &[0, 1]);
        copy("D", "D2");
    }
}

#[test]
fn an_unmounted_disk_is_used_again_when_it_is_mounted() {
    let Some(disk) = SmallDisk::mount() else { return };
    let point = tempfile::tempdir().unwrap();
    let run = |program: &str, args: &[&str], paths: &[&Path]| {
        let done = Command::new(program).args(args).args(paths).status().unwrap();
        assert!(done.success(), "{program} {args:?}");
    };
    let mount = || run("mount", &["--bind"], &[disk.data().parent().unwrap(), point.path()]);
    // Without -l it is refused while a file is open.
    let unmount = || run("umount", &["-l"], &[point.path()]);
    mount();
    let data = point.path().join("data");
    create(&data);
    let seen = || assert!(names(point.path()).is_empty(), "nothing is created");
    session(&data, unmount, seen, Some(&mount));
    holds(&data, &[0, 1]);
    session(&data, unmount, seen, None);
    assert!(names(point.path()).is_empty(), "also at the end");
    mount();
    holds(&data, &[0, 1]);
    unmount();
}

#[test]
fn a_write_that_goes_into_a_moved_folder_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let (data, other) = (folder.path().join("D"), folder.path().join("D2"));
    create(&data);
    let mut store = Store::open(&data).unwrap();
    store.mark(&[key(0)], Flag::Starred, true).unwrap();
    store.sync().unwrap();
    store.mark(&[key(1)], Flag::Starred, true).unwrap();
    // It is written, but not reported as done yet.
    fs::rename(&data, &other).unwrap();
    assert!(matches!(store.sync(), Err(StoreError::Gone(_))));
    drop(store);
    holds(&other, &[0]);
}

#[test]
fn maintenance_leaves_a_replaced_folder_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("D");
    create(&data);
    let store = Store::open(&data).unwrap();
    fs::rename(&data, folder.path().join("D2")).unwrap();
    let day = chrono::NaiveDate::from_ymd_opt(2026, 3, 2).unwrap();
    assert!(matches!(store.back_up_daily(day), Err(StoreError::Gone(_))));
    assert!(matches!(store.compact(|_, _| ()), Err(StoreError::Gone(_))));
    assert_eq!(names(folder.path()), ["D2"]);
}
