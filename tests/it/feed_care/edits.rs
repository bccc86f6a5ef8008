//! Entries that their publishers edit: a mark in the list, and what changed.

use backissue_core::history::FeedKey;

use crate::support::rss::NOTES;
use crate::support::world::{World, rss};

fn served(world: &mut World, title: &str, text: &str) {
    world.serve(NOTES, &rss("Notes", &[("n1", title, 1, text), ("n2", "Frost", 2, "<p>b</p>")]));
}

#[test]
fn edited_entry_is_marked_and_shows_what_changed() {
    let mut world = World::subscribed(120, 36, &[(NOTES, &rss("Notes", &[]), &[])]);
    served(&mut world, "Wax", "<p>Warm the wax slowly.</p>");
    world.poll(FeedKey(1));
    assert!(!world.draw().contains('±'), "{}", world.draw());
    served(&mut world, "Wax", "<div>Warm the wax slowly.</div>");
    world.poll(FeedKey(1));
    assert!(!world.draw().contains('±'), "only the markup changed: {}", world.draw());
    world.press("<enter><enter>~");
    assert_eq!(world.notice(), "the publisher has not edited this entry since it was fetched");
    world.press("<esc>");

    served(&mut world, "Wax", "<p>Melt the wax slowly.</p>");
    world.poll(FeedKey(1));
    let lines = world.draw();
    assert_eq!(lines.matches('±').count(), 1, "{lines}");
    assert!(lines.lines().any(|line| line.contains("Wax") && line.contains('±')), "{lines}");
    world.press("<enter>");
    assert!(
        world.draw().contains("edited 2 March 2026 10:18 · ~ shows what changed"),
        "{}",
        world.draw()
    );
    world.press("~");
    let screen = world.draw();
    assert!(screen.contains("[-Warm-] {+Melt+} the wax slowly."), "{screen}");
    assert!(screen.contains("what changed") && screen.contains("~ shows the text"), "{screen}");
    world.press("~");
    assert!(world.draw().contains("Melt the wax slowly."), "{}", world.draw());
    world.reopen();
    world.press("bNotes<enter><enter>~");
    assert!(world.draw().contains("[-Warm-]"), "it is stored: {}", world.draw());
}

#[test]
fn dropped_text_before_an_edit_is_told() {
    let mut world = World::subscribed(120, 36, &[(NOTES, &rss("Notes", &[]), &[])]);
    served(&mut world, "Wax", "<p>Warm the wax slowly.</p>");
    world.poll(FeedKey(1));
    served(&mut world, "Wax", "<p>Melt the wax slowly.</p>");
    world.poll(FeedKey(1));
    world.press("bNotes<enter>A");
    assert_eq!(world.store.shed_texts(1).unwrap().entries, 2);
    world.reopen();
    world.press("bNotes<enter><enter>");
    let screen = world.draw();
    assert!(screen.contains("is no longer stored") && !screen.contains("Melt"), "{screen}");
    world.press("~");
    assert_eq!(world.notice(), "the text before the edit is no longer stored");
}
