//! Old entries that become unread one after another (`backissue drip`).

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::request::Request;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use crate::support::world::{World, rss};

const FEED: &str = "https://press.example/feed";
const ARCHIVE: &str = "https://press.example/1";

/// Returns a world with a feed of one entry, whose archive has brought three old ones.
fn world() -> World {
    let link = format!(
        "<description/><atom:link xmlns:atom='http://www.w3.org/2005/Atom' rel='prev-archive' href='{ARCHIVE}'/>"
    );
    let newest = rss("Press", &[("new", "New", 1, "")]).replace("<description/>", &link);
    let old = [("c", "Third", 9_000, ""), ("b", "Second", 9_100, ""), ("a", "First", 9_200, "")];
    let mut world = World::new(110, 30);
    world.serve(ARCHIVE, &rss("Press", &old));
    world.serve(FEED, &newest);
    world.subscribe_to_all(vec![Subscribe { address: FEED.to_owned(), ..Subscribe::default() }]);
    pass_hours(&mut world, 1);
    world.wait(4);
    world.press("<end>");
    assert_eq!((world.titles().len(), unread(&world)), (4, 1), "{}", world.draw());
    world
}

fn unread(world: &World) -> u32 {
    world.feed(1).counters.unread
}

fn pass_hours(world: &mut World, hours: usize) {
    for _ in 0..hours {
        world.pass(TimeDelta::minutes(60));
    }
}

fn set(world: &mut World, drip: Option<u32>, unread_for: Option<u32>) {
    let mut chosen = world.feed(1).record.chosen();
    chosen.feed_settings.drip_minutes = drip;
    chosen.feed_settings.unread_minutes = unread_for;
    world.tell(Request::Set(FeedKey(1), Box::new(chosen)));
    pass_hours(world, 1);
}

/// Returns the titles of the unread entries, newest first.
fn titles(world: &World) -> Vec<String> {
    let rows = world.app.ui.list.rows.iter().filter(|row| row.flags.is_unread());
    rows.map(|row| row.title.clone()).collect()
}

#[test]
fn one_old_entry_a_day_becomes_unread_the_oldest_first() {
    let mut world = world();
    set(&mut world, Some(1440), None);
    assert_eq!(titles(&world), ["New", "First"], "the first one at once");
    pass_hours(&mut world, 22);
    assert_eq!(unread(&world), 2);
    pass_hours(&mut world, 2);
    assert_eq!(titles(&world), ["New", "Second", "First"]);
    // A pause is not made up for.
    world.pass(TimeDelta::days(30));
    world.reopen();
    pass_hours(&mut world, 1);
    assert_eq!(unread(&world), 4);
    world.pass(TimeDelta::days(2));
    assert_eq!(unread(&world), 4, "no more are here");
}

#[test]
fn time_of_a_dripped_entry_begins_when_it_becomes_unread() {
    let mut world = world();
    set(&mut world, None, Some(2880));
    set(&mut world, Some(10 * 1440), Some(2880));
    pass_hours(&mut world, 40);
    assert_eq!(unread(&world), 2);
    pass_hours(&mut world, 7);
    assert_eq!(titles(&world), ["First"], "the new one came two hours earlier");
    pass_hours(&mut world, 4);
    assert_eq!(unread(&world), 0);
}

#[test]
fn feeds_of_accounts_drip_nothing() {
    let mut world = world();
    world.app.engine.feeds.get_mut(&FeedKey(1)).unwrap().record.feed_settings.account =
        Some("server".into());
    let mut chosen = world.feed(1).record.chosen();
    chosen.feed_settings.drip_minutes = Some(1440);
    world.tell(Request::Set(FeedKey(1), Box::new(chosen)));
    assert!(world.notice().contains("on the server, too"), "{}", world.notice());
    pass_hours(&mut world, 2);
    assert_eq!(unread(&world), 1);
}
