//! A subscription to an archive document is changed to a subscription to the document that the archive names as current (SPEC C.2
//! rule 3). If that is not allowed, the program asks the user and never calls the history complete.

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::feeds::trouble::{self, Concern, Remedy};
use backissue::engine::poll::fetch::AddressSource;
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::{Request, TroubleAnswer};
use backissue::engine::settings::HistoryMode;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use super::{FEED, NOTES, archive, example, serve_orchard, standing, subscribe};
use crate::support::world::{Scripted, World, rss};

/// Returns the address of the subscription document of the feed that `serve_orchard` serves.
fn index() -> String {
    format!("{NOTES}index.atom")
}

/// Imports these addresses and polls all feeds that may be polled.
fn import(world: &mut World, urls: &[&str]) {
    let wanted =
        urls.iter().map(|url| Subscribe { address: (*url).into(), ..Subscribe::default() });
    world.tell(Request::Import(wanted.collect()));
    world.tell(Request::Poll(PollRequest { feeds: None, kind: PollKind::Allowed, archives: true }));
    for _ in 0..4 {
        world.pass(TimeDelta::seconds(2));
    }
    world.rest();
}

fn imported(urls: &[&str]) -> World {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    import(&mut world, urls);
    world
}

fn concerns(world: &World) -> Vec<Concern> {
    trouble::concerns(&world.app.engine, world.now)
}

fn remedies(world: &World) -> Vec<Remedy> {
    concerns(world).iter().map(|concern| concern.remedy).collect()
}

fn times_asked(world: &World, url: &str) -> usize {
    world.asked().iter().filter(|asked| **asked == url).count()
}

/// Returns the archive of January 2026 with the text `link` instead of its link to the current document.
fn january(link: &str) -> String {
    example!("arch-2026-01.xml")
        .replace("<link rel=\"current\" href=\"https://orchard.example/notes/index.atom\"/>", link)
}

#[test]
fn imported_archive_leads_to_its_current_document() {
    let mut world = imported(&[&archive("2026-01")]);
    let feed = world.feed(1);
    assert_eq!(feed.record.url, index());
    assert_eq!(feed.record.former[0].url, archive("2026-01"), "it is remembered");
    assert_eq!((feed.counters.total, feed.counters.unread), (6, 2));
    assert_eq!(standing(&world), "complete history");
    assert_eq!(world.requests[1].url, index());
    let by = AddressSource::Supplied { by: archive("2026-01"), public: true };
    assert_eq!(world.requests[1].address_source, by);
    assert_eq!(times_asked(&world, &archive("2026-01")), 1, "the archive counts as fetched");
    assert_eq!(world.asked().len(), 4, "{:?}", world.asked());
    assert_eq!(remedies(&world), [Remedy::UndoMove], "it is reported and can be undone");
    world.pass(TimeDelta::hours(30));
    world.rest();
    assert_eq!(times_asked(&world, &archive("2026-01")), 1);
    assert_eq!(world.reload().engine.feeds[&FEED].record.url, index(), "also after a restart");
}

#[test]
fn archive_added_without_poll_is_followed_at_first_poll() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    let address = archive("2025-12");
    world.tell(Request::Subscribe(Box::new(Subscribe {
        address,
        unasked: true,
        ..Subscribe::default()
    })));
    assert!(world.asked().is_empty());
    world.poll(FEED);
    world.pass(TimeDelta::seconds(2));
    world.rest();
    assert_eq!(world.feed(1).record.url, index());
    assert_eq!(standing(&world), "complete history");
    assert_eq!(times_asked(&world, &archive("2025-12")), 1);
}

#[test]
fn known_feed_turned_archive_is_followed() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    let known = archive("2026-01");
    let plain = january("").replace("<fh:archive/>", "").replace("prev-archive", "unknown");
    world.serve(&known, &plain);
    import(&mut world, &[&known]);
    assert_eq!(world.feed(1).record.url, known);
    serve_orchard(&mut world);
    world.poll(FEED);
    world.pass(TimeDelta::seconds(2));
    world.rest();
    assert_eq!(world.feed(1).record.url, index());
    assert_eq!(standing(&world), "complete history");
    assert_eq!(world.feed(1).counters.total, 6);
    assert!(!world.draw().contains("may have been missed"), "another address is no overrun");
}

