//! The effect of each response status on a feed (SPEC D.2).

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{feeds, new_program};
use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// Header fields of a response.
type Headers = &'static [(&'static str, &'static str)];

/// Adds a feed successfully, polls it again when its site answers with `status`, and returns the feed, the program and the site.
fn after(status: u16, headers: Headers) -> (Value, Program, Site) {
    let (site, program) = (site_with(status, headers), new_program());
    program.run(&["add", &site.at("/f")]).with(0);
    program.run(&["poll", "--all"]);
    (feeds(&program).remove(0), program, site)
}

/// Adds one feed for each case, polls the feeds again when each feed's site answers with the status of its case, and returns the
/// feeds in the order of the cases.
fn after_each(cases: &[(u16, Headers)]) -> Vec<Value> {
    let sites: Vec<Site> =
        cases.iter().map(|&(status, headers)| site_with(status, headers)).collect();
    let program = new_program();
    let addresses: Vec<String> = sites.iter().map(|site| site.at("/f")).collect();
    let args: Vec<&str> =
        std::iter::once("add").chain(addresses.iter().map(String::as_str)).collect();
    program.run(&args).with(0);
    program.run(&["poll", "--all"]);
    let known = feeds(&program);
    let of = |address: &String| known.iter().find(|feed| feed["url"] == address.as_str()).cloned();
    addresses.iter().map(|address| of(address).unwrap()).collect()
}

fn site_with(status: u16, headers: Headers) -> Site {
    let asked = std::sync::atomic::AtomicBool::new(false);
    Site::start(move |_| {
        if asked.swap(true, std::sync::atomic::Ordering::Relaxed) {
            answer(status, headers, "")
        } else {
            answer(200, &[("etag", "\"one\"")], rss("T", "e", 2))
        }
    })
}

fn waits(feed: &Value) -> TimeDelta {
    let at = |field: &str| -> DateTime<Utc> { feed[field].as_str().unwrap().parse().unwrap() };
    at("next_poll") - at("last_try")
}

#[test]
fn failure_is_counted_reported_and_changes_no_entry() {
    let statuses = [204, 206, 300, 305, 400, 401, 402, 403, 404, 408, 429, 451, 500, 503];
    for (status, feed) in statuses.into_iter().zip(after_each(&statuses.map(|one| (one, &[][..]))))
    {
        assert_eq!((&feed["state"], &feed["failures"]), (&"failing".into(), &1.into()), "{status}");
        assert_eq!(feed["status"], status);
        assert!(feed["trouble"].as_str().is_some_and(|why| !why.is_empty()), "{status}");
        assert_eq!((&feed["total"], &feed["unread"]), (&2.into(), &2.into()), "{status}");
    }
}

#[test]
fn sign_in_network_is_not_the_feeds_failure() {
    let (feed, ..) = after(511, &[]);
    assert_eq!((&feed["state"], &feed["failures"]), (&"portal".into(), &0.into()));
    assert!(feed["trouble"].as_str().is_some_and(|why| why.contains("captive portal")));
    assert!(waits(&feed) >= TimeDelta::minutes(15));
}

#[test]
fn retry_after_of_a_status_is_respected() {
    let cases: [(u16, Headers, i64); 9] = [
        (401, &[], 24 * 60),
        (402, &[], 4 * 60),
        (403, &[], 4 * 60),
        (451, &[], 4 * 60),
        (429, &[], 60),
        (429, &[("retry-after", "14400")], 4 * 60),
        (503, &[("retry-after", "18000")], 5 * 60),
        (500, &[], 15),
        (404, &[], 15),
    ];
    let asked = cases.map(|(status, headers, _)| (status, headers));
    for ((status, headers, minutes), feed) in cases.into_iter().zip(after_each(&asked)) {
        let waits = waits(&feed);
        assert!(waits >= TimeDelta::minutes(minutes), "{status} {headers:?}: {waits}");
    }
}

#[test]
fn gone_feed_is_never_polled_and_keeps_its_entries() {
    let (feed, program, site) = after(410, &[]);
    assert_eq!((&feed["state"], &feed["next_poll"]), (&"gone".into(), &Value::Null));
    assert_eq!(feed["total"], 2);
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!((&polled["polled"], &polled["skipped"]), (&0.into(), &1.into()));
    program.run(&["poll"]).with(0);
    assert_eq!(site.asked("/f").len(), 2);
}

