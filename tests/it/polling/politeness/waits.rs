//! Waits requested by servers: all feeds of a host respect them, also after a restart (SPEC B.4, B.8, G.19, G.20, G.26).

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::engine::poll::manual_poll::{PollKind, PollRequest};
use backissue::engine::request::Request;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use crate::support::world::{World, rss};

const A: &str = "https://host.example/a";
const B: &str = "https://host.example/b";
const OTHER: &str = "https://other.example/c";

fn document(name: &str) -> String {
    rss(name, &[("e", name, 1, "")])
}

fn world() -> World {
    let (a, b, c) = (document("A"), document("B"), document("C"));
    World::subscribed(120, 36, &[(A, &a, &[]), (B, &b, &[]), (OTHER, &c, &[])])
}

fn retry_after(seconds: &str) -> AnswerHeaders {
    AnswerHeaders { retry_after: Some(seconds.into()), ..AnswerHeaders::default() }
}

fn asked(world: &World, url: &str) -> usize {
    world.requests.iter().filter(|request| request.url == url).count()
}

#[test]
fn a_429_delays_all_feeds_of_its_host_across_restarts() {
    let mut world = world();
    world.pass(TimeDelta::minutes(10));
    world.refuse(A, 429, retry_after("7200"));
    world.poll(FeedKey(1));
    let limit = world.now + TimeDelta::seconds(7190);
    for feed in [1, 2] {
        assert!(world.feed(feed).plan.next_poll.unwrap() >= limit, "feed {feed}");
        assert!(world.reload().engine.feeds[&FeedKey(feed)].plan.next_poll.unwrap() >= limit);
    }
    assert!(world.feed(3).plan.next_poll.unwrap() < limit);
    for _ in 0..110 {
        world.pass(TimeDelta::minutes(1));
    }
    assert_eq!((asked(&world, A), asked(&world, B)), (2, 1));
    assert_eq!(asked(&world, OTHER), 3, "the other host is polled as usual");
}

#[test]
fn new_feed_at_a_429_host_waits_across_restarts() {
    let mut world = world();
    world.pass(TimeDelta::minutes(10));
    world.refuse(A, 429, retry_after("7200"));
    world.poll(FeedKey(1));
    let limit = world.now + TimeDelta::seconds(7190);
    let new = ["https://host.example/before", "https://host.example/after"];
    for (feed, address) in (4..).map(FeedKey).zip(new) {
        world.serve(address, &document("New"));
        let wanted = Subscribe { address: address.into(), ..Subscribe::default() };
        world.tell(Request::Import(vec![wanted]));
        assert!(world.app.engine.feeds[&feed].plan.next_poll.unwrap() >= limit);
        world.restart();
        assert!(world.app.engine.feeds[&feed].plan.next_poll.unwrap() >= limit);
    }
    for _ in 0..110 {
        world.pass(TimeDelta::minutes(1));
    }
    assert_eq!(new.map(|address| asked(&world, address)), [0, 0]);
}

#[test]
fn restored_feed_waits_for_its_429_host() {
    let mut world = world();
    world.pass(TimeDelta::minutes(10));
    world.tell(Request::Unsubscribe(FeedKey(2)));
    world.refuse(A, 429, retry_after("7200"));
    world.poll(FeedKey(1));
    let limit = world.now + TimeDelta::seconds(7190);
    world.pass(TimeDelta::minutes(60));
    world.tell(Request::Undo);
    assert!(world.feed(2).plan.next_poll.unwrap() >= limit);
    world.restart();
    assert!(world.feed(2).plan.next_poll.unwrap() >= limit);
}

#[test]
fn a_429_without_a_time_delays_new_feeds_for_an_hour() {
    let mut world = world();
    world.pass(TimeDelta::minutes(10));
    world.refuse(OTHER, 429, AnswerHeaders::default());
    world.poll(FeedKey(3));
    let limit = world.now + TimeDelta::seconds(3590);
    world.restart();
    let new = "https://other.example/new";
    world.serve(new, &document("New"));
    world.tell(Request::Import(vec![Subscribe { address: new.into(), ..Subscribe::default() }]));
    assert!(world.feed(4).plan.next_poll.unwrap() >= limit);
}

