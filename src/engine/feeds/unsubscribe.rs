//! Giving up a subscription, and taking that back.
//!
//! The entries stay in the store until the program starts the next time: until then the feed can be had back
//! as it was, with every mark.

use crate::engine::politeness::drop_fetches;
use chrono::{DateTime, Utc};

use super::subscription::Subscription;
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::poll::fetch::Purpose;
use crate::engine::poll::plans;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::engine::undo::undo_stack::Step;
use crate::history::FeedKey;

/// Gives up a subscription; that can be undone.
pub fn unsubscribe(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) -> Vec<Effect> {
    let Some((given_up, effects)) = give_up(engine, now, feed) else { return Vec::new() };
    engine.undo.push(Step::Unsubscribed(Box::new(given_up)));
    effects
}

/// Gives up a subscription; answers with it, to have it back.
pub fn give_up(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
) -> Option<(Subscription, Vec<Effect>)> {
    let mut subscription = engine.feeds.remove(&feed)?;
    engine.timetable.remove(&feed);
    engine.polls.remove(&feed);
    engine.poll_run.forget(feed);
    let dropped = engine.host_queue.take_waiting(|waiting| match waiting.purpose {
        Purpose::Poll(polled) => polled == feed,
        Purpose::FullText(key) => key.feed == feed,
        Purpose::Archive(_) | Purpose::Picture(_) | Purpose::Discover(_) => false,
    });
    for waiting in dropped {
        if let Purpose::FullText(key) = waiting.purpose {
            drop_fetches::drop_page(engine, key, "its feed was given up");
        }
    }
    drop_fetches::drop_walk(engine, feed);
    subscription.history.asking = None;
    subscription.record.ended = Some(now);
    engine.say_undoable(format!("unsubscribed from '{}'", subscription.record.shown_title()));
    let effect = save(engine, &subscription);
    Some((subscription, vec![effect]))
}

/// Takes a subscription back, with everything that was kept of it.
pub fn take_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    mut subscription: Subscription,
) -> Vec<Effect> {
    let feed = subscription.key;
    subscription.record.ended = None;
    engine.say(format!("subscribed again to '{}'", subscription.record.shown_title()));
    let effect = save(engine, &subscription);
    engine.feeds.insert(feed, subscription);
    plans::replan(engine, feed, now);
    vec![effect]
}

fn save(engine: &mut Engine, subscription: &Subscription) -> Effect {
    engine.unsaved = engine.unsaved.saturating_add(1);
    engine.tell(Event::FeedListChanged);
    Effect::store(Job::SaveRecords(vec![(subscription.key, subscription.record.clone())]))
}
