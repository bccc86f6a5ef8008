//! The program and its store hold the same data, and the counters of both equal a recount.

use std::collections::BTreeSet;
use std::fmt::Debug;

use backissue::engine::entries::entry_view::LoadedEntry;
use backissue::engine::feeds::subscription::{FeedState, Subscription};
use backissue_core::history::{Counters, EntryKey, HistoryRecord, WalkRun};
use backissue_core::schedule::ScheduleSettings;

use crate::simulation::machine::Machine;
use crate::support::store_port::{Stored, wrongly_refused};

/// Maximum number of poll log lines that a feed may have.
const LOG_LINES: usize = 200;
/// Maximum number of undo steps that the store may hold.
const STEPS: usize = 200;

/// Checks a result from the store: store work may fail only if the disk is full.
pub fn answered(machine: &mut Machine, stored: &Stored) {
    if let Some(why) = wrongly_refused(stored) {
        machine.fail(format!("the store refuses {why}"));
    }
}

/// Compares the program's data with the store and recounts the counters; nothing may be running.
pub fn check(machine: &mut Machine) {
    machine.checks.counts.checked += 1;
    let health = machine.keeper.store().check(false).unwrap();
    if !health.findings.is_empty() {
        return machine.fail(format!("the store is not sound: {:?}", health.findings));
    }
    let wrong = compare(machine).or_else(|| recount(machine)).or_else(|| bounds(machine));
    if let Some(why) = wrong {
        machine.fail(why);
    }
}

/// Returns the part of a feed's state that is stored with the feed: without the settings, and without the learned plan, which is
/// stored separately.
fn kept_state(state: &FeedState) -> FeedState {
    let mut state = state.clone();
    state.facts.settings = ScheduleSettings::default();
    state.facts.learned = None;
    // The next poll writes the usual gap.
    state.usual_gap = None;
    state
}

/// Returns the part of a feed's history that must be stored: without the spent budget, which a walk writes with its results.
fn kept_history(history: &HistoryRecord) -> HistoryRecord {
    let (run, day) = (WalkRun::default(), Default::default());
    HistoryRecord { asking: None, run, day, ..history.clone() }
}

fn compare(machine: &mut Machine) -> Option<String> {
    let saved = machine.keeper.store().subscriptions().unwrap();
    let (filters, searches) = {
        let store = machine.keeper.store();
        (store.saved_filters().unwrap(), store.saved_searches().unwrap())
    };
    let engine = machine.engine();
    if saved.len() != engine.feeds.len() {
        return Some(format!("{} feeds are stored, {} known", saved.len(), engine.feeds.len()));
    }
    if filters != engine.filters.list || searches != engine.saved_searches {
        return Some("filters or searches are not those that are stored".into());
    }
    saved.iter().find_map(|saved| {
        let Some(feed) = engine.feeds.get(&saved.key) else {
            return Some(format!("feed {} is stored and not known", saved.key));
        };
        let Subscription { record, state, history, counters, .. } = feed;
        let differs = |part: &str, stored: &dyn Debug, known: &dyn Debug| {
            let lines = different_lines(stored, known);
            Some(format!(
                "of feed {} the {part} is stored otherwise than it is known: {lines}",
                saved.key
            ))
        };
        if saved.record != *record {
            return differs("record", &saved.record, record);
        }
        if saved.counters != *counters {
            return differs("sums", &saved.counters, counters);
        }
        if machine.disk_was_full {
            // The full disk prevented writing the attempt, so its stored state may be older.
            return None;
        }
        let (stored, known) = (kept_state(&saved.state), kept_state(state));
        if stored != known {
            return differs("state", &stored, &known);
        }
        if kept_history(&saved.history) != kept_history(history) {
            return differs("history", &kept_history(&saved.history), &kept_history(history));
        }
        None
    })
}

/// Returns the lines in which two debug outputs differ: `-` is the store's line, `+` the program's.
fn different_lines(stored: &dyn Debug, known: &dyn Debug) -> String {
    let (stored, known) = (format!("{stored:#?}"), format!("{known:#?}"));
    let only_in = |text: &str, other: &str, sign: &str| -> String {
        let others: BTreeSet<&str> = other.lines().collect();
        let lines = text.lines().filter(|line| !others.contains(line));
        lines.map(|line| format!("{sign} {} ", line.trim())).collect()
    };
    only_in(&stored, &known, "-") + &only_in(&known, &stored, "+")
}

/// Checks that the stored counters equal a recount and that no entry is stored twice.
fn recount(machine: &mut Machine) -> Option<String> {
    let feeds: Vec<(_, Counters)> =
        machine.engine().feeds.iter().map(|(feed, known)| (*feed, known.counters)).collect();
    for (feed, counters) in feeds {
        let keys: Vec<EntryKey> =
            (0..counters.next_seq).map(|seq| EntryKey { feed, seq }).collect();
        let entries = machine.keeper.store().entries(&keys).unwrap();
        let Counters { next_seq, counted, .. } = counters;
        let mut counted = Counters { next_seq, counted, ..Counters::default() };
        let mut ids = BTreeSet::new();
        for LoadedEntry { key, kept, flags, .. } in &entries {
            counted.shift(None, Some(*flags));
            if !ids.insert(kept.id.clone()) {
                return Some(format!("{key:?} is there twice: {}", kept.id));
            }
        }
        if counted != counters {
            return Some(format!("feed {feed} counts {counters:?}, a recount {counted:?}"));
        }
    }
    None
}

/// Checks that everything that grows with time stays within its limit.
fn bounds(machine: &mut Machine) -> Option<String> {
    let feeds: Vec<_> = machine.engine().feeds.keys().copied().collect();
    let steps = machine.keeper.store().saved_steps().unwrap().len();
    if steps > STEPS {
        return Some(format!("{steps} steps of undo are kept"));
    }
    for feed in feeds {
        let lines = machine.keeper.store().poll_log(feed).unwrap().len();
        if lines > LOG_LINES {
            return Some(format!("{lines} polls of feed {feed} are kept"));
        }
    }
    let engine = machine.engine();
    let waiting = engine.additions.values().filter(|addition| addition.ended.is_none()).count();
    if waiting > 0 {
        return Some(format!("{waiting} subscriptions are under way although nothing is"));
    }
    (engine.unsaved > 0).then(|| format!("{} records are said to be unsaved", engine.unsaved))
}
