//! Cancels polls that are no longer wanted.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::fetch::Purpose;
use super::poll_queue::end_poll;
use super::poll_results::{PollOutcome, PollResult};
use super::start_fetches;
use crate::engine::effect::Effect;
use crate::engine::politeness::drop_fetches::drop_walk;
use crate::engine::state::Engine;
use backissue_core::history::FeedKey;

/// Reason in the result of a cancelled poll.
const WHY: &str = "interrupted";

/// Cancels the waiting polls and the archive walks of these feeds. A later poll starts a new walk. Polls whose requests are under
/// way end normally, but start no walk. Feeds that are due are polled when due feeds are next queued automatically.
pub fn stop(engine: &mut Engine, now: DateTime<Utc>, feeds: Vec<FeedKey>) -> Vec<Effect> {
    let feeds: BTreeSet<FeedKey> = feeds.into_iter().collect();
    let dropped = engine.host_queue.take_waiting(|waiting| match waiting.purpose {
        Purpose::Poll(feed) => feeds.contains(&feed),
        Purpose::Archive(_) | Purpose::FullText(_) | Purpose::Picture(_) | Purpose::Discover(_) => {
            false
        }
    });
    for waiting in dropped {
        if let Purpose::Poll(feed) = waiting.purpose {
            let why = Some(WHY.to_owned());
            end_poll(engine, now, PollResult::empty(feed, PollOutcome::Skipped, why));
        }
    }
    let mut effects = Vec::new();
    for feed in feeds {
        if let Some(poll) = engine.polls.get_mut(&feed) {
            poll.archives = false;
        }
        if engine.backfills.contains_key(&feed) {
            effects.extend(drop_walk(engine, feed));
        }
    }
    effects.extend(start_fetches::start(engine, now));
    effects
}
