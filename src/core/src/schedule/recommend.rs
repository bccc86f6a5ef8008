//! Chooses the source of the poll interval, the first in an ordered list that states an interval (SPEC B.2), and applies the user's
//! pace and bounds (SPEC A.8): `clamp(pace * raw, MIN, MAX)`.

use super::facts::{Facts, FeedStatus, Learned};
use super::limits::{
    BOILERPLATE_SECONDS, DEFAULT_MAX_SECONDS, DEFAULT_MIN_SECONDS, HARD_MIN_SECONDS,
    INTERVAL_MAX_SECONDS, Pace,
};
use super::plan::SettledBy;
use super::rules::RuleTable;
use super::slots::sy_seconds;
use crate::feed::{Period, SyHint};
use crate::words::frequency::{Frequency, KnownBy};

/// Sources that can recommend an interval, in order of precedence (SPEC B.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntervalSource {
    Fixed,
    ArchiveDocument,
    OwnRules,
    Rules,
    Sy,
    Ttl,
    RefreshRate,
    BoilerplateSy,
    Learned,
    Default,
}

impl IntervalSource {
    pub(super) const fn settled_by(self) -> SettledBy {
        match self {
            Self::Fixed => SettledBy::Fixed,
            Self::ArchiveDocument => SettledBy::Maximum,
            Self::OwnRules => SettledBy::OwnRules,
            Self::Rules => SettledBy::Rules,
            Self::Sy => SettledBy::Sy,
            Self::Ttl => SettledBy::Ttl,
            Self::RefreshRate => SettledBy::RefreshRate,
            Self::BoilerplateSy => SettledBy::BoilerplateSy,
            Self::Learned => SettledBy::Learned,
            Self::Default => SettledBy::Default,
        }
    }
}

/// A source and the flat interval it states, in seconds, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StatedInterval {
    pub(super) source: IntervalSource,
    pub(super) seconds: i64,
}

/// The recommendation of the first source that states an interval.
#[derive(Debug, Clone)]
pub(super) struct Recommendation {
    pub(super) source: IntervalSource,
    pub(super) course: RecommendedCourse,
    /// The flat interval: with rules, the interval for hours that no rule covers; with slots, the step between them.
    pub(super) flat: StatedInterval,
}

/// How the time of the next poll is computed from a recommendation.
#[derive(Debug, Clone)]
pub(super) enum RecommendedCourse {
    /// An interval that is the same at all times.
    Flat,
    /// An interval that depends on the hour.
    Rules(RuleTable),
    /// Slots counted from a base time.
    Slots(SyHint, chrono::DateTime<chrono::Utc>),
    /// Instants chosen by a learned plan.
    Placed(Learned),
}

/// A source that states one interval for all times.
type FlatSource = fn(&Facts) -> Option<StatedInterval>;

/// The sources that state one interval for all times, in order of precedence (SPEC B.2 ranks 2 to 7).
///
/// `sy` comes before `ttl` because it carries more information. The learned interval comes after every statement of
/// the publisher, but before boilerplate, which no publisher chose.
const FLAT_SOURCES: [FlatSource; 6] = [sy, ttl, refresh_rate, learned, boilerplate_sy, default];

/// The sources in [`FLAT_SOURCES`] with which the publisher chooses an interval.
const SPEAKERS: [FlatSource; 3] = [sy, ttl, refresh_rate];

/// Returns the recommendation for these facts.
pub(super) fn recommend(facts: &Facts) -> Recommendation {
    if let Some(fixed) = facts.settings.fixed_seconds {
        let flat =
            StatedInterval { source: IntervalSource::Fixed, seconds: i64::from(fixed).max(1) };
        return Recommendation { source: flat.source, course: RecommendedCourse::Flat, flat };
    }
    if facts.standing == FeedStatus::Archive {
        let flat = StatedInterval {
            source: IntervalSource::ArchiveDocument,
            seconds: INTERVAL_MAX_SECONDS,
        };
        return Recommendation { source: flat.source, course: RecommendedCourse::Flat, flat };
    }
    let flat = first_flat(facts);
    if let Some((source, table)) = rules(facts) {
        return Recommendation { source, course: RecommendedCourse::Rules(table), flat };
    }
    let slots = facts.hints.sy.filter(|_| flat.source == IntervalSource::Sy);
    let course = match slots.and_then(|sy| Some((sy, sy.base?))) {
        Some((sy, base)) => RecommendedCourse::Slots(sy, base),
        None if flat.source == IntervalSource::Learned => placed(facts),
        None => RecommendedCourse::Flat,
    };
    Recommendation { source: flat.source, course, flat }
}

