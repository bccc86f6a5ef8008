//! `plan` and `set` through the real binary; the worked examples of SPEC B.7, H.2 and H.3.

use serde_json::{Value, json};

use crate::support::binary::Program;
use crate::support::site::{Site, answer};

const MONDAY: &str = "2026-03-02T10:00:00Z";

/// An RSS document with these elements in its head.
fn rss(head: &str) -> String {
    format!(
        "<rss version=\"2.0\" xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\" \
         xmlns:sched=\"tag:backissue.example,2026:schedule\"><channel><title>T</title>\
         <link>https://site.example/</link><description>d</description>{head}</channel></rss>"
    )
}

fn atom(head: &str) -> String {
    format!(
        "<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:sched=\"tag:backissue.example,2026:schedule\">\
         <title>T</title><id>tag:site.example,2026:t</id><updated>2026-03-01T00:00:00Z</updated>{head}</feed>"
    )
}

const SET_P: &str = "<sched:interval>240</sched:interval>\
    <sched:interval starthour=\"9\" endhour=\"17\" startday=\"1\" endday=\"5\">30</sched:interval>\
    <sched:interval starthour=\"4\" endhour=\"4\">30</sched:interval>";
const WORDPRESS: &str = "<generator>https://wordpress.org/?v=6.5</generator>\
    <sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>1</sy:updateFrequency>";
const TWICE_AN_HOUR: &str =
    "<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>";
const HEAD_OF_H2: &str = "<ttl> 120 </ttl><skipHours><hour>10</hour><hour>24</hour></skipHours>\
    <skipDays><day>Sunday</day></skipDays>";

fn ttl(minutes: u32) -> String {
    rss(&format!("<ttl>{minutes}</ttl>"))
}

fn skip_hours(hours: impl IntoIterator<Item = u32>) -> String {
    let hours: String = hours.into_iter().map(|hour| format!("<hour>{hour}</hour>")).collect();
    format!("<skipHours>{hours}</skipHours>")
}

fn planned(document: &str, facts: &Value) -> Value {
    let program = Program::new();
    let document = program.write("feed.xml", document);
    let facts = program.write("facts.json", facts.to_string());
    program.run_bare(&["plan", "--document", &document, "--facts", &facts, "--json"]).with(0).json()
}

#[track_caller]
fn check(name: &str, document: &str, facts: &Value, next: &str) {
    let answer = planned(document, facts);
    let next = if next == "never" { Value::Null } else { json!(format!("2026-{next}:00Z")) };
    assert_eq!(answer["next_poll"], next, "{name}: {answer:#}");
    assert!(!answer["steps"].as_array().unwrap().is_empty(), "{name}");
}

/// Facts of a good poll on Monday at ten, with others beside it.
fn ten(more: &Value) -> Value {
    let mut facts = json!({"last_ok": MONDAY});
    facts.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    facts
}

fn last(at: &str) -> Value {
    json!({"last_ok": format!("2026-{at}:00Z")})
}

#[test]
fn the_worked_examples_of_recommendations_and_floors_come_out_of_the_binary() {
    let headers = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        ten(&json!({"headers": pairs.collect::<serde_json::Map<_, _>>()}))
    };
    let good = ten(&json!({}));
    check("B1", &rss(""), &good, "03-02T11:00");
    check("B2", &ttl(30), &good, "03-02T10:30");
    check("B3", &ttl(5), &good, "03-02T10:15");
    check("B4", &ttl(100_000), &good, "03-03T10:00");
    check("B5", &ttl(30), &ten(&json!({"pace": "more"})), "03-02T10:15");
    check("B5", &ttl(30), &ten(&json!({"pace": "less"})), "03-02T11:00");
    check("B6", &ttl(30), &headers(&[("cache-control", "max-age=3600")]), "03-02T11:00");
    let aged = headers(&[("cache-control", "max-age=3600"), ("age", "1800")]);
    check("B7", &ttl(30), &aged, "03-02T10:30");
    let aged = headers(&[("cache-control", "max-age=7200"), ("age", "600")]);
    check("B8", &ttl(60), &aged, "03-02T11:50");
    check("B9", &ttl(30), &headers(&[("cache-control", "max-age=31536000")]), "03-02T16:00");
    check("B10", &ttl(30), &headers(&[("cache-control", "max-age=172800")]), "03-04T10:00");
    let failed = |failures: u32, status: u16, headers: Value| {
        json!({"last_ok": "2026-03-02T09:00:00Z", "last_try": MONDAY, "failures": failures,
               "status": status, "headers": headers})
    };
    check("B11", &ttl(60), &failed(1, 503, json!({"retry-after": "7200"})), "03-02T12:00");
    check("B12", &ttl(60), &failed(1, 0, json!({})), "03-02T11:00");
    check("B13", &ttl(60), &failed(4, 0, json!({})), "03-02T12:00");
    check("B22", &ttl(120), &ten(&json!({"fixed_minutes": 10})), "03-02T10:10");
    let fixed = json!({"fixed_minutes": 10, "headers": {"Cache-Control": "max-age=3600"}});
    check("B23", &rss(""), &ten(&fixed), "03-02T11:00");
    check("B24", &ttl(30), &failed(1, 410, json!({})), "never");
    check("B25", &atom("<refreshRate>900000</refreshRate>"), &good, "03-02T10:15");
    check("B26", &atom("<refreshRate>900</refreshRate>"), &good, "03-02T11:00");
}

