//! Subscribing to a person on Mastodon, and what the screen shows meanwhile.

use chrono::TimeDelta;

use crate::support::world::{World, rss};

fn add(address: &str, feed: &str) {
    let mut world = World::new(100, 30);
    world.serve(feed, &rss("Ada", &[("n1", "Wax", 1, "")]));
    world.press(&format!("a{address}<enter>"));
    world.pass(TimeDelta::seconds(2));
    let feeds: Vec<&str> =
        world.app.engine.feeds.values().map(|feed| feed.record.url.as_str()).collect();
    assert_eq!(feeds, [feed], "{}", world.notice());
    assert_eq!(world.asked(), [feed], "{address}");
    assert!(world.app.engine.settings.network.credentials.is_empty(), "it is no login");
}

#[test]
fn profile_on_mastodon_is_added_by_its_address_or_handle() {
    add("mastodon.example/@ada", "https://mastodon.example/@ada.rss");
    add("mastodon.example/@ada.l", "https://mastodon.example/@ada.l.rss");
    add("@ada@mastodon.example", "https://mastodon.example/@ada.rss");
    add("mastodon.example/@ada@other.example", "https://other.example/@ada.rss");
}

#[test]
fn choice_between_feeds_is_no_longer_a_lookup() {
    let mut world = World::new(100, 30);
    let links = "<html><head><title>Site</title>\
        <link rel=alternate type=application/rss+xml title=One href=/one>\
        <link rel=alternate type=application/rss+xml title=Two href=/two></head></html>";
    world.serve("https://site.example/", links);
    world.serve("https://site.example/one", &rss("One", &[("a", "A", 1, "")]));
    world.press("asite.example<enter>");
    world.pass(TimeDelta::seconds(2));
    let screen = world.draw();
    assert!(screen.contains("Which feed?"), "{screen}");
    assert!(!screen.contains("looking for a feed"), "{screen}");
}
