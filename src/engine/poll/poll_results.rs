//! What came of polls, for whoever asked for them.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use backissue_core::history::FeedKey;

/// Results kept for whoever asked; the oldest go first.
const RESULTS_MAX: usize = 20_000;
/// Of those, the ones that are kept from one run to the next: whoever looks on takes them at once, and every command has a copy.
const KEPT_RESULTS_MAX: usize = 4096;

/// The polls since the program was last at rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PollRun {
    /// Feeds whose polls began, each once however often it was polled.
    begun: BTreeSet<FeedKey>,
    /// Of them, those that are not polled any more.
    ended: BTreeSet<FeedKey>,
    /// Polls that failed.
    pub failed: u32,
    /// New entries they brought.
    pub new: u32,
    /// What came of each, in order of their ends; the last [`RESULTS_MAX`] of them.
    pub results: VecDeque<PollResult>,
    /// Results ever noted.
    pub noted: u64,
    /// Archives and pages that were fetched.
    pub archives: u32,
    /// Entries never seen before that they brought.
    pub recovered: u32,
}

impl PollRun {
    /// A poll of a feed begins.
    pub fn begin_poll(&mut self, feed: FeedKey) {
        self.begun.insert(feed);
        self.ended.remove(&feed);
    }

    /// A poll of a feed ended.
    pub fn end_poll(&mut self, feed: FeedKey) {
        if self.begun.contains(&feed) {
            self.ended.insert(feed);
        }
    }

    /// A feed was given up: it counts no more.
    pub fn forget(&mut self, feed: FeedKey) {
        self.begun.remove(&feed);
        self.ended.remove(&feed);
    }

    /// How many feeds are polled or were.
    pub fn asked(&self) -> u32 {
        u32::try_from(self.begun.len()).unwrap_or(u32::MAX)
    }

    /// How many of them were.
    pub fn done(&self) -> u32 {
        u32::try_from(self.ended.len()).unwrap_or(u32::MAX)
    }

    /// Notes a result.
    pub fn note(&mut self, result: PollResult) {
        if self.results.len() >= RESULTS_MAX {
            self.results.pop_front();
        }
        self.results.push_back(result);
        self.noted = self.noted.saturating_add(1);
    }

    /// Begins a new run; the results of the one before are kept.
    pub fn begin_anew(&mut self) {
        let mut results = std::mem::take(&mut self.results);
        results.drain(..results.len().saturating_sub(KEPT_RESULTS_MAX));
        *self = Self { results, noted: self.noted, ..Self::default() };
    }

    /// The results noted after the first `noted` ones.
    pub fn since(&self, noted: u64) -> impl Iterator<Item = &PollResult> {
        let fresh = usize::try_from(self.noted.saturating_sub(noted)).unwrap_or(usize::MAX);
        self.results.iter().skip(self.results.len().saturating_sub(fresh))
    }
}

/// What came of one poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollResult {
    /// The feed.
    pub feed: FeedKey,
    /// How it ended.
    pub outcome: PollOutcome,
    /// Status of the answer; `None` if none came.
    pub status: Option<u16>,
    /// Bytes of the body as they came over the wire.
    pub wire_bytes: u64,
    /// A conditional request was made.
    pub conditional: bool,
    /// Entries never seen before.
    pub new: u32,
    /// Entries whose content changed.
    pub edited: u32,
    /// Entries that the publisher withdrew.
    #[serde(default)]
    pub withdrawn: u32,
    /// What went wrong, or why it was not polled; a sentence fragment.
    pub reason: Option<String>,
    /// It is read from another address from now on.
    pub moved: bool,
}

impl PollResult {
    /// How it ended, in one word for programs.
    pub const fn word(&self) -> &'static str {
        match self.outcome {
            PollOutcome::Read => "read",
            PollOutcome::NotModified => "not_modified",
            PollOutcome::Failed => "failed",
            PollOutcome::Skipped => "skipped",
        }
    }

    /// A result that brought nothing.
    pub const fn empty(feed: FeedKey, outcome: PollOutcome, reason: Option<String>) -> Self {
        Self {
            feed,
            outcome,
            status: None,
            wire_bytes: 0,
            conditional: false,
            new: 0,
            edited: 0,
            withdrawn: 0,
            reason,
            moved: false,
        }
    }
}

/// How a poll ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollOutcome {
    /// A document was read.
    Read,
    /// The publisher says nothing changed.
    NotModified,
    /// It failed.
    Failed,
    /// It was not made.
    Skipped,
}

#[cfg(test)]
mod tests {
    use crate::engine::poll::poll_results::*;

    #[test]
    fn a_feed_that_is_polled_twice_in_a_run_counts_once_and_one_that_is_given_up_not_at_all() {
        let mut run = PollRun::default();
        let counts = |run: &PollRun| (run.done(), run.asked());
        run.begin_poll(FeedKey(1));
        run.begin_poll(FeedKey(2));
        run.end_poll(FeedKey(1));
        assert_eq!(counts(&run), (1, 2));
        run.begin_poll(FeedKey(1));
        assert_eq!(counts(&run), (0, 2), "it is polled again");
        run.end_poll(FeedKey(1));
        run.forget(FeedKey(2));
        run.end_poll(FeedKey(2));
        assert_eq!(counts(&run), (1, 1));
    }

    #[test]
    fn a_program_that_polls_for_long_keeps_the_last_results_alone() {
        let mut run = PollRun::default();
        for number in 0..3 * u32::try_from(KEPT_RESULTS_MAX).unwrap() {
            run.begin_anew();
            let result = PollResult {
                new: number,
                ..PollResult::empty(FeedKey(1), PollOutcome::Read, None)
            };
            run.note(result);
        }
        assert!(run.results.len() <= KEPT_RESULTS_MAX + 1);
        assert_eq!(run.since(run.noted - 2).map(|result| result.new + 1).max(), Some(3 * 4096));
        assert_eq!(run.since(run.noted - 2).count(), 2);
    }
}