#[test]
fn the_worked_examples_of_windows_and_rules_come_out_of_the_binary() {
    let good = ten(&json!({}));
    let legacy = format!("<ttl>5</ttl>{}{SET_P}", skip_hours([10]));
    check("B14", &rss(&legacy), &good, "03-02T10:30");
    check("B15", &rss(&format!("{TWICE_AN_HOUR}{}", skip_hours([10]))), &good, "03-02T10:30");
    check("B16", &rss(&format!("{WORDPRESS}{}", skip_hours([11]))), &good, "03-02T12:00");
    check("B17", &rss(&format!("{WORDPRESS}<ttl>30</ttl>")), &good, "03-02T10:30");
    let windows =
        rss(&format!("<ttl>60</ttl>{}<skipDays><day>Sunday</day></skipDays>", skip_hours(6..=11)));
    check("B18", &windows, &last("03-02T05:10"), "03-02T12:00");
    check("B19", &windows, &last("03-07T23:30"), "03-09T00:00");
    check("B20", &windows, &last("03-07T05:30"), "03-07T12:00");
    let banned = format!("<ttl>60</ttl>{}", skip_hours(0..24));
    let answer = planned(&rss(&banned), &good);
    assert_eq!(answer["next_poll"], "2026-03-02T11:00:00Z", "B21");
    assert_eq!(answer["flaws"][0]["element"], "skipHours", "B21: {answer:#}");
    let base = "<sy:updateBase>2000-01-01T12:00+00:00</sy:updateBase>";
    check("H.2", &rss(&format!("{HEAD_OF_H2}{TWICE_AN_HOUR}{base}{SET_P}")), &good, "03-02T10:30");
    check(
        "H.2, no sched",
        &rss(&format!("{HEAD_OF_H2}{TWICE_AN_HOUR}{base}")),
        &good,
        "03-02T10:30",
    );
    check("H.2, neither", &rss(HEAD_OF_H2), &good, "03-02T12:00");
    let bad = "<sy:updateBase>at noon</sy:updateBase>";
    check(
        "H.2, bad base",
        &rss(&format!("{HEAD_OF_H2}{TWICE_AN_HOUR}{bad}")),
        &good,
        "03-02T10:30",
    );
    let night = "<refreshRate>900000</refreshRate>\
        <sched:interval starthour=\"22\" endhour=\"2\" startday=\"5\" endday=\"6\" tz=\"+00:00\">20</sched:interval>\
        <sched:interval starthour=\"25\" endhour=\"26\">5</sched:interval><sched:interval>180</sched:interval>";
    let answer = planned(&atom(night), &last("03-06T21:30"));
    assert_eq!(answer["next_poll"], "2026-03-06T22:00:00Z", "H.3: {answer:#}");
    assert_eq!((&answer["kind"], &answer["settled_by"]), (&json!("boundary"), &json!("rules")));
    assert!(!answer["flaws"].as_array().unwrap().is_empty(), "hour 25 is told");
    let only = atom("<refreshRate>900000</refreshRate>");
    check("H.3, no sched", &only, &last("03-06T21:30"), "03-06T21:45");
}

