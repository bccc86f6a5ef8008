//! A poll under way: its stage, and the earlier state of the feed, which is restored if the poll does not count; the queue of the
//! feeds whose publication rhythms will be learned; and the values that every poll changes.
//!
//! These values have a separate small record next to the feed's state, so that polls of unchanged feeds do not rewrite the whole
//! state of each feed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use backissue_core::feed::hints::is_default;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{LearnTerms, LearnedPlan, Publications};
use backissue_core::schedule::{self, LearnedAnswer, SettledBy};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::fetch::{FetchId, Fetched};
use super::poll_request::{Again, Sent};
use crate::engine::change::value::{Direction, FeedChange, FeedParts};
use crate::engine::feeds::subscription::{FeedState, Subscription};
use crate::engine::settings::Settings;

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

/// Time of observation in minutes (two weeks) after which the publication rate of a feed determines its polls, even if there are
/// too few publications to find a pattern.
const WATCHED_MINUTES: i64 = 14 * 1440;

/// Input for learning the publication rhythm of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnWanted {
    /// The feed.
    pub feed: FeedKey,
    /// Publication times of the feed.
    pub publications: Arc<Publications>,
    /// Constraints for the plan.
    pub terms: LearnTerms,
    /// Time at which the plan is learned.
    pub now: DateTime<Utc>,
}

/// Feeds that wait to be learned or are being learned, and the last learning run of each feed.
#[derive(Debug, Clone, Default)]
pub struct Learning {
    /// Waiting feeds in order of request.
    queue: VecDeque<FeedKey>,
    /// The feeds in `queue`, for fast checks.
    waiting: BTreeSet<FeedKey>,
    pub(super) under_way: BTreeSet<FeedKey>,
    /// Whether queued feeds are left to another process.
    pub(super) is_left: bool,
    pub(super) done: BTreeMap<FeedKey, LearnedPart>,
}

/// Time and constraints of the last learning run of a feed.
#[derive(Debug, Clone)]
pub(super) struct LearnedPart {
    pub(super) at: DateTime<Utc>,
    pub(super) terms: LearnTerms,
}

impl Learning {
    /// Returns `true` if no learning run is waiting or under way.
    pub fn is_at_rest(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
    }

    /// Queues a feed for learning, unless it is already queued or being learned.
    pub(super) fn enqueue(&mut self, feed: FeedKey) {
        if !self.under_way.contains(&feed) && self.waiting.insert(feed) {
            self.queue.push_back(feed);
        }
    }

    /// Takes the next feed from the queue.
    pub(super) fn take_next(&mut self) -> Option<FeedKey> {
        let next = self.queue.pop_front()?;
        self.waiting.remove(&next);
        self.under_way.insert(next);
        Some(next)
    }

    /// Checks whether a learning run for a feed is waiting or under way.
    pub fn is_under_way(&self, feed: FeedKey) -> bool {
        self.waiting.contains(&feed) || self.under_way.contains(&feed)
    }

    /// Checks whether the last learning run of a feed is known.
    pub fn is_known(&self, feed: FeedKey) -> bool {
        self.done.contains_key(&feed)
    }

    /// Forgets the last learning run of a feed.
    pub fn forget(&mut self, feed: FeedKey) {
        self.done.remove(&feed);
    }
}

/// Checks whether a learned plan may determine the polls of a feed: the user allows learning, and no stronger rule applies.
pub fn counts(subscription: &Subscription, settings: &Settings) -> bool {
    subscription.record.feed_settings.learn.unwrap_or(settings.poll.learn)
        && schedule::leaves_room_for_learning(&subscription.state.facts)
}

/// Checks whether a learned plan is based on enough data to be used.
pub fn is_enough(plan: &LearnedPlan) -> bool {
    plan.is_placed() || plan.rhythm.observed_minutes >= WATCHED_MINUTES
}

/// Times of a feed's last polls, stored in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PollTimes {
    /// Time of the last request.
    #[serde(rename = "t", with = "chrono::serde::ts_milliseconds_option")]
    pub last_try: Option<DateTime<Utc>>,
    /// Time of the last successful poll.
    #[serde(rename = "o", with = "chrono::serde::ts_milliseconds_option")]
    pub last_ok: Option<DateTime<Utc>>,
    /// Time of the response whose cache lifetime applies.
    #[serde(rename = "r", with = "chrono::serde::ts_milliseconds_option")]
    pub received_at: Option<DateTime<Utc>>,
    /// `Date` header of the response whose cache lifetime applies.
    #[serde(rename = "d", with = "chrono::serde::ts_milliseconds_option")]
    pub date: Option<DateTime<Utc>>,
    /// Number of polls so far.
    #[serde(rename = "n")]
    pub polls: u32,
    /// Number of bytes that the polls so far received.
    #[serde(rename = "b", default, skip_serializing_if = "is_default")]
    pub polled_bytes: u64,
    /// Next poll time that the learned plan computed after the last successful poll.
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedAnswer>,
}

