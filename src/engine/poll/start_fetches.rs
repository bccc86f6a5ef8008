//! Adds polls to the queues of their sites, starts waiting fetches with the request for each purpose, and records the results of
//! polls.

use backissue_core::history::walk::archive_walk::{ArchiveContent, ArchiveRequest};
use backissue_core::history::{EntryKey, FeedKey};
use chrono::{DateTime, Utc};

use super::classify_response::SIGN_IN_WANTED;
use super::fetch::{AddressSource, FetchId, FetchRequest, Purpose, RequestKind};
use super::poll_log::{PollOutcome, PollResult};
use super::poll_stage::{Poll, PollStage, counts};
use super::{current_document, learn, poll_request};
use crate::engine::backfill::archive_response::policy;
use crate::engine::backfill::walk_stage::WalkStage;
use crate::engine::feeds::archive_subscription;
use crate::engine::politeness::host_queue::{Waiting, is_loopback};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::request::{Effect, Event};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;

/// Starts the fetches that the limits allow, unless too many writes are pending. The network may be faster than the disk, and
/// results that are not written yet take memory.
pub fn start(engine: &mut Engine, now: DateTime<Utc>) {
    if engine.is_store_behind() {
        return;
    }
    for (id, waiting) in engine.host_queue.start(now, &engine.settings.network) {
        match waiting.purpose {
            Purpose::Poll(feed) => request_poll(engine, now, id, feed, &waiting),
            Purpose::Archive(feed) => request_archive(engine, now, id, feed),
            Purpose::FullText(key) => request_page(engine, id, key, waiting),
            Purpose::Picture(key) => request_picture(engine, id, key, waiting),
            Purpose::Discover(addition) => {
                let typed = FetchRequest::typed(id, waiting.url);
                let request = match engine.additions.get(&addition) {
                    Some(addition) => archive_subscription::request(addition, typed),
                    None => typed,
                };
                engine.carry_out(Effect::Fetch(request));
            }
        }
    }
}

fn request_poll(
    engine: &mut Engine,
    now: DateTime<Utc>,
    id: FetchId,
    feed: FeedKey,
    waiting: &Waiting,
) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else {
        engine.host_queue.end(id, now, &engine.settings.network);
        return;
    };
    let unknown = counts(subscription, &engine.settings) && !engine.learning.is_known(feed);
    let poll = engine.polls.entry(feed).or_insert_with(|| Poll::at(PollStage::Asking));
    poll.at_start.get_or_insert_with(|| subscription.state.clone());
    if let Some(named) = &poll.current {
        let (request, sent) = current_document::request(subscription, named, id);
        (poll.stage, poll.fetch, poll.sent) = (PollStage::Asking, Some(id), sent);
        return engine.carry_out(Effect::Fetch(request));
    }
    let habits = subscription.state.habits.clone();
    let validators = subscription.state.validators.clone();
    let (request, sent) = poll_request::request(subscription, id, waiting.cause, poll.again, now);
    (poll.stage, poll.fetch, poll.sent) = (PollStage::Asking, Some(id), sent);
    let state = &mut subscription.state;
    state.facts.last_try = Some(now);
    let more_changed = state.habits != habits || state.validators != validators;
    if more_changed {
        engine.save_state(feed);
    } else {
        engine.store(Job::SaveTry(feed, now));
    }
    engine.carry_out(Effect::Fetch(request));
    if unknown {
        engine.store(Job::ReadLearned(feed));
    }
}

/// Requests the next archive or page of a walk.
pub fn request_archive(engine: &mut Engine, now: DateTime<Utc>, id: FetchId, feed: FeedKey) {
    let insecure = policy(engine, feed).allow_insecure;
    let request = engine.backfills.get_mut(&feed).and_then(|backfill| {
        (backfill.stage, backfill.fetch) = (WalkStage::Asking, Some(id));
        backfill.request.clone()
    });
    let Some(ArchiveRequest { url, by, by_public: public, content, .. }) = request else {
        engine.host_queue.end(id, now, &engine.settings.network);
        return;
    };
    let redirect_pause_ms = archive_pause_ms(engine, &url);
    engine.carry_out(Effect::Fetch(FetchRequest {
        id,
        url,
        validators: None,
        kind: match content {
            ArchiveContent::Feed => RequestKind::Usual,
            ArchiveContent::Listing => RequestKind::Listing,
            ArchiveContent::Robots => RequestKind::Robots,
        },
        address_source: AddressSource::Supplied { by, public },
        allow_insecure: insecure,
        waits_for_store: false,
        redirect_pause_ms,
    }));
}