#[test]
fn waiting_feeds_are_not_polled_after_the_hosts_429() {
    let mut world = world();
    world.pass(TimeDelta::minutes(10));
    world.refuse(A, 429, AnswerHeaders::default());
    world.tell(Request::Poll(PollRequest { feeds: None, kind: PollKind::Allowed, archives: true }));
    for _ in 0..5 {
        world.pass(TimeDelta::seconds(2));
    }
    assert_eq!((asked(&world, A), asked(&world, B), asked(&world, OTHER)), (2, 1, 2));
    let result = world.app.engine.poll_run.results.iter().find(|result| result.feed == FeedKey(2));
    assert!(world.app.engine.polls.is_empty() && result.is_some());
}

#[test]
fn requested_wait_is_broken_only_after_confirmation() {
    let mut world = world();
    world.refuse(A, 503, retry_after("7200"));
    world.poll(FeedKey(1));
    world.pass(TimeDelta::minutes(6));
    world.press("jjjjj");
    world.press("r");
    assert_eq!(asked(&world, A), 2);
    assert!(world.notice().contains("r again polls it anyway"), "{}", world.notice());
    world.press("r");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(asked(&world, A), 3);
    world.pass(TimeDelta::minutes(6));
    world.press("r");
    world.press("j");
    world.press("k");
    world.tell(Request::Poll(PollRequest {
        feeds: Some(vec![FeedKey(2)]),
        kind: PollKind::Allowed,
        archives: true,
    }));
    world.press("r");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(asked(&world, A), 3, "another poll in between withdraws the question");
}

#[test]
fn refresh_all_runs_at_most_every_five_minutes() {
    let mut world = world();
    let mut all = |after| {
        world.pass(after);
        world.tell(Request::Poll(PollRequest {
            feeds: None,
            kind: PollKind::Allowed,
            archives: true,
        }));
        for _ in 0..5 {
            world.pass(TimeDelta::seconds(2));
        }
        world.requests.len()
    };
    let first = all(TimeDelta::zero());
    assert_eq!(all(TimeDelta::minutes(4)), first);
    assert_eq!(all(TimeDelta::minutes(1)), first + 3);
}

#[test]
fn interrupted_request_is_not_repeated_at_restart() {
    // The time of an attempt is stored before the answer arrives (SPEC G.20).
    let mut world = world();
    world.pass(TimeDelta::minutes(70));
    world.pass(TimeDelta::seconds(2));
    let tried = world.feed(1).state.facts.last_try.unwrap();
    let again = world.reload();
    assert_eq!(again.engine.feeds[&FeedKey(1)].state.facts.last_try, Some(tried));
    assert!(again.engine.feeds[&FeedKey(1)].plan.next_poll.unwrap() > world.now);
}

#[test]
fn startup_does_not_poll_everything_at_once() {
    // A start does not poll all feeds at once (SPEC G.19): one request per site at a time, with a pause after each.
    let documents: Vec<(String, String)> =
        (0..30).map(|n| (format!("https://f{n}.host.example/"), document("T"))).collect();
    let feeds: Vec<(&str, &str, &[&str])> =
        documents.iter().map(|(url, body)| (url.as_str(), body.as_str(), &[][..])).collect();
    let mut world = World::subscribed(90, 24, &feeds);
    let at_first = world.requests.len();
    assert!(at_first <= 3, "{at_first} requests in two seconds to one site");
    world.pass(TimeDelta::milliseconds(500));
    world.pass(TimeDelta::milliseconds(499));
    assert!(world.requests.len() <= at_first + 1);
}

#[test]
fn poll_key_reports_polled_and_skipped_feeds() {
    let mut world = world();
    world.press("R");
    let told =
        |world: &mut World| world.draw().lines().rev().nth(1).unwrap_or_default().trim().to_owned();
    let none = told(&mut world);
    assert!(
        none.starts_with("nothing polled: all were checked within 5 min (A 2 s ago)"),
        "{none}"
    );
    world.pass(TimeDelta::minutes(10));
    world.refuse(A, 429, retry_after("7200"));
    world.poll(FeedKey(1));
    world.press("R");
    let some = told(&mut world);
    assert!(some.starts_with("nothing new in C (checked just now) · 2 not polled"), "{some}");
}
