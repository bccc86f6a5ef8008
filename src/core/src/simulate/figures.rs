//! Figures about the publication times of feeds, in the manner of the paper on interval rules: the activity in each hour of the
//! week (its Figure 2), and the delay of entries for each number of polls.

use chrono::{DateTime, Datelike, Timelike};
use chrono_tz::Tz;

use super::policies::{Conditions, ExperimentInputs, PollPolicy, Poller};
use super::source::SimulatedFeed;
use super::week_rules::{DAY, WEEK, real, whole};

/// Number of points in a curve of delays.
const POINTS: u32 = 9;
/// Number of shades for the activity in an hour; shade 0 means that nothing was published.
pub(super) const SHADES: u32 = 5;

/// The figures of some feeds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FigurePage {
    /// What the figures show: the title of a feed, or a number of feeds.
    pub subject: String,
    /// Name of the time zone of the activity.
    pub zone: String,
    /// Publications in each hour of the week, if that figure is shown.
    pub activity: Option<Activity>,
    /// Curves of delays in the test weeks, if that figure is shown.
    pub delays: Option<Vec<DelayCurve>>,
}

/// Numbers of publications in the 168 hours of the week, starting on Monday at 00:00.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity(Vec<u32>);

impl Activity {
    /// Counts the publications of feeds in a time zone.
    pub fn of(feeds: &[SimulatedFeed], zone: Tz) -> Self {
        let mut hours = vec![0_u32; 168];
        for feed in feeds {
            let inside = feed.minutes.iter().filter(|at| (feed.start..=feed.end).contains(at));
            for minute in inside {
                // An entry is visible from the minute after its publication.
                let published = DateTime::from_timestamp((minute - 1) * 60, 0);
                let Some(local) = published.map(|at| at.with_timezone(&zone)) else { continue };
                let hour = local.weekday().num_days_from_monday() * 24 + local.hour();
                let hour = usize::try_from(hour).unwrap_or(0);
                if let Some(count) = hours.get_mut(hour) {
                    *count = count.saturating_add(1);
                }
            }
        }
        Self(hours)
    }

    /// Returns the numbers of the 24 hours of each day, Monday first.
    pub(super) fn days(&self) -> impl Iterator<Item = &[u32]> {
        self.0.chunks(24)
    }

    /// Returns the shade of an hour with this number of publications, relative to the busiest hour.
    pub(super) fn shade(&self, count: u32) -> u32 {
        let shade = u64::from(count) * u64::from(SHADES);
        u32::try_from(shade.div_ceil(u64::from(self.busiest().max(1)))).unwrap_or(SHADES)
    }

    /// Returns each shade that some number of publications has, and the smallest such number.
    pub(super) fn legend(&self) -> Vec<(u32, u32)> {
        let mut legend: Vec<(u32, u32)> = Vec::new();
        for shade in 1..=SHADES {
            let least = u64::from(self.busiest()) * u64::from(shade - 1) / u64::from(SHADES) + 1;
            let least = u32::try_from(least).unwrap_or(u32::MAX);
            if self.shade(least) == shade && least <= self.busiest() {
                legend.push((shade, least));
            }
        }
        legend
    }

    /// Returns the number of publications in the busiest hour of the week.
    pub(super) fn busiest(&self) -> u32 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

/// The delays of one policy, in the order of the number of polls.
#[derive(Debug, Clone, PartialEq)]
pub struct DelayCurve {
    /// The policy.
    pub policy: PollPolicy,
    /// The delay for each number of polls; a single point for a policy whose number of polls cannot be chosen.
    pub points: Vec<DelayPoint>,
}

/// The mean delay of entries with a number of polls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DelayPoint {
    /// Mean number of polls a day.
    pub polls_a_day: f64,
    /// Mean time from the publication of an entry to the poll that finds it, in minutes.
    pub delay: f64,
}

