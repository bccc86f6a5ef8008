//! Tests for the order and timing of requests.

use super::*;
use crate::engine::settings::Settings;
use backissue_core::history::{EntryKey, FeedKey};

fn at(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_700_000_000_000 + ms).unwrap()
}

fn waiting(url: &str, feed: u32) -> Waiting {
    Waiting { url: url.into(), purpose: Purpose::Poll(FeedKey(feed)), cause: PollCause::Due }
}

fn feeds(started: &[(FetchId, Waiting)]) -> Vec<u32> {
    let number = |waiting: &Waiting| match waiting.purpose {
        Purpose::Poll(feed) | Purpose::Archive(feed) => feed.0,
        Purpose::FullText(_) | Purpose::Picture(_) | Purpose::Discover(_) => 0,
    };
    started.iter().map(|(_, waiting)| number(waiting)).collect()
}

#[test]
fn site_gets_one_request_at_a_time_with_pauses() {
    let settings = Settings::default().network;
    let mut traffic = HostQueue::default();
    for feed in 1..=3 {
        traffic.enqueue(waiting("https://a.example/f", feed), &settings);
    }
    let first = traffic.start(at(0), &settings);
    assert_eq!(feeds(&first), [1]);
    assert!(traffic.start(at(5000), &settings).is_empty(), "while one is under way");
    traffic.end(first[0].0, at(6000), &settings).unwrap();
    assert!(traffic.start(at(6999), &settings).is_empty(), "within the pause");
    assert_eq!(traffic.next_start(&settings), Some(at(7000)));
    assert_eq!(feeds(&traffic.start(at(7000), &settings)), [2]);
}

#[test]
fn at_most_twice_the_parallel_limit_is_started() {
    let settings = NetworkSettings { parallel: 2, ..Settings::default().network };
    let mut traffic = HostQueue::default();
    for feed in 1..=6 {
        traffic.enqueue(waiting(&format!("https://h{feed}.example/"), feed), &settings);
    }
    let started = traffic.start(at(0), &settings);
    assert_eq!(feeds(&started), [1, 2, 3, 4]);
    assert_eq!(traffic.next_start(&settings), None, "only an end can let the next one start");
    traffic.end(started[1].0, at(10), &settings).unwrap();
    assert_eq!(feeds(&traffic.start(at(10), &settings)), [5]);
}

#[test]
fn sites_take_turns() {
    let settings =
        NetworkSettings { parallel: 1, host_spacing_ms: 0, ..Settings::default().network };
    let mut traffic = HostQueue::default();
    for feed in [11, 12] {
        traffic.enqueue(waiting("https://a.example/", feed), &settings);
    }
    traffic.enqueue(waiting("https://b.example/", 21), &settings);
    let mut order = Vec::new();
    for step in 0..2 {
        let started = traffic.start(at(step), &settings);
        order.extend(feeds(&started));
        for (id, _) in started {
            traffic.end(id, at(step), &settings).unwrap();
        }
    }
    assert_eq!(order, [11, 21, 12]);
}

#[test]
fn loopback_is_exempt_from_spacing_only_if_configured() {
    for (space_loopback, host_parallel, expected) in
        [(true, None, 1), (false, None, 6), (false, Some(2), 2), (true, Some(2), 2)]
    {
        let usual = Settings::default().network;
        let settings = NetworkSettings { host_parallel, space_loopback, ..usual };
        let mut traffic = HostQueue::default();
        for feed in 1..=40 {
            traffic.enqueue(waiting("http://127.0.0.1:8080/f", feed), &settings);
        }
        assert_eq!(traffic.start(at(0), &settings).len(), expected);
    }
}

#[test]
fn a_late_answer_is_harmless() {
    let settings = Settings::default().network;
    assert_eq!(HostQueue::default().end(FetchId(9), at(0), &settings), None);
}

#[test]
fn no_request_starts_before_the_startup_delay() {
    let settings = Settings::default().network;
    let mut traffic = HostQueue { not_before: Some(at(3000)), ..HostQueue::default() };
    traffic.enqueue(waiting("https://a.example/", 1), &settings);
    assert!(traffic.start(at(2999), &settings).is_empty());
    assert_eq!(traffic.next_start(&settings), Some(at(3000)));
    assert_eq!(traffic.start(at(3000), &settings).len(), 1);
}

#[test]
fn a_site_is_a_registrable_domain_or_an_address_with_its_port() {
    for (url, expected) in [
        ("https://blog.site.example.co.uk/f", "example.co.uk"),
        ("https://www.site.com/f", "site.com"),
        ("http://feeds.site.com:8080/f", "site.com"),
        ("https://a.github.io/f", "a.github.io"),
        ("https://b.github.io/f", "b.github.io"),
        ("http://127.0.0.1:8080/f", "127.0.0.1:8080"),
        ("http://[::1]:8080/f", "[::1]:8080"),
        ("http://localhost:81/f", "localhost:81"),
        ("https://co.uk/f", "co.uk"),
    ] {
        assert_eq!(site_of(url), expected, "{url}");
    }
}

#[test]
fn offline_tries_one_site_a_minute_but_always_loopback() {
    let settings = Settings::default().network;
    let mut traffic = HostQueue { probe_at: Some(at(60_000)), ..HostQueue::default() };
    for (feed, host) in [(1, "a.example"), (2, "b.example"), (3, "127.0.0.1:80")] {
        traffic.enqueue(waiting(&format!("http://{host}/f"), feed), &settings);
    }
    assert_eq!(feeds(&traffic.start(at(0), &settings)), [3]);
    assert_eq!(traffic.next_start(&settings), Some(at(60_000)));
    let probe = traffic.start(at(60_000), &settings);
    assert_eq!(feeds(&probe).len(), 1);
    assert!(traffic.start(at(130_000), &settings).is_empty(), "while the probe is under way");
    traffic.end(probe[0].0, at(130_000), &settings).unwrap();
    assert_eq!(traffic.start(at(130_000), &settings).len(), 1, "another site");
    traffic.probe_at = None;
    assert_eq!(traffic.next_start(&settings), None);
}

