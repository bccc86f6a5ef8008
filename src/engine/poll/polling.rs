//! Steps of a poll: queue the feed when it is due, send the request, classify the response, write the result, and plan the next
//! poll.

use chrono::{DateTime, Utc};

use super::apply_response::{AppliedResponse, apply_response};
use super::classify_response::worth_asking_again;
use super::current_document::{PollAnswer, decide, find_current};
use super::fetch::{FetchId, Fetched, Purpose};
use super::poll_log::{PollCause, PollOutcome, PollResult};
use super::poll_request::{Again, Sent};
use super::poll_stage::{NamedCurrent, News, Poll, PollStage};
use super::start_fetches::{self, end_poll, enqueue, start};
use crate::engine::backfill::{archive_response, walks};
use crate::engine::change::value::FeedParts;
use crate::engine::feeds::addresses::subscribed_as;
use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits::{keep_unasked_away, note_network, turn};
use crate::engine::request::Event;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::history::FeedKey;
use backissue_core::schedule::{self, FeedStatus, PollFailure};

/// Queues the feeds that are due and starts the requests that the limits allow.
pub fn tick(engine: &mut Engine, now: DateTime<Utc>) {
    let awaits_room = engine.room_awaited.is_some_and(|until| now < until);
    if engine.is_polling_by_itself() && !awaits_room {
        let mut due = Vec::new();
        while let Some(feed) = engine.timetable.take_due(now) {
            due.push(feed);
        }
        keep_unasked_away(engine, now, &mut due);
        // Queue the feed that is most overdue relative to its interval first (SPEC A.9), unless feeds of a host take turns (B.4.3).
        let urgency =
            |feed: &FeedKey| engine.feeds.get(feed).map(|feed| schedule::urgency(&feed.plan, now));
        due.sort_by_key(|&feed| (turn(engine, feed), std::cmp::Reverse(urgency(&feed))));
        for feed in due {
            enqueue(engine, now, feed, PollCause::Due);
        }
    }
    start(engine, now);
}

/// Handles the result of a fetch for a poll.
pub fn fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    id: FetchId,
    waiting: &Waiting,
    feed: FeedKey,
    fetched: Fetched,
) {
    let mine = engine.polls.get(&feed).is_some_and(|poll| poll.fetch == Some(id));
    if !mine || !engine.feeds.contains_key(&feed) {
        return start(engine, now);
    }
    if !note_network(engine, now, &waiting.url, &fetched, Some(feed)) {
        apply_or_repeat(engine, now, waiting, feed, fetched);
    }
    start(engine, now);
}

/// Applies the response to a poll, or repeats the request if the response requires that (SPEC C.2, C.8.1, D.2).
fn apply_or_repeat(
    engine: &mut Engine,
    now: DateTime<Utc>,
    waiting: &Waiting,
    feed: FeedKey,
    fetched: Fetched,
) {
    let (Some(subscription), Some(poll)) =
        (engine.feeds.get_mut(&feed), engine.polls.get_mut(&feed))
    else {
        return;
    };
    poll.sent.others_answer = engine.reachability.others_answer(now, &waiting.url);
    if let Some(named) = poll.current.take() {
        return answered(engine, feed, waiting.cause, fetched, Some(*named));
    }
    let is_doubtful = || {
        let doubtful = archive_response::is_doubtful(subscription, &poll.sent.url, &fetched);
        doubtful.then_some(Again::Verify)
    };
    let again = match poll.again {
        Some(_) => None,
        None => worth_asking_again(&fetched, &poll.sent).or_else(is_doubtful),
    };
    let Some(again) = again else {
        return follow_or_apply(engine, feed, waiting.cause, fetched);
    };
    if let Some(days) = again.days_without_deltas() {
        subscription.state.habits.refuse_deltas(now, days);
    }
    let delta = fetched.result.as_ref().ok().filter(|answer| answer.status == 226);
    let entries = delta.and_then(|answer| answer.body.feed()).map(|delta| delta.entries.len());
    poll.verifies =
        entries.filter(|_| again == Again::Verify).and_then(|it| u32::try_from(it).ok());
    if poll.verifies.is_some() {
        subscription.state.habits.verifies_delta(now);
    }
    (poll.again, poll.stage) = (Some(again), PollStage::Waiting);
    engine.host_queue.enqueue(waiting.clone(), &engine.settings.network);
}

