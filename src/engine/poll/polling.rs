//! The journey of a poll: due, queued, asked, judged, committed, planned anew.

use chrono::{DateTime, Utc};

use super::apply_response::PendingMove;
use super::apply_response::Settled;
use super::apply_response::settle;
use super::classify_response::worth_asking_again;
use super::fetch::FetchId;
use super::fetch::Fetched;
use super::fetch::Purpose;
use super::fetch::Reach;
use super::fetch::Request;
use super::plans;
use super::poll_log::PollCause;
use super::poll_results::PollOutcome;
use super::poll_results::PollResult;
use super::redirects;
use super::request;
use super::request::Again;
use super::request::Sent;
use crate::engine::backfill::archive_response;
use crate::engine::backfill::walks;
use crate::engine::effect::Effect;
use crate::engine::entries::full_text;
use crate::engine::feeds::archive_subscription;
use crate::engine::feeds::subscribe::subscribed_as;
use crate::engine::feeds::subscription::FeedState;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::model::Model;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits;
use crate::engine::politeness::reachability::Sign;
use crate::history::{Counters, FeedKey, HistoryRecord};
use crate::schedule::{self, PollFailure, SettledBy};
use crate::ui::panes::feeds_pane;
use crate::ui::reader::pictures;

/// A poll between due and planned anew.
#[derive(Debug, Clone, PartialEq)]
pub struct Poll {
    /// How far it is.
    pub stage: Stage,
    /// When it joined its site's queue.
    queued_at: Option<DateTime<Utc>>,
    /// What had settled its time.
    settled_by: Option<SettledBy>,
    /// The fetch it waits for.
    fetch: Option<FetchId>,
    /// What was sent.
    sent: Sent,
    /// Bytes of the body as they came over the wire.
    wire_bytes: u64,
    /// Validators were sent.
    conditional: bool,
    /// It was asked a second time, as SPEC D.2 allows once.
    again: Option<Again>,
    /// The feed's state before the request, to go back to if the attempt does not count.
    at_start: Option<Box<FeedState>>,
    /// The feed as it was before the answer, to go back to if the answer cannot be written.
    before: Option<Box<(FeedState, SubscriptionRecord, HistoryRecord)>>,
    /// A move that waits for the merge.
    if_shared: Option<PendingMove>,
    /// While its answer was being written, it turned out not to count: the state to go back to.
    pub uncounted: Option<Box<FeedState>>,
}

impl Poll {
    /// Whether no document of the feed was read before.
    pub fn is_first(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.0.facts.last_ok.is_none())
    }

    fn at(stage: Stage) -> Self {
        Self {
            stage,
            queued_at: None,
            settled_by: None,
            fetch: None,
            sent: Sent::default(),
            wire_bytes: 0,
            conditional: false,
            again: None,
            at_start: None,
            before: None,
            if_shared: None,
            uncounted: None,
        }
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
            enqueue(model, now, feed, PollCause::Due);
        }
    }
    start(model, now)
}

/// Puts a feed into its site's queue.
pub fn enqueue(model: &mut Model, now: DateTime<Utc>, feed: FeedKey, cause: PollCause) {
    let Some(subscription) = model.feeds.get(&feed) else { return };
    if model.busy.contains_key(&feed) {
        return;
    }
    if model.busy.is_empty() {
        model.run.begin_anew();
    }
    let settled_by = Some(subscription.plan.settled_by);
    let poll = Poll { queued_at: Some(now), settled_by, ..Poll::at(Stage::Waiting) };
    model.busy.insert(feed, poll);
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
        match waiting.purpose {
            Purpose::Poll(feed) => effects.extend(ask_feed(model, now, id, feed, &waiting)),
            Purpose::Archive(feed) => effects.extend(walks::ask(model, now, id, feed)),
            Purpose::FullText(key) => effects.extend(full_text::ask(model, id, key, waiting.url)),
            Purpose::Picture(key) => effects.extend(pictures::ask(model, id, key, waiting.url)),
            Purpose::Discover(addition) => {
                let reach = model
                    .additions
                    .get(&addition)
                    .map_or(Reach::Typed, archive_subscription::reach);
                let request = Request { reach, ..Request::typed(id, waiting.url) };
                effects.push(Effect::Fetch(request));
            }
        }
    }
    effects
}

