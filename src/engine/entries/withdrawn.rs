//! Entries that a complete feed withdrew: the reader is told, and can take it back until the feed changes again (SPEC C.6).

use chrono::{DateTime, Utc};

use crate::engine::effect::Effect;
use crate::engine::model::Model;
use crate::engine::msg::Marked;
use crate::engine::undo::Step;
use crate::engine::wording::entries;
use crate::history::FeedKey;

/// A complete document withdrew entries; that can be undone.
pub fn withdrawn(model: &mut Model, now: DateTime<Utc>, feed: FeedKey, withdrawn: Vec<u32>) {
    let Some(subscription) = model.feeds.get_mut(&feed).filter(|_| !withdrawn.is_empty()) else {
        return;
    };
    let title = subscription.record.shown_title();
    let text = format!("{title} withdrew {} · u undo", entries(withdrawn.len()));
    subscription.history.withdrawn.clone_from(&withdrawn);
    model.screen.say(now, text);
    model.undo.push(Step::Withdrawn { feed, withdrawn });
}

/// The reader wants them back.
pub fn bring_back(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    withdrawn: Vec<u32>,
) -> Vec<Effect> {
    // Another change of the feed took their place.
    let latest = model.feeds.get(&feed).is_some_and(|feed| feed.history.withdrawn == withdrawn);
    if latest {
        return vec![Effect::Restore(feed, withdrawn)];
    }
    model.screen.say(now, "too late: the feed has changed again");
    Vec::new()
}

/// They are back.
pub fn restored(model: &mut Model, now: DateTime<Utc>, marked: &Marked) {
    for (feed, counters) in &marked.counters {
        if let Some(subscription) = model.feeds.get_mut(feed) {
            subscription.counters = *counters;
        }
    }
    model.screen.say(now, format!("{} brought back", entries(marked.changed.len())));
}