/// Applies the response to a poll. If the response names a current document, requests that document first (SPEC C.2 rule 3).
fn follow_or_apply(engine: &mut Engine, feed: FeedKey, cause: PollCause, fetched: Fetched) {
    let (Some(subscription), Some(poll)) = (engine.feeds.get(&feed), engine.polls.get_mut(&feed))
    else {
        return;
    };
    let Some((to, once)) = find_current(subscription, &fetched) else {
        return answered(engine, feed, cause, fetched, None);
    };
    let (asked, sent) = (subscription.record.url.clone(), std::mem::take(&mut poll.sent));
    let waiting = Waiting { url: to.clone(), purpose: Purpose::Poll(feed), cause };
    poll.current = Some(Box::new(NamedCurrent { to, once, asked, sent, fetched }));
    poll.stage = PollStage::Waiting;
    engine.host_queue.enqueue(waiting, &engine.settings.network);
}

/// Classifies the response to a poll and writes its changes. If the response is from a current document, `named` is the document
/// that named it.
fn answered(
    engine: &mut Engine,
    feed: FeedKey,
    cause: PollCause,
    fetched: Fetched,
    named: Option<NamedCurrent>,
) {
    let Some(mut subscription) = engine.feeds.remove(&feed) else { return };
    let proposed = subscription.state.proposed.clone();
    let poll = engine.polls.entry(feed).or_insert_with(|| Poll::at(PollStage::Writing));
    poll.stage = PollStage::Writing;
    poll.before = Some(Box::new(FeedParts::of(&subscription)));
    let sent = Sent { verifies: poll.verifies, ..std::mem::take(&mut poll.sent) };
    let (settled_by, queued_at) = (poll.settled_by, poll.queued_at);
    let taken = |url: &str| subscribed_as(engine, url).is_some();
    let PollAnswer { sent, fetched, archive, moved: is_corrected } = match named {
        Some(named) => {
            let taken = taken(&named.to);
            decide(&mut subscription, named, fetched, taken)
        }
        None => PollAnswer { sent, fetched, archive: None, moved: false },
    };
    let (wire_bytes, conditional) = (fetched.wire_bytes, fetched.conditional);
    let AppliedResponse { mut commit, moved } =
        apply_response(&mut subscription, cause, &sent, fetched, &taken);
    if let Some(date) = subscription.state.facts.cache.and_then(|cache| cache.date) {
        engine.compare_clock(date, commit.fetched_at);
    }
    let record = &subscription.record;
    if is_corrected {
        commit.record = Some(record.clone());
    }
    let is_asked = commit.state.proposed.is_some() && commit.state.proposed != proposed;
    let told = told_of_address(record, is_corrected, moved, is_asked);
    if let Some(line) = &mut commit.log {
        let queued = queued_at.map_or(0, |since| (line.at - since).num_seconds());
        line.queued_seconds = u32::try_from(queued).unwrap_or(0);
        line.settled_by = settled_by;
    }
    engine.feeds.insert(feed, subscription);
    if let Some(poll) = engine.polls.get_mut(&feed) {
        poll.archive = archive.map(Box::new);
        (poll.wire_bytes, poll.conditional) = (wire_bytes, conditional);
        poll.moved = moved || is_corrected;
    }
    if commit.record.is_some() {
        engine.tell(Event::FeedsChanged);
    }
    if let Some(text) = told {
        engine.say(text);
    }
    engine.store(Job::Commit(Box::new(commit)));
}

