//! A scenario: the publishers, days and faults that a seed produces, without the parts that were removed to shorten it.

use std::collections::BTreeSet;
use std::fmt;

use backissue::engine::settings::{HistoryMode, Settings};
use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use super::publishers::{FaultKind, Publisher};
use crate::support::dice::Dice;

/// Maximum number of publishers in a scenario.
const PUBLISHERS_MAX: i64 = 6;

/// What to simulate: a seed, its days, and the parts of it to include.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    pub seed: u64,
    pub days: i64,
    /// Numbers of the publishers to include. A publisher behaves the same regardless of which other ones are included.
    pub publishers: Vec<u64>,
    /// Kinds of faults that may occur.
    pub kinds: BTreeSet<FaultKind>,
}

impl Scenario {
    /// Returns the whole scenario of a seed.
    pub fn of(seed: u64, days: i64) -> Self {
        let count = Dice::of(seed, "publishers", 0).between(2, PUBLISHERS_MAX);
        let publishers = (0..u64::try_from(count).unwrap()).collect();
        Self { seed, days, publishers, kinds: FaultKind::all() }
    }

    /// Returns the pseudo-random number generator of one independent stream (by name) of this seed.
    pub fn dice(&self, stream: &str) -> Dice {
        Dice::of(self.seed, stream, 0)
    }

    /// Returns the start time: an ordinary day, or some days before a special date of the calendar.
    pub fn start(&self) -> DateTime<Utc> {
        let mut dice = self.dice("start");
        // Start and end of daylight saving time in Europe, America and Australia; a leap day; a new year.
        let days = [
            (2026, 3, 2),
            (2026, 3, 25),
            (2026, 10, 20),
            (2028, 2, 24),
            (2026, 12, 27),
            (2026, 3, 5),
        ];
        let &(year, month, day) = dice.pick(&days);
        let start = Utc.with_ymd_and_hms(year, month, day, 10, 0, 0).unwrap();
        start + TimeDelta::minutes(dice.between(0, 1440))
    }

    /// Returns the user's time zone.
    pub fn zone(&self) -> Tz {
        *self.dice("zone").pick(&[
            Tz::UTC,
            Tz::Europe__Berlin,
            Tz::America__New_York,
            Tz::Australia__Lord_Howe,
            Tz::Asia__Kolkata,
        ])
    }

    /// Returns the user's configuration.
    pub fn settings(&self) -> Settings {
        let mut dice = self.dice("settings");
        let mut settings = Settings::default();
        settings.poll.start_spread_seconds = u32::try_from(dice.between(0, 60)).unwrap();
        settings.poll.learn = dice.one_in(2);
        if dice.one_in(3) {
            settings.poll.min_minutes = *dice.pick(&[5, 60, 120]);
        }
        if dice.one_in(3) {
            settings.poll.max_minutes = *dice.pick(&[240, 480]);
        }
        settings.history.mode =
            *dice.pick(&[HistoryMode::Auto, HistoryMode::Auto, HistoryMode::Ask, HistoryMode::Off]);
        if dice.one_in(4) {
            settings.history.archives_a_day = 5;
        }
        settings
    }

    /// Creates the publishers of the scenario.
    pub fn press(&self) -> Vec<Publisher> {
        let new =
            |number: &u64| Publisher::new(self.seed, *number, self.start(), self.days, &self.kinds);
        self.publishers.iter().map(new).collect()
    }

    /// Returns copies of the scenario that are one step smaller: with fewer days, without one publisher, or without one kind of
    /// fault.
    pub fn simpler(&self) -> Vec<Self> {
        let mut simpler = Vec::new();
        for days in [self.days / 4, self.days / 2, self.days - 1] {
            if (1..self.days).contains(&days) {
                simpler.push(Self { days, ..self.clone() });
            }
        }
        for left_out in &self.publishers {
            let kept: Vec<u64> =
                self.publishers.iter().copied().filter(|number| number != left_out).collect();
            if !kept.is_empty() {
                simpler.push(Self { publishers: kept, ..self.clone() });
            }
        }
        for left_out in &self.kinds {
            let mut kinds = self.kinds.clone();
            kinds.remove(left_out);
            simpler.push(Self { kinds, ..self.clone() });
        }
        simpler
    }

    /// Parses the value of `BACKISSUE_SCENARIO` in the form that [`fmt::Display`] writes.
    pub fn named(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let seed = parts.next()?.parse().ok()?;
        let days = parts.next()?.parse().ok()?;
        let whole = Self::of(seed, days);
        let publishers = match parts.next().filter(|list| *list != "all") {
            None => whole.publishers,
            Some(list) => {
                list.split('+').map(|number| number.parse().ok()).collect::<Option<_>>()?
            }
        };
        let kinds = match parts.next().filter(|list| *list != "all") {
            None => whole.kinds,
            Some(list) => {
                let is_named =
                    |kind: &FaultKind| list.split('+').any(|name| name == format!("{kind:?}"));
                FaultKind::ALL.into_iter().filter(is_named).collect()
            }
        };
        Some(Self { seed, days, publishers, kinds })
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = Self::of(self.seed, self.days);
        write!(formatter, "{}/{}", self.seed, self.days)?;
        let publishers = if self.publishers == whole.publishers {
            "all".to_owned()
        } else {
            self.publishers.iter().map(u64::to_string).collect::<Vec<_>>().join("+")
        };
        let kinds = if self.kinds == whole.kinds {
            "all".to_owned()
        } else if self.kinds.is_empty() {
            "none".to_owned()
        } else {
            let names = self.kinds.iter().map(|kind| format!("{kind:?}"));
            names.collect::<Vec<_>>().join("+")
        };
        write!(formatter, "/{publishers}/{kinds}")
    }
}

#[test]
fn scenario_round_trips_as_text() {
    let whole = Scenario::of(7, 30);
    assert_eq!(Scenario::named(&whole.to_string()), Some(whole.clone()));
    for simpler in whole.simpler() {
        assert_eq!(Scenario::named(&simpler.to_string()), Some(simpler));
    }
    let none = Scenario { kinds: BTreeSet::new(), ..whole };
    assert_eq!(Scenario::named(&none.to_string()), Some(none));
}
