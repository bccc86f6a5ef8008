//! An observer of all requests that knows only what publishers stated and what the user requested, and nothing about the program
//! (SPEC B.4, D.2, D.4; RFC 9110).
//!
//! The observer takes the content of an answer into account once it is durable, since a crash may lose it. It never forgets an
//! attempt to poll a feed.

use std::collections::{BTreeMap, BTreeSet};

use backissue::engine::poll::fetch::{
    AnswerBody, FetchFailure, FetchRequest, Fetched, RequestKind,
};
use backissue::engine::state::Engine;
use backissue_core::history::FeedKey;
use chrono::{DateTime, TimeDelta, Utc};

use super::archives::Archives;
use super::headers::wait_of;
use super::known::Known;
use super::moments::{Moment, Wait, holds, lesser};
use crate::simulation::machine::Machine;

/// Minimum interval between automatic polls of a feed in minutes (SPEC 0, `HARD_MIN`).
const HARD_MIN: u32 = 5;
/// Minimum time between two manual polls of a feed (SPEC B.8).
const COOL_DOWN: TimeDelta = TimeDelta::seconds(60);
/// Minimum time between two requests to a host (SPEC 0, `HOST_SPACING`).
const SPACING: TimeDelta = TimeDelta::seconds(1);
/// Maximum number of requests per poll: the first, one that an answer required, and one for the current document.
const REQUESTS_A_POLL: u32 = 3;

/// What the observer remembers.
#[derive(Debug, Default)]
pub struct Observer {
    feeds: BTreeMap<FeedKey, Known>,
    /// The part of `feeds` that the store holds durably.
    durable: BTreeMap<FeedKey, Known>,
    /// Pauses that hosts requested; `durable_hosts` has those that the store holds durably.
    hosts: BTreeMap<String, Wait>,
    durable_hosts: BTreeMap<String, Wait>,
    /// Addresses that returned a document before being subscribed to; earlier waits of their hosts no longer apply to them.
    previewed: BTreeMap<String, Moment>,
    tries: BTreeMap<FeedKey, Moment>,
    /// Feeds whose request was decided before a sleep and sent after it.
    delayed: BTreeSet<FeedKey>,
    /// Feeds with an answer that arrived after a sleep or a clock change. The time from which its waits count is therefore not
    /// known to the second.
    shifted: BTreeSet<FeedKey>,
    /// Number of running requests per host, and when the last request to each host ended.
    under_way: BTreeMap<String, u32>,
    ended: BTreeMap<String, Moment>,
    /// Number of requests that each running poll has sent.
    polls: BTreeMap<FeedKey, u32>,
    /// For each running poll: what was known of the feed before it, when it began, and when the program's last good answer had
    /// come.
    before: BTreeMap<FeedKey, (Known, Moment, Option<DateTime<Utc>>)>,
    /// Feeds that a person wants polled.
    wanted: BTreeSet<FeedKey>,
    pub archives: Archives,
}

impl Observer {
    pub fn wanted(&mut self, feed: FeedKey) {
        self.wanted.insert(feed);
    }

    /// Records that a person resumed a feed that had ended, so that it may be polled again (SPEC D.2, 410).
    pub fn resumed(&mut self, feed: FeedKey) {
        // Also in the durable data: after a crash that loses this request, the program merely does not poll the feed.
        for known in [self.feeds.get_mut(&feed), self.durable.get_mut(&feed)].into_iter().flatten()
        {
            known.gone = false;
        }
    }

    /// Records that these feeds (`None`: all feeds) are polled without validators: their `ETag`s are forgotten before the
    /// request, and if the answer is not stored, no other `ETag` replaces them.
    pub fn forced(&mut self, feeds: Option<&[FeedKey]>) {
        for known in [&mut self.feeds, &mut self.durable] {
            let asked = |feed: &FeedKey| feeds.is_none_or(|feeds| feeds.contains(feed));
            let known = known.iter_mut().filter(|(feed, _)| asked(feed));
            known.for_each(|(_, known)| known.etag = None);
        }
    }

    /// Marks everything sent to the store as durable. The answers of a running poll are excluded, because they are sent to the
    /// store only when the poll ends.
    pub fn all_is_durable(&mut self) {
        self.archives.all_is_durable();
        for (feed, known) in &self.feeds {
            if !self.polls.contains_key(feed) {
                self.durable.insert(*feed, known.clone());
            }
        }
        self.durable_hosts.clone_from(&self.hosts);
        self.delayed.retain(|feed| self.polls.contains_key(feed));
    }

