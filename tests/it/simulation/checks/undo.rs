//! Changes are made and undone; afterwards the user's data equals the data before the changes.

use std::collections::BTreeMap;

use backissue::engine::change::value::SavedSearch;
use backissue::engine::feeds::setting_row::Chosen;
use backissue::engine::request::Request;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flags, GapKey, GapState};

use crate::simulation::machine::Machine;

/// The data that undoable changes can affect.
#[derive(Debug, PartialEq)]
struct Shape {
    chosen: BTreeMap<FeedKey, (String, Chosen)>,
    gaps: BTreeMap<(FeedKey, GapKey), bool>,
    flags: BTreeMap<EntryKey, Flags>,
    filters: Vec<EntryFilter>,
    searches: Vec<SavedSearch>,
}

impl Shape {
    fn of(machine: &mut Machine) -> Self {
        let engine = machine.engine();
        let (mut chosen, mut gaps, mut keys) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (key, feed) in &engine.feeds {
            chosen.insert(*key, (feed.record.url.clone(), feed.record.chosen()));
            let dismissed = |state| state == GapState::Dismissed;
            gaps.extend(
                feed.history.gaps.iter().map(|(gap, it)| ((*key, *gap), dismissed(it.state))),
            );
            keys.extend((0..feed.counters.next_seq).map(|seq| EntryKey { feed: *key, seq }));
        }
        let filters = engine.filters.list.clone();
        let searches = engine.saved_searches.clone();
        let flags = machine.keeper.store().entries(&keys).unwrap();
        let flags = flags.into_iter().map(|entry| (entry.key, entry.flags)).collect();
        Self { chosen, gaps, flags, filters, searches }
    }

    fn differs_from(&self, other: &Self) -> String {
        let flags = self.flags.iter().find(|(key, flags)| other.flags.get(key) != Some(flags));
        format!(
            "settings {}, gaps {}, filters {}, searches {}, entries {} (the first {:?})",
            self.chosen == other.chosen,
            self.gaps == other.gaps,
            self.filters == other.filters,
            self.searches == other.searches,
            self.flags == other.flags,
            flags.map(|(key, flags)| (key, flags, other.flags.get(key)))
        )
    }
}

fn last_step(machine: &mut Machine) -> u64 {
    let steps = machine.keeper.store().saved_steps().unwrap();
    steps.iter().map(|step| step.id.0).max().unwrap_or(0)
}

fn steps_since(machine: &mut Machine, last: u64) -> usize {
    let steps = machine.keeper.store().saved_steps().unwrap();
    steps.iter().filter(|step| step.id.0 > last && !step.undone).count()
}

/// Makes a few changes, undoes them and compares the data; nothing may be running.
pub fn check(machine: &mut Machine) {
    let last = last_step(machine);
    let before = Shape::of(machine);
    let mut dice = machine.dice.clone();
    machine.dice.roll(2);
    let mut asked = Vec::new();
    for _ in 0..dice.between(1, 4) {
        let Some(change) = machine.some_change(&mut dice) else { continue };
        asked.push(format!("{change:?}").chars().take(120).collect::<String>());
        machine.ask(change);
        machine.settle();
    }
    let steps = steps_since(machine, last);
    for _ in 0..steps {
        machine.ask(Request::Answered(Box::new(Request::Undo), None));
        machine.settle();
    }
    machine.checks.counts.undone += u64::try_from(steps).unwrap();
    let after = Shape::of(machine);
    if after != before && machine.failed.is_none() {
        machine.fail(format!(
            "what was changed by {asked:?} is not as it was after {steps} times undo; the same are: {}",
            after.differs_from(&before)
        ));
    }
}
