//! The program's own schedule, called once for each simulated poll. It includes the jitter that spreads the polls of many
//! installations over time (SPEC A.7, B.1).

use std::sync::Arc;

use chrono::DateTime;

use super::week_rules::WeekRules;
use crate::schedule::learning::LearnedPlan;
use crate::schedule::{Facts, Learned, ScheduleSettings, decide_time, spread_unit};

/// The schedule for one run of one feed.
pub(super) struct LiveSchedule {
    facts: Facts,
    /// Salt for the jitter. It differs between runs, so each run behaves like a separate installation.
    salt: u128,
    key: Vec<u8>,
    bounds: (i64, i64),
}

impl LiveSchedule {
    /// Creates a schedule for a feed without hints. The bounds are in minutes.
    pub(super) fn new(name: &str, shift: u32, bounds: (i64, i64)) -> Self {
        let seconds = |minutes: i64| u32::try_from(minutes.saturating_mul(60)).unwrap_or(u32::MAX);
        let settings = ScheduleSettings {
            min_seconds: seconds(bounds.0),
            max_seconds: seconds(bounds.1),
            ..ScheduleSettings::default()
        };
        let facts = Facts { settings, loopback: true, ..Facts::default() };
        let (salt, key) = (u128::from(shift), name.as_bytes().to_vec());
        Self { facts, salt, key, bounds }
    }

    /// Returns the minute of the poll that follows the one at minute `last`, according to a learned plan.
    pub(super) fn next_by_plan(&mut self, plan: &Arc<LearnedPlan>, last: i64) -> i64 {
        let at = DateTime::from_timestamp(last * 60, 0);
        self.facts.learned = Some(Learned::by_plan(Arc::clone(plan), at, &self.facts.settings));
        self.next(last)
    }

    /// Returns the minute of the poll that follows the one at minute `last`, according to interval rules of the publisher.
    pub(super) fn next_by_rules(&mut self, rules: &WeekRules, last: i64) -> i64 {
        if self.facts.hints.intervals.is_empty() {
            self.facts.hints.intervals = rules.interval_rules();
        }
        self.next(last)
    }

    fn next(&mut self, last: i64) -> i64 {
        let (min, max) = self.bounds;
        let at = DateTime::from_timestamp(last * 60, 0).unwrap_or_default();
        (self.facts.last_ok, self.facts.last_try) = (Some(at), Some(at));
        let unit = spread_unit(self.salt, &self.key, Some(at));
        let next = decide_time(&self.facts, at, unit).next_poll;
        // The experiment uses whole minutes, so the time of the next poll is rounded to the nearest minute.
        let next = next.map_or(last + max, |next| (next.timestamp() + 30).div_euclid(60));
        next.clamp(last + min, last + max.max(min))
    }
}

#[cfg(test)]
mod tests {
    use super::super::week_rules::DAY;
    use super::*;
    use crate::schedule::learning::Rectangle;

    /// 2026-03-02T00:00:00Z, a Monday.
    const MONDAY: i64 = 1_772_409_600 / 60;

    #[test]
    fn polls_by_rules_stay_within_bounds_and_near_the_rules() {
        let mut rules = WeekRules::flat(240.0);
        rules.mark(Rectangle { day: 0, days: 7, hour: 9, hours: 8 }, 30.0);
        let mut live = LiveSchedule::new("a", 3, (15, 240));
        let (mut last, mut gaps) = (MONDAY, Vec::new());
        while last < MONDAY + DAY {
            let next = live.next_by_rules(&rules, last);
            gaps.push(next - last);
            last = next;
        }
        assert!(gaps.iter().all(|gap| (15..=240).contains(gap)), "{gaps:?}");
        let short = gaps.iter().filter(|&&gap| gap <= 45).count();
        assert!((10..=20).contains(&short), "{gaps:?}");
        assert!(gaps.iter().any(|&gap| gap != 30 && gap <= 45), "spread apart: {gaps:?}");
    }
}
