//! The journey of a poll: due, queued, asked, judged, committed, planned anew.

use chrono::{DateTime, Utc};

use super::apply_response::{AppliedResponse, apply_response};
use super::classify_response::worth_asking_again;
use super::fetch::{FetchId, Fetched};
use super::poll_log::PollCause;
use super::poll_queue::{self, end_poll, enqueue};
use super::poll_request::Again;
use super::poll_results::{PollOutcome, PollResult};
use super::poll_stage::{News, Poll, PollStage};
use super::start_fetches::start;
use crate::engine::backfill::{archive_response, walks};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::addresses::subscribed_as;
use crate::engine::feeds::feed_moves;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits::{NetworkNote, note_network};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::history::{Counters, FeedKey};
use crate::schedule::{self, PollFailure};

/// Time passed: what is due joins its queue, what may start starts.
pub fn tick(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    if engine.polls_by_itself && !engine.offline {
        let mut due = Vec::new();
        while let Some(feed) = engine.timetable.take_due(now) {
            due.push(feed);
        }
        // The longest overdue by its own measure first (SPEC A.9).
        let urgency =
            |feed: &FeedKey| engine.feeds.get(feed).map(|feed| schedule::urgency(&feed.plan, now));
        due.sort_by_key(|feed| std::cmp::Reverse(urgency(feed)));
        for feed in due {
            enqueue(engine, now, feed, PollCause::Due);
        }
    }
    start(engine, now)
}

/// A poll's fetch ended.
pub fn fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    id: FetchId,
    waiting: &Waiting,
    feed: FeedKey,
    fetched: Fetched,
) -> Vec<Effect> {
    let mine = engine.polls.get(&feed).is_some_and(|poll| poll.fetch == Some(id));
    if !mine || !engine.feeds.contains_key(&feed) {
        return start(engine, now);
    }
    let NetworkNote { is_offline, mut effects } =
        note_network(engine, now, &waiting.url, &fetched, Some(feed));
    if !is_offline {
        effects.extend(judge_or_repeat(engine, now, waiting, feed, fetched));
    }
    effects.extend(start(engine, now));
    effects
}

/// An answer is applied, or the feed is asked once more where the answer calls for it (SPEC D.2, C.8.1).
fn judge_or_repeat(
    engine: &mut Engine,
    now: DateTime<Utc>,
    waiting: &Waiting,
    feed: FeedKey,
    fetched: Fetched,
) -> Vec<Effect> {
    let (Some(subscription), Some(poll)) =
        (engine.feeds.get_mut(&feed), engine.polls.get_mut(&feed))
    else {
        return Vec::new();
    };
    poll.sent.others_answer = engine.reachability.others_answer(now, &waiting.url);
    let is_doubtful = || {
        let doubtful = archive_response::is_doubtful(subscription, &poll.sent.url, &fetched);
        doubtful.then_some(Again::Verify)
    };
    let again = match poll.again {
        Some(_) => None,
        None => worth_asking_again(&fetched, &poll.sent).or_else(is_doubtful),
    };
    let Some(again) = again else {
        return answered(engine, feed, waiting.cause, fetched);
    };
    if matches!(again, Again::NoDelta | Again::Whole) {
        subscription.state.habits.refuse_deltas(now);
    }
    (poll.again, poll.stage) = (Some(again), PollStage::Waiting);
    engine.host_queue.enqueue(waiting.clone(), &engine.settings.network);
    Vec::new()
}

