//! Properties that must hold for every feed, checked on random feeds.

use proptest::prelude::*;

use super::super::facts::{Learned, PollFailure, ScheduleSettings};
use super::*;
use crate::feed::{DayOfWeek, Hints, IntervalRule, Period, SyHint, Zone};
use crate::schedule::holds::cache::{CacheState, Lifetime};
use crate::schedule::holds::retry_after::{Wait, WaitHeader};
use crate::schedule::limits::{Pace, *};
use crate::schedule::rules::RuleTable;
use crate::schedule::segments::{Rhythm, interval_in_force, next_update, week_of_intervals};
use crate::schedule::{following_plans, with_pace};

/// Monday 2026-03-02, 00:00 UTC: the start of the week that the tests use.
const WEEK_START: i64 = 1_772_409_600;

fn zone() -> impl Strategy<Value = Zone> {
    prop_oneof![
        4 => Just(Zone::Utc),
        3 => (-56_i16..=56).prop_map(|quarters| Zone::Offset(quarters * 15)),
        1 => (-840_i16..=840).prop_map(Zone::Offset),
        1 => prop::sample::select(vec!["Europe/London", "Asia/Kathmandu", "America/St_Johns"])
            .prop_map(|name| Zone::Named(name.to_owned())),
    ]
}

fn rule() -> impl Strategy<Value = IntervalRule> {
    let hour = || prop::option::of(0..24_u8);
    let day = || prop::option::of(1..8_u8);
    (5..2000_u32, hour(), hour(), day(), day(), zone()).prop_map(
        |(minutes, start_hour, end_hour, start_day, end_day, zone)| IntervalRule {
            minutes,
            start_hour,
            end_hour,
            start_day,
            end_day,
            zone,
        },
    )
}

fn sy() -> impl Strategy<Value = SyHint> {
    let period = prop::sample::select(vec![Period::Hourly, Period::Daily, Period::Weekly]);
    let base = prop::option::of((-2_000_000_000_i64..4_000_000_000).prop_map(instant));
    (period, 1..50_u32, base).prop_map(|(period, frequency, base)| SyHint {
        period,
        frequency,
        base,
    })
}

fn hints() -> impl Strategy<Value = Hints> {
    let days = prop::sample::subsequence(DayOfWeek::ALL.to_vec(), 0..=3);
    let hours = prop::sample::subsequence((0..24).collect::<Vec<u8>>(), 0..=12);
    let intervals = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(rule(), 1..5)];
    let ttl_minutes = prop::option::of(1..3000_u32);
    let sy = prop_oneof![2 => Just(None), 1 => sy().prop_map(Some)];
    (ttl_minutes, hours, days, sy, intervals).prop_map(
        |(ttl_minutes, skip_hours, skip_days, sy, intervals)| Hints {
            ttl_minutes,
            skip_hours,
            skip_days,
            sy,
            intervals,
            ..Hints::default()
        },
    )
}

fn settings() -> impl Strategy<Value = ScheduleSettings> {
    let pace = prop::sample::select(Pace::ALL.to_vec());
    (pace, 0..120_u32, 0..3000_u32, prop::option::weighted(0.1, 1..3000_u32)).prop_map(
        |(pace, min, more, fixed)| ScheduleSettings {
            pace,
            min_seconds: min * 60,
            max_seconds: (min + more) * 60,
            fixed_seconds: fixed.map(|minutes| minutes * 60),
            ..ScheduleSettings::default()
        },
    )
}

fn recently() -> impl Strategy<Value = DateTime<Utc>> {
    (WEEK_START..WEEK_START + WEEK).prop_map(instant)
}

