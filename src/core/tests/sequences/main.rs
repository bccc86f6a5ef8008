//! Bounded exhaustive check of histories: every sequence of steps of a publisher, each followed by a poll, up to a depth. After
//! each step, what the program says must agree with what the publisher did (SPEC C.5, C.8).
//!
//! `BACKISSUE_STEPS` sets the depth: 3 by default, and one less without dates, which takes seconds in a debug build. Depth 4 takes
//! about twenty times as long, so it is not part of each run. `BACKISSUE_SEQUENCE=Pin,NewArchive` runs one sequence and prints it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail")]
#![allow(clippy::print_stdout, reason = "one sequence is printed on request")]

mod publisher;
mod reader;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::TimeDelta;

use publisher::{Publisher, Step};
use reader::Reader;

/// Number of polls within which a doubt ends once everything is readable again.
const HEALING_POLLS: u32 = 3;

/// A publisher and its reader after some steps.
#[derive(Clone)]
struct State {
    publisher: Publisher,
    reader: Reader,
    steps: Vec<Step>,
    is_dated: bool,
}

/// What contradicts the publisher, by the name of the invariant: how often, and the first of the shortest sequences.
type Violations = BTreeMap<&'static str, (u32, String)>;

impl State {
    fn new(dated: bool) -> Self {
        let publisher = Publisher::new(dated);
        let mut reader = Reader::new();
        reader.poll(&publisher);
        Self { publisher, reader, steps: Vec::new(), is_dated: dated }
    }

    fn take(&mut self, step: Step) {
        self.publisher.take(step);
        self.reader.poll(&self.publisher);
        self.steps.push(step);
    }

    /// Checks whether the publisher follows RFC 5005. Without dates, nothing shows whether an archive that grows adjoins the
    /// window.
    fn is_by_the_book(&self) -> bool {
        let is_clear = |step: &Step| self.is_dated || *step != Step::PublishIntoGrownArchive;
        self.steps.iter().all(|step| step.is_by_the_book() && is_clear(step))
    }

    /// Returns the names of the violated invariants.
    fn check(&self, is_last: bool) -> Vec<&'static str> {
        let mut broken = Vec::new();
        let reader = &self.reader;
        let ids: Vec<&str> = reader.kept.iter().map(|kept| kept.id.as_str()).collect();
        let mut unknown = ids.len();
        let mut is_all_read = true;
        for publication in &self.publisher.publications {
            let entries = publication.ids.iter().filter(|id| ids.contains(&id.as_str())).count();
            unknown = unknown.saturating_sub(entries);
            is_all_read &= entries > 0;
            let was_read = publication.ids.iter().any(|id| reader.read.contains(id));
            if was_read && entries == 0 {
                broken.push("a publication that was read is no entry");
            }
            // Without dates, only a unique link tells what an entry under another id is.
            let alike = self.publisher.publications.iter();
            let is_unique = alike.filter(|other| other.link == publication.link).count() == 1;
            if entries > 1 && (self.is_dated || is_unique) {
                broken.push("a publication is two entries");
            }
        }
        if unknown > 0 {
            broken.push("an entry of another feed");
        }
        if reader.rows.iter().any(|row| !row.flags.is_live()) {
            broken.push("an entry is withdrawn");
        }
        if reader.header() == "complete history" && !is_all_read {
            broken.push("false complete");
        }
        if self.is_by_the_book() {
            broken.extend(self.check_by_the_book());
        } else if is_last
            && self.can_heal()
            && reader.header().starts_with("may be incomplete")
            && !self.heals(true)
        {
            broken.push("a doubt that does not end");
        }
        broken
    }

    /// Checks whether a doubt can end by itself. Without dates, it does not if all ids changed, because nothing tells the entries
    /// that left a window, or if an archive grew. A gap that only the user can close keeps its doubt.
    fn can_heal(&self) -> bool {
        let unclear = [Step::AllIdsChange, Step::PublishIntoGrownArchive];
        let waits = self.reader.record.gaps.values().any(|gap| gap.retry_at.is_none());
        !waits && (self.is_dated || !self.steps.iter().any(|step| unclear.contains(step)))
    }

    fn check_by_the_book(&self) -> Vec<&'static str> {
        let mut broken = Vec::new();
        let overruns = self.steps.iter().filter(|step| step.overruns()).count();
        if !self.reader.record.gaps.is_empty() {
            broken.push("false gap");
        }
        // A window of three entries of which most are pinned or edited may share no other with the next.
        let edits = self.steps.iter().filter(|step| **step == Step::EditAndRepublish);
        let bound = self.reader.nodes.len() + 2 * overruns + edits.count();
        if self.reader.requests as usize > bound {
            broken.push("too many requests");
        }
        if self.reader.header() != "complete history" && !self.heals(false) {
            broken.push("a false doubt");
        }
        broken
    }

    /// Checks whether no doubt is left after a few polls. If everything is made readable again first, two entries are published
    /// before each of the other polls, so that the window moves on.
    fn heals(&self, is_made_readable: bool) -> bool {
        let mut state = self.clone();
        for poll in 0..HEALING_POLLS {
            if poll == 0 && is_made_readable {
                state.publisher.take(Step::AllReturns);
            } else if is_made_readable {
                state.publisher.take(Step::PublishOne);
                state.publisher.take(Step::PublishOne);
            } else {
                state.publisher.now += TimeDelta::days(8);
            }
            state.reader.poll(&state.publisher);
            if !state.reader.header().starts_with("may be incomplete") {
                return true;
            }
        }
        false
    }

    /// Explores all sequences of at most `depth` further steps that begin with `step`.
    fn follow(&self, step: Step, depth: usize, found: &mut Violations, count: &AtomicUsize) {
        let mut next = self.clone();
        next.take(step);
        count.fetch_add(1, Ordering::Relaxed);
        let broken = next.check(depth == 1);
        // Longer sequences with the same beginning say nothing new.
        if broken.is_empty() && depth > 1 {
            for step in Step::ALL {
                next.follow(step, depth - 1, found, count);
            }
        }
        for name in broken {
            note(found, name, 1, format!("{:?} {}", next.steps, next.reader.header()));
        }
    }
}

