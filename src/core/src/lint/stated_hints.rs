//! The hints of a document that state an interval, in the order of their precedence in the schedule.

use chrono::{DateTime, Utc};

use crate::feed::Hints;
use crate::schedule::{Facts, PlanStage, ScheduleSettings, SettledBy, Value, decide};

/// A hint that states an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StatedHint {
    pub(super) by: SettledBy,
    /// Requested interval in seconds, before the user's minimum and maximum are applied; `None` for interval rules, which
    /// state several intervals.
    pub(super) seconds: Option<i64>,
}

impl StatedHint {
    /// Returns the name of the hint, as used in the report.
    pub(super) fn name(self) -> &'static str {
        match self.by.hint_name() {
            "" => "the reader's default",
            name => name,
        }
    }
}

/// Returns the hints that state an interval, the one with the highest precedence first (SPEC B.2). Determines the order by
/// repeatedly computing the schedule and removing the hint that determines the next poll.
pub(super) fn speakers(hints: &Hints, now: DateTime<Utc>) -> Vec<StatedHint> {
    let mut left =
        Hints { skip_hours: Vec::new(), skip_days: Vec::new(), expired: false, ..hints.clone() };
    let mut speakers = Vec::new();
    if !left.intervals.is_empty() {
        left.intervals.clear();
        speakers.push(StatedHint { by: SettledBy::Rules, seconds: None });
    }
    loop {
        let speaker = strongest(&left, now);
        let was_stated = if matches!(speaker.by, SettledBy::Sy | SettledBy::BoilerplateSy) {
            left.sy.take().is_some()
        } else if speaker.by == SettledBy::Ttl {
            left.ttl_minutes.take().is_some()
        } else {
            speaker.by == SettledBy::RefreshRate && left.refresh_rate_ms.take().is_some()
        };
        if !was_stated {
            return speakers;
        }
        speakers.push(speaker);
    }
}

/// Returns the hint that determines the next poll if the user's minimum and maximum have no effect.
fn strongest(hints: &Hints, now: DateTime<Utc>) -> StatedHint {
    let settings =
        ScheduleSettings { min_seconds: 1, max_seconds: u32::MAX, ..ScheduleSettings::default() };
    let facts = Facts {
        hints: hints.clone(),
        settings,
        last_ok: Some(now),
        loopback: true,
        ..Facts::default()
    };
    let plan = decide(&facts, now, 0.0);
    let stated = plan.steps.iter().find(|step| step.stage == PlanStage::Recommendation);
    let seconds = match stated.and_then(|step| step.after) {
        Some(Value::Seconds(seconds)) => Some(seconds),
        Some(Value::At(_)) | None => None,
    };
    StatedHint { by: plan.settled_by, seconds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{IntervalRule, Period, SyHint, Zone};

    fn check(hints: &Hints, expected: &[(SettledBy, Option<i64>)]) {
        let found = speakers(hints, DateTime::UNIX_EPOCH);
        let found: Vec<_> = found.iter().map(|speaker| (speaker.by, speaker.seconds)).collect();
        assert_eq!(found, expected, "{hints:?}");
    }

    #[test]
    fn hints_rank_in_the_order_of_the_schedule() {
        let rule = IntervalRule {
            minutes: 30,
            start_hour: None,
            end_hour: None,
            start_day: None,
            end_day: None,
            zone: Zone::Utc,
        };
        let sy = SyHint { period: Period::Hourly, frequency: 1, base: None };
        let all = Hints {
            intervals: vec![rule],
            sy: Some(sy),
            ttl_minutes: Some(1),
            refresh_rate_ms: Some(900_000),
            skip_hours: vec![0],
            expired: true,
            ..Hints::default()
        };
        let (rules, ttl) = ((SettledBy::Rules, None), (SettledBy::Ttl, Some(60)));
        let rate = (SettledBy::RefreshRate, Some(900));
        check(&all, &[rules, (SettledBy::Sy, Some(3_600)), ttl, rate]);
        let wordpress = Hints { generator: Some("https://wordpress.org/?v=6".into()), ..all };
        check(&wordpress, &[rules, ttl, rate, (SettledBy::BoilerplateSy, Some(3_600))]);
        let base = Some(DateTime::UNIX_EPOCH);
        let yearly = SyHint { period: Period::Yearly, frequency: 1, base };
        check(
            &Hints { sy: Some(yearly), ttl_minutes: Some(527_040), ..Hints::default() },
            &[(SettledBy::Sy, Some(365 * 86_400)), (SettledBy::Ttl, Some(527_040 * 60))],
        );
        check(&Hints::default(), &[]);
    }
}