/// Returns the notice for the user if a poll changed the address or proposes another one.
fn told_of_address(
    record: &SubscriptionRecord,
    is_corrected: bool,
    moved: bool,
    is_asked: bool,
) -> Option<String> {
    let (title, url) = (record.shown_title(), &record.url);
    let cases = [
        (
            is_corrected,
            format!("'{title}' is now read from {url}: its old address was one of its archives"),
        ),
        (moved, format!("'{title}' moved to {url}")),
        (is_asked, format!("'{title}' says that it moved · see Attention")),
    ];
    cases.into_iter().find_map(|(holds, text)| holds.then_some(text))
}

/// Stores the first document of a feed that was just subscribed to or got another address. If it is a current document, `named` is
/// the document that named it.
pub fn first_document(
    engine: &mut Engine,
    feed: FeedKey,
    cause: PollCause,
    fetched: Fetched,
    named: Option<NamedCurrent>,
) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    engine.timetable.remove(&feed);
    subscription.state.facts.last_try = Some(fetched.started);
    // The stored address is already the target of the redirects, so they do not move the feed again.
    if engine.polls.is_empty() {
        engine.poll_run.begin_anew();
    }
    engine.polls.insert(feed, Poll::at(PollStage::Writing));
    engine.poll_run.begin_poll(feed);
    if named.is_some() {
        answered(engine, feed, cause, fetched, named);
    } else {
        follow_or_apply(engine, feed, cause, fetched);
    }
}

/// Ends a poll whose result is durable: emits its events, and plans the next poll.
pub fn committed(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, news: News) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    if let Some(before) = engine.polls.get_mut(&feed).and_then(|poll| poll.uncounted.take()) {
        subscription.state = before;
        engine.save_state(feed);
        let ended = start_fetches::without_network(engine, feed);
        return end_poll(engine, now, ended);
    }
    let state = &subscription.state;
    let outcome = match (&state.trouble, state.status) {
        (Some(_), _) => PollOutcome::Failed,
        (None, Some(304)) => PollOutcome::NotModified,
        (None, _) => PollOutcome::Read,
    };
    let archive = engine.polls.get_mut(&feed).and_then(|poll| poll.archive.take());
    let poll = engine.polls.get(&feed);
    let (wire_bytes, conditional, moved) =
        poll.map_or((0, false, false), |poll| (poll.wire_bytes, poll.conditional, poll.moved));
    let with_archives = poll.is_none_or(|poll| poll.archives);
    let news_of_feed = poll.and_then(|poll| poll.before.as_ref()).map_or_else(Vec::new, |before| {
        news_since(feed, &before.state, &before.record.url, (state, &subscription.record.url))
    });
    let reason = state.trouble.clone();
    let News { new, edited, withdrawn } = news;
    let status = state.status;
    let result = PollResult {
        status,
        wire_bytes,
        conditional,
        new,
        edited,
        withdrawn,
        moved,
        ..PollResult::empty(feed, outcome, reason)
    };
    end_poll(engine, now, result);
    for event in news_of_feed {
        engine.tell(event);
    }
    if outcome != PollOutcome::Failed {
        walks::checked(engine, now, feed, archive, with_archives);
    }
}

/// Returns the events that a poll caused if the feed recovered, moved, or may have moved.
fn news_since(
    feed: FeedKey,
    before: &FeedState,
    from: &str,
    (after, to): (&FeedState, &str),
) -> Vec<Event> {
    let mut news = Vec::new();
    if let (Some(since), None) = (before.failing_since, after.failing_since) {
        news.push(Event::Recovered { feed, since });
    }
    if from != to {
        news.push(Event::Moved { feed, from: from.to_owned(), to: to.to_owned() });
    }
    if let Some(proposed) = after.proposed.as_ref().filter(|_| before.proposed != after.proposed) {
        news.push(Event::MoveProposed { feed, from: to.to_owned(), to: proposed.to.clone() });
    }
    news
}

