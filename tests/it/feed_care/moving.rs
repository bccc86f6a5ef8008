//! Changing the address of a feed in the edit dialog.

use chrono::TimeDelta;

use crate::support::world::{World, rss};
use backissue::engine::feeds::subscription::Subscription;
use backissue::ui::keys::key::{Code, Key};
use backissue::ui::update::ScreenInput;
use backissue_core::history::FeedKey;
use backissue_core::schedule::FeedStatus;

const OLD: &str = "https://old.example/feed";
const NEW: &str = "https://new.example/feed";
const OTHER: &str = "https://other.example/feed";

fn world() -> World {
    let old = rss("Orchard", &[("n1", "Wax", 1, ""), ("n2", "Frost", 2, "")]);
    let other = rss("Tower", &[("b1", "Vespers", 3, "")]);
    let mut world = World::subscribed(100, 40, &[(OLD, &old, &[]), (OTHER, &other, &[])]);
    let at_new = rss("Orchard", &[("n2", "Frost", 2, ""), ("n3", "Grafts", 3, "")]);
    world.serve(NEW, &at_new);
    world.press("Gk");
    world
}

/// Types an address in the edit dialog of the selected feed and saves it.
fn type_address(world: &mut World, address: &str) {
    world.press("e");
    world.tell(ScreenInput::Key(Key::code(Code::Up)));
    world.press(&format!("<c-u>{address}<enter>"));
    world.pass(TimeDelta::seconds(2));
}

fn feed(world: &World) -> &Subscription {
    &world.app.engine.feeds[&FeedKey(1)]
}

#[test]
fn a_new_address_keeps_entries_and_marks_and_is_undone() {
    let mut world = world();
    world.press("<enter>sN<esc>");
    assert_eq!((feed(&world).counters.total, feed(&world).counters.unread), (2, 1));
    type_address(&mut world, "new.example/feed");
    assert_eq!(world.notice(), format!("'Orchard' is now read from {NEW} · u undo"));
    assert_eq!(feed(&world).record.url, NEW);
    assert_eq!((feed(&world).counters.total, feed(&world).counters.unread), (3, 2));
    assert_eq!(feed(&world).counters.starred, 1);
    assert_eq!(world.asked().iter().filter(|url| **url == NEW).count(), 1, "one request is enough");
    assert_eq!(world.reload().engine.feeds[&FeedKey(1)].record, feed(&world).record);
    let attention = backissue::engine::feeds::trouble::count(&world.app.engine, world.now);
    assert_eq!(attention, 0, "a move of your own is no news");
    world.press("u");
    assert_eq!((feed(&world).record.url.as_str(), feed(&world).counters.total), (OLD, 3));
    assert_eq!(world.reload().engine.feeds[&FeedKey(1)].record.url, OLD);
}

#[test]
fn address_without_a_feed_changes_nothing() {
    let mut world = world();
    type_address(&mut world, "https://empty.example/feed");
    assert!(world.notice().starts_with("no feed found at https://empty.example/feed"));
    assert!(world.notice().ends_with(&format!("'Orchard' stays at {OLD}")), "{}", world.notice());
    assert_eq!((feed(&world).record.url.as_str(), world.app.ui.overlay.as_ref()), (OLD, None));
    type_address(&mut world, OTHER);
    let why = format!("'Tower' already has the address {OTHER}");
    assert!(world.notice().starts_with(&why), "{}", world.notice());
    world.press("u");
    assert_eq!(world.notice(), "nothing to undo");
}

#[test]
fn feed_that_ended_is_polled_again_at_its_new_address() {
    let mut world = world();
    world.refuse(OLD, 410, backissue::engine::poll::fetch::AnswerHeaders::default());
    world.poll(FeedKey(1));
    assert_eq!(feed(&world).state.facts.standing, FeedStatus::Gone);
    world.serve(NEW, &rss("Another", &[("x9", "Nothing known", 4, "")]));
    type_address(&mut world, NEW);
    let doubt = "it has none of the newest entries that you have · u undo";
    assert!(world.notice().ends_with(doubt), "{}", world.notice());
    assert_eq!(feed(&world).state.facts.standing, FeedStatus::Active);
    assert!(feed(&world).plan.next_poll.is_some_and(|at| at > world.now));
}
