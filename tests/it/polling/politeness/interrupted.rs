//! Cancelling some polls, or polling without archives, does not affect polls that other requests started.

use backissue::engine::poll::poll_log::PollOutcome;
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::Request;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use crate::history::journeys::{FEED, NOTES, serve_orchard, subscribe};
use crate::support::world::{World, rss};

const ADDRESSES: [&str; 4] = [
    "https://one.example/a",
    "https://one.example/b",
    "https://one.example/c",
    "https://two.example/a",
];

/// Returns the outcome of each poll of a feed, with the stated reason.
fn outcomes(world: &World, feed: u32) -> Vec<(PollOutcome, Option<&str>)> {
    let results = world.app.engine.poll_run.results.iter();
    let of_feed = results.filter(|result| result.feed == FeedKey(feed));
    of_feed.map(|result| (result.outcome, result.reason.as_deref())).collect()
}

fn poll(world: &mut World, feeds: Option<Vec<FeedKey>>, archives: bool) {
    world.tell(Request::Poll(PollRequest { feeds, kind: PollKind::Allowed, archives }));
}

#[test]
fn cancelling_drops_waiting_polls_of_named_feeds_only() {
    let body = rss("Feed", &[("a", "One", 1, "")]);
    let feeds = ADDRESSES.map(|address| (address, body.as_str(), &[][..]));
    let mut world = World::subscribed(100, 30, &feeds);
    world.wait(5);
    world.pass(TimeDelta::minutes(6));
    let before = world.requests.len();
    poll(&mut world, None, true);
    assert_eq!(world.requests.len(), before + 2, "one feed of each site is requested");
    world.tell(Request::StopPolls([1, 2, 4].map(FeedKey).to_vec()));
    assert_eq!(outcomes(&world, 2).last(), Some(&(PollOutcome::Skipped, Some("interrupted"))));
    world.wait(5);
    assert_eq!(world.requests.len(), before + 3, "the third feed of the site is requested");
    assert_eq!(outcomes(&world, 3).len(), 2);
    assert!(outcomes(&world, 3).iter().all(|(outcome, _)| *outcome != PollOutcome::Skipped));
    assert!(world.app.engine.polls.is_empty());
}

#[test]
fn cancelled_walk_of_named_feeds_can_continue_later() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.pass(TimeDelta::seconds(2));
    assert!(world.app.engine.backfills.contains_key(&FEED));
    world.tell(Request::StopPolls(vec![FeedKey(9)]));
    assert!(world.app.engine.backfills.contains_key(&FEED), "another feed");
    let asked = world.requests.len();
    world.tell(Request::StopPolls(vec![FEED]));
    world.wait(5);
    assert_eq!((world.app.engine.backfills.len(), world.requests.len()), (0, asked));
    assert!(world.feed(1).history.missing() > 0);
    world.tell(Request::MoreHistory(FEED, None));
    world.rest();
    assert_eq!(world.feed(1).history.status().text(), "complete history");
}

#[test]
fn poll_without_archives_leaves_the_walk_to_the_next_one() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    let address = format!("{NOTES}index.atom");
    let wanted = backissue::engine::feeds::addition::Subscribe { address, ..Default::default() };
    world.tell(Request::Import(vec![wanted]));
    poll(&mut world, Some(vec![FEED]), false);
    world.wait(3);
    assert_eq!((world.asked().len(), world.app.engine.backfills.len()), (1, 0));
    world.pass(TimeDelta::minutes(6));
    poll(&mut world, Some(vec![FEED]), true);
    world.rest();
    assert_eq!(world.asked().len(), 5);
}

#[test]
fn poll_without_archives_does_not_stop_a_running_walk() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.pass(TimeDelta::seconds(2));
    world.pass(TimeDelta::minutes(6));
    assert!(world.app.engine.backfills.contains_key(&FEED));
    poll(&mut world, Some(vec![FEED]), false);
    assert!(world.app.engine.polls.contains_key(&FEED));
    world.rest();
    assert_eq!(world.feed(1).history.status().text(), "complete history");
}
