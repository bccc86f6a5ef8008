//! Tests for complete explanations, sentence by sentence.

use crate::feed::{Hints, Period};
use crate::schedule::decide::decide;
use crate::schedule::facts::{Facts, FeedStatus, Learned, PollFailure};
use crate::schedule::limits::Pace;
use crate::schedule::plan::{PlanStage, Value};
use crate::schedule::specimens::*;

/// Computes a plan at `now` and compares the sentences of its steps with the expected ones.
fn check(facts: &Facts, now: &str, u: f64, expected: &[&str]) {
    let steps = decide(facts, at(now), u).steps;
    let reasons: Vec<&str> = steps.iter().map(|step| step.reason.as_str()).collect();
    assert_eq!(reasons, expected);
}

#[test]
fn a_hop_into_a_busy_window_is_explained() {
    let mut facts = with_rules(set_p(), "03-02 08:30");
    facts.hints.ttl_minutes = Some(120);
    facts.hints.skip_hours = vec![10];
    let expected = [
        "the publisher's interval rule 2: every 30 min from hour 9 to hour 17, Monday to Friday (it overrides \
         ttl 2 h); the rules also replace skipHours and skipDays",
        "moved earlier, to when the interval of 30 min begins",
        "6 min later (at most 15 min), so that readers do not all poll at once",
    ];
    check(&facts, "03-02 08:30", -0.4, &expected);
}

#[test]
fn bounds_and_pace_are_explained() {
    let expected = [
        "the publisher's ttl of 5 min",
        "raised to the usual minimum of 15 min",
        "15 min after the last poll",
        "no shift this time (at most 7 min 30 s)",
    ];
    check(&with_ttl(5, "03-02 10:00"), "03-02 10:00", 0.0, &expected);
    let mut slow = bounded(with_ttl(180, "03-02 10:00"), 15, 240);
    slow.settings.pace = Pace::Less;
    let expected = [
        "the publisher's ttl of 3 h",
        "doubled to 6 h, limited to your maximum of 4 h",
        "4 h after the last poll",
        "1 h earlier (at most 2 h), so that readers do not all poll at once; earlier instead of later, to stay \
         within the maximum",
    ];
    check(&slow, "03-02 10:00", 0.5, &expected);
}

#[test]
fn readers_minimum_is_named_only_if_it_is_custom() {
    for (minutes, expected) in [
        (5, "raised to the shortest interval allowed, 5 min"),
        (15, "raised to the usual minimum of 15 min"),
        (30, "raised to your minimum of 30 min"),
    ] {
        let facts = bounded(with_ttl(1, "03-02 10:00"), minutes, 240);
        let steps = decide(&facts, at("03-02 10:00"), 0.0).steps;
        assert!(steps.iter().any(|step| step.reason == expected), "{expected}: {steps:?}");
    }
}

#[test]
fn slots_are_explained() {
    let base = Some("2026-01-05T09:00:00Z".parse().expect("an instant"));
    let mut facts = with_sy(Period::Weekly, 2, base, "03-04 10:00");
    facts.settings.pace = Pace::Less;
    facts.learned = Some(Learned::every(180_000));
    let expected = [
        "the publisher updates twice a week: every 3 d 12 h, counted from the stated base; judging by when it \
         posts, a poll about every 2 d 2 h would be enough",
        "doubled to 7 d between update times",
        "the publisher's first update time after the last poll",
        "that is too late: the usual maximum of 1 d after the last poll instead",
        "no room for a shift",
    ];
    check(&facts, "03-04 10:00", 0.7, &expected);
}

#[test]
fn failures_are_explained() {
    let mut facts = with_ttl(60, "03-02 09:00");
    facts.last_try = Some(at("03-02 10:00"));
    (facts.failures, facts.failure) = (4, Some(PollFailure::Status(500)));
    let back_off = |text| {
        [
            "the publisher's ttl of 1 h",
            "1 h after the last poll",
            "12 min later (at most 30 min), so that readers do not all poll at once",
            text,
        ]
    };
    let doubled = "4 failures in a row: 2 h after the last attempt, plus a random 12 min";
    check(&facts, "03-02 10:00", 0.4, &back_off(doubled));
    facts.failure = Some(PollFailure::Status(403));
    let least = "4 failures in a row: 4 h after the last attempt, the minimum after such a response, plus a random \
                 24 min";
    check(&facts, "03-02 10:00", 0.4, &back_off(least));
}

#[test]
fn resuming_inside_a_skip_window_is_explained() {
    let expected = [
        "the publisher's ttl of 1 h",
        "1 h after the last poll",
        "no shift this time (at most 30 min)",
        "inside the hours or days to skip, but it could have been polled while you were away",
        "due since 2 d, so it is polled now",
    ];
    check(&with_windows(with_ttl(60, "03-06 13:00")), "03-08 14:00", 0.0, &expected);
}

#[test]
fn stopped_and_new_feeds_are_explained() {
    let gone = Facts { standing: FeedStatus::Gone, ..Facts::default() };
    let sentence = "the publisher ended this feed (410): no automatic polls until you resume it";
    check(&gone, "03-02 10:00", 0.0, &[sentence]);
    let now = "03-02 10:00";
    check(&Facts::default(), now, 0.0, &["never polled before, so it is due at once", "due now"]);
}

#[test]
fn each_step_starts_at_the_end_of_the_previous() {
    let hints = Hints { ttl_minutes: Some(60), skip_hours: vec![11], ..Hints::default() };
    let facts = Facts { hints, last_ok: Some(at("03-02 10:00")), ..Facts::default() };
    let plan = decide(&facts, at("03-02 10:00"), 0.5);
    let times = plan.steps.iter().filter(|step| step.stage > PlanStage::NextUpdate);
    let mut last = Some(Value::At(at("03-02 11:00")));
    for step in times {
        assert_eq!(step.before, last, "{step:?}");
        last = step.after;
    }
    assert_eq!(last, plan.next_poll.map(Value::At));
}