/// Reverts a poll whose result could not be written, so that validators of a document that was not stored are never sent. The feed
/// is polled again later. If the disk was full, this does not count as a failure of the feed.
pub fn commit_failed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    why: &str,
    no_room: bool,
) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let before = engine.polls.get_mut(&feed).and_then(|poll| poll.before.take());
    let answered = &subscription.state.facts;
    let (waits, standing) = ((answered.retry_after, answered.host_wait), answered.standing);
    if let Some(before) = before {
        // Keep the settings that the user changed during the poll, because they are written separately.
        let chosen = subscription.record.chosen();
        let FeedParts { state, record, .. } = *before;
        (subscription.state, subscription.record) = (state, record);
        subscription.record.choose(chosen);
    }
    if no_room {
        // Keep the wait that the server asked for, although the wait cannot be written (SPEC B.4 rule 3, S1.13).
        let facts = &mut subscription.state.facts;
        (facts.retry_after, facts.host_wait) = waits;
        if standing == FeedStatus::Gone {
            facts.standing = standing;
        }
        let result = PollResult::empty(feed, PollOutcome::Failed, Some(why.to_owned()));
        end_poll(engine, now, result);
        return;
    }
    let nothing = schedule::TimingHeaders::default();
    subscription.state.facts.record_failure(PollFailure::Unreadable, &nothing, now, now);
    subscription.state.failing_since.get_or_insert(now);
    subscription.state.trouble = Some(why.to_owned());
    let status = subscription.state.status;
    let result = PollResult::empty(feed, PollOutcome::Failed, Some(why.to_owned()));
    end_poll(engine, now, PollResult { status, ..result });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::feeds::subscription::{ProposedFor, ProposedMove, Subscription};
    use crate::engine::request::TroubleAnswer;
    use crate::engine::settings::Settings;
    use crate::engine::store_results::stored_or_failed;
    use crate::engine::store_work::{JobSubject, StoreFailure, Stored};

    const FEED: FeedKey = FeedKey(1);
    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    /// Returns an engine with a feed that has a proposed move and whose poll result is being written.
    fn engine() -> Engine {
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), NOW);
        let record = SubscriptionRecord { url: "https://a.example/".into(), ..Default::default() };
        let mut subscription = Subscription::new(FEED, record);
        let to = "https://b.example/".to_owned();
        subscription.state.proposed =
            Some(ProposedMove { to, because: ProposedFor::Move, public: true, since: NOW });
        let mut poll = Poll::at(PollStage::Writing);
        poll.before = Some(Box::new(FeedParts::of(&subscription)));
        engine.feeds.insert(FEED, subscription);
        engine.polls.insert(FEED, poll);
        engine
    }

    fn is_asked(engine: &Engine) -> (&str, bool) {
        let feed = &engine.feeds[&FEED];
        (&feed.record.url, feed.state.proposed.is_some())
    }

    #[test]
    fn failed_poll_write_keeps_later_answers() {
        let mut engine = engine();
        let answer = TroubleAnswer::AcceptMove;
        crate::engine::feeds::trouble::apply_answer(&mut engine, NOW, FEED, answer).unwrap();
        assert_eq!(is_asked(&engine), ("https://b.example/", false));
        commit_failed(&mut engine, NOW, FEED, "the disk is full", true);
        assert_eq!(is_asked(&engine), ("https://b.example/", false));
    }

    #[test]
    fn failed_poll_and_answer_restore_the_original() {
        let mut engine = engine();
        let answer = TroubleAnswer::AcceptMove;
        crate::engine::feeds::trouble::apply_answer(&mut engine, NOW, FEED, answer).unwrap();
        let mut effects = std::mem::take(&mut engine.effects);
        crate::engine::store_results::register_work(&mut engine, &mut effects);
        let id = *engine.pending.keys().next().unwrap();
        let result = Err(StoreFailure { no_room: true, .."the disk is full".into() });
        let stored = Stored { id, subject: JobSubject::Records, counters: Vec::new(), result };
        stored_or_failed(&mut engine, NOW, stored);
        commit_failed(&mut engine, NOW, FEED, "the disk is full", true);
        assert_eq!(is_asked(&engine), ("https://a.example/", true));
    }
}
