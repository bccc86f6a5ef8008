//! The journey of a poll: due, queued, asked, judged, committed, planned anew.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::feeds_pane;
use super::fetching::{FetchId, Fetched, Manner, Purpose, Request};
use super::model::Model;
use super::planning;
use super::poll_log::PollCause;
use super::settling::settle;
use super::subscription::{FeedState, SubscriptionRecord, Validators};
use super::traffic::{Waiting, is_loopback};
use crate::history::{Counters, FeedKey};
use crate::schedule::{self, ByHand, Failure};

/// Results kept for whoever asked; the oldest go first.
const RESULTS_MAX: usize = 20_000;

/// A poll between due and planned anew.
#[derive(Debug, Clone, PartialEq)]
pub struct Poll {
    /// How far it is.
    pub stage: Stage,
    /// The fetch it waits for.
    fetch: Option<FetchId>,
    /// Bytes of the body as they came over the wire.
    wire_bytes: u64,
    /// Validators were sent.
    conditional: bool,
    /// It was asked a second time, as SPEC D.2 allows once.
    again: bool,
    /// The feed as it was before the answer, to go back to if the answer cannot be written.
    before: Option<Box<(FeedState, SubscriptionRecord)>>,
}

impl Poll {
    const fn at(stage: Stage) -> Self {
        Self { stage, fetch: None, wire_bytes: 0, conditional: false, again: false, before: None }
    }
}

/// How far a poll is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It waits for its site.
    Waiting,
    /// Its request is under way.
    Asking,
    /// Its answer is being written.
    Writing,
}

/// Which feeds the reader wants polled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollWish {
    /// The feeds; `None`: all.
    pub feeds: Option<Vec<FeedKey>>,
    /// Why.
    pub wish: Wish,
}

/// What kind of poll is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Those that are due.
    Due,
    /// Those a manual refresh may poll (SPEC B.8).
    Allowed,
    /// The same, without validators.
    Forced,
}

/// The polls since the program was last at rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Polls begun.
    pub asked: u32,
    /// Polls ended.
    pub done: u32,
    /// Of them, failed ones.
    pub failed: u32,
    /// New entries they brought.
    pub new: u32,
    /// What came of each, in order of their ends; the last [`RESULTS_MAX`] of them.
    pub results: VecDeque<PollResult>,
    /// Results ever noted.
    pub noted: u64,
}

impl Run {
    /// The results noted after the first `noted` ones.
    pub fn since(&self, noted: u64) -> impl Iterator<Item = &PollResult> {
        let fresh = usize::try_from(self.noted.saturating_sub(noted)).unwrap_or(usize::MAX);
        self.results.iter().skip(self.results.len().saturating_sub(fresh))
    }
}

/// What came of one poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollResult {
    /// The feed.
    pub feed: FeedKey,
    /// How it ended.
    pub outcome: PollOutcome,
    /// Status of the answer; `None` if none came.
    pub status: Option<u16>,
    /// Bytes of the body as they came over the wire.
    pub wire_bytes: u64,
    /// A conditional request was made.
    pub conditional: bool,
    /// Entries never seen before.
    pub new: u32,
    /// Entries whose content changed.
    pub edited: u32,
    /// What went wrong, or why it was not polled; a sentence fragment.
    pub reason: Option<String>,
}

/// How a poll ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollOutcome {
    /// A document was read.
    Read,
    /// The publisher says nothing changed.
    NotModified,
    /// It failed.
    Failed,
    /// It was not made.
    Skipped,
}

/// Time passed: what is due joins its queue, what may start starts.
pub fn tick(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if model.polls_by_itself && !model.offline {
        let mut due = Vec::new();
        while let Some(feed) = model.timetable.take_due(now) {
            due.push(feed);
        }
        // The longest overdue by its own measure first (SPEC A.9).
        let urgency =
            |feed: &FeedKey| model.feeds.get(feed).map(|feed| schedule::urgency(&feed.plan, now));
        due.sort_by_key(|feed| std::cmp::Reverse(urgency(feed)));
        for feed in due {
            enqueue(model, feed, PollCause::Due);
        }
    }
    start(model, now)
}

/// The reader asks for polls.
pub fn ask(model: &mut Model, now: DateTime<Utc>, wish: &PollWish) -> Vec<Effect> {
    // Who asks by hand is not kept waiting by the spread at start-up.
    model.traffic.not_before = None;
    let feeds = wish.feeds.clone().unwrap_or_else(|| model.feeds.keys().copied().collect());
    for feed in feeds {
        match refusal(model, feed, now, wish.wish) {
            Some(reason) => skip(model, feed, reason),
            None if wish.wish == Wish::Forced => enqueue(model, feed, PollCause::Forced),
            None => enqueue(model, feed, PollCause::Asked),
        }
    }
    start(model, now)
}

