//! Without a network nothing is a failure, and it is tried once a minute (SPEC B.4.4, G.32).

use backissue::engine::input::Input;
use backissue::engine::poll::fetch::{CONNECTING, FetchFailure};
use backissue::history::FeedKey;
use chrono::TimeDelta;

use crate::support::world::{Scripted, World, rss};

const FEEDS: [&str; 5] = [
    "https://a.example/f",
    "https://b.example/f",
    "https://c.example/f",
    "https://d.example/f",
    "http://127.0.0.1:8080/f",
];

fn document() -> String {
    rss("T", &[("e", "E", 1, "")])
}

fn world() -> World {
    let body = document();
    let feeds: Vec<(&str, &str, &[&str])> =
        FEEDS.iter().map(|url| (*url, body.as_str(), &[][..])).collect();
    World::subscribed(120, 36, &feeds)
}

fn fails(world: &mut World, urls: &[&str], failure: &FetchFailure) {
    for url in urls {
        let fails = Some(failure.clone());
        world.network.insert((*url).into(), Scripted { fails, ..Scripted::default() });
    }
}

#[test]
fn three_hosts_in_a_row_that_cannot_be_reached_are_no_network() {
    let timeout = FetchFailure::Timeout { phase: CONNECTING, seconds: 10 };
    for failure in [FetchFailure::Name("h".into()), FetchFailure::Unreachable("h".into()), timeout]
    {
        let mut world = world();
        fails(&mut world, &FEEDS[..4], &failure);
        let before = world.requests.len();
        world.pass(TimeDelta::minutes(130));
        world.pass(TimeDelta::seconds(2));
        assert!(world.app.engine.reachability.offline_since.is_some(), "{failure}");
        let failing: Vec<u32> = (1..=5).map(|feed| world.feed(feed).state.facts.failures).collect();
        assert_eq!(failing, [0; 5], "{failure}");
        assert!((1..=4).all(|feed| world.feed(feed).state.trouble.is_none()), "{failure}");
        let local = world.requests[before..].iter().filter(|request| request.url == FEEDS[4]);
        assert_eq!(local.count(), 1, "this machine needs no network");
        let asked = world.requests.len();
        for _ in 0..20 {
            world.pass(TimeDelta::seconds(30));
        }
        let probes = world.requests.len() - asked;
        assert!((9..=11).contains(&probes), "{probes} probes in ten minutes");
        for url in FEEDS {
            world.serve(url, &document());
        }
        for _ in 0..4 {
            world.pass(TimeDelta::seconds(31));
        }
        assert_eq!(world.app.engine.reachability.offline_since, None);
        assert!((1..=4).all(|feed| world.feed(feed).state.facts.last_ok
            > Some(crate::support::world::start() + TimeDelta::hours(1))));
    }
}

#[test]
fn a_host_that_refuses_or_answers_proves_that_there_is_a_network() {
    let mut world = world();
    fails(&mut world, &FEEDS[..2], &FetchFailure::Name("h".into()));
    fails(&mut world, &FEEDS[2..3], &FetchFailure::Connect("h (connection refused)".into()));
    fails(&mut world, &FEEDS[3..4], &FetchFailure::Name("h".into()));
    world.pass(TimeDelta::minutes(130));
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.app.engine.reachability.offline_since, None);
    let failing: Vec<u32> = (1..=5).map(|feed| world.feed(feed).state.facts.failures).collect();
    assert_eq!(failing, [1, 1, 1, 1, 0]);
}

#[test]
fn one_broken_host_is_a_broken_host_however_many_feeds_it_has() {
    let body = document();
    let urls: Vec<String> = (0..6).map(|n| format!("https://f{n}.a.example/")).collect();
    let feeds: Vec<(&str, &str, &[&str])> =
        urls.iter().map(|url| (url.as_str(), body.as_str(), &[][..])).collect();
    let mut world = World::subscribed(90, 24, &feeds);
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    fails(&mut world, &urls, &FetchFailure::Name("h".into()));
    for _ in 0..100 {
        world.pass(TimeDelta::minutes(1));
    }
    assert_eq!(world.app.engine.reachability.offline_since, None);
    assert!(world.feed(1).is_failing());
}

#[test]
fn after_waking_up_the_network_gets_ten_seconds() {
    let mut world = world();
    let before = world.requests.len();
    world.now += TimeDelta::hours(8);
    world.tell(Input::Woke);
    assert_eq!(world.requests.len(), before);
    world.pass(TimeDelta::seconds(9));
    assert_eq!(world.requests.len(), before);
    world.pass(TimeDelta::seconds(1));
    assert!(world.requests.len() > before);
}

#[test]
fn a_sign_in_page_between_us_and_the_feed_is_not_counted() {
    let mut world = world();
    let body = "<html><title>Hotel wifi: sign in</title></html>";
    world.serve("http://gate.example/login", body);
    world.lead(FEEDS[0], 302, "http://gate.example/login");
    world.pass(TimeDelta::minutes(20));
    world.poll(FeedKey(1));
    assert_eq!(world.feed(1).state.facts.failures, 0);
    assert!(
        world.feed(1).state.trouble.as_deref().is_some_and(|why| why.contains("captive portal"))
    );
    world.poll(FeedKey(2));
    world.poll(FeedKey(1));
    assert_eq!(world.feed(1).state.facts.failures, 1, "others answer: it is this feed");
}
