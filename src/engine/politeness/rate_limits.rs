//! Sparing hosts and the reader's network: a 429 keeps all feeds of its host away, and without a network nothing
//! counts as a failure (SPEC B.4.3, B.4.4).

use chrono::{DateTime, TimeDelta, Utc};

use super::drop_fetches;
use super::host_queue::{HostQueue, PROBE_EVERY, host_of, is_loopback};
use super::reachability::{Sign, Suspect};
use crate::engine::backfill::archive_response::end_of;
use crate::engine::effect::Effect;
use crate::engine::poll::fetch::{Fetched, Purpose};
use crate::engine::poll::plans;
use crate::engine::poll::poll_queue::{self, without_network};
use crate::engine::poll::poll_results::{PollOutcome, PollResult};
use crate::engine::poll::poll_stage::PollStage;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::history::{FeedKey, address};
use crate::schedule::Wait;

/// After waking up, the network needs a moment (SPEC G.32).
const WAKE_GRACE: TimeDelta = TimeDelta::seconds(10);

/// A 429 from an address asks for a pause: the feeds of its host keep it, but for the one that was polled and has it
/// already, also those that wait for their turn. Archives there wait for the next check of their feeds, and pages are
/// not asked for.
pub fn spread_wait(
    engine: &mut Engine,
    now: DateTime<Utc>,
    url: &str,
    polled: Option<FeedKey>,
    wait: Wait,
) -> Vec<Effect> {
    let Some(host) = host_of(url) else { return Vec::new() };
    if let Some(until) = end_of(&wait) {
        engine.host_queue.hold(now, host.clone(), until);
    }
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Archive(_) | Purpose::FullText(_))
            && host_of(&waiting.url).as_ref() == Some(&host)
    });
    for waiting in dropped {
        match waiting.purpose {
            Purpose::Archive(feed) => drop_fetches::drop_walk(engine, feed),
            Purpose::FullText(key) => {
                drop_fetches::drop_page(engine, key, "its host asked for fewer requests");
            }
            Purpose::Poll(_) | Purpose::Picture(_) | Purpose::Discover(_) => {}
        }
    }
    let others: Vec<FeedKey> = engine
        .feeds
        .values()
        .filter(|other| {
            Some(other.key) != polled && host_of(&other.record.url).as_ref() == Some(&host)
        })
        .map(|other| other.key)
        .collect();
    let mut effects = Vec::new();
    for other in others {
        let Some(subscription) = engine.feeds.get_mut(&other) else { continue };
        subscription.state.facts.host_wait = Some(wait);
        effects.push(Effect::store(Job::SaveState(other, Box::new(subscription.state.clone()))));
        let waiting = engine.polls.get(&other).is_some_and(|poll| poll.stage == PollStage::Waiting);
        if waiting {
            engine.host_queue.drop_waiting(|purpose| *purpose == Purpose::Poll(other));
            let reason = "its host asked for fewer requests".to_owned();
            let result = PollResult::empty(other, PollOutcome::Skipped, Some(reason));
            poll_queue::end_poll(engine, now, result);
        } else {
            plans::replan(engine, other, now);
        }
    }
    effects
}

/// Until when the host of an address wants to be left alone; its feeds know it from before the program was started.
pub fn left_alone_until(engine: &Engine, url: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let host = host_of(url)?;
    let told = engine.feeds.values().filter_map(|feed| {
        let waits = [feed.state.facts.host_wait, feed.state.facts.retry_after];
        let until = waits.into_iter().flatten().filter_map(|wait| end_of(&wait)).max()?;
        (now < until && host_of(&feed.record.url).as_ref() == Some(&host)).then_some(until)
    });
    told.chain(engine.host_queue.held_until(now, &host)).max()
}

/// The same as a sentence, if it does.
pub fn left_alone(engine: &Engine, now: DateTime<Utc>, url: &str) -> Option<String> {
    let minutes = left_alone_until(engine, url, now)?.signed_duration_since(now).num_minutes();
    let host = address::host(url).unwrap_or_default();
    Some(format!("{host} wants to be left alone for {} min", minutes.max(0).saturating_add(1)))
}

/// There is no network: feeds that failed because of that are as they were, and the network is tried once a minute.
pub fn went_offline(
    engine: &mut Engine,
    now: DateTime<Utc>,
    suspects: Vec<Suspect>,
) -> Vec<Effect> {
    if engine.host_queue.probe_at.is_none() {
        engine.host_queue.probe_at = now.checked_add_signed(PROBE_EVERY);
    }
    let mut effects = Vec::new();
    for Suspect { feed, before, .. } in suspects {
        if let Some(poll) = engine.polls.get_mut(&feed) {
            // One that is polled anew meanwhile is judged by that.
            poll.uncounted = Some(before).filter(|_| poll.stage == PollStage::Writing);
        } else if let Some(subscription) = engine.feeds.get_mut(&feed) {
            subscription.state = *before;
            effects.push(Effect::store(Job::SaveState(feed, Box::new(subscription.state.clone()))));
            plans::replan(engine, feed, now);
        }
    }
    if !engine.polls_by_itself {
        give_up_waiting(engine, now);
    }
    effects
}

/// A command that does one thing does not wait for a network: what has not begun ends.
fn give_up_waiting(engine: &mut Engine, now: DateTime<Utc>) {
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Poll(_) | Purpose::Archive(_))
            && !is_loopback(&waiting.url)
    });
    for waiting in dropped {
        match waiting.purpose {
            Purpose::Poll(feed) => poll_queue::end_poll(engine, now, without_network(feed)),
            Purpose::Archive(feed) => drop_fetches::drop_walk(engine, feed),
            Purpose::FullText(_) | Purpose::Picture(_) | Purpose::Discover(_) => {}
        }
    }
}

/// Somebody answered again.
pub const fn came_online(traffic: &mut HostQueue) {
    traffic.probe_at = None;
}

/// The machine was asleep: the network gets a moment, and what failed before says nothing.
pub fn woke(engine: &mut Engine, now: DateTime<Utc>) {
    engine.reachability.forget();
    let grace = now.checked_add_signed(WAKE_GRACE);
    engine.host_queue.not_before = engine.host_queue.not_before.max(grace);
    if engine.host_queue.probe_at.is_some() {
        engine.host_queue.probe_at = grace;
    }
}

/// What the end of a fetch says about the network, and about its host: a 429 keeps the feeds there away.
pub fn note_network(
    engine: &mut Engine,
    now: DateTime<Utc>,
    url: &str,
    fetched: &Fetched,
) -> Vec<Effect> {
    let mut effects = Vec::new();
    match engine.reachability.note(now, url, fetched, None) {
        Sign::Offline(suspects) => effects.extend(went_offline(engine, now, suspects)),
        Sign::Online => came_online(&mut engine.host_queue),
        Sign::Unclear => {}
    }
    let limited = fetched.result.as_ref().ok().filter(|answer| answer.status == 429);
    if let Some(answer) = limited {
        let wait = Wait::of_host(&answer.headers.times(), answer.received);
        effects.extend(spread_wait(engine, now, url, None, wait));
    }
    effects
}