#[test]
fn a_203_is_read_as_a_200() {
    let (site, program) = (Site::start(|_| answer(203, &[], rss("T", "e", 2))), new_program());
    program.run(&["add", &site.at("/f")]).with(0);
    assert_eq!(feeds(&program)[0]["total"], 2);
}

#[test]
fn unrequested_304_is_refetched_past_caches() {
    let site = Site::start(|request| match request.header("cache-control") {
        Some("no-cache") => answer(200, &[], rss("T", "e", 2)),
        _ => answer(304, &[], ""),
    });
    let program = new_program();
    program.run(&["add", "--no-poll", &site.at("/f")]).with(0);
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!((&polled["read"], &polled["new"]), (&1.into(), &2.into()));
    assert_eq!(site.asked("/f").len(), 2);
}

#[test]
fn a_412_or_416_is_retried_without_validators() {
    for status in [412, 416] {
        let site = Site::start(move |request| match request.header("if-none-match") {
            Some(_) => answer(status, &[], ""),
            None => answer(200, &[("etag", "\"one\"")], rss("T", "e", 2)),
        });
        let program = new_program();
        program.run(&["add", &site.at("/f")]).with(0);
        let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
        assert_eq!(polled["read"], 1, "{status}");
        assert_eq!(site.asked("/f").len(), 3, "{status}");
    }
}

#[test]
fn a_421_is_retried_once() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let site =
        Site::start(move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => answer(421, &[], ""),
            _ => answer(200, &[], rss("T", "e", 2)),
        });
    let program = new_program();
    program.run(&["add", "--no-poll", &site.at("/f")]).with(0);
    program.run(&["poll", "--all"]).with(0);
    assert_eq!(site.asked("/f").len(), 2);
}

#[test]
fn a_feed_without_entries_is_accepted() {
    let (site, program) = (Site::start(|_| answer(200, &[], rss("Empty", "e", 0))), new_program());
    program.run(&["add", &site.at("/f")]).with(0);
    let feed = feeds(&program).remove(0);
    assert_eq!((&feed["state"], &feed["total"]), (&"ok".into(), &0.into()));
}

#[test]
fn recovered_feed_has_its_failures_cleared() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let site =
        Site::start(move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            1 | 2 => answer(500, &[], ""),
            _ => answer(200, &[], rss("T", "e", 2)),
        });
    let program = new_program();
    program.run(&["add", &site.at("/f")]).with(0);
    program.run(&["poll", "--all"]).with(1);
    program.run(&["poll", "--all"]).with(1);
    assert_eq!(feeds(&program)[0]["failures"], 2);
    program.run(&["poll", "--all"]).with(0);
    let feed = feeds(&program).remove(0);
    assert_eq!((&feed["failures"], &feed["trouble"]), (&0.into(), &Value::Null));
    assert_eq!(feed["failing_since"], Value::Null);
}

#[test]
fn cron_poll_is_silent_and_succeeds_despite_failures() {
    let (_, program, _site) = after(404, &[]);
    for (args, status) in
        [(&["poll", "--all", "--quiet"][..], 1), (&["poll", "--all", "--quiet", "--tolerant"], 0)]
    {
        let ended = program.run(args).with(status);
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""), "{args:?}");
    }
    let told = program.run(&["poll", "1", "--tolerant"]).with(0).out;
    assert!(told.contains("1 failed"), "{told}");
    assert!(program.run(&["poll", "moon", "--quiet"]).refused(2).contains("moon"));
    program.run(&["poll", "--quiet", "--json"]).with(2);
}

#[test]
fn failing_feeds_do_not_change_status_if_configured() {
    let (site, program) = (site_with(500, &[]), new_program());
    let kept = std::fs::read_to_string(program.path("config.toml")).unwrap();
    let key = "failing_feeds = \"ignore\"\n";
    let kept = match kept.split_once("[poll]\n") {
        Some((before, after)) => format!("{before}[poll]\n{key}{after}"),
        None => format!("{kept}[poll]\n{key}"),
    };
    program.write("config.toml", kept);
    program.run(&["add", &site.at("/f")]).with(0);
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!(polled["failed"], 1);
}
