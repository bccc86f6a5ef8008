//! Interval rules for the experiment: an interval for each hour of a week in UTC, in fractional minutes.
//!
//! The next poll is computed as in SPEC A.5.6, on a table of 168 hours.

use crate::feed::hints::INTERVAL_MINUTES_MAX;
use crate::feed::{IntervalRule, Zone};
use crate::schedule::learning::{Marking, Rectangle, rectangles};

/// Minutes in a week.
pub(super) const WEEK: i64 = 10_080;
/// Minutes in a day.
pub(super) const DAY: i64 = 1440;
/// Limits for the rectangles that a person would draw: minimum gain of a rectangle, maximum number of rectangles, and
/// minimum number of hours in a rectangle.
const MARKING: Marking = Marking { gain_min: 10.0, rectangles_max: 4, cells_min: 2 };
/// Interval in minutes at which the paper on interval rules polled each feed to collect its data.
const SAMPLE_MINUTES: i64 = 15;

/// Interval in minutes between polls for each hour of the week, starting on Monday at 00:00.
#[derive(Debug, Clone, PartialEq)]
pub struct WeekRules(Vec<f64>);

impl WeekRules {
    /// Creates rules with one interval at all times.
    pub fn flat(minutes: f64) -> Self {
        Self(vec![minutes; 168])
    }

    /// Checks whether not all hours have the same interval.
    pub(crate) fn has_several(&self) -> bool {
        self.0.windows(2).any(|pair| pair.first() != pair.last())
    }

    /// Sets the interval for the hours of a rectangle.
    pub fn mark(&mut self, rectangle: Rectangle, minutes: f64) {
        for cell in rectangle.cells() {
            if let Some(interval) = self.0.get_mut(cell) {
                *interval = minutes;
            }
        }
    }

    /// Creates rules as in the paper on interval rules. The interval in each rectangle is the mean time between the updates
    /// in it, within bounds. A rectangle without updates gets the maximum interval (SPEC F.1).
    pub fn measured(
        rectangles: &[Rectangle],
        updates: &[i64],
        span: (i64, i64),
        bounds: (i64, i64),
    ) -> Self {
        let mut owner = vec![0_usize; 168];
        for (place, rectangle) in rectangles.iter().enumerate() {
            for cell in rectangle.cells() {
                if let Some(owner) = owner.get_mut(cell) {
                    *owner = place + 1;
                }
            }
        }
        let intervals: Vec<f64> = (0..=rectangles.len())
            .map(|rule| {
                let owns = |minute: i64| owner.get(hour_of_week(minute)) == Some(&rule);
                let inside =
                    |minute: i64| minute >= span.0 && minute < span.1 && owns(published(minute));
                let count = updates.iter().filter(|&&minute| inside(minute)).count();
                let hours = (span.0..span.1).step_by(60).filter(|&minute| owns(minute)).count();
                let minutes = 60.0 * real(hours) / real(count).max(1e-9);
                minutes.clamp(whole(bounds.0), whole(bounds.1))
            })
            .collect();
        let interval = |rule: usize| intervals.get(rule).copied().unwrap_or(whole(bounds.1));
        Self(owner.into_iter().map(interval).collect())
    }

    /// Creates the rules that a person would draw from these publications. The criteria are the same for every feed.
    pub fn marked(publications: &[i64], span: (i64, i64), bounds: (i64, i64)) -> Self {
        let updates = sampled(publications, span);
        Self::measured(&rectangles(&counted(&updates), &MARKING), &updates, span, bounds)
    }

    /// Returns the interval in minutes in an hour of the week.
    pub fn interval(&self, hour: usize) -> f64 {
        self.0.get(hour % 168).copied().unwrap_or(f64::INFINITY)
    }

    /// Returns the rules in the form in which a publisher states them: one rule in whole minutes for each sequence of hours
    /// of a day with the same interval.
    pub fn interval_rules(&self) -> Vec<IntervalRule> {
        let mut rules = Vec::new();
        for (day, hours) in (1_u8..).zip(self.0.chunks(24)) {
            let mut start = 0_u8;
            for run in hours.chunk_by(|left, right| (left - right).abs() < 1e-9) {
                let end = start.saturating_add(u8::try_from(run.len()).unwrap_or(24));
                rules.push(IntervalRule {
                    minutes: whole_minutes(run.first().copied().unwrap_or(1.0)),
                    start_hour: Some(start),
                    end_hour: Some(end.saturating_sub(1)),
                    start_day: Some(day),
                    end_day: Some(day),
                    zone: Zone::Utc,
                });
                start = end;
            }
        }
        rules
    }

