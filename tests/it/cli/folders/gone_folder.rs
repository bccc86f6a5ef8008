//! The data folder is moved away while a process has the store open.

use std::fs;

use crate::support::binary::{Program, StoreOwner, ended, wait_until};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

const GONE: &str = "is gone or was replaced: nothing is saved until it is back";

#[test]
fn reader_refuses_changes_until_its_folder_is_back() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 4)));
    let program = Program::new();
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let mut session = program.start_reader();
    session.until_it_says("Orchard");
    session.press("\r");
    session.until_it_says("e 4");
    session.press("s");
    let starred = |count: &'static str| {
        move |screen: &vt100::Screen| {
            let text = screen.contents();
            let row = text.lines().find_map(|line| line.split_once("★ Starred"));
            row.and_then(|(_, rest)| rest.split_whitespace().next()) == Some(count)
        }
    };
    session.until("a star", starred("1"));
    let away = program.path("away");
    fs::rename(program.data(), &away).unwrap();
    session.press("js");
    session.until_it_says("is gone or was replaced");
    session.until("the star is refused", starred("1"));
    session.press("\r");
    session.until_it_says("Text of e");
    session.press("q");
    assert!(!program.data().exists(), "no second store is created");
    fs::rename(&away, program.data()).unwrap();
    session.press("js");
    session.until("a second star", starred("2"));
    session.press("qqq");
    assert!(session.ended().success());
    let kept = program.run(&["entries", "--starred", "--json"]).with(0).json();
    assert_eq!(kept.as_array().map(Vec::len), Some(2), "{kept}");
    program.run(&["doctor"]).with(0);
}

#[test]
fn nothing_is_written_into_a_folder_that_took_the_place() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 4)));
    let program = Program::new();
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let mut session = program.start_reader();
    session.until_it_says("Orchard");
    // The log and the backup of the day are begun after the first screen.
    session.until_quiet();
    fs::rename(program.data(), program.path("away")).unwrap();
    fs::create_dir(program.data()).unwrap();
    session.press("qq");
    assert_eq!(session.ended().exit_code(), 2, "it says that the folder is gone");
    let found = fs::read_dir(program.data()).unwrap();
    let found: Vec<_> = found.map(|file| file.unwrap().file_name()).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn service_ends_with_a_sentence_when_its_folder_is_gone() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 4)));
    let program = Program::owned_by(StoreOwner::Nobody);
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let session = program.path("session");
    fs::create_dir(&session).unwrap();
    let watch = program.start_in_session(&session, &["watch"]);
    let socket = || fs::read_dir(session.join("backissue")).is_ok_and(|found| found.count() > 0);
    wait_until("the service takes commands", socket);
    fs::rename(program.data(), program.path("away")).unwrap();
    // The last one makes the service notice it, which ends it.
    for command in [&["poll"][..], &["doctor"], &["watch"], &["mark", "starred", "1.1"]] {
        let told = ended(program.start_in_session(&session, command), b"").with(2);
        assert_eq!(told.err.matches(GONE).count(), 1, "{command:?}: {told:?}");
    }
    let ended = ended(watch, b"").with(2);
    assert_eq!(ended.err.matches(GONE).count(), 1, "{ended:?}");
    assert!(!program.data().exists(), "no second store is created");
    fs::rename(program.path("away"), program.data()).unwrap();
    let kept = program.run(&["entries", "--starred", "--json"]).with(0).json();
    assert_eq!(kept.as_array().map(Vec::len), Some(0), "{kept}");
    program.run(&["doctor"]).with(0);
}
