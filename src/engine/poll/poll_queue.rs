//! Adds polls to the queues of their sites, and records the results of polls.

use chrono::{DateTime, Utc};

use super::classify_response::SIGN_IN_WANTED;
use super::fetch::Purpose;
use super::plans;
use super::poll_log::PollCause;
use super::poll_results::{PollOutcome, PollResult};
use super::poll_stage::{Poll, PollStage};
use crate::engine::event::Event;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::state::Engine;
use backissue_core::history::FeedKey;

/// Adds a poll of a feed to the queue of the feed's site, unless the feed is being polled already.
pub fn enqueue(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, cause: PollCause) {
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    if engine.polls.contains_key(&feed) {
        return;
    }
    if engine.polls.is_empty() {
        engine.poll_run.begin_anew();
    }
    let settled_by = Some(subscription.plan.settled_by);
    let poll = Poll { queued_at: Some(now), settled_by, ..Poll::at(PollStage::Waiting) };
    engine.polls.insert(feed, poll);
    engine.timetable.remove(&feed);
    engine.poll_run.begin_poll(feed);
    let waiting =
        Waiting { url: subscription.record.url.clone(), purpose: Purpose::Poll(feed), cause };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
}

/// Removes the waiting poll of a feed from the queue if, after a change of its settings, the poll is no longer due.
pub fn withdraw_early(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let is_due = subscription.plan.next_poll.is_some_and(|at| at <= now);
    let poll = engine.polls.get(&feed);
    let may_leave =
        poll.is_some_and(|poll| poll.stage == PollStage::Waiting && poll.again.is_none());
    if is_due || !may_leave {
        return;
    }
    let left = engine.host_queue.take_waiting(|waiting| {
        waiting.purpose == Purpose::Poll(feed) && waiting.cause == PollCause::Due
    });
    if !left.is_empty() {
        engine.polls.remove(&feed);
        engine.poll_run.forget(feed);
        plans::replan(engine, feed, now);
    }
}

/// Records the end of a poll with any outcome.
pub fn end_poll(engine: &mut Engine, now: DateTime<Utc>, result: PollResult) {
    engine.polls.remove(&result.feed);
    engine.poll_run.end_poll(result.feed);
    engine.poll_run.new = engine.poll_run.new.saturating_add(result.new);
    if result.outcome == PollOutcome::Failed {
        engine.poll_run.failed = engine.poll_run.failed.saturating_add(1);
    }
    plans::replan(engine, result.feed, now);
    note_result(engine, result);
}

/// Keeps the result of a poll for the clients that requested polls, and emits an event.
pub fn note_result(engine: &mut Engine, result: PollResult) {
    engine.poll_run.note(result.clone());
    engine.tell(Event::Polled(Box::new(result)));
}

/// Returns the result of a poll that was not possible because there is no network, or only a captive portal.
pub fn without_network(engine: &Engine, feed: FeedKey) -> PollResult {
    let wants_sign_in = engine.reachability.wants_sign_in;
    let why = if wants_sign_in { SIGN_IN_WANTED } else { "there is no network" };
    PollResult::empty(feed, PollOutcome::Failed, Some(why.to_owned()))
}
