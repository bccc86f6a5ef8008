//! Hypothetical plans: the upcoming polls if the feed does not change, the plan at another pace, and the number of polls and the
//! average delay of new entries at any pace.

use chrono::{DateTime, TimeDelta, Utc};

use super::decide::{decide, decide_time};
use super::facts::Facts;
use super::holds::floors::at_rest;
use super::limits::{FOLLOWING_MAX, HOURS, Pace};
use super::plan::Plan;
use super::recommend::{Bounds, RecommendedCourse, recommend};
use super::rules::RuleTable;
use super::segments::{IntervalWalk, Rhythm};

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

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// The cost of a schedule, without the effect of floors and skip windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    pub polls_a_day: f64,
    /// Average delay of a publication, in minutes: the learned delay, or half the interval if nothing was learned.
    pub delay_minutes: f64,
}

/// Estimates the cost of a feed's schedule at a pace. Returns `None` if the feed is not polled automatically.
pub fn cost_at_pace(facts: &Facts, pace: Pace) -> Option<Cost> {
    if at_rest(facts).is_some() {
        return None;
    }
    let recommendation = recommend(facts);
    let own = Bounds::from_facts(facts);
    let bounds = if own.fixed { own } else { Bounds { pace, ..own } };
    let fallback = recommendation.flat.seconds;
    Some(match &recommendation.course {
        RecommendedCourse::Rules(table) => under_rules(table, fallback, bounds),
        RecommendedCourse::Placed(learned) => match &learned.plan {
            Some(plan) => {
                let cost = plan.cost(pace);
                Cost { polls_a_day: cost.polls_per_week / 7.0, delay_minutes: cost.delay_minutes }
            }
            None => even(bounds.interval(fallback)),
        },
        RecommendedCourse::Flat | RecommendedCourse::Slots(..) => even(bounds.interval(fallback)),
    })
}

fn even(seconds: i64) -> Cost {
    let seconds = f64::from(u32::try_from(seconds.max(1)).unwrap_or(u32::MAX));
    Cost { polls_a_day: DAY / seconds, delay_minutes: seconds / 120.0 }
}

/// Returns the cost of a schedule with interval rules, averaged over the hours of a week.
fn under_rules(table: &RuleTable, fallback: i64, bounds: Bounds) -> Cost {
    let mut walk = IntervalWalk::start(Rhythm { table, fallback, bounds }, 0);
    let mut sum = Cost { polls_a_day: 0.0, delay_minutes: 0.0 };
    for hour in 0..i64::from(HOURS) {
        walk.advance_to(hour * 3600);
        let here = even(walk.in_force().interval);
        sum.polls_a_day += here.polls_a_day / f64::from(HOURS);
        sum.delay_minutes += here.delay_minutes / f64::from(HOURS);
    }
    sum
}

/// Returns the polls of a feed until `end`, at most 1000, assuming that each poll happens as planned and gets the same
/// response as the last one.
pub fn polls_until(
    facts: &Facts,
    now: DateTime<Utc>,
    end: DateTime<Utc>,
    unit: impl Fn(Option<DateTime<Utc>>) -> f64,
) -> Vec<DateTime<Utc>> {
    let (mut facts, mut now) = (facts.clone(), now);
    let mut polls = Vec::new();
    while polls.len() < FOLLOWING_MAX {
        let next = decide_time(&facts, now, unit(facts.last_ok)).next_poll;
        let Some(at) = next.filter(|at| *at < end) else { break };
        polls.push(at);
        facts.repeat_success(at);
        // Always advance the clock, so that a feed that is always due cannot loop at one instant.
        now = at.max(now + TimeDelta::seconds(1));
    }
    polls
}

/// Checks whether a learned plan places the polls, so that there is no regular interval to show.
pub fn places_polls(facts: &Facts) -> bool {
    matches!(recommend(facts).course, RecommendedCourse::Placed(_))
}

#[cfg(test)]
mod tests {
    use super::super::facts::{FeedStatus, ScheduleSettings};
    use super::super::limits::instant;
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

#[cfg(test)]
mod spending_tests {
    use super::super::specimens::{at, set_p, with_rules, with_ttl};
    use super::*;

    #[test]
    fn interval_cost_follows_its_pace() {
        let facts = with_ttl(60, "03-02 10:00");
        for (pace, polls, delay) in
            [(Pace::More, 48.0, 15.0), (Pace::Normal, 24.0, 30.0), (Pace::Less, 12.0, 60.0)]
        {
            assert_eq!(
                cost_at_pace(&facts, pace),
                Some(Cost { polls_a_day: polls, delay_minutes: delay })
            );
        }
    }

    #[test]
    fn rules_cost_what_their_hours_cost() {
        let cost = cost_at_pace(&with_rules(set_p(), "03-02 10:00"), Pace::Normal).expect("a cost");
        // 52 hours with two polls each and 116 hours with a quarter of a poll each.
        assert!((cost.polls_a_day - (52.0 * 2.0 + 116.0 / 4.0) / 7.0).abs() < 1e-9, "{cost:?}");
    }

    #[test]
    fn polls_of_a_day_are_named_one_by_one() {
        let facts = with_ttl(60, "03-02 10:00");
        let polls = polls_until(&facts, at("03-02 10:30"), at("03-03 10:30"), |_| 0.0);
        assert_eq!((polls.len(), polls[0]), (24, at("03-02 11:00")));
    }
}
