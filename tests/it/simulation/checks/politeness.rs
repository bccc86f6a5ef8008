//! An observer of all requests, who knows nothing of the program but what publishers said and what the reader asked for
//! (SPEC B.4, D.2, D.4; RFC 9110).
//!
//! What an answer said counts once it is durable: a crash may forget it. That a feed was asked is never forgotten.

use std::collections::{BTreeMap, BTreeSet};

use backissue::engine::poll::fetch::{
    AnswerBody, FailureClass, FetchFailure, FetchRequest, Fetched, RequestKind,
};
use backissue::engine::state::Engine;
use backissue_core::history::{FeedKey, GapKind};
use chrono::{DateTime, TimeDelta, Utc};

use super::archives::Archives;
use super::headers::wait_of;
use super::known::Known;
use super::moments::{Moment, Wait, holds, lesser};
use crate::simulation::machine::Machine;

/// SPEC 0, `HARD_MIN`, in minutes.
const HARD_MIN: u32 = 5;
/// SPEC B.8: a feed is not polled by hand twice within this time.
const COOL_DOWN: TimeDelta = TimeDelta::seconds(60);
/// SPEC 0, `HOST_SPACING`.
const SPACING: TimeDelta = TimeDelta::seconds(1);
/// Requests of one poll at most: the first, one that an answer called for, and one for the current document.
const REQUESTS_A_POLL: u32 = 3;

/// Everything that is remembered.
#[derive(Debug, Default)]
pub struct Observer {
    feeds: BTreeMap<FeedKey, Known>,
    /// What of it is durable.
    durable: BTreeMap<FeedKey, Known>,
    /// Hosts that want to be left alone; what of it is durable.
    hosts: BTreeMap<String, Wait>,
    durable_hosts: BTreeMap<String, Wait>,
    /// Addresses that gave a document before they were subscribed to: a wait of their hosts from before is over for them.
    previewed: BTreeMap<String, Moment>,
    tries: BTreeMap<FeedKey, Moment>,
    /// Feeds whose request was decided on before a sleep and went out after it.
    delayed: BTreeSet<FeedKey>,
    /// Feeds whose answer came over a sleep or by another clock than they were asked by: what it counts from is not known to
    /// the second.
    shifted: BTreeSet<FeedKey>,
    /// Requests under way by host, and when the last one ended.
    under_way: BTreeMap<String, u32>,
    ended: BTreeMap<String, Moment>,
    /// Requests of the polls that go on.
    polls: BTreeMap<FeedKey, u32>,
    /// What was known before them, and when the program had a good answer last.
    before: BTreeMap<FeedKey, (Known, Moment, Option<DateTime<Utc>>)>,
    /// Polls that somebody wants.
    wanted: BTreeSet<FeedKey>,
    pub archives: Archives,
}

impl Observer {
    pub fn wanted(&mut self, feed: FeedKey) {
        self.wanted.insert(feed);
    }

    /// The reader may have a feed polled again that ended (SPEC D.2, 410).
    pub fn resumed(&mut self, feed: FeedKey) {
        // Where this wish is lost in a crash, the feed is not asked.
        for known in [self.feeds.get_mut(&feed), self.durable.get_mut(&feed)].into_iter().flatten()
        {
            known.gone = false;
        }
    }

    /// Feeds, or all, are to be asked as if nothing were known of them: their tags are forgotten before that, and where the
    /// answer is not kept, no other one comes in their place.
    pub fn forced(&mut self, feeds: Option<&[FeedKey]>) {
        for known in [&mut self.feeds, &mut self.durable] {
            let asked = |feed: &FeedKey| feeds.is_none_or(|feeds| feeds.contains(feed));
            let known = known.iter_mut().filter(|(feed, _)| asked(feed));
            known.for_each(|(_, known)| known.etag = None);
        }
    }

    /// Whatever was handed to the store is durable. What a poll has been told is handed to it when the poll ends.
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

    /// What was not durable may be forgotten, or not.
    pub fn forget_unwritten(&mut self, now: Moment) {
        for (feed, known) in &mut self.durable {
            let Some(last) = self.feeds.get(feed) else { continue };
            known.etag = known.etag.take().filter(|etag| last.etag.as_ref() == Some(etag));
            known.same_tags = known.same_tags.max(last.same_tags);
            // The less strict of the two: a write that nobody was told of may be there.
            known.lifetime = lesser(known.lifetime, last.lifetime, now);
            known.wait = lesser(known.wait, last.wait, now);
            // A good answer ends what its host had asked for.
            known.answered = last.answered.or(known.answered);
            known.gone &= last.gone;
            known.only_304_since = known.only_304_since.or(last.only_304_since);
        }
        for (&feed, last) in &self.feeds {
            // One that is new may be there as well, with what was learned of its server.
            let Known { only_304_since, same_tags, .. } = *last;
            let new = || Known { only_304_since, same_tags, ..Known::default() };
            self.durable.entry(feed).or_insert_with(new);
        }
        self.feeds.clone_from(&self.durable);
        self.hosts.clone_from(&self.durable_hosts);
        self.archives.forget_unwritten();
        // That a feed is asked is written before the request (SPEC G.20), with the time at which that was decided. If the
        // machine slept in between, a poll that never ended is known to be as old as that.
        for feed in std::mem::take(&mut self.delayed) {
            self.tries.remove(&feed);
        }
    }

