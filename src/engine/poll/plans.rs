//! Plans of feeds (the time of the next poll and the reason for it). A plan is updated whenever its input changes, and explained on
//! request.

use chrono::{DateTime, Utc};

use super::learn_queue;
use crate::engine::event::Event;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::settings::Settings;
use crate::engine::state::Engine;
use backissue_core::history::FeedKey;
use backissue_core::schedule::{self, Decision, Pace, Plan, Restriction};

/// Computes the next poll of a feed again, and updates its entry in the timetable.
pub fn replan(engine: &mut Engine, feed: FeedKey, now: DateTime<Utc>) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    fill_in(subscription, &engine.settings);
    if !learn_queue::counts(subscription, &engine.settings) {
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
