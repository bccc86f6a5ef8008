//! Unsubscribes from feeds and restores removed subscriptions.
//!
//! The data of a removed subscription stays in the store for a week ([`UNDO_KEPT`]). During that week, this or another process can
//! restore the feed with all its marks. Entries of a removed feed do not appear in lists, searches, or counters.
//!
//! A device may not remove everything by itself: what is more than it may do, or of an account, waits for the user's answer.

use backissue_core::accounts::subscriptions::{Leaving, named, needs_answer};
use backissue_core::history::FeedKey;
use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, Utc};

use super::addresses::subscribed_as;
use super::subscription::Subscription;
use crate::engine::change::undo_stack::{Step, UNDO_KEPT, is_over};
use crate::engine::change::value::{ChangeId, Origin};
use crate::engine::change::{self, Change};
use crate::engine::entries::page_fetches;
use crate::engine::politeness::rate_limits;
use crate::engine::poll::fetch::Purpose;
use crate::engine::poll::learn;
use crate::engine::request::{Effect, Event, Request};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;

/// Unsubscribes from a feed and adds an undo step.
pub fn unsubscribe(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    if !engine.feeds.contains_key(&feed) {
        return;
    }
    let step = engine.undo.push(Step::Unsubscribed(feed));
    let there = also_there(&removed_there(engine, &[feed]));
    if let Some(text) = give_up(engine, now, feed, step) {
        engine.say_undoable(format!("{text}{there}"));
    }
}

/// Unsubscribes from a feed and keeps its data so that it can be restored. Returns a sentence about it, or `None` if there is no such
/// subscription.
pub fn give_up(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    step: Option<ChangeId>,
) -> Option<String> {
    let (mut subscription, walk) = leave(engine, feed)?;
    subscription.record.ended = Some(now);
    subscription.record.leaving = match engine.undo.origin {
        Origin::User => Leaving::Removed,
        Origin::Answered(_) => Leaving::Answered,
        Origin::Arrived => Leaving::Stays,
    };
    let text = format!("unsubscribed from '{}'", subscription.record.shown_title());
    engine.ended.insert(feed, subscription);
    engine.tell_when_durable(feed, Event::SubscriptionEnded(feed));
    engine.tell(Event::FeedListChanged);
    engine.effects.extend(walk.map(Effect::store));
    change::write(engine, Change::Unsubscribed(feed), step);
    Some(text)
}

/// Removes a subscription from the engine and cancels its polls and requests. The returned job, if any, writes the changes of its
/// archive walk. Returns `None` if there is no such subscription.
pub fn leave(engine: &mut Engine, feed: FeedKey) -> Option<(Subscription, Option<Job>)> {
    let walk = rate_limits::take_walk(engine, feed);
    let subscription = engine.feeds.remove(&feed)?;
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
            rate_limits::drop_page(engine, key, "you unsubscribed from its feed");
        }
    }
    page_fetches::drop_pictures_ahead(engine, feed);
    Some((subscription, walk))
}

/// Reverts the removal (`given_up` is `true`) or the restoration (`false`) of a subscription after the write failed.
pub fn put_back(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, given_up: bool) {
    if given_up {
        let Some(mut subscription) = engine.ended.remove(&feed) else { return };
        (subscription.record.ended, subscription.record.leaving) = (None, Leaving::Stays);
        engine.feeds.insert(feed, subscription);
        learn::replan(engine, feed, now);
    } else {
        // Ignore the job that writes the archive walk, because writes are failing.
        let Some((mut subscription, _)) = leave(engine, feed) else { return };
        subscription.record.ended = Some(now);
        engine.ended.insert(feed, subscription);
    }
    engine.tell(Event::FeedListChanged);
}

/// Restores a removed subscription with its data. Adds an undo step if `undoable` is `true`. The error is a sentence.
pub fn take_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    undoable: bool,
) -> Result<(), InputFlaw> {
    if let Some(there) = engine.feeds.get(&feed) {
        return Err(flaw!("already subscribed to '{}'", there.record.shown_title()));
    }
    let Some(ended) = engine.ended.get(&feed) else {
        return Err("the feed that you unsubscribed from is no longer kept".into());
    };
    if subscribed_as(engine, &ended.record.url).is_some() {
        let title = ended.record.shown_title();
        return Err(flaw!(
            "already subscribed to '{title}': its earlier entries cannot be restored"
        ));
    }
    let Some(mut subscription) = engine.ended.remove(&feed) else { return Ok(()) };
    (subscription.record.ended, subscription.record.leaving) = (None, Leaving::Stays);
    let step = undoable.then(|| engine.undo.push(Step::Resubscribed(feed))).flatten();
    engine.say(format!("subscribed again to '{}'", subscription.record.shown_title()));
    engine.feeds.insert(feed, subscription);
    engine.tell_when_durable(feed, Event::SubscriptionAdded(feed));
    rate_limits::heed_host(engine, now, feed);
    learn::replan(engine, feed, now);
    engine.tell(Event::FeedListChanged);
    change::write(engine, Change::Resubscribed(feed), step);
    rate_limits::save_wait(engine, feed);
    Ok(())
}