    /// After a crash, forgets knowledge that was not durable and that the crash may have lost.
    pub fn forget_unwritten(&mut self, now: Moment) {
        for (feed, known) in &mut self.durable {
            let Some(last) = self.feeds.get(feed) else { continue };
            known.etag = known.etag.take().filter(|etag| last.etag.as_ref() == Some(etag));
            known.same_tags = known.same_tags.max(last.same_tags);
            // An unacknowledged write may have survived or not, so the less strict of the two values applies.
            known.lifetime = lesser(known.lifetime, last.lifetime, now);
            known.wait = lesser(known.wait, last.wait, now);
            // A good answer ends the wait of its host, even if the crash lost the answer.
            known.answered = last.answered.or(known.answered);
            known.gone &= last.gone;
            known.only_304_since = known.only_304_since.or(last.only_304_since);
        }
        for (&feed, last) in &self.feeds {
            // Data of a feed that was not durable at all may have survived too, with what the answers showed about its server.
            let Known { only_304_since, same_tags, .. } = *last;
            let new = || Known { only_304_since, same_tags, ..Known::default() };
            self.durable.entry(feed).or_insert_with(new);
        }
        self.feeds.clone_from(&self.durable);
        self.hosts.clone_from(&self.durable_hosts);
        self.archives.forget_unwritten();
        // The time of an attempt is written before its request (SPEC G.20), as the time when the request was decided. If the
        // machine slept between decision and request, a poll that a crash interrupts therefore counts as older than its request.
        for feed in std::mem::take(&mut self.delayed) {
            self.tries.remove(&feed);
        }
    }

    pub fn polls_ended(&mut self, going_on: &BTreeSet<FeedKey>, engine: &Engine) {
        let ended = self.before.extract_if(.., |feed, _| !going_on.contains(feed));
        for (feed, (before, begun, last_ok)) in ended {
            // If a poll was dropped because its host requested a pause, and nothing of its unverified answer was used, the
            // knowledge from before the poll applies.
            let took_up =
                engine.feeds.get(&feed).map(|feed| feed.state.facts.last_ok) != Some(last_ok);
            let answered = self.feeds.get(&feed).and_then(|known| known.answered);
            let answered = answered.filter(|answered| answered.real >= begun.real);
            let mut waits = self.hosts.values().flatten();
            let is_dropped = answered
                .is_some_and(|answered| waits.any(|(since, _)| since.real >= answered.real));
            if is_dropped && !took_up {
                self.feeds.insert(feed, before);
            }
        }
        if !self.polls.is_empty() || !self.wanted.is_empty() {
            self.polls.retain(|feed, _| going_on.contains(feed));
            self.wanted.retain(|feed| going_on.contains(feed));
        }
    }

    /// After a full disk, forgets attempts and requested waits, because the program could not write them.
    pub fn forget_all(&mut self) {
        self.tries.clear();
        for known in self.feeds.values_mut() {
            let Known { only_304_since, same_tags, .. } = *known;
            *known = Known { only_304_since, same_tags, ..Known::default() };
        }
        self.durable.clone_from(&self.feeds);
        self.hosts.clear();
        self.durable_hosts.clear();
    }

    pub fn program_ended(&mut self) {
        // A poll without validators forgets the `ETag` before its request is sent; the program may end between the two.
        for known in [&mut self.feeds, &mut self.durable] {
            let wanted = known.iter_mut().filter(|(feed, _)| self.wanted.contains(feed));
            wanted.for_each(|(_, known)| known.etag = None);
        }
        self.under_way.clear();
        self.polls.clear();
        self.before.clear();
        self.wanted.clear();
    }
}

fn host_of(url: &str) -> String {
    url.split('/').nth(2).unwrap_or_default().to_owned()
}

/// What a request is for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Poll(FeedKey),
    Archive(FeedKey),
    Other,
}

/// Finds out what a request is for from the engine's running polls and archive walks.
fn purpose_of(machine: &Machine, request: &FetchRequest) -> Purpose {
    let engine = machine.engine();
    let asked = Some(request.id);
    let walk = engine.backfills.iter().find(|(_, walk)| walk.fetch == asked);
    let poll = engine.polls.iter().find(|(_, poll)| poll.fetch == asked);
    match (walk, poll) {
        (Some((feed, _)), _) => Purpose::Archive(*feed),
        (None, Some((feed, _))) => Purpose::Poll(*feed),
        (None, None) => Purpose::Other,
    }
}

/// Records that the requests not sent yet were decided before a sleep or a clock change.
pub fn note_delayed(machine: &mut Machine) {
    let waiting = machine.keeper.waiting_fetches();
    let delayed = waiting.filter_map(|request| match purpose_of(machine, request) {
        Purpose::Poll(feed) => Some(feed),
        Purpose::Archive(_) | Purpose::Other => None,
    });
    let delayed: Vec<FeedKey> = delayed.collect();
    let observer = &mut machine.checks.observer;
    observer.delayed.extend(delayed);
    observer.shifted.extend(observer.polls.keys().copied());
}