fn ask_feed(
    model: &mut Model,
    now: DateTime<Utc>,
    id: FetchId,
    feed: FeedKey,
    waiting: &Waiting,
) -> Vec<Effect> {
    let Some(subscription) = model.feeds.get_mut(&feed) else {
        model.traffic.end(id, now, &model.settings.network);
        return Vec::new();
    };
    let poll = model.busy.entry(feed).or_insert_with(|| Poll::at(Stage::Asking));
    poll.at_start.get_or_insert_with(|| Box::new(subscription.state.clone()));
    let habits = subscription.state.habits.clone();
    let validators = subscription.state.validators.clone();
    let (request, sent) = request::request(subscription, id, waiting.cause, poll.again, now);
    (poll.stage, poll.fetch, poll.sent) = (Stage::Asking, Some(id), sent);
    let state = &mut subscription.state;
    state.facts.last_try = Some(now);
    let more_changed = state.habits != habits || state.validators != validators;
    let saved = if more_changed {
        Effect::SaveState(feed, Box::new(state.clone()))
    } else {
        Effect::SaveTry(feed, now)
    };
    vec![saved, Effect::Fetch(request)]
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
    let at_start = poll.at_start.as_deref().map(|state| (feed, state));
    match model.network.note(now, &waiting.url, &fetched, at_start) {
        Sign::Offline(suspects) => {
            if let Some(before) = poll.at_start.take() {
                subscription.state = *before;
            }
            let state = Box::new(subscription.state.clone());
            ended(model, now, rate_limits::without_network(feed));
            let mut effects = vec![Effect::SaveState(feed, state)];
            effects.extend(rate_limits::went_offline(model, now, suspects));
            effects.extend(start(model, now));
            return effects;
        }
        Sign::Online => rate_limits::came_online(&mut model.traffic),
        Sign::Unclear => {}
    }
    poll.sent.others_answer = model.network.others_answer(now, &waiting.url);
    if poll.again.is_none()
        && let Some(again) = worth_asking_again(&fetched, &poll.sent)
    {
        if matches!(again, Again::NoDelta | Again::Whole) {
            subscription.state.habits.refuse_deltas(now);
        }
        (poll.again, poll.stage) = (Some(again), Stage::Waiting);
        model.traffic.enqueue(waiting.clone(), &model.settings.network);
        return start(model, now);
    }
    if poll.again.is_none() && archive_response::is_doubtful(subscription, &poll.sent.url, &fetched)
    {
        (poll.again, poll.stage) = (Some(Again::Verify), Stage::Waiting);
        model.traffic.enqueue(waiting.clone(), &model.settings.network);
        return start(model, now);
    }
    let mut effects = answered(model, now, feed, waiting.cause, fetched);
    effects.extend(start(model, now));
    effects
}

/// An answer is judged, and what it changes is handed to the store.
fn answered(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    cause: PollCause,
    fetched: Fetched,
) -> Vec<Effect> {
    let Some(mut subscription) = model.feeds.remove(&feed) else { return Vec::new() };
    let poll = model.busy.entry(feed).or_insert_with(|| Poll::at(Stage::Writing));
    poll.stage = Stage::Writing;
    poll.wire_bytes = fetched.wire_bytes;
    poll.conditional = fetched.conditional;
    let Subscription { state, record, history, .. } = &subscription;
    poll.before = Some(Box::new((state.clone(), record.clone(), history.clone())));
    let sent = std::mem::take(&mut poll.sent);
    let asked = sent.url.clone();
    let (settled_by, queued_at) = (poll.settled_by, poll.queued_at);
    let taken = |url: &str| subscribed_as(model, url).is_some();
    let Settled { mut commit, if_shared, host_wait, moved } =
        settle(&mut subscription, cause, &sent, fetched, &taken);
    let text =
        format!("'{}' moved to {}", subscription.record.shown_title(), subscription.record.url);
    if let Some(line) = &mut commit.log {
        let queued = queued_at.map_or(0, |since| (line.at - since).num_seconds());
        line.queued_seconds = u32::try_from(queued).unwrap_or(0);
        line.settled_by = settled_by;
    }
    model.feeds.insert(feed, subscription);
    if let Some(poll) = model.busy.get_mut(&feed) {
        poll.if_shared = if_shared;
    }
    if commit.record.is_some() {
        feeds_pane::rebuild(model);
    }
    if moved {
        model.screen.say(now, text);
    }
    let mut effects = vec![Effect::Commit(Box::new(commit))];
    if let Some(wait) = host_wait {
        effects.extend(rate_limits::spread_wait(model, now, &asked, Some(feed), wait));
    }
    effects
}