/// Why a feed may not be polled now although the reader asks; `None`: it may.
fn refusal(model: &Model, feed: FeedKey, now: DateTime<Utc>, wish: Wish) -> Option<String> {
    let Some(subscription) = model.feeds.get(&feed) else {
        return Some("there is no such feed".into());
    };
    if model.offline {
        return Some("backissue was started with --offline".into());
    }
    if model.busy.contains_key(&feed) {
        return Some("it is being polled".into());
    }
    let spared = model.settings.network.space_loopback || !is_loopback(&subscription.record.url);
    match schedule::by_hand(&subscription.state.facts, now, spared) {
        ByHand::Allowed => {}
        ByHand::CoolDown(until) => {
            let seconds = until.signed_duration_since(now).num_seconds();
            return Some(format!(
                "it was polled a moment ago; wait {}",
                schedule::duration_words(seconds)
            ));
        }
        ByHand::Confirm(until) => {
            let seconds = until.signed_duration_since(now).num_seconds();
            return Some(format!(
                "the server asked to be left alone for another {}",
                schedule::duration_words(seconds)
            ));
        }
        ByHand::AtRest => return Some("the publisher ended this feed".into()),
    }
    let due = subscription.plan.next_poll.is_some_and(|at| at <= now);
    (wish == Wish::Due && !due).then(|| "it is not due".into())
}

fn skip(model: &mut Model, feed: FeedKey, reason: String) {
    let result = PollResult {
        feed,
        outcome: PollOutcome::Skipped,
        status: None,
        wire_bytes: 0,
        conditional: false,
        new: 0,
        edited: 0,
        reason: Some(reason),
    };
    note(&mut model.run, result);
}

fn note(run: &mut Run, result: PollResult) {
    if run.results.len() >= RESULTS_MAX {
        run.results.pop_front();
    }
    run.results.push_back(result);
    run.noted = run.noted.saturating_add(1);
}

/// Puts a feed into its site's queue.
pub fn enqueue(model: &mut Model, feed: FeedKey, cause: PollCause) {
    let Some(subscription) = model.feeds.get(&feed) else { return };
    if model.busy.contains_key(&feed) {
        return;
    }
    if model.busy.is_empty() {
        let results = std::mem::take(&mut model.run.results);
        model.run = Run { results, noted: model.run.noted, ..Run::default() };
    }
    model.busy.insert(feed, Poll::at(Stage::Waiting));
    model.timetable.remove(&feed);
    model.run.asked = model.run.asked.saturating_add(1);
    let waiting =
        Waiting { url: subscription.record.url.clone(), purpose: Purpose::Poll(feed), cause };
    model.traffic.enqueue(waiting, &model.settings.network);
}

/// Starts what the queues allow.
pub fn start(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let mut effects = Vec::new();
    for (id, waiting) in model.traffic.start(now, &model.settings.network) {
        let mut request = Request {
            manner: if waiting.cause == PollCause::Forced { Manner::Fresh } else { Manner::Usual },
            ..Request::typed(id, waiting.url)
        };
        if let Purpose::Poll(feed) = waiting.purpose
            && let Some(subscription) = model.feeds.get_mut(&feed)
        {
            let poll = model.busy.entry(feed).or_insert_with(|| Poll::at(Stage::Asking));
            (poll.stage, poll.fetch) = (Stage::Asking, Some(id));
            let state = &mut subscription.state;
            state.facts.last_try = Some(now);
            if request.manner == Manner::Fresh {
                // A forced refresh forgets the stored validators first (SPEC D.4 rule 8).
                state.validators = Validators::default();
            }
            // They may belong to the end of a redirect: who sends them decides address by address.
            let known = state.validators.etag.is_some() || state.validators.last_modified.is_some();
            request.validators = known.then(|| state.validators.clone());
            effects.push(Effect::SaveState(feed, Box::new(state.clone())));
        }
        effects.push(Effect::Fetch(request));
    }
    effects
}

