//! Polls on the user's request, the reasons for which such a poll is not allowed (SPEC B.8), and polls that are no longer wanted.

use std::collections::BTreeSet;

use backissue_core::history::FeedKey;
use backissue_core::schedule::{self, ByHand};
use backissue_core::words;
use chrono::{DateTime, TimeDelta, Utc};

use super::fetch::Purpose;
use super::poll_log::{PollCause, PollOutcome, PollResult};
use super::poll_request::{PollKind, PollRequest};
use super::start_fetches::{self, end_poll};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::politeness::rate_limits::{self, drop_walk};
use crate::engine::state::Engine;

/// A manual poll of all feeds skips feeds that were polled within this time (SPEC B.8).
const REFRESH_ALL_EVERY: TimeDelta = TimeDelta::minutes(5);

/// Queues the polls that the user requested. Each poll that is not allowed gets a result with the reason.
pub fn ask(engine: &mut Engine, now: DateTime<Utc>, request: &PollRequest) {
    // Start-up delays do not apply to a manual request.
    engine.host_queue.not_before = None;
    let confirmed = engine.confirming.take();
    let all = request.feeds.is_none();
    engine.syncs_asked = engine.syncs_asked.wrapping_add(u32::from(all));
    // A command that polls everything ends with its polls: learning is left to a process that lasts, or that polls what is due.
    engine.learning.is_left = all && request.kind != PollKind::Due && !engine.polls_by_itself;
    let polled_here = engine.feeds.values().filter(|feed| !is_left_to_server(feed));
    let feeds = request.feeds.clone();
    let mut feeds = feeds.unwrap_or_else(|| polled_here.map(|feed| feed.key).collect());
    feeds.sort_by_key(|&feed| rate_limits::turn(engine, feed));
    let single = feeds.len() == 1;
    for feed in feeds {
        let refused = match refusal(engine, feed, now, request.kind, all) {
            Some(Refusal::Confirm(_)) if confirmed == Some(feed) => None,
            refused => refused,
        };
        let reason = match refused {
            None => {
                let forced = request.kind == PollKind::Forced;
                let cause = if forced { PollCause::Forced } else { PollCause::Asked };
                start_fetches::enqueue(engine, now, feed, cause);
                if let Some(poll) = engine.polls.get_mut(&feed) {
                    poll.archives = request.archives;
                }
                continue;
            }
            Some(Refusal::Confirm(reason)) => {
                engine.confirming = Some(feed).filter(|_| single);
                reason
            }
            Some(Refusal::No(reason)) => reason,
        };
        let result = PollResult::empty(feed, PollOutcome::Skipped, Some(reason));
        start_fetches::note_result(engine, result);
    }
    start_fetches::start(engine, now);
}

/// Checks whether a poll of everything leaves a feed to the server of its account.
fn is_left_to_server(feed: &Subscription) -> bool {
    feed.record.feed_settings.is_polled_by_server()
}

/// Reason that a feed is not polled on request.
enum Refusal {
    /// The poll is possible if the user confirms it.
    Confirm(String),
    No(String),
}

fn refusal(
    engine: &Engine,
    feed: FeedKey,
    now: DateTime<Utc>,
    kind: PollKind,
    all: bool,
) -> Option<Refusal> {
    let no = |reason: &str| Some(Refusal::No(reason.to_owned()));
    let Some(subscription) = engine.feeds.get(&feed) else { return no("there is no such feed") };
    if engine.offline {
        return no("backissue was started with --offline");
    }
    if engine.polls.contains_key(&feed) {
        return no("it is being polled");
    }
    let spared = engine.settings.network.space_loopback || !is_loopback(&subscription.record.url);
    let left = |until: DateTime<Utc>| words::duration_words((until - now).num_seconds().max(1));
    match schedule::classify_manual_poll(&subscription.state.facts, now, spared) {
        ByHand::Allowed => {}
        ByHand::CoolDown(until) => {
            return Some(Refusal::No(format!("it was just polled; wait {}", left(until))));
        }
        ByHand::Confirm(until) => {
            let url = &subscription.record.url;
            let asked = || format!("the server asked backissue to wait another {}", left(until));
            let reason = rate_limits::left_alone(engine, now, url).unwrap_or_else(asked);
            return Some(Refusal::Confirm(reason));
        }
        ByHand::AtRest => return no("the publisher ended this feed"),
    }
    let due = subscription.plan.due.or(subscription.plan.next_poll).is_some_and(|at| at <= now);
    if kind == PollKind::Due && !due {
        return no("it is not due");
    }
    let rested = spared.then(|| refreshed_until(subscription)).flatten();
    if let Some(until) = rested.filter(|&until| all && !due && now < until) {
        let reason = format!("all were just polled; wait {}", left(until));
        return Some(Refusal::No(reason));
    }
    None
}

/// Returns the time until which a manual poll of all feeds skips this feed because it was polled recently.
fn refreshed_until(subscription: &Subscription) -> Option<DateTime<Utc>> {
    subscription.state.facts.last_try?.checked_add_signed(REFRESH_ALL_EVERY)
}

/// Polls a feed at once after a decision of the user, such as accepting a move.
pub fn poll_now(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    let feeds = Some(vec![feed]);
    ask(engine, now, &PollRequest { feeds, kind: PollKind::Allowed, archives: true });
}

/// Reason in the result of a cancelled poll.
const WHY: &str = "interrupted";

/// Cancels the waiting polls and the archive walks of these feeds. A later poll starts a new walk. Polls whose requests are under
/// way end normally, but start no walk. Feeds that are due are polled when due feeds are next queued automatically.
pub fn stop(engine: &mut Engine, now: DateTime<Utc>, feeds: Vec<FeedKey>) {
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
    for feed in feeds {
        if let Some(poll) = engine.polls.get_mut(&feed) {
            poll.archives = false;
        }
        if engine.backfills.contains_key(&feed) {
            drop_walk(engine, feed);
        }
    }
    start_fetches::start(engine, now);
}