/// Keeps the first document of a feed that was just subscribed to.
pub fn first_document(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    fetched: Fetched,
) -> Vec<Effect> {
    let Some(subscription) = model.feeds.get_mut(&feed) else { return Vec::new() };
    model.timetable.remove(&feed);
    subscription.state.facts.last_try = Some(fetched.started);
    // The address that is stored is where the redirects led: none of them moves it again.
    let poll = Poll::at(Stage::Writing);
    model.busy.insert(feed, poll);
    model.run.asked = model.run.asked.saturating_add(1);
    answered(model, now, feed, PollCause::Subscribed, fetched)
}

/// What a poll changed is durable: it is reported, and the feed is planned anew.
pub fn committed(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    counters: Counters,
    news: News,
) -> Vec<Effect> {
    let Some(subscription) = model.feeds.get_mut(&feed) else { return Vec::new() };
    subscription.counters = counters;
    if let Some(before) = model.busy.get_mut(&feed).and_then(|poll| poll.uncounted.take()) {
        subscription.state = *before;
        let state = Box::new(subscription.state.clone());
        ended(model, now, rate_limits::without_network(feed));
        return vec![Effect::SaveState(feed, state)];
    }
    let state = &subscription.state;
    let outcome = match (&state.trouble, state.status) {
        (Some(_), _) => PollOutcome::Failed,
        (None, Some(304)) => PollOutcome::NotModified,
        (None, _) => PollOutcome::Read,
    };
    let poll = model.busy.get_mut(&feed);
    let if_shared = poll.and_then(|poll| poll.if_shared.take());
    let (wire_bytes, conditional) =
        model.busy.get(&feed).map_or((0, false), |poll| (poll.wire_bytes, poll.conditional));
    let reason = state.trouble.clone();
    let News { new, edited, known } = news;
    let status = state.status;
    ended(
        model,
        now,
        PollResult { feed, outcome, status, wire_bytes, conditional, new, edited, reason },
    );
    let mut effects = if_shared.map_or_else(Vec::new, |pending| {
        redirects::after_merge(model, now, feed, pending, known > 0)
    });
    if outcome != PollOutcome::Failed {
        effects.extend(walks::checked(model, now, feed));
    }
    effects
}

/// What a merge brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct News {
    /// Entries never seen before.
    pub new: u32,
    /// Entries whose content changed.
    pub edited: u32,
    /// Entries of the document that were known.
    pub known: u32,
}

/// What a poll changed could not be written: the feed goes back to what it was, so that validators of a document
/// that was never kept are never sent, and is asked again later.
pub fn commit_failed(model: &mut Model, now: DateTime<Utc>, feed: FeedKey, why: &str) {
    let Some(subscription) = model.feeds.get_mut(&feed) else { return };
    let before = model.busy.get_mut(&feed).and_then(|poll| poll.before.take());
    if let Some(before) = before {
        // What the reader chose meanwhile is saved already and stays.
        let chosen = subscription.record.chosen();
        let walking = model.backfills.contains_key(&feed);
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
    ended(model, now, PollResult { status, ..result });
}

/// A poll ended, one way or the other.
pub fn ended(model: &mut Model, now: DateTime<Utc>, result: PollResult) {
    model.busy.remove(&result.feed);
    model.run.done = model.run.done.saturating_add(1);
    model.run.new = model.run.new.saturating_add(result.new);
    if result.outcome == PollOutcome::Failed {
        model.run.failed = model.run.failed.saturating_add(1);
    }
    plans::replan(model, result.feed, now);
    model.run.note(result);
}
