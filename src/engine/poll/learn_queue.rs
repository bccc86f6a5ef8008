//! The feeds whose rhythm is to be learned or is being learned, and whether what is learned of a feed counts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::engine::feeds::subscription::Subscription;
use crate::engine::settings::Settings;
use backissue_core::history::FeedKey;
use backissue_core::schedule;
use backissue_core::schedule::learning::{LearnTerms, LearnedPlan, Publications};

/// Too few publications to place polls still say how often a feed is worth polling, once they were watched for so many
/// minutes: two weeks.
const WATCHED_MINUTES: i64 = 14 * 1440;

/// What is to be learned.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnWanted {
    /// The feed.
    pub feed: FeedKey,
    /// When it published.
    pub publications: Arc<Publications>,
    /// What the reader asks of its plan.
    pub terms: LearnTerms,
    /// Now.
    pub now: DateTime<Utc>,
}

/// What is being learned.
#[derive(Debug, Clone, Default)]
pub struct Learning {
    /// In the order in which they were asked for.
    queue: VecDeque<FeedKey>,
    /// Those in the queue.
    waiting: BTreeSet<FeedKey>,
    pub(super) under_way: BTreeSet<FeedKey>,
    pub(super) done: BTreeMap<FeedKey, Done>,
}

/// When a feed was learned, and for what.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) at: DateTime<Utc>,
    pub(super) terms: LearnTerms,
}

impl Learning {
    /// Nothing waits and nothing is under way.
    pub fn is_at_rest(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
    }

    /// Has a feed learned when its turn comes.
    pub(super) fn enqueue(&mut self, feed: FeedKey) {
        if !self.under_way.contains(&feed) && self.waiting.insert(feed) {
            self.queue.push_back(feed);
        }
    }

    /// Takes the feed whose turn it is.
    pub(super) fn take_next(&mut self) -> Option<FeedKey> {
        let next = self.queue.pop_front()?;
        self.waiting.remove(&next);
        self.under_way.insert(next);
        Some(next)
    }

    /// Whether a feed waits to be learned, or is being learned.
    pub fn is_under_way(&self, feed: FeedKey) -> bool {
        self.waiting.contains(&feed) || self.under_way.contains(&feed)
    }

    /// Whether it is known when a feed was learned.
    pub fn is_known(&self, feed: FeedKey) -> bool {
        self.done.contains_key(&feed)
    }

    /// What was learned of a feed does not count any more.
    pub fn forget(&mut self, feed: FeedKey) {
        self.done.remove(&feed);
    }
}

/// Whether what is learned of a feed decides when it is polled: the reader lets it, and nobody says anything stronger.
pub fn counts(subscription: &Subscription, settings: &Settings) -> bool {
    subscription.record.feed_settings.learn.unwrap_or(settings.poll.learn)
        && schedule::leaves_room_for_learning(&subscription.state.facts)
}

/// Whether enough is known for a plan to count.
pub fn is_enough(plan: &LearnedPlan) -> bool {
    plan.is_placed() || plan.rhythm.observed_minutes >= WATCHED_MINUTES
}
