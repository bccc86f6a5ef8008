//! When entries are marked as read, and marking a part of a list.

use backissue::ui::settings::MarkRead;
use chrono::TimeDelta;

use crate::support::rss::{numbered, two_feeds};
use crate::support::world::World;

fn unread(world: &World) -> u64 {
    world.app.engine.unread()
}

/// Returns a world with ten entries, each 20 hours older than the one above it.
fn ten() -> World {
    let notes = numbered("Orchard Notes", "Note", 10, 20);
    let mut world = World::subscribed(120, 36, &[("https://orchard.example/feed", &notes, &[])]);
    world.press("<end>");
    world
}

#[test]
fn never_marks_an_opened_entry_but_the_key_does() {
    let mut world = two_feeds();
    world.app.ui.settings.mark_read = MarkRead::Never;
    world.press("<enter><enter>q<enter>o");
    assert_eq!(unread(&world), 3);
    world.press("N");
    assert_eq!(unread(&world), 2);
}

#[test]
fn leave_marks_when_the_text_is_closed_or_the_next_is_opened() {
    let mut world = two_feeds();
    world.app.ui.settings.mark_read = MarkRead::Leave;
    world.press("<enter><enter>");
    assert_eq!(unread(&world), 3, "it is still open");
    world.press("J");
    assert_eq!(unread(&world), 2, "the first was left");
    world.press("q");
    assert_eq!(unread(&world), 1);
    world.press("u");
    assert_eq!(unread(&world), 2);
}

#[test]
fn toggling_an_open_entry_overrides_the_mark_on_leaving() {
    let mut world = two_feeds();
    world.app.ui.settings.mark_read = MarkRead::Leave;
    world.press("<enter><enter>NNq");
    assert_eq!(unread(&world), 3);
}

#[test]
fn seconds_mark_an_entry_that_was_open_long_enough() {
    let mut world = two_feeds();
    world.app.ui.settings.mark_read = MarkRead::try_from("2s".to_owned()).unwrap();
    world.press("<enter><enter>");
    let due = backissue::ui::reader::reading_position::due(&world.app);
    assert_eq!(due, Some(world.now + TimeDelta::seconds(2)), "the program wakes up then");
    world.pass(TimeDelta::seconds(1));
    world.press("J");
    world.pass(TimeDelta::seconds(1));
    assert_eq!(unread(&world), 3, "neither was open for two seconds");
    world.pass(TimeDelta::seconds(1));
    assert_eq!(unread(&world), 2);
    world.pass(TimeDelta::seconds(9));
    assert_eq!(unread(&world), 2);
}

#[test]
fn scroll_marks_what_the_selection_passes() {
    let mut world = ten();
    world.app.ui.settings.mark_read = MarkRead::Scroll;
    world.press("<enter>jjj");
    assert_eq!(unread(&world), 7);
    world.press("kk");
    assert_eq!(unread(&world), 7, "only downwards");
    world.press("<enter>");
    assert_eq!(unread(&world), 7, "the second one was passed before");
    world.press("G");
    assert_eq!(unread(&world), 7, "the focus is in the text");
}

#[test]
fn wrong_time_to_mark_is_explained() {
    for text in ["", "0s", "s", "-2s", "2", "3601s", "now"] {
        let why = MarkRead::try_from(text.to_owned()).unwrap_err();
        assert!(why.contains("\"leave\"") && why.contains(text), "{why}");
    }
}

#[test]
fn entries_above_and_below_are_marked_and_undone() {
    let mut world = ten();
    world.press("<enter>jjj(");
    assert_eq!(unread(&world), 7);
    assert_eq!(world.notice(), "3 marked read · u undo");
    world.press(")");
    assert_eq!(unread(&world), 1, "the selected one stays");
    world.press("uu");
    assert_eq!(unread(&world), 10);
}

#[test]
fn old_entries_are_marked_by_age() {
    let mut world = ten();
    world.press("}");
    assert_eq!(unread(&world), 8, "two are older than a week");
    world.press("{");
    assert_eq!(unread(&world), 1, "one is younger than a day");
    world.press("uu");
    assert_eq!(unread(&world), 10);
}

#[test]
fn marked_entries_are_opened_together_with_a_question_above_ten() {
    let mut world = two_feeds();
    world.press("<enter>xxo");
    assert_eq!(world.opened.len(), 2);
    assert_eq!((world.notice(), unread(&world)), ("opening 2 pages", 1));
    world.press("u");
    assert_eq!(unread(&world), 3, "one undo for both");
    let notes = numbered("Orchard Notes", "Note", 12, 1);
    let mut world = World::subscribed(120, 36, &[("https://orchard.example/feed", &notes, &[])]);
    world.press("<enter>xxxxxxxxxxxo");
    assert!(world.draw().contains("Open 11 pages in the browser? y/n"), "{}", world.draw());
    world.press("n");
    assert_eq!(world.opened.len(), 0);
    world.press("oy");
    assert_eq!((world.opened.len(), unread(&world)), (11, 1));
}