    /// Returns the minute of the poll that follows the one at minute `last` (procedure DETERMINE-NEXT-UPDATE of the paper on
    /// interval rules).
    pub fn next(&self, last: i64, bounds: (i64, i64)) -> i64 {
        let mut best = self.interval(hour_of_week(last));
        let mut next = best;
        let mut start = whole(60 - last.rem_euclid(60));
        let mut hour = hour_of_week(last);
        while start < next {
            hour = (hour + 1) % 168;
            let interval = self.interval(hour);
            if interval < best {
                best = interval;
                next = start.max(interval);
            }
            start += 60.0;
        }
        #[expect(clippy::cast_possible_truncation, reason = "an interval is at most a year")]
        let gap = (next - 1e-9).ceil() as i64;
        last + gap.clamp(bounds.0, bounds.1)
    }
}

/// Returns the rules in which a publisher can state a schedule: one for all hours, and one for each rectangle of the week in which
/// more is published. Also returns the interval that suits the whole week, for readers that know no rules. All are in minutes.
pub fn stated_rules(
    publications: &[i64],
    span: (i64, i64),
    bounds: (i64, i64),
) -> (Vec<IntervalRule>, u32) {
    let updates = sampled(publications, span);
    let marked = rectangles(&counted(&updates), &MARKING);
    let rules = WeekRules::measured(&marked, &updates, span, bounds);
    let inside: Vec<usize> = marked.iter().flat_map(|rectangle| rectangle.cells()).collect();
    let rest = (0..168).find(|cell| !inside.contains(cell));
    let rest = rest.map_or(whole(bounds.1), |cell| rules.interval(cell));
    let all_hours = IntervalRule {
        minutes: whole_minutes(rest),
        start_hour: None,
        end_hour: None,
        start_day: None,
        end_day: None,
        zone: Zone::Utc,
    };
    let mut stated = vec![all_hours];
    for rectangle in &marked {
        let interval = rectangle.cells().next().map_or(rest, |cell| rules.interval(cell));
        let last_day = (rectangle.day + rectangle.days).saturating_sub(1) % 7;
        let end = rectangle.hour + rectangle.hours;
        // The hours of a rule that go past midnight belong to the next day, and those of a rectangle to the same day.
        let parts = [(rectangle.hour, end.min(24)), (0, end.saturating_sub(24))];
        for (from, to) in parts.into_iter().filter(|(from, to)| from < to) {
            let small = |number: usize| u8::try_from(number).ok();
            stated.push(IntervalRule {
                minutes: whole_minutes(interval),
                start_hour: small(from),
                end_hour: small(to - 1),
                start_day: small(rectangle.day + 1),
                end_day: small(last_day + 1),
                zone: Zone::Utc,
            });
        }
    }
    let flat = WeekRules::measured(&[], &updates, span, bounds).interval(0);
    (stated, whole_minutes(flat))
}

/// Counts the updates in each hour of the week.
fn counted(updates: &[i64]) -> Vec<f64> {
    let mut counts = vec![0.0; 168];
    for &minute in updates {
        if let Some(count) = counts.get_mut(hour_of_week(published(minute))) {
            *count += 1.0;
        }
    }
    counts
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a year")]
fn whole_minutes(minutes: f64) -> u32 {
    minutes.round().clamp(1.0, f64::from(INTERVAL_MINUTES_MAX)) as u32
}

/// Returns the minutes of the polls that would find something new if the feed were polled every 15 minutes.
pub fn sampled(publications: &[i64], span: (i64, i64)) -> Vec<i64> {
    let inside = publications.iter().filter(|&&minute| minute >= span.0 && minute < span.1);
    let ticks = inside.map(|&minute| {
        let passed = minute - span.0;
        span.0 + (passed + SAMPLE_MINUTES - 1).div_euclid(SAMPLE_MINUTES) * SAMPLE_MINUTES
    });
    let mut updates: Vec<i64> = ticks.collect();
    updates.dedup();
    updates
}

/// Returns a minute in the quarter of an hour in which an update was published, given the minute of the poll that found it.
const fn published(sample: i64) -> i64 {
    sample - 1
}

/// Returns the hour of the week in UTC, from 0 to 167, for a minute since 1970 (1 January 1970 was a Thursday).
pub(super) fn hour_of_week(minute: i64) -> usize {
    usize::try_from((minute + 3 * DAY).rem_euclid(WEEK) / 60).unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, reason = "counts and minutes stay far below 2^52")]
