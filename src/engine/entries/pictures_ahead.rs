//! Fetches the pictures of unread entries before the user opens them, for the feeds whose user wants this.
//!
//! After each poll of such a feed, and after the pages that the poll led to, the texts of its newest unread entries are searched for
//! pictures. Those that are not in the cache wait behind all other requests to their site, as many as the feed has left today
//! ([`super::ahead`]). They go into the cache from which the screen shows pictures.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::ahead;
use super::ahead_work::{AheadPart, PictureTask, PictureTaskDone, PicturedText, TextsWanted};
use super::picture_fetches::why_unsupported;
use crate::engine::effect::Effect;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits;
use crate::engine::poll::fetch::Purpose;
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::start_fetches;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::history::{EntryKey, FeedKey};

/// Number of a feed's newest entries that are looked at for pictures to fetch.
const LOOKED_AT: u32 = 50;

/// Reads the texts of a feed's unread entries to find their pictures. Returns `None` if its pictures are not fetched ahead, if those
/// of today are used up, or if pages of the feed arrive first.
pub fn look(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> Option<Effect> {
    let left = ahead::left_today(engine, now, feed, AheadPart::Pictures);
    if left == 0 || engine.pages.keys().any(|key| key.feed == feed) {
        return None;
    }
    let pages = engine.feeds.get(&feed)?.record.feed_settings.full_text;
    Some(Effect::store(Job::ReadTexts(TextsWanted { feed, among: LOOKED_AT, pages })))
}

/// Lets the pictures be found in texts that were read.
pub fn texts_read(engine: &mut Engine, feed: FeedKey, mut texts: Vec<PicturedText>) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get(&feed) else { return Vec::new() };
    for text in texts.iter_mut().filter(|text| text.base.is_none()) {
        text.base.clone_from(&subscription.record.site);
    }
    engine.pictures_ahead.sought.insert(feed);
    vec![Effect::PictureTask(Box::new(PictureTask::Find(feed, texts)))]
}

/// Handles the result of work on the picture cache.
pub fn task_done(engine: &mut Engine, now: DateTime<Utc>, done: PictureTaskDone) -> Vec<Effect> {
    match done {
        PictureTaskDone::Found(feed, found) => {
            engine.pictures_ahead.sought.remove(&feed);
            queue_pictures(engine, now, feed, found)
        }
        PictureTaskDone::Kept(url) => {
            engine.pictures_ahead.forget(&url);
            Vec::new()
        }
    }
}

/// Queues pictures that are not in the cache, as many as the feed has left today.
fn queue_pictures(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    found: Vec<(EntryKey, String)>,
) -> Vec<Effect> {
    let left = ahead::left_today(engine, now, feed, AheadPart::Pictures);
    let mut queued = 0_u32;
    for (key, url) in found {
        if queued >= left {
            break;
        }
        // A site that asked for a wait is left alone; the next poll looks again.
        let is_refused =
            why_unsupported(&url).is_some() || rate_limits::left_alone(engine, now, &url).is_some();
        if is_refused || engine.host_queue.has_picture(&url) {
            continue;
        }
        if engine.pictures_ahead.requested.insert(url.clone(), feed).is_some() {
            // It is being put into the cache.
            continue;
        }
        let waiting = Waiting { url, purpose: Purpose::Picture(key), cause: PollCause::Due };
        engine.host_queue.enqueue(waiting, &engine.settings.network);
        queued = queued.saturating_add(1);
    }
    let counted = ahead::count(engine, now, feed, |today| {
        today.pictures = today.pictures.saturating_add(queued);
    });
    let mut effects = Vec::from_iter(counted);
    effects.extend(start_fetches::start(engine, now));
    effects
}

/// A request for a picture that nobody waits for, after it ended.
#[derive(Debug)]
pub(super) struct AheadPicture {
    /// Address of the picture.
    pub(super) url: String,
    /// Size of the body on the wire, in bytes, also if the request failed.
    pub(super) wire_bytes: u64,
    /// `false` if a failed request says nothing about the picture.
    pub(super) is_final: bool,
}

/// Handles the result of the request for a picture that nobody waits for.
pub(super) fn fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    EntryKey { feed, .. }: EntryKey,
    AheadPicture { url, wire_bytes, is_final }: AheadPicture,
    picture: Option<Arc<Vec<u8>>>,
) -> Vec<Effect> {
    let bytes = picture.as_ref().map_or(0, |bytes| u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    let bytes = bytes.max(wire_bytes);
    let counted = ahead::count(engine, now, feed, |today| {
        today.picture_bytes = today.picture_bytes.saturating_add(bytes);
    });
    if ahead::are_picture_bytes_used_up(engine, now, feed) {
        drop_waiting(engine, feed);
    }
    let mut effects = Vec::from_iter(counted);
    if picture.is_some() || is_final {
        effects.push(Effect::PictureTask(Box::new(PictureTask::Keep(url, picture))));
    } else {
        engine.pictures_ahead.forget(&url);
    }
    effects
}

/// Drops the waiting requests for pictures of a feed that nobody waits for.
pub fn drop_waiting(engine: &mut Engine, feed: FeedKey) {
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Picture(key) if key.feed == feed) && waiting.is_ahead()
    });
    for waiting in dropped {
        engine.pictures_ahead.forget(&waiting.url);
    }
}
