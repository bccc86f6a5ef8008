//! The heat map of a week, with the past and expected publications of each hour (SPEC S0.17), and the interval rules
//! closest to a learned plan (SCHEDULING annex A.6).
//!
//! Finds rectangles of days and hours in which a feed publishes more, or less, than in the rest of the week
//! (SCHEDULING annex A.6), like those that a person would mark in the heat map.
//!
//! Each step picks the rectangle that explains most: the one whose separate rate makes the counts most probable.
//! Rectangles do not overlap. Days and hours can wrap.

use chrono::{DateTime, Utc};

use super::super::limits::hour_of_week;
use super::learned_plan::LearnedPlan;
use super::publications::{Publications, minute};
use super::week_bins::real;
use crate::feed::{IntervalRule, Zone};
use crate::schedule::rules::ZoneClock;

/// Number of weeks of expected publications among which rectangles are marked.
const WEEKS_COUNTED: f64 = 6.0;
/// Criteria for the rectangles that are turned into interval rules.
const MARKING: Marking = Marking { gain_min: 2.0, rectangles_max: 8, cells_min: 1 };

/// The 168 hours of a week, starting at Monday 00:00, in one zone.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// Number of publications in each hour, counting only those whose hour is known.
    pub published: Vec<u32>,
    /// Publications expected in each hour of a future week; empty if nothing has been learned.
    pub expected: Vec<f64>,
}

impl HeatMap {
    /// Creates the heat map in a time zone. The expected publications are shifted by the zone's UTC offset at `now`.
    pub fn new(
        publications: &Publications,
        plan: Option<&LearnedPlan>,
        zone: &Zone,
        now: DateTime<Utc>,
    ) -> Self {
        let clock = ZoneClock::for_zone(zone);
        let mut published = vec![0_u32; 168];
        for published_at in publications.timed_minutes() {
            let local = published_at * 60 + clock.offset(published_at * 60);
            if let Some(count) = published.get_mut(usize::from(hour_of_week(local))) {
                *count += 1;
            }
        }
        let expected = plan.map_or_else(Vec::new, |plan| {
            let now = minute(now) * 60;
            shifted(&plan.rhythm.hours, plan.offset(now) - clock.offset(now))
        });
        Self { published, expected }
    }
}

/// Shifts the values of the 168 hours of a week to a time zone whose clocks are `seconds` behind. A partial hour is divided between
/// two hours in proportion.
fn shifted(hours: &[f64], seconds: i64) -> Vec<f64> {
    let (whole, part) = (seconds.div_euclid(3600), real(seconds.rem_euclid(3600)) / 3600.0);
    let at = |hour: i64| {
        let hour = usize::try_from(hour.rem_euclid(168)).unwrap_or(0);
        hours.get(hour).copied().unwrap_or(0.0)
    };
    (0..168).map(|hour| at(hour + whole) * (1.0 - part) + at(hour + whole + 1) * part).collect()
}

impl LearnedPlan {
    /// Returns the interval rules closest to this plan, the general rule first. A publisher could state these rules in the feed.
    /// Polls by such rules lose about half of the plan's benefit.
    pub fn rules(
        &self,
        price_minutes: f64,
        min_minutes: u32,
        max_minutes: u32,
    ) -> Vec<IntervalRule> {
        let hours = &self.rhythm.hours;
        let counts: Vec<f64> = hours.iter().map(|count| count * WEEKS_COUNTED).collect();
        let found = rectangles(&counts, &MARKING);
        let covered: Vec<usize> = found.iter().flat_map(|rectangle| rectangle.cells()).collect();
        let rest: Vec<usize> = (0..168).filter(|cell| !covered.contains(cell)).collect();
        let interval = |cells: &[usize]| {
            let sum: f64 = cells.iter().filter_map(|&cell| hours.get(cell)).sum();
            let rate = sum / real(i64::try_from(cells.len().max(1)).unwrap_or(1)) / 60.0;
            let minutes = (2.0 * price_minutes / rate.max(1e-9)).sqrt().round();
            let (least, most) = (f64::from(min_minutes), f64::from(max_minutes.max(min_minutes)));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "within bounds"
            )]
            let minutes = minutes.clamp(least, most) as u32;
            minutes.max(1)
        };
        let zone = &self.rhythm.zone;
        let general = rule(interval(&rest), None, zone);
        let marked = found.iter().flat_map(|&rectangle| {
            let cells: Vec<usize> = rectangle.cells().collect();
            let minutes = interval(&cells);
            unwrapped(rectangle)
                .into_iter()
                .flatten()
                .map(move |part| rule(minutes, Some(part), zone))
        });
        std::iter::once(general).chain(marked).collect()
    }
}

