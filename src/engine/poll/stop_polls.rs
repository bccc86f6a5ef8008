//! Whoever asked for polls does not want them any more.

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

/// Told of a poll that was given up.
const WHY: &str = "interrupted";

/// Gives up the polls of these feeds that wait, and their walks, which go on after a later check. What is on its way ends as it
/// would, without a walk behind it. A feed that is due is polled again when polls fall due by themselves.
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