impl Observer {
    /// Forgets the waits that begin more than an hour ahead after the clock was set back: the plan made now does not know them
    /// (SPEC A.9), also if the clock comes near them again before the next poll.
    pub fn clock_set(&mut self, now: Moment) {
        let known = self.feeds.values_mut().chain(self.durable.values_mut());
        let waits = known.flat_map(|known| [&mut known.wait, &mut known.lifetime]);
        let hosts = self.hosts.values_mut().chain(self.durable_hosts.values_mut());
        for wait in waits.chain(hosts) {
            *wait = wait.filter(|(since, _)| since.is_known(now));
        }
    }
}

/// Checks that a request may be sent now.
pub fn judge(machine: &mut Machine, request: &FetchRequest) -> Result<(), String> {
    let now = Moment::of(machine);
    let host = host_of(&request.url);
    let purpose = purpose_of(machine, request);
    let bounds = match purpose {
        Purpose::Poll(feed) => bounds(machine, feed),
        Purpose::Archive(_) | Purpose::Other => (HARD_MIN, false),
    };
    let checks = &mut machine.checks;
    let observer = &mut checks.observer;
    let busy = observer.under_way.entry(host.clone()).or_default();
    *busy += 1;
    if *busy > 1 {
        return Err("two requests to one host at once".into());
    }
    if observer.ended.get(&host).is_some_and(|ended| ended.is_within(SPACING, now)) {
        return Err("a request within a second of the last one to the host".into());
    }
    match purpose {
        Purpose::Poll(feed) => {
            checks.counts.polls += 1;
            let last_ok =
                machine.app.engine.feeds.get(&feed).and_then(|feed| feed.state.facts.last_ok);
            let known = observer.feeds.get(&feed).cloned().unwrap_or_default();
            observer.before.entry(feed).or_insert((known, now, last_ok));
            judge_poll(observer, feed, request, now, bounds)
        }
        Purpose::Archive(feed) => {
            checks.counts.archives += 1;
            // An archive is read again only to close a seam, or because it was not whole (SPEC C.8.1).
            let feed_of = machine.app.engine.feeds.get(&feed);
            let proof = feed_of.and_then(|feed| feed.history.proof.as_deref());
            let stale = proof.iter().filter_map(|proof| proof.parted.as_ref());
            let flawed = proof.iter().filter_map(|proof| Some(&proof.flawed.as_ref()?.0));
            let mut wanted = stale.flat_map(|parted| &parted.stale).chain(flawed);
            let is_wanted = wanted.any(|edge| edge.url == request.url);
            if observer.archives.is_kept(feed, &request.url) && !is_wanted {
                Err("an archive that is kept is asked for again".into())
            } else {
                Ok(())
            }
        }
        Purpose::Other => Ok(()),
    }
}

/// Returns the minimum interval that the user set for a feed, in minutes, and whether cache lifetimes are ignored.
fn bounds(machine: &Machine, feed: FeedKey) -> (u32, bool) {
    let engine = machine.engine();
    let Some(feed) = engine.feeds.get(&feed) else { return (HARD_MIN, false) };
    let chosen = &feed.record.feed_settings;
    let minimum = match chosen.fixed_minutes {
        Some(_) => HARD_MIN,
        None => chosen.min_minutes.unwrap_or(engine.settings.poll.min_minutes).max(HARD_MIN),
    };
    // The user's minimum interval applies only after a successful poll (SPEC B.4 rule 1). If nothing can be written, a setting
    // may be reverted between the decision and the request.
    let facts = &feed.state.facts;
    let is_hard = facts.failures > 0 || facts.last_ok.is_none() || machine.disk_full;
    let minimum = if is_hard { HARD_MIN } else { minimum };
    // If the last answer came from an unverified redirect target, its cache lifetime does not apply to this feed (SPEC D.3).
    let is_another = facts.failures > 0 && feed.state.proposed.is_some();
    (minimum, chosen.ignore_cache_lifetime || machine.disk_full || is_another)
}

