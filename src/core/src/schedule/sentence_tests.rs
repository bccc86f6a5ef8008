//! Table-driven tests for plan sentences.

use std::sync::Arc;

use chrono::TimeDelta;

use super::*;
use crate::feed::{Hints, Period, Zone};
use crate::schedule::decide::decide_time;
use crate::schedule::facts::{Learned, PollFailure, ScheduleSettings};
use crate::schedule::holds::cache::TimingHeaders;
use crate::schedule::learning::{LearnTerms, Publications, learn};
use crate::schedule::specimens::*;

/// Returns the plan sentence at a time in 2026, without jitter.
fn told(facts: &Facts, now: &str) -> String {
    plan_sentence(facts, &decide_time(facts, at(now), 0.0), at(now), Tz::UTC)
}

fn set(mut facts: Facts, change: impl FnOnce(&mut ScheduleSettings)) -> Facts {
    change(&mut facts.settings);
    facts
}

#[test]
fn time_precision_follows_its_distance() {
    let now = at("03-02 10:00");
    for (then, expected) in [
        ("03-02 09:59", "now"),
        ("03-02 10:00", "now"),
        ("03-02 10:00:20", "in a minute"),
        ("03-02 10:12:40", "in 12 minutes"),
        ("03-02 10:59:40", "in 59 minutes"),
        ("03-02 11:00", "around 11:00"),
        ("03-02 19:56", "around 20:00"),
        ("03-02 23:55", "tomorrow around 00:00"),
        ("03-03 07:02", "tomorrow around 07:00"),
        ("03-03 10:30", "tomorrow"),
        ("03-05 08:00", "on Thursday"),
        ("03-12 08:00", "on 12 March"),
    ] {
        assert_eq!(when_words(at(then), now, Tz::UTC), expected);
    }
    let later = now + TimeDelta::days(365);
    assert_eq!(when_words(later, now, Tz::UTC), "on 2 March 2027");
    assert_eq!(when_words(at("03-02 19:56"), now, Tz::Asia__Tokyo), "tomorrow around 05:00");
}

#[test]
fn each_source_explains_its_poll_time() {
    let now = "03-02 10:00";
    let office = with_rules(set_p(), "03-02 10:00");
    let ttl = |minutes| with_ttl(minutes, "03-02 10:00");
    let base = Some(at("01-05 09:00"));
    for (facts, expected) in [
        (
            ttl(30),
            "Next poll in 30 minutes, because the publisher asks for a poll about every 30 minutes",
        ),
        (
            ttl(300),
            "Next poll around 15:00, because the publisher asks for a poll about every 5 hours",
        ),
        (
            ttl(5),
            "Next poll in 15 minutes, because no feed is polled more often than every 15 minutes unless you ask for it",
        ),
        (ttl(9000), "Next poll tomorrow, because every feed is polled at least every day"),
        (
            office,
            "Next poll in 30 minutes, because the publisher's rules ask for a poll about every 30 minutes at this time",
        ),
        (
            with_sy(Period::Daily, 4, base, "03-02 10:00"),
            "Next poll around 15:00, because it follows an update time stated by the publisher",
        ),
        (
            Facts { last_ok: Some(at(now)), ..Facts::default() },
            "Next poll around 11:00, because nothing is known about when it posts: it is polled about every hour",
        ),
        (Facts::default(), "Next poll now, because it has not been read yet"),
        (
            set(ttl(60), |settings| settings.fixed_seconds = Some(7200)),
            "Next poll around 12:00, because you want it polled about every 2 hours",
        ),
        (
            set(ttl(60), |settings| settings.pace = Pace::Less),
            "Next poll around 12:00, because you want it half as often as the publisher asks: about every 2 hours",
        ),
        (
            Facts { standing: FeedStatus::Gone, ..Facts::default() },
            "No automatic polls, because the publisher ended it",
        ),
    ] {
        assert_eq!(told(&facts, now), expected);
    }
    assert_eq!(
        told(&with_rules(set_p(), "03-02 08:30"), "03-02 08:30"),
        "Next poll in 30 minutes, because the publisher's rules ask for a poll about every 30 minutes from then on"
    );
}

#[test]
fn delaying_floor_is_named_in_the_sentence() {
    let now = at("03-02 10:00");
    let none = TimingHeaders::default();
    let mut fresh = with_ttl(60, "03-02 10:00");
    let headers = TimingHeaders { cache_control: Some("max-age=21600"), ..none };
    fresh.record_success(200, &headers, now, now);
    assert_eq!(
        told(&fresh, "03-02 10:00"),
        "Next poll around 16:00, because its server says that its last response is fresh until then"
    );
    for (stated, expected) in
        [("604800", "7 d, but only 2 d count"), ("31536000", "365 d, but only 6 h count")]
    {
        let cache_control = format!("max-age={stated}");
        let headers = TimingHeaders { cache_control: Some(&cache_control), ..none };
        fresh.record_success(200, &headers, now, now);
        let told = told(&fresh, "03-02 10:00");
        assert!(told.ends_with(&format!("its last response is fresh for {expected}")), "{told}");
    }
    let mut refused = with_ttl(60, "03-02 09:00");
    let headers = TimingHeaders { retry_after: Some("7200"), ..none };
    refused.record_failure(PollFailure::Status(503), &headers, now, now);
    assert_eq!(
        told(&refused, "03-02 10:00"),
        "Next poll around 12:00, because its server asked backissue to wait until then"
    );
    let mut failing = with_ttl(60, "03-02 09:00");
    for tries in ["the last attempt failed", "the last 2 attempts failed"] {
        failing.record_failure(PollFailure::Status(500), &none, now, now);
        let told = told(&failing, "03-02 10:00");
        assert!(told.ends_with(tries), "{told}");
    }
}

