//! Desktop notifications of chosen entries, and quiet hours.

use backissue::engine::change::value::SavedSearch;
use backissue::engine::entries::notification_queue::QuietHours;
use backissue::engine::settings::DesktopNotes;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use crate::support::world::{World, rss};

const ORCHARD: &str = "https://orchard.example/feed";

fn world() -> World {
    let mut world = World::subscribed(100, 40, &[(ORCHARD, &rss("Orchard", &[]), &["garden"])]);
    world.app.engine.settings.notify.desktop = DesktopNotes::Osc9;
    world
}

/// Publishes an entry and polls its feed.
fn publish(world: &mut World, title: &str) {
    let guid = title.replace(' ', "-");
    world.serve(ORCHARD, &rss("Orchard", &[(&guid, title, 0, "<p>text</p>")]));
    world.poll(FeedKey(1));
}

#[test]
fn saved_search_chooses_the_entries_to_notify_of() {
    let mut world = world();
    world.app.engine.saved_searches =
        vec![SavedSearch { id: 1, name: "Cold".into(), text: "tag:garden frost".into() }];
    world.app.engine.settings.notify.only = "Cold".into();
    publish(&mut world, "Cold days");
    assert_eq!(world.notes, [""; 0], "the name of the search is no word to look for");
    publish(&mut world, "Late frost");
    assert_eq!(world.notes, ["Orchard: Late frost"]);
}

#[test]
fn quiet_hours_are_silent_and_nothing_follows_them() {
    let mut world = world();
    // The world begins at 10:00 UTC.
    world.app.engine.settings.notify.quiet =
        Some(QuietHours::try_from("09:00-11:00".to_owned()).unwrap());
    publish(&mut world, "Wax");
    assert_eq!(world.notes, [""; 0]);
    world.pass(TimeDelta::hours(2));
    assert_eq!(world.notes, [""; 0]);
    publish(&mut world, "Frost");
    assert_eq!(world.notes, ["Orchard: Frost"]);
}
