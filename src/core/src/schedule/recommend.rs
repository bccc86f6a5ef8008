//! Chooses the source of the poll interval: the first source in an ordered list that states an interval (SPEC B.2).

use super::facts::{Facts, FeedStatus, Learned};
use super::interval::rules::RuleTable;
use super::interval::slots::sy_seconds;
use super::limits::{BOILERPLATE_SECONDS, INTERVAL_MAX_SECONDS};
use super::plan::SettledBy;
use crate::feed::{Period, SyHint};

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
    facts.hints.sy == Some(once_an_hour)
        && facts.hints.generator.as_deref().is_some_and(names_wordpress)
}

fn names_wordpress(generator: &str) -> bool {
    let name = b"wordpress";
    generator.as_bytes().windows(name.len()).any(|part| part.eq_ignore_ascii_case(name))
}
