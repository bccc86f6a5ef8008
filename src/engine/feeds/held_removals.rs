//! Removals of feeds that a device asks for and that wait for the user's answer: more than a device may do by itself, or of an account.

use backissue_core::accounts::subscriptions::named;
use backissue_core::history::FeedKey;

use super::unsubscribe::{also_there, removed_there};
use crate::engine::request::{Event, Request};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;

/// Notes that a device asks to unsubscribe from a feed.
pub fn hold(engine: &mut Engine, device: &str, feed: FeedKey) {
    let held = engine.held_removals.entry(device.to_owned()).or_default();
    if !held.contains(&feed) {
        held.push(feed);
    }
    let job = Job::SaveHeld(device.to_owned(), held.clone());
    engine.tell(Event::PlansChanged);
    engine.store(job);
}

/// Forgets what a device asks for. Returns the request that does it if the user said yes.
pub fn answer(engine: &mut Engine, device: &str, yes: bool) -> Option<Request> {
    let held = engine.held_removals.remove(device).unwrap_or_default();
    let known = held.into_iter().filter(|feed| yes && engine.feeds.contains_key(feed));
    let removed: Vec<Request> = known.map(Request::Unsubscribe).collect();
    engine.tell(Event::PlansChanged);
    (!removed.is_empty()).then_some(Request::Together(removed))
}

/// Describes what a device asks for; `None` if it asks for nothing.
pub fn words(engine: &Engine, device: &str) -> Option<String> {
    let held = engine.held_removals.get(device)?;
    let there = also_there(&removed_there(engine, held));
    let feeds = held.iter().filter_map(|feed| engine.feeds.get(feed));
    let titles: Vec<&str> = feeds.map(|feed| feed.record.shown_title()).collect();
    (!titles.is_empty()).then(|| format!("unsubscribe from {}{there}", named(titles)))
}
