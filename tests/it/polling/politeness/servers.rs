//! How servers behave: deltas, broken `ETag`s, constant 304, rejected formats, 404 for a month (SPEC D.2, D.4, D.7).

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::feeds::trouble::{self, Remedy};
use backissue::engine::poll::fetch::{AnswerHeaders, FetchFailure, RequestKind};
use backissue::engine::request::Request;
use backissue_core::history::FeedKey;
use backissue_core::schedule::{FeedStatus, SettledBy};
use chrono::TimeDelta;

use crate::support::world::{Scripted, World, rss};

const A: &str = "https://a.example/feed";
const FEED: FeedKey = FeedKey(1);

fn orchard() -> String {
    rss("Orchard", &[("o2", "Wax", 1, ""), ("o1", "Ladders", 2, "")])
}

fn tagged(status: u16, etag: &'static str) -> Scripted {
    Scripted { status, etag: Some(etag), body: orchard(), ..Scripted::default() }
}

fn dated() -> AnswerHeaders {
    AnswerHeaders { last_modified: Some(b"Mon".into()), ..AnswerHeaders::default() }
}

/// Returns a world subscribed to feed `A`, whose server sends an `ETag`.
fn world() -> World {
    let mut world = World::subscribed(120, 36, &[(A, &orchard(), &[])]);
    world.network.insert(A.into(), tagged(200, "\"one\""));
    world.poll(FEED);
    world
}

fn last_sent(world: &World) -> (RequestKind, Option<Vec<u8>>) {
    let request = world.requests.last().unwrap();
    (request.kind, request.validators.as_ref().and_then(|sent| sent.etag.clone()))
}

#[test]
fn a_delta_is_merged_and_its_tag_is_kept() {
    // A 226 answer is merged once a plain request has verified a larger one, and its `ETag` is sent with the next request (SPEC
    // D.7, cases 1 and 4).
    let mut world = world();
    let before = world.requests.len();
    let delta = |etag, body: String, plain| {
        let headers = AnswerHeaders { im: Some("feed".into()), ..AnswerHeaders::default() };
        Scripted { headers, body, deaf: true, plain, ..tagged(226, etag) }
    };
    let entries = [("o4", "Snow", 0, ""), ("o3", "Frost", 0, ""), ("o2", "Wax", 1, "")];
    let whole = Scripted { body: rss("Orchard", &entries), ..tagged(200, "\"two\"") };
    let first = delta("\"two\"", rss("Orchard", &entries[..2]), Some(Box::new(whole)));
    world.network.insert(A.into(), first);
    world.poll(FEED);
    assert_eq!(last_sent(&world), (RequestKind::Usual, None), "it verifies the delta");
    assert_eq!((world.feed(1).counters.total, world.feed(1).is_failing()), (4, false));
    let second = delta("\"three\"", rss("Orchard", &[("o5", "Thaw", 0, "")]), None);
    world.network.insert(A.into(), second);
    for tag in ["\"two\"", "\"three\""] {
        world.poll(FEED);
        assert_eq!(last_sent(&world), (RequestKind::Delta, Some(tag.into())));
        assert_eq!((world.feed(1).counters.total, world.feed(1).is_failing()), (5, false));
    }
    assert_eq!(world.requests.len() - before, 4, "the smaller delta is verified");
}

#[test]
fn deltas_that_cost_two_requests_are_not_requested() {
    // A feed whose deltas always have one entry never proves that a delta of one entry is whole (SPEC D.7).
    let mut world = world();
    let mut entries = vec![("o2", "Wax", 1, "")];
    let news = [("o3", "\"3\""), ("o4", "\"4\""), ("o5", "\"5\""), ("o6", "\"6\"")];
    let mut costs = Vec::new();
    for (id, etag) in news {
        entries.insert(0, (id, id, 0, ""));
        let whole = Scripted { body: rss("Orchard", &entries), ..tagged(200, etag) };
        let headers = AnswerHeaders { im: Some("feed".into()), ..AnswerHeaders::default() };
        let (body, plain) = (rss("Orchard", &entries[..1]), Some(Box::new(whole)));
        let answer = Scripted { headers, body, deaf: true, plain, ..tagged(226, etag) };
        world.network.insert(A.into(), answer);
        let before = world.requests.len();
        world.poll(FEED);
        costs.push(world.requests.len() - before);
    }
    assert_eq!((costs, world.feed(1).counters.total), (vec![2, 2, 2, 1], 6));
}

