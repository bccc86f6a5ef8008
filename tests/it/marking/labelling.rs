//! Labels that are set on entries by hand.

use crate::support::rss::two_feeds;
use crate::support::world::World;

/// Returns the titles of the entries with a label.
fn labelled(world: &mut World, label: &str) -> Vec<String> {
    world.press(&format!("/label:{label}<enter>"));
    let titles = world.titles().iter().map(|title| (*title).to_owned()).collect();
    world.press("<esc>");
    titles
}

#[test]
fn a_key_labels_entries_to_read_later_and_undo_removes_it() {
    let mut world = two_feeds();
    world.press("<enter>d");
    assert_eq!(world.notice(), "#later set on 1 entry · u undo");
    assert!(world.draw().contains("#later"), "{}", world.draw());
    assert_eq!(labelled(&mut world, "later"), ["Wax"]);
    world.press("g");
    world.press("d");
    assert_eq!(world.notice(), "#later removed from 1 entry · u undo");
    assert_eq!(labelled(&mut world, "later"), [""; 0]);
    world.press("u");
    assert_eq!(labelled(&mut world, "later"), ["Wax"]);
    world.reopen();
    assert_eq!(labelled(&mut world, "later"), ["Wax"], "kept in the store");
}

#[test]
fn labels_are_made_picked_by_letters_and_set_on_marked_entries() {
    let mut world = two_feeds();
    world.press("<enter>#recipes");
    assert!(world.draw().contains("new label"), "{}", world.draw());
    world.press("<enter>");
    assert_eq!(world.notice(), "#recipes set on 1 entry · u undo");
    world.press("gxx");
    world.press("#rcp<enter>");
    assert_eq!(world.notice(), "#recipes set on 1 entry · u undo", "the first has it already");
    assert_eq!(labelled(&mut world, "recipes").len(), 2);
    world.press("g#<enter>");
    assert_eq!(world.notice(), "#recipes removed from 1 entry · u undo");
    world.press(":label recipes<enter>");
    assert_eq!(labelled(&mut world, "recipes").len(), 2);
}

#[test]
fn a_label_takes_no_entry_and_is_removed_with_the_filters() {
    let mut world = two_feeds();
    world.press("<enter>d");
    world.press("F");
    assert!(world.draw().contains("label #later"), "{}", world.draw());
    world.press("<enter>");
    assert_eq!(world.notice(), "# sets this label on entries; D removes it from all of them");
    world.press("Dq");
    assert_eq!(labelled(&mut world, "later"), [""; 0]);
    world.press("u");
    assert_eq!(labelled(&mut world, "later"), ["Wax"]);
}
