//! Copies of a feed's history that another reader published: only their entries count.

use backissue::engine::poll::fetch::{AddressSource, AnswerHeaders};
use backissue::engine::request::Request;
use backissue_core::history::Gap;
use chrono::TimeDelta;

use super::{FEED, NOTES, archive, orchard, serve_orchard, standing, subscribe};
use crate::support::world::World;

const COPY: &str = "https://copy.example/orchard/feed.atom";
const OLDER: &str = "https://copy.example/orchard/2026-01.atom";

/// Returns a document of a copy: what its head section states, and its entries with title, link and time of the last change.
fn copied(head: &str, entries: &[(&str, &str, &str, &str)]) -> String {
    let entry = |&(id, title, link, updated): &(&str, &str, &str, &str)| {
        format!(
            "<entry><title>{title}</title><id>tag:orchard.example,2025:{id}</id><updated>{updated}</updated>\
             <link href='{NOTES}{link}'/><summary>copied</summary></entry>"
        )
    };
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0' \
         xmlns:at='http://purl.org/atompub/tombstones/1.0' xmlns:sched='tag:backissue.example,2026:schedule'>\
         <id>tag:orchard.example,2025:notes</id><title>Orchard</title>{head}{}</feed>",
        entries.iter().map(entry).collect::<String>()
    )
}

const N4: (&str, &str, &str, &str) = ("n4", "Frost, forged", "n4", "2026-02-28T10:00:00Z");
const N3: (&str, &str, &str, &str) = ("n3", "Ladders, copied", "n3", "2026-01-15T08:00:00Z");
const N2: (&str, &str, &str, &str) = ("n2", "Wassail, copied", "n2", "2026-01-06T08:00:00Z");
const N1: (&str, &str, &str, &str) = ("n1", "Apples, copied", "n1", "2025-12-20T08:00:00Z");

/// Returns a world subscribed to the feed of SPEC H.4, one archive of which is refused, and so are those behind it.
fn broken() -> World {
    let mut world = orchard();
    world.refuse(&archive("2026-01"), 410, AnswerHeaders::default());
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    assert_eq!(standing(&world), "history complete except 1 gap");
    world
}

fn serve_copy(world: &mut World) {
    world.serve(COPY, &copied("<link rel='prev-archive' href='2026-01.atom'/>", &[N4, N3]));
    world.serve(OLDER, &copied("<fh:archive/>", &[N2, N1]));
}

fn read(world: &mut World) {
    world.tell(Request::ReadCopy(FEED, COPY.to_owned()));
    world.rest();
}

fn gaps(world: &World) -> Vec<String> {
    world.feed(1).history.gaps.values().map(Gap::text).collect()
}

#[test]
fn copy_is_typed_read_and_forgotten() {
    let mut world = broken();
    serve_copy(&mut world);
    let (missing, before) = (gaps(&world), world.titles().len());
    world.press("l:archives<enter>");
    assert!(world.draw().contains("another reader's copy"), "{}", world.draw());
    world.press("<enter>");
    world.press(&format!("{COPY}<enter>"));
    world.rest();
    let told = "Orchard Notes: 3 older entries from copy.example's copy, back to 2025-12-20";
    assert!(world.notice().starts_with(told), "{}", world.notice());
    let request = world.requests.iter().find(|request| request.url == OLDER).unwrap();
    assert_eq!(request.address_source, AddressSource::Supplied { by: COPY.into(), public: true });
    let titles = ["Ladders, copied", "Wassail, copied", "Apples, copied"];
    assert_eq!(world.titles()[before..], titles);
    assert!(world.titles().contains(&"Frost report (corrected)"), "{:?}", world.titles());
    assert_eq!((gaps(&world), standing(&world)), (missing, "history complete except 1 gap".into()));
    assert_eq!(world.feed(1).counters.unread, 2, "history is not unread");
    world.restart();
    world.press("l:archives<enter>");
    let screen = world.draw();
    assert!(
        screen.contains("copy.example's copy") && screen.contains("3 entries here"),
        "{screen}"
    );
    world.press("D<esc>");
    world.rest();
    assert_eq!(world.feed(1).counters.total, 3, "{:?}", world.notice());
    world.press("u");
    world.rest();
    assert_eq!(world.feed(1).counters.total, 6);
}

