//! One process owns the store; it does the commands of the others.

use std::io::{BufRead as _, BufReader};

use crate::support::binary::{Program, ask_to_end, ended};
use crate::support::site::{Site, answer};

/// Starts `watch`, waits until it has the store, does `meanwhile` and asks it to end.
fn watching(program: &Program, meanwhile: impl FnOnce(u32)) {
    let mut watch = program.start(&["watch"]);
    let mut told = BufReader::new(watch.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("watching"), "{line}");
    meanwhile(watch.id());
    ask_to_end(watch.id());
    ended(watch, b"").with(0);
}

#[test]
fn a_second_process_has_its_command_done_by_the_one_that_has_the_store() {
    let program = Program::new();
    watching(&program, |_| {
        program.run(&["add", "http://127.0.0.1:1/", "--no-poll"]).with(0);
        assert_eq!(program.run(&["feeds", "--json"]).with(0).json()[0]["number"], 1);
        program.run(&["entries"]).with(0);
        program.run(&["show", "1.0"]).refused(2);
        assert!(program.run(&["export"]).with(0).out.contains("127.0.0.1:1"));
        assert!(program.run(&["doctor"]).with(0).out.contains("store: 1 subscriptions"));
    });
    assert_eq!(program.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().len(), 1);
}

#[test]
fn what_is_changed_while_another_process_has_the_store_can_be_taken_back_when_it_ended() {
    let program = Program::new();
    let title = || program.run(&["feeds", "--json"]).with(0).json()[0]["title"].clone();
    program.run(&["add", "http://127.0.0.1:1/", "--no-poll", "--title", "One"]).with(0);
    watching(&program, |_| {
        program.run(&["set", "1", "--title", "Two"]).with(0);
        program.run(&["set", "1", "--title", "Three"]).with(0);
        program.run(&["undo"]).with(0);
        assert_eq!(title(), "Two");
    });
    program.run(&["undo"]).with(0);
    assert_eq!(title(), "One");
}

#[test]
fn a_second_service_is_refused_with_status_3() {
    let program = Program::new();
    watching(&program, |owner| {
        let sentence = program.run(&["watch"]).refused(3);
        assert!(sentence.contains(&owner.to_string()), "it names the owner: {sentence}");
    });
}

#[test]
fn watch_makes_the_backup_of_the_day_before_it_begins() {
    let program = Program::new();
    watching(&program, |_| {
        let backups = std::fs::read_dir(program.data().join("backups")).unwrap();
        assert_eq!(backups.count(), 1);
    });
}

#[test]
fn another_folder_is_free_meanwhile() {
    let (program, other) = (Program::new(), Program::new());
    watching(&program, |_| {
        other.run(&["feeds"]).with(0);
    });
}

#[test]
fn an_owner_that_was_killed_leaves_nothing_locked() {
    let program = Program::new();
    let mut watch = program.start(&["watch"]);
    let mut told = BufReader::new(watch.stderr.take().unwrap());
    told.read_line(&mut String::new()).unwrap();
    watch.kill().unwrap();
    watch.wait().unwrap();
    program.run(&["feeds", "--json"]).with(0);
}

#[test]
fn what_is_marked_while_another_process_has_the_store_can_be_taken_back_when_it_ended() {
    let (first, second) = ("tag:site.example,2026:1", "tag:site.example,2026:2");
    let feed = format!(
        "<rss version=\"2.0\"><channel><title>Orchard</title><description/>\
         <item><guid isPermaLink=\"false\">{first}</guid><title>Wax</title></item>\
         <item><guid isPermaLink=\"false\">{second}</guid><title>Frost</title></item></channel></rss>"
    );
    let site = Site::start(move |_| answer(200, &[], feed.clone()));
    let program = Program::new();
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    watching(&program, |_| {
        program.run(&["mark", "read", "--all"]).with(0);
        assert_eq!(program.run(&["unread"]).with(0).out, "0\n");
        program.run(&["mark", "unread", "1.0"]).with(0);
        program.run(&["undo"]).with(0);
    });
    assert_eq!(program.run(&["undo"]).with(0).out, "undone: 2 marked read\n");
    assert_eq!(program.run(&["unread"]).with(0).out, "2\n");
}