/// Generates a feed polled within the week, possibly with failures and floors, and a `now` after its last attempt.
fn feed() -> impl Strategy<Value = (Facts, DateTime<Utc>)> {
    let wait = (0..100_000_u32).prop_map(|seconds| Wait {
        received_at: instant(WEEK_START),
        seconds,
        stated_by: WaitHeader::RetryAfter,
        refusals: 0,
    });
    let cache = (0..1_000_000_u32, 0..1000_u32).prop_map(|(life, age_seconds)| CacheState {
        received_at: instant(WEEK_START),
        lifetime: Lifetime::MaxAge(life),
        date: None,
        age_seconds,
    });
    let failure = prop::sample::select(vec![200, 403, 404, 429, 500]).prop_map(PollFailure::Status);
    let floors = (prop::option::weighted(0.2, wait), prop::option::weighted(0.3, cache));
    let times = (recently(), 0..DAY, 0..2 * DAY, prop_oneof![3 => Just(0), 1 => 1..12_u32]);
    (hints(), settings(), times, floors, failure).prop_map(
        |(hints, settings, (last_ok, tried, waited, failures), (wait, cache), failure)| {
            let tried = if failures > 0 { tried } else { 0 };
            let last_try = instant(seconds(last_ok) + tried);
            let received = |wait: Wait| Wait { received_at: last_try, ..wait };
            let facts = Facts {
                hints,
                settings,
                last_ok: Some(last_ok),
                last_try: Some(last_try),
                failures,
                failure: (failures > 0).then_some(failure),
                cache: cache.map(|cache| CacheState { received_at: last_ok, ..cache }),
                retry_after: wait.map(received),
                ..Facts::default()
            };
            (facts, instant(seconds(last_try) + waited))
        },
    )
}

/// Computes the next poll with the closed form of SPEC A.5.5 by trying every whole minute. The UTC offsets of the test zones are
/// whole minutes, so the interval cannot change within a minute.
fn closed_form(facts: &Facts, last: i64) -> i64 {
    let offer = |at: i64| {
        let (interval, _) = interval_in_force(facts, instant(at));
        at.max(last + i64::from(interval))
    };
    let end = offer(last);
    let first_minute = last + 60 - last.rem_euclid(60);
    (first_minute..end).step_by(60).map(offer).chain([end]).min().unwrap_or(end)
}

