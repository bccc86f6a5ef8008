//! Archives are walked after polls, their entries are merged as soon as each archive is read, and failed archives are retried.

use backissue::engine::backfill::walk_stage::HistoryAction;
use backissue::engine::feeds::trouble;
use backissue::engine::poll::fetch::{AddressSource, FetchFailure};
use backissue::engine::request::Request;
use backissue::engine::settings::HistoryMode;
use backissue::ui::update::ScreenInput;
use chrono::TimeDelta;

use super::{FEED, NOTES, archive, example, orchard, serve_orchard, standing, subscribe};
use crate::support::world::{Scripted, World, rss};

#[test]
fn archived_feed_is_rebuilt_in_background_as_read() {
    let mut world = orchard();
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    assert_eq!(world.asked().len(), 1, "the archive waits for its pause");
    world.pass(TimeDelta::milliseconds(1900));
    assert_eq!(world.asked().len(), 1);
    world.rest();
    let names = ["2026-02", "2026-01", "2025-12"].map(archive);
    assert_eq!(world.asked()[1..], names.each_ref().map(String::as_str));
    let request = &world.requests[1];
    assert!(request.validators.is_none(), "an archive is requested without validators");
    let by = AddressSource::Supplied { by: format!("{NOTES}index.atom"), public: true };
    assert_eq!(request.address_source, by);
    let titles = [
        "Pruning, second pass",
        "Frost report (corrected)",
        "Grafting wax",
        "Ladders",
        "Wassail",
        "Apples, a list",
    ];
    assert_eq!(world.titles(), titles);
    let counters = world.feed(1).counters;
    assert_eq!((counters.unread, counters.total), (2, 6), "history is not unread");
    assert_eq!(standing(&world), "complete history");
    assert!(world.draw().contains("Orchard Notes ─ complete history"));

    world.pass(TimeDelta::hours(30));
    world.rest();
    let archives = world.asked().iter().filter(|url| url.contains("archive/")).count();
    assert_eq!(archives, 3, "a second check requests no archive");
}

#[test]
fn refused_archive_is_a_row_until_enter_fetches_it() {
    let mut world = orchard();
    world.refuse(&archive("2026-01"), 403, Default::default());
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    assert_eq!(standing(&world), "history complete except 1 gap");
    let screen = world.draw();
    assert!(screen.contains("history complete except 1 gap"), "{screen}");
    let wax = screen.find("Grafting wax").unwrap();
    let gap = screen.find("older entries missing").unwrap();
    assert!(wax < gap, "{screen}");
    assert!(!world.asked().iter().any(|url| url.contains("2025-12")), "that archive is unknown");

    world.press("lG<enter>");
    assert!(world.app.engine.backfills.contains_key(&FEED));
    world.rest();
    assert_eq!(world.notice(), "Orchard Notes: nothing fetched: archive 2026-01.atom answered 403");

    serve_orchard(&mut world);
    world.press("<enter>");
    world.rest();
    assert_eq!(world.notice(), "Orchard Notes: 3 entries recovered");
    assert_eq!(standing(&world), "complete history");
    assert!(!world.draw().contains("missing"));
    assert_eq!(world.titles().len(), 6);
}

#[test]
fn gap_explanation_hides_the_links_of_the_entry() {
    let mut world = orchard();
    world.refuse(&archive("2026-01"), 403, Default::default());
    let linked = "&lt;p>&lt;a href='/five'>Five.&lt;/a>".repeat(12);
    let linked = format!("<summary type='html'>{linked}</summary>");
    let newest = example!("arch-2026-02.xml").replace("<summary>Five.</summary>", &linked);
    world.serve(&archive("2026-02"), &newest);
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    world.app.ui.appearance.hyperlinks = true;
    world.press("lGk<enter>");
    let link = "\u{1b}]8;";
    assert!(world.draw().contains(link), "{}", world.draw());
    let plan_and_prompt = |world: &mut World| {
        world.press("i");
        world.tell(ScreenInput::Pasted("https://tower.example/".into()));
    };
    plan_and_prompt(&mut world);
    assert!(!world.draw().contains(link), "the plan lies over the text");
    world.press("<esc><esc>");
    let long = format!("a message of many words: {}", "more of it, ".repeat(30));
    for rows in 12..16 {
        world.resize(120, rows);
        world.app.ui.complain(world.now, long.clone());
        let screen = world.draw();
        let notice = screen.find("a message of many").unwrap();
        assert!(screen.rfind(link).is_none_or(|place| place < notice), "{screen}");
    }
    world.resize(120, 36);
    world.press("J");
    let screen = world.draw();
    assert!(screen.contains("403") && !screen.contains(link), "{screen}");
    world.press("1");
    assert!(world.opened.is_empty());
    assert!(world.app.ui.reader.is_some(), "it is still there");
    world.press("K");
    assert!(world.draw().contains(link));
}

