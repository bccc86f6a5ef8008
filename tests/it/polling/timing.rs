//! Compares our planned poll times with another program's test cases for "when may this feed be polled next".
//!
//! The environment variable `BACKISSUE_CORPUS` names the folder with the test cases; our result may differ only where we
//! deliberately decided otherwise.

use backissue_core::feed::{DayOfWeek, Hints, Period, SyHint};
use backissue_core::schedule::{Facts, ScheduleSettings, decide_time};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::feeds::corpus::{corpus, rows, tell};

fn at(row: &Value, name: &str) -> Option<DateTime<Utc>> {
    row[name].as_str()?.parse().ok()
}

/// Converts a test case into facts for the planner. The minimum and the default interval are one second, so that only the test
/// case determines the interval.
fn facts(row: &Value) -> Facts {
    let number = |name: &str| row[name].as_u64().and_then(|number| u32::try_from(number).ok());
    let list = |name: &str| row[name].as_array().cloned().unwrap_or_default();
    let period = match row["update_period"].as_str() {
        Some("hourly") => Some(Period::Hourly),
        Some("weekly") => Some(Period::Weekly),
        Some("monthly") => Some(Period::Monthly),
        Some("yearly") => Some(Period::Yearly),
        Some(_) => Some(Period::Daily),
        None => None,
    };
    let hints = Hints {
        ttl_minutes: number("ttl"),
        skip_hours: list("skip_hours")
            .iter()
            .filter_map(|hour| u8::try_from(hour.as_u64()?).ok())
            .collect(),
        skip_days: DayOfWeek::ALL
            .into_iter()
            .filter(|day| list("skip_days").iter().any(|name| name == day.name()))
            .collect(),
        sy: period.map(|period| SyHint {
            period,
            frequency: number("update_frequency").unwrap_or(1),
            base: at(row, "update_base"),
        }),
        ..Hints::default()
    };
    let settings = ScheduleSettings {
        min_seconds: 1,
        max_seconds: number("max_age_s").unwrap_or(366 * 86_400),
        default_seconds: 1,
        ..ScheduleSettings::default()
    };
    let last_ok = at(row, "last_polled");
    Facts { hints, settings, last_ok, last_try: last_ok, loopback: true, ..Facts::default() }
}

fn agrees(row: &Value) -> bool {
    let facts = facts(row);
    let Some(last) = facts.last_ok else { return false };
    let Some(next) = decide_time(&facts, last, 0.0).next_poll else { return false };
    match (at(row, "expected_next"), at(row, "expected_after"), at(row, "expected_before")) {
        // Without a recommendation, our interval here is one second (the minimum).
        (Some(expected), _, _) => next == expected || next == expected + TimeDelta::seconds(1),
        (None, Some(after), Some(before)) => next >= after && next <= before,
        (None, ..) => false,
    }
}

/// Returns the reason why our result for this test case may differ; `None` if it must agree.
fn decided_otherwise(row: &Value) -> Option<&'static str> {
    let facts = facts(row);
    let skips = !facts.hints.skip_hours.is_empty() || !facts.hints.skip_days.is_empty();
    if row["opinion"].is_string() {
        Some("an opinion, as the row itself says")
    } else if facts.hints.sy.is_some() && skips {
        Some("sy takes the place of skip windows (SPEC S0.9)")
    } else {
        None
    }
}

#[test]
fn plans_match_another_programs_test_vectors() {
    let Some(folder) = corpus() else { return };
    let rows = rows(&folder, "timing.jsonl");
    let differing: Vec<&Value> = rows.iter().filter(|row| !agrees(row)).collect();
    let mut unexplained = Vec::new();
    for row in &differing {
        let next = decide_time(&facts(row), at(row, "last_polled").unwrap(), 0.0).next_poll;
        let why = decided_otherwise(row);
        tell(&format!("{}: ours {next:?}; {}; {row}", row["case"], why.unwrap_or("UNEXPLAINED")));
        if why.is_none() {
            unexplained.push(row["case"].clone());
        }
    }
    tell(&format!("timing: {} of {} agree", rows.len() - differing.len(), rows.len()));
    assert!(!rows.is_empty() && unexplained.is_empty(), "{unexplained:?}");
}
