//! Benchmarks for learning when a feed publishes and planning its polls at all three paces, and for computing the next polls from
//! such a plan.
//!
//! `cargo bench --bench learn`. Targets: under 5 ms to learn and plan one feed; under 50 ms to compute the next polls of 10,000
//! feeds.

use std::sync::Arc;

use backissue_core::feed::Zone;
use backissue_core::schedule::learning::{
    LearnTerms, LearnedPlan, PRICE_MINUTES, PUBLICATIONS_MAX, Publications, WINDOW_MINUTES, learn,
};
use backissue_core::schedule::{Facts, Learned, ScheduleSettings, decide_time};
use chrono::{DateTime, Utc};
use divan::{Bencher, black_box};

/// 2026-03-02T00:00:00Z, in minutes since the Unix epoch.
const NOW: i64 = 1_772_409_600 / 60;
/// Maximum poll intervals to measure, in minutes: the default, which the paper on interval rules also uses, and four hours.
const LONGEST: [u32; 2] = [1440, 240];

fn main() {
    divan::main();
}

#[divan::bench(args = LONGEST)]
fn learn_a_busy_feed(bencher: Bencher<'_, '_>, max_minutes: u32) {
    let known = publications(PUBLICATIONS_MAX);
    bencher.bench(|| learn(black_box(&known), &terms(max_minutes), now()));
}

#[divan::bench(args = LONGEST)]
fn learn_a_slow_feed(bencher: Bencher<'_, '_>, max_minutes: u32) {
    let known = publications(24);
    bencher.bench(|| learn(black_box(&known), &terms(max_minutes), now()));
}

#[divan::bench]
fn next_polls_of_10_000_feeds(bencher: Bencher<'_, '_>) {
    let plan = learn(&publications(200), &terms(1440), now()).map(Arc::new);
    let feeds: Vec<Facts> = (0..10_000).map(|feed| facts(plan.clone(), feed)).collect();
    bencher
        .bench(|| feeds.iter().map(|facts| decide_time(facts, now(), 0.3)).filter(is_soon).count());
}

fn is_soon(decision: &backissue_core::schedule::Decision) -> bool {
    decision.next_poll < Some(now())
}

fn facts(plan: Option<Arc<LearnedPlan>>, feed: i64) -> Facts {
    let last_ok = DateTime::from_timestamp(NOW * 60 - feed * 7, 0);
    let settings = ScheduleSettings::default();
    let learned = plan.map(|plan| Learned::by_plan(plan, last_ok, &settings));
    Facts { learned, settings, last_ok, last_try: last_ok, ..Facts::default() }
}

/// Returns `count` publications over twelve weeks at pseudo-random times, most of them in the morning.
fn publications(count: usize) -> Publications {
    let count = i64::try_from(count).unwrap_or(1);
    let minutes = (0..count).map(|number| {
        let day = number * 84 / count;
        let minute = (number * 7919 % 997) % 300 + if number % 5 == 0 { 900 } else { 400 };
        NOW - WINDOW_MINUTES + day * 1440 + minute
    });
    Publications::of_minutes(minutes, NOW - WINDOW_MINUTES, NOW)
}

fn terms(max_minutes: u32) -> LearnTerms {
    LearnTerms {
        min_seconds: 900,
        max_seconds: max_minutes * 60,
        price_minutes: PRICE_MINUTES,
        zone: Zone::Utc,
    }
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(NOW * 60, 0).unwrap_or_default()
}