/// Checks whether no source of a higher rank states one interval for all times, so that the learned schedule is used (SPEC B.2 rank
/// 6). The learned schedule then places the polls, or supplies the interval for hours that no rule covers.
pub fn leaves_room_for_learning(facts: &Facts) -> bool {
    let stated = |source: FlatSource| source(facts).is_some();
    !SPEAKERS.into_iter().any(stated)
        && facts.settings.fixed_seconds.is_none()
        && facts.standing != FeedStatus::Archive
}

/// Returns the course of a learned schedule: placed polls if a learned plan or stored next poll times are available, otherwise a
/// flat interval.
fn placed(facts: &Facts) -> RecommendedCourse {
    let places = |learned: &&Learned| learned.plan.is_some() || learned.answered.is_some();
    match facts.learned.as_ref().filter(places) {
        Some(learned) => RecommendedCourse::Placed(learned.clone()),
        None => RecommendedCourse::Flat,
    }
}

/// Returns the flat sources that state an interval, in order of precedence. The default source always states one.
pub(super) fn flat_sources(facts: &Facts) -> impl Iterator<Item = StatedInterval> {
    FLAT_SOURCES.iter().filter_map(move |source| source(facts))
}

fn first_flat(facts: &Facts) -> StatedInterval {
    let default = StatedInterval { source: IntervalSource::Default, seconds: 1 };
    flat_sources(facts).next().unwrap_or(default)
}

/// Returns the user's own rules (rank 0.5), or else the publisher's (rank 1).
fn rules(facts: &Facts) -> Option<(IntervalSource, RuleTable)> {
    let own =
        || RuleTable::new(&facts.settings.own_rules).map(|table| (IntervalSource::OwnRules, table));
    let stated =
        || RuleTable::new(&facts.hints.intervals).map(|table| (IntervalSource::Rules, table));
    own().or_else(stated)
}

fn stated(source: IntervalSource, seconds: i64) -> Option<StatedInterval> {
    (seconds > 0).then_some(StatedInterval { source, seconds })
}

fn sy(facts: &Facts) -> Option<StatedInterval> {
    let sy = facts.hints.sy.filter(|_| !is_boilerplate(facts))?;
    stated(IntervalSource::Sy, sy_seconds(sy))
}

impl Facts {
    /// Returns how often the feed publishes: as it was learned, else as it was `counted`, else as its publisher states it. Of all
    /// statements only `sy:` says how often the feed changes; the others say how often to look.
    pub fn frequency(&self, counted: Frequency) -> Frequency {
        let per_week = self.learned.as_ref().map_or(0.0, |learned| learned.per_week);
        if per_week > 0.0 {
            Frequency::of_week(per_week)
        } else if counted.known == KnownBy::Nothing {
            sy(self).map_or(counted, |sy| Frequency::of_interval(sy.seconds))
        } else {
            counted
        }
    }
}

fn ttl(facts: &Facts) -> Option<StatedInterval> {
    stated(IntervalSource::Ttl, i64::from(facts.hints.ttl_minutes?) * 60)
}

fn refresh_rate(facts: &Facts) -> Option<StatedInterval> {
    stated(IntervalSource::RefreshRate, i64::try_from(facts.hints.refresh_rate_ms? / 1000).ok()?)
}

fn boilerplate_sy(facts: &Facts) -> Option<StatedInterval> {
    is_boilerplate(facts).then_some(())?;
    stated(IntervalSource::BoilerplateSy, BOILERPLATE_SECONDS)
}

fn learned(facts: &Facts) -> Option<StatedInterval> {
    stated(IntervalSource::Learned, i64::from(facts.learned.as_ref()?.interval_seconds))
}

fn default(facts: &Facts) -> Option<StatedInterval> {
    stated(IntervalSource::Default, i64::from(facts.settings.default_seconds).max(1))
}

/// Checks whether the `sy` hint is boilerplate: the one that `WordPress` writes into every feed, however rarely the feed changes.
///
/// The hint is boilerplate if all of the following hold (SPEC B.2, G.6):
///
/// 1. The hint states one update an hour.
/// 2. The hint has no base.
/// 3. `WordPress` generated the document.
pub(super) fn is_boilerplate(facts: &Facts) -> bool {
    let once_an_hour = SyHint { period: Period::Hourly, frequency: 1, base: None };
    facts.hints.sy == Some(once_an_hour) && facts.hints.is_by_wordpress()
}

/// One of the user's two limits on the poll interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntervalBound {
    Minimum,
    Maximum,
}

impl IntervalBound {
    pub(super) const fn settled_by(self) -> SettledBy {
        match self {
            Self::Minimum => SettledBy::Minimum,
            Self::Maximum => SettledBy::Maximum,
        }
    }
}