/// A poll's fetch ended.
pub fn fetched(
    model: &mut Model,
    now: DateTime<Utc>,
    id: FetchId,
    waiting: &Waiting,
    feed: FeedKey,
    fetched: Fetched,
) -> Vec<Effect> {
    let (Some(subscription), Some(poll)) = (model.feeds.get_mut(&feed), model.busy.get_mut(&feed))
    else {
        return start(model, now);
    };
    if poll.fetch != Some(id) {
        return start(model, now);
    }
    if !poll.again
        && let Some(cause) = worth_asking_again(&fetched, waiting.cause)
    {
        poll.again = true;
        poll.stage = Stage::Waiting;
        if cause == PollCause::Forced {
            subscription.state.validators = Validators::default();
        }
        let again = Waiting { cause, ..waiting.clone() };
        model.traffic.enqueue(again, &model.settings.network);
        return start(model, now);
    }
    poll.stage = Stage::Writing;
    poll.wire_bytes = fetched.wire_bytes;
    poll.conditional = fetched.conditional;
    poll.before = Some(Box::new((subscription.state.clone(), subscription.record.clone())));
    let commit = settle(subscription, waiting.cause, fetched);
    let renamed = commit.record.is_some();
    let mut effects = vec![Effect::Commit(Box::new(commit))];
    if renamed {
        feeds_pane::rebuild(model);
    }
    effects.extend(start(model, now));
    effects
}

/// Whether an answer is worth one more request at once, and of what kind (SPEC D.2): without validators where
/// they were refused, past the caches where one answered for the server, on a new connection after a 421.
fn worth_asking_again(fetched: &Fetched, cause: PollCause) -> Option<PollCause> {
    let status = fetched.result.as_ref().ok()?.status;
    match status {
        412 | 416 => Some(PollCause::Forced),
        304 if !fetched.conditional => Some(PollCause::Forced),
        421 => Some(cause),
        _ => None,
    }
}

/// Keeps the first document of a feed that was just subscribed to.
pub fn first_document(model: &mut Model, feed: FeedKey, fetched: Fetched) -> Vec<Effect> {
    let Some(subscription) = model.feeds.get_mut(&feed) else { return Vec::new() };
    model.timetable.remove(&feed);
    subscription.state.facts.last_try = Some(fetched.started);
    let poll = Poll { wire_bytes: fetched.wire_bytes, ..Poll::at(Stage::Writing) };
    model.busy.insert(feed, poll);
    model.run.asked = model.run.asked.saturating_add(1);
    let commit = settle(subscription, PollCause::Subscribed, fetched);
    vec![Effect::Commit(Box::new(commit))]
}

/// What a poll changed is durable: it is reported, and the feed is planned anew.
pub fn committed(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    counters: Counters,
    new: u32,
    edited: u32,
) {
    let Some(subscription) = model.feeds.get_mut(&feed) else { return };
    subscription.counters = counters;
    let state = &subscription.state;
    let outcome = match (&state.trouble, state.status) {
        (Some(_), _) => PollOutcome::Failed,
        (None, Some(304)) => PollOutcome::NotModified,
        (None, _) => PollOutcome::Read,
    };
    let (wire_bytes, conditional) =
        model.busy.get(&feed).map_or((0, false), |poll| (poll.wire_bytes, poll.conditional));
    let reason = state.trouble.clone();
    let result = PollResult {
        feed,
        outcome,
        status: state.status,
        wire_bytes,
        conditional,
        new,
        edited,
        reason,
    };
    ended(model, now, result);
}

/// What a poll changed could not be written: the feed goes back to what it was, so that validators of a document
/// that was never kept are never sent, and is asked again later.
pub fn commit_failed(model: &mut Model, now: DateTime<Utc>, feed: FeedKey, why: &str) {
    let Some(subscription) = model.feeds.get_mut(&feed) else { return };
    let before = model.busy.get_mut(&feed).and_then(|poll| poll.before.take());
    if let Some(before) = before {
        (subscription.state, subscription.record) = *before;
    }
    let nothing = schedule::AnswerHeaders::default();
    subscription.state.facts.record_failure(Failure::Unreadable, &nothing, now, now);
    subscription.state.failing_since.get_or_insert(now);
    subscription.state.trouble = Some(why.to_owned());
    let status = subscription.state.status;
    let reason = Some(why.to_owned());
    let outcome = PollOutcome::Failed;
    ended(
        model,
        now,
        PollResult {
            feed,
            outcome,
            status,
            wire_bytes: 0,
            conditional: false,
            new: 0,
            edited: 0,
            reason,
        },
    );
}

/// A poll ended, one way or the other.
fn ended(model: &mut Model, now: DateTime<Utc>, result: PollResult) {
    model.busy.remove(&result.feed);
    model.run.done = model.run.done.saturating_add(1);
    model.run.new = model.run.new.saturating_add(result.new);
    if result.outcome == PollOutcome::Failed {
        model.run.failed = model.run.failed.saturating_add(1);
    }
    planning::replan(model, result.feed, now);
    note(&mut model.run, result);
}
