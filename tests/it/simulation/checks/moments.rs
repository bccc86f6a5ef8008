//! Instants on two clocks: the program's wall clock, and true time, which nothing sets.

use chrono::{DateTime, TimeDelta, Utc};

use crate::simulation::machine::Machine;

/// Tolerance for the time between two requests. Each request waits for earlier writes, so the time may be this much shorter than
/// the program decided.
const MOMENT: TimeDelta = TimeDelta::seconds(5);

/// An instant on both clocks. A request comes too early only if it does so on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub wall: DateTime<Utc>,
    pub real: DateTime<Utc>,
}

impl Moment {
    pub fn of(machine: &Machine) -> Self {
        Self { wall: machine.now(), real: machine.real }
    }

    /// Checks whether less than this time has passed on both clocks. After the clock was set back by more than an hour, an earlier
    /// time is unknown (SPEC A.9).
    pub fn is_within(self, time: TimeDelta, now: Self) -> bool {
        self.is_known(now) && now.wall - self.wall < time && now.real - self.real < time
    }

    /// Checks whether an earlier time is no more than an hour ahead by the program's clock.
    pub fn is_known(self, now: Self) -> bool {
        self.wall - now.wall <= TimeDelta::hours(1)
    }

    /// Like [`Self::is_within`], but with a tolerance, for waits counted in minutes: a request is sent a moment after its
    /// decision.
    pub fn is_well_within(self, time: TimeDelta, now: Self) -> bool {
        self.is_within(time - MOMENT, now)
    }
}

/// A period in which no request may be sent: its start and its duration.
pub type Wait = Option<(Moment, TimeDelta)>;

/// Returns the wait that ends first, where a wait ends as soon as it is over on one of the two clocks.
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
        // The wall clock was set forward by a day, so two days have passed on it: the wait of 48 hours is over, and a wait of one
        // hour begins.
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
