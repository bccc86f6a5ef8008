//! Computes the interval in force at any instant and when it changes, with the algorithm GET-SCHEDULE (SPEC A.5.3, A.5.4), and from
//! it the next poll and the week chart of the plan pane (SPEC S0.17).
//!
//! The interval can change only when an hour starts in the zone of a rule, or when a zone changes its offset. An [`IntervalWalk`]
//! steps from one such boundary to the next. At each boundary it checks only the rules of the zones that reached it.
//!
//! The next poll is computed with the algorithm DETERMINE-NEXT-UPDATE of the paper on interval rules, corrected (SPEC A.5.6).
//!
//! If I(s) is the interval in force at an instant s, every s from the last poll p on offers a candidate for the next poll: I(s)
//! after p, but not before s. The earliest candidate is chosen: `next(p) = minimum over s >= p of max(s, p + I(s))`.
//!
//! Within a period of constant interval, the earliest instant is the best candidate, so only the starts of periods matter. Of
//! those, only periods with a shorter interval than every earlier one matter, because a longer interval cannot improve the result.
//! Each such start lies before `next` and moves `next` earlier, so the search ends. The search steps from boundary to boundary and
//! stops at `next`, which is never later than p + I(p). Each zone has at most one boundary an hour and one for each change of its
//! UTC offset.

use chrono::{DateTime, Utc};

use super::rules::{RuleTable, TableZone, ZoneClock};
use crate::schedule::facts::Facts;
use crate::schedule::limits::{HORIZON_SECONDS, HOUR, HOURS, hour_of_week, next_hour, seconds};
use crate::schedule::plan::PlanKind;
use crate::schedule::recommend::{Bounds, RecommendedCourse, recommend};

/// A rule table with the user's pace and bounds, and an interval for hours that no rule covers.
#[derive(Debug, Clone, Copy)]
pub(in crate::schedule) struct Rhythm<'a> {
    pub(in crate::schedule) table: &'a RuleTable,
    /// Interval for hours that no rule covers, in seconds, before pace and bounds.
    pub(in crate::schedule) fallback: i64,
    pub(in crate::schedule) bounds: Bounds,
}

/// The interval in force at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) struct InForce {
    /// Interval after pace and bounds, in seconds, at least 1.
    pub(in crate::schedule) interval: i64,
    /// Interval as the rule or the fallback states it, in seconds.
    pub(in crate::schedule) raw: i64,
    /// Index of the winning rule in the document; `None` if no rule covers this instant.
    pub(in crate::schedule) rule: Option<usize>,
}

/// Steps through time from one change of the interval to the next.
#[derive(Debug)]
pub(in crate::schedule) struct IntervalWalk<'a> {
    rhythm: Rhythm<'a>,
    zones: Vec<WalkZone>,
    now: InForce,
}

/// State of a walk in one time zone: the set of rules that are active there.
#[derive(Debug, Clone, Copy)]
struct WalkZone {
    zone: TableZone,
    active: u64,
    /// The next instant at which `active` can change.
    boundary: i64,
}

impl Rhythm<'_> {
    /// Implements GET-SCHEDULE: returns the interval in force at an instant, and for how many seconds; `None` means forever.
    ///
    /// An instant at which the interval changes belongs to the period that starts there, so the duration is never 0. If the
    /// interval does not change within 8 days, it never changes, because rules repeat weekly.
    pub(in crate::schedule) fn get_schedule(&self, at: i64) -> (InForce, Option<i64>) {
        let mut walk = IntervalWalk::start(*self, at);
        let in_force = walk.in_force();
        let change = walk.next_change(at + HORIZON_SECONDS + 1);
        (in_force, change.map(|change| change - at))
    }
}

impl<'a> IntervalWalk<'a> {
    /// Starts a walk at an instant, in seconds since 1970.
    pub(in crate::schedule) fn start(rhythm: Rhythm<'a>, at: i64) -> Self {
        let zones = rhythm.table.zones().iter();
        let zones: Vec<WalkZone> =
            zones.map(|&zone| WalkZone::at(zone, rhythm.table, at)).collect();
        let now = winner(&rhythm, &zones);
        Self { rhythm, zones, now }
    }