fn judge_poll(
    observer: &mut Observer,
    feed: FeedKey,
    request: &FetchRequest,
    now: Moment,
    (minimum, ignores_lifetime): (u32, bool),
) -> Result<(), String> {
    let requests = observer.polls.entry(feed).or_default();
    *requests += 1;
    let is_first = *requests == 1;
    if *requests > REQUESTS_A_POLL {
        return Err(format!("{requests} requests in one poll of feed {feed}"));
    }
    let wanted = observer.wanted.contains(&feed);
    let known = observer.feeds.entry(feed).or_default();
    let tried = observer.tries.get(&feed).copied();
    if is_first {
        if known.gone && !wanted {
            return Err(format!("feed {feed} is gone"));
        }
        let minimum = TimeDelta::minutes(i64::from(minimum));
        if !wanted && tried.is_some_and(|tried| tried.is_well_within(minimum, now)) {
            return Err(format!("feed {feed} was asked less than {minimum} ago"));
        }
        if wanted && tried.is_some_and(|tried| tried.is_well_within(COOL_DOWN, now)) {
            return Err(format!("feed {feed} was asked by hand within a minute"));
        }
        if !wanted && !ignores_lifetime && holds(known.lifetime, now) {
            return Err(format!("feed {feed} is asked within the lifetime of its last answer"));
        }
        // A user who requests a poll despite a requested pause confirms it with a second request (SPEC B.8), so only other polls
        // must wait.
        if !wanted && holds(known.wait, now) {
            return Err(format!("feed {feed} is asked before its Retry-After is over"));
        }
        // A host's pause no longer applies to a feed that the host has served since then, because the user confirmed a poll or
        // previewed the feed.
        let host = observer.hosts.get(&host_of(&request.url)).copied().flatten();
        let previewed = observer.previewed.get(&request.url).copied();
        let served = known.answered.into_iter().chain(previewed).map(|at| at.real).max();
        let host = host.filter(|(since, _)| served.is_none_or(|at| at < since.real));
        if !wanted && holds(host, now) {
            return Err(format!("feed {feed} is asked although its host wants to be left alone"));
        }
        // A request decided before a sleep or a clock change is sent with the validators chosen at that time.
        if !observer.delayed.contains(&feed) {
            known.judge_validators(request, now, wanted, feed)?;
        }
    }
    // Before a request for the whole document the program forgets the `ETag` (SPEC D.4 rule 8). The observer forgets it too,
    // whatever the result, because a crash may lose even an answer with the same `ETag`.
    let is_whole = request.kind == RequestKind::Fresh || !is_first;
    if is_whole && request.validators.is_none() {
        known.etag = None;
        observer.durable.entry(feed).and_modify(|durable| durable.etag = None);
    }
    observer.tries.insert(feed, now);
    Ok(())
}

/// Records the waits and validators of an answer that the next request must respect.
pub fn remember(machine: &mut Machine, request: &FetchRequest, fetched: &Fetched) {
    let now = Moment::of(machine);
    let (purpose, full) = (purpose_of(machine, request), machine.disk_full);
    let observer = &mut machine.checks.observer;
    let host = host_of(&request.url);
    if let Some(busy) = observer.under_way.get_mut(&host) {
        *busy = busy.saturating_sub(1);
    }
    observer.ended.insert(host.clone(), now);
    let Ok(answer) = &fetched.result else {
        let unreached = fetched.result.as_ref().is_err_and(FetchFailure::is_unreachable);
        // No host was reached: without a network the attempt does not count and may be repeated (SPEC B.4 rule 4).
        if let (true, Purpose::Poll(feed)) = (unreached, purpose) {
            observer.tries.remove(&feed);
        }
        return;
    };
    let waits = wait_of(answer.status, &answer.headers, now);
    let feed = match purpose {
        Purpose::Poll(feed) => feed,
        Purpose::Archive(feed) => {
            if !full
                && answer.status == 200
                && answer.body.feed().is_some()
                && request.url.contains("/archive/")
            {
                observer.archives.read(feed, &request.url);
            }
            return;
        }
        Purpose::Other => {
            if answer.status == 200 && answer.body.feed().is_some() {
                observer.previewed.insert(answer.url.clone(), now);
            }
            return;
        }
    };
    let is_page = matches!(answer.body, AnswerBody::Page { .. });
    if answer.status == 511 || (is_page && !fetched.hops.is_empty()) {
        // A sign-in page or proxy answered instead of the publisher, so the attempt does not count (SPEC D.2), not even as a
        // request without validators.
        observer.tries.remove(&feed);
        return;
    }
    if answer.status == 429 && answer.headers.retry_after.is_some() {
        // The stated wait replaces the minimum interval (SPEC B.4 rule 3).
        observer.tries.remove(&feed);
    }
    let was_delayed = observer.delayed.contains(&feed) || observer.shifted.contains(&feed);
    let known = observer.feeds.entry(feed).or_default();
    if request.validators.is_none() && !was_delayed {
        // The document was just requested without validators; the next such request is allowed after another eight days.
        known.only_304_since = known.only_304_since.map(|_| now);
    }
    let is_again = observer.polls.get(&feed).is_some_and(|requests| *requests > 1);
    if full {
        // On a full disk the answer cannot be stored, so it may be requested again; a requested pause still applies until the
        // next good answer.
        known.wait = if Known::is_good(fetched, answer) { None } else { waits.or(known.wait) };
        return;
    }
    known.learn(request, (fetched, answer), (waits, is_again), now);
    if observer.shifted.remove(&feed) {
        (known.lifetime, known.wait) = (None, None);
    } else if answer.status == 429 {
        observer.hosts.insert(host, waits.or(Some((now, TimeDelta::hours(1)))));
    }
}
