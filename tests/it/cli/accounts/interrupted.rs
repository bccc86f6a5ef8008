//! Syncs that are killed.

use std::time::Duration;

use super::{FRESHRSS, add, marks, sync};
use crate::support::binary::Program;
use crate::support::greader_double::GreaderDouble;

#[test]
fn a_killed_first_sync_is_continued() {
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    server.publish(1, 1..=600);
    server.publish(2, 601..=900);
    for number in [3, 300, 700] {
        server.state().items.get_mut(&number).unwrap().is_read = true;
    }
    server.state().instead.insert("items/contents", (500, "not now".into()));
    add(&program, &server, "secret").with(2);
    server.state().instead.clear();
    for milliseconds in [20, 60, 120, 200] {
        program.killed_after(&["account", "sync"], Duration::from_millis(milliseconds));
    }
    sync(&program);
    assert_eq!(marks(&program), server.marks(), "each entry is here once, with its marks");
    server.count_requests();
    sync(&program);
    assert_eq!(server.count_requests(), 3, "nothing is left to do");
}