/// Splits a rectangle that wraps past midnight into two. The hours of a rule after midnight belong to the day before, on which the
/// period starts, but the hours of a rectangle belong to the day on which they lie.
fn unwrapped(rectangle: Rectangle) -> [Option<Rectangle>; 2] {
    let before_midnight = 24 - rectangle.hour;
    if rectangle.hours <= before_midnight {
        return [Some(rectangle), None];
    }
    let evening = Rectangle { hours: before_midnight, ..rectangle };
    let morning = Rectangle { hour: 0, hours: rectangle.hours - before_midnight, ..rectangle };
    [Some(evening), Some(morning)]
}

fn rule(minutes: u32, rectangle: Option<Rectangle>, zone: &Zone) -> IntervalRule {
    let small = |number: usize| u8::try_from(number).ok();
    IntervalRule {
        minutes,
        start_hour: rectangle.and_then(|part| small(part.hour)),
        end_hour: rectangle.and_then(|part| small(part.hour + part.hours - 1)),
        start_day: rectangle.and_then(|part| small(part.day + 1)),
        end_day: rectangle.and_then(|part| small((part.day + part.days - 1) % 7 + 1)),
        zone: zone.clone(),
    }
}

/// A range of consecutive hours on consecutive days of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rectangle {
    /// First day; 0 is Monday.
    pub day: usize,
    /// Number of days, 1 to 7.
    pub days: usize,
    /// First hour, 0 to 23.
    pub hour: usize,
    /// Number of hours, 1 to 24.
    pub hours: usize,
}

/// Criteria for marking rectangles in a week.
#[derive(Debug, Clone, Copy)]
pub struct Marking {
    /// Minimum increase in the log probability of the counts if the rectangle has its own rate (natural logarithm).
    pub gain_min: f64,
    /// Maximum number of rectangles.
    pub rectangles_max: usize,
    /// Minimum number of cells (hours of the week) inside a rectangle, and of free cells outside it.
    pub cells_min: usize,
}

impl Rectangle {
    /// Iterates over the hours of the week, 0 to 167, that the rectangle covers. Days and hours wrap independently.
    pub fn cells(self) -> impl Iterator<Item = usize> {
        (0..self.days).flat_map(move |day| {
            (0..self.hours).map(move |hour| (self.day + day) % 7 * 24 + (self.hour + hour) % 24)
        })
    }
}

/// Marks rectangles in the counts of 168 hours, starting at Monday 00:00. All hours must have been observed for the same time.
pub fn rectangles(counts: &[f64], marking: &Marking) -> Vec<Rectangle> {
    let mut week = Week {
        counts: (0..168).map(|cell| counts.get(cell).copied().unwrap_or(0.0).max(0.0)).collect(),
        free: vec![true; 168],
    };
    let mut found = Vec::new();
    while found.len() < marking.rectangles_max {
        let Some((gain, rectangle)) = week.best(marking.cells_min) else { break };
        if gain < marking.gain_min {
            break;
        }
        for cell in rectangle.cells() {
            if let Some(free) = week.free.get_mut(cell) {
                *free = false;
            }
        }
        found.push(rectangle);
    }
    found
}

struct Week {
    counts: Vec<f64>,
    free: Vec<bool>,
}

impl Week {
    /// Returns the rectangle with the largest gain, and this gain, among those that overlap no marked rectangle.
    fn best(&self, cells_min: usize) -> Option<(f64, Rectangle)> {
        let free = self.counts.iter().zip(&self.free).filter(|(_, free)| **free);
        let (sum, cells) = free.fold((0.0, 0), |(sum, cells), (count, _)| (sum + count, cells + 1));
        let mut best: Option<(f64, usize, Rectangle)> = None;
        for (day, days) in spans(7) {
            let columns: Vec<Option<f64>> =
                (0..24).map(|hour| self.column(day, days, hour)).collect();
            for hour in 0..24 {
                let mut inside = 0.0;
                for hours in 1..=24 {
                    let column = columns.get((hour + hours - 1) % 24).copied().flatten();
                    let Some(column) = column else { break };
                    inside += column;
                    let covered = days * hours;
                    let whole_day = hours == 24 && hour > 0;
                    if whole_day || covered < cells_min || cells - covered < cells_min {
                        continue;
                    }
                    let gain = gain(inside, covered, sum, cells);
                    // A rectangle and the rest of the week have the same gain if both are rectangles. Prefer the smaller one.
                    let better = best.is_none_or(|(most, size, _)| {
                        gain > most + 1e-9 || (gain > most - 1e-9 && covered < size)
                    });
                    if better {
                        best = Some((gain, covered, Rectangle { day, days, hour, hours }));
                    }
                }
            }
        }
        best.map(|(gain, _, rectangle)| (gain, rectangle))
    }

    /// Returns the sum of the counts in one hour over several days; `None` if a marked rectangle already covers one of the cells.
    fn column(&self, day: usize, days: usize, hour: usize) -> Option<f64> {
        let cells = (0..days).map(|next| (day + next) % 7 * 24 + hour);
        let counts =
            cells.map(|cell| self.counts.get(cell).filter(|_| self.free.get(cell) == Some(&true)));
        counts.sum::<Option<f64>>()
    }
}

