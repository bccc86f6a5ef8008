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

/// Of two of which one holds that which ends first, by one of the clocks: one that is over by either is over.
pub fn lesser(one: Wait, other: Wait, now: Moment) -> Wait {
    let (one, other) = (one?, other?);
    let left = |(since, time): (Moment, TimeDelta)| {
        (since.wall + time - now.wall).min(since.real + time - now.real)
    };
    Some(if left(one) < left(other) { one } else { other })
}

pub fn holds(wait: Wait, now: Moment) -> bool {
    wait.is_some_and(|(since, time)| since.is_well_within(time, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_of_two_waits_by_either_clock_counts() {
        let at = |wall: i64, real: i64| {
            let time = |hours| DateTime::UNIX_EPOCH + TimeDelta::hours(hours);
            Moment { wall: time(wall), real: time(real) }
        };
        // The clock was set forward by a day: two days are over by it, and a wait of an hour begins.
        let before = Some((at(0, 0), TimeDelta::hours(48)));
        let last = Some((at(48, 24), TimeDelta::hours(1)));
        let now = at(48, 24);
        assert!(holds(last, now) && !holds(before, now));
        assert!(!holds(lesser(before, last, now), now) && !holds(lesser(last, before, now), now));
        let later = Some((at(48, 24), TimeDelta::hours(2)));
        assert!(!holds(lesser(later, last, now), at(49, 25)));
        assert!(lesser(before, None, now).is_none());
    }
}
