//! The learned schedule, controlled by another program (the driver) one fetch at a time. It uses only the results of these
//! fetches.
//!
//! Input and output contain one JSON object per line. The driver sends `start` with bounds, an optional budget and the
//! entries of the first document, then `fetch` with the new entries of each fetch. The response to `start` and to
//! `fetch` is `{"next": minute}`. The response to `end` is `{}`.

use backissue_core::InputFlaw;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::json;

use backissue_core::feed::hints::INTERVAL_MINUTES_MAX;
use backissue_core::schedule::learning::{Fetch, LearnedPlan, Publications, Stamp};
use backissue_core::simulate::learned;

/// Minutes in a day.
const DAY: i64 = 1440;

/// A line of input from the driver.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Ask {
    Start {
        now: i64,
        bounds: (i64, i64),
        per_week: Option<f64>,
        #[serde(default)]
        entries: Vec<i64>,
    },
    Fetch {
        now: i64,
        #[serde(default)]
        entries: Vec<i64>,
    },
    End,
}

/// The state of the feed that the driver is simulating.
#[derive(Debug)]
struct Drive {
    known: Publications,
    bounds: (i64, i64),
    polls_per_week: Option<f64>,
    previous: i64,
    plan: Option<LearnedPlan>,
    /// Minute from which the plan is learned again at the next fetch.
    learn_at: i64,
}

/// Responds to the driver's lines one by one.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    drive: Option<Drive>,
}

impl Driven {
    /// Returns the line to send in response to a line of input. The error is a phrase that describes the problem.
    pub(crate) fn answer(&mut self, line: &str) -> Result<String, InputFlaw> {
        let ask: Ask = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let next = match ask {
            Ask::End => {
                self.drive = None;
                return Ok("{}".to_owned());
            }
            Ask::Start { now, bounds, per_week, entries } => {
                let (min, max) = bounds;
                if !(1..=max).contains(&min) || max > i64::from(INTERVAL_MINUTES_MAX) {
                    return Err("\"bounds\" must be minutes, the shorter first".into());
                }
                let polls_per_week = per_week.filter(|polls| *polls > 0.0);
                let known = Publications::default();
                let drive = Drive {
                    known,
                    bounds,
                    polls_per_week,
                    previous: now,
                    plan: None,
                    learn_at: now,
                };
                self.drive.insert(drive).fetched(None, now, &entries)
            }
            Ask::Fetch { now, entries } => {
                let drive = self.drive.as_mut().ok_or("a fetch before a start")?;
                let previous = drive.previous;
                drive.fetched(Some(previous), now, &entries)
            }
        };
        Ok(json!({ "next": next }).to_string())
    }
}

impl Drive {
    fn fetched(&mut self, previous: Option<i64>, now: i64, entries: &[i64]) -> i64 {
        // The driver states the first minute in which an entry is visible, which is the minute after the entry's
        // publication.
        let stamp = |&entry: &i64| {
            Some(Stamp { at: instant(entry.saturating_sub(1)), offset_minutes: None })
        };
        let stamps: Vec<Option<Stamp>> = entries.iter().map(stamp).collect();
        let previous = previous.map(instant);
        self.known.learn_from_fetch(&Fetch {
            previous,
            at: instant(now),
            stamps: &stamps,
            document_entries: 0,
        });
        self.previous = now;
        if now >= self.learn_at {
            self.plan = learned(&self.known, self.bounds, instant(now), self.polls_per_week);
            self.learn_at = now.saturating_add(DAY);
        }
        let (min, max) = self.bounds;
        let now = now.clamp(0, MINUTE_MAX);
        let even = now + max;
        self.plan.as_ref().map_or(even, |plan| plan.next_minute(now, min, max))
    }
}

/// Maximum value of a time in the input, in minutes since 1970: about the year 10,000.
const MINUTE_MAX: i64 = 4_200_000_000;

fn instant(minute: i64) -> DateTime<Utc> {
    let seconds = minute.clamp(0, MINUTE_MAX) * 60;
    DateTime::from_timestamp(seconds, 0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-02T00:00:00Z, a Monday.
    const MONDAY: i64 = 1_772_409_600 / 60;

    fn next(driven: &mut Driven, line: &str) -> i64 {
        let answer = driven.answer(line).expect("an answer");
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        answer.get("next").and_then(serde_json::Value::as_i64).expect("a minute")
    }

    #[test]
    fn morning_feed_is_polled_in_the_morning() {
        let mut driven = Driven::default();
        let mornings: Vec<i64> =
            (-28..0).map(|day| MONDAY + day * DAY + 7 * 60 + 1 - day % 3).collect();
        let start = json!({"op": "start", "feed": "a", "now": MONDAY, "bounds": [15, 240], "per_week": null,
            "entries": mornings});
        let mut at = next(&mut driven, &start.to_string());
        let mut polls = Vec::new();
        while at < MONDAY + DAY {
            polls.push(at - MONDAY);
            let fetch = json!({"op": "fetch", "now": at, "entries": []});
            let later = next(&mut driven, &fetch.to_string());
            assert!((15..=240).contains(&(later - at)), "{at} to {later}");
            at = later;
        }
        assert!(polls.iter().any(|poll| (421..=431).contains(poll)), "{polls:?}");
        assert_eq!(driven.answer(r#"{"op":"end"}"#).as_deref(), Ok("{}"));
    }

    #[test]
    fn driver_lines_out_of_order_are_refused() {
        let mut driven = Driven::default();
        for bad in [
            "",
            "{}",
            r#"{"op":"fetch","now":5,"entries":[]}"#,
            r#"{"op":"start","now":5,"bounds":[0,10],"per_week":null,"entries":[]}"#,
            r#"{"op":"start","now":5,"bounds":[20,10],"per_week":null,"entries":[]}"#,
        ] {
            assert!(driven.answer(bad).is_err(), "{bad}");
        }
        let extreme = r#"{"op":"start","now":9223372036854775807,"bounds":[1,10],"per_week":-1,"entries":[-9223372036854775808]}"#;
        assert!(driven.answer(extreme).is_ok());
    }
}
