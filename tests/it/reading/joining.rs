//! An article that several feeds have is one row, and is read in all of them.

use backissue_core::history::FeedKey;

use crate::support::rss::{NOTES, TOWER, rss};
use crate::support::world::World;

const WAX: &str = "How the Wax is Warmed";

/// Returns a world with two feeds that have one article in common, by its title.
fn world(tags: &[&str]) -> World {
    let notes = rss("Orchard", &[("n1", WAX, 1, "<p>a</p>"), ("n2", "Ladders", 2, "<p>b</p>")]);
    let tower = rss("Tower", &[("t1", WAX, 3, "<p>c</p>"), ("t2", "Vespers", 4, "<p>d</p>")]);
    World::subscribed(120, 36, &[(NOTES, &notes, tags), (TOWER, &tower, tags)])
}

fn unread(world: &World) -> [u32; 2] {
    [1, 2].map(|feed| world.app.engine.feeds[&FeedKey(feed)].counters.unread)
}

/// Switches joining on, and opens the list of all unread entries.
fn join(world: &mut World) {
    world.app.ui.settings.join = true;
    world.press("<home><down><up>");
}

#[test]
fn same_article_is_one_row_and_read_everywhere() {
    let mut world = world(&["bees"]);
    assert_eq!(world.titles().len(), 4, "not unless it is wanted");
    join(&mut world);
    assert_eq!(world.titles(), [WAX, "Ladders", "Vespers"]);
    assert!(world.draw().contains("Orchard +1"), "{}", world.draw());
    world.press("<enter><enter>");
    assert!(world.draw().contains("also in Tower"), "{}", world.draw());
    assert_eq!(unread(&world), [1, 1], "opening it read both");
    world.press("<esc>u");
    assert_eq!(unread(&world), [2, 2], "undo took both back");
    world.press("A");
    assert_eq!(unread(&world), [0, 0], "the whole list");
}

#[test]
fn equal_titles_of_unrelated_feeds_stay_two_rows() {
    let mut world = world(&[]);
    join(&mut world);
    assert_eq!(world.titles().len(), 4);
}
