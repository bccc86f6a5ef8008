//! A poll under way: its stage, and the earlier state of the feed, which is restored if the poll does not count.

use chrono::{DateTime, Utc};

use super::fetch::{FetchId, Fetched};
use super::poll_request::{Again, Sent};
use crate::engine::change::feed_change::{Direction, FeedChange, FeedParts};
use crate::engine::feeds::subscription::FeedState;
use backissue_core::schedule::SettledBy;

/// A document that names another document as current, kept while the current document is requested.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCurrent {
    /// Address of the current document.
    pub to: String,
    /// `true` if the naming document is not an archive. Then the stored address is kept, and `to` is requested in each poll.
    pub once: bool,
    /// Address at which the naming document was requested.
    pub asked: String,
    /// Request that was sent for the naming document.
    pub sent: Sent,
    /// Response with the naming document.
    pub fetched: Fetched,
}

/// An archive that a poll read as the subscription document, and that the archive walk need not request again.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadArchive {
    /// Address at which the archive was requested.
    pub asked: String,
    /// Response with the archive.
    pub fetched: Fetched,
    /// Number of the last walk before the current document was read. The archive is newer than that walk's archives.
    pub epoch: u32,
    /// `true` if the `previous` link of the archive leads to an older archive (SPEC C.2 rule 5).
    pub by_previous: bool,
}

/// A poll, from its queueing until its result is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Poll {
    /// Stage of the poll.
    pub stage: PollStage,
    /// Time at which the poll joined its site's queue.
    pub(super) queued_at: Option<DateTime<Utc>>,
    /// The rule that determined the time of the poll.
    pub(super) settled_by: Option<SettledBy>,
    /// The fetch that the poll waits for.
    pub fetch: Option<FetchId>,
    /// Parts of the request that was sent, needed to classify the response.
    pub(super) sent: Sent,
    /// Size of the body as transferred, in bytes.
    pub(super) wire_bytes: u64,
    /// `true` if validators were sent.
    pub(super) conditional: bool,
    /// Reason that the request was repeated. Only one repetition is allowed (SPEC D.2).
    pub(super) again: Option<Again>,
    /// Number of entries of the delta that the repeated request verifies.
    pub(super) verifies: Option<u32>,
    /// The document that was read first, while the current document that it names is requested.
    pub(super) current: Option<Box<NamedCurrent>>,
    /// The archive that was read before the current document, if the poll used the current document.
    pub(super) archive: Option<Box<ReadArchive>>,
    /// `true` if the stored address of the feed was replaced.
    pub(super) moved: bool,
    /// `true` if archives may be fetched after the poll.
    pub(super) archives: bool,
    /// State of the feed before the request, restored if the poll does not count because there is no network.
    pub(in crate::engine) at_start: Option<Box<FeedState>>,
    /// The feed before the response was applied, restored if the result cannot be written.
    pub(super) before: Option<Box<FeedParts>>,
    /// State to restore when the write of the result ends, because a missing network was detected in the meantime and the poll does
    /// not count.
    pub uncounted: Option<Box<FeedState>>,
}

impl Poll {
    /// Checks whether no document of the feed was read before this poll.
    pub fn is_first(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.state.facts.last_ok.is_none())
    }

    /// Applies a change that the user made during the poll to the earlier states that the poll may restore, or reverts it there
    /// because its write failed.
    pub(in crate::engine) fn follow_answer(&mut self, changed: &FeedChange, direction: Direction) {
        for state in [&mut self.at_start, &mut self.uncounted].into_iter().flatten() {
            changed.set_state(state, direction);
        }
        if let Some(before) = &mut self.before {
            changed.set_state(&mut before.state, direction);
            changed.set_record(&mut before.record, direction);
        }
    }

    pub fn at(stage: PollStage) -> Self {
        Self {
            stage,
            queued_at: None,
            settled_by: None,
            fetch: None,
            sent: Sent::default(),
            wire_bytes: 0,
            conditional: false,
            again: None,
            verifies: None,
            current: None,
            archive: None,
            moved: false,
            archives: true,
            at_start: None,
            before: None,
            uncounted: None,
        }
    }
}

/// The stage of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollStage {
    /// The poll waits in the queue of its site.
    Waiting,
    /// The request is under way.
    Asking,
    /// The result is being written.
    Writing,
}

/// The numbers of entries that a merged document changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct News {
    /// Number of entries never seen before.
    pub new: u32,
    /// Number of entries whose content changed.
    pub edited: u32,
    /// Number of entries that the publisher withdrew.
    pub withdrawn: u32,
}