    /// Returns the interval at the current position.
    pub(in crate::schedule) const fn in_force(&self) -> InForce {
        self.now
    }

    /// Advances to the next instant before `limit` at which the interval changes.
    pub(in crate::schedule) fn next_change(&mut self, limit: i64) -> Option<i64> {
        let before = self.now.interval;
        loop {
            let at = self.zones.iter().map(|zone| zone.boundary).min()?;
            if at >= limit {
                return None;
            }
            for zone in self.zones.iter_mut().filter(|zone| zone.boundary == at) {
                *zone = WalkZone::at(zone.zone, self.rhythm.table, at);
            }
            self.now = winner(&self.rhythm, &self.zones);
            if self.now.interval != before {
                return Some(at);
            }
        }
    }
}

impl IntervalWalk<'_> {
    /// Advances to an instant. Does nothing if the walk is already past it.
    pub(in crate::schedule) fn advance_to(&mut self, at: i64) {
        while self.next_change(at + 1).is_some() {}
    }
}

impl WalkZone {
    fn at(zone: TableZone, table: &RuleTable, at: i64) -> Self {
        let offset = zone.clock.offset(at);
        let local = at + offset;
        let active = table.active(zone.rules, hour_of_week(local));
        let boundary = until_offset_changes(zone.clock, at, next_hour(local) - offset);
        Self { zone, active, boundary }
    }
}

/// Returns the interval of the rule in force, or the fallback interval if no rule is active.
fn winner(rhythm: &Rhythm<'_>, zones: &[WalkZone]) -> InForce {
    let active = zones.iter().fold(0, |active, zone| active | zone.active);
    let won = rhythm.table.winner(active);
    let raw = won.map_or(rhythm.fallback, |(seconds, _)| seconds);
    let interval = rhythm.bounds.interval(raw);
    InForce { interval, raw, rule: won.map(|(_, position)| position) }
}

/// Returns the instant between `from` and `to` at which the zone's UTC offset changes; `to` if the offset is the same at both.
fn until_offset_changes(clock: ZoneClock, from: i64, to: i64) -> i64 {
    if matches!(clock, ZoneClock::Fixed(_)) {
        return to;
    }
    let offset = clock.offset(from);
    let (mut same, mut end) = (from, to);
    if clock.offset(end) == offset {
        return to;
    }
    while end - same > 1 {
        let middle = same + (end - same) / 2;
        if clock.offset(middle) == offset {
            same = middle;
        } else {
            end = middle;
        }
    }
    end
}

/// The next poll that [`next_update`] computes from the interval rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) struct NextUpdate {
    /// Time of the poll, before jitter, floors and skip windows.
    pub(in crate::schedule) at: i64,
    /// `Boundary` if the poll is at the start of a period, otherwise `Interval`.
    pub(in crate::schedule) kind: PlanKind,
    /// The interval that determined the time.
    pub(in crate::schedule) binding: InForce,
}

/// Computes the next poll after a poll at `last`, in seconds since 1970.
pub(in crate::schedule) fn next_update(rhythm: Rhythm<'_>, last: i64) -> NextUpdate {
    let mut walk = IntervalWalk::start(rhythm, last);
    let binding = walk.in_force();
    let mut best = NextUpdate { at: last + binding.interval, kind: PlanKind::Interval, binding };
    while let Some(start) = walk.next_change(best.at) {
        let binding = walk.in_force();
        if binding.interval < best.binding.interval {
            let full = last + binding.interval;
            let kind = if full <= start { PlanKind::Boundary } else { PlanKind::Interval };
            best = NextUpdate { at: full.max(start), kind, binding };
        }
    }
    best
}

