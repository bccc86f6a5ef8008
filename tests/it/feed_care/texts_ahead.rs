//! Full texts that are fetched before the user opens the entries.

use chrono::TimeDelta;

use crate::support::rss::{NOTES, numbered, rss};
use crate::support::world::World;
use backissue::engine::poll::fetch::{AnswerHeaders, RequestKind};
use backissue_core::history::FeedKey;

fn page() -> String {
    let text = "The wax is warmed slowly, in water, and never over an open flame. ".repeat(12);
    format!("<html><body><article><h1>Wax</h1><p>{text}</p><p>{text}</p></article></body></html>")
}

/// Returns a world with this feed, whose texts are to be fetched ahead.
fn world(feed: &str) -> World {
    let mut world = World::subscribed(120, 36, &[(NOTES, feed, &[])]);
    world.press("<end>VV");
    assert!(world.notice().contains("fetches full texts ahead"), "{}", world.notice());
    world
}

fn asked_pages(world: &World) -> Vec<&str> {
    let pages = world.requests.iter().filter(|request| request.kind == RequestKind::Page);
    pages.map(|request| request.url.as_str()).collect()
}

#[test]
fn texts_of_unread_entries_are_there_before_they_are_opened() {
    let entries = [("n2", "Wax", 1, "<p>teaser</p>"), ("n1", "Ladders", 2, "<p>b</p>")];
    let mut world = world(&rss("Notes", &entries));
    for entry in ["n1", "n2"] {
        world.serve(&format!("https://site.example/{entry}"), &page());
    }
    world.press("<enter><end>N<left>");
    assert!(asked_pages(&world).is_empty(), "only a poll leads to requests");
    world.press("<end>");
    let ladders = world.app.engine.feeds[&FeedKey(1)].counters.unread;
    assert_eq!(ladders, 1, "the entry marked read needs no page");
    world.poll(FeedKey(1));
    world.wait(8);
    assert_eq!(asked_pages(&world), ["https://site.example/n2"]);
    world.press("<enter><home><enter>");
    assert!(world.draw().contains("The wax is warmed"), "{}", world.draw());
    world.poll(FeedKey(1));
    world.wait(8);
    assert_eq!(asked_pages(&world).len(), 1, "it is fetched once");
    world.press("<esc><esc>i");
    assert!(world.draw().contains("1 of at most 50 pages today"), "{}", world.draw());
}

#[test]
fn a_feed_has_fifty_pages_a_day() {
    let mut world = world(&numbered("Notes", "Note", 60, 1));
    world.poll(FeedKey(1));
    world.wait(400);
    world.poll(FeedKey(1));
    world.wait(20);
    assert_eq!(asked_pages(&world).len(), 50);
    world.restart();
    world.pass(TimeDelta::days(1));
    world.poll(FeedKey(1));
    world.wait(100);
    assert_eq!(asked_pages(&world).len(), 60, "the rest follows on the next day");
    world.press("<end>V");
    assert!(world.notice().contains("shows the feed's own text"), "{}", world.notice());
}

#[test]
fn asked_page_goes_before_those_fetched_ahead() {
    let mut world = world(&numbered("Notes", "Note", 20, 1));
    world.poll(FeedKey(1));
    let last = "https://site.example/Note 20";
    world.serve(last, &page());
    let before = asked_pages(&world).len();
    world.press("<end><enter><end><enter>");
    world.wait(3);
    let asked = asked_pages(&world);
    let place = asked.iter().position(|url| *url == last);
    assert!(place.is_some_and(|place| place <= before + 1), "{asked:?}");
}

#[test]
fn page_of_a_site_that_asks_for_a_wait_is_fetched_later() {
    let mut world = world(&rss("Notes", &[("n1", "Wax", 1, "<p>teaser</p>")]));
    let url = "https://site.example/n1";
    world.refuse(url, 429, AnswerHeaders::default());
    world.poll(FeedKey(1));
    world.wait(8);
    assert_eq!(asked_pages(&world), [url]);
    world.serve(url, &page());
    world.pass(TimeDelta::hours(2));
    world.poll(FeedKey(1));
    world.wait(8);
    assert_eq!(asked_pages(&world), [url, url]);
    world.press("<enter><home><enter>");
    assert!(world.draw().contains("The wax is warmed"), "{}", world.draw());
}
