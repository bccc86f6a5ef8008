//! Learns when feeds publish, to plan their polls (SPEC B.2 rank 6).
//!
//! The rhythm of a feed is learned after a poll, as soon as no poll is under way, and at most once a day. It is learned earlier if
//! the feed published at an unexpected hour or the bounds of its poll interval changed. The store loads the publication times, and
//! a separate thread learns the rhythms of a few feeds at the same time. The learned plan is stored, so that another process does
//! not learn the same rhythm again on that day, and loaded when the feed is polled. Until the plan is loaded, the next poll time
//! that was computed after the last poll applies.
//!
//! A plan is the time of the next poll and the reason for it. It is updated whenever its input changes, and explained on request.

use std::sync::Arc;

use backissue_core::feed::Zone;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{
    LearnTerms, LearnedPlan, LearnedRecord, PRICE_MINUTES, Publications, UsualGap,
};
use backissue_core::schedule::{self, Decision, FeedStatus, Learned, Pace, Plan, Restriction};
use chrono::{DateTime, TimeDelta, Utc};

use super::poll_stage::{LearnWanted, LearnedPart, News, counts, is_enough};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::request::{Effect, Event};
use crate::engine::settings::Settings;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;

/// Maximum number of feeds whose publication rhythms are learned at the same time.
const AT_ONCE: usize = 2;

/// Time after which the publication rhythm of a feed is learned again.
const AGAIN_AFTER: TimeDelta = TimeDelta::days(1);

/// Minimum time between two learning runs of a feed if the second is due to an unexpected publication.
const SURPRISED_AFTER: TimeDelta = TimeDelta::hours(1);

/// A publication is unexpected if it comes in an hour whose publication rate is below this share of the mean rate.
const UNEXPECTED_SHARE: f64 = 0.25;

/// Returns the reason that the learned plan of a feed does not determine the feed's polls, in a few words. Returns `None` if the
/// plan determines them.
pub fn why_not_followed(
    engine: &Engine,
    feed: FeedKey,
    plan: &LearnedPlan,
) -> Option<&'static str> {
    let subscription = engine.feeds.get(&feed)?;
    let facts = &subscription.state.facts;
    let may = subscription.record.feed_settings.learn;
    if may == Some(false) {
        Some("learning is off for this feed")
    } else if !may.unwrap_or(engine.settings.poll.learn) {
        Some("learning is off")
    } else if facts.settings.fixed_seconds.is_some() {
        Some("you fixed the interval")
    } else if !facts.settings.own_rules.is_empty() {
        Some("your own rules come first")
    } else if facts.standing == FeedStatus::Archive {
        Some("an archive never changes")
    } else if !schedule::leaves_room_for_learning(facts) {
        Some("the publisher says how often")
    } else if !facts.hints.intervals.is_empty() {
        Some("the publisher's rules come first")
    } else if !is_enough(plan) {
        Some("not enough is known yet")
    } else {
        None
    }
}

/// Sets a learned plan that was loaded, and updates the poll plan. Keeps the next poll time that was computed after the last poll.
pub fn remember(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, plan: &Arc<LearnedPlan>) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    if !counts(subscription, &engine.settings) || !is_enough(plan) {
        return;
    }
    let facts = &mut subscription.state.facts;
    let fresh = Learned::by_plan(Arc::clone(plan), facts.last_ok, &facts.settings);
    let answered = facts.learned.as_ref().and_then(|learned| learned.answered);
    facts.learned = Some(Learned { answered: answered.or(fresh.answered), ..fresh });
    replan(engine, feed, now);
}

/// Handles a learned plan that was loaded from the store. Even an old plan applies until the rhythm is learned again after the
/// poll.
pub fn record_read(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    record: Option<Box<LearnedRecord>>,
) {
    let (Some(record), Some(subscription)) = (record, engine.feeds.get(&feed)) else { return };
    if !counts(subscription, &engine.settings) || engine.learning.is_known(feed) {
        return;
    }
    let LearnedRecord { terms, plan } = *record;
    engine.learning.done.insert(feed, LearnedPart { at: plan.learned_at, terms });
    remember(engine, now, feed, &Arc::new(plan));
}

/// Called after a poll whose result is durable: queues the feed for learning if that is due. Polls go first ([`start_waiting`]).
pub fn polled(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, news: News) {
    let gap = engine.feeds.get_mut(&feed).and_then(|feed| feed.state.usual_gap.as_mut());
    if let Some(gap) = gap.filter(|_| news.new > 0) {
        gap.note_publication(now);
    }
    if is_due(engine, now, feed) || (news.new > 0 && is_surprised(engine, now, feed)) {
        engine.learning.enqueue(feed);
    }
}