#[test]
fn unfitting_delta_is_dropped_and_refetched_whole_once() {
    // A 226 answer that we cannot apply is dropped and the whole document requested once (SPEC D.7, case 2).
    let mut world = world();
    let before = world.requests.len();
    let headers = AnswerHeaders { im: Some("gzip".into()), ..AnswerHeaders::default() };
    world.network.insert(A.into(), Scripted { headers, deaf: true, ..tagged(226, "\"two\"") });
    world.poll(FEED);
    world.pass(TimeDelta::seconds(2));
    let kinds: Vec<RequestKind> =
        world.requests[before..].iter().map(|request| request.kind).collect();
    assert_eq!(kinds, [RequestKind::Delta, RequestKind::Usual]);
    assert!(world.requests.last().unwrap().validators.is_none());
    assert!(world.feed(1).is_failing(), "the second 226 was not requested");
    world.network.insert(A.into(), tagged(200, "\"three\""));
    world.pass(TimeDelta::days(2));
    world.poll(FEED);
    world.poll(FEED);
    assert_eq!(last_sent(&world).0, RequestKind::Usual, "no delta for 30 days");
    for _ in 0..29 {
        world.pass(TimeDelta::days(1));
        world.pass(TimeDelta::seconds(2));
    }
    world.poll(FEED);
    assert_eq!(last_sent(&world).0, RequestKind::Delta);
}

#[test]
fn delta_ignorant_server_is_polled_without_deltas() {
    // A 400 answer to a request with `A-IM` is repeated once without that header (SPEC D.2).
    let mut world = world();
    let before = world.requests.len();
    world.refuse(A, 400, AnswerHeaders::default());
    world.poll(FEED);
    world.pass(TimeDelta::seconds(2));
    let kinds: Vec<RequestKind> =
        world.requests[before..].iter().map(|request| request.kind).collect();
    assert_eq!(kinds, [RequestKind::Delta, RequestKind::Usual]);
    assert!(world.requests.last().unwrap().validators.is_some());
}

#[test]
fn full_answer_to_a_delta_request_is_normal() {
    // A server may answer a delta request with the whole document (SPEC D.7, case 3).
    let mut world = world();
    world.poll(FEED);
    assert_eq!((last_sent(&world).0, world.feed(1).state.status), (RequestKind::Delta, Some(304)));
    world.network.insert(A.into(), tagged(200, "\"two\""));
    world.poll(FEED);
    assert_eq!((world.feed(1).state.status, world.feed(1).is_failing()), (Some(200), false));
}

#[test]
fn always_304_server_gets_one_full_request_in_eight_days() {
    // After eight days of nothing but 304, one request is sent without validators (SPEC D.4 rule 9, G.25).
    let mut world = world();
    let mut unconditional = Vec::new();
    for day in 0..26 {
        for _ in 0..24 {
            let before = world.requests.len();
            world.pass(TimeDelta::hours(1));
            world.pass(TimeDelta::seconds(2));
            let fresh = &world.requests[before..];
            if fresh.iter().any(|request| request.validators.is_none()) {
                unconditional.push(day);
                world
                    .network
                    .insert(A.into(), Scripted { body: orchard(), ..tagged(200, "\"one\"") });
            }
        }
    }
    unconditional.dedup();
    assert_eq!(unconditional.len(), 3, "{unconditional:?}");
    assert!(unconditional.windows(2).all(|pair| pair[1] - pair[0] >= 8), "{unconditional:?}");
}

#[test]
fn unhonoured_etag_is_omitted_for_a_month() {
    // An `ETag` that the server repeats with a full answer is no longer sent (SPEC D.4 rule 10, G.24).
    let mut world = world();
    let deaf = Scripted { deaf: true, headers: dated(), ..tagged(200, "\"one-gzip\"") };
    world.network.insert(A.into(), deaf);
    world.poll(FEED);
    for expected in [Some(b"\"one-gzip\"".to_vec()), Some(b"\"one-gzip\"".to_vec()), None, None] {
        world.poll(FEED);
        assert_eq!(last_sent(&world).1, expected);
    }
    assert!(world.requests.last().unwrap().validators.as_ref().unwrap().last_modified.is_some());
}

#[test]
fn a_406_is_asked_again_at_once_in_any_format() {
    // After a 406 or 415 one more request accepts any format, without validators; what worked is remembered (SPEC D.2).
    for status in [406, 415] {
        let mut world = world();
        world.refuse(A, status, AnswerHeaders::default());
        let before = world.requests.len();
        world.poll(FEED);
        assert_eq!(world.requests.len(), before + 2);
        assert_eq!(last_sent(&world), (RequestKind::AnyFormat, None));
        let after_refusal = world.requests.len();
        world.network.insert(A.into(), tagged(200, "\"two\""));
        world.poll(FEED);
        assert_eq!(world.requests.len(), after_refusal + 1);
        assert_eq!(last_sent(&world).0, RequestKind::AnyFormat);
        assert!(!world.feed(1).is_failing());
        world.refuse(A, status, AnswerHeaders::default());
        world.poll(FEED);
        assert_eq!(last_sent(&world), (RequestKind::Usual, None), "the other way round");
    }
}