#[test]
fn next_poll_corrects_an_archive_stored_as_complete() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    world.network.remove(&index());
    let tagged = |etag| Scripted {
        status: 200,
        etag,
        body: example!("arch-2026-01.xml").into(),
        ..Scripted::default()
    };
    world.network.insert(archive("2026-01"), tagged(Some("\"1\"")));
    import(&mut world, &[&archive("2026-01")]);
    // Make the feed look as older versions stored it: with the validators of the archive, but not marked as an archive.
    let feed = world.app.engine.feeds.get_mut(&FEED).unwrap();
    assert_eq!(feed.state.validators.etag.as_deref(), Some(&b"\"1\""[..]));
    feed.state.archive = None;
    serve_orchard(&mut world);
    world.network.insert(archive("2026-01"), tagged(Some("\"1\"")));
    world.poll(FEED);
    world.pass(TimeDelta::seconds(2));
    world.rest();
    assert_eq!(world.feed(1).record.url, index());
}

#[test]
fn current_document_with_another_identity_asks_first() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    let other = example!("arch-index.xml").replace("tag:orchard.example,2025:notes", "urn:other");
    world.serve(&index(), &other);
    import(&mut world, &[&archive("2026-01")]);
    assert_eq!(world.feed(1).record.url, archive("2026-01"));
    assert_eq!(remedies(&world), [Remedy::AcceptMove]);
    let sentence = &concerns(&world)[0].sentence;
    assert!(sentence.contains("It is an archive") && sentence.contains(&index()), "{sentence}");
    assert_eq!(standing(&world), "an archive, not the feed itself");
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Trouble(FEED, TroubleAnswer::AcceptMove));
    world.pass(TimeDelta::seconds(2));
    world.rest();
    assert_eq!(world.feed(1).record.url, index());
    assert_eq!(standing(&world), "complete history");
    assert_eq!(world.feed(1).counters.total, 6);
}

#[test]
fn declined_archive_move_stays_and_is_never_complete() {
    let mut world = imported(&[&archive("2026-01")]);
    world.tell(Request::Trouble(FEED, TroubleAnswer::UndoMove));
    assert_eq!(world.feed(1).record.url, archive("2026-01"));
    world.poll(FEED);
    world.pass(TimeDelta::seconds(2));
    world.rest();
    assert_eq!(world.feed(1).record.url, archive("2026-01"), "the reader's choice counts");
    assert_eq!(times_asked(&world, &index()), 1);
    assert_eq!(remedies(&world), []);
    assert_eq!(standing(&world), "an archive, not the feed itself");
}

#[test]
fn archive_without_a_current_document_asks() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    world.serve(&archive("2026-01"), &january(""));
    import(&mut world, &[&archive("2026-01")]);
    assert_eq!(remedies(&world), [Remedy::Retry]);
    let sentence = &concerns(&world)[0].sentence;
    assert!(sentence.contains("does not name its feed"), "{sentence}");
    assert_eq!(standing(&world), "an archive, not the feed itself");
    let screen = world.draw();
    assert!(!screen.contains("complete history"), "{screen}");
}

#[test]
fn unreadable_current_document_asks_until_it_is_read() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    world.refuse(&index(), 404, Default::default());
    import(&mut world, &[&archive("2026-01")]);
    assert_eq!(world.feed(1).record.url, archive("2026-01"));
    let sentence = concerns(&world)[0].sentence.clone();
    assert!(sentence.contains("answered 404"), "{sentence}");
    assert_eq!(standing(&world), "an archive, not the feed itself");
    serve_orchard(&mut world);
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Trouble(FEED, TroubleAnswer::Retry));
    world.pass(TimeDelta::seconds(2));
    world.pass(TimeDelta::seconds(2));
    world.rest();
    assert_eq!(world.feed(1).record.url, index());
    assert_eq!(remedies(&world), [Remedy::UndoMove]);
}

