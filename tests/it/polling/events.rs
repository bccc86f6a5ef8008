//! Events for programs that follow polls, feed moves, gaps and subscriptions: each event is emitted once, after its change is
//! durable.

use backissue::engine::backfill::walk_stage::HistoryAction;
use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::{Input, Request, TroubleAnswer};
use backissue_core::history::FeedKey;
use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::history::journeys::{NOTES, archive, serve_orchard};
use crate::support::store_port::Kind;
use crate::support::world::{World, rss};

const FEED: FeedKey = FeedKey(1);
const A: &str = "https://a.example/feed";
const B: &str = "https://b.example/feed";

fn document(entries: &[&str]) -> String {
    let entries: Vec<_> = entries.iter().map(|guid| (*guid, *guid, 1, "")).collect();
    rss("Orchard", &entries)
}

fn ask(world: &mut World, request: Request) -> Vec<Value> {
    world.follow(Input::Request(request))
}

/// Polls the feed by hand, performs everything pending, and returns the emitted events.
fn poll(world: &mut World) -> Vec<Value> {
    world.now += TimeDelta::minutes(6);
    let (feeds, kind) = (Some(vec![FEED]), PollKind::Allowed);
    let mut told = ask(world, Request::Poll(PollRequest { feeds, kind, archives: true }));
    for _ in 0..10 {
        world.now += TimeDelta::seconds(2);
        told.extend(world.follow(Input::Tick));
    }
    told
}

fn names(told: &[Value]) -> Vec<&str> {
    told.iter().filter_map(|line| line["event"].as_str()).collect()
}

fn subscribed(address: &str) -> (World, Vec<Value>) {
    let mut world = World::new(100, 30);
    let wanted = Subscribe { address: address.into(), ..Subscribe::default() };
    let told = ask(&mut world, Request::Import(vec![wanted]));
    (world, told)
}

#[test]
fn each_news_failure_and_recovery_is_emitted_once() {
    let (mut world, told) = subscribed(A);
    assert_eq!(names(&told), ["subscribed"]);
    assert_eq!((&told[0]["feed"], &told[0]["url"]), (&json!(1), &json!(A)));
    world.serve(A, &document(&["one", "two"]));
    let told = poll(&mut world);
    assert_eq!(names(&told), ["new_entries"]);
    assert_eq!((&told[0]["new"], &told[0]["title"]), (&json!(2), &json!("Orchard")));
    world.refuse(A, 500, Default::default());
    let failed = poll(&mut world);
    assert_eq!(names(&failed), ["poll_failed"]);
    assert!(failed[0]["reason"].as_str().unwrap().contains("500"), "{failed:?}");
    let since = failed[0]["failing_since"].clone();
    assert_eq!(poll(&mut world)[0]["failing_since"], since, "since the first failure");
    world.serve(A, &document(&["one", "two"]));
    let told = poll(&mut world);
    assert_eq!(names(&told), ["polled", "recovered"]);
    assert_eq!(told[1]["failing_since"], since);
    assert_eq!(names(&ask(&mut world, Request::Unsubscribe(FEED))), ["unsubscribed"]);
    assert_eq!(names(&ask(&mut world, Request::Undo)), ["subscribed"]);
}

#[test]
fn move_events_are_emitted_when_followed_or_asked() {
    let (mut world, _) = subscribed(A);
    world.serve(A, &document(&["one"]));
    poll(&mut world);
    world.lead(A, 301, B);
    world.serve(B, &document(&["one"]));
    let told = poll(&mut world);
    assert_eq!(names(&told), ["polled", "moved"]);
    assert_eq!((&told[1]["from"], &told[1]["to"]), (&json!(A), &json!(B)));
    let c = "https://c.example/feed";
    world.lead(B, 301, c);
    world.serve(c, &document(&["another"]));
    let told = poll(&mut world);
    assert_eq!(names(&told), ["poll_failed", "move_proposed"]);
    assert_eq!((&told[1]["from"], &told[1]["to"]), (&json!(B), &json!(c)));
    let told = ask(&mut world, Request::Trouble(FEED, TroubleAnswer::AcceptMove));
    assert_eq!(names(&told), ["moved"]);
    assert_eq!(names(&ask(&mut world, Request::Undo)), ["moved"]);
}

#[test]
fn gap_and_walk_end_events_are_emitted() {
    let (mut world, _) = subscribed(&format!("{NOTES}index.atom"));
    serve_orchard(&mut world);
    world.refuse(&archive("2026-01"), 404, Default::default());
    let told = poll(&mut world);
    let told: Vec<Value> = told.into_iter().filter(|line| line["event"] != "new_entries").collect();
    assert_eq!(names(&told), ["gap_opened", "walk_ended"]);
    assert_eq!(told[0]["missing"], json!(archive("2026-01")));
    assert!(told[0]["text"].as_str().unwrap().contains("404"), "{told:?}");
    assert_eq!(told[1]["archives"], json!(1));
    let opened = told[0]["gap"].clone();
    // The restarted program loads the open gap from the store, so it emits no second `gap_opened`.
    world.app = world.reload();
    world.serve(&archive("2026-01"), include_str!("../fixtures/spec/arch-2026-01.xml"));
    let mut told = ask(&mut world, Request::History(FEED, HistoryAction::Retry));
    told.extend(poll(&mut world));
    let told: Vec<Value> = told.into_iter().filter(|line| line["event"] != "polled").collect();
    assert_eq!(names(&told), ["gap_closed", "walk_ended"]);
    assert_eq!((&told[0]["gap"], &told[1]["archives"]), (&opened, &json!(2)));
}

#[test]
fn failed_writes_emit_no_success_event() {
    let (mut world, _) = subscribed(A);
    world.failing.push(Kind::WritesRecords);
    let told = ask(&mut world, Request::Unsubscribe(FEED));
    assert_eq!(names(&told), ["trouble"]);
    let (mut world, _) = subscribed(A);
    world.serve(A, &document(&["one"]));
    world.failing.push(Kind::WritesPoll);
    let told = poll(&mut world);
    assert_eq!(names(&told)[..2], ["poll_failed", "trouble"]);
}
