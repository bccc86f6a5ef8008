//! Waits requested by servers: all feeds of a host respect them, also after a restart (SPEC B.4, B.8, G.19, G.20, G.26).

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::Request;
use backissue_core::history::FeedKey;
use backissue_core::schedule::{decide_time, plan_sentence};
use chrono::TimeDelta;

use crate::support::world::{Scripted, World, rss};

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
fn a_503_delays_only_its_own_feed() {
    let mut world = world();
    world.pass(TimeDelta::minutes(10));
    world.refuse(A, 503, retry_after("7200"));
    world.poll(FeedKey(1));
    for _ in 0..60 {
        world.pass(TimeDelta::minutes(1));
    }
    assert_eq!((asked(&world, A), asked(&world, B)), (2, 2), "another feed of the host is polled");
}

fn limits(lines: &str) -> AnswerHeaders {
    AnswerHeaders { rate_limits: Some(lines.into()), ..AnswerHeaders::default() }
}

#[test]
fn announced_limit_lets_the_feeds_of_a_host_take_turns() {
    // Each answer says that the next request is taken in 30 s. No request is sent too early, and the oldest feed comes first.
    let urls: Vec<String> = (1..=4).map(|n| format!("https://host.example/{n}")).collect();
    let feeds: Vec<(&str, String)> = urls.iter().map(|url| (url.as_str(), document(url))).collect();
    let feeds: Vec<_> = feeds.iter().map(|(url, body)| (*url, body.as_str(), &[][..])).collect();
    let mut world = World::subscribed(120, 36, &feeds);
    let header = limits("x-ratelimit-remaining: 0.0\nx-ratelimit-reset: 30");
    for (url, body, _) in &feeds {
        let (status, body, headers) = (200, (*body).into(), header.clone());
        world
            .network
            .insert((*url).into(), Scripted { status, headers, body, ..Scripted::default() });
    }
    world.pass(TimeDelta::hours(2));
    let before = world.requests.len();
    let mut at = Vec::new();
    for second in 0..100 {
        world.pass(TimeDelta::seconds(1));
        let asked = world.requests.len() - before - at.len();
        at.extend(std::iter::repeat_n(second, asked));
    }
    let mut requested: Vec<&str> =
        world.requests[before - 1..].iter().map(|one| one.url.as_str()).collect();
    requested.sort_unstable();
    assert_eq!(requested, urls, "each feed once");
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= 29), "{at:?}");
    assert!((1..=4).all(|feed| world.feed(feed).state.trouble.is_none()));
}

#[test]
fn announced_429_wait_replaces_the_hour_and_doubles() {
    let mut world = World::subscribed(120, 36, &[(A, &document("A"), &[])]);
    world.refuse(A, 429, limits("x-ratelimit-remaining: 0\nx-ratelimit-reset: 30"));
    world.pass(TimeDelta::hours(3));
    let wait = |world: &World| {
        let feed = world.feed(1);
        (feed.plan.next_poll.unwrap() - feed.state.facts.last_try.unwrap()).num_seconds()
    };
    assert_eq!(wait(&world), 30, "neither an hour nor five minutes");
    for least in [60, 120, 240, 480, 960, 1920, 3600, 3600] {
        world.pass(TimeDelta::seconds(wait(&world)));
        assert_eq!(wait(&world), least);
        let reloaded = world.reload().engine.feeds[&FeedKey(1)].plan.next_poll;
        assert_eq!(reloaded, world.feed(1).plan.next_poll);
    }
    world.serve(A, &document("A"));
    world.pass(TimeDelta::seconds(3600));
    assert!(world.feed(1).state.trouble.is_none());
    world.refuse(A, 429, limits("ratelimit: \"default\";r=0;t=30"));
    world.pass(TimeDelta::hours(3));
    assert_eq!(wait(&world), 30, "a success ends the doubling");
}

#[test]
fn a_plan_names_the_header_that_announced_the_wait() {
    for (status, headers, sentence) in [
        (
            429,
            limits("x-ratelimit-reset: 7200"),
            "takes no request before then (x-ratelimit-reset)",
        ),
        (
            403,
            limits("ratelimit: limit=5, remaining=0, reset=9000"),
            "no request before then (RateLimit)",
        ),
        (429, retry_after("14400"), "asked backissue to wait until then"),
    ] {
        let mut world = world();
        world.pass(TimeDelta::minutes(10));
        world.refuse(A, status, headers);
        world.poll(FeedKey(1));
        let feed = world.feed(2);
        let facts = &feed.state.facts;
        let decision = decide_time(facts, world.now, 0.0);
        let told = plan_sentence(facts, &decision, world.now, chrono_tz::Tz::UTC);
        assert!(told.contains(sentence), "{told}");
    }
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
