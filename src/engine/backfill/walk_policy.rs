//! Limits of a walk through a feed's archives, and the external archive that the user chose.

use chrono::{DateTime, Utc};

use crate::engine::settings::HistoryMode;
use crate::engine::state::Engine;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::address::host;
use backissue_core::history::{ActiveAdaptor, FeedKey, Gap, Mode, Reason, WalkPolicy};

/// Returns the limits of a walk through a feed's archives. The mode is the feed's own setting, or else the global setting.
pub fn policy(engine: &Engine, feed: FeedKey) -> WalkPolicy {
    let feed_settings = engine.feeds.get(&feed).map(|feed| &feed.record.feed_settings);
    let mode = feed_settings
        .and_then(|feed_settings| feed_settings.history)
        .unwrap_or(engine.settings.history.mode);
    let mode = match mode {
        HistoryMode::Auto => Mode::Auto,
        HistoryMode::Ask => Mode::Ask,
        HistoryMode::Off => Mode::Off,
    };
    let allow_insecure = feed_settings.is_some_and(|feed_settings| feed_settings.allow_insecure);
    let day_documents = engine.settings.history.archives_a_day;
    WalkPolicy { mode, day_documents, allow_insecure, ..WalkPolicy::default() }
}

/// Returns the external archive that the user chose for a feed, in the form that the feed's history expects.
pub fn way(engine: &Engine, feed: FeedKey) -> Option<ActiveAdaptor> {
    let record = &engine.feeds.get(&feed)?.record;
    if FeedSource::of(&record.url) != FeedSource::Web {
        return None;
    }
    let base = engine.settings.history.internet_archive.trim_end_matches('/').to_owned();
    record.feed_settings.archives.map(|adaptor| ActiveAdaptor {
        adaptor,
        base,
        url: record.url.clone(),
    })
}

/// Checks whether the host of `url` answered an archive request of another feed with a 429 whose wait is not over (SPEC B.4 rule
/// 5).
pub fn wants_rest(engine: &Engine, feed: FeedKey, url: &str, now: DateTime<Utc>) -> bool {
    let asked = host(url);
    let says_so = |gap: &Gap| {
        gap.reason == Reason::Status(429)
            && gap.retry_at.is_some_and(|at| now < at)
            && host(&gap.edge.url) == asked
    };
    let others = engine.feeds.values().filter(|other| other.key != feed);
    others.flat_map(|other| other.history.gaps.values()).any(says_so)
}
