//! Polling policies that the experiment compares. They use only information that a feed reader could have (SPEC F.1;
//! SCHEDULING 2).
//!
//! One of them is the program's own schedule, with the jitter that spreads the polls of many installations over time (SPEC A.7,
//! B.1).

use std::sync::Arc;

use chrono::DateTime;

use super::score::{Figures, Score, Scoring, Window};
use super::source::SimulatedFeed;
use super::week_rules::{DAY, WEEK, WeekRules, real, whole};
use crate::feed::Zone;
use crate::schedule::learning::{
    LearnTerms, LearnedPlan, PRICE_MINUTES, Publications, learn, learn_for_polls,
};
use crate::schedule::{Facts, Learned, ScheduleSettings, decide_time, spread_unit};

/// A polling policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PollPolicy {
    /// Polls at one fixed interval.
    Linear,
    /// Follows interval rules as in the paper on interval rules.
    Rules,
    /// Follows the learned plan, which is learned again each day.
    Learned,
    /// Polls at an interval derived from the number of entries in the last week, as some servers do.
    EntryFrequency,
    /// Halves the interval after a poll that finds entries, and extends it by a quarter of an hour after a poll that finds
    /// none.
    Aimd,
}

impl PollPolicy {
    /// All policies, in the order of the columns of a table.
    pub const ALL: [Self; 5] =
        [Self::Linear, Self::Rules, Self::Learned, Self::EntryFrequency, Self::Aimd];

    /// Returns the policy's name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Rules => "rules",
            Self::Learned => "learned",
            Self::EntryFrequency => "entry-frequency",
            Self::Aimd => "aimd",
        }
    }
}

/// The conditions under which the policies are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// Minimum interval between polls, in minutes.
    pub min: i64,
    /// Maximum interval between polls, in minutes.
    pub max: i64,
    /// Number of training days at the beginning of a feed's data. The remaining days are for the test.
    pub train_days: i64,
    /// Number of runs for each feed. Each run starts a minute later than the one before.
    pub shifts: u32,
    /// Whether the rules policy and the learned policy use [`crate::schedule::decide`] as the program does, including
    /// jitter.
    pub jitter: bool,
}

impl Conditions {
    /// Returns the part of a feed's data that is used for training.
    pub fn training(&self, source: &SimulatedFeed) -> Window {
        Window { start: source.start, end: self.boundary(source), shifts: self.shifts }
    }

    /// Returns the part of a feed's data that is used for the test.
    pub fn test(&self, source: &SimulatedFeed) -> Window {
        Window { start: self.boundary(source), end: source.end, shifts: self.shifts }
    }

    fn boundary(&self, source: &SimulatedFeed) -> i64 {
        (source.start + self.train_days * DAY).min(source.end)
    }

    const fn bounds(&self) -> (i64, i64) {
        (self.min, self.max)
    }
}

/// The inputs for one feed in addition to its publication times.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExperimentInputs<'a> {
    /// Interval rules to follow; `None` if they are to be derived from the training weeks.
    pub rules: Option<&'a WeekRules>,
    /// Number of polls per week allowed for every policy except [`PollPolicy::Rules`], which ignores it.
    pub polls_per_week: Option<f64>,
}

impl ExperimentInputs<'_> {
    /// Returns the average number of polls that a run over a window may make under the budget. A run begins with a poll, so
    /// on average it has half a poll more than its length implies.
    pub(crate) fn allowed_polls(&self, window: Window) -> Option<f64> {
        let later = (f64::from(window.shifts.max(1)) - 1.0) / 2.0;
        let weeks = (whole(window.end - window.start) - later) / whole(WEEK);
        self.polls_per_week.map(|polls| polls * weeks + 0.5)
    }
}

/// A policy that has been trained for one feed and can be run over windows of its data.
#[derive(Debug)]
pub struct Poller<'a> {
    source: &'a SimulatedFeed,
    bounds: (i64, i64),
    course: PollerCourse,
    /// Factor by which the policies with a varying interval multiply their intervals to stay within the budget.
    stretch: f64,
    jitter: bool,
}

#[derive(Debug)]
enum PollerCourse {
    Even(f64),
    Rules(WeekRules),
    /// The learned plans, one for each day from minute `start`.
    Learned {
        start: i64,
        days: Vec<Arc<LearnedPlan>>,
    },
    EntryFrequency,
    Aimd,
}

impl<'a> Poller<'a> {
    /// Trains a policy on the training weeks, so that it can be run over the test weeks.
    pub fn for_test(
        policy: PollPolicy,
        source: &'a SimulatedFeed,
        conditions: &Conditions,
        given: ExperimentInputs<'_>,
    ) -> Self {
        let window = conditions.test(source);
        let days = (window.start..window.end).step_by(1440);
        let learned = |at: i64| learned_at(source, at, conditions, given.polls_per_week);
        Self::new(policy, source, conditions, given, || PollerCourse::Learned {
            start: window.start,
            days: days.filter_map(learned).map(Arc::new).collect(),
        })
    }

