//! Validators (`ETag` and `Last-Modified`) are kept, replaced and cleared from poll to poll as in SPEC D.4.

use backissue::io::http_server::ServedAnswer;
use serde_json::Value;

use super::{feeds, new_program};
use crate::support::documents::{page, rss};
use crate::support::site::{Site, answer};

/// Starts a site that gives the answers of the list in order and then repeats the last one.
fn scripted(answers: Vec<ServedAnswer>) -> Site {
    let count = std::sync::atomic::AtomicUsize::new(0);
    Site::start(move |_| {
        let place = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        answers[place.min(answers.len() - 1)].clone()
    })
}

fn feed(headers: &[(&str, &str)]) -> ServedAnswer {
    answer(200, headers, rss("T", "e", 2))
}

const BOTH: [(&str, &str); 2] = [("etag", "\"one\""), ("last-modified", "Mon")];

/// Polls a feed once for each answer and once more; returns `If-None-Match` and `If-Modified-Since` of each request.
fn sent(answers: Vec<ServedAnswer>) -> Vec<[Option<String>; 2]> {
    let polls = answers.len() + 1;
    let (site, program) = (scripted(answers), new_program());
    program.run(&["add", "--no-poll", &site.at("/f")]).with(0);
    for _ in 0..polls {
        program.run(&["poll", "--all"]);
    }
    let asked = site.asked("/f").into_iter();
    asked
        .map(|request| {
            ["if-none-match", "if-modified-since"]
                .map(|name| request.header(name).map(str::to_owned))
        })
        .collect()
}

fn pair(etag: &str, date: &str) -> [Option<String>; 2] {
    [etag, date].map(|text| (!text.is_empty()).then(|| text.to_owned()))
}

#[test]
fn a_304_replaces_what_it_brings_and_keeps_the_rest() {
    let new_tag = answer(304, &[("etag", "W/\"two\"")], "");
    let new_date = answer(304, &[("last-modified", "Tue")], "");
    let sent = sent(vec![feed(&BOTH), new_tag, new_date]);
    let expected =
        [pair("", ""), pair("\"one\"", "Mon"), pair("W/\"two\"", "Mon"), pair("W/\"two\"", "Tue")];
    assert_eq!(sent, expected);
}

#[test]
fn a_200_replaces_all_and_an_absent_one_is_cleared() {
    let sent = sent(vec![feed(&BOTH), feed(&[("last-modified", "Tue")]), feed(&[])]);
    let expected = [pair("", ""), pair("\"one\"", "Mon"), pair("", "Tue"), pair("", "")];
    assert_eq!(sent, expected);
}

#[test]
fn non_feed_answer_changes_no_validator() {
    let other = [("etag", "\"other\""), ("last-modified", "Tue")];
    for useless in [
        answer(200, &other, page("Log in", &[])),
        answer(200, &other, "<rss"),
        answer(200, &other, ""),
        answer(500, &other, ""),
        answer(404, &other, ""),
    ] {
        let status = useless.status;
        let sent = sent(vec![feed(&BOTH), useless]);
        assert_eq!(sent[2], pair("\"one\"", "Mon"), "{status}");
    }
}

#[test]
fn forced_poll_sends_no_validators_and_bypasses_caches() {
    let (site, program) = (scripted(vec![feed(&BOTH)]), new_program());
    program.run(&["add", &site.at("/f")]).with(0);
    program.run(&["poll", "--force"]).with(0);
    let asked = site.asked("/f");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].header("if-none-match"), None);
    assert_eq!(asked[1].header("if-modified-since"), None);
    assert_eq!(asked[1].header("cache-control"), Some("no-cache"));
}

#[test]
fn a_forced_poll_drops_the_stored_validators_first() {
    let (site, program) = (scripted(vec![feed(&BOTH), answer(500, &[], "")]), new_program());
    program.run(&["add", &site.at("/f")]).with(0);
    program.run(&["poll", "--force"]).with(1);
    assert_eq!(feeds(&program)[0]["etag"], Value::Null);
}

#[test]
fn validators_of_a_followed_temporary_redirect_stay_at_its_end() {
    let site = Site::start(|request| match request.path() {
        "/old" => answer(302, &[("location", "/new")], ""),
        _ if request.header("if-none-match") == Some("\"one\"") => answer(304, &[], ""),
        _ => feed(&BOTH),
    });
    let program = new_program();
    program.run(&["add", &site.at("/old")]).with(0);
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!(feeds(&program)[0]["url"], site.at("/old"), "the stored address stays");
    assert!(site.asked("/old").iter().all(|request| request.header("if-none-match").is_none()));
    let last = site.asked("/new").pop().unwrap();
    assert_eq!(last.header("if-none-match"), Some("\"one\""), "its own address gets them");
    assert_eq!(polled["feeds"][0]["outcome"], "not_modified");
}

/// SPEC D.2: a 304 to a request without validators is retried once with `no-cache`; a second 304 is a failure.
#[test]
fn adding_retries_after_an_unrequested_304() {
    for (answers, status, requests) in [
        (vec![answer(304, &[], ""), feed(&[])], 0, 2),
        (vec![answer(304, &[], ""), answer(304, &[], ""), feed(&[])], 2, 2),
    ] {
        let (site, program) = (scripted(answers), new_program());
        let told = program.run(&["add", &site.at("/f")]).with(status);
        let asked = site.asked("/f");
        assert_eq!(asked.len(), requests);
        let cached: Vec<_> = asked.iter().map(|request| request.header("cache-control")).collect();
        assert_eq!(cached, [None, Some("no-cache")]);
        if status != 0 {
            assert!(
                told.err.contains("304 Not Modified although no validators were sent"),
                "{}",
                told.err
            );
        }
    }
}
