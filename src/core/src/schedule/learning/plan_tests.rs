//! Properties that must hold for every learned plan, checked on extreme and random histories.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::super::{
    Facts, Learned, PlanKind, ScheduleSettings, SettledBy, decide, decide_time,
};
use super::super::clocks::PublicationClock;
use super::super::publications::{Fetch, Stamp, WINDOW_MINUTES};
use super::*;
use crate::schedule::limits::{instant, seconds};

/// 2026-03-02T00:00:00Z, a Monday, in minutes.
const MONDAY: i64 = 1_772_409_600 / 60;

fn terms(min_minutes: u32, max_minutes: u32) -> LearnTerms {
    LearnTerms {
        min_seconds: min_minutes * 60,
        max_seconds: max_minutes * 60,
        price_minutes: PRICE_MINUTES,
        zone: Zone::Utc,
    }
}

fn plan_of(minutes: Vec<i64>, weeks: i64, terms: &LearnTerms) -> LearnedPlan {
    let known = Publications::of_minutes(minutes, MONDAY - weeks * WEEK_MINUTES, MONDAY);
    learn(&known, terms, instant(MONDAY * 60)).expect("a plan")
}

/// Returns the polls of a week starting at `start`, in seconds since 1970.
fn week(plan: &LearnedPlan, pace: Pace, start: i64, (min, max): (i64, i64)) -> Vec<i64> {
    let mut polls = vec![start];
    while polls[polls.len() - 1] < start + WEEK_MINUTES * 60 {
        let last = polls[polls.len() - 1];
        polls.push(plan.next(last, pace, min, max).expect("placed"));
    }
    polls
}

fn mornings(weeks: i64) -> Vec<i64> {
    (1..=weeks * 7).map(|day| MONDAY - day * DAY_MINUTES + 7 * 60 + 30).collect()
}

#[test]
fn plan_round_trips_through_its_record() {
    let cases = [
        plan_of(mornings(6), 6, &terms(15, 1440)),
        plan_of(mornings(6), 6, &terms(15, 60)),
        plan_of(vec![MONDAY - 600], 6, &terms(15, 1440)),
    ];
    for plan in cases {
        let bytes = rmp_serde::to_vec_named(&plan).expect("a record");
        assert!(bytes.len() < 5000, "{} bytes", bytes.len());
        let back: LearnedPlan = rmp_serde::from_slice(&bytes).expect("a plan");
        assert_eq!(back, plan);
    }
}

#[test]
fn a_budget_is_kept_and_spent() {
    let known = Publications::of_minutes(mornings(6), MONDAY - 6 * WEEK_MINUTES, MONDAY);
    let now = instant(MONDAY * 60);
    for budget in [50.0, 85.0, 158.3] {
        let plan = learn_for_polls(&known, &terms(15, 240), now, budget).expect("a plan");
        let mut last = MONDAY - REPLAY_MINUTES;
        let mut polls = 0;
        while last < MONDAY {
            polls += 1;
            last = plan.next_minute(last, 15, 240);
        }
        let a_week = f64::from(polls) / 2.0;
        assert!(a_week <= budget + 1.0, "{a_week} of {budget}");
        assert!(a_week >= 0.97 * budget, "{a_week} of {budget}");
    }
}

#[test]
fn morning_feed_is_polled_right_after_publication() {
    let plan = plan_of(mornings(6), 6, &terms(15, 1440));
    assert!(plan.is_placed());
    let polls = week(&plan, Pace::Normal, MONDAY * 60, (900, 86_400));
    let after = |day: i64| (MONDAY + day * DAY_MINUTES + 7 * 60 + 31) * 60;
    let soon = |day: &i64| polls.iter().any(|poll| (0..=600).contains(&(poll - after(*day))));
    assert_eq!((1..7).filter(soon).count(), 6, "{polls:?}");
    assert!(plan.rhythm.delay_minutes < plan.rhythm.even_delay_minutes / 2.0, "{:?}", plan.rhythm);
    let sentence = plan.rhythm.sentence();
    assert!(sentence.starts_with("learned from 42 publications in 6 weeks: "), "{sentence}");
    assert!(sentence.contains("it usually posts every day around 07:30 (UTC); the "), "{sentence}");
}