#[test]
fn archives_that_return_replace_a_copy_and_only_they_prove() {
    let mut world = broken();
    serve_copy(&mut world);
    read(&mut world);
    assert_eq!(world.feed(1).counters.total, 6);
    serve_orchard(&mut world);
    world.press("lH");
    world.rest();
    let titles = ["Grafting wax", "Ladders", "Wassail", "Apples, a list"];
    assert_eq!(world.titles()[2..], titles);
    assert_eq!((gaps(&world).len(), standing(&world)), (0, "complete history".into()));
    world.tell(Request::ForgetCopy(FEED, "copy.example".into()));
    world.rest();
    assert_eq!(world.feed(1).counters.total, 6, "all of it is the publisher's now");
}

#[test]
fn copy_that_lies_changes_nothing() {
    let other = "https://other.example/feed.atom";
    let deleted =
        "<at:deleted-entry ref='tag:orchard.example,2025:n6' when='2026-03-02T00:00:00Z'/>";
    let moved = format!("<link rel='current' href='{other}'/><link rel='self' href='{other}'/>");
    let elsewhere = format!("<link rel='prev-archive' href='{other}'/>");
    let next =
        format!("<link rel='next-archive' href='{other}'/><link rel='next' href='{other}'/>");
    let hints = "<sched:interval>1</sched:interval><link rel='hub' href='https://other.example/'/>";
    let loops = format!("<fh:archive/><link rel='prev-archive' href='{COPY}'/>");
    let forged_link = ("n4", "Elsewhere", "x", "2026-12-01T00:00:00Z");
    let same_link = ("made-up", "Frost report (corrected)", "n4", "2026-02-27T10:00:00Z");
    for (head, entries, added) in [
        (deleted, vec![N4, N3], 1),
        ("<fh:complete/>", vec![N3], 1),
        (&moved, vec![N4, N3], 1),
        (&elsewhere, vec![N4, N3], 1),
        (&next, vec![N4, N3], 1),
        (hints, vec![N4], 0),
        (&loops, vec![N3, N3], 1),
        ("", vec![forged_link], 0),
        ("", vec![same_link], 0),
        ("<fh:complete/>", vec![], 0),
    ] {
        let mut world = broken();
        let before = world.feed(1).clone();
        let titles = world.titles().join(", ");
        world.serve(COPY, &copied(head, &entries));
        world.serve(other, &copied("", &[("x", "Forged", "x", "2026-03-02T00:00:00Z")]));
        read(&mut world);
        let after = world.feed(1);
        let mut history = (*after.history).clone();
        let missing = history.copies.pop().unwrap().record.gaps.len();
        assert_eq!(history, *before.history, "{head}");
        assert_eq!((&after.record, &after.plan), (&before.record, &before.plan), "{head}");
        assert_eq!(after.counters.total, before.counters.total + added, "{head}");
        assert_eq!(after.counters.unread, before.counters.unread, "{head}");
        let kept: Vec<&str> =
            world.titles().into_iter().filter(|it| !it.contains("copied")).collect();
        assert_eq!(kept.join(", "), titles, "{head}");
        assert!(!world.asked().contains(&other), "{head}");
        assert_eq!(missing > 0, head == elsewhere, "{head}");
    }
}

