//! Rate limits and network failures: a 429, or an announcement that no more requests are taken, delays all feeds of its host, and
//! requests without a network do not count as failures of feeds (SPEC B.4.3, B.4.4).
//!
//! Archive walks and the requests for pages of entries can be cancelled.

use std::sync::Arc;

use backissue_core::history::{EntryKey, FeedKey, address};
use backissue_core::schedule::{Facts, PollFailure, Wait, wait_words};
use chrono::{DateTime, TimeDelta, Utc};

use super::host_queue::{Host, PROBE_EVERY, Sign, Suspect, host_of, is_loopback};
use crate::engine::backfill::walk_stage::WalkStage;
use crate::engine::feeds::subscription::{FeedState, HistoryCommit, Subscription};
use crate::engine::poll::fetch::{Fetched, Purpose};
use crate::engine::poll::learn;
use crate::engine::poll::poll_log::{PollCause, PollOutcome, PollResult};
use crate::engine::poll::poll_stage::PollStage;
use crate::engine::poll::start_fetches::{end_poll, without_network};
use crate::engine::request::{Effect, Event};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;

/// Delay of requests after waking up, until the network is ready (SPEC G.32).
const WAKE_GRACE: TimeDelta = TimeDelta::seconds(10);

/// Applies the wait of a host to all its feeds, except the polled feed, which gets it with its own response.
/// Waiting polls of the other feeds are skipped. Waiting requests for archives, pages and pictures of the host are dropped; the
/// archives are requested after a later poll.
fn spread_wait(
    engine: &mut Engine,
    now: DateTime<Utc>,
    url: &str,
    polled: Option<FeedKey>,
    wait: Wait,
) {
    let Some(host) = host_of(url) else { return };
    engine.host_queue.hold(now, url, wait);
    let waits_for_turn = engine.polls_by_itself && wait.is_turn();
    let reason = wait_words(&wait, address::host(url), now, engine.zone);
    let dropped = engine.host_queue.take_waiting(|waiting| {
        let is_later = match waiting.purpose {
            Purpose::Archive(_) => !waits_for_turn,
            Purpose::FullText(_) | Purpose::Picture(_) => {
                !(waits_for_turn && waiting.cause == PollCause::Due)
            }
            Purpose::Poll(_) | Purpose::Discover(_) => false,
        };
        is_later && host_of(&waiting.url).as_ref() == Some(&host)
    });
    for waiting in dropped {
        match waiting.purpose {
            Purpose::Archive(feed) => {
                drop_walk(engine, feed);
            }
            Purpose::FullText(key) => drop_page(engine, key, &reason),
            Purpose::Picture(_) if waiting.is_ahead() => {
                engine.pictures_ahead.forget(&waiting.url);
            }
            Purpose::Picture(_) => {
                engine.tell(Event::PictureDropped(waiting.url, Some(reason.clone())));
            }
            Purpose::Poll(_) | Purpose::Discover(_) => {}
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
    for other in others {
        let Some(subscription) = engine.feeds.get_mut(&other) else { continue };
        let facts = &mut subscription.state.facts;
        facts.host_wait = Some(wait.or_longer(facts.host_wait));
        engine.save_state(other);
        let waiting = engine.polls.get(&other).is_some_and(|poll| poll.stage == PollStage::Waiting);
        if waiting {
            engine.host_queue.drop_waiting(|purpose| *purpose == Purpose::Poll(other));
            let result = PollResult::empty(other, PollOutcome::Skipped, Some(reason.clone()));
            end_poll(engine, now, result);
        } else {
            learn::replan(engine, other, now);
        }
    }
}

/// Returns the end of the wait that the host of an address asked for. The feeds of the host store the wait, so it survives a
/// restart.
pub fn left_alone_until(engine: &Engine, url: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    wait_in_force(engine, now, url)?.end()
}

fn wait_in_force(engine: &Engine, now: DateTime<Utc>, url: &str) -> Option<Wait> {
    let host = host_of(url)?;
    let told = engine.feeds.values().filter_map(|feed| {
        let waits = [feed.state.facts.host_wait, feed.state.facts.retry_after];
        let wait = waits.into_iter().flatten().max_by_key(Wait::end)?;
        (wait.end() > Some(now) && host_of(&feed.record.url).as_ref() == Some(&host))
            .then_some(wait)
    });
    told.chain(engine.host_queue.held(now, &host)).max_by_key(Wait::end)
}

/// Returns the wait for the host of a feed that the feed stores.
fn known_wait(feed: &Subscription, now: DateTime<Utc>) -> Option<Wait> {
    let facts = &feed.state.facts;
    let is_refused = facts.failure == Some(PollFailure::Status(429));
    let is_of_host = |wait: &Wait| is_refused || wait.stated_by.limit_name().is_some();
    let assumed = || facts.last_try.map(Wait::assumed);
    let waits = [facts.host_wait, facts.retry_after.or_else(assumed).filter(is_of_host)];
    waits.into_iter().flatten().max_by_key(Wait::end).filter(|wait| wait.end() > Some(now))
}

/// Returns the last wait of a host, unless the host answered a poll since then.
fn last_wait(engine: &Engine, url: &str) -> Option<Wait> {
    let host = host_of(url)?;
    let feeds = engine.feeds.values().map(|feed| (&feed.state.facts, &feed.record.url));
    let of_host = feeds.filter(|(facts, url)| {
        let is_known = facts.host_wait.or(facts.retry_after).is_some() || facts.last_ok.is_some();
        is_known && host_of(url).as_ref() == Some(&host)
    });
    let facts: Vec<&Facts> = of_host.map(|(facts, _)| facts).collect();
    let waits = facts.iter().flat_map(|facts| [facts.host_wait, facts.retry_after]).flatten();
    let last = waits.max_by_key(|wait| (wait.received_at, wait.refusals))?;
    let last_ok = facts.iter().filter_map(|facts| facts.last_ok).max();
    Some(last).filter(|last| last_ok < Some(last.received_at))
}

/// A host with its port, and the wait that it asked for.
pub type HostWait = (Host, Wait);

/// Returns the waits that hosts asked for in responses to feeds (SPEC B.4 rule 3). The feeds of a host, including removed feeds, store
/// its wait, so it survives a restart.
pub fn host_waits(engine: &Engine, now: DateTime<Utc>) -> Vec<HostWait> {
    let feeds = engine.feeds.values().chain(engine.ended.values());
    let known = feeds.filter_map(|feed| {
        // Few feeds have a wait, and parsing an address is slow.
        let wait = known_wait(feed, now)?;
        host_of(&feed.record.url).map(|host| (host, wait))
    });
    known.collect()
}

/// Applies the wait of a host to a feed that was added, restored, or moved to the host. Returns whether the host asked for a wait.
pub fn heed_host(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) -> bool {
    let waits = host_waits(engine, now);
    heed_wait(engine, now, feed, &waits)
}

/// Does the same for one of many feeds. `waits` are those of [`host_waits`].
pub fn heed_wait(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    waits: &[HostWait],
) -> bool {
    let host = engine.feeds.get(&feed).and_then(|feed| host_of(&feed.record.url));
    let Some(host) = host else { return false };
    let told = waits.iter().filter(|(other, _)| *other == host).map(|(_, wait)| *wait);
    let wait = told.chain(engine.host_queue.held(now, &host)).max_by_key(Wait::end);
    let facts = engine.feeds.get_mut(&feed).map(|feed| &mut feed.state.facts);
    let (Some(wait), Some(facts)) = (wait, facts) else { return false };
    facts.host_wait = Some(wait.or_longer(facts.host_wait));
    true
}

/// Removes feeds from `due` that were never polled and whose hosts asked for a wait. A new feed may lack the wait of its host,
/// because the wait is written after the record and is lost if the program is killed in between.
pub fn keep_unasked_away(engine: &mut Engine, now: DateTime<Utc>, due: &mut Vec<FeedKey>) {
    let is_unasked = |engine: &Engine, feed: &FeedKey| {
        let facts = engine.feeds.get(feed).map(|feed| &feed.state.facts);
        facts.is_some_and(|facts| facts.last_try.or(facts.last_ok).is_none())
    };
    let some_unasked = due.iter().any(|feed| is_unasked(engine, feed));
    let waits = host_waits(engine, now);
    if !some_unasked || waits.is_empty() {
        return;
    }
    due.retain(|&feed| {
        if !is_unasked(engine, &feed) || !heed_wait(engine, now, feed, &waits) {
            return true;
        }
        learn::replan(engine, feed, now);
        save_wait(engine, feed);
        false
    });
}

/// Returns the place of a feed among those whose hosts asked for a wait: the one that was polled longest ago comes first. Other
/// feeds come before them.
pub fn turn(engine: &Engine, feed: FeedKey) -> Option<Option<DateTime<Utc>>> {
    let facts = &engine.feeds.get(&feed)?.state.facts;
    facts.host_wait.or(facts.retry_after).map(|_| facts.last_try)
}

/// Writes the host's wait of a new feed, so that the wait survives a restart (SPEC G.20).
pub fn save_wait(engine: &mut Engine, feed: FeedKey) {
    if engine.feeds.get(&feed).is_some_and(|feed| feed.state.facts.host_wait.is_some()) {
        engine.save_state(feed);
    }
}

/// Returns a sentence about the remaining wait if the host of an address asked for a wait.
pub fn left_alone(engine: &Engine, now: DateTime<Utc>, url: &str) -> Option<String> {
    Some(wait_words(&wait_in_force(engine, now, url)?, address::host(url), now, engine.zone))
}

/// Restores the earlier states of feeds that failed because there is no network, and starts to test the network once a minute.
fn went_offline(engine: &mut Engine, now: DateTime<Utc>, suspects: Vec<Suspect>) {
    if engine.host_queue.probe_at.is_none() {
        engine.host_queue.probe_at = now.checked_add_signed(PROBE_EVERY);
    }
    for Suspect { feed, before, .. } in suspects {
        if let Some(poll) = engine.polls.get_mut(&feed) {
            // The feed is being polled. Restore its state only if the result of the poll is being written; at an earlier stage, the
            // result of this poll decides.
            poll.uncounted = Some(before).filter(|_| poll.stage == PollStage::Writing);
        } else if let Some(subscription) = engine.feeds.get_mut(&feed) {
            restore(subscription, before);
            engine.save_state(feed);
            learn::replan(engine, feed, now);
        }
    }
    if !engine.polls_by_itself {
        give_up_waiting(engine, now);
    }
}

/// Ends waiting requests of a one-shot command, because such a command does not wait for the network.
fn give_up_waiting(engine: &mut Engine, now: DateTime<Utc>) {
    let dropped = engine.host_queue.take_waiting(|waiting| {
        let is_unasked = waiting.is_ahead();
        (matches!(waiting.purpose, Purpose::Poll(_) | Purpose::Archive(_)) || is_unasked)
            && !is_loopback(&waiting.url)
    });
    for waiting in dropped {
        match waiting.purpose {
            Purpose::Poll(feed) => {
                let ended = without_network(engine, feed);
                end_poll(engine, now, ended);
            }
            Purpose::Archive(feed) => {
                drop_walk(engine, feed);
            }
            Purpose::Picture(_) => engine.pictures_ahead.forget(&waiting.url),
            Purpose::FullText(key) => drop(engine.pages.remove(&key)),
            Purpose::Discover(_) => {}
        }
    }
}

/// Handles a wake-up or a changed clock: forgets unreachable hosts and delays requests until the network is ready. If the clock was
/// set back, shortens waits that would be too long by the new clock.
pub fn woke(engine: &mut Engine, now: DateTime<Utc>) {
    engine.reachability.forget();
    let grace = now.checked_add_signed(WAKE_GRACE);
    engine.host_queue.clock_was_set(now, &engine.settings.network);
    engine.host_queue.not_before = engine.host_queue.not_before.max(grace);
    if engine.host_queue.probe_at.is_some() {
        engine.host_queue.probe_at = grace;
    }
    engine.room_awaited = None;
    // If the last poll has a time in the future, it counts as a poll at `now` (SPEC A.9).
    let is_later = |feed: &&Subscription| {
        let facts = &feed.state.facts;
        facts.last_ok.max(facts.last_try) > Some(now)
    };
    let at_rest = |feed: &FeedKey| !engine.polls.contains_key(feed);
    let later = engine.feeds.values().filter(is_later).map(|feed| feed.key).filter(at_rest);
    for feed in later.collect::<Vec<_>>() {
        learn::replan(engine, feed, now);
    }
}

/// Updates the state of the network and of the host after a fetch: a missing network is detected, and a 429 delays all feeds of the
/// host. `polled` is the feed whose poll sent the request; its poll does not count without a network.
/// Returns `true` if there is no network, so that the fetch does not count.
pub fn note_network(
    engine: &mut Engine,
    now: DateTime<Utc>,
    url: &str,
    fetched: &Fetched,
    polled: Option<FeedKey>,
) -> bool {
    let at_start = polled.and_then(|feed| {
        let poll = engine.polls.get(&feed)?;
        Some((feed, poll.at_start.as_deref()?))
    });
    let mut is_offline = false;
    let sites = engine.host_queue.sites_under_way();
    match engine.reachability.note(now, url, fetched, at_start, sites) {
        Sign::Offline(suspects) => {
            is_offline = true;
            if let Some(feed) = polled {
                uncount_poll(engine, now, feed);
            }
            went_offline(engine, now, suspects);
        }
        Sign::Online => engine.host_queue.probe_at = None,
        // The requests under way should show whether there is a network. In case they do not, test the network in a minute.
        Sign::Doubtful => {
            engine.host_queue.probe_at =
                engine.host_queue.probe_at.or_else(|| now.checked_add_signed(PROBE_EVERY));
        }
        Sign::Unclear => {}
    }
    note_limit(engine, now, fetched, polled);
    is_offline
}

/// Applies the wait of a response, if there is one, to all feeds of its host: of a 429, or of a used-up rate limit (SPEC B.4.3).
pub fn note_limit(
    engine: &mut Engine,
    now: DateTime<Utc>,
    fetched: &Fetched,
    polled: Option<FeedKey>,
) {
    let Ok(answer) = &fetched.result else { return };
    let (times, received) = (answer.headers.times(), answer.received);
    let wait = if answer.status == 429 {
        Some(Wait::of_host(&times, received))
    } else {
        let wait = Wait::of_answer(answer.status, &times, received);
        wait.filter(|wait| wait.stated_by.limit_name().is_some())
    };
    let Some(mut wait) = wait else { return };
    // After redirects, another host answered.
    let url = answer.url.as_str();
    if answer.status >= 400 {
        wait = wait.after_refusal(last_wait(engine, url));
        // The polled feed's own response does not tell how many refusals came before.
        if let Some(polled) = polled.and_then(|feed| engine.feeds.get_mut(&feed)) {
            polled.state.facts.host_wait = Some(wait.or_longer(polled.state.facts.host_wait));
        }
    }
    spread_wait(engine, now, url, polled, wait);
}

/// Restores the state that a feed had before a poll. What was fetched ahead meanwhile stays counted.
fn restore(subscription: &mut Subscription, before: Box<FeedState>) {
    let ahead = std::mem::replace(&mut subscription.state, before).ahead;
    subscription.state.ahead = ahead;
}

/// Ends a poll that failed because there is no network, and restores the feed's state before the poll.
fn uncount_poll(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    if let Some(before) = engine.polls.get_mut(&feed).and_then(|poll| poll.at_start.take()) {
        restore(subscription, before);
    }
    engine.save_state(feed);
    let ended = without_network(engine, feed);
    end_poll(engine, now, ended);
}

/// Cancels the archive walk of a feed, for example because the feed was removed or its host asked for a wait. A new walk starts
/// after a later poll. Writes changes of the walk that are not written yet, so that the history record and the archives stay
/// consistent. Returns whether it wrote.
pub fn drop_walk(engine: &mut Engine, feed: FeedKey) -> bool {
    let job = take_walk(engine, feed);
    let writes = job.is_some();
    engine.effects.extend(job.map(Effect::store));
    writes
}

/// Cancels the archive walk of a feed. Returns the job that writes its changes.
pub fn take_walk(engine: &mut Engine, feed: FeedKey) -> Option<Job> {
    let backfill = engine.backfills.remove(&feed);
    engine.host_queue.drop_waiting(|purpose| *purpose == Purpose::Archive(feed));
    let subscription = engine.feeds.get_mut(&feed)?;
    if subscription.history.asking.is_some() {
        Arc::make_mut(&mut subscription.history).asking = None;
    }
    // In the writing stage, all changes of the walk are already being written.
    let mut backfill = backfill.filter(|backfill| backfill.stage != WalkStage::Writing)?;
    let (record, nodes) = (subscription.history.clone(), backfill.nodes.take_touched());
    let commit = HistoryCommit { feed, record, nodes, document: None };
    Some(Job::KeepHistory(Box::new(commit)))
}

/// Emits an event that the page of an entry will not be requested. `why` is the reason, such as that the feed was removed.
pub fn drop_page(engine: &mut Engine, key: EntryKey, why: &str) {
    engine.pages.remove(&key);
    engine.tell(Event::PageDropped(key, why.to_owned()));
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::subscription::{Subscription, SubscriptionRecord};
    use crate::engine::politeness::rate_limits::*;
    use crate::engine::poll::classify_response::SIGN_IN_WANTED;
    use crate::engine::poll::fetch::{AnswerBody, AnswerHeaders, FetchFailure, ServerAnswer};
    use crate::engine::poll::start_fetches::{self, enqueue};
    use crate::engine::settings::Settings;
    use backissue_core::schedule::WaitHeader;

    fn now() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
    }

    /// Returns an engine with feeds at these addresses, numbered from 1.
    fn engine(urls: &[&str]) -> Engine {
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), now());
        for url in urls {
            let record = SubscriptionRecord { url: (*url).into(), ..SubscriptionRecord::default() };
            let feed = engine.new_feed_key();
            engine.feeds.insert(feed, Subscription::new(feed, record));
        }
        engine
    }

    fn fetched(result: Result<ServerAnswer, FetchFailure>) -> Fetched {
        Fetched { started: now(), wire_bytes: 0, hops: vec![], conditional: false, result }
    }

    fn too_many(url: &str) -> Fetched {
        let retry_after = Some("600".to_owned());
        fetched(Ok(ServerAnswer {
            status: 429,
            url: url.into(),
            public: true,
            received: now(),
            headers: AnswerHeaders { retry_after, ..AnswerHeaders::default() },
            body: AnswerBody::Unread,
        }))
    }

    #[test]
    fn sign_in_network_is_not_reported_as_offline() {
        let url = "https://a.example/";
        let mut engine = engine(&[url]);
        let mut answer = too_many(url);
        answer.result = answer.result.map(|answer| ServerAnswer { status: 511, ..answer });
        for (fetched, why) in [(answer, SIGN_IN_WANTED), (too_many(url), "there is no network")] {
            note_network(&mut engine, now(), url, &fetched, None);
            assert_eq!(without_network(&engine, FeedKey(1)).reason.as_deref(), Some(why));
        }
    }

    fn unreachable() -> Fetched {
        fetched(Err(FetchFailure::Unreachable("it".into())))
    }

    #[test]
    fn a_429_to_any_request_delays_all_feeds_of_the_host() {
        let mut engine =
            engine(&["https://a.example/1", "https://a.example/2", "https://b.example/"]);
        let url = "https://a.example/picture";
        assert!(!note_network(&mut engine, now(), url, &too_many(url), None));
        assert_eq!(engine.effects.len(), 2, "the states of both feeds are written");
        let waits: Vec<bool> =
            engine.feeds.values().map(|feed| feed.state.facts.host_wait.is_some()).collect();
        assert_eq!(waits, [true, true, false]);
        let until = left_alone_until(&engine, url, now());
        assert_eq!(until, now().checked_add_signed(TimeDelta::minutes(10)));
    }

    #[test]
    fn a_429_after_a_redirect_delays_the_host_that_answered() {
        let mut engine =
            engine(&["https://a.example/1", "https://a.example/2", "https://b.example/"]);
        let refused = too_many("https://b.example/target");
        note_network(&mut engine, now(), "https://a.example/1", &refused, Some(FeedKey(1)));
        let waits: Vec<bool> =
            engine.feeds.values().map(|feed| feed.state.facts.host_wait.is_some()).collect();
        assert_eq!(waits, [true, false, true]);
    }

    #[test]
    fn shorter_429_wait_does_not_replace_a_longer_one() {
        let mut engine = engine(&["https://a.example/1"]);
        let url = "https://a.example/picture";
        note_network(&mut engine, now(), url, &too_many(url), None);
        let mut shorter = too_many(url);
        if let Ok(answer) = &mut shorter.result {
            answer.headers.retry_after = Some("60".into());
        }
        note_network(&mut engine, now(), url, &shorter, None);
        let waits = engine.feeds[&FeedKey(1)].state.facts.host_wait;
        assert_eq!(waits.map(|wait| wait.seconds), Some(600));
    }

    #[test]
    fn feed_answered_429_gets_the_wait_from_its_own_poll() {
        let mut engine = engine(&["https://a.example/1", "https://a.example/2"]);
        let url = "https://a.example/1";
        note_network(&mut engine, now(), url, &too_many(url), Some(FeedKey(1)));
        assert_eq!(engine.effects.len(), 1);
        let waits = [1, 2].map(|feed| engine.feeds[&FeedKey(feed)].state.facts.host_wait);
        assert_eq!(waits[0], waits[1]);
        assert!(engine.feeds[&FeedKey(2)].state.facts.host_wait.is_some());
    }

    #[test]
    fn new_feed_waits_for_its_host_after_restart() {
        let mut engine = engine(&[
            "https://a.example/1",
            "https://a.example/2",
            "https://b.example/3",
            "https://a.example/4",
        ]);
        let hour_ago = now() - TimeDelta::hours(1);
        let refused = &mut engine.feeds.get_mut(&FeedKey(1)).unwrap().state.facts;
        refused.last_try = Some(hour_ago);
        refused.failure = Some(PollFailure::Status(429));
        refused.retry_after = Some(Wait {
            received_at: hour_ago,
            seconds: 24 * 3600,
            stated_by: WaitHeader::RetryAfter,
            refusals: 0,
        });
        // Feed 4 was read successfully after the 429, so the wait of its host no longer applies to it.
        engine.feeds.get_mut(&FeedKey(4)).unwrap().state.facts.last_ok = Some(hour_ago);
        let mut due = (2..=4).map(FeedKey).collect();
        keep_unasked_away(&mut engine, now(), &mut due);
        assert_eq!((due, engine.effects.len()), (vec![FeedKey(3), FeedKey(4)], 1));
        let later = now() + TimeDelta::hours(23);
        assert!(engine.feeds[&FeedKey(2)].plan.next_poll.is_some_and(|next| next >= later));
        // When the wait is over, feed 2 may be polled.
        let mut due = vec![FeedKey(2)];
        keep_unasked_away(&mut engine, later, &mut due);
        assert_eq!((due, engine.effects.len()), (vec![FeedKey(2)], 1));
    }

    #[test]
    fn three_unreachable_hosts_mean_offline_until_an_answer() {
        let urls = ["https://a.example/", "https://b.example/", "https://c.example/"];
        let mut engine = engine(&urls);
        engine.host_queue.not_before = None;
        for feed in 1..=3 {
            enqueue(&mut engine, now(), FeedKey(feed), PollCause::Asked);
        }
        start_fetches::start(&mut engine, now());
        let mut found = Vec::new();
        for (feed, url) in (1..).map(FeedKey).zip(urls) {
            let is_offline = note_network(&mut engine, now(), url, &unreachable(), Some(feed));
            found.push((is_offline, engine.polls.contains_key(&feed)));
        }
        assert_eq!(found, [(false, true), (false, true), (true, false)]);
        assert!(engine.feeds[&FeedKey(3)].state.facts.last_try.is_none(), "it does not count");
        assert!(engine.host_queue.probe_at.is_some());
        let url = "https://d.example/";
        assert!(!note_network(&mut engine, now(), url, &too_many(url), None));
        assert!(engine.host_queue.probe_at.is_none());
    }
}
