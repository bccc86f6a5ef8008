//! Tests of plans for stated hints and facts.

use backissue_core::feed::{IntervalRule, Zone};
use backissue_core::schedule::{Pace, PollFailure};
use serde_json::json;

use super::*;

/// Parses `03-02 10:00` as a time in 2026.
fn at(text: &str) -> DateTime<Utc> {
    format!("2026-{}:00Z", text.replace(' ', "T")).parse().expect("a time")
}

/// The rules from the paper on interval rules.
fn set_p() -> Vec<IntervalRule> {
    let rule = |minutes, hours: Option<(u8, u8)>, days: Option<(u8, u8)>| IntervalRule {
        minutes,
        start_hour: hours.map(|hours| hours.0),
        end_hour: hours.map(|hours| hours.1),
        start_day: days.map(|days| days.0),
        end_day: days.map(|days| days.1),
        zone: Zone::Utc,
    };
    vec![rule(240, None, None), rule(30, Some((9, 17)), Some((1, 5))), rule(30, Some((4, 4)), None)]
}

fn ttl(minutes: u32) -> Hints {
    Hints { ttl_minutes: Some(minutes), ..Hints::default() }
}

fn answer(hints: Hints, facts: &Json) -> Json {
    planned(hints, &[], facts, at("12-24 18:00"))
}

fn planned(hints: Hints, flaws: &[Flaw], facts: &Json, clock: DateTime<Utc>) -> Json {
    let answer = plan_document(hints, flaws, &facts.to_string(), clock, true);
    serde_json::from_str(&answer.expect("readable facts")).expect("JSON")
}

/// Checks the fields of the output that `expected` contains.
fn check(hints: Hints, facts: &Json, expected: &Json) {
    let answer = answer(hints, facts);
    for (field, value) in expected.as_object().expect("an object") {
        assert_eq!(&answer[field], value, "{field} of {facts}: {answer:#}");
    }
}

#[test]
fn an_answer_has_the_promised_fields() {
    let facts = json!({"last_ok": "2026-03-02T10:00:00Z", "pace": "more", "u": 0.5});
    let expected = json!({
        "next_poll": "2026-03-02T10:18:45Z", "kind": "interval",
        "binding_minutes": 15, "settled_by": "ttl", "flaws": [],
    });
    check(ttl(30), &facts, &expected);
    let answer = answer(ttl(30), &facts);
    let sentence = "Next poll in 18 minutes, because you want it twice as often as the publisher asks: about every 15 \
                    minutes";
    assert_eq!(answer["sentence"], sentence);
    let stages = answer["steps"].as_array().expect("steps").iter();
    let stages: Vec<&str> = stages.filter_map(|step| step["stage"].as_str()).collect();
    assert_eq!(stages, ["recommendation", "pace", "next_update", "jitter"]);
    assert_eq!(answer["steps"][1]["before"], 30);
    assert_eq!(answer["steps"][2]["before"], "2026-03-02T10:00:00Z");
}

#[test]
fn headers_and_failures_are_of_the_last_attempt() {
    let failing = |headers: Json| {
        json!({"last_ok": "2026-03-02T09:00:00Z", "last_try": "2026-03-02T10:00:00Z",
               "failures": 1, "status": 503, "headers": headers})
    };
    let at_noon = json!({"next_poll": "2026-03-02T12:00:00Z", "settled_by": "retry_after"});
    check(ttl(60), &failing(json!({"Retry-After": "7200"})), &at_noon);
    check(ttl(60), &failing(json!({"retry-after": 7200})), &at_noon);
    let by_cache = json!({"next_poll": "2026-03-02T13:00:00Z", "settled_by": "cache_lifetime"});
    check(ttl(60), &failing(json!({"cache-control": ["public", "max-age=10800"]})), &by_cache);
    let backing = json!({"next_poll": "2026-03-02T11:00:00Z", "settled_by": "back_off"});
    check(ttl(60), &failing(json!({})), &backing);
    let good = json!({"last_ok": "2026-03-02T10:00:00Z", "headers": {
        "expires": "Mon, 02 Mar 2026 12:00:00 GMT", "date": "Mon, 02 Mar 2026 10:00:00 GMT",
        "age": "600"}});
    let later = json!({"next_poll": "2026-03-02T11:50:00Z", "settled_by": "cache_lifetime"});
    check(ttl(30), &good, &later);
}

