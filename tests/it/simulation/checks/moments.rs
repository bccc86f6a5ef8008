//! Instants by the clock that the program sees and by the one that nobody sets.

use chrono::{DateTime, TimeDelta, Utc};

use crate::simulation::machine::Machine;

/// A request waits for what is written before it goes out: it may be so much earlier after the last one than was decided.
const MOMENT: TimeDelta = TimeDelta::seconds(5);

/// An instant by both clocks: what is early by one of them only was not asked too early.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub wall: DateTime<Utc>,
    pub real: DateTime<Utc>,
}

impl Moment {
    pub fn of(machine: &Machine) -> Self {
        Self { wall: machine.now(), real: machine.real }
    }

    /// Whether less than this time has passed, by both clocks.
    pub fn is_within(self, time: TimeDelta, now: Self) -> bool {
        now.wall - self.wall < time && now.real - self.real < time
    }

    /// The same for what is counted in minutes: a request goes out a moment after it was decided on.
    pub fn is_well_within(self, time: TimeDelta, now: Self) -> bool {
        self.is_within(time - MOMENT, now)
    }
}

/// A time for which something is to be left alone, counted from an instant.
pub type Wait = Option<(Moment, TimeDelta)>;

/// Of two of which one holds that which ends first.
pub fn lesser(one: Wait, other: Wait) -> Wait {
    let (one, other) = (one?, other?);
    Some(if one.0.real + one.1 < other.0.real + other.1 { one } else { other })
}

pub fn holds(wait: Wait, now: Moment) -> bool {
    wait.is_some_and(|(since, time)| since.is_well_within(time, now))
}