#[test]
fn punctual_feed_is_polled_a_minute_later() {
    let at = |day: i64, hour: i64| MONDAY + day * DAY_MINUTES + hour * 60 + 1;
    let past = (1..=42).flat_map(|day| [at(-day, 11), at(-day, 15)]).collect();
    let plan = plan_of(past, 6, &terms(15, 1440));
    let polls = week(&plan, Pace::Normal, MONDAY * 60, (900, 86_400));
    for published in (0..7).flat_map(|day| [at(day, 11), at(day, 15)]) {
        assert!(polls.contains(&((published + 1) * 60)), "{published}: {polls:?}");
    }
    let past = (1..=42).map(|day| at(-day, 11)).collect();
    let daily = week(&plan_of(past, 6, &terms(15, 1440)), Pace::Normal, MONDAY * 60, (900, 86_400));
    assert!((0..7).all(|day| daily.contains(&((at(day, 11) + 1) * 60))), "{daily:?}");
    let loose = (1..=42).flat_map(|day| [at(-day, 11) + day % 9, at(-day, 15) + day * 7 % 9]);
    let plan = plan_of(loose.collect(), 6, &terms(15, 1440));
    let polls = week(&plan, Pace::Normal, MONDAY * 60, (900, 86_400));
    let after = |day| polls.iter().any(|poll| (600..1200).contains(&(poll - at(day, 11) * 60)));
    assert!((1..5).all(after), "{polls:?}");
}

#[test]
fn both_sharp_times_of_a_day_are_met_within_two_minutes() {
    let weekday = |day: &i64| (MONDAY / DAY_MINUTES - day + 3).rem_euclid(7) < 5;
    for (first, second) in [(11 * 60 + 1, 15 * 60 + 1), (9 * 60 + 30, 13 * 60 + 30), (480, 1200)] {
        let days = (1..=63_i64).filter(weekday);
        let minutes =
            days.flat_map(|day| [first, second].map(|at| MONDAY - day * DAY_MINUTES + at));
        let plan = plan_of(minutes.collect(), 9, &terms(15, 1440));
        let polls = week(&plan, Pace::Normal, MONDAY * 60, (900, 86_400));
        for time in [first, second].map(|at| (MONDAY + at) * 60) {
            let poll = polls.iter().find(|poll| **poll >= time).expect("a poll");
            assert!(poll - time <= 60, "{time}: {} s", poll - time);
        }
    }
}

#[test]
fn sparse_data_gives_evenly_spaced_polls() {
    for minutes in [vec![], vec![MONDAY - 500], mornings(1)] {
        let plan = plan_of(minutes, 1, &terms(15, 1440));
        assert!(!plan.is_placed());
        assert_eq!(plan.next(MONDAY * 60, Pace::Normal, 900, 86_400), None);
        let minutes = f64::from(plan.interval_seconds()) / 60.0;
        let expected = (2.0 * PRICE_MINUTES * 10_080.0 / plan.rhythm.rate_per_week).sqrt();
        assert!((minutes - expected).abs() < 1.0, "{minutes} {expected}");
    }
    assert_eq!(learn(&Publications::default(), &terms(15, 1440), instant(0)), None);
}

#[test]
fn random_times_are_no_clock() {
    let mut state = 7_u64;
    let minutes = (0..8 * WEEK_MINUTES).filter(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33).is_multiple_of(250)
    });
    let minutes: Vec<i64> = minutes.map(|minute| MONDAY - 8 * WEEK_MINUTES + minute).collect();
    let plan = plan_of(minutes, 8, &terms(15, 1440));
    let [.., any_time] = plan.rhythm.shares;
    assert!(any_time > 0.5, "{:?}", plan.rhythm.shares);
}

