//! Tests for the minutes at which entries are assumed to have appeared, the limits on stored publications, and extreme histories.

use super::*;
use crate::schedule::limits::instant;

/// 2026-03-02T10:00:00Z, a Monday, in minutes.
const TEN: i64 = 1_772_445_600 / 60;

fn stamp(minute: i64) -> Option<Stamp> {
    Some(Stamp { at: instant(minute * 60 + 20), offset_minutes: None })
}

fn learn(
    publications: &mut Publications,
    previous: Option<i64>,
    at: i64,
    stamps: &[Option<Stamp>],
) {
    let previous = previous.map(|minute| instant(minute * 60));
    let at = instant(at * 60 + 59);
    publications.learn_from_fetch(&Fetch { previous, at, stamps, document_entries: stamps.len() });
}

fn minutes(publications: &Publications) -> Vec<i64> {
    publications.minutes().map(|minute| minute - TEN).collect()
}

#[test]
fn first_document_counts_within_the_window_up_to_now() {
    let mut known = Publications::default();
    let old = stamp(TEN - WINDOW_MINUTES - 5);
    learn(&mut known, None, TEN, &[stamp(TEN - 300), None, old, stamp(TEN + 90), stamp(TEN - 300)]);
    assert_eq!(minutes(&known), [-300, 0]);
    assert_eq!(known.since(), Some(TEN - 300));
}

#[test]
fn later_entries_count_from_when_they_can_have_appeared() {
    for (stamped, expected) in [
        (Some(30), vec![30]),
        (Some(60), vec![60]),
        (Some(61), vec![60]),
        (Some(0), vec![5]),
        (Some(-4000), vec![5]),
        (None, vec![5]),
        (Some(-WINDOW_MINUTES), vec![]),
    ] {
        let mut known = Publications::default();
        let stamp = stamped.and_then(|minute| stamp(TEN + minute));
        learn(&mut known, Some(TEN), TEN + 60, &[stamp]);
        assert_eq!(minutes(&known), expected, "{stamped:?}");
    }
    let mut soon = Publications::default();
    learn(&mut soon, Some(TEN), TEN + 3, &[None]);
    assert_eq!(minutes(&soon), [2]);
}

#[test]
fn repeated_minutes_and_backward_clocks_are_accepted() {
    let mut known = Publications::default();
    learn(&mut known, Some(TEN), TEN, &[stamp(TEN - 5)]);
    learn(&mut known, Some(TEN + 50), TEN + 40, &[stamp(TEN + 39)]);
    assert_eq!(minutes(&known), [0, 40]);
}

#[test]
fn stored_publications_are_bounded() {
    let mut known = Publications::default();
    let many: Vec<_> = (0..100_000).map(|number| stamp(TEN - number)).collect();
    learn(&mut known, None, TEN, &many);
    assert_eq!((known.len(), known.since()), (PUBLICATIONS_MAX, Some(TEN - 1999)));
    let bytes = rmp_serde::to_vec_named(&known).expect("encodable");
    assert!(bytes.len() < 16_384, "{} bytes", bytes.len());
    let back: Publications = rmp_serde::from_slice(&bytes).expect("decodable");
    assert_eq!(back, known);
    learn(&mut known, Some(TEN), TEN + 2 * WINDOW_MINUTES, &[]);
    assert!(known.is_empty());
    assert_eq!(known.since(), Some(TEN + WINDOW_MINUTES));
}

/// Creates one date for each of the `count` days before Monday, 2026-03-02, all at the same time of day.
fn daily(count: i64, minute_of_day: i64) -> Vec<Option<Stamp>> {
    let day = |number: i64| (TEN / DAY_MINUTES - number) * DAY_MINUTES + minute_of_day;
    let at = |number| instant(day(number) * 60);
    (1..=count).map(|number| Some(Stamp { at: at(number), offset_minutes: None })).collect()
}

#[test]
fn dates_at_one_time_of_day_are_spread_and_flagged() {
    for minute_of_day in [0, 22 * 60, 8 * 60 + 20] {
        let mut known = Publications::default();
        learn(&mut known, None, TEN, &daily(40, minute_of_day));
        assert!(known.has_whole_days_only());
        assert_eq!((known.len(), known.timed_minutes().count()), (40, 0));
        let early = known.minutes().filter(|minute| minute.rem_euclid(DAY_MINUTES) < 720).count();
        assert!((15..=25).contains(&early), "{early} before noon");
    }
    let mut timed = Publications::default();
    let dates: Vec<_> = (0..40).map(|number| stamp(TEN - number * 777)).collect();
    learn(&mut timed, None, TEN, &dates);
    assert!(!timed.has_whole_days_only());
    assert_eq!(timed.timed_minutes().count(), 40);
}

#[test]
fn midnight_in_summer_and_winter_is_one_clock_time() {
    let mut known = Publications::default();
    let dates: Vec<_> = daily(20, 22 * 60).into_iter().chain(daily(20, 23 * 60)).collect();
    learn(&mut known, None, TEN, &dates);
    assert!(known.has_whole_days_only());
    let mut twice = Publications::default();
    let dates: Vec<_> = daily(20, 11 * 60 + 1).into_iter().chain(daily(20, 15 * 60 + 1)).collect();
    learn(&mut twice, None, TEN, &dates);
    assert!(!twice.has_whole_days_only());
}

#[test]
fn local_time_with_an_offset_is_a_time_of_day() {
    for (minute_of_day, offset, whole_days) in
        [(8 * 60 + 30, 60, false), (23 * 60, 60, true), (11 * 60, 60, true), (0, 330, true)]
    {
        let mut known = Publications::default();
        let dates = daily(40, minute_of_day).into_iter().flatten();
        let dates: Vec<_> =
            dates.map(|date| Some(Stamp { offset_minutes: Some(offset), ..date })).collect();
        learn(&mut known, None, TEN, &dates);
        assert_eq!(known.has_whole_days_only(), whole_days, "{minute_of_day} {offset}");
    }
}

#[test]
fn daily_time_is_trusted_once_entries_arrive_then() {
    for (late, believed) in [(0, true), (5 * 60, false)] {
        let mut known = Publications::default();
        learn(&mut known, None, TEN, &daily(40, 7 * 60 + 30));
        for day in 1..=3 {
            let at = (TEN / DAY_MINUTES + day) * DAY_MINUTES + 7 * 60 + 30;
            learn(&mut known, Some(at + late - 20), at + late + 40, &[stamp(at)]);
        }
        assert_eq!(!known.has_whole_days_only(), believed, "{late} minutes late");
        assert_eq!(known.timed_minutes().count(), 3);
    }
}

#[test]
fn instants_at_extremes_do_not_panic() {
    let mut known = Publications::default();
    let ends = [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC, instant(0)];
    let stamps = ends.map(|at| Some(Stamp { at, offset_minutes: Some(i16::MIN) }));
    for at in ends {
        for previous in [None, Some(ends[0]), Some(ends[1])] {
            let document_entries = usize::MAX;
            known.learn_from_fetch(&Fetch { previous, at, stamps: &stamps, document_entries });
        }
    }
    assert!(known.len() <= PUBLICATIONS_MAX);
}
