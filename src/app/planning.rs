//! Plans: made anew whenever something they depend on changed, explained when somebody asks.

use chrono::{DateTime, Utc};

use super::model::Model;
use super::settings::Settings;
use super::subscription::Subscription;
use super::traffic::is_loopback;
use crate::history::FeedKey;
use crate::schedule::{self, Decision, Plan};

/// Makes the plan of a feed anew and puts it into the timetable.
pub fn replan(model: &mut Model, feed: FeedKey, now: DateTime<Utc>) {
    let Some(subscription) = model.feeds.get_mut(&feed) else { return };
    fill_in(subscription, &model.settings);
    subscription.plan = decided(subscription, model.salt, now);
    match subscription.plan.due.or(subscription.plan.next_poll) {
        Some(at) if !model.busy.contains_key(&feed) => model.timetable.set(at, feed),
        Some(_) | None => {
            model.timetable.remove(&feed);
        }
    }
}

/// The plan of a feed without its explanation.
fn decided(subscription: &Subscription, salt: u64, now: DateTime<Utc>) -> Decision {
    schedule::decide_time(&subscription.state.facts, now, spread(subscription, salt))
}

/// The plan of a feed with every step of its explanation.
pub fn explained(model: &Model, feed: FeedKey, now: DateTime<Utc>) -> Option<Plan> {
    let subscription = model.feeds.get(&feed)?;
    Some(schedule::decide(&subscription.state.facts, now, spread(subscription, model.salt)))
}

/// The share of jitter of a feed's next poll (SPEC A.7).
fn spread(subscription: &Subscription, salt: u64) -> f64 {
    let key = subscription.key.0.to_be_bytes();
    schedule::spread_unit(u128::from(salt), &key, subscription.state.facts.last_ok)
}

/// Fills the reader's wishes into the facts: those of the feed, else the global ones.
fn fill_in(subscription: &mut Subscription, settings: &Settings) {
    let wishes = &subscription.record.wishes;
    let seconds = |minutes: u32| minutes.saturating_mul(60);
    subscription.state.facts.settings = schedule::Settings {
        pace: wishes.pace.unwrap_or(settings.poll.pace),
        min_seconds: seconds(wishes.min_minutes.unwrap_or(settings.poll.min_minutes)),
        max_seconds: seconds(wishes.max_minutes.unwrap_or(settings.poll.max_minutes)),
        default_seconds: seconds(settings.poll.default_minutes),
        fixed_seconds: wishes.fixed_minutes.map(seconds),
        ignore_expired: wishes.ignore_expired,
        ..schedule::Settings::default()
    };
    subscription.state.facts.loopback = is_loopback(&subscription.record.url);
}
