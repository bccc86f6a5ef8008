//! Entries that a complete feed withdrew: the reader is told, and can take it back until the feed changes again (SPEC C.6).

use crate::engine::effect::Effect;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, Marked};
use crate::engine::undo::undo_stack::Step;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;

/// A complete document withdrew entries; that can be undone.
pub fn withdrawn(engine: &mut Engine, feed: FeedKey, withdrawn: Vec<u32>) {
    let Some(subscription) = engine.feeds.get_mut(&feed).filter(|_| !withdrawn.is_empty()) else {
        return;
    };
    let title = subscription.record.shown_title();
    let text = format!("{title} withdrew {}", counted_words(withdrawn.len(), "entry", "entries"));
    subscription.history.withdrawn.clone_from(&withdrawn);
    engine.say_undoable(text);
    engine.undo.push(Step::Withdrawn { feed, withdrawn });
}

/// The reader wants them back.
pub fn bring_back(engine: &mut Engine, feed: FeedKey, withdrawn: Vec<u32>) -> Vec<Effect> {
    // Another change of the feed took their place.
    let latest = engine.feeds.get(&feed).is_some_and(|feed| feed.history.withdrawn == withdrawn);
    if latest {
        return vec![Effect::store(Job::Restore(feed, withdrawn))];
    }
    engine.say("too late: the feed has changed again");
    Vec::new()
}

/// They are back.
pub fn restored(engine: &mut Engine, marked: &Marked) {
    for (feed, counters) in &marked.counters {
        engine.set_counters(*feed, *counters);
    }
    engine.say(format!("{} brought back", counted_words(marked.changed.len(), "entry", "entries")));
}
