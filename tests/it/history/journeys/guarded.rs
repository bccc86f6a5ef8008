//! Archive walks that the user stops, and hostile chains of archives.

use backissue::engine::poll::fetch::{AddressSource, FetchFailure};
use backissue_core::history::{GapKind, Limit, Reason};
use chrono::TimeDelta;

use super::{FEED, NOTES, serve_orchard, subscribe};
use crate::support::world::{Scripted, World};

const TRAP: &str = "https://trap.example/feed.atom";

fn document(id: &str, links: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
         <title>Trap</title><id>urn:trap</id><updated>2026-01-01T00:00:00Z</updated>{links}\
         <entry><id>urn:{id}</id><title>{id}</title><updated>2025-01-01T00:00:00Z</updated></entry></feed>"
    )
}

fn reasons(world: &World) -> Vec<Reason> {
    world.feed(1).history.gaps.values().map(|gap| gap.reason.clone()).collect()
}

#[test]
fn one_key_stops_and_continues_a_walk() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.pass(TimeDelta::seconds(2));
    assert!(world.app.engine.backfills.contains_key(&FEED), "one archive came, the next one waits");
    world.press("lH");
    assert!(world.app.engine.backfills.is_empty());
    assert!(world.notice().contains("stopped"), "{}", world.notice());
    assert_eq!(reasons(&world), [Reason::Limit { limit: Limit::Stopped, fetched: 1 }]);
    let screen = world.draw();
    assert!(screen.contains("1 fetched; stopped"), "{screen}");
    let asked = world.asked().len();
    world.restart();
    world.pass(TimeDelta::hours(30));
    world.rest();
    let archives = world.asked()[asked..].iter().filter(|url| url.contains("archive/")).count();
    assert_eq!(archives, 0, "nothing is requested automatically, even after a restart and a poll");
    world.press("lH");
    world.rest();
    assert_eq!(world.feed(1).history.status().text(), "complete history");
    let fetched = world.asked().iter().filter(|url| url.contains("archive/")).count();
    assert_eq!(fetched, 3, "none twice");
}

#[test]
fn endless_chain_stops_at_the_caps_of_one_run() {
    let mut world = World::new(120, 36);
    world.serve(TRAP, &document("now", "<link rel='prev-archive' href='?page=1'/>"));
    for page in 1..=400 {
        let older = format!("<fh:archive/><link rel='prev-archive' href='?page={}'/>", page + 1);
        world.serve(&format!("{TRAP}?page={page}"), &document(&format!("p{page}"), &older));
    }
    subscribe(&mut world, TRAP);
    world.rest();
    let pages = |world: &World| world.asked().iter().filter(|url| url.contains("?page=")).count();
    assert_eq!(pages(&world), 20);
    assert_eq!(reasons(&world), [Reason::Limit { limit: Limit::Documents, fetched: 20 }]);
    for _ in 0..3 {
        world.poll(FEED);
        world.rest();
    }
    assert_eq!(pages(&world), 20, "a poll does not continue the walk");
    for _ in 0..15 {
        world.press("lGH");
        world.rest();
    }
    assert_eq!(pages(&world), 200, "even with constant consent the walk stops for the day");
}

#[test]
fn endless_chain_without_news_stops_after_three() {
    let mut world = World::new(120, 36);
    world.serve(TRAP, &document("same", "<link rel='prev-archive' href='?page=1'/>"));
    for page in 1..=9 {
        let older = format!("<fh:archive/><link rel='prev-archive' href='?page={}'/>", page + 1);
        world.serve(&format!("{TRAP}?page={page}"), &document("same", &older));
    }
    subscribe(&mut world, TRAP);
    world.rest();
    assert_eq!(world.asked().len(), 4);
    assert_eq!(reasons(&world), [Reason::Limit { limit: Limit::NothingNew, fetched: 3 }]);
}

#[test]
fn public_page_cannot_lead_to_local_addresses() {
    let near = "https://127.0.0.1/admin";
    let mut world = World::new(120, 36);
    world.serve(TRAP, &document("now", &format!("<link rel='prev-archive' href='{near}'/>")));
    let blocked = FetchFailure::Blocked("127.0.0.1 is this machine".into());
    world.network.insert(near.into(), Scripted { fails: Some(blocked), ..Scripted::default() });
    subscribe(&mut world, TRAP);
    world.rest();
    let request = world.requests.iter().find(|request| request.url == near).unwrap();
    let by = AddressSource::Supplied { by: TRAP.into(), public: true };
    assert_eq!(
        request.address_source, by,
        "the client knows the source of the address and refuses"
    );
    let gap = world.feed(1).history.gaps.values().next().unwrap().clone();
    assert_eq!((gap.kind(), gap.retry_at), (GapKind::Unavailable, None));
    world.pass(TimeDelta::days(9));
    world.rest();
    assert_eq!(world.requests.iter().filter(|request| request.url == near).count(), 1);
    let screen = world.draw();
    assert!(screen.contains("older entries missing") && screen.contains("admin"), "{screen}");
}
