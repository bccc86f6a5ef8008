//! Invariants checked after every step, every day or at the end.

mod archives;
pub mod consistency;
mod headers;
mod known;
mod moments;
mod politeness;
mod timetable;
pub mod undo;

use backissue::engine::poll::fetch::{FetchRequest, Fetched};
use backissue::engine::store_work::Stored;
use backissue_core::history::FeedKey;
use chrono::{DateTime, Utc};

use super::machine::Machine;
use moments::Moment;
use politeness::Observer;
use timetable::Attendance;

/// The state of the observers.
pub struct Checks {
    observer: Observer,
    attendance: Attendance,
    pub counts: Counts,
}

/// Totals of all events.
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

    /// Records that a person resumed a feed that its publisher ended.
    pub fn resumed(&mut self, feed: FeedKey) {
        self.observer.resumed(feed);
    }

    /// Records that a person wants a feed's history reread.
    pub fn reread(&mut self, feed: FeedKey) {
        self.observer.archives.reread(feed);
    }

    /// Checks whether a history is being reread; `by_hand`: a person has just done something.
    pub fn note_rereading(machine: &mut Machine, by_hand: bool) {
        let archives = &mut machine.checks.observer.archives;
        if let Err(why) = archives.note_rereading(&machine.app.engine, by_hand) {
            machine.fail(why);
        }
    }

    /// Runs the checks after each step of the machine.
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

    /// Observes a request as it is sent.
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

    /// Observes an answer.
    pub fn arrived(machine: &mut Machine, request: &FetchRequest, fetched: &Fetched) {
        politeness::remember(machine, request, fetched);
    }

    /// Observes an answer of the store.
    pub fn answered(machine: &mut Machine, stored: &Stored) {
        consistency::answered(machine, stored);
    }

    /// Observes the start of the program.
    pub fn started(machine: &mut Machine) {
        let real = machine.real;
        machine.checks.attendance = Attendance::since(real);
    }

    /// Observes the end of the program; after an orderly end everything is written except the answers to running polls.
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

    /// Observes a sleep of the machine or a change of its clock.
    pub fn slept(machine: &mut Machine) {
        politeness::note_delayed(machine);
        let real = machine.real;
        machine.checks.attendance = Attendance::since(real);
    }
}
