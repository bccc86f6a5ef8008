//! What waits for its turn, or is under way, and is not asked for after all.

use crate::engine::event::Event;
use crate::engine::poll::fetch::Purpose;
use crate::engine::state::Engine;
use crate::history::{EntryKey, FeedKey};

/// A feed is given up, or its host wants to be left alone: its walk is dropped and goes on after a later check.
pub fn drop_walk(engine: &mut Engine, feed: FeedKey) {
    engine.backfills.remove(&feed);
    engine.host_queue.drop_waiting(|purpose| *purpose == Purpose::Archive(feed));
    if let Some(subscription) = engine.feeds.get_mut(&feed) {
        subscription.history.asking = None;
    }
}

/// The host wants to be left alone, or the feed was given up: the page is not asked for after all.
pub fn drop_page(engine: &mut Engine, key: EntryKey, why: &str) {
    engine.pages.remove(&key);
    engine.tell(Event::PageDropped(key, why.to_owned()));
}