#[test]
fn temporary_failure_is_retried_only_after_a_good_poll() {
    let mut world = orchard();
    world.refuse(&archive("2026-01"), 500, Default::default());
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    serve_orchard(&mut world);
    world.refuse(&format!("{NOTES}index.atom"), 503, Default::default());
    let before = world.asked().len();
    world.pass(TimeDelta::hours(3));
    world.rest();
    let asked: Vec<&str> = world.asked().split_off(before);
    assert!(asked.iter().all(|url| url.ends_with("index.atom")), "{asked:?}");
    serve_orchard(&mut world);
    world.pass(TimeDelta::hours(26));
    world.rest();
    assert_eq!(standing(&world), "complete history");
}

#[test]
fn history_off_or_ask_does_not_walk_and_says_so() {
    for (mode, text) in [(HistoryMode::Off, "history is off"), (HistoryMode::Ask, "fetches them")] {
        let mut world = orchard();
        world.app.engine.settings.history.mode = mode;
        subscribe(&mut world, &format!("{NOTES}index.atom"));
        world.rest();
        assert_eq!(world.asked().len(), 1);
        let screen = world.draw();
        assert!(screen.contains(text), "{screen}");
        assert_eq!(standing(&world), "no archives read yet");
        world.press("H");
        world.rest();
        assert_eq!(standing(&world), "complete history", "the reader agreed");
    }
}

#[test]
fn gap_is_hidden_and_restored_by_undo() {
    let mut world = orchard();
    world.refuse(&archive("2026-01"), 410, Default::default());
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    world.press("lGD");
    assert!(!world.draw().contains("missing ┄"));
    assert_eq!(standing(&world), "history complete except 1 gap", "it is still missing");
    let hidden = world.reload().engine.feeds[&FEED].history.gaps.values().next().cloned().unwrap();
    assert!(!hidden.is_shown(), "also after a restart");
    world.press("u");
    assert!(world.draw().contains("missing ┄"));
}

#[test]
fn polls_of_a_site_precede_its_archives() {
    let mut world = orchard();
    world.serve("https://orchard.example/other.xml", &rss("Other", &[("x", "X", 1, "")]));
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.tell(Request::Import(vec![backissue::engine::feeds::addition::Subscribe {
        address: "https://orchard.example/other.xml".into(),
        ..Default::default()
    }]));
    world.pass(TimeDelta::seconds(1));
    world.pass(TimeDelta::seconds(2));
    assert!(world.asked()[1].ends_with("other.xml"), "{:?}", world.asked());
    world.rest();
    assert_eq!(world.asked().len(), 5);
}

#[test]
fn adding_an_archive_subscribes_to_its_feed() {
    let mut world = orchard();
    subscribe(&mut world, &archive("2026-01"));
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.feed(1).record.url, format!("{NOTES}index.atom"));
    let by = AddressSource::Supplied { by: archive("2026-01"), public: true };
    assert_eq!(world.requests[1].address_source, by);
    world.rest();
    assert_eq!(standing(&world), "complete history");

    let mut world = orchard();
    world.network.remove(&format!("{NOTES}index.atom"));
    subscribe(&mut world, &archive("2026-01"));
    world.pass(TimeDelta::seconds(2));
    let feed = world.feed(1);
    assert_eq!(feed.record.url, archive("2026-01"), "its feed cannot be read: it stays");
    let hours = (feed.plan.next_poll.unwrap() - world.now).num_hours();
    assert!(hours >= 12, "an archive does not change: {hours} h");
}

#[test]
fn complete_feed_withdraws_missing_entries_undoably() {
    let url = "https://lakes.example/top.atom";
    let complete = example!("complete.xml");
    let entry = |name: &str| {
        format!(
            "<entry><title>{name}</title><id>urn:{name}</id><updated>2026-03-01T06:00:00Z</updated></entry>"
        )
    };
    let before = complete.replace("<entry>", &format!("{}<entry>", entry("Old")));
    let mut world = World::new(120, 36);
    world.serve(url, &before);
    subscribe(&mut world, url);
    assert_eq!(world.titles(), ["Lake Morn", "Old"]);
    world.serve(url, complete);
    world.poll(FEED);
    assert_eq!(world.titles(), ["Lake Morn"]);
    assert!(world.notice().contains("withdrew 1 entry"), "{}", world.notice());
    assert_eq!(world.feed(1).counters.total, 1);
    world.press(":restore-withdrawn<enter>");
    assert_eq!(world.titles(), ["Lake Morn", "Old"]);
    assert_eq!(standing(&world), "complete history");
}

