//! Entries that end by themselves because they were unread for too long.

use backissue::engine::request::Request;
use backissue::engine::wording::Lasting;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use crate::support::world::{World, rss};

const ADDRESS: &str = "https://news.example/feed";

/// Returns a world with a feed of five entries that are listed under earlier dates, with the limit of three days.
fn world() -> World {
    let titles = ["One", "Two", "Three", "Four", "Five"];
    let entries: Vec<(&str, &str, i64, &str)> =
        titles.iter().map(|title| (*title, *title, 9, "")).collect();
    let mut world = World::subscribed(110, 30, &[(ADDRESS, &rss("News", &entries), &["news"])]);
    world.app.engine.settings.history.unread_for_tags =
        [("news".to_owned(), Lasting(Some(3 * 1440)))].into();
    world.pass(TimeDelta::minutes(1));
    world
}

fn unread(world: &World) -> u32 {
    world.feed(1).counters.unread
}

/// Lets hours pass, so that entries are compared with their limits several times.
fn pass_hours(world: &mut World, hours: usize) {
    for _ in 0..hours {
        world.pass(TimeDelta::minutes(61));
    }
}

#[test]
fn unread_entries_end_after_their_limit_and_come_back() {
    let mut world = world();
    assert_eq!(unread(&world), 5, "they were seen here only now, whatever their dates say");
    world.press("<enter>s");
    world.press("jd");
    pass_hours(&mut world, 48);
    world.press("jN");
    world.press("N");
    assert_eq!((unread(&world), world.app.engine.ended_this_week), (5, 0));
    pass_hours(&mut world, 25);
    assert_eq!(unread(&world), 3, "starred, labelled, and marked unread a day ago");
    assert!(world.draw().contains("Ended this week    2"), "{}", world.draw());
    assert!(!world.notice().contains("undo"), "{}", world.notice());
    world.press("hgjjj<enter>");
    assert_eq!(world.titles().len(), 2, "{}", world.draw());
    world.press("N");
    assert_eq!(unread(&world), 4, "brought back");
    world.reopen();
    assert_eq!((unread(&world), world.app.engine.ended_this_week), (4, 2));
    pass_hours(&mut world, 170);
    assert_eq!(unread(&world), 2, "what was brought back ended once more");
    assert_eq!(world.app.engine.ended_this_week, 2, "the other one ended more than a week ago");
}

#[test]
fn a_wish_for_one_feed_ends_its_entries_at_once_and_others_stay() {
    let mut world = world();
    world.app.engine.settings.history.unread_for_tags.clear();
    pass_hours(&mut world, 100);
    assert_eq!(unread(&world), 5);
    let mut chosen = world.feed(1).record.chosen();
    chosen.feed_settings.unread_minutes = Some(1440);
    world.tell(Request::Set(FeedKey(1), Box::new(chosen)));
    world.pass(TimeDelta::seconds(1));
    assert_eq!(unread(&world), 0);
    assert_eq!(
        world.notice(),
        "5 unread entries reached your time limit and ended: see 'Ended this week'"
    );
}

#[test]
fn entries_of_a_list_that_are_older_than_a_time_are_marked_read() {
    let mut world = world();
    world.press(":mark-older 10h<enter>");
    assert_eq!(world.notice(), "0 marked read");
    world.press(":mark-older 8h<enter>");
    assert_eq!(world.notice(), "5 marked read · u undo");
    world.press(":mark-older soon<enter>");
    assert!(world.notice().starts_with("'soon' is not a duration"), "{}", world.notice());
    world.press("u");
    assert_eq!(unread(&world), 5);
}