    /// Trains a policy for running it over the training weeks themselves. The learned policy uses the plan learned at the
    /// end of these weeks.
    pub(crate) fn for_training(
        policy: PollPolicy,
        source: &'a SimulatedFeed,
        conditions: &Conditions,
        given: ExperimentInputs<'_>,
    ) -> Self {
        let window = conditions.training(source);
        Self::new(policy, source, conditions, given, || {
            let plan = learned_at(source, window.end, conditions, given.polls_per_week);
            PollerCourse::Learned {
                start: window.end,
                days: plan.map(Arc::new).into_iter().collect(),
            }
        })
    }

    fn new(
        policy: PollPolicy,
        source: &'a SimulatedFeed,
        conditions: &Conditions,
        given: ExperimentInputs<'_>,
        learned: impl FnOnce() -> PollerCourse,
    ) -> Self {
        let training = conditions.training(source);
        let span = (training.start, training.end);
        let course = match policy {
            PollPolicy::Linear => {
                PollerCourse::Even(even_interval(source, span, conditions, given))
            }
            PollPolicy::Rules => PollerCourse::Rules(match given.rules {
                Some(rules) => rules.clone(),
                None => WeekRules::marked(&source.minutes, span, conditions.bounds()),
            }),
            PollPolicy::Learned => learned(),
            PollPolicy::EntryFrequency => PollerCourse::EntryFrequency,
            PollPolicy::Aimd => PollerCourse::Aimd,
        };
        let (bounds, jitter) = (conditions.bounds(), conditions.jitter);
        let mut poller = Self { source, bounds, course, stretch: 1.0, jitter };
        let adapts = matches!(poller.course, PollerCourse::EntryFrequency | PollerCourse::Aimd);
        if let Some(polls) = given.polls_per_week.filter(|_| adapts) {
            poller.keep_to_budget(training, polls);
        }
        poller
    }

    /// Finds the smallest factor for the intervals with which the policy stays within the budget in the last two training
    /// weeks, as far as the bounds of the intervals allow.
    fn keep_to_budget(&mut self, training: Window, polls_per_week: f64) {
        let start = training.start.max(training.end - 2 * WEEK);
        let window = Window { start, end: training.end, shifts: 1 };
        let allowed = polls_per_week * whole(window.end - window.start) / whole(WEEK);
        let (mut low, mut high) = (-STRETCH_MOST, STRETCH_MOST);
        while high - low > STRETCH_PRECISION {
            let middle = f64::midpoint(low, high);
            self.stretch = middle.exp();
            // The last poll of a run is at or after the end of the window, so it does not count.
            let polls = real(self.run(window, 0).len().saturating_sub(1));
            if polls <= allowed { high = middle } else { low = middle }
        }
        self.stretch = high.exp();
    }

    /// Returns the minutes of the polls in one run. The first poll is `shift` minutes after the start of the window. The
    /// last poll is at or after the end of the window.
    pub fn run(&self, window: Window, shift: u32) -> Vec<i64> {
        let first = window.start + i64::from(shift);
        let mut live =
            self.jitter.then(|| LiveSchedule::new(&self.source.name, shift, self.bounds));
        let mut polls = vec![first];
        let (mut last, mut gap) = (first, AIMD_START);
        let mut number = 0.0;
        while last < window.end {
            let before = polls.len().checked_sub(2).and_then(|place| polls.get(place).copied());
            number += 1.0;
            last = match &self.course {
                PollerCourse::Even(interval) => at_even(first, number, *interval, last),
                PollerCourse::Rules(rules) => match &mut live {
                    Some(live) => live.next_by_rules(rules, last),
                    None => rules.next(last, self.bounds),
                },
                PollerCourse::Learned { start, days } => {
                    let plan = plan_of_day(*start, days, last);
                    match (plan, &mut live) {
                        (Some(plan), Some(live)) => live.next_by_plan(plan, last),
                        (Some(plan), None) => plan.next_minute(last, self.bounds.0, self.bounds.1),
                        (None, _) => last + self.bounds.1,
                    }
                }
                PollerCourse::EntryFrequency => {
                    last + self.stretched(self.by_entry_frequency(last))
                }
                PollerCourse::Aimd => {
                    let hit = self.published(before.unwrap_or(last - gap), last) > 0;
                    gap = if hit { gap / 2 } else { gap + AIMD_STEP };
                    gap = gap.clamp(self.bounds.0, self.bounds.1);
                    last + self.stretched(gap)
                }
            };
            polls.push(last);
        }
        polls
    }