/// Pace and bounds in force for one feed, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) pace: Pace,
    /// Minimum interval, at least 1.
    pub(super) min: i64,
    /// Maximum interval, at least `min`.
    pub(super) max: i64,
    /// Minimum time between automatic polls, whatever the user sets (`HARD_MIN`); 0 on loopback hosts.
    pub(super) hard_min: i64,
    /// The user has fixed the interval, so neither the pace nor the user's bounds apply.
    pub(super) fixed: bool,
}

impl Bounds {
    /// Returns the pace and the bounds in force for the feed with these facts.
    pub(super) fn from_facts(facts: &Facts) -> Self {
        let settings = &facts.settings;
        let hard_min = if facts.loopback { 0 } else { HARD_MIN_SECONDS };
        let fixed = settings.fixed_seconds.is_some();
        let lowest = hard_min.max(1);
        if fixed {
            let (pace, max) = (Pace::Normal, INTERVAL_MAX_SECONDS);
            return Self { pace, min: lowest, max, hard_min, fixed };
        }
        let min = i64::from(settings.min_seconds).clamp(lowest, INTERVAL_MAX_SECONDS);
        let max = i64::from(settings.max_seconds).clamp(min, INTERVAL_MAX_SECONDS);
        Self { pace: settings.pace, min, max, hard_min, fixed }
    }

    /// Checks whether the minimum interval is the lowest that the user can choose, or lower, as it can be on loopback hosts.
    pub(super) const fn has_least_min(&self) -> bool {
        self.min <= HARD_MIN_SECONDS
    }

    /// Checks whether the minimum interval is the default.
    pub(super) fn has_usual_min(&self) -> bool {
        self.min == i64::from(DEFAULT_MIN_SECONDS)
    }

    /// Checks whether the maximum interval is the default.
    pub(super) fn has_usual_max(&self) -> bool {
        self.max == i64::from(DEFAULT_MAX_SECONDS)
    }

    /// Scales an interval by the pace, without applying the bounds.
    pub(super) fn scaled(&self, raw: i64) -> i64 {
        let (times, by) = self.pace.ratio();
        raw * times / by
    }

    /// Scales an interval by the pace and applies the bounds.
    pub(super) fn interval(&self, raw: i64) -> i64 {
        self.scaled(raw).clamp(self.min, self.max)
    }

    /// Returns the bound that limits this interval, if any.
    pub(super) fn holder(&self, raw: i64) -> Option<IntervalBound> {
        let scaled = self.scaled(raw);
        let low = (scaled < self.min).then_some(IntervalBound::Minimum);
        low.or_else(|| (scaled > self.max).then_some(IntervalBound::Maximum))
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::ScheduleSettings;
    use super::*;

    fn bounds(settings: ScheduleSettings) -> Bounds {
        Bounds::from_facts(&Facts { settings, ..Facts::default() })
    }

    #[test]
    fn pace_comes_before_the_bounds() {
        let with = |pace| bounds(ScheduleSettings { pace, ..ScheduleSettings::default() });
        assert_eq!(with(Pace::More).interval(900), 900);
        assert_eq!(with(Pace::More).holder(900), Some(IntervalBound::Minimum));
        assert_eq!(with(Pace::More).interval(3600), 1800);
        assert_eq!(with(Pace::Less).interval(86_400), 86_400);
        assert_eq!(with(Pace::Less).holder(86_400), Some(IntervalBound::Maximum));
        assert_eq!(with(Pace::Normal).holder(900), None);
    }

    #[test]
    fn impossible_bounds_are_made_possible() {
        let tiny = bounds(ScheduleSettings {
            min_seconds: 0,
            max_seconds: 0,
            ..ScheduleSettings::default()
        });
        assert_eq!((tiny.min, tiny.max), (300, 300));
        let crossed = bounds(ScheduleSettings {
            min_seconds: 7200,
            max_seconds: 60,
            ..ScheduleSettings::default()
        });
        assert_eq!((crossed.min, crossed.max), (7200, 7200));
        let settings = ScheduleSettings {
            min_seconds: u32::MAX,
            max_seconds: u32::MAX,
            ..ScheduleSettings::default()
        };
        assert_eq!(bounds(settings).max, INTERVAL_MAX_SECONDS);
    }

    #[test]
    fn loopback_has_no_hard_minimum_but_a_positive_interval() {
        let settings = ScheduleSettings { min_seconds: 0, ..ScheduleSettings::default() };
        let facts = Facts { settings, loopback: true, ..Facts::default() };
        assert_eq!(Bounds::from_facts(&facts).interval(0), 1);
    }

    #[test]
    fn a_fixed_interval_knows_only_the_hard_minimum() {
        let settings = ScheduleSettings {
            fixed_seconds: Some(60),
            pace: Pace::Less,
            ..ScheduleSettings::default()
        };
        assert_eq!(bounds(settings.clone()).interval(60), 300);
        assert_eq!(bounds(settings).interval(600), 600);
    }
}