/// Iterates over all ranges of a circle of `length` elements, each as its first element and length. The whole circle occurs once.
fn spans(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length)
        .flat_map(move |from| (1..=length).map(move |long| (from, long)))
        .filter(move |&(from, long)| long < length || from == 0)
}

/// Returns how much the log probability of the counts increases if some cells have their own rate.
fn gain(inside: f64, covered: usize, sum: f64, cells: usize) -> f64 {
    let term = |count: f64, cells: usize| {
        let cells = real(i64::try_from(cells).unwrap_or(1)).max(1.0);
        if count > 0.0 { count * (count / cells).ln() } else { 0.0 }
    };
    term(inside, covered) + term(sum - inside, cells - covered) - term(sum, cells)
}

#[cfg(test)]
mod tests {
    use super::super::learned_plan::{LearnTerms, PRICE_MINUTES, learn};
    use super::super::week_bins::DAY_MINUTES;
    use super::*;
    use crate::schedule::limits::instant;

    /// 2026-03-02T00:00:00Z, a Monday.
    const MONDAY: i64 = 1_772_409_600 / 60;

    /// Creates six weeks of half-hourly publications from 9 to 17 on working days.
    fn newsdesk() -> Publications {
        let days = (-42..0).filter(|day: &i64| (day + 42) % 7 < 5);
        let minutes = days.flat_map(|day| {
            (0..18).map(move |number| MONDAY + day * DAY_MINUTES + 540 + number * 30 + 3)
        });
        Publications::of_minutes(minutes, MONDAY - 42 * DAY_MINUTES, MONDAY)
    }

    fn plan(zone: Zone) -> LearnedPlan {
        let terms = LearnTerms {
            min_seconds: 900,
            max_seconds: 86_400,
            price_minutes: PRICE_MINUTES,
            zone,
        };
        learn(&newsdesk(), &terms, instant(MONDAY * 60)).expect("a plan")
    }

    #[test]
    fn observed_and_expected_hours_agree_in_every_zone() {
        let plan = plan(Zone::Utc);
        for (zone, nine) in
            [(Zone::Utc, 9), (Zone::Offset(60), 10), (Zone::Named("Asia/Tokyo".into()), 18)]
        {
            let map = HeatMap::new(&newsdesk(), Some(&plan), &zone, instant(MONDAY * 60));
            assert_eq!((map.published[nine], map.published[nine - 1]), (12, 0), "{zone:?}");
            assert!(map.expected[nine] > 1.0 && map.expected[nine - 3] < 0.5, "{:?}", map.expected);
            assert!((map.expected.iter().sum::<f64>() - plan.rhythm.rate_per_week).abs() < 1e-6);
        }
        let bare = HeatMap::new(&Publications::default(), None, &Zone::Utc, instant(0));
        assert!(bare.published.iter().all(|&count| count == 0) && bare.expected.is_empty());
    }

    #[test]
    fn plan_becomes_rules_for_its_busy_hours() {
        let rules = plan(Zone::Utc).rules(PRICE_MINUTES, 15, 1440);
        let busy = &rules[1];
        assert_eq!((busy.start_day, busy.end_day), (Some(1), Some(5)), "{rules:?}");
        assert_eq!((busy.start_hour, busy.end_hour), (Some(9), Some(17)), "{rules:?}");
        assert!(busy.minutes < 60 && rules[0].minutes > 120, "{rules:?}");
    }

    const PAPER: Marking = Marking { gain_min: 10.0, rectangles_max: 4, cells_min: 2 };

    fn week(busy: &[Rectangle], rate: f64, rest: f64) -> Vec<f64> {
        let mut counts = vec![rest; 168];
        busy.iter().flat_map(|rectangle| rectangle.cells()).for_each(|cell| counts[cell] = rate);
        counts
    }

    #[test]
    fn busy_hours_are_found_even_across_midnight() {
        for rectangle in [
            Rectangle { day: 0, days: 5, hour: 9, hours: 9 },
            Rectangle { day: 5, days: 3, hour: 22, hours: 5 },
            Rectangle { day: 0, days: 7, hour: 4, hours: 1 },
        ] {
            assert_eq!(rectangles(&week(&[rectangle], 9.0, 0.2), &PAPER), [rectangle]);
        }
    }

    #[test]
    fn separate_rectangles_are_found_and_none_in_an_even_week() {
        let (day, night) = (
            Rectangle { day: 0, days: 5, hour: 9, hours: 9 },
            Rectangle { day: 0, days: 7, hour: 3, hours: 2 },
        );
        let found = rectangles(&week(&[day, night], 9.0, 0.5), &PAPER);
        assert_eq!(found.len(), 2);
        assert!(found.contains(&day) && found.contains(&night));
        assert!(rectangles(&[2.0; 168], &PAPER).is_empty());
        assert!(rectangles(&[], &PAPER).is_empty());
    }

    #[test]
    fn invalid_counts_do_not_panic() {
        rectangles(&[f64::NAN; 200], &PAPER);
        rectangles(&[-5.0, f64::INFINITY], &PAPER);
    }
}
