//! Feeds that have fallen silent are listed in Attention.

use backissue::engine::feeds::trouble;
use backissue_core::history::FeedKey;
use chrono::{DateTime, TimeDelta, Utc};

use crate::support::world::{World, rss, start};

const URL: &str = "https://weekly.example/feed";

/// Returns a weekly feed whose newest entry is from this many weeks before the start.
fn weekly(since: i64) -> String {
    let items = (0..8).map(|week| {
        let at: DateTime<Utc> = start() - TimeDelta::weeks(since + week);
        let date = at.to_rfc2822();
        format!("<item><guid>w{week}</guid><title>W{week}</title><pubDate>{date}</pubDate></item>")
    });
    let items: String = items.collect();
    rss("Weekly", &[]).replace("</channel>", &format!("{items}</channel>"))
}

#[test]
fn silent_feed_is_listed_until_it_is_dismissed_or_posts() {
    let mut world = World::subscribed(100, 40, &[(URL, &weekly(1), &[])]);
    world.pass(TimeDelta::seconds(2));
    let listed = |world: &World| trouble::concerns(&world.app.engine, world.now);
    assert_eq!(listed(&world), []);
    for _ in 0..6 {
        world.pass(TimeDelta::weeks(1));
        world.poll(FeedKey(1));
        world.pass(TimeDelta::seconds(2));
    }
    let concern = listed(&world).remove(0);
    let sentence = "It usually posts weekly, but has been silent since February.";
    assert_eq!((concern.state, concern.sentence.as_str()), ("silent", sentence));
    assert_eq!(trouble::count(&world.app.engine, world.now), 1);
    assert_eq!(trouble::concerns(&world.reload().engine, world.now).len(), 1, "it is stored");

    world.press("!");
    assert!(world.draw().contains("silent since February"), "{}", world.draw());
    world.press("N");
    assert_eq!(listed(&world), [], "dismissed");
    world.pass(TimeDelta::weeks(10));
    world.poll(FeedKey(1));
    assert_eq!(listed(&world), [], "also after more silence");

    let later =
        weekly(1).replace("<item>", "<item><guid>new</guid><title>New</title></item><item>");
    world.serve(URL, &later);
    world.poll(FeedKey(1));
    let gap = world.feed(1).state.usual_gap.unwrap();
    assert_eq!(gap.silent_from(world.now), None, "it has posted again");
}

#[test]
fn time_without_polls_is_not_silence() {
    let mut world = World::subscribed(100, 40, &[(URL, &weekly(1), &[])]);
    world.pass(TimeDelta::seconds(2));
    assert!(world.feed(1).state.usual_gap.is_some());
    world.app.engine.settings.poll.automatic = false;
    world.pass(TimeDelta::weeks(20));
    assert_eq!(trouble::count(&world.app.engine, world.now), 0);
}