/// Restores a feed that was removed within the last week, and adds an undo step.
pub fn subscribe_again(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    if let Err(why) = take_back(engine, now, feed, true) {
        engine.complain(why);
    }
}

/// Returns the feeds that were removed within the last week, the most recently removed first, each with the time at which its data
/// is deleted.
pub fn recently_removed(
    engine: &Engine,
    now: DateTime<Utc>,
) -> Vec<(&Subscription, DateTime<Utc>)> {
    let kept = |feed: &'_ Subscription| feed.record.ended.filter(|at| !is_over(*at, now));
    let mut removed: Vec<(&Subscription, DateTime<Utc>)> = engine
        .ended
        .values()
        .filter_map(|feed| kept(feed).map(|at| (feed, at + UNDO_KEPT)))
        .collect();
    removed.sort_by_key(|(feed, until)| (std::cmp::Reverse(*until), feed.key));
    removed
}

/// Deletes the data of subscriptions that were removed a week ago or earlier.
pub fn forget_ended(engine: &mut Engine, now: DateTime<Utc>) {
    let is_old = |ended: Option<DateTime<Utc>>| ended.is_none_or(|at| is_over(at, now));
    let old = engine.ended.iter().filter(|(_, feed)| is_old(feed.record.ended));
    let old: Vec<FeedKey> = old.map(|(feed, _)| *feed).collect();
    engine.ended.retain(|feed, _| !old.contains(feed));
    if !old.is_empty() {
        engine.store(Job::ForgetFeeds(old));
    }
}

/// The subscriptions that an account loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedThere {
    /// Name of the account.
    pub account: String,
    /// Number of its subscriptions that are removed, with those that were removed here since the last sync.
    pub count: usize,
    /// Number of its subscriptions before.
    pub of: usize,
}

impl RemovedThere {
    /// Checks whether the user must be asked first.
    pub const fn needs_answer(&self) -> bool {
        needs_answer(self.count, self.of)
    }
}

/// Returns what each account loses if these feeds are unsubscribed.
pub fn removed_there(engine: &Engine, feeds: &[FeedKey]) -> Vec<RemovedThere> {
    let mut found: Vec<RemovedThere> = Vec::new();
    for feed in feeds.iter().filter_map(|feed| engine.feeds.get(feed)) {
        let Some(account) = &feed.record.feed_settings.account else { continue };
        if let Some(known) = found.iter_mut().find(|known| known.account == *account) {
            known.count = known.count.saturating_add(1);
            continue;
        }
        let is_its =
            |feed: &&Subscription| feed.record.feed_settings.account.as_ref() == Some(account);
        let waits = |feed: &&Subscription| feed.record.leaving == Leaving::Removed;
        let waiting = engine.ended.values().filter(is_its).filter(waits).count();
        let of = engine.feeds.values().filter(is_its).count().saturating_add(waiting);
        let count = waiting.saturating_add(1);
        found.push(RemovedThere { account: account.clone(), count, of });
    }
    found
}

/// Describes what accounts lose, as the end of a sentence; empty if they lose nothing.
pub fn also_there(there: &[RemovedThere]) -> String {
    let account = |it: &RemovedThere| match it.count {
        1 => format!(", also on '{}'", it.account),
        count => format!(", also on '{}' ({count} of its {} feeds)", it.account, it.of),
    };
    there.iter().map(account).collect()
}

/// Notes that a device asks to unsubscribe from a feed.
pub fn hold_removal(engine: &mut Engine, device: &str, feed: FeedKey) {
    let held = engine.held_removals.entry(device.to_owned()).or_default();
    if !held.contains(&feed) {
        held.push(feed);
    }
    let job = Job::SaveHeld(device.to_owned(), held.clone());
    engine.tell(Event::PlansChanged);
    engine.store(job);
}

/// Forgets what a device asks for. Returns the request that does it if the user said yes.
pub fn answer_held(engine: &mut Engine, device: &str, yes: bool) -> Option<Request> {
    let held = engine.held_removals.remove(device).unwrap_or_default();
    let known = held.into_iter().filter(|feed| yes && engine.feeds.contains_key(feed));
    let removed: Vec<Request> = known.map(Request::Unsubscribe).collect();
    engine.tell(Event::PlansChanged);
    (!removed.is_empty()).then_some(Request::Together(removed))
}

/// Describes what a device asks for; `None` if it asks for nothing.
pub fn removals_held(engine: &Engine, device: &str) -> Option<String> {
    let held = engine.held_removals.get(device)?;
    let there = also_there(&removed_there(engine, held));
    let feeds = held.iter().filter_map(|feed| engine.feeds.get(feed));
    let titles: Vec<&str> = feeds.map(|feed| feed.record.shown_title()).collect();
    (!titles.is_empty()).then(|| format!("unsubscribe from {}{there}", named(titles)))
}
