//! Counting what is read, by feed and day.

use backissue::engine::entries::interest::ReadingCounts;
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::history::FeedKey;
use chrono::Datelike;

use crate::support::rss::two_feeds;
use crate::support::world::World;

fn counts(world: &World) -> [ReadingCounts; 2] {
    let today = day_of(world.now, world.app.engine.zone).num_days_from_ce();
    [1, 2].map(|feed| world.app.engine.interest.of(FeedKey(feed), today))
}

#[test]
fn what_is_read_is_counted_by_feed() {
    let mut world = two_feeds();
    world.draw();
    world.press("<enter>");
    let shown = |shown| ReadingCounts { shown, ..ReadingCounts::default() };
    assert_eq!(counts(&world), [shown(2), shown(1)]);
    world.press("<enter>so");
    let read = ReadingCounts { opened: 1, finished: 1, starred: 1, browsed: 1, ..shown(2) };
    assert_eq!(counts(&world), [read, shown(1)]);
    world.press("qA");
    let skipped = ReadingCounts { skipped: 1, ..read };
    assert_eq!(counts(&world), [skipped, ReadingCounts { skipped: 1, ..shown(1) }]);
    world.press("u");
    assert_eq!(counts(&world), [read, shown(1)], "undone");
    world.app.ui.settings.interest = false;
    world.press("jN");
    assert!(world.app.engine.interest.is_empty());
}