#[test]
fn midnight_dates_give_no_hours_until_arrivals_are_seen() {
    let midnights = |days: std::ops::RangeInclusive<i64>| -> Vec<_> {
        let at = |day: i64| instant((MONDAY - day * DAY_MINUTES) * 60);
        days.map(|day| Some(Stamp { at: at(day), offset_minutes: None })).collect()
    };
    let mut known = Publications::default();
    let first = instant((MONDAY - 14 * DAY_MINUTES + 600) * 60);
    let stamps = midnights(14..=53);
    known.learn_from_fetch(&Fetch {
        previous: None,
        at: first,
        stamps: &stamps,
        document_entries: 40,
    });
    let plan = learn(&known, &terms(15, 1440), first).expect("a plan");
    assert!(!plan.is_placed());
    assert_eq!(
        plan.rhythm.sentence(),
        "learned from 40 publications in 6 weeks: it posts about once a day; its dates have no time of day, so \
         its hours are learned as entries arrive"
    );
    // Each entry is first seen in a fetch at 15:00 of its day and was absent at 14:00.
    for day in (1..=13).rev() {
        let at = |minute: i64| instant((MONDAY - day * DAY_MINUTES + minute) * 60);
        let (previous, stamps) = (Some(at(840)), midnights(day..=day));
        let fetch = Fetch { previous, at: at(900), stamps: &stamps, document_entries: 40 };
        known.learn_from_fetch(&fetch);
    }
    let plan = learn(&known, &terms(15, 1440), instant(MONDAY * 60)).expect("a plan");
    let said = plan.rhythm.sentence();
    assert!(plan.is_placed(), "{said}");
    assert!(said.starts_with("learned from the arrival of 13 publications in 2 weeks"));
    let around: Vec<i64> = plan.rhythm.peaks.iter().map(|peak| i64::from(peak.minute)).collect();
    assert!(
        !around.is_empty() && around.iter().all(|minute| (800..940).contains(minute)),
        "{said}"
    );
}

#[test]
fn silent_feed_loses_its_clocks() {
    let long_ago: Vec<i64> = mornings(3).iter().map(|minute| minute - 8 * WEEK_MINUTES).collect();
    let plan = plan_of(long_ago, 11, &terms(15, 1440));
    let [.., any_time] = plan.rhythm.shares;
    assert!(any_time > 0.8, "{:?}", plan.rhythm.shares);
    assert_eq!(PublicationClock::ALL.last(), Some(&PublicationClock::AnyTime));
}

#[test]
fn a_short_document_bounds_the_gap() {
    let mut known = Publications::default();
    let stamps: Vec<_> = (0..1000)
        .map(|number| {
            Some(Stamp { at: instant((MONDAY - number * 20) * 60), offset_minutes: None })
        })
        .collect();
    let fetch =
        Fetch { previous: None, at: instant(MONDAY * 60), stamps: &stamps, document_entries: 10 };
    known.learn_from_fetch(&fetch);
    let dear = LearnTerms { price_minutes: 1e6, ..terms(15, 1440) };
    let plan = learn(&known, &dear, instant(MONDAY * 60)).expect("a plan");
    let polls = week(&plan, Pace::Normal, MONDAY * 60, (900, 86_400));
    // At three publications an hour, half of the document's ten entries are new after 100 minutes. Polls must be at most a little
    // more than this apart: 130 minutes.
    assert!(polls.windows(2).all(|pair| pair[1] - pair[0] <= 130 * 60), "{polls:?}");
}

#[test]
fn daylight_saving_feed_is_learned_in_its_zone() {
    // Publications daily at 09:00 in New York. From 2026-03-08 on, this is an hour earlier in UTC.
    let end = MONDAY + 4 * WEEK_MINUTES;
    let minutes: Vec<i64> = (1..=56)
        .map(|day| end - day * DAY_MINUTES)
        .map(|day| day + if day < MONDAY + 6 * DAY_MINUTES { 14 * 60 } else { 13 * 60 })
        .collect();
    let known = Publications::of_minutes(minutes, end - 8 * WEEK_MINUTES, end);
    let plan = learn(&known, &terms(15, 1440), instant(end * 60)).expect("a plan");
    assert_eq!(plan.rhythm.zone, Zone::Named("America/New_York".into()));
}

