//! Tests that the results for the six synthetic profiles of SPEC F.3 are within the tolerances stated there.

use super::policies::Conditions;
use super::score::{MeanScore, Score, Scoring, Window};
use super::source::SimulatedFeed;
use super::week_rules::{DAY, WeekRules, hour_of_week, sampled};
use crate::schedule::learning::Rectangle;

/// 2026-01-05T00:00:00Z, a Monday.
const MONDAY: i64 = 1_767_571_200 / 60;
/// Number of random seeds, and the step between the runs that are used. Results differ mostly between seeds, which is why
/// there are many seeds, each with only a few of the 240 runs.
const SEEDS: u64 = 40;
const SHIFT_STEP: u32 = 23;

const WORKING: (usize, usize) = (0, 5);
const ALL: (usize, usize) = (0, 7);

/// A rectangle of the week: first day and number of days, first hour and number of hours.
type Marked = ((usize, usize), (usize, usize));

/// A synthetic profile: mean number of publications per hour inside and outside its rectangles, and the results that
/// SPEC F.3 states.
struct Profile {
    name: &'static str,
    inside: f64,
    outside: f64,
    rectangles: &'static [Marked],
    polls: f64,
    /// Expected delay in minutes and hits in percent of the linear policy in the test weeks. `schedule` contains the same
    /// figures for the interval rules.
    linear: (f64, f64),
    schedule: (f64, f64),
    /// Whether the standard deviation of the linear policy must be as for evenly distributed delays.
    is_even: bool,
}

const PROFILES: [Profile; 6] = [
    Profile {
        name: "A newsdesk",
        inside: 2.0,
        outside: 0.10,
        rectangles: &[(WORKING, (8, 11))],
        polls: 240.0,
        linear: (41.7, 42.3),
        schedule: (29.1, 62.2),
        is_even: true,
    },
    Profile {
        name: "B evening",
        inside: 0.5,
        outside: 0.02,
        rectangles: &[(ALL, (18, 5))],
        polls: 107.0,
        linear: (99.5, 22.7),
        schedule: (71.5, 26.1),
        is_even: false,
    },
    Profile {
        name: "C four o'clock",
        inside: 6.0,
        outside: 0.05,
        rectangles: &[(ALL, (4, 1))],
        polls: 137.0,
        linear: (65.9, 23.8),
        schedule: (38.4, 42.4),
        is_even: true,
    },
    Profile {
        name: "D the paper's rules",
        inside: 2.0,
        outside: 0.25,
        rectangles: &[(WORKING, (9, 9)), (ALL, (4, 1))],
        polls: 237.0,
        linear: (42.0, 52.8),
        schedule: (40.6, 66.0),
        is_even: true,
    },
    Profile {
        name: "E flat",
        inside: 0.25,
        outside: 0.25,
        rectangles: &[],
        polls: 87.0,
        linear: (114.9, 60.6),
        schedule: (115.6, 60.9),
        is_even: true,
    },
    Profile {
        name: "F weekend",
        inside: 1.0,
        outside: 0.02,
        rectangles: &[((5, 2), (10, 7))],
        polls: 106.0,
        linear: (92.8, 16.0),
        schedule: (48.5, 23.3),
        is_even: false,
    },
];

const CONDITIONS: Conditions =
    Conditions { min: 15, max: 240, train_days: 42, shifts: 240, jitter: false };

#[test]
fn profile_results_match_the_reference() {
    for profile in &PROFILES {
        let (training, test): (Vec<_>, Vec<_>) = (1..=SEEDS).map(|seed| run(profile, seed)).unzip();
        let mean = |scores: &[Score]| MeanScore::over_feeds(scores).expect("publications").score;
        let (training, test) = (mean(&training), mean(&test));
        check(profile, &training, &test);
    }
}

fn check(profile: &Profile, training: &Score, test: &Score) {
    let name = profile.name;
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() <= 0.15;
    assert!(near(test.linear.delay, profile.linear.0), "{name}: {test:?}");
    assert!(near(test.policy.delay, profile.schedule.0), "{name}: {test:?}");
    assert!(near(test.policy.polls, profile.polls), "{name}: {test:?}");
    assert!((test.linear.hits - profile.linear.1).abs() <= 4.0, "{name}: {test:?}");
    assert!((test.policy.hits - profile.schedule.1).abs() <= 4.0, "{name}: {test:?}");
    let gains = (training.gain(), test.gain());
    assert!((test.policy.polls - test.linear.polls).abs() <= 1.0, "{name}: same number of polls");
    assert!((gains.0 - gains.1).abs() <= 10.0, "{name}: {gains:?}");
    if profile.is_even {
        let ratio = test.linear.deviation / test.linear.delay * 3_f64.sqrt();
        assert!((ratio - 1.0).abs() <= 0.05, "{name}: {ratio}");
    }
    if profile.rectangles.is_empty() {
        assert!(gains.0.abs() < 3.0 && gains.1.abs() < 3.0, "{name}: {gains:?}");
    }
}

/// Generates a feed from a profile and a seed. Returns the scores of the training weeks and of the test weeks.
fn run(profile: &Profile, seed: u64) -> (Score, Score) {
    let rectangle = |&((day, days), (hour, hours)): &Marked| Rectangle { day, days, hour, hours };
    let rectangles: Vec<Rectangle> = profile.rectangles.iter().map(rectangle).collect();
    let source = published(profile, &rectangles, seed);
    let training = CONDITIONS.training(&source);
    let span = (training.start, training.end);
    let rules = WeekRules::measured(&rectangles, &source.minutes, span, (15, 240));
    let score = |window: Window| {
        let mut scoring = Scoring::new(&source, window);
        for shift in (0..240).step_by(SHIFT_STEP as usize) {
            let mut polls = vec![window.start + shift];
            while let Some(&last) = polls.last().filter(|&&last| last < window.end) {
                polls.push(rules.next(last, (15, 240)));
            }
            scoring.add(&polls);
        }
        scoring.score().expect("publications")
    };
    (score(training), score(CONDITIONS.test(&source)))
}

/// Generates eight weeks of random publications at the rates of a profile. A publication is visible at the next multiple of
/// 15 minutes.
fn published(profile: &Profile, rectangles: &[Rectangle], seed: u64) -> SimulatedFeed {
    let mut busy = [false; 168];
    rectangles.iter().flat_map(|rectangle| rectangle.cells()).for_each(|cell| busy[cell] = true);
    let chance = |rate: f64| 1.0 - (-rate / 60.0).exp();
    let (inside, outside) = (chance(profile.inside), chance(profile.outside));
    let (start, end) = (MONDAY, MONDAY + 56 * DAY);
    let mut state = seed;
    let minutes: Vec<i64> = (start..end)
        .filter(|&minute| {
            unit(&mut state) < if busy[hour_of_week(minute)] { inside } else { outside }
        })
        .collect();
    let minutes = sampled(&minutes, (start, end));
    SimulatedFeed { name: "synthetic".into(), start, end, minutes, panel: String::new() }
}

/// Returns a pseudo-random number from 0 to 1 (splitmix64).
fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let top = u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or(0);
    f64::from(top) / f64::from(u32::MAX)
}
