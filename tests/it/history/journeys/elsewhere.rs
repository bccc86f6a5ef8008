//! Histories that the publisher does not offer: numbered pages, and copies in the Internet Archive.

use backissue::engine::backfill::walk_stage::HistoryAction;
use backissue::engine::poll::fetch::{AddressSource, AnswerHeaders};
use backissue::engine::request::Request;
use backissue_core::history::{Adaptor, FeedKey, Gap};
use chrono::TimeDelta;

use super::{FEED, subscribe};
use crate::support::world::{World, rss, start};

const BLOG: &str = "https://blog.example/feed";
const ROBOTS: &str = "https://blog.example/robots.txt";
const ARCHIVE: &str = "https://web.archive.org";
/// Number of hours in a year.
const YEAR: i64 = 365 * 24;

/// Returns a world subscribed to the blog, whose feed contains its newest two entries.
fn blog() -> World {
    let mut world = World::new(120, 36);
    world.serve(BLOG, &rss("Blog", &[("b9", "Nine", 1, "now"), ("b8", "Eight", 2, "now")]));
    world.refuse(ROBOTS, 404, AnswerHeaders::default());
    subscribe(&mut world, BLOG);
    world.rest();
    world
}

/// Returns the addresses that were requested, without the feed and the robots.txt of its site.
fn asked(world: &World) -> Vec<&str> {
    world.asked().into_iter().filter(|url| ![BLOG, ROBOTS].contains(url)).collect()
}

fn choose(world: &mut World, adaptor: Option<Adaptor>) {
    let mut chosen = world.feed(1).record.chosen();
    chosen.feed_settings.archives = adaptor;
    world.tell(Request::Set(FEED, Box::new(chosen)));
}

/// Polls the feed and waits until the program has nothing more to request.
fn check(world: &mut World) {
    world.poll(FEED);
    world.rest();
}

fn page(number: u32) -> String {
    format!("{BLOG}?paged={number}")
}

/// Serves pages 2 to 4 of the blog; page 5 does not exist.
fn serve_pages(world: &mut World) {
    for number in 2..=4_u32 {
        let age = i64::from(number) * 1000;
        let entries = [
            (&*format!("p{number}a"), "A", age, "text"),
            (&*format!("p{number}b"), "B", age + 1, "text"),
        ];
        world.serve(&page(number), &rss("Blog", &entries));
    }
    world.refuse(&page(5), 404, AnswerHeaders::default());
}

fn taken(year: i64) -> String {
    format!("{year}0101000000")
}

fn copy(year: i64) -> String {
    format!("{ARCHIVE}/web/{}id_/{BLOG}", taken(year))
}

fn listing() -> String {
    format!(
        "{ARCHIVE}/cdx/search/cdx?url=https%3A%2F%2Fblog.example%2Ffeed&output=json&fl=timestamp%2Cdigest\
         &filter=statuscode%3A200&collapse=digest&limit=2000"
    )
}