/// Called after the user changed the settings of a feed: starts a learning run for the feed if one is due.
pub fn changed(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    if is_due(engine, now, feed) {
        ask(engine, feed);
    }
}

/// Starts the learning of queued feeds if no poll is under way. A plan matters only for the poll after the next, so learning can
/// wait, and the results of polls are shown sooner.
pub fn start_waiting(engine: &mut Engine) {
    if engine.polls.is_empty() && !engine.learning.is_left {
        next(engine);
    }
}

/// Returns the constraints for learning the plan of a feed, such as the interval bounds.
pub fn terms(engine: &Engine, subscription: &Subscription) -> LearnTerms {
    let settings = &subscription.state.facts.settings;
    LearnTerms {
        min_seconds: settings.min_seconds,
        max_seconds: settings.max_seconds,
        price_minutes: PRICE_MINUTES,
        zone: zone_of(engine.zone),
    }
}

/// Converts a time zone to the type that the schedule uses.
pub fn zone_of(zone: chrono_tz::Tz) -> Zone {
    if zone == chrono_tz::Tz::UTC { Zone::Utc } else { Zone::Named(zone.name().to_owned()) }
}

/// Checks whether a learning run is due: learning applies to the feed, and its learned plan is missing, old, or has other
/// constraints.
fn is_due(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> bool {
    let Some(subscription) = engine.feeds.get(&feed) else { return false };
    let stale = |done: &LearnedPart| {
        let age = now.signed_duration_since(done.at);
        // A plan with a time in the future was learned with a wrong clock, so it counts as old.
        !(TimeDelta::zero()..AGAIN_AFTER).contains(&age)
            || done.terms != terms(engine, subscription)
    };
    counts(subscription, &engine.settings) && engine.learning.done.get(&feed).is_none_or(stale)
}

/// Checks whether a publication at `now` was unexpected according to the learned plan.
fn is_surprised(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> bool {
    let learned = engine.feeds.get(&feed).and_then(|feed| feed.state.facts.learned.as_ref());
    let Some(plan) = learned.and_then(|learned| learned.plan.as_deref()) else { return false };
    plan.is_placed()
        && now.signed_duration_since(plan.learned_at) >= SURPRISED_AFTER
        && plan.times_mean(now) < UNEXPECTED_SHARE
}

/// Starts or queues a learning run for a feed, which loads the publication times first.
pub fn ask(engine: &mut Engine, feed: FeedKey) {
    engine.learning.enqueue(feed);
    next(engine);
}

fn next(engine: &mut Engine) {
    while engine.learning.under_way.len() < AT_ONCE
        && let Some(feed) = engine.learning.take_next()
    {
        engine.store(Job::ReadPublications(feed));
    }
}

/// Handles the publication times of a feed that the store loaded, or `None` if it failed.
pub fn loaded(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    publications: Option<Arc<Publications>>,
) {
    let (Some(publications), Some(subscription)) = (publications, engine.feeds.get_mut(&feed))
    else {
        return ended(engine, feed);
    };
    // The next poll writes the gap with the other parts of the state.
    let state = &mut subscription.state;
    state.usual_gap = UsualGap::learned(state.usual_gap, &publications);
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let learned = subscription.state.facts.learned.as_ref();
    let plan = learned.and_then(|learned| learned.plan.clone());
    let current = plan.is_some() && !is_due(engine, now, feed);
    let surprised = is_surprised(engine, now, feed);
    let terms = terms(engine, subscription);
    if current && !surprised {
        return ended(engine, feed);
    }
    engine.carry_out(Effect::Learn(Box::new(LearnWanted { feed, publications, terms, now })));
}

/// Handles the result of a learning run. Ignores the result if the feed is being polled, because the rhythm is learned again after
/// the poll.
pub fn learned(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    plan: Option<Arc<LearnedPlan>>,
) {
    ended(engine, feed);
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    if engine.polls.contains_key(&feed) || !counts(subscription, &engine.settings) {
        return;
    }
    let terms = terms(engine, subscription);
    if let Some(plan) = plan.as_deref() {
        let record = LearnedRecord { terms: terms.clone(), plan: plan.clone() };
        engine.store(Job::SaveLearned(feed, Box::new(record)));
    }
    engine.learning.done.insert(feed, LearnedPart { at: now, terms });
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let facts = &mut subscription.state.facts;
    let plan = plan.filter(|plan| is_enough(plan));
    let learned = plan.map(|plan| Learned::by_plan(plan, facts.last_ok, &facts.settings));
    if facts.learned.is_none() && learned.is_none() {
        return;
    }
    facts.learned = learned;
    engine.save_state(feed);
    replan(engine, feed, now);
}

fn ended(engine: &mut Engine, feed: FeedKey) {
    engine.learning.under_way.remove(&feed);
    start_waiting(engine);
}

/// Computes the next poll of a feed again, and updates its entry in the timetable.
pub fn replan(engine: &mut Engine, feed: FeedKey, now: DateTime<Utc>) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    fill_in(subscription, &engine.settings);
    if !counts(subscription, &engine.settings) {
        subscription.state.facts.learned = None;
        engine.learning.forget(feed);
    }
    subscription.plan = decided(subscription, engine.salt, now);
    match subscription.plan.due.or(subscription.plan.next_poll) {
        Some(at) if !engine.polls.contains_key(&feed) => engine.timetable.set(at, feed),
        Some(_) | None => {
            engine.timetable.remove(&feed);
        }
    }
    // Emit only one event for many consecutive plan changes.
    if engine.events.last() != Some(&Event::PlansChanged) {
        engine.tell(Event::PlansChanged);
    }
}

/// Returns the plan of a feed without its explanation.
fn decided(subscription: &Subscription, salt: u64, now: DateTime<Utc>) -> Decision {
    schedule::decide_time(&subscription.state.facts, now, spread(subscription, salt))
}

/// Returns the plan of a feed that is not subscribed yet.
pub fn foreseen(
    subscription: &mut Subscription,
    settings: &Settings,
    salt: u64,
    now: DateTime<Utc>,
) -> Decision {
    fill_in(subscription, settings);
    decided(subscription, salt, now)
}

/// Returns the plan of a feed with every step of its explanation.
pub fn explained(engine: &Engine, feed: FeedKey, now: DateTime<Utc>) -> Option<Plan> {
    let subscription = engine.feeds.get(&feed)?;
    Some(schedule::decide(&subscription.state.facts, now, spread(subscription, engine.salt)))
}

/// Returns the plan that a feed would have at another pace.
pub fn at_pace(subscription: &Subscription, salt: u64, pace: Pace, now: DateTime<Utc>) -> Plan {
    schedule::with_pace(&subscription.state.facts, pace, now, spread(subscription, salt))
}

/// Returns the plans of the next `count` polls of a feed if nothing changes.
pub fn following(
    subscription: &Subscription,
    salt: u64,
    count: usize,
    now: DateTime<Utc>,
) -> Vec<Plan> {
    let unit = |last_ok| unit(subscription.key, salt, last_ok);
    schedule::following_plans(&subscription.state.facts, now, count, unit)
}

/// Returns the times of a feed's next polls up to an instant if nothing changes.
pub fn polls_until(
    subscription: &Subscription,
    salt: u64,
    now: DateTime<Utc>,
    end: DateTime<Utc>,
) -> Vec<DateTime<Utc>> {
    let unit = |last_ok| unit(subscription.key, salt, last_ok);
    schedule::polls_until(&subscription.state.facts, now, end, unit)
}

/// Returns the restrictions that prevent an earlier poll of a feed.
pub fn restrictions(
    subscription: &Subscription,
    salt: u64,
    now: DateTime<Utc>,
) -> Vec<Restriction> {
    schedule::floors_in_force(&subscription.state.facts, now, spread(subscription, salt))
}

/// Returns the random share that shifts a feed's next poll (SPEC A.7).
fn spread(subscription: &Subscription, salt: u64) -> f64 {
    unit(subscription.key, salt, subscription.state.facts.last_ok)
}

fn unit(feed: FeedKey, salt: u64, last_ok: Option<DateTime<Utc>>) -> f64 {
    schedule::spread_unit(u128::from(salt), &feed.0.to_be_bytes(), last_ok)
}

/// Copies the user's settings into the facts for the schedule: the feed's own settings, or else the global settings.
fn fill_in(subscription: &mut Subscription, settings: &Settings) {
    let feed_settings = &subscription.record.feed_settings;
    let seconds = |minutes: u32| minutes.saturating_mul(60);
    subscription.state.facts.settings = schedule::ScheduleSettings {
        pace: feed_settings.pace.unwrap_or(settings.poll.pace),
        min_seconds: seconds(feed_settings.min_minutes.unwrap_or(settings.poll.min_minutes)),
        max_seconds: seconds(feed_settings.max_minutes.unwrap_or(settings.poll.max_minutes)),
        default_seconds: seconds(settings.poll.default_minutes),
        fixed_seconds: feed_settings.fixed_minutes.map(seconds),
        own_rules: feed_settings.rules.clone(),
        ignore_expired: feed_settings.ignore_expired,
        ignore_cache_lifetime: feed_settings.ignore_cache_lifetime,
        ignore_skips: feed_settings.ignore_skips,
        by_server: feed_settings.is_polled_by_server(),
    };
    subscription.state.facts.loopback = is_loopback(&subscription.record.url);
}