    pub fn polls_ended(&mut self, going_on: &BTreeSet<FeedKey>, engine: &Engine) {
        let ended = self.before.extract_if(.., |feed, _| !going_on.contains(feed));
        for (feed, (before, begun, last_ok)) in ended {
            // A poll that is dropped because its host wants to be left alone has taken up nothing of what was to be verified.
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

    /// Nothing could be written: not even that feeds were asked, nor what they asked for.
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
        // A forced poll forgets the tag before its request goes out, and the end may come between.
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

/// What a request is for, by what the program has under way.
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

/// The machine slept, or its clock was set: the requests that have not gone out yet were decided on before.
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

/// Judges a request that goes out now.
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
            // After an overrun the newest archive is read once more: it may have grown (SPEC C.8.1).
            let history = machine.app.engine.feeds.get(&feed).map(|feed| &feed.history);
            let is_overrun = history.is_some_and(|history| {
                history.gaps.values().any(|gap| gap.kind() == GapKind::Overrun)
            });
            if observer.archives.is_kept(feed, &request.url) && !is_overrun {
                Err("an archive that is kept is asked for again".into())
            } else {
                Ok(())
            }
        }
        Purpose::Other => Ok(()),
    }
}

/// The reader's minimum for a feed in minutes, and whether cache lifetimes are not believed.
fn bounds(machine: &Machine, feed: FeedKey) -> (u32, bool) {
    let engine = machine.engine();
    let Some(feed) = engine.feeds.get(&feed) else { return (HARD_MIN, false) };
    let chosen = &feed.record.feed_settings;
    let minimum = match chosen.fixed_minutes {
        Some(_) => HARD_MIN,
        None => chosen.min_minutes.unwrap_or(engine.settings.poll.min_minutes).max(HARD_MIN),
    };
    // Only a success that is known makes the reader's own minimum a floor (SPEC B.4 rule 1); and where nothing can be
    // written, what somebody set may be taken back between a decision and its request.
    let facts = &feed.state.facts;
    let is_hard = facts.failures > 0 || facts.last_ok.is_none() || machine.disk_full;
    let minimum = if is_hard { HARD_MIN } else { minimum };
    // An answer from an unproven redirect target says nothing about this feed (SPEC D.3).
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
        // A reader who asks twice confirms it (SPEC B.8).
        if !wanted && holds(known.wait, now) {
            return Err(format!("feed {feed} is asked before its Retry-After is over"));
        }
        // A feed that its host has answered well since then, because the reader asked twice or subscribed to it, is served
        // again.
        let host = observer.hosts.get(&host_of(&request.url)).copied().flatten();
        let previewed = observer.previewed.get(&request.url).copied();
        let served = known.answered.into_iter().chain(previewed).map(|at| at.real).max();
        let host = host.filter(|(since, _)| served.is_none_or(|at| at < since.real));
        if !wanted && holds(host, now) {
            return Err(format!("feed {feed} is asked although its host wants to be left alone"));
        }
        // What was decided on before a sleep, or by another clock, goes out as it was decided.
        if !observer.delayed.contains(&feed) {
            known.judge_validators(request, now, wanted, feed)?;
        }
    }
    // Who wants the whole document forgets the tags before it is asked for (SPEC D.4 rule 8), whatever comes of it: also if
    // the same tag comes and a kill loses that.
    let is_whole = request.kind == RequestKind::Fresh || !is_first;
    if is_whole && request.validators.is_none() {
        known.etag = None;
        observer.durable.entry(feed).and_modify(|durable| durable.etag = None);
    }
    observer.tries.insert(feed, now);
    Ok(())
}

/// Remembers what the next request has to respect.
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
        let unreached = fetched.result.as_ref().err().map(FetchFailure::class)
            == Some(FailureClass::Unreachable);
        // Without a network the attempt does not count, and is made again (SPEC B.4 rule 4).
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
        // Somebody stands between: the attempt does not count (SPEC D.2), neither as one without validators.
        observer.tries.remove(&feed);
        return;
    }
    let was_delayed = observer.delayed.contains(&feed) || observer.shifted.contains(&feed);
    let known = observer.feeds.entry(feed).or_default();
    if request.validators.is_none() && !was_delayed {
        // It was asked for whole: it may be again after as long a time.
        known.only_304_since = known.only_304_since.map(|_| now);
    }
    let is_again = observer.polls.get(&feed).is_some_and(|requests| *requests > 1);
    if full {
        // What cannot be kept has to be asked for again; but whoever wants to be left alone is, until there is a good answer.
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