#[test]
fn current_document_that_is_an_archive_is_not_followed() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    world.serve(&index(), &january(""));
    import(&mut world, &[&archive("2026-01")]);
    assert_eq!(world.feed(1).record.url, archive("2026-01"));
    assert!(concerns(&world)[0].sentence.contains("it is an archive itself"));
}

#[test]
fn insecure_current_document_needs_permission() {
    let plain = "http://orchard.example/notes/index.atom";
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    world.serve(plain, example!("arch-index.xml"));
    let link = format!("<link rel=\"current\" href=\"{plain}\"/>");
    world.serve(&archive("2026-01"), &january(&link));
    import(&mut world, &[&archive("2026-01")]);
    assert_eq!(world.feed(1).record.url, archive("2026-01"));
    assert_eq!(times_asked(&world, plain), 0);
    assert_eq!(remedies(&world), [Remedy::AllowInsecure]);
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Trouble(FEED, TroubleAnswer::AllowInsecure));
    world.pass(TimeDelta::seconds(2));
    world.pass(TimeDelta::seconds(2));
    world.rest();
    assert_eq!(world.feed(1).record.url, plain);
}

#[test]
fn archive_of_a_subscribed_feed_asks_to_merge() {
    let mut world = imported(&[&index(), &archive("2026-01")]);
    let urls: Vec<&str> =
        world.app.engine.feeds.values().map(|feed| feed.record.url.as_str()).collect();
    assert_eq!(urls, [index(), archive("2026-01")]);
    assert_eq!(remedies(&world), [Remedy::Merge]);
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Trouble(FeedKey(2), TroubleAnswer::AcceptMove));
    world.rest();
    assert_eq!(world.app.engine.feeds.len(), 1);
    assert_eq!(standing(&world), "complete history");
}

#[test]
fn archive_entries_are_kept_with_history_off() {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    world.app.engine.settings.history.mode = HistoryMode::Off;
    import(&mut world, &[&archive("2026-01")]);
    assert_eq!(world.feed(1).record.url, index());
    assert_eq!(world.asked().len(), 2);
    assert_eq!(world.feed(1).counters.total, 4, "two current entries and two of the archive");
    assert_eq!(standing(&world), "1 archive read so far");
    world.tell(Request::MoreHistory(FEED, None));
    world.rest();
    assert_eq!(standing(&world), "complete history");
    assert_eq!(times_asked(&world, &archive("2026-01")), 1);
}

#[test]
fn newer_document_is_read_at_each_poll_without_a_move() {
    let (old, new) = ("https://mid.example/old.rss", "https://mid.example/rss");
    let with_link = |body: String, link: &str| {
        body.replace("<rss ", "<rss xmlns:a=\"http://www.w3.org/2005/Atom\" ")
            .replace("<description/>", &format!("<description/>{link}"))
    };
    let older = rss("Middle", &[("m2", "Two", 48, ""), ("m1", "One", 72, "")]);
    let newer = rss("Middle", &[("m4", "Four", 1, ""), ("m3", "Three", 24, "")]);
    let older = with_link(older, &format!("<a:link rel=\"current\" href=\"{new}\"/>"));
    let newer = with_link(newer, &format!("<a:link rel=\"prev-archive\" href=\"{old}\"/>"));
    for added in [false, true] {
        let mut world = World::new(120, 36);
        world.serve(old, &older);
        world.serve(new, &newer);
        if added {
            subscribe(&mut world, old);
            for _ in 0..3 {
                world.pass(TimeDelta::seconds(2));
            }
            world.rest();
        } else {
            import(&mut world, &[old]);
        }
        assert_eq!(world.feed(1).record.url, old, "added: {added}");
        assert_eq!(world.feed(1).counters.total, 4, "added: {added}");
        assert_eq!(world.asked(), [old, new], "added: {added}");
        assert_eq!(standing(&world), "complete history", "added: {added}");
        world.poll(FEED);
        world.rest();
        assert_eq!(world.asked(), [old, new, old, new]);
        assert_eq!(world.feed(1).counters.total, 4);
        let newest = rss("Middle", &[("m5", "Five", 0, ""), ("m4", "Four", 1, "")]);
        let link = format!("<a:link rel=\"prev-archive\" href=\"{old}\"/>");
        world.serve(new, &with_link(newest, &link));
        world.pass(TimeDelta::minutes(6));
        world.poll(FEED);
        world.pass(TimeDelta::seconds(2));
        world.rest();
        assert_eq!(
            (world.feed(1).counters.total, standing(&world).as_str()),
            (5, "complete history")
        );
        assert!(!world.draw().contains("may have been missed"));
        assert_eq!(remedies(&world), []);
    }
}

