//! Entries withdrawn by a complete feed, because its document no longer contains them. The user is notified and can restore the
//! entries until the feed changes again (SPEC C.6).

use std::sync::Arc;

use crate::engine::effect::Effect;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, Marked};
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;

/// Notifies the user that a complete document withdrew entries. This is no change of the user, so it has no undo step.
pub fn withdrawn(engine: &mut Engine, feed: FeedKey, withdrawn: Vec<u32>) {
    let Some(subscription) = engine.feeds.get_mut(&feed).filter(|_| !withdrawn.is_empty()) else {
        return;
    };
    let title = subscription.record.shown_title();
    let text = format!("{title} withdrew {}", counted_words(withdrawn.len(), "entry", "entries"));
    Arc::make_mut(&mut subscription.history).withdrawn = withdrawn;
    engine.say(format!("{text}; ':restore-withdrawn' on the feed shows them again"));
}

/// Restores the entries that the last changed document of a feed withdrew.
pub fn restore_last(engine: &mut Engine, feed: FeedKey) -> Vec<Effect> {
    let withdrawn = engine.feeds.get(&feed).map(|feed| feed.history.withdrawn.clone());
    let Some(withdrawn) = withdrawn.filter(|withdrawn| !withdrawn.is_empty()) else {
        engine.say("this feed withdrew no entries");
        return Vec::new();
    };
    vec![Effect::store(Job::Restore(feed, withdrawn))]
}

/// Restores withdrawn entries, for an undo step of an earlier version.
pub fn bring_back(engine: &mut Engine, feed: FeedKey, withdrawn: Vec<u32>) -> Vec<Effect> {
    // Entries can be restored only if no later document of the feed withdrew other entries.
    let latest = engine.feeds.get(&feed).is_some_and(|feed| feed.history.withdrawn == withdrawn);
    if latest {
        return vec![Effect::store(Job::Restore(feed, withdrawn))];
    }
    engine.say("too late: the feed has changed again");
    Vec::new()
}

/// Updates the counters of feeds after their withdrawn entries were restored.
pub fn restored(engine: &mut Engine, marked: &Marked) {
    for (feed, counters) in &marked.counters {
        engine.set_counters(*feed, *counters);
    }
    engine.say(format!("{} restored", counted_words(marked.changed.len(), "entry", "entries")));
}