#[test]
fn older_pages_load_one_by_one_on_request() {
    let url = "https://find.example/rss?q=bicycles";
    let mut world = World::new(120, 36);
    world.serve(url, example!("paged-1.xml"));
    world.serve(&format!("{url}&page=2"), example!("paged-2.xml"));
    subscribe(&mut world, url);
    world.pass(TimeDelta::hours(30));
    world.rest();
    assert!(world.asked().iter().all(|asked| *asked == url), "{:?}", world.asked());
    assert_eq!(standing(&world), "paged: may be incomplete");
    assert!(world.draw().contains("older pages may exist"));
    world.press("H");
    world.rest();
    assert_eq!(world.feed(1).counters.total, 2);
    assert_eq!(standing(&world), "paged: may be incomplete", "also after the last page");
    assert!(world.draw().contains("older pages may exist"));
}

#[test]
fn overrun_needs_a_request_without_validators() {
    let url = "https://busy.example/feed";
    let window = |from: i64| {
        let ids: Vec<String> = (from..from + 5).map(|id| format!("e{id}")).collect();
        let entries: Vec<(&str, &str, i64, &str)> = ids
            .iter()
            .zip(from..)
            .map(|(id, hours)| (id.as_str(), id.as_str(), -hours, ""))
            .collect();
        rss("Busy", &entries)
    };
    let mut world = World::new(120, 36);
    let tagged = |body: String, etag| Scripted {
        status: 200,
        etag: Some(etag),
        body,
        ..Scripted::default()
    };
    world.network.insert(url.into(), tagged(window(-50), "\"1\""));
    subscribe(&mut world, url);
    world.network.insert(url.into(), tagged(window(-40), "\"2\""));
    world.poll(FEED);
    let last: Vec<bool> =
        world.requests.iter().map(|request| request.validators.is_some()).collect();
    assert_eq!(last, [false, true, false], "asked once more, without validators");
    assert!(world.draw().contains("entries may have been missed"));
}

#[test]
fn complete_is_shown_only_with_all_fetched_or_refused() {
    for (status, said) in [
        (403, "history complete except 1 gap"),
        (404, "1 archive read so far, 1 gap"),
        (503, "1 archive read so far, 1 gap"),
    ] {
        let mut world = orchard();
        world.refuse(&archive("2026-01"), status, Default::default());
        subscribe(&mut world, &format!("{NOTES}index.atom"));
        world.rest();
        assert_eq!(standing(&world), said);
    }
}

#[test]
fn failing_feed_has_no_archive_to_request() {
    let mut world = orchard();
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    // While polls of the feed fail, its archives are not requested either.
    world.app.engine.feeds.get_mut(&FEED).unwrap().state.facts.failures = 1;
    world.tell(Request::History(FEED, HistoryAction::Continue));
    world.rest();
    assert_eq!(world.notice(), "there is nothing to fetch");
}

#[test]
fn disallowed_archive_is_reported_once() {
    let mut world = orchard();
    let failure = FetchFailure::Blocked("it is an address of this machine".into());
    let blocked = Scripted { fails: Some(failure), ..Scripted::default() };
    world.network.insert(archive("2026-01"), blocked);
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    let gap = world.feed(1).history.gaps.values().next().unwrap();
    let text = gap.text();
    assert!(text.ends_with("was not requested: it is an address of this machine"), "{text}");
    assert!(!text.contains("not requested: not requested"), "{text}");
}

#[test]
fn gap_and_paged_feeds_are_marked_in_the_list() {
    let mark =
        |world: &World| trouble::mark(&world.app.engine, world.feed(1), world.now).to_owned();
    let mut world = orchard();
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    assert_eq!(mark(&world), " ");
    let mut world = orchard();
    world.refuse(&archive("2026-01"), 403, Default::default());
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    assert_eq!(mark(&world), "┄");
    let url = "https://find.example/rss?q=bicycles";
    let mut world = World::new(120, 36);
    world.serve(url, example!("paged-1.xml"));
    subscribe(&mut world, url);
    assert_eq!(mark(&world), "…");
}

#[test]
fn gap_opens_in_the_browser_or_the_internet_archive() {
    let mut world = orchard();
    world.refuse(&archive("2026-01"), 403, Default::default());
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    world.press("lGo");
    assert_eq!(world.opened, [archive("2026-01")]);
    world.press("W");
    let copies = format!("https://web.archive.org/web/*/{}", archive("2026-01"));
    assert_eq!(world.opened[1], copies);
    world.press("l");
    let screen = world.draw();
    assert!(screen.contains("o opens its address in the browser"), "{screen}");
    assert!(screen.contains("The server refuses to send it to backissue"), "{screen}");
}
