//! The user's pace and bounds on an interval (SPEC A.8): `clamp(pace * raw, MIN, MAX)`.

use super::facts::Facts;
use super::interval::pace::Pace;
use super::limits::{
    DEFAULT_MAX_SECONDS, DEFAULT_MIN_SECONDS, HARD_MIN_SECONDS, INTERVAL_MAX_SECONDS,
};
use super::plan::SettledBy;

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
