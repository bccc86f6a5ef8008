//! Poll log: one line for each of the last polls of a feed; and results of polls, for the clients that requested them.

use std::collections::{BTreeSet, VecDeque};

use backissue_core::feed::hints::is_default;
use backissue_core::history::FeedKey;
use backissue_core::schedule::SettledBy;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Number of lines kept for each feed. Older lines are overwritten.
pub const POLL_LOG_LINES: u32 = 50;

/// One poll in the log. The serialized field names are short, because every poll writes a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollLogEntry {
    /// Time of the request.
    #[serde(rename = "t", with = "chrono::serde::ts_milliseconds")]
    pub at: DateTime<Utc>,
    /// Status of the response; `None` if there was none.
    #[serde(rename = "s", default, skip_serializing_if = "is_default")]
    pub status: Option<u16>,
    /// Size of the body on the wire, in bytes.
    #[serde(rename = "b", default, skip_serializing_if = "is_default")]
    pub wire_bytes: u64,
    /// Number of new entries.
    #[serde(rename = "n", default, skip_serializing_if = "is_default")]
    pub new: u32,
    /// Number of entries with changed content.
    #[serde(rename = "e", default, skip_serializing_if = "is_default")]
    pub edited: u32,
    /// Number of entries that the publisher withdrew.
    #[serde(rename = "r", default, skip_serializing_if = "is_default")]
    pub withdrawn: u32,
    /// Cause of the poll.
    #[serde(rename = "c")]
    pub cause: PollCause,
    /// Rule that determined the time of the poll, such as a setting or a minimum interval.
    #[serde(rename = "w", default, skip_serializing_if = "is_default")]
    pub settled_by: Option<SettledBy>,
    /// Number of seconds from the queueing of the poll to its request.
    #[serde(rename = "q", default, skip_serializing_if = "is_default")]
    pub queued_seconds: u32,
    /// Error of the poll, as a sentence fragment; `None` if the poll succeeded.
    #[serde(rename = "x", default, skip_serializing_if = "is_default")]
    pub trouble: Option<String>,
}

/// Cause of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollCause {
    /// The poll was due.
    Due,
    /// The user requested it (SPEC B.8).
    Asked,
    /// The user requested an unconditional poll (SPEC B.8).
    Forced,
    /// The feed was just subscribed.
    Subscribed,
}

/// Maximum number of poll results kept. The oldest results are dropped first.
const RESULTS_MAX: usize = 20_000;
/// Maximum number of poll results kept when a new run begins. The limit is lower than [`RESULTS_MAX`], because observers read
/// results at once and each command has its own copy.
const KEPT_RESULTS_MAX: usize = 4096;

/// Counts and results of the polls since the program was last idle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PollRun {
    /// Feeds whose polls began. A feed counts once, however often it was polled.
    begun: BTreeSet<FeedKey>,
    /// Feeds in `begun` whose polls have ended.
    ended: BTreeSet<FeedKey>,
    /// Number of failed polls.
    pub failed: u32,
    /// Number of new entries from polls.
    pub new: u32,
    /// Results in order of completion; at most the last [`RESULTS_MAX`].
    pub results: VecDeque<PollResult>,
    /// Number of results recorded since the start of the program.
    pub noted: u64,
    /// Number of archives and pages fetched.
    pub archives: u32,
    /// Number of new entries from archives and pages.
    pub recovered: u32,
}

impl PollRun {
    /// Records the start of a feed's poll.
    pub fn begin_poll(&mut self, feed: FeedKey) {
        self.begun.insert(feed);
        self.ended.remove(&feed);
    }

    /// Records the end of a feed's poll.
    pub fn end_poll(&mut self, feed: FeedKey) {
        if self.begun.contains(&feed) {
            self.ended.insert(feed);
        }
    }

    /// Removes a feed from the counts, because it was unsubscribed or its waiting poll is no longer due.
    pub fn forget(&mut self, feed: FeedKey) {
        self.begun.remove(&feed);
        self.ended.remove(&feed);
    }

    /// Returns the number of feeds whose polls began in this run.
    pub fn asked(&self) -> u32 {
        u32::try_from(self.begun.len()).unwrap_or(u32::MAX)
    }

    /// Returns the number of feeds whose polls ended in this run.
    pub fn done(&self) -> u32 {
        u32::try_from(self.ended.len()).unwrap_or(u32::MAX)
    }

    /// Records the result of a poll.
    pub fn note(&mut self, result: PollResult) {
        if self.results.len() >= RESULTS_MAX {
            self.results.pop_front();
        }
        self.results.push_back(result);
        self.noted = self.noted.saturating_add(1);
    }

    /// Begins a new run: resets the counts, and keeps the last results of the previous run.
    pub fn begin_anew(&mut self) {
        let mut results = std::mem::take(&mut self.results);
        results.drain(..results.len().saturating_sub(KEPT_RESULTS_MAX));
        *self = Self { results, noted: self.noted, ..Self::default() };
    }

    /// Returns the results that were recorded after the first `noted` results.
    pub fn since(&self, noted: u64) -> impl Iterator<Item = &PollResult> {
        let fresh = usize::try_from(self.noted.saturating_sub(noted)).unwrap_or(usize::MAX);
        self.results.iter().skip(self.results.len().saturating_sub(fresh))
    }
}

/// Result of one poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollResult {
    /// Feed that was polled.
    pub feed: FeedKey,
    /// Outcome of the poll.
    pub outcome: PollOutcome,
    /// Status of the response; `None` if there was none.
    pub status: Option<u16>,
    /// Size of the body on the wire, in bytes.
    pub wire_bytes: u64,
    /// `true` if the request was conditional.
    pub conditional: bool,
    /// Number of new entries.
    pub new: u32,
    /// Number of entries with changed content.
    pub edited: u32,
    /// Number of entries that the publisher withdrew.
    #[serde(default)]
    pub withdrawn: u32,
    /// Error, or reason that the poll was skipped, as a sentence fragment.
    pub reason: Option<String>,
    /// `true` if the feed moved to another address.
    pub moved: bool,
}

impl PollResult {
    /// Returns the outcome as one word for programs.
    pub const fn word(&self) -> &'static str {
        match self.outcome {
            PollOutcome::Read => "read",
            PollOutcome::NotModified => "not_modified",
            PollOutcome::Failed => "failed",
            PollOutcome::Skipped => "skipped",
        }
    }

    /// Creates the result of a poll without a response.
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

/// Outcome of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollOutcome {
    /// A document was read.
    Read,
    /// The publisher reports no change.
    NotModified,
    /// The poll failed.
    Failed,
    /// The poll was skipped.
    Skipped,
}

#[cfg(test)]
mod tests {
    use crate::engine::poll::poll_log::*;

    #[test]
    fn repeated_poll_counts_once_and_unsubscribed_feed_never() {
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
    fn long_running_program_keeps_only_recent_results() {
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