/// Serves the Internet Archive's copies of the blog from 2021 to 2024. Each copy has an entry of its year, the last entry of the
/// year before, and an old text of entry `b8`. The copy of 2023 is listed twice.
fn serve_copies(world: &mut World) {
    let mut rows = vec![r#"["timestamp","digest"]"#.to_owned()];
    for year in 2021..=2024_i64 {
        rows.push(format!("[\"{}\",\"D{year}\"]", taken(year)));
        let age = (2026 - year) * YEAR;
        let entries = [
            (&*format!("y{year}"), "Own", age, "text"),
            (&*format!("y{}", year - 1), "Before", age + YEAR, "text"),
            ("b8", "Eight, as it was", age, "an old text"),
        ];
        world.serve(&copy(year), &rss("Blog", &entries));
    }
    rows.push(r#"["20230601000000","D2023"]"#.to_owned());
    world.serve(&listing(), &format!("[{}]", rows.join(",")));
}

fn standing(world: &World) -> String {
    world.feed(1).history.status().text()
}

fn gaps(world: &World) -> Vec<String> {
    world.feed(1).history.gaps.values().map(Gap::text).collect()
}

#[test]
fn nothing_is_fetched_elsewhere_without_consent() {
    let mut world = blog();
    serve_pages(&mut world);
    serve_copies(&mut world);
    check(&mut world);
    assert!(world.asked().iter().all(|url| *url == BLOG), "{:?}", world.asked());
    assert_eq!(standing(&world), "this feed offers no older entries");
    choose(&mut world, Some(Adaptor::WordPress));
    choose(&mut world, None);
    check(&mut world);
    assert!(world.asked().iter().all(|url| *url == BLOG), "{:?}", world.asked());
    assert_eq!(standing(&world), "this feed offers no older entries");
}

#[test]
fn numbered_pages_are_read_to_the_last() {
    let mut world = blog();
    serve_pages(&mut world);
    choose(&mut world, Some(Adaptor::WordPress));
    check(&mut world);
    let pages: Vec<String> = (2..=5).map(page).collect();
    assert_eq!(asked(&world), pages);
    assert_eq!(world.asked().iter().filter(|url| **url == ROBOTS).count(), 1);
    let counters = world.feed(1).counters;
    assert_eq!((counters.total, counters.unread), (8, 2), "history is not unread");
    assert_eq!(gaps(&world), [""; 0]);
    let told = "history from numbered pages (not offered by this feed): may be incomplete";
    assert_eq!(standing(&world), told);
    assert!(world.draw().contains("from numbered pages"), "{}", world.draw());
    check(&mut world);
    check(&mut world);
    assert_eq!(asked(&world).len(), 4, "no page is requested twice, not even the missing one");
}

#[test]
fn repeated_or_empty_pages_end_the_walk_without_a_gap() {
    let first = rss("Blog", &[("b9", "Nine", 1, "now"), ("b8", "Eight", 2, "now")]);
    let empty = rss("Blog", &[]);
    let other = rss("Blog", &[("p2", "Two", 900, "text")]);
    for (two, three, total, requests) in [
        (&first, &first, 2, 1),
        (&empty, &first, 2, 1),
        (&other, &other, 3, 2),
        (&other, &empty, 3, 2),
    ] {
        let mut world = blog();
        world.serve(&page(2), two);
        world.serve(&page(3), three);
        choose(&mut world, Some(Adaptor::WordPress));
        check(&mut world);
        assert_eq!(gaps(&world), [""; 0]);
        assert_eq!(world.feed(1).counters.total, total);
        assert_eq!(asked(&world).len(), requests);
    }
}

#[test]
fn other_sources_are_listed_and_read_only_when_chosen() {
    let mut world = blog();
    world.serve(BLOG, &format!("{}<!-- -->", by_wordpress()));
    check(&mut world);
    serve_pages(&mut world);
    assert!(world.draw().contains("older entries at WordPress' pages: H"), "{}", world.draw());
    world.press("lH");
    world.rest();
    let screen = world.draw();
    for line in [
        "WordPress' pages at blog.example",
        "robots.txt, then one request for each older page",
        "the Internet Archive at web.archive.org",
    ] {
        assert!(screen.contains(line), "{screen}");
    }
    assert_eq!((asked(&world).len(), world.asked().contains(&ROBOTS)), (0, false));
    world.press("<enter>");
    world.rest();
    assert_eq!((world.feed(1).counters.total, asked(&world).len()), (8, 4));
    let told = "Blog: 6 older entries from WordPress' pages, back to ";
    assert!(world.draw().contains(told), "{}", world.draw());
    let before = world.asked().len();
    world.press("u");
    world.rest();
    assert_eq!(world.feed(1).counters.total, 2);
    world.restart();
    world.press("lH");
    world.rest();
    assert_eq!((world.feed(1).counters.total, world.asked().len()), (8, before));
}

fn by_wordpress() -> String {
    let generator = "<generator>https://wordpress.org/?v=6.5</generator><item>";
    let feed = rss("Blog", &[("b9", "Nine", 1, "now"), ("b8", "Eight", 2, "now")]);
    feed.replacen("<item>", generator, 1)
}

#[test]
fn hidden_entries_of_pages_stay_if_the_publisher_lists_them() {
    let mut world = blog();
    serve_pages(&mut world);
    world.tell(Request::ReadElsewhere(FEED, Adaptor::WordPress));
    world.rest();
    let listed = [("b9", "Nine", 1, "now"), ("p2a", "A", 2000, "text")];
    world.serve(BLOG, &rss("Blog", &listed));
    check(&mut world);
    world.tell(Request::Undo);
    world.rest();
    assert_eq!(world.feed(1).counters.total, 3, "b9, b8 and p2a");
}

#[test]
fn robots_txt_decides_whether_pages_are_requested() {
    let rules = "User-agent: backissue\nDisallow: /*paged=3\n";
    for (status, text, requests, why) in [
        (200, rules, 1, "the robots.txt of the site does not permit it"),
        (200, "User-agent: *\nDisallow: /feed", 0, "does not permit it"),
        (503, "", 0, "its robots.txt is needed first, and it answered 503"),
        (403, "", 4, ""),
    ] {
        let mut world = blog();
        serve_pages(&mut world);
        world.serve(ROBOTS, text);
        if status != 200 {
            world.refuse(ROBOTS, status, AnswerHeaders::default());
        }
        choose(&mut world, Some(Adaptor::WordPress));
        check(&mut world);
        let gap = gaps(&world).join("");
        assert!(gap.ends_with(why) && gap.is_empty() == why.is_empty(), "{gap}");
        assert_eq!(asked(&world).len(), requests, "{text}");
        // An answer counts for a day; a failure is retried, as with archives.
        world.refuse(ROBOTS, 404, AnswerHeaders::default());
        for (hours, is_known) in [(2, status != 200), (23, true)] {
            world.pass(TimeDelta::hours(hours));
            world.rest();
            world.tell(Request::History(FEED, HistoryAction::Retry));
            world.rest();
            assert_eq!(gaps(&world).is_empty(), is_known, "{text}");
        }
        assert_eq!((gaps(&world).len(), world.feed(1).counters.total), (0, 8), "{text}");
    }
}

#[test]
fn address_with_a_login_or_a_query_is_not_told_to_others() {
    for url in ["https://blog.example/feed?key=1", "https://me:secret@blog.example/feed"] {
        let mut world = World::new(120, 36);
        world.serve(url, &rss("Blog", &[("b9", "Nine", 1, "now")]));
        world.serve("https://blog.example/feed", &rss("Blog", &[("b9", "Nine", 1, "now")]));
        subscribe(&mut world, url);
        world.rest();
        world.tell(Request::ReadElsewhere(FEED, Adaptor::InternetArchive));
        check(&mut world);
        choose(&mut world, Some(Adaptor::InternetArchive));
        check(&mut world);
        let told = world.asked().into_iter().filter(|url| url.starts_with(ARCHIVE)).count();
        assert_eq!(told, 0, "{url}");
        world.press("lH");
        assert!(!world.draw().contains("web.archive.org"), "{}", world.draw());
    }
}

#[test]
fn copies_of_a_feed_that_is_gone_are_read() {
    let mut world = blog();
    serve_copies(&mut world);
    world.refuse(BLOG, 404, AnswerHeaders::default());
    check(&mut world);
    world.press("lH");
    world.rest();
    assert!(world.draw().contains("the Internet Archive at web.archive.org"), "{}", world.draw());
    world.press("<enter>");
    world.rest();
    assert_eq!(world.feed(1).counters.total, 7);
    let told = "Blog: 5 older entries from the Internet Archive, back to 2020";
    assert!(world.draw().contains(told), "{}", world.draw());
}

#[test]
fn failed_page_is_a_gap_and_is_retried() {
    let mut world = blog();
    serve_pages(&mut world);
    world.refuse(&page(3), 503, AnswerHeaders::default());
    choose(&mut world, Some(Adaptor::WordPress));
    check(&mut world);
    let [gap] = <[String; 1]>::try_from(gaps(&world)).unwrap();
    assert!(gap.ends_with("page 3 at blog.example answered 503"), "{gap}");
    assert!(standing(&world).ends_with("may be incomplete, 1 gap"));
    serve_pages(&mut world);
    world.pass(TimeDelta::hours(2));
    check(&mut world);
    assert_eq!((gaps(&world).len(), world.feed(1).counters.total), (0, 8));
}

#[test]
fn pages_respect_caps_and_are_not_refetched_after_a_kill() {
    let mut world = blog();
    for number in 2..=40_u32 {
        let entry = (&*format!("p{number}"), "A", i64::from(number) * 100, "text");
        world.serve(&page(number), &rss("Blog", &[entry]));
    }
    world.refuse(&page(41), 404, AnswerHeaders::default());
    choose(&mut world, Some(Adaptor::WordPress));
    world.poll(FEED);
    for _ in 0..3 {
        world.pass(TimeDelta::seconds(2));
        world.restart();
        world.poll(FEED);
    }
    world.rest();
    assert!(gaps(&world)[0].contains("Continue?"), "{:?}", gaps(&world));
    world.press("lH");
    world.rest();
    world.press("H");
    world.rest();
    let mut asked = asked(&world);
    asked.sort_unstable();
    let all = asked.len();
    asked.dedup();
    assert_eq!((asked.len(), all), (40, 40), "{:?}", gaps(&world));
    assert_eq!(world.feed(1).counters.total, 41);
}

#[test]
fn copies_are_listed_once_and_read_oldest_first() {
    let mut world = blog();
    serve_copies(&mut world);
    choose(&mut world, Some(Adaptor::InternetArchive));
    check(&mut world);
    let expected: Vec<String> = std::iter::once(listing()).chain((2021..=2024).map(copy)).collect();
    let asked = asked(&world);
    assert_eq!(asked, expected);
    let request = world.requests.iter().find(|request| request.url == listing()).unwrap();
    let by = AddressSource::Supplied { by: format!("{ARCHIVE}/"), public: true };
    assert_eq!(request.address_source, by);
    // One entry for each of five years, plus the two entries of the publisher's document.
    let counters = world.feed(1).counters;
    assert_eq!((counters.total, counters.unread), (7, 2));
    assert!(world.titles().contains(&"Eight"), "the publisher's copy stays: {:?}", world.titles());
    let told = "history from the Internet Archive (not by the publisher): may be incomplete";
    assert_eq!(standing(&world), told);
    world.press("lG<enter>");
    let screen = world.draw();
    assert!(screen.contains("(not by the publisher)"), "{screen}");
    check(&mut world);
    assert_eq!(world.asked().iter().filter(|url| **url != BLOG).count(), 5);
}

#[test]
fn missing_copy_is_a_gap_and_others_are_read() {
    let mut world = blog();
    serve_copies(&mut world);
    world.refuse(&copy(2022), 404, AnswerHeaders::default());
    choose(&mut world, Some(Adaptor::InternetArchive));
    check(&mut world);
    let [gap] = <[String; 1]>::try_from(gaps(&world)).unwrap();
    let named = "the Internet Archive's copy of 2022-01-01 answered 404";
    assert_eq!(gap, format!("entries before 2022-01-01 missing: {named}"));
    assert_eq!(world.feed(1).history.archives, 3);
    serve_copies(&mut world);
    world.press("lH");
    world.rest();
    assert_eq!((gaps(&world).len(), world.feed(1).history.archives), (0, 4));
    assert_eq!(world.asked().iter().filter(|url| **url == copy(2023)).count(), 1);
}

#[test]
fn archive_service_429_is_respected_for_its_time() {
    let mut world = blog();
    serve_copies(&mut world);
    let wait = AnswerHeaders { retry_after: Some("7200".into()), ..AnswerHeaders::default() };
    world.refuse(&copy(2022), 429, wait);
    choose(&mut world, Some(Adaptor::InternetArchive));
    check(&mut world);
    let begun = world.asked().len();
    world.pass(TimeDelta::minutes(90));
    check(&mut world);
    let asked: Vec<&str> = world.asked().split_off(begun);
    assert!(asked.iter().all(|url| *url == BLOG), "{asked:?}");
    serve_copies(&mut world);
    world.pass(TimeDelta::minutes(60));
    check(&mut world);
    assert_eq!((gaps(&world).len(), world.feed(1).history.archives), (0, 4));
}

#[test]
fn invalid_listing_is_a_gap_and_an_empty_one_is_not() {
    for (body, missing) in [("<html>busy</html>", 1), ("[]", 0), ("{}", 1)] {
        let mut world = blog();
        world.serve(&listing(), body);
        choose(&mut world, Some(Adaptor::InternetArchive));
        check(&mut world);
        assert_eq!(gaps(&world).len(), missing, "{body} {:?}", gaps(&world));
        assert_eq!(world.feed(1).counters.total, 2);
    }
}

#[test]
fn program_killed_between_copies_refetches_none() {
    let mut world = blog();
    serve_copies(&mut world);
    choose(&mut world, Some(Adaptor::InternetArchive));
    world.poll(FEED);
    for _ in 0..5 {
        world.restart();
        world.poll(FEED);
        world.pass(TimeDelta::seconds(2));
    }
    world.rest();
    let asked = asked(&world);
    assert_eq!(asked.len(), 5, "{asked:?}");
    assert_eq!(world.feed(1).history.archives, 4);
    assert!(world.now > start());
}

#[test]
fn deselected_adaptor_makes_no_requests_and_no_gap() {
    let mut world = blog();
    serve_copies(&mut world);
    world.refuse(&copy(2022), 503, AnswerHeaders::default());
    choose(&mut world, Some(Adaptor::InternetArchive));
    check(&mut world);
    assert_eq!(gaps(&world).len(), 1);
    choose(&mut world, None);
    assert_eq!(
        (gaps(&world).len(), standing(&world).as_str()),
        (0, "this feed offers no older entries")
    );
    let before = world.asked().len();
    world.pass(TimeDelta::hours(3));
    check(&mut world);
    assert!(world.asked()[before..].iter().all(|url| *url == BLOG));
    // When the Internet Archive is chosen again, the remaining copies are read.
    serve_copies(&mut world);
    choose(&mut world, Some(Adaptor::InternetArchive));
    check(&mut world);
    assert_eq!((gaps(&world).len(), world.feed(1).counters.total), (0, 7));
}

#[test]
fn archive_service_wait_applies_to_all_feeds() {
    let mut world = blog();
    serve_copies(&mut world);
    let wait = AnswerHeaders { retry_after: Some("7200".into()), ..AnswerHeaders::default() };
    world.refuse(&copy(2022), 429, wait);
    let other = "https://other.example/feed";
    world.serve(other, &rss("Other", &[("o1", "One", 1, "now")]));
    subscribe(&mut world, other);
    world.rest();
    choose(&mut world, Some(Adaptor::InternetArchive));
    check(&mut world);
    let mut chosen = world.feed(2).record.chosen();
    chosen.feed_settings.archives = Some(Adaptor::InternetArchive);
    world.tell(Request::Set(FeedKey(2), Box::new(chosen)));
    let elsewhere = |world: &World| {
        world.asked().iter().filter(|url| url.starts_with(ARCHIVE) && url.contains("other")).count()
    };
    world.poll(FeedKey(2));
    world.rest();
    assert_eq!(elsewhere(&world), 0);
    assert!(world.feed(2).history.has_work(), "it is requested later");
    serve_copies(&mut world);
    world.pass(TimeDelta::hours(3));
    world.poll(FeedKey(2));
    world.rest();
    assert_eq!(elsewhere(&world), 1);
}
