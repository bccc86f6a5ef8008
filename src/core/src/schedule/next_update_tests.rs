//! Tests for the worked examples of SPEC A.6, row by row.

use PlanKind::{Boundary, Interval};

use super::*;
use crate::feed::IntervalRule;
use crate::schedule::decide::decide_time;
use crate::schedule::facts::Facts;
use crate::schedule::limits::{Pace, instant, seconds};
use crate::schedule::plan::{Decision, PlanKind};
use crate::schedule::recommend::Bounds;
use crate::schedule::specimens::*;

type Row = (&'static str, i64, Option<i64>, &'static str, PlanKind, u32);

/// Checks rows of: last poll, GET-SCHEDULE at that time (interval and duration in minutes), next poll, kind, and binding minutes.
fn check(name: &str, rules: fn() -> Vec<IntervalRule>, rows: &[Row]) {
    for &(last, interval, duration, next, kind, binding) in rows {
        let facts = with_rules(rules(), last);
        let schedule = interval_in_force(&facts, at(last));
        let minutes = (i64::from(schedule.0 / 60), schedule.1.map(|seconds| seconds / 60));
        assert_eq!(minutes, (interval, duration), "{name}, schedule at {last}");
        check_next(name, &facts, next, kind, binding);
    }
}

fn check_next(name: &str, facts: &Facts, next: &str, kind: PlanKind, binding: u32) {
    let last = facts.last_ok.expect("polled before");
    let Decision { next_poll, kind: got, binding_seconds, .. } = decide_time(facts, last, 0.0);
    let expected = (Some(at(next)), kind, Some(binding * 60));
    assert_eq!((next_poll, got, binding_seconds), expected, "{name}, last {last}");
}

#[test]
fn the_papers_rules_give_the_worked_examples() {
    let rows = [
        ("03-02 10:00", 30, Some(480), "03-02 10:30", Interval, 30),
        ("03-02 17:50", 30, Some(10), "03-02 18:20", Interval, 30),
        ("03-02 17:30", 30, Some(30), "03-02 18:00", Interval, 30),
        ("03-02 17:29", 30, Some(31), "03-02 17:59", Interval, 30),
        ("03-02 18:00", 240, Some(600), "03-02 22:00", Interval, 240),
        ("03-02 08:30", 240, Some(30), "03-02 09:00", Boundary, 30),
        ("03-02 08:59", 240, Some(1), "03-02 09:29", Interval, 30),
        ("03-02 06:00", 240, Some(180), "03-02 09:00", Boundary, 30),
        ("03-02 05:00", 240, Some(240), "03-02 09:00", Interval, 240),
        ("03-02 04:00", 30, Some(60), "03-02 04:30", Interval, 30),
        ("03-02 04:45", 30, Some(15), "03-02 05:15", Interval, 30),
        ("03-02 03:59", 240, Some(1), "03-02 04:29", Interval, 30),
        ("03-02 00:10", 240, Some(230), "03-02 04:00", Boundary, 30),
        ("03-01 23:59", 240, Some(241), "03-02 03:59", Interval, 240),
        ("03-02 22:00", 240, Some(360), "03-03 02:00", Interval, 240),
        ("03-06 20:00", 240, Some(480), "03-07 00:00", Interval, 240),
        ("03-07 09:00", 240, Some(1140), "03-07 13:00", Interval, 240),
        ("03-07 00:30", 240, Some(210), "03-07 04:00", Boundary, 30),
        ("03-08 23:00", 240, Some(300), "03-09 03:00", Interval, 240),
        ("03-09 01:00", 240, Some(180), "03-09 04:00", Boundary, 30),
    ];
    check("P", set_p, &rows);
}

#[test]
fn the_most_specific_of_overlapping_rules_wins() {
    let rows = [
        ("03-04 11:50", 30, Some(10), "03-04 12:20", Interval, 30),
        ("03-04 12:20", 120, Some(40), "03-04 13:00", Boundary, 30),
        ("03-07 11:50", 240, Some(10), "03-07 13:50", Interval, 120),
    ];
    check("O", set_o, &rows);
    let tied = || vec![rule(120, Some((9, 9)), None), rule(60, Some((9, 9)), None)];
    check("later of two", tied, &[("03-02 09:00", 60, None, "03-02 10:00", Interval, 60)]);
}

#[test]
fn wrapping_hours_belong_to_the_starting_evening() {
    let rows = [
        ("03-06 21:30", 180, Some(30), "03-06 22:00", Boundary, 20),
        ("03-07 01:00", 20, Some(120), "03-07 01:20", Interval, 20),
        ("03-07 02:50", 20, Some(10), "03-07 03:10", Interval, 20),
        ("03-06 01:00", 180, Some(1260), "03-06 04:00", Interval, 180),
        ("03-08 02:50", 20, Some(10), "03-08 03:10", Interval, 20),
        ("03-08 22:30", 180, Some(7170), "03-09 01:30", Interval, 180),
    ];
    check("W", set_w, &rows);
}

#[test]
fn wrapping_day_range_covers_the_weekend() {
    let rows = [
        ("03-06 20:00", 360, Some(240), "03-07 00:00", Boundary, 60),
        ("03-09 23:30", 60, Some(30), "03-10 00:30", Interval, 60),
        ("03-10 00:30", 360, Some(5730), "03-10 06:30", Interval, 360),
    ];
    check("V", set_v, &rows);
}

