//! Tests for the jitter examples of SPEC A.7 and the examples of SPEC A.9, in which the program was not always running.

use super::super::facts::PollFailure;
use super::super::plan::PlanKind;
use super::super::specimens::*;
use super::*;
use crate::feed::Period;
use crate::schedule::holds::cache::{CacheState, TimingHeaders};
use crate::schedule::holds::retry_after::{Wait, WaitHeader};

/// Computes the plan right after the last poll, with the share of the jitter `u`, and checks the next poll.
fn check_jitter(name: &str, facts: &Facts, u: f64, next: &str) {
    let now = facts.last_ok.expect("polled before");
    assert_eq!(decide_time(facts, now, u).next_poll, Some(at(next)), "{name}, u {u}");
}

#[test]
fn jitter_gives_the_vectors() {
    let p = |last| with_rules(set_p(), last);
    check_jitter("interval", &p("03-02 10:00"), -1.0, "03-02 10:15:00");
    check_jitter("interval", &p("03-02 10:00"), 0.5, "03-02 10:37:30");
    check_jitter("boundary", &p("03-02 08:30"), -0.4, "03-02 09:06:00");
    check_jitter("capped", &p("03-02 18:00"), -0.25, "03-02 21:30:00");
    check_jitter("mirrored", &bounded(p("03-02 18:00"), 15, 240), 0.5, "03-02 21:00:00");
    let just_inside = bounded(with_ttl(160, "03-02 10:00"), 15, 240);
    check_jitter("up to the maximum itself", &just_inside, 1.0, "03-02 14:00:00");
}

#[test]
fn jitter_keeps_to_slots_stretches_bounds_and_fixed_intervals() {
    let noon = Some("2000-01-01T12:00:00Z".parse().expect("an instant"));
    let slots = with_sy(Period::Hourly, 2, noon, "03-02 10:05");
    check_jitter("slot, one-sided", &slots, -1.0, "03-02 10:45");
    check_jitter("slot, one-sided", &slots, 1.0, "03-02 10:45");
    let short =
        with_rules(vec![rule(240, None, None), rule(180, Some((9, 9)), None)], "03-02 05:30");
    check_jitter("half way into the stretch", &short, 1.0, "03-02 09:30");
    let mut fixed = with_ttl(120, "03-02 10:00");
    fixed.settings.fixed_seconds = Some(6000);
    check_jitter("a tenth of a fixed interval", &fixed, 1.0, "03-02 11:50");
    check_jitter("a tenth of a fixed interval", &fixed, -1.0, "03-02 11:30");
    check_jitter("minimum", &with_ttl(20, "03-02 10:00"), -1.0, "03-02 10:15");
    let weekly = with_sy(Period::Weekly, 1, noon, "03-02 10:00");
    check_jitter("a slot beyond the maximum", &weekly, 1.0, "03-03 10:00");
    let skip = with_windows(with_ttl(60, "03-02 05:10"));
    check_jitter("into the open hours", &skip, 1.0, "03-02 12:30");
    let never = Facts { last_ok: None, ..Facts::default() };
    assert_eq!(decide_time(&never, at("03-02 10:00"), 0.9).next_poll, Some(at("03-02 10:00")));
}

#[test]
fn floors_come_after_jitter() {
    let mut facts = with_ttl(60, "03-02 10:00");
    let headers = TimingHeaders { cache_control: Some("max-age=3600"), ..Default::default() };
    facts.cache = Some(CacheState::of_document(&headers, at("03-02 10:00")));
    check_jitter("cache", &facts, -1.0, "03-02 11:00");
    let mut failing = with_ttl(60, "03-02 09:00");
    (failing.failures, failing.failure) = (4, Some(PollFailure::Unanswered));
    failing.last_try = Some(at("03-02 10:00"));
    let next = decide_time(&failing, at("03-02 10:00"), -1.0).next_poll;
    assert_eq!(next, Some(at("03-02 12:30")), "a quarter more, never less");
}

