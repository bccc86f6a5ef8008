//! Labels of entries of accounts.

use std::collections::BTreeSet;

use super::{FRESHRSS, INOREADER, sync, with_account};
use crate::support::binary::Program;

/// Labels an entry here, by its number on the server.
fn label(program: &Program, number: u64, name: &str) {
    label_in(program, if number > 20 { 2 } else { 1 }, number, name);
}

/// Labels an entry of this feed here.
pub(super) fn label_in(program: &Program, feed: u64, number: u64, name: &str) {
    let text = format!(
        "{{\"kind\":\"state\",\"version\":1}}\n{{\"kind\":\"entry\",\"feed\":\"https://{feed}.example/feed\",\
         \"id\":\"tag:google.com,2005:reader/item/{number:016x}\",\"labels\":[\"{name}\"]}}\n{{\"kind\":\"end\"}}\n"
    );
    let file = program.write("labels.jsonl", text);
    program.run(&["import", &file]).with(0);
}

/// The entries with a label here, by their numbers on the server.
pub(super) fn labelled(program: &Program, name: &str) -> BTreeSet<u64> {
    let query = format!("label:\"{name}\"");
    let found = program.run(&["entries", "--json", "--search", &query]).with(0).json();
    let number = |entry: &serde_json::Value| {
        entry["link"].as_str().unwrap().rsplit('/').next().unwrap().parse().unwrap()
    };
    found.as_array().unwrap().iter().map(number).collect()
}

#[test]
fn labels_go_both_ways_and_undo_undoes_them_there() {
    let (program, server) = with_account(FRESHRSS);
    let there = |name: &str| server.state().labels.get(name).cloned().unwrap_or_default();
    label(&program, 5, "To do");
    label(&program, 22, "To do");
    sync(&program);
    assert_eq!(there("To do"), BTreeSet::from([5, 22]), "labels made here are there");
    server.count_requests();
    sync(&program);
    assert_eq!(server.count_requests(), 3, "nothing is left to do");
    // Changed there: one more, one less, and a new one; the same label is changed here.
    server.state().labels.insert("To do".into(), BTreeSet::from([5, 6]));
    server.state().labels.insert("Ünï/1".into(), BTreeSet::from([7, 25]));
    label(&program, 8, "To do");
    sync(&program);
    assert_eq!(there("To do"), BTreeSet::from([5, 6, 8]));
    assert_eq!(labelled(&program, "To do"), BTreeSet::from([5, 6, 8]));
    program.run(&["undo"]).with(0);
    sync(&program);
    assert_eq!(there("To do"), BTreeSet::from([5, 6]), "undo undoes it there");
    program.run(&["account", "sync", "--whole"]).with(0);
    assert_eq!(labelled(&program, "Ünï/1"), BTreeSet::from([7, 25]), "a label made there is here");
    program.run(&["undo"]).with(0);
    program.run(&["undo"]).with(0);
    sync(&program);
    assert_eq!(there("Ünï/1"), BTreeSet::from([7, 25]), "what the server brought is no step");
    assert!(!there("To do").contains(&5), "the first label was undone");
    label(&program, 5, "To do");
    sync(&program);
    server.state().labels.clear();
    program.run(&["account", "sync", "--whole"]).with(0);
    assert_eq!(labelled(&program, "To do"), BTreeSet::new());
}

#[test]
fn labels_that_a_server_does_not_take_stay_here() {
    let (program, server) = with_account(FRESHRSS);
    label(&program, 5, "Folder");
    sync(&program);
    assert!(server.state().labels.is_empty(), "it is the name of a folder there");
    label(&program, 6, "Mine");
    server.state().lies = true;
    let told = program.run(&["account", "sync"]).with(1);
    assert!(told.out.contains("did not take 1"), "{told:?}");
    server.state().lies = false;
    server.state().instead.insert("tag/list", (200, r#"{"tags":[]}"#.into()));
    let failed = program.run(&["account", "sync"]).with(2);
    assert!(failed.err.contains("does not offer this"), "{failed:?}");
    server.state().instead.clear();
    sync(&program);
    assert_eq!(server.state().labels["Mine"], BTreeSet::from([6]), "it was kept");
    for name in ["Folder", "Mine"] {
        assert_eq!(labelled(&program, name).len(), 1, "{name}");
    }
    let (program, server) = with_account(INOREADER);
    label(&program, 5, "Mine");
    program.run(&["account", "sync", "--whole"]).with(0);
    let asked = server.state().requests.iter().any(|(path, _)| path.contains("tag"));
    assert!(!asked, "a server that is not known to have labels is not asked");
}

#[test]
fn labels_of_a_restored_backup_wait_for_an_answer() {
    for (answer, there_after) in [("--yes", vec![5, 9]), ("--no", vec![5, 7])] {
        let (program, server) = with_account(FRESHRSS);
        label(&program, 5, "kept");
        label(&program, 7, "kept");
        sync(&program);
        // Taken back and set here, and not sent when the backup is made.
        program.run(&["undo"]).with(0);
        label(&program, 9, "kept");
        let backup = program.path("backup").to_str().unwrap().to_owned();
        program.run(&["backup", &backup]).with(0);
        program.run(&["restore", &backup]).with(0);
        let there = || server.state().labels["kept"].iter().copied().collect::<Vec<u64>>();
        for _ in 0..2 {
            let told = program.run(&["account", "sync", "--whole"]).with(1);
            assert!(told.out.contains("2 marks of the restored backup"), "{told:?}");
            assert_eq!(there(), [5, 7], "nothing is sent without an answer");
        }
        program.run(&["account", "sync", answer]).with(0);
        program.run(&["account", "sync", "--whole"]).with(0);
        assert_eq!(there(), there_after, "{answer}");
        assert_eq!(labelled(&program, "kept"), there_after.into_iter().collect());
    }
}