#[test]
fn implied_archive_is_followed_like_a_marked_one() {
    let marks = [("<fh:archive/>", "<fh:archive/><fh:complete/>"), ("<fh:archive/>", "")];
    for (mark, instead) in marks {
        let mut world = World::new(120, 36);
        serve_orchard(&mut world);
        let body =
            january("<link rel=\"current\" href=\"https://orchard.example/notes/index.atom\"/>")
                .replace(mark, instead);
        assert!(body.contains("next-archive"), "{body}");
        world.serve(&archive("2026-01"), &body);
        import(&mut world, &[&archive("2026-01")]);
        assert_eq!(world.feed(1).record.url, index(), "{instead}");
        assert_eq!(world.feed(1).counters.total, 6, "{instead}");
        assert_eq!(standing(&world), "complete history", "{instead}");
        assert_eq!(remedies(&world), [Remedy::UndoMove], "{instead}");
    }
}

/// Returns a page of a paged feed with one entry, and links to other pages by relation and page number.
fn page(links: &[(&str, u32)], entry: u32) -> String {
    let link = |(rel, number): &(&str, u32)| format!("<link rel='{rel}' href='p{number}'/>");
    let links: String = links.iter().map(link).collect();
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom'><id>urn:pages</id><title>Pages</title>{links}\
         <entry><id>e{entry}</id><title>E</title><updated>2026-02-0{entry}T00:00:00Z</updated></entry></feed>"
    )
}

#[test]
fn later_page_mentions_newer_ones_and_offers_the_first() {
    let at = |number: u32| format!("https://orchard.example/p{number}");
    for added in [true, false] {
        let mut world = World::new(120, 36);
        world.serve(&at(1), &page(&[("next", 2)], 3));
        world.serve(&at(2), &page(&[("first", 1), ("previous", 1), ("next", 3)], 2));
        world.serve(&at(3), &page(&[("first", 1), ("previous", 2)], 1));
        if added {
            subscribe(&mut world, &at(3));
            world.rest();
        } else {
            import(&mut world, &[&at(3)]);
        }
        assert_eq!(world.feed(1).record.url, at(3));
        assert_eq!(standing(&world), "may be incomplete: there is a newer document");
        let told = concerns(&world);
        let sentence = "It is a later page; its first page is https://orchard.example/p1, which has the newer entries.";
        assert_eq!((told[0].sentence.as_str(), told[0].remedy), (sentence, Remedy::AcceptMove));
        world.pass(TimeDelta::minutes(6));
        world.tell(Request::Trouble(FEED, TroubleAnswer::AcceptMove));
        world.pass(TimeDelta::seconds(2));
        world.rest();
        let feed = world.feed(1);
        assert_eq!((feed.record.url.clone(), feed.record.former[0].url.clone()), (at(1), at(3)));
        assert_eq!(
            (feed.counters.total, standing(&world).as_str()),
            (2, "paged: may be incomplete")
        );
        world.press("u");
        assert_eq!(world.feed(1).record.url, at(3), "it can be undone");
    }
}
