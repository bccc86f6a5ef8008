//! The order of entries, hidden feeds, counts, and feeds kept out of the list of all unread entries.

use backissue::engine::request::Request;
use backissue::ui::settings::{CountStyle, ShownFeeds};
use backissue_core::history::FeedKey;

use crate::support::rss::{rss, two_feeds};
use crate::support::world::World;

#[test]
fn entries_are_sorted_by_date_title_feed_and_arrival() {
    let mut world = two_feeds();
    world.press("<enter>");
    assert_eq!(world.titles(), ["Wax", "Ladders", "Vespers"]);
    let mut seen = Vec::new();
    for _ in 0..5 {
        world.press("S");
        seen.push((world.notice().to_owned(), world.titles().join(" ")));
    }
    let expected = [
        ("entries: oldest first", "Vespers Ladders Wax"),
        ("entries: by title", "Ladders Vespers Wax"),
        ("entries: by feed", "Vespers Wax Ladders"),
        ("entries: by arrival, latest first", "Wax Ladders Vespers"),
        ("entries: newest first", "Wax Ladders Vespers"),
    ];
    let seen: Vec<(&str, &str)> =
        seen.iter().map(|(notice, titles)| (notice.as_str(), titles.as_str())).collect();
    assert_eq!(seen, expected);
}

#[test]
fn the_order_of_each_list_is_remembered() {
    let mut world = two_feeds();
    world.press("<enter>S");
    assert_eq!(world.titles(), ["Vespers", "Ladders", "Wax"]);
    world.press("hGg");
    assert_eq!(world.titles(), ["Vespers", "Ladders", "Wax"], "opened again");
    world.press("G");
    assert_eq!(world.titles(), ["Wax", "Ladders"], "another list has its own order");
    world.press("g");
    world.end_and_come_back();
    assert_eq!(world.titles(), ["Vespers", "Ladders", "Wax"]);
}

#[test]
fn a_later_entry_arrives_first() {
    let mut world = two_feeds();
    let notes = rss("Orchard Notes", &[("n3", "Old but late", 90, ""), ("n2", "Wax", 1, "")]);
    world.serve("https://orchard.example/feed", &notes);
    world.pass(chrono::TimeDelta::hours(2));
    world.poll(FeedKey(1));
    world.press("g<enter>SSSS");
    assert_eq!(world.titles()[0], "Old but late");
}

#[test]
fn read_feeds_are_hidden_and_the_selected_one_stays() {
    let mut world = two_feeds();
    world.press("c");
    assert_eq!(world.notice(), "feeds with unread entries only");
    assert!(world.draw().contains("Bell Tower"));
    world.press("GkA");
    assert!(world.draw().contains("Bell Tower"), "it is selected");
    world.press("g");
    world.pass(chrono::TimeDelta::seconds(5));
    let screen = world.draw();
    let feeds = |screen: &str| screen.lines().filter(|line| line.starts_with("│   Bell")).count();
    assert_eq!(feeds(&screen), 0, "{screen}");
    world.end_and_come_back();
    assert_eq!(feeds(&world.draw()), 0, "remembered");
    world.press("c");
    assert_eq!(feeds(&world.draw()), 1);
}

#[test]
fn setting_hides_read_feeds_from_the_start() {
    let mut world = two_feeds();
    world.app.ui.settings.feeds = ShownFeeds::Unread;
    world.press("A");
    world.pass(chrono::TimeDelta::seconds(5));
    let screen = world.draw();
    assert!(!screen.contains("│   Orchard Notes"), "{screen}");
}

#[test]
fn counts_are_numbers_dots_or_nothing() {
    let mut world = two_feeds();
    let row = |world: &mut World| {
        let screen = world.draw();
        let line = screen.lines().find(|line| line.starts_with("│   Orchard")).unwrap();
        line.chars().take(24).collect::<String>()
    };
    assert!(row(&mut world).ends_with(" 2"), "{}", row(&mut world));
    world.app.ui.settings.counts = CountStyle::Dot;
    assert!(row(&mut world).ends_with(" •"), "{}", row(&mut world));
    world.app.ui.settings.counts = CountStyle::None;
    assert!(row(&mut world).ends_with("  "), "{}", row(&mut world));
}

#[test]
fn a_quiet_feed_is_not_in_all_unread() {
    let mut world = two_feeds();
    let mut chosen = world.feed(1).record.chosen();
    chosen.feed_settings.quiet = true;
    world.tell(Request::Set(FeedKey(1), Box::new(chosen)));
    world.press("Gg");
    assert_eq!(world.titles(), ["Vespers"]);
    let screen = world.draw();
    assert!(screen.contains("● All unread         1"), "{screen}");
    world.press("G");
    assert_eq!(world.titles(), ["Wax", "Ladders"], "its own list has them");
    world.press("ug");
    assert_eq!(world.titles().len(), 3);
}