/// Implements GET-SCHEDULE for one feed: returns the interval in force at an instant, after pace and bounds, and for
/// how many seconds it applies; `None` means forever.
pub fn interval_in_force(facts: &Facts, at: DateTime<Utc>) -> (u32, Option<i64>) {
    let (recommendation, bounds) = (recommend(facts), Bounds::from_facts(facts));
    let fallback = recommendation.flat.seconds;
    let (interval, duration) = match &recommendation.course {
        RecommendedCourse::Flat | RecommendedCourse::Slots(..) | RecommendedCourse::Placed(_) => {
            (bounds.interval(fallback), None)
        }
        RecommendedCourse::Rules(table) => {
            let rhythm = Rhythm { table, fallback, bounds };
            let (in_force, duration) = rhythm.get_schedule(seconds(at));
            (in_force.interval, duration)
        }
    };
    (u32::try_from(interval).unwrap_or(u32::MAX), duration)
}

/// Returns the index of the interval rule in force at an instant, counted in document order. `None` means that no rule covers the
/// instant, or that the feed does not use rules.
pub fn rule_in_force(facts: &Facts, at: DateTime<Utc>) -> Option<usize> {
    let (recommendation, bounds) = (recommend(facts), Bounds::from_facts(facts));
    let fallback = recommendation.flat.seconds;
    match &recommendation.course {
        RecommendedCourse::Flat | RecommendedCourse::Slots(..) | RecommendedCourse::Placed(_) => {
            None
        }
        RecommendedCourse::Rules(table) => {
            IntervalWalk::start(Rhythm { table, fallback, bounds }, seconds(at)).in_force().rule
        }
    }
}

/// Returns the interval, in seconds, at the start of each hour of the UTC week around an instant, starting at Monday 00:00.
pub fn week_of_intervals(facts: &Facts, around: DateTime<Utc>) -> [u32; HOURS as usize] {
    let (recommendation, bounds) = (recommend(facts), Bounds::from_facts(facts));
    let fallback = recommendation.flat.seconds;
    let whole = |seconds: i64| u32::try_from(seconds).unwrap_or(u32::MAX);
    let mut week = [whole(bounds.interval(fallback)); HOURS as usize];
    let RecommendedCourse::Rules(table) = &recommendation.course else { return week };
    let hour = seconds(around).div_euclid(HOUR);
    let monday = (hour - i64::from(hour_of_week(seconds(around)))) * HOUR;
    let mut walk = IntervalWalk::start(Rhythm { table, fallback, bounds }, monday);
    let mut start = monday;
    for cell in &mut week {
        walk.advance_to(start);
        *cell = whole(walk.in_force().interval);
        start += HOUR;
    }
    week
}

#[cfg(test)]
#[path = "next_update_tests.rs"]
mod tests;

#[cfg(test)]
mod week_picture_tests {
    use crate::schedule::segments::*;
    use crate::schedule::specimens::{at, set_p, with_rules, with_ttl};

    #[test]
    fn the_week_shows_each_hours_interval() {
        let week = week_of_intervals(&with_rules(set_p(), "03-02 10:00"), at("03-05 13:20"));
        let minutes = |day: usize, hour: usize| week[day * 24 + hour] / 60;
        assert_eq!(
            [minutes(0, 8), minutes(0, 9), minutes(4, 17), minutes(4, 18)],
            [240, 30, 30, 240]
        );
        assert_eq!([minutes(6, 4), minutes(6, 5), minutes(6, 12)], [30, 240, 240]);
        let busy = week.iter().filter(|&&seconds| seconds == 1800).count();
        assert_eq!(busy, 45 + 7);
        assert_eq!(week_of_intervals(&with_ttl(60, "03-02 10:00"), at("03-05 13:20")), [3600; 168]);
    }

    #[test]
    fn active_rule_is_named_by_its_position() {
        let facts = with_rules(set_p(), "03-02 10:00");
        assert_eq!(rule_in_force(&facts, at("03-02 10:00")), Some(1));
        assert_eq!(rule_in_force(&facts, at("03-02 04:59")), Some(2));
        assert_eq!(rule_in_force(&facts, at("03-02 05:00")), Some(0));
        assert_eq!(rule_in_force(&with_ttl(60, "03-02 10:00"), at("03-02 05:00")), None);
    }
}