#[test]
fn a_document_is_planned_in_sentences_too_and_wrong_facts_are_refused() {
    let program = Program::new();
    let document = program.write("feed.xml", ttl(30));
    let facts = program.write("facts.json", json!({"last_ok": MONDAY}).to_string());
    let told = program.run_bare(&["plan", "--document", &document, "--facts", &facts]).with(0);
    let sentence =
        "Next look in 30 minutes, because the publisher asks for about every 30 minutes.\n";
    assert!(told.out.starts_with(sentence), "{told:#?}");
    assert!(
        told.out.contains("recommended     30 min: the publisher's ttl of 30 min"),
        "{told:#?}"
    );
    let wrong = program.write("wrong.json", "{\"pace\": \"often\"}");
    let why = program.run_bare(&["plan", "--document", &document, "--facts", &wrong]).refused(2);
    assert!(why.contains("facts cannot be read"), "{why}");
    let none = program.write("none.xml", "hello");
    program.run_bare(&["plan", "--document", &none, "--facts", &facts, "--json"]).with(1);
    program.run_bare(&["plan"]).with(2);
    program.run_bare(&["plan", "--document", &document]).with(2);
}

fn site() -> Site {
    Site::start(|_| answer(200, &[], rss("<ttl>30</ttl>")))
}

#[test]
fn a_subscription_is_planned_with_the_polls_that_follow() {
    let (site, program) = (site(), Program::new());
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
        told.contains("Next look ") && told.contains("the publisher's ttl of 30 min"),
        "{told}"
    );
    assert_eq!(told.lines().skip_while(|line| *line != "if nothing changes:").count(), 4, "{told}");
}

#[test]
fn hints_that_cannot_be_followed_are_told_by_plan_and_feeds_after_the_document_is_gone() {
    let head = "<ttl>60 minutes</ttl><skipHours><hour>25</hour></skipHours>\
        <sched:interval starthour=\"99\">30</sched:interval><cloud domain=\"push.example\"/>";
    let (site, program) = (Site::start(move |_| answer(200, &[], rss(head))), Program::new());
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
    assert!(told.contains("which a reader at home cannot receive"), "{told}");
}

#[test]
fn settings_are_kept_planned_at_once_and_told() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let told = program.run(&["set", "1", "--pace", "less", "--max", "2h"]).with(0).out;
    assert!(told.contains("doubled to 1 h") && told.contains("Next look "), "{told}");
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
    assert!(told.contains("nothing was changed"), "{told}");
}

#[test]
fn settings_that_cannot_be_are_refused_and_nothing_is_changed() {
    let (site, program) = (site(), Program::new());
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
fn learning_and_own_rules_are_set_by_words_and_taken_away() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let rules = ["--rule", "Mon-Fri 9:00-18:00 45m UTC", "--rule", "2h +01:00"];
    let told =
        program.run(&[&["set", "1", "--learn", "off"], rules.as_slice()].concat()).with(0).out;
    assert!(told.contains("changed: learn: as configured → off"), "{told}");
    let rules = "changed: rules: none → Mon-Fri 9:00-18:00 45m UTC; 2h +01:00";
    assert!(told.contains(rules), "{told}");
    assert!(told.contains("because your rules ask for about every "), "{told}");
    let planned = program.run(&["plan", "1", "--json"]).with(0).json();
    assert_eq!(planned["settled_by"], json!("own_rules"));
    let told = program.run(&["set", "1", "--learn", "auto", "--rule", ""]).with(0).out;
    assert!(told.contains("changed: learn: off → as configured"), "{told}");
    assert!(told.contains("+01:00 → none"), "{told}");
    let why = program.run(&["set", "1", "--rule", "sometimes 1h"]).refused(2);
    assert!(why.contains("'sometimes' is no part of a rule"), "{why}");
}

#[test]
fn a_plan_is_learned_from_stated_publications() {
    let days = (0..42).map(|day| (json!(29_495_640 - 1440 * (41 - day)), day));
    let publications: Vec<Value> = days.filter(|(_, day)| day % 7 < 5).map(|(at, _)| at).collect();
    let learned = json!({ "publications": publications, "since": 29_495_640 - 1440 * 42 });
    let facts = json!({ "last_ok": "2026-01-29T13:00:00Z", "learned": learned });
    let answer = planned(&rss(""), &facts);
    assert_eq!(answer["settled_by"], json!("learned"), "{answer:#}");
    let learned = &answer["learned"];
    let shares: f64 =
        learned["shares"].as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 0.01, "{answer:#}");
    let delays = ["expected_delay_minutes", "even_delay_minutes"];
    let [delay, even] = delays.map(|name| learned[name].as_f64().unwrap());
    assert!(delay < even / 2.0, "{answer:#}");
    let stated = planned(&ttl(30), &facts);
    assert_eq!(stated["settled_by"], json!("ttl"), "never above the publisher");
}

