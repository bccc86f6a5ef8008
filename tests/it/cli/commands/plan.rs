//! The commands `plan` and `set` on subscriptions.

use serde_json::json;

use super::new_program;
use crate::support::site::{Site, answer};

/// Returns an RSS document whose channel starts with the elements in `head`.
fn rss(head: &str) -> String {
    format!(
        "<rss version=\"2.0\" xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\" \
         xmlns:sched=\"tag:backissue.example,2026:schedule\"><channel><title>T</title>\
         <link>https://site.example/</link><description>d</description>{head}</channel></rss>"
    )
}

fn site() -> Site {
    Site::start(|_| answer(200, &[], rss("<ttl>30</ttl>")))
}

#[test]
fn a_subscription_is_planned_with_the_polls_that_follow() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let answer = program.run(&["plan", "1", "--next", "4", "--json"]).with(0).json();
    assert_eq!((&answer["settled_by"], &answer["binding_minutes"]), (&json!("ttl"), &json!(30)));
    let polls = answer["next_polls"].as_array().unwrap();
    assert_eq!(polls.len(), 4);
    assert_eq!(polls[0]["next_poll"], answer["next_poll"]);
    let times: Vec<&str> = polls.iter().map(|poll| poll["next_poll"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(answer["next_poll"], super::feeds(&program)[0]["next_poll"]);
    let told = program.run(&["plan", "T", "--next", "3"]).with(0).out;
    assert!(
        told.contains("Next poll ") && told.contains("the publisher's ttl of 30 min"),
        "{told}"
    );
    assert_eq!(told.lines().skip_while(|line| *line != "if nothing changes:").count(), 4, "{told}");
}

#[test]
fn plan_and_feeds_report_hints_that_are_ignored() {
    let head = "<ttl>60 minutes</ttl><skipHours><hour>25</hour></skipHours>\
        <sched:interval starthour=\"99\">30</sched:interval><cloud domain=\"push.example\"/>";
    let (site, program) = (Site::start(move |_| answer(200, &[], rss(head))), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let planned = program.run(&["plan", "1", "--json"]).with(0).json();
    let flaws = planned["flaws"].as_array().unwrap();
    let elements: Vec<&str> = flaws.iter().map(|flaw| flaw["element"].as_str().unwrap()).collect();
    for element in ["ttl", "skipHours", "interval", "push"] {
        assert!(elements.contains(&element), "{element} in {planned:#}");
    }
    assert_eq!(super::feeds(&program)[0]["flaws"], planned["flaws"]);
    let told = program.run(&["plan", "1"]).with(0).out;
    assert!(told.contains("! ttl '60 minutes': "), "{told}");
    assert!(told.contains("which needs a public address"), "{told}");
}

#[test]
fn settings_are_saved_planned_and_reported() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let told = program.run(&["set", "1", "--pace", "less", "--max", "2h"]).with(0).out;
    assert!(told.contains("doubled to 1 h") && told.contains("Next poll "), "{told}");
    assert!(told.contains("changed: pace: as configured → less"), "{told}");
    assert!(told.contains("changed: max: auto → 2h"), "{told}");
    let interval = || super::feeds(&program)[0]["interval_minutes"].clone();
    assert_eq!(interval(), json!(60.0));
    program.run(&["set", "1", "--every", "1d", "--history", "ask"]).with(0);
    assert_eq!(interval(), json!(1440.0));
    let told = program.run(&["set", "1", "--every", "auto", "--pace", "normal"]).with(0).out;
    assert!(told.contains("changed: every: 1d → auto"), "{told}");
    assert_eq!(interval(), json!(30.0));
    program.run(&["set", "1", "--title", "Mine", "--tag", "a/b", "--tag", "c"]).with(0);
    let feed = &super::feeds(&program)[0];
    assert_eq!((&feed["title"], &feed["tags"]), (&json!("Mine"), &json!(["a/b", "c"])));
    program.run(&["set", "Mine", "--title", "", "--tag", ""]).with(0);
    let feed = &super::feeds(&program)[0];
    assert_eq!((&feed["title"], &feed["tags"]), (&json!("T"), &json!([])));
    let told = program.run(&["set", "1", "--pace", "normal"]).with(0).out;
    assert!(told.contains("nothing changed"), "{told}");
}

#[test]
fn invalid_settings_are_refused_and_change_nothing() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let why = program.run(&["set", "1", "--min", "2h", "--max", "1h"]).refused(2);
    assert!(why.contains("shortest interval (2h)") && why.contains("longest (1h)"), "{why}");
    let why = program.run(&["set", "1", "--min", "often"]).refused(2);
    assert!(why.contains("'often' is not a duration"), "{why}");
    let why = program.run(&["set", "1", "--every", "2000d"]).refused(2);
    assert!(why.contains("longer than a year"), "{why}");
    let why = program.run(&["set", "1"]).refused(2);
    assert!(why.contains("--pace more"), "{why}");
    program.run(&["set", "nobody", "--pace", "more"]).refused(2);
    program.run(&["set", "1", "--pace", "often"]).with(2);
    assert_eq!(super::feeds(&program)[0]["interval_minutes"], json!(30.0));
}