    /// Multiplies an interval in minutes by the factor that fits the budget, within the bounds.
    fn stretched(&self, gap: i64) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "a gap is at most a year")]
        let gap = (whole(gap) * self.stretch).round() as i64;
        gap.clamp(self.bounds.0, self.bounds.1)
    }

    /// Checks whether the policy follows rules with more than one interval.
    pub(crate) fn has_several_rules(&self) -> bool {
        matches!(&self.course, PollerCourse::Rules(rules) if rules.has_several())
    }

    /// Scores all runs over a window. Calls `each` with the number of each run and the minutes of its polls.
    pub fn score(
        &self,
        source: &SimulatedFeed,
        window: Window,
        each: impl FnMut(u32, &[i64]),
    ) -> Option<Score> {
        self.scoring(source, window, each).score()
    }

    /// Returns the figures of all runs over a window, without those of a linear policy.
    pub(super) fn figures(&self, source: &SimulatedFeed, window: Window) -> Option<Figures> {
        self.scoring(source, window, |_, _| ()).figures()
    }

    fn scoring<'s>(
        &self,
        source: &'s SimulatedFeed,
        window: Window,
        mut each: impl FnMut(u32, &[i64]),
    ) -> Scoring<'s> {
        let mut scoring = Scoring::new(source, window);
        for shift in 0..window.shifts.max(1) {
            let polls = self.run(window, shift);
            scoring.add(&polls);
            each(shift, &polls);
        }
        scoring
    }

    fn by_entry_frequency(&self, last: i64) -> i64 {
        let week = self.published(last - WEEK, last);
        (WEEK / week.max(1)).clamp(self.bounds.0, self.bounds.1)
    }

    /// Returns the number of publications that became visible after `from` and no later than `to`.
    fn published(&self, from: i64, to: i64) -> i64 {
        let until = |end: i64| self.source.minutes.partition_point(|&minute| minute <= end);
        i64::try_from(until(to).saturating_sub(until(from))).unwrap_or(0)
    }
}

/// Returns the plan for the day of the poll at minute `last`, or the last plan if there is none for that day.
fn plan_of_day(start: i64, days: &[Arc<LearnedPlan>], last: i64) -> Option<&Arc<LearnedPlan>> {
    let day = usize::try_from((last - start).div_euclid(DAY)).unwrap_or(0);
    days.get(day.min(days.len().saturating_sub(1)))
}

/// Maximum and precision of the natural logarithm of the factor for the intervals.
const STRETCH_MOST: f64 = 6.0;
const STRETCH_PRECISION: f64 = 1e-3;
/// Start value of the interval of [`PollPolicy::Aimd`], and the step by which the interval grows, in minutes.
const AIMD_START: i64 = 60;
const AIMD_STEP: i64 = 15;

/// Returns the minute of poll number `number` at a fixed interval, rounded down. The result is always later than `last`.
fn at_even(first: i64, number: f64, interval: f64, last: i64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a span of years in minutes")]
    let at = first + (number * interval).floor() as i64;
    at.max(last + 1)
}

/// Returns the fixed interval that the budget allows. Without a budget, this is the mean time between publications in the
/// training weeks, within the bounds.
fn even_interval(
    source: &SimulatedFeed,
    span: (i64, i64),
    conditions: &Conditions,
    given: ExperimentInputs<'_>,
) -> f64 {
    let inside =
        source.minutes.iter().filter(|&&minute| minute >= span.0 && minute < span.1).count();
    let mean = || whole(span.1 - span.0) / real(inside).max(1e-9);
    let interval = given.polls_per_week.map_or_else(mean, |polls| whole(WEEK) / polls);
    interval.clamp(whole(conditions.min), whole(conditions.max))
}

/// Returns the plan that would be learned at minute `at` by a reader that saw all publications until then.
fn learned_at(
    source: &SimulatedFeed,
    at: i64,
    conditions: &Conditions,
    polls_per_week: Option<f64>,
) -> Option<LearnedPlan> {
    // The input states the minute from which a publication is visible, which is the minute after its publication.
    let stamps = source.minutes.iter().take_while(|&&minute| minute <= at).map(|minute| minute - 1);
    let known = Publications::of_minutes(stamps, source.start, at);
    let now = DateTime::from_timestamp(at * 60, 0)?;
    learned(&known, conditions.bounds(), now, polls_per_week)
}

/// Learns a plan within a budget of polls per week or, without a budget, at the default cost per poll.
pub fn learned(
    known: &Publications,
    (min, max): (i64, i64),
    now: DateTime<chrono::Utc>,
    polls_per_week: Option<f64>,
) -> Option<LearnedPlan> {
    let seconds = |minutes: i64| u32::try_from(minutes.saturating_mul(60)).unwrap_or(u32::MAX);
    let terms = LearnTerms {
        min_seconds: seconds(min),
        max_seconds: seconds(max),
        price_minutes: PRICE_MINUTES,
        zone: Zone::Utc,
    };
    match polls_per_week {
        Some(polls) => learn_for_polls(known, &terms, now, polls),
        None => learn(known, &terms, now),
    }
}

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