#[test]
fn entry_that_a_copy_knew_first_is_the_publishers_and_unread() {
    let mut world = broken();
    let n7 = ("n7", "Forged", "n7", "2026-03-01T07:00:00Z");
    let n8 = ("other", "Blossom", "n8", "2026-03-01T07:00:00Z");
    world.serve(COPY, &copied("", &[n7, n8]));
    read(&mut world);
    assert_eq!((world.feed(1).counters.total, world.feed(1).counters.unread), (5, 2));
    let newest = [
        ("n7", "Pears", "n7", "2026-03-03T08:00:00Z"),
        ("n8", "Blossom", "n8", "2026-03-03T08:00:00Z"),
    ];
    let head = format!("<link rel='prev-archive' href='{}'/>", archive("2026-02"));
    let n6 = ("n6", "Pruning, second pass", "n6", "2026-03-01T08:00:00Z");
    world.serve(&format!("{NOTES}index.atom"), &copied(&head, &[newest[0], newest[1], n6]));
    world.pass(TimeDelta::hours(3));
    world.poll(FEED);
    world.rest();
    let counters = world.feed(1).counters;
    assert_eq!((counters.total, counters.unread), (6, 4), "{:?}", world.titles());
    assert!(world.titles().contains(&"Pears"), "{:?}", world.titles());
    world.tell(Request::ForgetCopy(FEED, COPY.into()));
    world.rest();
    let left = world.feed(1).counters;
    assert_eq!((left.total, left.unread), (5, 4), "only the made-up entry goes");
}

#[test]
fn only_a_copy_of_the_same_feed_is_read() {
    let other = |head: &str| {
        copied(head, &[("x1", "Of another feed", "x1", "2026-01-01T00:00:00Z")])
            .replace("<id>tag:orchard.example,2025:notes</id>", "<id>tag:x</id>")
    };
    let via = format!("<link rel='via' href='{NOTES}index.atom'/>");
    for (text, total) in [(other(""), 3), (other(&via), 4)] {
        let mut world = broken();
        world.serve(COPY, &text);
        read(&mut world);
        assert_eq!(world.feed(1).counters.total, total, "{}", world.notice());
    }
    for url in [
        "ftp://a.example/f",
        "copy.example",
        "https://me@copy.example/f",
        "https://copy.example/f?x=1",
    ] {
        let mut world = broken();
        let asked = world.asked().len();
        world.tell(Request::ReadCopy(FEED, url.to_owned()));
        world.rest();
        assert_eq!((world.asked().len(), world.feed(1).history.copies.len()), (asked, 0), "{url}");
    }
}

#[test]
fn copy_of_a_feed_that_is_gone_is_read_within_the_limits() {
    let mut world = World::new(120, 36);
    let blog = "https://gone.example/feed";
    world.serve(blog, &copied("", &[N4]));
    subscribe(&mut world, blog);
    world.rest();
    world.refuse(blog, 410, AnswerHeaders::default());
    world.pass(TimeDelta::hours(30));
    world.rest();
    for number in 0..30 {
        let name = |number: u32| format!("https://copy.example/{number}.atom");
        let (id, day) =
            (format!("c{number}"), format!("20{:02}-01-01T00:00:00Z", 25 - number % 25));
        let head = format!("<fh:archive/><link rel='prev-archive' href='{}'/>", name(number + 1));
        let head = if number == 29 { String::new() } else { head };
        let first = if number == 0 { N4 } else { (&*id, "Old", &*id, &*day) };
        world.serve(&name(number), &copied(&head, &[first]));
    }
    world.tell(Request::ReadCopy(FEED, "https://copy.example/0.atom".to_owned()));
    world.rest();
    let read = |world: &World| world.asked().iter().filter(|url| url.contains("copy.")).count();
    assert_eq!((read(&world), world.feed(1).counters.total), (20, 20));
    assert!(world.notice().contains("; there is more"), "{}", world.notice());
    world.restart();
    world.tell(Request::ReadCopy(FEED, "https://copy.example/0.atom".to_owned()));
    world.rest();
    assert_eq!((read(&world), world.feed(1).counters.total), (30, 30));
}