fn depth() -> usize {
    std::env::var("BACKISSUE_STEPS").ok().and_then(|depth| depth.parse().ok()).unwrap_or(3)
}

/// Explores all sequences of a publisher, shared out among threads by their first step.
fn explore(dated: bool, depth: usize) -> (usize, Violations) {
    let first = State::new(dated);
    assert_eq!(first.reader.header(), "complete history");
    let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut found = Violations::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(step) = Step::ALL.get(place) else { return found };
            first.follow(*step, depth, &mut found, &count);
        }
    };
    let mut all = Violations::new();
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for thread in running {
            for (name, (times, steps)) in thread.join().unwrap() {
                note(&mut all, name, times, steps);
            }
        }
    });
    (count.into_inner(), all)
}

/// Adds what was found to `all`. Of sequences with the same length, the first one in the order of text is kept, whichever thread
/// found it.
fn note(all: &mut Violations, name: &'static str, times: u32, steps: String) {
    let entry = all.entry(name).or_insert((0, steps.clone()));
    entry.0 += times;
    if (steps.len(), &steps) < (entry.1.len(), &entry.1) {
        entry.1 = steps;
    }
}

fn check(dated: bool, depth: usize) {
    let (count, found) = explore(dated, depth);
    let lines: Vec<String> =
        found.iter().map(|(name, (times, steps))| format!("{name}: {times}, as {steps}")).collect();
    assert!(found.is_empty(), "of {count} sequences\n{}", lines.join("\n"));
}

#[test]
fn no_sequence_of_steps_deceives_the_reader() {
    check(true, depth());
}

#[test]
fn no_sequence_without_dates_deceives_the_reader() {
    check(false, depth().saturating_sub(1));
}

#[test]
fn print_sequence() {
    let Ok(wanted) = std::env::var("BACKISSUE_SEQUENCE") else { return };
    for dated in [true, false] {
        let mut state = State::new(dated);
        println!("dated {dated}");
        for name in wanted.split(',') {
            let step = Step::ALL.into_iter().find(|step| format!("{step:?}") == name.trim());
            state.take(step.unwrap());
            let ids: Vec<&str> = state.reader.kept.iter().map(|it| it.id.as_str()).collect();
            println!("{name}: {} {:?}", state.reader.header(), state.check(false));
            println!("    {ids:?} requests {}", state.reader.requests);
            println!("    gaps {:?}", state.reader.record.gaps.values());
            println!("    proof {:?}", state.reader.record.proof);
        }
    }
}
