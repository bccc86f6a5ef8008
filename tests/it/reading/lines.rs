//! Input lines and what stands above a text.

use crate::support::rss::{rss, two_feeds};
use crate::support::world::World;

#[test]
fn typing_replaces_the_last_query_and_arrows_keep_it() {
    let mut world = two_feeds();
    world.press("/wax<enter>/vespers<enter>");
    assert_eq!(world.titles(), ["Vespers"], "not 'waxvespers'");
    world.press("/<left><right>x<enter>");
    assert_eq!(world.app.ui.search.as_ref().unwrap().text, "vespersx");
    world.press("/<enter>");
    assert_eq!(world.app.ui.search.as_ref().unwrap().text, "vespersx", "unchanged");
}

#[test]
fn a_long_feed_name_does_not_push_the_date_out() {
    let name = "The Proceedings of the Society for Quiet Benches, ".repeat(8);
    let text = rss(&name, &[("n1", "Benches", 1, "<p>x</p>")]);
    let mut world = World::subscribed(80, 24, &[("https://benches.example/feed", &text, &[])]);
    world.press("<enter><enter>");
    let screen = world.draw();
    assert!(screen.contains("2 Mar 2026 09:00"), "{screen}");
}

#[test]
fn the_plain_screen_shows_the_count_of_a_feed_with_a_long_name() {
    let name = "The Proceedings of the Society for Quiet Benches, ".repeat(8);
    let text = rss(&name, &[("n1", "Benches", 1, "<p>x</p>")]);
    let mut world = World::subscribed(80, 24, &[("https://benches.example/feed", &text, &[])]);
    world.app.ui.appearance.plain = true;
    let screen = world.draw();
    let row = screen.lines().find(|line| line.contains("Proceedings")).unwrap();
    assert!(row.contains("1 unread"), "{screen}");
}

#[test]
fn comments_are_named_and_opened_by_a_key() {
    let text = rss("Orchard Notes", &[("n1", "Wax", 1, "<p>x</p>"), ("n2", "Ladders", 2, "")]);
    let comments = "<comments>https://talk.example/wax</comments></item>";
    let text = text.replacen("</item>", comments, 1);
    let mut world = World::subscribed(100, 30, &[("https://orchard.example/feed", &text, &[])]);
    world.press("<enter><enter>");
    assert!(world.draw().contains("comments: https://talk.example/wax"), "{}", world.draw());
    world.press("C");
    assert_eq!(world.opened, ["https://talk.example/wax"]);
    world.press("JC");
    assert_eq!(world.notice(), "this entry names no page with comments");
}