#[test]
fn waiting_feed_reports_its_reason() {
    let settings = Settings::default().network;
    let mut traffic = HostQueue { not_before: Some(at(3000)), ..HostQueue::default() };
    let url = "https://a.example/f";
    traffic.enqueue(waiting(url, 1), &settings);
    traffic.enqueue(waiting(url, 2), &settings);
    assert_eq!(traffic.waits_for(url, at(0), &settings), WaitsFor::Start(at(3000)));
    let first = traffic.start(at(3000), &settings);
    assert_eq!(traffic.waits_for(url, at(3000), &settings), WaitsFor::Site);
    traffic.end(first[0].0, at(4000), &settings).unwrap();
    assert_eq!(traffic.waits_for(url, at(4500), &settings), WaitsFor::Spacing(at(5000)));
    assert_eq!(traffic.waits_for(url, at(5000), &settings), WaitsFor::Turn);
    traffic.probe_at = Some(at(9000));
    assert_eq!(traffic.waits_for(url, at(5000), &settings), WaitsFor::Network(at(9000)));
}

#[test]
fn pictures_wait_for_documents_but_precede_archives() {
    let settings = Settings::default().network;
    let mut traffic = HostQueue::default();
    let key = EntryKey { feed: FeedKey(9), seq: 1 };
    let purposes = [
        Purpose::Archive(FeedKey(3)),
        Purpose::Picture(key),
        Purpose::Poll(FeedKey(1)),
        Purpose::FullText(key),
    ];
    let page_ahead = Purpose::FullText(EntryKey { seq: 2, ..key });
    let picture_ahead = Purpose::Picture(EntryKey { seq: 3, ..key });
    for purpose in purposes.clone() {
        let cause = PollCause::Asked;
        let waiting = waiting("https://a.example/", 0);
        traffic.enqueue(Waiting { purpose, cause, ..waiting }, &settings);
    }
    for purpose in [page_ahead.clone(), picture_ahead.clone()] {
        let ahead = Waiting { purpose, ..waiting("https://a.example/", 0) };
        traffic.enqueue(Waiting { cause: PollCause::Due, ..ahead }, &settings);
    }
    let mut order = Vec::new();
    for second in 0..6 {
        let started = traffic.start(at(second * 5000), &settings);
        traffic.end(started[0].0, at(second * 5000), &settings).unwrap();
        order.push(started[0].1.purpose.clone());
    }
    let [archive, picture, poll, page] = purposes;
    assert_eq!(order, [poll, page, picture.clone(), archive, page_ahead, picture_ahead]);
    traffic.enqueue(Waiting { purpose: picture, ..waiting("https://a.example/", 0) }, &settings);
    assert_eq!(traffic.drop_waiting(|purpose| matches!(purpose, Purpose::Picture(_))), 1);
    assert_eq!(traffic.next_start(&settings), None);
}

#[test]
fn picture_that_the_screen_waits_for_overtakes_archives() {
    let settings = Settings::default().network;
    let purpose = Purpose::Picture(EntryKey { feed: FeedKey(9), seq: 1 });
    let picture = |url: &str| Waiting { purpose: purpose.clone(), ..waiting(url, 0) };
    let (first, second) = ("https://a.example/1.png", "https://a.example/2.png");
    let mut traffic = HostQueue::default();
    let archive =
        Waiting { purpose: Purpose::Archive(FeedKey(3)), ..picture("https://a.example/") };
    for waiting in [archive, picture(first), picture(second)] {
        traffic.enqueue(waiting, &settings);
    }
    let asked = |url| Waiting { cause: PollCause::Asked, ..picture(url) };
    assert!(traffic.hurry_picture(second));
    assert!(!traffic.hurry_picture(second), "the screen waits for it already");
    assert!(!traffic.hurry_picture("https://a.example/3.png"));
    let (id, started) = traffic.start(at(0), &settings).remove(0);
    assert_eq!(started, asked(second));
    traffic.end(id, at(0), &settings).unwrap();
    let (id, _) = traffic.start(at(5000), &settings).remove(0);
    traffic.end(id, at(5000), &settings).unwrap();
    let (id, started) = traffic.start(at(10_000), &settings).remove(0);
    assert_eq!(started, picture(first));
    assert!(traffic.hurry_picture(first), "it is under way");
    assert_eq!(traffic.end(id, at(10_000), &settings).unwrap().waiting, asked(first));
}

#[test]
fn a_stated_wait_of_archives_outlasts_a_sleep() {
    let settings = Settings::default().network;
    let mut traffic = HostQueue::default();
    let archive =
        Waiting { purpose: Purpose::Archive(FeedKey(1)), ..waiting("https://a.example/1", 1) };
    traffic.enqueue(archive, &settings);
    traffic.hold(at(0), "https://a.example/1", Wait::requested(at(0), 3_600));
    traffic.clock_was_set(at(600_000), &settings);
    assert!(traffic.start(at(1_000_000), &settings).is_empty());
    // The clock was set back by a month: no wait is that long.
    traffic.clock_was_set(at(-2_600_000_000), &settings);
    assert_eq!(traffic.start(at(-2_500_000_000), &settings).len(), 1);
}