fn history() -> impl Strategy<Value = Vec<i64>> {
    let any = prop::collection::vec(0..WINDOW_MINUTES + 5000, 0..300);
    let rhythm =
        (0..DAY_MINUTES, prop::collection::vec(0..90_i64, 8..84)).prop_map(|(minute, lates)| {
            (0_i64..).zip(lates).map(|(day, late)| day * DAY_MINUTES + minute + late).collect()
        });
    let one = (0..WINDOW_MINUTES, 0..50_usize).prop_map(|(minute, count)| vec![minute; count]);
    prop_oneof![2 => any, 2 => rhythm, 1 => one]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn intervals_respect_bounds_and_pace_order(
        ages in history(),
        (min, more) in (5..200_u32, 0..3000_u32),
        start in 0..WEEK_MINUTES * 60,
    ) {
        let minutes: Vec<i64> = ages.iter().map(|age| MONDAY - age).collect();
        let terms = terms(min, min + more);
        let known = Publications::of_minutes(minutes, MONDAY - WINDOW_MINUTES, MONDAY);
        let plan = learn(&known, &terms, instant(MONDAY * 60)).expect("a plan");
        prop_assert_eq!(&plan, &learn(&known, &terms, instant(MONDAY * 60)).expect("a plan"));
        let bounds = (i64::from(terms.min_seconds), i64::from(terms.max_seconds));
        if plan.is_placed() {
            let polls = Pace::ALL.map(|pace| week(&plan, pace, MONDAY * 60 + start, bounds));
            for polls in &polls {
                let gaps = polls.windows(2).map(|pair| pair[1] - pair[0]);
                prop_assert!(gaps.clone().all(|gap| gap >= bounds.0 && gap <= bounds.1));
            }
            let counts = polls.map(|polls| polls.len());
            prop_assert!(counts[0] >= counts[1] && counts[1] >= counts[2], "{:?}", counts);
        }
    }

    #[test]
    fn a_schedule_follows_the_plan_and_only_adds_to_it(
        ages in history(),
        u in -1.0..1.0_f64,
        last in 0..WEEK_MINUTES * 60,
    ) {
        let minutes: Vec<i64> = ages.iter().map(|age| MONDAY - age).collect();
        let plan = plan_of(minutes, 12, &terms(15, 1440));
        let settings = ScheduleSettings::default();
        let last_ok = instant(MONDAY * 60 + last);
        let learned = Learned::by_plan(Arc::new(plan), Some(last_ok), &settings);
        let stored = Learned { plan: None, ..learned };
        let at_all_paces = |learned: &Learned| Pace::ALL.map(|pace| {
            let settings = ScheduleSettings { pace, ..settings.clone() };
            let facts = Facts { learned: Some(learned.clone()), settings, last_ok: Some(last_ok), ..Facts::default() };
            let plan = decide(&facts, last_ok, u);
            assert_eq!(plan.decision(), decide_time(&facts, last_ok, u));
            plan
        });
        let plans = at_all_paces(&learned);
        let times = plans.each_ref().map(|plan| plan.next_poll);
        prop_assert_eq!(at_all_paces(&stored).map(|plan| plan.next_poll), times, "after a restart");
        for (plan, pace) in plans.iter().zip(Pace::ALL) {
            let placed = learned.plan.as_ref().and_then(|plan| plan.next(seconds(last_ok), pace, 900, 86_400));
            let gap = seconds(plan.next_poll.expect("active")) - seconds(last_ok);
            prop_assert!((900..=86_400).contains(&gap));
            if let Some(placed) = placed {
                prop_assert_eq!((plan.kind, plan.settled_by), (PlanKind::Slot, SettledBy::Learned));
                let late = gap + seconds(last_ok) - placed;
                prop_assert!((0..=180).contains(&late) && late * 10 <= gap, "{} s late of {}", late, gap);
            }
        }
    }
}

#[test]
fn time_is_named_only_after_publications_there() {
    for hours in [5, 7, 11, 13] {
        let evenly: Vec<i64> = (0..14).rev().map(|step| MONDAY - step * hours * 60).collect();
        let said = plan_of(evenly, 2, &terms(15, 1440)).rhythm.sentence();
        assert!(said.contains("at no set time"), "every {hours} hours: {said}");
    }
    let said = plan_of(mornings(6), 6, &terms(15, 1440)).rhythm.sentence();
    assert!(said.contains("every day around 07:30"), "{said}");
}
