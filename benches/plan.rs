//! Benchmarks of planning the polls of 10,000 feeds when the program starts.
//!
//! `cargo bench --bench plan`. Target: under 50 ms in total.

use backissue::engine::feeds::subscription::{FeedState, SavedSubscription, SubscriptionRecord};
use backissue::engine::settings::Settings;
use backissue::engine::state::Engine;
use backissue_core::feed::{Hints, IntervalRule, Period, SyHint, Zone};
use backissue_core::history::{Counters, FeedKey};
use backissue_core::schedule::{Facts, decide_time};
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use divan::{Bencher, black_box};

/// Number of subscriptions.
const FEEDS: u32 = 10_000;

fn main() {
    divan::main();
}

/// Measures the steps of a program start after reading the store: computing all plans, the timetable and the rows of the feed list.
#[divan::bench]
fn start_with_10_000_feeds(bencher: Bencher<'_, '_>) {
    let now = now();
    bencher
        .with_inputs(|| (1..=FEEDS).map(|number| saved(number, now)).collect::<Vec<_>>())
        .bench_values(|saved| Engine::new(Settings::default(), Tz::UTC, 7, black_box(saved), now));
}

/// Measures only the computation of the plans, without the other steps of a program start.
#[divan::bench]
fn decide_10_000_times(bencher: Bencher<'_, '_>) {
    let now = now();
    let facts: Vec<Facts> = (1..=FEEDS).map(|number| facts(number, now)).collect();
    bencher.bench(|| {
        facts.iter().filter_map(|facts| decide_time(black_box(facts), now, 0.3).next_poll).max()
    });
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_772_445_600, 0).unwrap_or_default()
}

fn saved(number: u32, now: DateTime<Utc>) -> SavedSubscription {
    let record = SubscriptionRecord {
        url: format!("https://host{number}.example/feed"),
        title: Some(format!("Feed number {number}")),
        tags: vec![format!("tag {}", number % 40)],
        ..SubscriptionRecord::default()
    };
    let state = FeedState { facts: facts(number, now), ..FeedState::default() };
    SavedSubscription {
        key: FeedKey(number),
        record,
        state: Box::new(state),
        history: std::sync::Arc::default(),
        counters: Counters::default(),
    }
}

/// Returns the facts of a feed, whose number determines the kind of its hints. The feed was last polled within the past four hours.
fn facts(number: u32, now: DateTime<Utc>) -> Facts {
    let mut hints = Hints::default();
    match number % 5 {
        0 => {}
        1 => hints.ttl_minutes = Some(60),
        2 => hints.intervals = rules(),
        3 => {
            let base = DateTime::from_timestamp(1_767_571_200, 0);
            hints.sy = Some(SyHint { period: Period::Daily, frequency: 4, base });
        }
        _ => {
            hints.ttl_minutes = Some(30);
            hints.skip_hours = (0..7).collect();
        }
    }
    let last_ok = now.checked_sub_signed(TimeDelta::seconds(i64::from(number * 7 % 14_400)));
    Facts { hints, last_ok, last_try: last_ok, ..Facts::default() }
}

fn rules() -> Vec<IntervalRule> {
    let rule = |minutes, hours: Option<(u8, u8)>, zone| IntervalRule {
        minutes,
        start_hour: hours.map(|hours| hours.0),
        end_hour: hours.map(|hours| hours.1),
        start_day: None,
        end_day: None,
        zone,
    };
    vec![
        rule(240, None, Zone::Utc),
        rule(30, Some((9, 17)), Zone::Named("Europe/Berlin".into())),
        rule(60, Some((22, 2)), Zone::Offset(330)),
    ]
}
