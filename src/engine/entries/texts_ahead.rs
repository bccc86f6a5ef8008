//! Fetches the full texts of unread entries before the user opens them, for the feeds whose user wants this.
//!
//! After each poll of such a feed, the pages of its newest unread entries wait in the queue of their site like all other requests.
//! A feed has at most [`PAGES_A_DAY`] pages a day; what is left over follows after the polls of the next day.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::page_fetches::queue_page;
use crate::engine::effect::Effect;
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::start_fetches;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::history::{EntryKey, FeedKey};

/// Maximum number of pages that are fetched ahead for a feed in a day.
const PAGES_A_DAY: u32 = 50;
/// Number of a feed's newest entries that are looked at for pages to fetch.
const LOOKED_AT: u32 = 200;

/// The number of pages that were fetched ahead for a feed in a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PagesAhead {
    /// The day, in UTC.
    pub day: NaiveDate,
    /// Number of pages that were requested on this day.
    pub pages: u32,
}

impl PagesAhead {
    fn on(self, day: NaiveDate) -> Self {
        if self.day == day { self } else { Self { day, pages: 0 } }
    }
}

/// After a poll of a feed, reads which of its newest entries lack their full text. Returns `None` if the feed's texts are not
/// fetched ahead, or if its pages of today are used up.
pub fn look_for_pages(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> Option<Effect> {
    let subscription = engine.feeds.get(&feed)?;
    let is_wanted = subscription.record.feed_settings.text_ahead && !engine.offline;
    let used = subscription.state.ahead.on(day_of(now, chrono_tz::UTC)).pages;
    (is_wanted && used < PAGES_A_DAY).then(|| Effect::store(Job::ReadWithoutPage(feed, LOOKED_AT)))
}

/// Queues the pages of entries that lack their full text, newest first, as many as the feed has left today.
pub fn queue_pages(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    links: Vec<(EntryKey, String)>,
) -> Vec<Effect> {
    let day = day_of(now, chrono_tz::UTC);
    let Some(subscription) = engine.feeds.get(&feed) else { return Vec::new() };
    let mut ahead = subscription.state.ahead.on(day);
    for (key, url) in links {
        if ahead.pages >= PAGES_A_DAY {
            break;
        }
        // A site that asked for a wait is left alone; the next poll looks again.
        if let Ok(true) = queue_page(engine, now, key, url, None, PollCause::Due) {
            ahead.pages = ahead.pages.saturating_add(1);
        }
    }
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Vec::new() };
    let mut effects = Vec::new();
    if subscription.state.ahead != ahead {
        subscription.state.ahead = ahead;
        effects.push(Effect::store(Job::SaveState(feed, subscription.state.clone())));
    }
    effects.extend(start_fetches::start(engine, now));
    effects
}

/// Returns how many pages of a feed were fetched ahead today, in words. Returns `None` if its texts are not fetched ahead.
pub fn used_words(engine: &Engine, feed: FeedKey, now: DateTime<Utc>) -> Option<String> {
    let subscription = engine.feeds.get(&feed)?;
    let used = subscription.state.ahead.on(day_of(now, chrono_tz::UTC)).pages;
    let is_wanted = subscription.record.feed_settings.text_ahead;
    is_wanted.then(|| format!("{used} of at most {PAGES_A_DAY} pages today"))
}
