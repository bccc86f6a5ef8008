//! The worked examples of SPEC B.7, H.2 and H.3, from documents.

use backissue_core::feed::{self, Origin};
use chrono::DateTime;
use serde_json::{Value, json};

use super::{plan_document, read_args};

const MONDAY: &str = "2026-03-02T10:00:00Z";

/// Returns an RSS document whose channel starts with the elements in `head`.
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
    let hours: Vec<String> = hours.into_iter().map(|hour| format!("<hour>{hour}</hour>")).collect();
    let hours = hours.concat();
    format!("<skipHours>{hours}</skipHours>")
}

fn planned(document: &str, facts: &Value) -> Value {
    let answer = text_of(document, &facts.to_string(), true).expect("readable facts");
    serde_json::from_str(&answer).expect("JSON")
}

fn text_of(
    document: &str,
    facts: &str,
    as_json: bool,
) -> Result<String, backissue_core::InputFlaw> {
    let read = feed::parse(document.as_bytes(), &Origin::default());
    plan_document(read.hints, &read.flaws, facts, DateTime::UNIX_EPOCH, as_json)
}

#[track_caller]
fn check(name: &str, document: &str, facts: &Value, next: &str) {
    let answer = planned(document, facts);
    let next = if next == "never" { Value::Null } else { json!(format!("2026-{next}:00Z")) };
    assert_eq!(answer["next_poll"], next, "{name}: {answer:#}");
    assert!(!answer["steps"].as_array().expect("as expected").is_empty(), "{name}");
}

/// Returns facts for `plan --document`: the last successful poll was on Monday at ten; `more` adds further facts.
fn ten(more: &Value) -> Value {
    let mut facts = json!({"last_ok": MONDAY});
    facts
        .as_object_mut()
        .expect("as expected")
        .extend(more.as_object().expect("as expected").clone());
    facts
}

fn last(at: &str) -> Value {
    json!({"last_ok": format!("2026-{at}:00Z")})
}

#[test]
fn the_plan_reproduces_recommendation_and_floor_examples() {
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
fn the_plan_reproduces_window_and_rule_examples() {
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
    assert!(!answer["flaws"].as_array().expect("as expected").is_empty(), "hour 25 is reported");
    let only = atom("<refreshRate>900000</refreshRate>");
    check("H.3, no sched", &only, &last("03-06T21:30"), "03-06T21:45");
}

#[test]
fn document_plan_is_printed_and_wrong_facts_are_refused() {
    let facts = json!({"last_ok": MONDAY}).to_string();
    let told = text_of(&ttl(30), &facts, false).expect("a plan");
    let sentence =
        "Next poll in 30 minutes, because the publisher asks for a poll about every 30 minutes.\n";
    assert!(told.starts_with(sentence), "{told}");
    assert!(told.contains("recommended     30 min: the publisher's ttl of 30 min"), "{told}");
    let why = text_of(&ttl(30), "{\"pace\": \"often\"}", false).expect_err("no pace");
    assert!(why.contains("facts cannot be read"), "{why}");
    let read = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        read_args(&args).map(|(document, facts, as_json)| format!("{document} {facts} {as_json}"))
    };
    assert_eq!(read(&["--document", "a", "--facts", "b", "--json"]), Ok("a b true".to_owned()));
    for wrong in [&[][..], &["--document", "a"], &["--facts"], &["a"]] {
        assert!(read(wrong).is_err(), "{wrong:?}");
    }
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
    let shares: f64 = learned["shares"]
        .as_object()
        .expect("as expected")
        .values()
        .map(|share| share.as_f64().expect("as expected"))
        .sum();
    assert!((shares - 1.0).abs() < 0.01, "{answer:#}");
    let delays = ["expected_delay_minutes", "even_delay_minutes"];
    let [delay, even] = delays.map(|name| learned[name].as_f64().expect("as expected"));
    assert!(delay < even / 2.0, "{answer:#}");
    let stated = planned(&ttl(30), &facts);
    assert_eq!(stated["settled_by"], json!("ttl"), "never above the publisher");
}
