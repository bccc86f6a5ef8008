//! Invariants that are checked after every step, once a day, or at the end of a simulation.

mod archives;
pub mod consistency;
mod headers;
mod known;
mod moments;
mod politeness;
mod timetable;
pub mod undo;

use backissue::engine::poll::fetch::{FetchRequest, Fetched};
use backissue_core::history::FeedKey;
use chrono::{DateTime, Utc};

use super::machine::Machine;
use moments::Moment;
use politeness::Observer;
use timetable::Attendance;

use crate::support::store_port::Stored;

/// The observers, with everything they remember.
pub struct Checks {
    observer: Observer,
    attendance: Attendance,
    pub counts: Counts,
}

/// Number of events of each kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub requests: u64,
    pub polls: u64,
    pub archives: u64,
    pub restarts: u64,
    pub crashes: u64,
    pub undone: u64,
    pub checked: u64,
}

impl Checks {
    pub fn new(real: DateTime<Utc>) -> Self {
        Self {
            observer: Observer::default(),
            attendance: Attendance::since(real),
            counts: Counts::default(),
        }
    }

    /// Records that a person wants a feed polled.
    pub fn wanted(&mut self, feed: FeedKey) {
        self.observer.wanted(feed);
    }

    /// Forwards to [`Observer::forced`].
    pub fn forced(&mut self, feeds: Option<&[FeedKey]>) {
        self.observer.forced(feeds);
    }

    /// Records that a person resumed a feed that its publisher had ended.
    pub fn resumed(&mut self, feed: FeedKey) {
        self.observer.resumed(feed);
    }

    /// Records that a person wants a feed's history reread.
    pub fn reread(&mut self, feed: FeedKey) {
        self.observer.archives.reread(feed);
    }

    /// Checks that a feed's history is reread only if a person wanted it. `by_hand`: the last input came from a person.
    pub fn note_rereading(machine: &mut Machine, by_hand: bool) {
        let archives = &mut machine.checks.observer.archives;
        if let Err(why) = archives.note_rereading(&machine.app.engine, by_hand) {
            machine.fail(why);
        }
    }

    /// Runs the checks that follow each step of the machine.
    pub fn after_step(machine: &mut Machine) {
        if machine.failed.is_some() {
            return;
        }
        Self::note_rereading(machine, false);
        if machine.keeper.is_idle() {
            machine.checks.observer.all_is_durable();
        }
        let polled = machine.polled();
        machine.checks.observer.polls_ended(&polled, &machine.app.engine);
        timetable::check(machine);
    }

    /// Checks a request as it is sent.
    pub fn asked(machine: &mut Machine, request: &FetchRequest) {
        machine.checks.counts.requests += 1;
        Self::note_rereading(machine, false);
        let why = politeness::judge(machine, request);
        machine.note(|| {
            let kind = request.kind;
            let known = request.validators.is_some();
            format!("asks {} ({kind:?}{})", request.url, if known { ", conditional" } else { "" })
        });
        if let Err(why) = why {
            machine.fail(format!("{why}: {}", request.url));
        }
    }

    /// Records an answer as it arrives.
    pub fn arrived(machine: &mut Machine, request: &FetchRequest, fetched: &Fetched) {
        politeness::remember(machine, request, fetched);
    }

    /// Checks a result from the store.
    pub fn answered(machine: &mut Machine, stored: &Stored) {
        consistency::answered(machine, stored);
    }

    /// Records that the program started.
    pub fn started(machine: &mut Machine) {
        let real = machine.real;
        machine.checks.attendance = Attendance::since(real);
    }

    /// Records that the program ended. After an orderly end everything is written except the answers to running polls.
    pub fn ended(machine: &mut Machine, orderly: bool) {
        if orderly {
            machine.checks.counts.restarts += 1;
            machine.checks.observer.all_is_durable();
        } else {
            machine.checks.counts.crashes += 1;
        }
        let now = Moment::of(machine);
        machine.checks.observer.forget_unwritten(now);
        if machine.disk_was_full {
            machine.checks.observer.forget_all();
        }
        machine.checks.observer.program_ended();
    }

    /// Records that the machine slept or that its clock was changed.
    pub fn slept(machine: &mut Machine) {
        politeness::note_delayed(machine);
        let now = Moment::of(machine);
        machine.checks.observer.clock_set(now);
        let real = machine.real;
        machine.checks.attendance = Attendance::since(real);
    }
}