#[test]
fn settings_travel_in_opml() {
    let (site, program) = (site(), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let all = ["set", "1", "--pace", "more", "--min", "20m", "--max", "3d", "--history", "off"];
    let elsewhere = ["--archives", "internet-archive"];
    let switches = ["--ignore-cache-lifetime", "on", "--ignore-skips", "on", "--learn", "off"];
    let rules = ["--rule", "Mon-Fri 9:00-18:00 45m UTC", "--rule", "2h Europe/Berlin"];
    let texts = ["--full-text", "on"];
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
        "learn=\"off\"",
        "rules=\"Mon-Fri 9:00-18:00 45m UTC; 2h Europe/Berlin\"",
    ] {
        assert!(exported.contains(words), "{words}: {exported}");
    }
    let second = Program::new();
    second.run_with(&["import", "-"], exported.as_bytes()).with(0);
    assert_eq!(second.run(&["export", "-"]).with(0).out, exported);
}

/// A document whose entries came at one time of each day.
fn daily() -> String {
    let now = chrono::Utc::now();
    let items = (1..40).map(|day| {
        let date = (now - chrono::TimeDelta::hours(24 * day - 5)).to_rfc2822();
        format!("<item><guid isPermaLink=\"false\">{day}</guid><pubDate>{date}</pubDate></item>")
    });
    rss(&items.collect::<String>())
}

/// Minutes of `in 57m` or `in 3h`; `now` is none.
fn minutes(words: &str) -> i64 {
    let digits: String = words.chars().filter(char::is_ascii_digit).collect();
    let count = digits.parse().unwrap_or(0);
    if words.contains('h') { count * 60 } else { count }
}

#[test]
fn what_add_announces_is_what_the_list_of_feeds_then_shows() {
    let documents = |path: &str| match path {
        "/ttl" => answer(200, &[], rss("<ttl>30</ttl>")),
        "/fresh" => answer(200, &[("cache-control", "max-age=88200")], rss("<ttl>30</ttl>")),
        "/default" => answer(200, &[], rss("")),
        _ => answer(200, &[], daily()),
    };
    let site = Site::start(move |request| documents(request.path()));
    for (path, announced) in [
        ("/ttl", ", about every 30 minutes (the publisher's ttl)"),
        ("/fresh", ", about every 30 minutes (the server's cache lifetime)"),
        ("/default", ", about every hour (default interval)"),
        ("/daily", " (learned rhythm)"),
    ] {
        let program = Program::new();
        let told = program.run(&["add", &site.at(path)]).with(0).out;
        let line = told.lines().find_map(|line| line.trim().strip_prefix("next poll in "));
        let next = line.and_then(|line| line.strip_suffix(announced));
        let next = next.unwrap_or_else(|| panic!("{announced}: {told}"));
        let listed = program.run(&["feeds"]).with(0).out;
        let (_, shown) = listed.split_once(" next in ").unwrap();
        let shown = shown.split_whitespace().next().unwrap();
        assert!((minutes(shown) - minutes(next)).abs() <= 1, "{told} {listed}");
    }
}

#[test]
fn a_feed_without_hints_says_what_was_learned_of_it() {
    let feed = daily();
    let (site, program) = (Site::start(move |_| answer(200, &[], feed.clone())), Program::new());
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let answer = program.run(&["plan", "1", "--json"]).with(0).json();
    assert_eq!(answer["settled_by"], json!("learned"), "{answer:#}");
    let learned = &answer["learned"];
    assert_eq!((&learned["followed"], &learned["publications"]), (&json!(true), &json!(39)));
    assert!(learned["words"].as_str().unwrap().starts_with("learned from 39 publications"));
    assert!(answer["sentence"].as_str().unwrap().starts_with("Next look "), "{answer:#}");
    let polls = learned["next_polls"].as_array().unwrap();
    assert_eq!((polls.len(), &polls[0]), (5, &answer["next_poll"]));
    let again = program.run(&["plan", "1", "--json"]).with(0).json();
    assert_eq!(again["next_poll"], answer["next_poll"], "another process says the same");
    program.run(&["set", "1", "--learn", "off"]).with(0);
    let answer = program.run(&["plan", "1", "--json"]).with(0).json();
    assert_eq!(answer["settled_by"], json!("default"));
    assert_eq!(answer["learned"]["not_followed_because"], json!("learning is off for this feed"));
    let told = program.run(&["plan", "1"]).with(0).out;
    assert!(told.contains("(not followed: learning is off for this feed)"), "{told}");
}
