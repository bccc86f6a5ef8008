//! What came of polls, for whoever asked for them.

use std::collections::VecDeque;

use crate::history::FeedKey;

/// Results kept for whoever asked; the oldest go first.
const RESULTS_MAX: usize = 20_000;

/// The polls since the program was last at rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PollRun {
    /// Polls begun.
    pub asked: u32,
    /// Polls ended.
    pub done: u32,
    /// Of them, failed ones.
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
        let results = std::mem::take(&mut self.results);
        *self = Self { results, noted: self.noted, ..Self::default() };
    }

    /// The results noted after the first `noted` ones.
    pub fn since(&self, noted: u64) -> impl Iterator<Item = &PollResult> {
        let fresh = usize::try_from(self.noted.saturating_sub(noted)).unwrap_or(usize::MAX);
        self.results.iter().skip(self.results.len().saturating_sub(fresh))
    }
}

/// What came of one poll.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// What went wrong, or why it was not polled; a sentence fragment.
    pub reason: Option<String>,
    /// It is read from another address from now on.
    pub moved: bool,
}

impl PollResult {
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
            reason,
            moved: false,
        }
    }
}

/// How a poll ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