#[test]
fn rules_use_their_own_time_zone() {
    let rows = [
        ("03-03 04:50", 30, Some(10), "03-03 05:20", Interval, 30),
        ("03-02 16:20", 240, Some(40), "03-02 17:00", Boundary, 30),
        ("03-02 16:40", 240, Some(20), "03-02 17:10", Interval, 30),
        ("03-07 04:30", 30, Some(30), "03-07 05:00", Interval, 30),
        ("03-02 04:30", 240, Some(750), "03-02 08:30", Interval, 240),
    ];
    check("T", set_t, &rows);
    let rows = [
        ("03-02 03:00", 240, Some(30), "03-02 03:30", Boundary, 30),
        ("03-02 12:20", 30, Some(10), "03-02 12:50", Interval, 30),
    ];
    check("half-hour zone", set_half, &rows);
}

#[test]
fn hours_without_a_rule_take_the_next_source() {
    let with_ttl = |last| {
        let mut facts = with_rules(set_n(), last);
        facts.hints.ttl_minutes = Some(120);
        facts
    };
    check_next("N", &with_ttl("03-02 07:30"), "03-02 09:00", Boundary, 30);
    check_next("N", &with_ttl("03-07 12:00"), "03-07 14:00", Interval, 120);
    check_next("N", &with_ttl("03-02 17:45"), "03-02 18:15", Interval, 30);
}

#[test]
fn a_shorter_rule_never_makes_the_poll_later() {
    check_next("M", &with_rules(set_m(), "03-02 10:30"), "03-02 12:30", Interval, 120);
    check_next("M", &with_rules(set_m(), "03-02 10:05"), "03-02 12:05", Interval, 120);
    check_next("M2", &with_rules(set_m2(), "03-02 06:15"), "03-02 14:15", Interval, 480);
}

#[test]
fn pace_and_bounds_act_on_every_rule() {
    let paced = |pace, last| {
        let mut facts = with_rules(set_p(), last);
        facts.settings.pace = pace;
        facts
    };
    check_next("more", &paced(Pace::More, "03-02 08:30"), "03-02 09:00", Boundary, 15);
    check_next("more", &paced(Pace::More, "03-02 17:50"), "03-02 18:05", Interval, 15);
    check_next("more", &paced(Pace::More, "03-02 18:00"), "03-02 20:00", Interval, 120);
    let held = bounded(paced(Pace::More, "03-02 10:00"), 20, 1440);
    check_next("more, MIN 20", &held, "03-02 10:20", Interval, 20);
    check_next("less", &paced(Pace::Less, "03-02 08:30"), "03-02 09:30", Interval, 60);
    check_next("less", &paced(Pace::Less, "03-02 17:50"), "03-02 18:50", Interval, 60);
    check_next("less", &paced(Pace::Less, "03-02 18:00"), "03-03 02:00", Interval, 480);
    let held = bounded(paced(Pace::Less, "03-02 18:00"), 15, 240);
    check_next("less, MAX 240", &held, "03-02 22:00", Interval, 240);
}

#[test]
fn rule_with_a_bad_number_alone_is_dropped() {
    let mut rules = set_w();
    rules.insert(0, rule(5, Some((25, 26)), None));
    check_next("H.3", &with_rules(rules, "03-06 21:30"), "03-06 22:00", Boundary, 20);
    let only_bad = vec![rule(0, None, None)];
    check_next("none usable", &with_rules(only_bad, "03-02 10:00"), "03-02 11:00", Interval, 60);
}

#[test]
fn a_named_zone_follows_its_daylight_saving() {
    let rules = || {
        let zone = crate::feed::Zone::Named("Europe/Amsterdam".to_owned());
        vec![rule(240, None, None), IntervalRule { zone, ..rule(30, Some((9, 17)), None) }]
    };
    // In winter, local hour 9 starts at 08:00 UTC. In summer, from Sunday 29 March, it starts at 07:00 UTC.
    let rows = [
        ("03-02 07:30", 240, Some(30), "03-02 08:00", Boundary, 30),
        ("03-28 16:30", 30, Some(30), "03-28 17:00", Interval, 30),
        ("03-28 17:00", 240, Some(840), "03-28 21:00", Interval, 240),
        ("03-30 06:30", 240, Some(30), "03-30 07:00", Boundary, 30),
    ];
    check("named zone", rules, &rows);
    // On Lord Howe Island daylight saving time ends with a half-hour change, so local hour 1 lasts half an hour longer.
    let night = || {
        let zone = crate::feed::Zone::Named("Australia/Lord_Howe".to_owned());
        vec![rule(240, None, None), IntervalRule { zone, ..rule(30, Some((1, 1)), None) }]
    };
    // 4 April 2026, 15:00 UTC: 02:00 at +11:00 becomes 01:30 at +10:30, which is hour 1 again.
    check("half-hour change", night, &[("04-04 14:10", 30, Some(80), "04-04 14:40", Interval, 30)]);
}

#[test]
fn next_update_matches_the_closed_form_at_17_50() {
    let table = RuleTable::new(&set_p()).expect("rules");
    let bounds = Bounds::from_facts(&Facts::default());
    let rhythm = Rhythm { table: &table, fallback: 3600, bounds };
    let next = next_update(rhythm, seconds(at("03-02 17:50")));
    assert_eq!(instant(next.at), at("03-02 18:20"));
}