pub(super) const fn whole(minutes: i64) -> f64 {
    minutes as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(super) const fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;

    use super::*;
    use crate::feed::{IntervalRule, Zone};
    use crate::schedule::{Facts, ScheduleSettings, decide_time};

    /// 2026-03-02T00:00:00Z, a Monday.
    const MONDAY: i64 = 1_772_409_600 / 60;

    /// Returns the example rules of the paper on interval rules: 240 minutes; 30 minutes from 9 to 17 on working days; 30
    /// minutes at hour 4.
    fn papers() -> WeekRules {
        let mut rules = WeekRules::flat(240.0);
        rules.mark(Rectangle { day: 0, days: 5, hour: 9, hours: 9 }, 30.0);
        rules.mark(Rectangle { day: 0, days: 7, hour: 4, hours: 1 }, 30.0);
        rules
    }

    #[test]
    fn the_worked_examples_of_the_paper_hold() {
        let minute = |day: i64, hour: i64, minute: i64| MONDAY + day * DAY + hour * 60 + minute;
        for (last, next) in [
            (minute(0, 10, 0), minute(0, 10, 30)),
            (minute(0, 17, 50), minute(0, 18, 20)),
            (minute(0, 8, 30), minute(0, 9, 0)),
            (minute(0, 8, 59), minute(0, 9, 29)),
            (minute(0, 0, 10), minute(0, 4, 0)),
            (minute(6, 23, 0), minute(7, 3, 0)),
        ] {
            assert_eq!(papers().next(last, (15, 1440)), next);
        }
    }

    #[test]
    fn intervals_are_mean_times_between_updates() {
        let span = (MONDAY, MONDAY + WEEK);
        let night = Rectangle { day: 0, days: 7, hour: 4, hours: 1 };
        let updates = [MONDAY + 4 * 60 + 5, MONDAY + DAY + 4 * 60 + 20, MONDAY + 600];
        let rules = WeekRules::measured(&[night], &updates, span, (15, 240));
        assert_eq!((rules.interval(4), rules.interval(5)), (210.0, 240.0));
        let silent = WeekRules::measured(&[night], &[], span, (15, 240));
        assert!((silent.interval(4) - 240.0).abs() < 1e-9);
    }

    #[test]
    fn samples_are_the_polls_that_would_have_noticed() {
        let span = (MONDAY, MONDAY + DAY);
        let noticed = sampled(&[MONDAY - 1, MONDAY, MONDAY + 1, MONDAY + 15, MONDAY + 16], span);
        assert_eq!(noticed, [MONDAY, MONDAY + 15, MONDAY + 30]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn next_updates_match_the_schedule(
            minutes in 15..400_u32,
            rest in 15..400_u32,
            (day, days, hour, hours) in (0..7_usize, 1..=7_usize, 0..24_usize, 1..=24_usize),
            last in 0..WEEK,
        ) {
            // The hours of a rule that wraps past midnight belong to the day on which they start. The hours of a rectangle do
            // not.
            let hours = hours.min(24 - hour);
            let mut rules = WeekRules::flat(f64::from(rest));
            rules.mark(Rectangle { day, days, hour, hours }, f64::from(minutes));
            let small = |number: usize| u8::try_from(number).ok();
            let rule = IntervalRule {
                minutes,
                start_hour: small(hour),
                end_hour: small(hour + hours - 1),
                start_day: small(day + 1),
                end_day: small((day + days - 1) % 7 + 1),
                zone: Zone::Utc,
            };
            let settings = ScheduleSettings { default_seconds: rest * 60, ..ScheduleSettings::default() };
            let last = MONDAY + last;
            let at = DateTime::from_timestamp(last * 60, 0).expect("an instant");
            let mut facts = Facts { settings, last_ok: Some(at), ..Facts::default() };
            facts.hints.intervals = vec![rule];
            let next = decide_time(&facts, at, 0.0).next_poll.expect("active");
            prop_assert_eq!(rules.next(last, (15, 1440)) * 60, next.timestamp());
        }
    }
}