/// Returns the interval of the rule in force at an instant, in minutes, by counting the hours of the week one by one instead of
/// using masks.
fn naive_interval(rules: &[IntervalRule], at: i64) -> Option<u32> {
    let covers = |rule: &IntervalRule, day: i64, hour: i64| {
        let (h0, h1) = (rule.start_hour.unwrap_or(0), rule.end_hour.unwrap_or(23));
        let (d0, d1) = (rule.start_day.unwrap_or(1), rule.end_day.unwrap_or(7));
        let listed = |day: i64| {
            let day = day.rem_euclid(7) + 1;
            let (d0, d1) = (i64::from(d0), i64::from(d1));
            if d0 <= d1 { (d0..=d1).contains(&day) } else { day >= d0 || day <= d1 }
        };
        let (h0, h1) = (i64::from(h0), i64::from(h1));
        let same_day = listed(day) && hour >= h0 && (h0 > h1 || hour <= h1);
        same_day || (h0 > h1 && hour <= h1 && listed(day - 1))
    };
    let weight =
        |rule: &IntervalRule| (0..168).filter(|&hour| covers(rule, hour / 24, hour % 24)).count();
    let active = |rule: &IntervalRule| {
        let offset = match &rule.zone {
            Zone::Utc => 0,
            Zone::Offset(minutes) => i64::from(*minutes) * 60,
            // UTC offsets, in seconds, in the winter week that these tests use.
            Zone::Named(name) => match name.as_str() {
                "Europe/London" => 0,
                "Asia/Kathmandu" => 20_700,
                // The only other zone in these tests is America/St_Johns.
                _ => -12_600,
            },
        };
        let local = at + offset;
        covers(rule, local.div_euclid(DAY) + 3, local.rem_euclid(DAY) / HOUR)
    };
    let candidates = rules.iter().enumerate().filter(|(_, rule)| active(rule));
    let best = candidates.min_by_key(|(place, rule)| (weight(rule), std::cmp::Reverse(*place)));
    best.map(|(_, rule)| rule.minutes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn active_rule_matches_a_brute_force_count(
        rules in prop::collection::vec(rule(), 1..6),
        at in WEEK_START + DAY..WEEK_START + 6 * DAY,
    ) {
        let hints = Hints { intervals: rules.clone(), ..Hints::default() };
        let settings = ScheduleSettings { min_seconds: 300, max_seconds: 200_000, ..ScheduleSettings::default() };
        let facts = Facts { hints, settings, ..Facts::default() };
        let expected = naive_interval(&rules, at).unwrap_or(60) * 60;
        prop_assert_eq!(interval_in_force(&facts, instant(at)).0, expected);
    }

    #[test]
    fn next_update_matches_the_closed_form(
        rules in prop::collection::vec(rule(), 1..6),
        pace in prop::sample::select(Pace::ALL.to_vec()),
        last in WEEK_START..WEEK_START + WEEK,
    ) {
        let settings = ScheduleSettings { pace, ..ScheduleSettings::default() };
        let hints = Hints { intervals: rules, ..Hints::default() };
        let facts = Facts { hints, settings, ..Facts::default() };
        let table = RuleTable::new(&facts.hints.intervals).expect("rules in range");
        let rhythm = Rhythm { table: &table, fallback: 3600, bounds: Bounds::from_facts(&facts) };
        let next = next_update(rhythm, last);
        prop_assert_eq!(next.at, closed_form(&facts, last));
        prop_assert!(next.at >= last + next.binding.interval);
    }

    #[test]
    fn a_schedule_lasts_exactly_until_the_interval_changes(
        rules in prop::collection::vec(rule(), 1..6),
        at in WEEK_START..WEEK_START + WEEK,
    ) {
        let hints = Hints { intervals: rules, ..Hints::default() };
        let facts = Facts { hints, ..Facts::default() };
        let (interval, duration) = interval_in_force(&facts, instant(at));
        let end = duration.unwrap_or(HORIZON_SECONDS);
        prop_assert!(end > 0);
        for step in 0..50 {
            let inside = at + end * step / 50;
            prop_assert_eq!(interval_in_force(&facts, instant(inside)).0, interval);
        }
        if duration.is_some() {
            prop_assert_ne!(interval_in_force(&facts, instant(at + end)).0, interval);
        }
        let week = week_of_intervals(&facts, instant(at));
        let hour = at.div_euclid(HOUR) * HOUR;
        let cell = usize::try_from((hour - WEEK_START) / HOUR).expect("inside the week");
        prop_assert_eq!(week[cell], interval_in_force(&facts, instant(hour)).0);
    }

    #[test]
    fn no_poll_comes_before_a_floor_or_inside_a_window(
        (facts, now) in feed(),
        u in -1.0..1.0_f64,
    ) {
        let plan = decide(&facts, now, u);
        prop_assert_eq!(plan.decision(), decide_time(&facts, now, u));
        let next = seconds(plan.next_poll.expect("an active feed"));
        let (last_ok, last_try) = (facts.last_ok.map(seconds), facts.last_try.map(seconds));
        let (last_ok, last_try) = (last_ok.expect("polled"), last_try.expect("tried"));
        prop_assert!(next >= seconds(now));
        // A 429 that states a wait replaces the minimum and the backoff.
        let is_429 = facts.failures > 0 && facts.failure == Some(PollFailure::Status(429));
        let takes_turn = is_429 && facts.retry_after.is_some();
        prop_assert!(takes_turn || next >= last_try + HARD_MIN_SECONDS);
        let bounds = Bounds::from_facts(&facts);
        prop_assert!(next >= last_ok + bounds.min);
        if let Some(wait) = facts.retry_after {
            prop_assert!(next >= last_try + i64::from(wait.seconds));
        }
        if let Some(floor) = facts.cache.and_then(|cache| cache.floor_seconds()) {
            prop_assert!(next >= last_ok + floor);
        }
        if facts.failures > 0 && !takes_turn {
            prop_assert!(next >= last_try + BACK_OFF_BASE_SECONDS);
        }
        if let Skips::Kept(windows) = Skips::from_facts(&facts) {
            let missed = plan.settled_by == SettledBy::Overdue;
            prop_assert_eq!(windows.skips(next), missed);
            let raw = seconds(plan.due.expect("an active feed"));
            let chance = windows.opening(raw) <= next && next == seconds(now);
            prop_assert!(chance || !missed, "inside a window only if the chance was missed");
        }
        prop_assert!(plan.steps.iter().all(|step| !step.reason.is_empty()));
    }

    #[test]
    fn requested_interval_never_exceeds_the_maximum((facts, _) in feed(), u in -1.0..1.0_f64) {
        let unhindered = Facts {
            failures: 0,
            last_try: facts.last_ok,
            cache: None,
            retry_after: None,
            settings: ScheduleSettings { fixed_seconds: None, ignore_skips: true, ..facts.settings.clone() },
            ..facts
        };
        let last = unhindered.last_ok.expect("polled");
        let decision = decide_time(&unhindered, last, u);
        let bounds = Bounds::from_facts(&unhindered);
        let next = seconds(decision.next_poll.expect("active"));
        prop_assert!(next <= seconds(last) + bounds.max, "{:?}", decision);
        prop_assert!(next >= seconds(last) + bounds.min, "{:?}", decision);
        let binding = i64::from(decision.binding_seconds.expect("an interval"));
        prop_assert!((bounds.min..=bounds.max).contains(&binding));
    }

    #[test]
    fn only_floors_or_windows_delay_past_the_maximum((facts, _) in feed(), u in -1.0..1.0_f64) {
        let now = facts.last_try.max(facts.last_ok).expect("polled");
        let decision = decide_time(&facts, now, u);
        let bounds = Bounds::from_facts(&facts);
        let last = facts.last_ok.map(seconds).expect("polled");
        let next = seconds(decision.next_poll.expect("active"));
        let late = next > (last + bounds.max).max(seconds(now));
        let restricting = [
            SettledBy::Minimum,
            SettledBy::CacheLifetime,
            SettledBy::RetryAfter,
            SettledBy::BackOff,
            SettledBy::SkipHours,
            SettledBy::SkipDays,
            SettledBy::Overdue,
        ];
        prop_assert!(!late || restricting.contains(&decision.settled_by), "{:?}", decision);
    }

    #[test]
    fn more_often_is_never_later_nor_less_often_sooner((facts, now) in feed()) {
        let polls = Pace::ALL.map(|pace| with_pace(&facts, pace, now, 0.0).next_poll);
        prop_assert!(polls.is_sorted(), "{:?}", polls);
    }

    #[test]
    fn following_polls_advance_in_time((facts, now) in feed(), u in -1.0..1.0_f64) {
        let plans = following_plans(&facts, now, 12, |_| u);
        let times: Vec<_> = plans.iter().filter_map(|plan| plan.next_poll).collect();
        prop_assert_eq!(times.len(), 12);
        let far = times.windows(2).all(|pair| {
            seconds(pair[1]) - seconds(pair[0]) >= HARD_MIN_SECONDS
        });
        prop_assert!(far, "{:?}", times);
    }

    #[test]
    fn nothing_panics_at_the_limits_of_the_types(
        (mut facts, _) in feed(),
        picks in prop::collection::vec(0..5_usize, 8),
        numbers in (any::<u32>(), any::<u64>(), any::<i16>(), any::<u8>()),
        u in any::<f64>(),
    ) {
        let instants = [
            DateTime::<Utc>::MIN_UTC,
            DateTime::<Utc>::MAX_UTC,
            instant(0),
            instant(-1),
            instant(WEEK_START),
        ];
        let any_time = |place: usize| instants[picks[place]];
        facts.last_ok = Some(any_time(0));
        facts.last_try = Some(any_time(1));
        facts.failures = numbers.0;
        facts.hints.refresh_rate_ms = Some(numbers.1);
        facts.hints.ttl_minutes = Some(numbers.0).filter(|_| picks[2] > 2);
        let zone = Zone::Offset(numbers.2);
        let wild = IntervalRule {
            minutes: numbers.0,
            start_hour: Some(numbers.3),
            end_hour: Some(numbers.3 / 2),
            start_day: Some(numbers.3),
            end_day: None,
            zone,
        };
        facts.hints.intervals.push(wild);
        facts.hints.sy = Some(SyHint {
            period: [Period::Hourly, Period::Daily, Period::Weekly, Period::Monthly, Period::Yearly][picks[3]],
            frequency: [0, 1, numbers.0, u32::MAX, 2][picks[4]],
            base: Some(any_time(5)),
        });
        facts.hints.intervals.truncate(picks[2]);
        facts.settings.min_seconds = numbers.0;
        facts.settings.max_seconds = [0, 1, u32::MAX, numbers.0, 3600][picks[6]];
        facts.learned = Some(Learned::every(numbers.0));
        facts.cache = Some(CacheState {
            received_at: any_time(6),
            lifetime: Lifetime::Until(any_time(7)),
            date: Some(any_time(4)),
            age_seconds: numbers.0,
        });
        let now = any_time(3);
        let plan = decide(&facts, now, u);
        prop_assert_eq!(plan.decision(), decide_time(&facts, now, u));
        prop_assert!(plan.next_poll.map(seconds) >= Some(seconds(now)));
        following_plans(&facts, now, 3, |_| u);
        week_of_intervals(&facts, now);
    }
}