#[test]
fn overdue_polls_run_at_resume_outside_skip_windows() {
    let windows = |last| with_windows(with_ttl(60, last));
    let check = |name: &str, facts: &Facts, now: &str, next: &str, settled_by: SettledBy| {
        let plan = decide(facts, at(now), 0.0);
        assert_eq!((plan.next_poll, plan.settled_by), (Some(at(next)), settled_by), "{name}");
        assert_eq!(plan.kind == PlanKind::Now, now == next, "{name}");
    };
    let monday = windows("03-02 05:10");
    check("before", &monday, "03-02 05:10", "03-02 12:00", SettledBy::SkipHours);
    check("all skipped so far", &monday, "03-02 07:00", "03-02 12:00", SettledBy::SkipHours);
    check("open by now", &monday, "03-02 13:00", "03-02 13:00", SettledBy::SkipHours);
    let friday = windows("03-06 12:10");
    check("open at first", &friday, "03-08 14:00", "03-08 14:00", SettledBy::Overdue);
    let saturday = windows("03-07 05:10");
    check("open in between", &saturday, "03-08 14:00", "03-08 14:00", SettledBy::Overdue);
    let due = with_ttl(60, "03-02 05:10");
    check("simply late", &due, "03-02 09:00", "03-02 09:00", SettledBy::Ttl);
    let late = decide(&due, at("03-02 09:00"), 0.0);
    assert_eq!(late.due, Some(at("03-02 06:10")));
}

#[test]
fn floors_apply_after_waking_from_sleep() {
    let mut facts = with_ttl(60, "03-02 05:10");
    let headers = TimingHeaders { retry_after: Some("86400"), ..Default::default() };
    facts.last_try = Some(at("03-02 06:10"));
    (facts.failures, facts.failure) = (1, Some(PollFailure::Status(503)));
    facts.retry_after = Wait::of_answer(503, &headers, at("03-02 06:10"));
    let plan = decide(&facts, at("03-02 20:00"), 0.0);
    assert_eq!(plan.next_poll, Some(at("03-03 06:10")));
    assert_eq!(plan.settled_by, SettledBy::RetryAfter);
}

#[test]
fn times_in_the_future_count_as_now_and_far_ones_as_unknown() {
    let mut facts = with_ttl(60, "03-02 10:59");
    let headers = TimingHeaders { cache_control: Some("max-age=7200"), ..Default::default() };
    let now = at("03-02 10:00");
    assert_eq!(decide_time(&facts, now, 0.0).next_poll, Some(at("03-02 11:00")));
    facts.cache = Some(CacheState::of_document(&headers, at("03-02 10:59")));
    assert_eq!(decide_time(&facts, now, 0.0).next_poll, Some(at("03-02 12:00")));
    let ahead = at("05-05 05:05");
    (facts.last_ok, facts.last_try) = (Some(ahead), Some(ahead));
    facts.cache = Some(CacheState::of_document(&headers, ahead));
    facts.retry_after = Some(Wait {
        received_at: ahead,
        seconds: 60,
        stated_by: WaitHeader::RetryAfter,
        refusals: 0,
    });
    assert_eq!(decide_time(&facts, now, 0.0).due, Some(now), "the clock was wrong");
}

#[test]
fn first_poll_waits_only_for_its_host() {
    let now = at("03-02 10:00");
    let mut facts = Facts::default();
    let plan = decide(&facts, now, 0.7);
    assert_eq!((plan.next_poll, plan.kind), (Some(now), PlanKind::Now));
    assert_eq!((plan.settled_by, plan.binding_seconds), (SettledBy::FirstPoll, None));
    let headers = TimingHeaders { retry_after: Some("3600"), ..Default::default() };
    facts.host_wait = Wait::of_answer(429, &headers, now);
    let plan = decide(&facts, now, 0.7);
    assert_eq!((plan.next_poll, plan.kind), (Some(at("03-02 11:00")), PlanKind::Interval));
    assert_eq!(plan.settled_by, SettledBy::RetryAfter);
}
