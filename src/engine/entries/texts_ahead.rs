//! Fetches the full texts of unread entries before the user opens them, for the feeds whose user wants this.
//!
//! After each poll of such a feed, the pages of its newest unread entries wait in the queue of their site like all other requests,
//! as many as the feed has left today ([`super::ahead`]).

use chrono::{DateTime, Utc};

use super::ahead;
use super::ahead_work::AheadPart;
use super::page_fetches::queue_page;
use super::pictures_ahead;
use crate::engine::effect::Effect;
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::start_fetches;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::history::{EntryKey, FeedKey};

/// Number of a feed's newest entries that are looked at for pages to fetch.
const LOOKED_AT: u32 = 200;

/// After a poll of a feed, reads which of its newest entries lack their full text or, if no full texts are fetched ahead, which have
/// pictures. Returns `None` if neither is fetched ahead, or if what the feed has today is used up.
pub fn look(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> Option<Effect> {
    if ahead::left_today(engine, now, feed, AheadPart::Texts) > 0 {
        return Some(Effect::store(Job::ReadWithoutPage(feed, LOOKED_AT)));
    }
    pictures_ahead::look(engine, now, feed)
}

/// Queues the pages of entries that lack their full text, newest first, as many as the feed has left today.
pub fn queue_pages(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    links: Vec<(EntryKey, String)>,
) -> Vec<Effect> {
    let left = ahead::left_today(engine, now, feed, AheadPart::Texts);
    let mut queued = 0_u32;
    for (key, url) in links {
        if queued >= left {
            break;
        }
        // A site that asked for a wait is left alone; the next poll looks again.
        if let Ok(true) = queue_page(engine, now, key, url, None, PollCause::Due) {
            queued = queued.saturating_add(1);
        }
    }
    let counted = ahead::count(engine, now, feed, |today| {
        today.pages = today.pages.saturating_add(queued);
    });
    let mut effects = Vec::from_iter(counted);
    effects.extend(start_fetches::start(engine, now));
    // If a page was queued, the pictures follow when the last one has arrived.
    effects.extend(pictures_ahead::look(engine, now, feed));
    effects
}