#[test]
fn learning_and_own_rules_are_set_and_cleared_by_words() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let rules = ["--rule", "Mon-Fri 9:00-18:00 45m UTC", "--rule", "2h +01:00"];
    let told =
        program.run(&[&["set", "1", "--learn", "off"], rules.as_slice()].concat()).with(0).out;
    assert!(told.contains("changed: learn: as configured → off"), "{told}");
    let rules = "changed: rules: none → Mon-Fri 9:00-18:00 45m UTC; 2h +01:00";
    assert!(told.contains(rules), "{told}");
    assert!(told.contains("because your rules ask for a poll about every "), "{told}");
    let planned = program.run(&["plan", "1", "--json"]).with(0).json();
    assert_eq!(planned["settled_by"], json!("own_rules"));
    let told = program.run(&["set", "1", "--learn", "auto", "--rule", ""]).with(0).out;
    assert!(told.contains("changed: learn: off → as configured"), "{told}");
    assert!(told.contains("+01:00 → none"), "{told}");
    let why = program.run(&["set", "1", "--rule", "sometimes 1h"]).refused(2);
    assert!(why.contains("'sometimes' is not part of a rule"), "{why}");
}

#[test]
fn settings_travel_in_opml() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let all = ["set", "1", "--pace", "more", "--min", "20m", "--max", "3d", "--history", "off"];
    let elsewhere = ["--archives", "internet-archive"];
    let switches = ["--ignore-cache-lifetime", "on", "--ignore-skips", "on", "--learn", "off"];
    let rules = ["--rule", "Mon-Fri 9:00-18:00 45m UTC", "--rule", "2h Europe/Berlin"];
    let texts = ["--full-text", "on", "--ahead", "all"];
    program.run(&[all.as_slice(), &switches, &elsewhere, &rules, &texts].concat()).with(0);
    let exported = program.run(&["export", "-"]).with(0).out;
    for words in [
        "pace=\"more\"",
        "min=\"20\"",
        "max=\"4320\"",
        "history=\"off\"",
        "archives=\"internet-archive\"",
        "ignore-cache-lifetime=\"on\"",
        "ignore-skips=\"on\"",
        "full-text=\"on\"",
        "ahead=\"all\"",
        "learn=\"off\"",
        "rules=\"Mon-Fri 9:00-18:00 45m UTC; 2h Europe/Berlin\"",
    ] {
        assert!(exported.contains(words), "{words}: {exported}");
    }
    let second = new_program();
    second.run_with(&["import", "-"], exported.as_bytes()).with(0);
    assert_eq!(second.run(&["export", "-"]).with(0).out, exported);
}

