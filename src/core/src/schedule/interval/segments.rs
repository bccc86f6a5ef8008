//! The interval in force as time goes by, and GET-SCHEDULE (SPEC A.5.3, A.5.4).
//!
//! The interval can change only where an hour of some rule's zone starts, or where a zone changes
//! its offset. A walk steps from one such boundary to the next; at each it looks only at the rules
//! of the zones that reached it.

use super::rules::{RuleTable, TableZone, ZoneClock};
use crate::schedule::bounds::Bounds;
use crate::schedule::limits::HORIZON_SECONDS;
use crate::schedule::week::{hour_of_week, next_hour};

/// A rule table under the reader's pace and bounds, with an interval for the hours no rule covers.
#[derive(Debug, Clone, Copy)]
pub(in crate::schedule) struct Rhythm<'a> {
    pub(in crate::schedule) table: &'a RuleTable,
    /// For hours that no rule covers, seconds, before pace and bounds.
    pub(in crate::schedule) fallback: i64,
    pub(in crate::schedule) bounds: Bounds,
}

/// What holds at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) struct InForce {
    /// After pace and bounds, seconds, at least 1.
    pub(in crate::schedule) interval: i64,
    /// As stated, seconds.
    pub(in crate::schedule) raw: i64,
    /// Place of the winning rule in the document; `None`: no rule covers this instant.
    pub(in crate::schedule) rule: Option<usize>,
}

/// A walk through the changes of the interval.
#[derive(Debug)]
pub(in crate::schedule) struct IntervalWalk<'a> {
    rhythm: Rhythm<'a>,
    zones: Vec<WalkZone>,
    now: InForce,
}

/// Where a walk stands in one zone.
#[derive(Debug, Clone, Copy)]
struct WalkZone {
    zone: TableZone,
    active: u64,
    /// The next instant at which `active` may change.
    boundary: i64,
}

impl Rhythm<'_> {
    /// GET-SCHEDULE: what holds at an instant, and for how many seconds; `None`: for ever.
    ///
    /// The instant belongs to the slot that starts at it, so the duration is never 0. If nothing
    /// changes within 8 days nothing ever does, because rules repeat weekly.
    pub(in crate::schedule) fn get_schedule(&self, at: i64) -> (InForce, Option<i64>) {
        let mut walk = IntervalWalk::start(*self, at);
        let in_force = walk.in_force();
        let change = walk.next_change(at + HORIZON_SECONDS + 1);
        (in_force, change.map(|change| change - at))
    }
}

impl<'a> IntervalWalk<'a> {
    /// Starts at an instant.
    pub(in crate::schedule) fn start(rhythm: Rhythm<'a>, at: i64) -> Self {
        let zones = rhythm.table.zones().iter();
        let zones: Vec<WalkZone> =
            zones.map(|&zone| WalkZone::at(zone, rhythm.table, at)).collect();
        let now = winner(&rhythm, &zones);
        Self { rhythm, zones, now }
    }

    /// What holds where the walk stands.
    pub(in crate::schedule) const fn in_force(&self) -> InForce {
        self.now
    }

    /// Goes on to the next instant before `limit` at which the interval becomes another one.
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
    /// Goes on until it stands at an instant, or stays where it is if that has passed.
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

/// The rule in force, or the fallback.
fn winner(rhythm: &Rhythm<'_>, zones: &[WalkZone]) -> InForce {
    let active = zones.iter().fold(0, |active, zone| active | zone.active);
    let won = rhythm.table.winner(active);
    let raw = won.map_or(rhythm.fallback, |(seconds, _)| seconds);
    let interval = rhythm.bounds.interval(raw);
    InForce { interval, raw, rule: won.map(|(_, position)| position) }
}

/// The first instant after `from` at which the zone's offset is another one, at most `to`.
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
