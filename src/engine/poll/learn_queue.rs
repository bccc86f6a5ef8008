//! Queue of the feeds whose publication rhythms will be learned, and conditions for using a learned plan.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::engine::feeds::subscription::Subscription;
use crate::engine::settings::Settings;
use backissue_core::history::FeedKey;
use backissue_core::schedule;
use backissue_core::schedule::learning::{LearnTerms, LearnedPlan, Publications};

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
