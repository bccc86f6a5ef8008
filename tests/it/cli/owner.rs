//! One process owns the store; a second one says so and leaves.

use std::io::{BufRead as _, BufReader};

use crate::support::binary::{Program, ask_to_end, ended};

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
fn a_second_process_is_refused_at_once_with_status_3() {
    let program = Program::new();
    watching(&program, |owner| {
        for command in [
            &["feeds", "--json"][..],
            &["entries"],
            &["show", "1.0"],
            &["poll", "--all"],
            &["add", "http://127.0.0.1:1/", "--no-poll"],
            &["export"],
            &["doctor"],
            &["watch"],
        ] {
            let began = std::time::Instant::now();
            let second = program.run(command);
            assert!(began.elapsed().as_secs() < 3, "{command:?}: it waits");
            assert_eq!(second.status, Some(3), "{command:?}: {second:#?}");
            let sentence = second.err.lines().next().unwrap().to_owned();
            assert_eq!(second.err.lines().count(), 1, "{second:#?}");
            assert!(sentence.contains(&owner.to_string()), "it names the owner: {sentence}");
            assert!(sentence.contains("--data-dir"), "it says what to do: {sentence}");
        }
    });
    program.run(&["feeds"]).with(0);
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
