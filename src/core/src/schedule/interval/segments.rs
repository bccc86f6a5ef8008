//! Computes the interval in force at any instant and when it changes, with the algorithm GET-SCHEDULE (SPEC A.5.3, A.5.4).
//!
//! The interval can change only when an hour starts in the zone of a rule, or when a zone changes its offset. An [`IntervalWalk`]
//! steps from one such boundary to the next. At each boundary it checks only the rules of the zones that reached it.

use super::rules::{RuleTable, TableZone, ZoneClock};
use crate::schedule::bounds::Bounds;
use crate::schedule::limits::HORIZON_SECONDS;
use crate::schedule::week::{hour_of_week, next_hour};

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