/// Returns the pause before each redirect of an archive, and of what is fetched ahead, in milliseconds: it is a request of its own.
fn archive_pause_ms(engine: &Engine, url: &str) -> u64 {
    let network = &engine.settings.network;
    if network.space_loopback || !is_loopback(url) { network.archive_spacing_ms } else { 0 }
}

/// Returns the pause before each redirect of a page or picture, in milliseconds: none if the user waits for it.
fn unasked_pause_ms(engine: &Engine, waiting: &Waiting) -> u64 {
    if waiting.cause == PollCause::Due { archive_pause_ms(engine, &waiting.url) } else { 0 }
}

/// Requests the page of an entry. The entry names the address, so the restrictions of SPEC D.6 apply.
pub fn request_page(engine: &mut Engine, id: FetchId, key: EntryKey, waiting: Waiting) {
    let redirect_pause_ms = unasked_pause_ms(engine, &waiting);
    let url = waiting.url;
    let (address_source, allow_insecure) = address_source(engine, key, &url);
    let kept = engine.pages.get(&key).and_then(Option::as_ref);
    let validators = kept.map(|full| full.validators.clone());
    engine.carry_out(Effect::Fetch(FetchRequest {
        id,
        url,
        validators,
        kind: RequestKind::Page,
        address_source,
        allow_insecure,
        waits_for_store: false,
        redirect_pause_ms,
    }));
}

/// Returns the origin of an address that an entry names, and whether a redirect from https to http is allowed.
pub fn address_source(engine: &Engine, key: EntryKey, url: &str) -> (AddressSource, bool) {
    let feed = engine.feeds.get(&key.feed);
    let by = feed.map(|feed| feed.record.url.clone()).unwrap_or_default();
    let allowed = feed.is_some_and(|feed| feed.record.feed_settings.allow_insecure);
    // A feed in the user's own network may link to pages there; other feeds may link only to public pages.
    let heard = feed.and_then(|feed| feed.history.heard.as_ref());
    let public = heard.is_none_or(|heard| heard.public);
    // If the entry links to an http address, allow http, because a redirect cannot make the address less secure.
    (AddressSource::Supplied { by, public }, allowed || url.starts_with("http:"))
}

/// Requests a picture of an entry. The entry names the address, so the restrictions of SPEC D.6 apply.
pub fn request_picture(engine: &mut Engine, id: FetchId, key: EntryKey, waiting: Waiting) {
    let redirect_pause_ms = unasked_pause_ms(engine, &waiting);
    let url = waiting.url;
    let (address_source, allow_insecure) = address_source(engine, key, &url);
    let kind = RequestKind::Picture;
    engine.carry_out(Effect::Fetch(FetchRequest {
        id,
        url,
        validators: None,
        kind,
        address_source,
        allow_insecure,
        waits_for_store: false,
        redirect_pause_ms,
    }));
}

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
        learn::replan(engine, feed, now);
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
    learn::replan(engine, result.feed, now);
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::engine::feeds::subscription::{SavedSubscription, SubscriptionRecord};
    use crate::engine::poll::poll_log::PollCause;

    use crate::engine::request::Input;
    use crate::engine::settings::Settings;
    use crate::engine::store_work::{Answer, JobId, JobSubject, Stored};
    use crate::engine::update::update;
    use backissue_core::history::Counters;

    fn asks(effects: &[Effect]) -> usize {
        effects.iter().filter(|effect| matches!(effect, Effect::Fetch(_))).count()
    }

    #[test]
    fn no_fetch_starts_while_the_store_is_behind() {
        let now = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(20_000);
        let url = "https://a.example/feed".to_owned();
        let saved = SavedSubscription {
            key: FeedKey(1),
            record: SubscriptionRecord { url, ..SubscriptionRecord::default() },
            state: Box::default(),
            history: std::sync::Arc::default(),
            counters: Counters::default(),
        };
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, vec![saved], now);
        engine.host_queue.not_before = None;
        for number in 0.. {
            if engine.is_store_behind() {
                break;
            }
            engine.writes.insert(JobId(1_000 + number), BTreeSet::new());
        }
        enqueue(&mut engine, now, FeedKey(1), PollCause::Asked);
        start(&mut engine, now);
        assert_eq!(asks(&engine.effects), 0);
        assert!(
            crate::engine::update::next_wake(&engine, now) > now,
            "the loop does not spin meanwhile"
        );
        let (id, subject) = (JobId(1_000), JobSubject::Records);
        let (counters, result) = (Vec::new(), Ok(Answer::RecordsSaved));
        let stored = Stored { id, subject, counters, result };
        let output = update(&mut engine, now, Input::Stored(Box::new(stored)));
        assert_eq!(asks(&output.effects), 1);
    }
}
