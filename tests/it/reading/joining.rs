//! An article that several feeds have is one row, and is read in all of them.

use backissue::engine::settings::Join;
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
    world.app.engine.settings.join = Join::Title;
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

/// Returns a world with two feeds that have one link in common, and a link that one of them repeats.
fn linked() -> World {
    let notes =
        rss("Orchard", &[("w", "Of wax", 1, "a"), ("n2", "Ladders", 2, "b"), ("s", "S", 3, "")]);
    let tower = rss("Tower", &[("w", "Re: wax", 1, "c"), ("s1", "S", 4, ""), ("s2", "S", 5, "")]);
    let tower = tower.replace("example/s1<", "example/s<").replace("example/s2<", "example/s<");
    World::subscribed(120, 36, &[(NOTES, &notes, &[]), (TOWER, &tower, &[])])
}

#[test]
fn same_link_is_read_in_the_other_feed_too() {
    let mut world = linked();
    assert_eq!(world.titles(), ["Of wax", "Ladders", "S", "S", "S"]);
    for _ in 0..9 {
        if world.titles().len() != 3 {
            world.press("j");
        }
    }
    assert_eq!(world.titles(), ["Of wax", "Ladders", "S"]);
    world.press("<enter><enter>");
    assert!(world.draw().contains("also in Tower"), "{}", world.draw());
    assert_eq!(unread(&world), [2, 2], "read in both");
    world.press("<esc>u");
    assert_eq!(unread(&world), [3, 3], "undo took both back");
    world.press("A");
    assert_eq!(unread(&world), [0, 2], "a link that a feed repeats names no article");
}

/// Returns a world of three feeds whose entries link to one page inside their texts, and one entry that links to another.
fn inside() -> World {
    let story = "<p>On <a href='https://far.example/harvest'>the harvest</a></p>";
    let other = "<p><a href='https://far.example/frost'>frost</a></p>";
    let hill = "https://hill.example/feed";
    let notes = rss("Orchard", &[("w", "Of wax", 1, story), ("n2", "Ladders", 2, other)]);
    let tower = rss("Tower", &[("t", "A long answer", 2, story)]);
    let far = rss("Hill", &[("h", "Apples", 3, story)]);
    World::subscribed(120, 36, &[(NOTES, &notes, &[]), (TOWER, &tower, &[]), (hill, &far, &[])])
}

#[test]
fn one_story_is_one_row_and_each_entry_keeps_its_marks() {
    let mut world = inside();
    world.press("<home><down><up>");
    assert_eq!(world.titles(), ["Ladders", "Apples"], "the earliest one stays");
    world.press("<enter>j");
    let screen = world.draw();
    assert!(screen.contains("2 in shared rows · 2/2"), "{screen}");
    assert!(screen.contains("Hill +2") && screen.contains("3 feeds, same link inside"), "{screen}");
    let all = |world: &World| world.app.engine.unread();
    world.press("<enter>");
    assert_eq!(all(&world), 3, "opening it read only this one");
    assert_eq!(world.titles(), ["Ladders", "A long answer", "Apples"], "the next one is shown");
    world.press("<esc>uhjk<enter>jxN");
    assert_eq!(all(&world), 1, "a row that is marked first stands for all of its entries");
    world.press("u");
    assert_eq!(all(&world), 4);
    world.press("A");
    assert_eq!(all(&world), 0, "the whole list");
}

#[test]
fn a_story_is_unfolded_and_remembered_as_several() {
    let mut world = inside();
    world.press("<home><down><up><enter>jY");
    assert_eq!(world.notice(), "3 rows; Y again: not the same story");
    assert_eq!(world.titles(), ["Of wax", "Ladders", "A long answer", "Apples"]);
    world.press("hjk");
    assert_eq!(world.titles(), ["Ladders", "Apples"], "the list was opened again");
    world.press("<enter>jYYY");
    assert_eq!(world.notice(), "they share a row again");
    assert_eq!(world.titles(), ["Ladders", "Apples"]);
    world.press("YY");
    assert_eq!(world.notice(), "noted: not the same story · Y again takes it back");
    world.press("hjk");
    assert_eq!(world.titles().len(), 4);
    world.end_and_come_back();
    world.press("<home><down><up>");
    assert_eq!(world.titles().len(), 4, "remembered");
}