#[test]
fn missing_fields_take_the_default() {
    let first =
        json!({"next_poll": "2026-12-24T18:00:00Z", "kind": "now", "binding_minutes": null});
    check(Hints::default(), &json!({}), &first);
    let silent = json!({"last_ok": "2026-03-02T10:00:00Z", "pace": null, "headers": null});
    let hourly = json!({"next_poll": "2026-03-02T11:00:00Z", "settled_by": "default"});
    check(Hints::default(), &silent, &hourly);
    let gone = json!({"last_ok": "2026-03-02T10:00:00Z", "status": 410});
    let never = json!({"next_poll": null, "kind": "never", "settled_by": "gone"});
    check(ttl(30), &gone, &never);
    let learned = json!({"last_ok": "2026-03-02T10:00:00Z", "learned": 90});
    let soon = json!({"next_poll": "2026-03-02T11:30:00Z", "settled_by": "learned"});
    check(Hints::default(), &learned, &soon);
    let odd = json!({"last_ok": "2026-03-02T10:00:00Z", "learned": {"interval_minutes": 22.5}});
    check(Hints::default(), &odd, &json!({"binding_minutes": 22.5}));
}

#[test]
fn a_due_feed_is_polled_now() {
    let facts = json!({"last_ok": "2026-03-02T10:00:00Z", "now": "2026-03-02T17:20:00Z"});
    let expected = json!({
        "next_poll": "2026-03-02T17:20:00Z", "due": "2026-03-02T10:30:00Z", "kind": "now",
    });
    check(ttl(30), &facts, &expected);
    let rules = Hints { intervals: set_p(), ..ttl(30) };
    let boundary = json!({"last_ok": "2026-03-02T08:30:00Z"});
    check(rules, &boundary, &json!({"kind": "boundary", "settled_by": "rules"}));
}

#[test]
fn flaws_of_the_document_are_listed_first() {
    let hints = Hints { skip_hours: (0..24).collect(), ..ttl(30) };
    let own = Flaw { element: "hour".into(), text: "99".into(), reason: "no hour".into() };
    let answer = planned(hints, &[own], &json!({}), at("03-02 10:00"));
    assert_eq!(answer["flaws"][0], json!({"element": "hour", "text": "99", "reason": "no hour"}));
    assert_eq!(answer["flaws"][1]["element"], "skipHours");
}

#[test]
fn unreadable_facts_are_an_error_in_words() {
    for bad in [
        "",
        "[]",
        r#"{"pace": "faster"}"#,
        r#"{"min_minutes": -1}"#,
        r#"{"fixed_minutes": 1e999}"#,
        r#"{"last_ok": "yesterday"}"#,
        r#"{"failures": -1}"#,
        r#"{"learned": "often"}"#,
    ] {
        let error = read_facts(Hints::default(), bad, at("03-02 10:00")).expect_err(bad);
        assert!(error.len() > 10, "{bad}");
    }
}

#[test]
fn facts_are_read_as_stated() {
    let text = r#"{"last_ok": "2026-03-02T11:00:00+01:00", "u": -0.25, "pace": "less",
        "min_minutes": 1, "max_minutes": 1e12, "fixed_minutes": 7.5, "failures": 3, "unknown": 1,
        "loopback": true}"#;
    let stated = read_facts(ttl(30), text, at("12-24 18:00")).expect("readable");
    let ten = at("03-02 10:00");
    assert_eq!((stated.now, stated.u), (ten, -0.25));
    let facts = stated.facts;
    assert_eq!((facts.last_ok, facts.last_try), (Some(ten), Some(ten)));
    assert_eq!((facts.failures, facts.failure), (3, Some(PollFailure::Unanswered)));
    let settings = facts.settings;
    assert_eq!((settings.pace, settings.fixed_seconds), (Pace::Less, Some(450)));
    assert_eq!((settings.min_seconds, settings.max_seconds), (60, 527_040 * 60));
    assert!(facts.loopback);
}
