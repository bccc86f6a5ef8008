//! A poll under way: how far it is, and what to go back to if it does not count.

use chrono::{DateTime, Utc};

use super::current_document::{NamedCurrent, ReadArchive};
use super::fetch::FetchId;
use super::poll_request::{Again, Sent};
use crate::engine::change::feed_change::{FeedChange, FeedParts};
use crate::engine::feeds::subscription::FeedState;
use backissue_core::schedule::SettledBy;

/// A poll between due and planned anew.
#[derive(Debug, Clone, PartialEq)]
pub struct Poll {
    /// How far it is.
    pub stage: PollStage,
    /// When it joined its site's queue.
    pub(super) queued_at: Option<DateTime<Utc>>,
    /// What had settled its time.
    pub(super) settled_by: Option<SettledBy>,
    /// The fetch it waits for.
    pub fetch: Option<FetchId>,
    /// What was sent.
    pub(super) sent: Sent,
    /// Bytes of the body as they came over the wire.
    pub(super) wire_bytes: u64,
    /// Validators were sent.
    pub(super) conditional: bool,
    /// It was asked a second time, as SPEC D.2 allows once.
    pub(super) again: Option<Again>,
    /// The document that was read, while the current one that it names is asked for.
    pub(super) current: Option<Box<NamedCurrent>>,
    /// The archive that was read before the document that the poll went by.
    pub(super) archive: Option<Box<ReadArchive>>,
    /// The address was replaced.
    pub(super) moved: bool,
    /// Archives are fetched after it.
    pub(super) archives: bool,
    /// The feed's state before the request, to go back to if the attempt does not count.
    pub(in crate::engine) at_start: Option<Box<FeedState>>,
    /// The feed as it was before the answer, to go back to if the answer cannot be written.
    pub(super) before: Option<Box<FeedParts>>,
    /// While its answer was being written, it turned out not to count: the state to go back to.
    pub uncounted: Option<Box<FeedState>>,
}

impl Poll {
    /// Whether no document of the feed was read before.
    pub fn is_first(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.state.facts.last_ok.is_none())
    }

    /// The reader answered something about the feed meanwhile, or the answer could not be written (`changed` the other way round):
    /// what the feed may go back to holds that too.
    pub(in crate::engine) fn follow_answer(&mut self, changed: &FeedChange) {
        let undone = changed.reversed();
        for state in [&mut self.at_start, &mut self.uncounted].into_iter().flatten() {
            undone.revert_state(state);
        }
        if let Some(before) = &mut self.before {
            undone.revert_state(&mut before.state);
            undone.revert_record(&mut before.record);
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

/// How far a poll is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollStage {
    /// It waits for its site.
    Waiting,
    /// Its request is under way.
    Asking,
    /// Its answer is being written.
    Writing,
}

/// What a merge brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct News {
    /// Entries never seen before.
    pub new: u32,
    /// Entries whose content changed.
    pub edited: u32,
    /// Entries that the publisher withdrew.
    pub withdrawn: u32,
}