/// An answer is judged, and what it changes is handed to the store.
fn answered(engine: &mut Engine, feed: FeedKey, cause: PollCause, fetched: Fetched) -> Vec<Effect> {
    let Some(mut subscription) = engine.feeds.remove(&feed) else { return Vec::new() };
    let poll = engine.polls.entry(feed).or_insert_with(|| Poll::at(PollStage::Writing));
    poll.stage = PollStage::Writing;
    poll.wire_bytes = fetched.wire_bytes;
    poll.conditional = fetched.conditional;
    let Subscription { state, record, history, .. } = &subscription;
    poll.before = Some(Box::new((state.clone(), record.clone(), history.clone())));
    let sent = std::mem::take(&mut poll.sent);
    let (settled_by, queued_at) = (poll.settled_by, poll.queued_at);
    let taken = |url: &str| subscribed_as(engine, url).is_some();
    let AppliedResponse { mut commit, if_shared, moved } =
        apply_response(&mut subscription, cause, &sent, fetched, &taken);
    let text =
        format!("'{}' moved to {}", subscription.record.shown_title(), subscription.record.url);
    if let Some(line) = &mut commit.log {
        let queued = queued_at.map_or(0, |since| (line.at - since).num_seconds());
        line.queued_seconds = u32::try_from(queued).unwrap_or(0);
        line.settled_by = settled_by;
    }
    engine.feeds.insert(feed, subscription);
    if let Some(poll) = engine.polls.get_mut(&feed) {
        poll.if_shared = if_shared;
    }
    if commit.record.is_some() {
        engine.tell(Event::FeedsChanged);
    }
    if moved {
        engine.say(text);
    }
    vec![Effect::store(Job::Commit(Box::new(commit)))]
}

/// Keeps the first document of a feed that was just subscribed to.
pub fn first_document(engine: &mut Engine, feed: FeedKey, fetched: Fetched) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Vec::new() };
    engine.timetable.remove(&feed);
    subscription.state.facts.last_try = Some(fetched.started);
    // The address that is stored is where the redirects led: none of them moves it again.
    if engine.polls.is_empty() {
        engine.poll_run.begin_anew();
    }
    engine.polls.insert(feed, Poll::at(PollStage::Writing));
    engine.poll_run.begin_poll(feed);
    answered(engine, feed, PollCause::Subscribed, fetched)
}

/// What a poll changed is durable: it is reported, and the feed is planned anew.
pub fn committed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    counters: Counters,
    news: News,
) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Vec::new() };
    subscription.counters = counters;
    if let Some(before) = engine.polls.get_mut(&feed).and_then(|poll| poll.uncounted.take()) {
        subscription.state = *before;
        let state = Box::new(subscription.state.clone());
        end_poll(engine, now, poll_queue::without_network(feed));
        return vec![Effect::store(Job::SaveState(feed, state))];
    }
    let state = &subscription.state;
    let outcome = match (&state.trouble, state.status) {
        (Some(_), _) => PollOutcome::Failed,
        (None, Some(304)) => PollOutcome::NotModified,
        (None, _) => PollOutcome::Read,
    };
    let poll = engine.polls.get_mut(&feed);
    let if_shared = poll.and_then(|poll| poll.if_shared.take());
    let (wire_bytes, conditional) =
        engine.polls.get(&feed).map_or((0, false), |poll| (poll.wire_bytes, poll.conditional));
    let reason = state.trouble.clone();
    let News { new, edited, known } = news;
    let status = state.status;
    end_poll(
        engine,
        now,
        PollResult { feed, outcome, status, wire_bytes, conditional, new, edited, reason },
    );
    let mut effects = if_shared.map_or_else(Vec::new, |pending| {
        feed_moves::after_merge(engine, now, feed, pending, known > 0)
    });
    if outcome != PollOutcome::Failed {
        effects.extend(walks::checked(engine, now, feed));
    }
    effects
}

/// What a poll changed could not be written: the feed goes back to what it was, so that validators of a document
/// that was never kept are never sent, and is asked again later.
pub fn commit_failed(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, why: &str) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let before = engine.polls.get_mut(&feed).and_then(|poll| poll.before.take());
    if let Some(before) = before {
        // What the reader chose meanwhile is saved already and stays.
        let chosen = subscription.record.chosen();
        let walking = engine.backfills.contains_key(&feed);
        let (state, record, history) = *before;
        (subscription.state, subscription.record) = (state, record);
        if !walking {
            subscription.history = history;
        }
        subscription.record.choose(chosen);
    }
    let nothing = schedule::TimingHeaders::default();
    subscription.state.facts.record_failure(PollFailure::Unreadable, &nothing, now, now);
    subscription.state.failing_since.get_or_insert(now);
    subscription.state.trouble = Some(why.to_owned());
    let status = subscription.state.status;
    let result = PollResult::empty(feed, PollOutcome::Failed, Some(why.to_owned()));
    end_poll(engine, now, PollResult { status, ..result });
}
