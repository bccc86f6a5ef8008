//! Without a network nothing counts as a failure, and only one request a minute is attempted; a response from any other host
//! proves that there is a network (SPEC B.4.4, G.32).

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::feeds::trouble;
use backissue::engine::poll::fetch::{CONNECTING, FetchFailure};
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::{Input, Request};
use backissue_core::history::FeedKey;
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
fn three_unreachable_hosts_in_a_row_mean_offline() {
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
fn refused_or_answered_connection_proves_the_network() {
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

/// Returns a world that subscribed to many feeds and polls them for the first time; the host names of the first three are not
/// found.
fn a_list_with_three_broken_hosts() -> World {
    let mut world = World::new(120, 36);
    let mut wanted = Vec::new();
    let urls: Vec<String> =
        (1..=40).map(|number| format!("https://host{number:02}.example/")).collect();
    for (place, url) in urls.iter().enumerate() {
        world.serve(url, &document());
        // A failed name lookup returns at once, before any host can have answered, so these three failures come first.
        if place < 3 {
            fails(&mut world, &[url], &FetchFailure::Name(format!("host{:02}.example", place + 1)));
        }
        wanted.push(Subscribe { address: url.clone(), ..Subscribe::default() });
    }
    world.tell(Request::Import(wanted));
    world.tell(Request::Poll(PollRequest { feeds: None, kind: PollKind::Allowed, archives: true }));
    world.pass(TimeDelta::seconds(2));
    world
}

fn failing(world: &World) -> Vec<u32> {
    let failing = world.app.engine.feeds.values().filter(|feed| feed.is_failing());
    failing.map(|feed| feed.key.0).collect()
}

#[test]
fn three_unknown_hosts_among_forty_are_not_offline() {
    let mut world = a_list_with_three_broken_hosts();
    let check = |world: &World, failures: u32| {
        assert_eq!(world.app.engine.reachability.offline_since, None);
        assert_eq!(failing(world), [1, 2, 3]);
        for feed in (1..=3).map(|feed| world.feed(feed)) {
            assert_eq!(feed.state.facts.failures, failures);
            assert!(feed.plan.next_poll > Some(world.now), "it waits");
        }
        let concerns = trouble::concerns(&world.app.engine, world.now);
        let told: Vec<&str> = concerns.iter().map(|concern| concern.sentence.as_str()).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told.iter().all(|why| why.contains("could not be found")), "{told:?}");
    };
    check(&world, 1);
    let read = world.app.engine.feeds.values().filter(|feed| feed.state.facts.last_ok.is_some());
    assert_eq!(read.count(), 37, "all others were polled");
    world.restart();
    check(&world, 1);
    // After a night without the program all feeds are due at the start, and the feeds of the three broken hosts fail first again.
    world.now += TimeDelta::hours(9);
    world.restart();
    for _ in 0..10 {
        world.pass(TimeDelta::seconds(2));
    }
    check(&world, 2);
}

#[test]
fn offline_import_does_not_mark_feeds_failing() {
    let mut world = World::new(120, 36);
    let urls: Vec<String> =
        (1..=80).map(|number| format!("https://host{number:02}.example/")).collect();
    let wanted = |url: &String| Subscribe { address: url.clone(), ..Subscribe::default() };
    for url in &urls {
        fails(&mut world, &[url], &FetchFailure::Name("h".into()));
    }
    world.tell(Request::Import(urls.iter().map(wanted).collect()));
    world.tell(Request::Poll(PollRequest { feeds: None, kind: PollKind::Allowed, archives: true }));
    world.pass(TimeDelta::seconds(2));
    assert!(world.app.engine.reachability.offline_since.is_some());
    assert_eq!(failing(&world), [0_u32; 0]);
    // At most two requests were sent in addition to those that had already started.
    let begun = world.app.engine.settings.network.begun_max();
    assert!(world.requests.len() <= begun + 2, "{} requests were in vain", world.requests.len());
}

#[test]
fn number_of_running_polls_never_exceeds_the_feeds() {
    let mut world = world();
    // The network goes down, but one feed's server stays silent instead of failing; the other feeds are polled repeatedly
    // meanwhile.
    fails(&mut world, &FEEDS[..4], &FetchFailure::Name("h".into()));
    world.pass(TimeDelta::minutes(130));
    assert!(world.app.engine.reachability.offline_since.is_some());
    for _ in 0..12 {
        world.pass(TimeDelta::hours(2));
        let run = &world.app.engine.poll_run;
        assert!(run.asked() <= 5 && run.done() <= run.asked(), "{} of {}", run.done(), run.asked());
        let screen = world.draw();
        assert!(screen.contains("checking "), "{screen}");
        assert!(screen.contains(" of 5 ") || screen.contains(" of 4 "), "{screen}");
    }
}

#[test]
fn one_broken_host_with_many_feeds_is_not_offline() {
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
fn after_waking_the_network_gets_ten_seconds() {
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
fn clock_set_back_keeps_no_feed_waiting() {
    let mut world = world();
    let before = world.requests.len();
    world.now -= TimeDelta::days(3);
    world.tell(Input::Woke);
    let mut asked = Vec::new();
    for _ in 0..8 {
        world.pass(TimeDelta::minutes(10));
        asked.push(world.requests.len() - before);
    }
    let each = FEEDS.len();
    assert_eq!(asked[0..5], [each; 5], "each is polled at once, and then as planned");
    assert_eq!(asked[7], 2 * each, "an hour later");
    let now = world.now;
    let plans = world.app.engine.feeds.values().map(|feed| feed.plan.next_poll.unwrap());
    assert!(plans.into_iter().all(|next| next - now < TimeDelta::hours(2)));
}

#[test]
fn captive_portal_page_is_not_a_feed_failure() {
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
    assert_eq!(world.feed(1).state.facts.failures, 1, "others answer: the fault is in this feed");
}
