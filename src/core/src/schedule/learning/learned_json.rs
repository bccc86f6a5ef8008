//! Formats a learned plan as JSON, for `plan --json` (UX 5).

use serde_json::{Value, json};

use super::clocks::PublicationClock;
use super::learned_plan::LearnedPlan;
use super::week_bins::{WEEK_MINUTES, real};
use crate::schedule::interval::pace::Pace;

/// Returns the data a plan was learned from, the shares of its clocks, and its cost and expected delay at a pace.
pub fn learned_json(plan: &LearnedPlan, pace: Pace) -> Value {
    let cost = plan.cost(pace);
    let even_delay = real(WEEK_MINUTES) / cost.polls_per_week.max(1e-3) / 2.0;
    let rhythm = &plan.rhythm;
    let shares = PublicationClock::ALL.iter().zip(rhythm.shares);
    let shares: serde_json::Map<String, Value> =
        shares.map(|(clock, share)| (clock.word().to_owned(), rounded(share))).collect();
    let peaks: Vec<String> = rhythm.peaks.iter().map(super::Peak::words).collect();
    json!({
        "words": rhythm.sentence(),
        "publications": rhythm.publications,
        "observed_minutes": rhythm.observed_minutes,
        "publications_per_week": rounded(rhythm.rate_per_week),
        "shares": shares,
        "peaks": peaks,
        "placed": plan.is_placed(),
        "polls_per_week": rounded(cost.polls_per_week),
        "expected_delay_minutes": rounded(cost.delay_minutes),
        "even_delay_minutes": rounded(even_delay),
        "learned_at": plan.learned_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    })
}

/// Rounds a value to three decimal places, because the learned values are no more precise.
fn rounded(value: f64) -> Value {
    json!((value * 1000.0).round() / 1000.0)
}