/// Returns a document with an entry on each of the last 39 days, all published at about the same time of day.
fn daily() -> String {
    let now = chrono::Utc::now();
    let items = (1..40).map(|day| {
        let at = now - chrono::TimeDelta::hours(24 * day - 5);
        let date = (at - chrono::TimeDelta::seconds(day * 37 % 120)).to_rfc2822();
        format!("<item><guid isPermaLink=\"false\">{day}</guid><pubDate>{date}</pubDate></item>")
    });
    rss(&items.collect::<String>())
}

/// Parses a waiting time such as `in 57m` or `in 3h` into minutes; `now` is 0.
fn minutes(words: &str) -> i64 {
    let digits: String = words.chars().filter(char::is_ascii_digit).collect();
    let count = digits.parse().unwrap_or(0);
    if words.contains('h') { count * 60 } else { count }
}

#[test]
fn add_announces_what_the_feed_list_shows() {
    let documents = |path: &str| match path {
        "/ttl" => answer(200, &[], rss("<ttl>30</ttl>")),
        "/fresh" => answer(200, &[("cache-control", "max-age=88200")], rss("<ttl>30</ttl>")),
        "/default" => answer(200, &[], rss("")),
        _ => answer(200, &[], daily()),
    };
    let site = Site::start(move |request| documents(request.path()));
    let program = new_program();
    for (path, announced) in [
        ("/ttl", ", about every 30 minutes (the publisher's ttl)"),
        ("/fresh", ", about every 30 minutes (the server's cache lifetime)"),
        ("/default", ", about every hour (default interval)"),
        ("/daily", " (learned from its entries)"),
    ] {
        let told = program.run(&["add", &site.at(path)]).with(0).out;
        if told.contains("feeds are polled only when you ask") {
            assert!(!told.contains("next poll"), "{told}");
            continue;
        }
        let line = told.lines().find_map(|line| line.trim().strip_prefix("next poll in "));
        let next = line.and_then(|line| line.strip_suffix(announced));
        let next = next.unwrap_or_else(|| panic!("{announced}: {told}"));
        let listed = program.run(&["feeds"]).with(0).out;
        let (_, shown) = listed.rsplit_once(" next in ").unwrap();
        let shown = shown.split_whitespace().next().unwrap();
        assert!((minutes(shown) - minutes(next)).abs() <= 1, "{told} {listed}");
    }
}

#[test]
fn a_feed_without_hints_says_what_was_learned_of_it() {
    let feed = daily();
    let (site, program) = (Site::start(move |_| answer(200, &[], feed.clone())), new_program());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let answer = program.run(&["plan", "1", "--json"]).with(0).json();
    assert_eq!(answer["settled_by"], json!("learned"), "{answer:#}");
    let learned = &answer["learned"];
    assert_eq!((&learned["followed"], &learned["publications"]), (&json!(true), &json!(39)));
    assert!(learned["words"].as_str().unwrap().starts_with("learned from 39 publications"));
    assert!(answer["sentence"].as_str().unwrap().starts_with("Next poll "), "{answer:#}");
    let polls = learned["next_polls"].as_array().unwrap();
    assert_eq!((polls.len(), &polls[0]), (5, &answer["next_poll"]));
    let again = program.run(&["plan", "1", "--json"]).with(0).json();
    assert_eq!(again["next_poll"], answer["next_poll"], "another process prints the same");
    program.run(&["set", "1", "--learn", "off"]).with(0);
    let answer = program.run(&["plan", "1", "--json"]).with(0).json();
    assert_eq!(answer["settled_by"], json!("default"));
    assert_eq!(answer["learned"]["not_followed_because"], json!("learning is off for this feed"));
    let told = program.run(&["plan", "1"]).with(0).out;
    assert!(told.contains("(not followed: learning is off for this feed)"), "{told}");
    program.run(&["set", "1", "--learn", "on", "--rule", "2h"]).with(0);
    let told = program.run(&["plan", "1"]).with(0).out;
    assert!(told.contains("(not followed: your own rules come first)"), "{told}");
}