/// Creates a feed that posted at 19:30 on each of the last `days` days before Monday 2 March, last polled at 10:00 that day.
fn evenings(days: i64) -> Facts {
    let monday = at("03-02 00:00").timestamp().div_euclid(60);
    learned_of((1..=days).map(|day| monday - day * 1440 + 1170).collect(), days)
}

/// Creates a feed with these publications, observed for `days` days before Monday 2 March, last polled at 10:00 that day.
fn learned_of(minutes: Vec<i64>, days: i64) -> Facts {
    let monday = at("03-02 00:00").timestamp().div_euclid(60);
    let known = Publications::of_minutes(minutes, monday - days * 1440, monday);
    let settings = ScheduleSettings::default();
    let terms = LearnTerms {
        min_seconds: settings.min_seconds,
        max_seconds: settings.max_seconds,
        price_minutes: 30.0,
        zone: Zone::Utc,
    };
    let plan = learn(&known, &terms, at("03-02 00:00")).expect("a plan");
    let last_ok = Some(at("03-02 10:00"));
    let learned = Some(Learned::by_plan(Arc::new(plan), last_ok, &settings));
    Facts { last_ok, learned, ..Facts::default() }
}

#[test]
fn well_learned_habits_are_usual_and_others_tentative() {
    assert_eq!(
        told(&evenings(42), "03-02 10:00"),
        "Next poll around 19:30, because it usually posts in the evening"
    );
    assert_eq!(
        told(&evenings(12), "03-02 10:00"),
        "Next poll around 19:30, because it seems to post in the evening"
    );
    let few = told(&evenings(4), "03-02 10:00");
    assert!(few.ends_with("because that suits its 4 posts in twelve weeks"), "{few}");
    let plan = decide_time(&evenings(42), at("03-02 10:00"), 0.0);
    let auckland = plan_sentence(&evenings(42), &plan, at("03-02 10:00"), Tz::Pacific__Auckland);
    assert_eq!(
        auckland,
        "Next poll tomorrow around 08:30, because it usually posts in the morning"
    );
}

#[test]
fn feed_without_regular_times_names_only_its_frequency() {
    let monday = at("03-02 00:00").timestamp().div_euclid(60);
    let minutes: Vec<i64> = (1..=300).map(|number| monday - number * 201).collect();
    let told = told(&learned_of(minutes, 42), "03-02 10:00");
    assert!(told.ends_with("because it posts about 7 times a day"), "{told}");
}

#[test]
fn ineffective_pace_says_why() {
    let now = at("03-02 10:00");
    let paced = |facts: &Facts, pace| {
        let other = set(facts.clone(), |settings| settings.pace = pace);
        let (current, plan) = (decide_time(facts, now, 0.0), decide_time(&other, now, 0.0));
        pace_sentence(facts, &current, &plan, now, Tz::UTC)
    };
    let hourly = with_ttl(60, "03-02 10:00");
    assert_eq!(paced(&hourly, Pace::Less), "about every 2 hours, next poll around 12:00");
    assert_eq!(paced(&hourly, Pace::More), "about every 30 minutes, next poll in 30 minutes");
    let at_minimum = with_ttl(15, "03-02 10:00");
    let expected = "no effect yet (it is already at the shortest interval)";
    assert_eq!(paced(&at_minimum, Pace::More), expected);
    let daily = with_ttl(1440, "03-02 10:00");
    let expected = "no effect yet (it is already at the longest interval)";
    assert_eq!(paced(&daily, Pace::Less), expected);
    let fixed = set(hourly, |settings| settings.fixed_seconds = Some(7200));
    let expected = "no effect yet (you fixed the interval)";
    assert_eq!(paced(&fixed, Pace::Less), expected);
    let hints = Hints { ttl_minutes: Some(60), ..Hints::default() };
    let mut fresh = Facts { hints, ..Facts::default() };
    let headers =
        TimingHeaders { cache_control: Some("max-age=21600"), ..TimingHeaders::default() };
    fresh.record_success(200, &headers, now, now);
    let expected = "about every 2 hours, but only after the next poll (its server says that its last \
                    response is fresh until then)";
    assert_eq!(paced(&fresh, Pace::Less), expected);
}
