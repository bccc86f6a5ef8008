//! Hypothetical plans: the upcoming polls if the feed does not change, and the plan at another pace.

use chrono::{DateTime, Utc};

use super::decide::decide;
use super::facts::Facts;
use super::interval::pace::Pace;
use super::limits::FOLLOWING_MAX;
use super::plan::Plan;

/// Returns the next `count` plans (at most 1000), assuming that each poll happens as planned and gets the same
/// response as the last one: same hints, same cache lifetime. Stops after a plan that never polls.
///
/// `unit` returns the feed's share of the jitter for the plan that follows the given last poll; see [`super::spread_unit`].
pub fn following_plans(
    facts: &Facts,
    now: DateTime<Utc>,
    count: usize,
    unit: impl Fn(Option<DateTime<Utc>>) -> f64,
) -> Vec<Plan> {
    let (mut facts, mut now) = (facts.clone(), now);
    let mut plans = Vec::new();
    while plans.len() < count.min(FOLLOWING_MAX) {
        let plan = decide(&facts, now, unit(facts.last_ok));
        let next_poll = plan.next_poll;
        plans.push(plan);
        let Some(at) = next_poll else { break };
        facts.repeat_success(at);
        now = at;
    }
    plans
}

/// Computes the plan at another pace, to preview the effect of `+` or `-`.
pub fn with_pace(facts: &Facts, pace: Pace, now: DateTime<Utc>, u: f64) -> Plan {
    let mut facts = facts.clone();
    facts.settings.pace = pace;
    decide(&facts, now, u)
}

#[cfg(test)]
mod tests {
    use super::super::facts::{FeedStatus, ScheduleSettings};
    use super::super::instant::instant;
    use super::super::plan::SettledBy;
    use super::*;
    use crate::schedule::holds::cache::{CacheState, TimingHeaders};

    /// 2026-03-02T10:00:00Z, a Monday.
    const TEN: i64 = 1_772_445_600;

    fn with_ttl(minutes: u32) -> Facts {
        let mut facts = Facts::default();
        facts.hints.ttl_minutes = Some(minutes);
        facts.last_ok = Some(instant(TEN));
        facts
    }

    fn minutes_after_ten(plans: &[Plan]) -> Vec<i64> {
        let times = plans.iter().filter_map(|plan| plan.next_poll);
        times.map(|at| (at.timestamp() - TEN) / 60).collect()
    }

    #[test]
    fn following_polls_respect_skip_windows() {
        let mut facts = with_ttl(60);
        facts.hints.skip_hours = vec![12, 13];
        let plans = following_plans(&facts, instant(TEN), 4, |_| 0.0);
        assert_eq!(minutes_after_ten(&plans), [60, 240, 300, 360]);
        assert_eq!(plans[1].settled_by, SettledBy::SkipHours);
    }

    #[test]
    fn the_same_cache_lifetime_is_assumed_of_each_answer() {
        let mut facts = with_ttl(30);
        let headers = TimingHeaders { cache_control: Some("max-age=7200"), ..Default::default() };
        facts.cache = Some(CacheState::of_document(&headers, instant(TEN)));
        let plans = following_plans(&facts, instant(TEN), 3, |_| 0.0);
        assert_eq!(minutes_after_ten(&plans), [120, 240, 360]);
    }

    #[test]
    fn stopped_feed_has_one_plan_that_says_never() {
        let facts = Facts { standing: FeedStatus::Gone, ..with_ttl(30) };
        let plans = following_plans(&facts, instant(TEN), 5, |_| 0.0);
        assert_eq!(plans.len(), 1);
        assert_eq!(plans[0].next_poll, None);
        assert!(following_plans(&with_ttl(30), instant(TEN), 0, |_| 0.0).is_empty());
        assert_eq!(following_plans(&with_ttl(30), instant(TEN), usize::MAX, |_| 0.0).len(), 1000);
    }

    #[test]
    fn changed_pace_shows_its_effect_or_lack_of_one() {
        let facts = with_ttl(60);
        let more = with_pace(&facts, Pace::More, instant(TEN), 0.0);
        assert_eq!(minutes_after_ten(&[more]), [30]);
        let held = with_pace(&with_ttl(15), Pace::More, instant(TEN), 0.0);
        assert_eq!(minutes_after_ten(std::slice::from_ref(&held)), [15]);
        let reason = "halved to 7 min 30 s, limited to the usual minimum of 15 min: the setting has no effect";
        assert!(held.steps.iter().any(|step| step.reason == reason), "{:#?}", held.steps);
        let settings = ScheduleSettings { max_seconds: 240 * 60, ..ScheduleSettings::default() };
        let slow = Facts { settings, ..with_ttl(240) };
        let held = with_pace(&slow, Pace::Less, instant(TEN), 0.0);
        let reason = "doubled to 8 h, limited to your maximum of 4 h: the setting has no effect";
        assert!(held.steps.iter().any(|step| step.reason == reason), "{:#?}", held.steps);
    }
}