impl DelayCurve {
    /// Returns the curves of a feed in the test weeks, for policies trained in the training weeks: a fixed interval, the learned
    /// plan, and the interval rules that the training weeks suggest. Returns `None` if nothing was published in the test weeks.
    pub fn of_feed(feed: &SimulatedFeed, conditions: &Conditions) -> Option<Vec<Self>> {
        let window = conditions.test(feed);
        let days = whole(window.end - window.start) / whole(DAY);
        let point = |policy, polls_per_week| {
            let given = ExperimentInputs { rules: None, polls_per_week };
            let poller = Poller::for_training(policy, feed, conditions, given);
            let figures = poller.figures(feed, window)?;
            // A run begins with a poll, so on average it has half a poll more than its length implies.
            let polls_a_day = (figures.polls - 0.5) / days.max(1e-9);
            Some(DelayPoint { polls_a_day, delay: figures.delay })
        };
        let (fewest, most) =
            (whole(WEEK) / whole(conditions.max), whole(WEEK) / whole(conditions.min));
        let budget =
            |number: u32| fewest * (most / fewest).powf(f64::from(number) / f64::from(POINTS - 1));
        let curve = |policy| {
            let points: Option<_> =
                (0..POINTS).map(|number| point(policy, Some(budget(number)))).collect();
            Some(Self { policy, points: points? })
        };
        let rules =
            Self { policy: PollPolicy::Rules, points: vec![point(PollPolicy::Rules, None)?] };
        Some(vec![curve(PollPolicy::Linear)?, curve(PollPolicy::Learned)?, rules])
    }

    /// Returns the means of the curves of feeds, each point by itself.
    pub fn mean(feeds: &[Vec<Self>]) -> Vec<Self> {
        let Some(first) = feeds.first() else { return Vec::new() };
        let mean = |curve: usize, point: usize| {
            let points = feeds.iter().filter_map(|curves| curves.get(curve)?.points.get(point));
            let sum = points.fold((0.0, 0.0), |(polls, delay), point| {
                (polls + point.polls_a_day, delay + point.delay)
            });
            let count = real(feeds.len());
            DelayPoint { polls_a_day: sum.0 / count, delay: sum.1 / count }
        };
        let curves = first.iter().enumerate().map(|(number, curve)| Self {
            policy: curve.policy,
            points: (0..curve.points.len()).map(|point| mean(number, point)).collect(),
        });
        curves.collect()
    }
}

/// Returns the name of a policy in the legend of a figure.
pub(super) const fn legend_name(policy: PollPolicy) -> &'static str {
    match policy {
        PollPolicy::Linear => "fixed interval",
        PollPolicy::Learned => "learned plan",
        PollPolicy::Rules => "interval rules",
        PollPolicy::EntryFrequency | PollPolicy::Aimd => policy.word(),
    }
}

/// The ranges of the axes of a figure of delays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axes {
    fewest: f64,
    most: f64,
    /// Delay at the top, in minutes: a multiple of 20, so that quarters are multiples of 5.
    pub(super) top: f64,
}

impl Axes {
    /// Returns the axes on which all points of the curves fit; `None` if there are no points.
    pub(super) fn of(curves: &[DelayCurve]) -> Option<Self> {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        points().next()?;
        let polls = || points().map(|point| point.polls_a_day.max(1e-3));
        let highest = points().map(|point| point.delay).fold(0.0, f64::max);
        Some(Self {
            fewest: polls().fold(f64::INFINITY, f64::min),
            most: polls().fold(0.0, f64::max),
            top: ((highest / 20.0).ceil() * 20.0).max(20.0),
        })
    }

    /// Returns the position of a number of polls on the logarithmic axis, from 0 to 1.
    pub(super) fn across(&self, polls_a_day: f64) -> f64 {
        let whole = (self.most / self.fewest).ln();
        let part = (polls_a_day.max(1e-3) / self.fewest).ln();
        if whole > 1e-9 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the height of a delay, from 0 to 1.
    pub(super) fn up(&self, delay: f64) -> f64 {
        (delay / self.top).clamp(0.0, 1.0)
    }
}

/// Returns every second number of polls of the first curve, for the labels of the axis.
pub(super) fn ticks(curves: &[DelayCurve]) -> impl Iterator<Item = f64> {
    let points = curves.first().map_or(&[][..], |curve| &curve.points);
    points.iter().step_by(2).map(|point| point.polls_a_day)
}
