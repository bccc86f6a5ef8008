//! What is fetched before the user opens the entries of a feed, and how much of it a day.
//!
//! After each poll of a feed, the pages and pictures that its user wants ahead wait behind all other requests to their sites, and
//! attached files of new entries are added to the downloads. Each kind has a limit a day. Pages and pictures that are left over follow
//! after the polls of the next day.

use chrono::{DateTime, Utc};

use super::ahead_work::{AheadPart, AheadToday, PICTURE_BYTES_A_DAY};
use crate::engine::effect::Effect;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::history::FeedKey;

/// Returns how many more pages, pictures or files of a feed may be requested ahead today: none if its user does not want them ahead,
/// or if the program is offline.
pub fn left_today(engine: &Engine, now: DateTime<Utc>, feed: FeedKey, part: AheadPart) -> u32 {
    let Some(subscription) = engine.feeds.get(&feed).filter(|_| !engine.offline) else { return 0 };
    if !subscription.record.feed_settings.wants_ahead(part) {
        return 0;
    }
    subscription.state.ahead.on(day_of(now, chrono_tz::UTC)).left(part)
}

/// Checks whether the pictures of today have all the bytes that they may have.
pub fn are_picture_bytes_used_up(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> bool {
    let today = engine.feeds.get(&feed).map(|feed| feed.state.ahead);
    today.is_some_and(|today| {
        today.on(day_of(now, chrono_tz::UTC)).picture_bytes >= PICTURE_BYTES_A_DAY
    })
}

/// Counts what was requested or fetched ahead for a feed. Returns the effect that writes the count, unless nothing changed.
pub fn count(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    count: impl FnOnce(&mut AheadToday),
) -> Option<Effect> {
    let subscription = engine.feeds.get_mut(&feed)?;
    let before = subscription.state.ahead.on(day_of(now, chrono_tz::UTC));
    let mut today = before;
    count(&mut today);
    if today == before {
        return None;
    }
    subscription.state.ahead = today;
    Some(Effect::store(Job::SaveState(feed, subscription.state.clone())))
}

/// Returns what of a feed is fetched ahead, each with the amount of today in words.
pub fn used_words(engine: &Engine, feed: FeedKey, now: DateTime<Utc>) -> Vec<(AheadPart, String)> {
    let Some(subscription) = engine.feeds.get(&feed) else { return Vec::new() };
    let today = subscription.state.ahead.on(day_of(now, chrono_tz::UTC));
    let settings = &subscription.record.feed_settings;
    let wanted = AheadPart::ALL.into_iter().filter(|part| settings.wants_ahead(*part));
    wanted.map(|part| (part, today.words(part))).collect()
}
