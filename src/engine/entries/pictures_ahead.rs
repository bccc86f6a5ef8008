//! Fetches the pictures of unread entries before the user opens them, for the feeds whose user wants this.
//!
//! After each poll of such a feed, and after the pages that the poll led to, the texts of its newest unread entries are searched for
//! pictures. Those that are not in the cache wait behind all other requests to their site, as many as the feed has left today
//! ([`super::ahead`]). They go into the cache from which the screen shows pictures.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::ahead::{self, AheadPart};
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

/// The pictures that are sought or fetched ahead.
#[derive(Debug, Clone, Default)]
pub struct PicturesAhead {
    /// Feeds in whose texts pictures are being sought.
    sought: BTreeSet<FeedKey>,
    /// Addresses of the pictures that wait, are being fetched, or are being put into the cache, with the feeds that show them.
    requested: BTreeMap<String, FeedKey>,
}

impl PicturesAhead {
    /// Checks whether pictures of any of these feeds are sought or fetched.
    pub fn are_under_way(&self, feeds: &BTreeSet<FeedKey>) -> bool {
        !self.sought.is_disjoint(feeds) || self.requested.values().any(|feed| feeds.contains(feed))
    }

    /// Forgets a picture that is not fetched ahead after all.
    pub fn forget(&mut self, url: &str) {
        self.requested.remove(url);
    }
}

/// Which texts of a feed are read to find their pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextsWanted {
    /// Feed of the entries.
    pub feed: FeedKey,
    /// Number of the newest entries to look at; only the unread ones are read.
    pub among: u32,
    /// `true` to read the stored page of an entry instead of its text, if there is one.
    pub pages: bool,
}

/// A text that may have pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PicturedText {
    /// Entry of the text.
    pub key: EntryKey,
    /// The text, with markup.
    pub html: String,
    /// Address to which relative addresses in the text refer.
    pub base: Option<String>,
}

/// Work on the picture cache.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureTask {
    /// Find the pictures in texts of a feed that are not in the cache.
    Find(FeedKey, Vec<PicturedText>),
    /// Put a fetched picture into the cache. `None` notes that it could not be fetched.
    Keep(String, Option<Arc<Vec<u8>>>),
}

/// Result of work on the picture cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureTaskDone {
    /// Pictures of a feed that are not in the cache, in the order of the texts.
    Found(FeedKey, Vec<(EntryKey, String)>),
    /// The picture with this address is in the cache, or noted as one that could not be fetched.
    Kept(String),
}

impl PictureTask {
    /// Returns the result of a task that failed: no pictures were found, or the picture is not in the cache.
    pub fn failed(&self) -> PictureTaskDone {
        match self {
            Self::Find(feed, _) => PictureTaskDone::Found(*feed, Vec::new()),
            Self::Keep(url, _) => PictureTaskDone::Kept(url.clone()),
        }
    }
}

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
        matches!(waiting.purpose, Purpose::Picture(key) if key.feed == feed) && is_ahead(waiting)
    });
    for waiting in dropped {
        engine.pictures_ahead.forget(&waiting.url);
    }
}

/// Checks whether a request is for a picture that nobody waits for.
pub fn is_ahead(waiting: &Waiting) -> bool {
    matches!(waiting.purpose, Purpose::Picture(_)) && waiting.cause == PollCause::Due
}
