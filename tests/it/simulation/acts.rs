//! Events of a scenario that do not come from publishers, each with its time: network, machine, clock, crashes, people.

use chrono::{DateTime, TimeDelta, Utc};

use super::publishers::FaultKind;
use super::scenario::Scenario;

/// An event whose time the seed determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// There is no network until this time on the publishers' clock.
    Away(DateTime<Utc>),
    /// The machine sleeps for this duration.
    Sleep(TimeDelta),
    /// The wall clock is changed by this amount.
    SetClock(TimeDelta),
    /// The program dies after `writes` further writes to the store; after a power cut only synced data remains.
    Crash { power_cut: bool, writes: u32 },
    /// The program ends and starts again after this number of seconds.
    Restart(i64),
    /// The disk becomes full (true), or there is room again (false).
    DiskFull(bool),
    /// A person presses keys.
    Keys,
    /// A person or another process sends a request to the program.
    Request,
    /// Some changes are made and undone, and the result is compared with the state before them.
    Undo,
    /// The checks that are too slow to run after every step are run.
    Check,
}

/// Returns the events of a scenario in order of time.
pub fn acts(scenario: &Scenario) -> Vec<(DateTime<Utc>, Act)> {
    let (start, days) = (scenario.start(), scenario.days);
    let mut acts = Vec::new();
    for kind in &scenario.kinds {
        let mut dice = scenario.dice(&format!("{kind:?}"));
        let mut at = start + TimeDelta::minutes(dice.between(1, 2000));
        // Half of the machines sleep every night; the others never do.
        let sleeps = dice.one_in(2);
        while at < start + TimeDelta::days(days) {
            let (act, hours) = match kind {
                FaultKind::Away => {
                    (Act::Away(at + TimeDelta::minutes(dice.between(1, 900))), (10, 300))
                }
                FaultKind::Sleep if sleeps => {
                    (Act::Sleep(TimeDelta::minutes(dice.between(1, 700))), (5, 40))
                }
                FaultKind::Clock => {
                    let jump = [
                        TimeDelta::seconds(dice.between(-90, 90)),
                        TimeDelta::minutes(dice.between(-600, 600)),
                        TimeDelta::days(dice.between(-3, 3)),
                    ];
                    (Act::SetClock(*dice.pick(&jump)), (40, 500))
                }
                FaultKind::Crashes => {
                    let writes = u32::try_from(dice.between(0, 12)).unwrap();
                    (Act::Crash { power_cut: dice.one_in(3), writes }, (10, 200))
                }
                FaultKind::Restarts => (Act::Restart(dice.between(2, 20_000)), (20, 240)),
                FaultKind::FullDisk if dice.one_in(3) => {
                    acts.push((
                        at + TimeDelta::minutes(dice.between(1, 300)),
                        Act::DiskFull(false),
                    ));
                    (Act::DiskFull(true), (100, 600))
                }
                FaultKind::Keys => (Act::Keys, (4, 50)),
                FaultKind::Requests => (Act::Request, (1, 20)),
                FaultKind::Undo => (Act::Undo, (20, 120)),
                FaultKind::Sleep
                | FaultKind::FullDisk
                | FaultKind::Refusals
                | FaultKind::Silences
                | FaultKind::Deaths
                | FaultKind::Moves
                | FaultKind::Liars
                | FaultKind::LostArchives => break,
            };
            acts.push((at, act));
            at += TimeDelta::minutes(dice.between(hours.0 * 60, hours.1 * 60));
        }
    }
    acts.extend((1..=days).map(|day| (start + TimeDelta::days(day), Act::Check)));
    acts.sort_by_key(|(at, _)| *at);
    acts
}