impl PollTimes {
    /// Copies the times from the state of a feed.
    pub fn of(state: &FeedState) -> Self {
        let cache = state.facts.cache;
        Self {
            last_try: state.facts.last_try,
            last_ok: state.facts.last_ok,
            received_at: cache.map(|cache| cache.received_at),
            date: cache.and_then(|cache| cache.date),
            polls: state.polls,
            polled_bytes: state.polled_bytes,
            learned: state.facts.learned.as_ref().and_then(|learned| learned.answered),
        }
    }

    /// Writes the times to the state of a feed.
    pub fn set_in(&self, state: &mut FeedState) {
        state.facts.last_try = self.last_try;
        state.facts.last_ok = self.last_ok;
        if let Some(cache) = &mut state.facts.cache {
            cache.received_at = self.received_at.unwrap_or(cache.received_at);
            cache.date = self.date;
        }
        if let Some(learned) = &mut state.facts.learned {
            learned.answered = self.learned;
        }
        state.polls = self.polls;
        state.polled_bytes = self.polled_bytes;
    }

    /// Checks whether two states of a feed differ only in the values that this record contains.
    pub fn are_all_that_differs(before: &FeedState, after: &FeedState) -> bool {
        if before.facts.cache.is_some() != after.facts.cache.is_some() {
            return false;
        }
        let mut before = before.clone();
        // Ignore settings and learned plans, because the stored state does not contain them.
        before.facts.settings = after.facts.settings.clone();
        if let (Some(before), Some(after)) = (&mut before.facts.learned, &after.facts.learned) {
            before.plan.clone_from(&after.plan);
        }
        Self::of(after).set_in(&mut before);
        before == *after
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::poll::poll_stage::*;
    use backissue_core::schedule::{CacheState, Learned, Lifetime};

    fn state(second: i64) -> FeedState {
        let at = DateTime::from_timestamp(1_770_000_000 + second, 0);
        let mut state = FeedState { polls: 7, status: Some(304), ..FeedState::default() };
        state.facts.last_try = at;
        state.facts.last_ok = at;
        state.facts.cache = at.map(|received_at| CacheState {
            received_at,
            lifetime: Lifetime::MaxAge(60),
            date: at,
            age_seconds: 0,
        });
        state
    }

    #[test]
    fn poll_times_update_an_unchanged_state() {
        let (mut before, mut after) = (state(0), state(3600));
        after.polls = 8;
        assert!(PollTimes::are_all_that_differs(&before, &after));
        PollTimes::of(&after).set_in(&mut before);
        assert_eq!(before, after);
    }

    #[test]
    fn learned_plan_result_is_part_of_the_times() {
        let (mut before, mut after) = (state(0), state(3600));
        let answered =
            |last: i64| LearnedAnswer { last, next: [last + 900, last + 1800, last + 3600] };
        let learned = |last| Learned { answered: Some(answered(last)), ..Learned::every(1800) };
        before.facts.learned = Some(learned(0));
        after.facts.learned = Some(learned(3600));
        after.facts.settings.min_seconds = 60;
        assert!(PollTimes::are_all_that_differs(&before, &after));
        PollTimes::of(&after).set_in(&mut before);
        assert_eq!(before.facts.learned, after.facts.learned);
        after.facts.learned = Some(Learned::every(60));
        assert!(!PollTimes::are_all_that_differs(&before, &after));
    }

    #[test]
    fn any_other_difference_is_more_than_times() {
        let before = state(0);
        let edits: [fn(&mut FeedState); 4] = [
            |state| state.status = Some(200),
            |state| state.facts.cache = None,
            |state| state.facts.failures = 1,
            |state| state.trouble = Some("it timed out".into()),
        ];
        for edit in edits {
            let mut after = state(3600);
            edit(&mut after);
            assert!(!PollTimes::are_all_that_differs(&before, &after), "{after:?}");
            assert!(!PollTimes::are_all_that_differs(&after, &before), "{after:?}");
        }
    }
}