#[test]
fn thirty_days_of_404_end_a_feed_with_weekly_polls() {
    let mut world = world();
    world.refuse(A, 500, AnswerHeaders::default());
    world.poll(FEED);
    world.pass(TimeDelta::days(2));
    world.refuse(A, 404, AnswerHeaders::default());
    let first = world.now;
    let mut days = Vec::new();
    for day in 0..60 {
        for _ in 0..24 {
            let before = world.requests.len();
            world.pass(TimeDelta::hours(1));
            world.pass(TimeDelta::seconds(2));
            if world.requests.len() > before {
                days.push(day);
            }
        }
    }
    assert_eq!(world.feed(1).state.facts.standing, FeedStatus::Dead);
    assert_eq!(world.feed(1).plan.settled_by, SettledBy::Dead);
    let late: Vec<i32> = days.into_iter().filter(|&day| day > 31).collect();
    assert!((4..=5).contains(&late.len()), "{late:?}");
    let told = trouble::concerns(&world.app.engine, world.now);
    assert_eq!((told[0].state, told[0].remedy), ("dead", Remedy::Retry));
    let since = first.with_timezone(&world.app.engine.zone).format("only 404 since %-d %B %Y:");
    assert!(told[0].sentence.contains(&since.to_string()), "{}", told[0].sentence);
    world.network.insert(A.into(), tagged(200, "\"two\""));
    world.poll(FEED);
    assert_eq!(world.feed(1).state.facts.standing, FeedStatus::Active);
}

#[test]
fn a_feed_that_ended_is_left_alone_until_the_reader_resumes_it() {
    let mut world = world();
    world.refuse(A, 410, AnswerHeaders::default());
    world.poll(FEED);
    let asked = world.requests.len();
    for _ in 0..40 {
        world.pass(TimeDelta::days(1));
    }
    world.poll(FEED);
    assert_eq!(world.requests.len(), asked);
    assert_eq!(world.feed(1).counters.total, 2);
    world.network.insert(A.into(), tagged(200, "\"two\""));
    world.press("gjjjj<enter>");
    assert!(world.draw().contains("The publisher ended this feed on"), "{}", world.draw());
    world.press("<enter>");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.requests.len(), asked + 1);
    assert_eq!(world.feed(1).state.status, Some(200));
    assert!(trouble::concerns(&world.app.engine, world.now).is_empty());
}

#[test]
fn an_insecure_redirect_is_allowed_by_one_key() {
    let mut world = world();
    let fails = Some(FetchFailure::Insecure { to: "http://a.example/feed".into() });
    world.network.insert(A.into(), Scripted { fails, ..Scripted::default() });
    world.poll(FEED);
    let told = trouble::concerns(&world.app.engine, world.now);
    assert_eq!((told[0].state, told[0].remedy), ("insecure redirect", Remedy::AllowInsecure));
    assert!(!world.requests.last().unwrap().allow_insecure);
    world.network.insert(A.into(), tagged(200, "\"two\""));
    world.pass(TimeDelta::minutes(3));
    world.press("gjjjj<enter><enter>");
    world.pass(TimeDelta::seconds(2));
    assert!(world.requests.last().unwrap().allow_insecure);
    assert!(world.reload().engine.feeds[&FEED].record.feed_settings.allow_insecure);
}

#[test]
fn dismissed_trouble_returns_when_it_changes() {
    let mut world = world();
    world.refuse(A, 401, AnswerHeaders::default());
    world.poll(FEED);
    world.press("gjjjj<enter>");
    assert!(world.draw().contains("config.toml"), "{}", world.draw());
    world.press("N");
    assert!(trouble::concerns(&world.app.engine, world.now).is_empty());
    world.network.insert(A.into(), tagged(200, "\"two\""));
    world.poll(FEED);
    world.refuse(A, 500, AnswerHeaders::default());
    world.poll(FEED);
    assert_eq!(trouble::concerns(&world.app.engine, world.now).len(), 1);
}

#[test]
fn looking_for_a_feed_stops_at_a_429() {
    const PAGE: &str = "https://a.example/blog/page";
    let look = |refused: &[String]| {
        let mut world = World::new(120, 36);
        world.serve(PAGE, "<html><head><title>A</title></head><body><p>Text</p></body></html>");
        for url in refused {
            let retry_after = Some("3600".to_owned());
            world.refuse(url, 429, AnswerHeaders { retry_after, ..AnswerHeaders::default() });
        }
        let wanted = Subscribe { address: PAGE.into(), ..Subscribe::default() };
        world.tell(Request::Subscribe(Box::new(wanted)));
        for _ in 0..40 {
            world.wait(1);
        }
        let asked: Vec<String> = world.asked().into_iter().map(str::to_owned).collect();
        (asked, world.notice().to_owned())
    };
    let (all, told) = look(&[]);
    assert!(all.len() > 4, "{all:?}: {told}");
    let (asked, told) = look(&all[1..]);
    assert_eq!(asked, all[..2], "{told}");
    assert!(told.contains("429"), "{told}");
}
