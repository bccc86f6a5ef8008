//! What waits for its turn, or is under way, and is not asked for after all.

use std::sync::Arc;

use crate::engine::backfill::walk_stage::WalkStage;
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::subscription::HistoryCommit;
use crate::engine::poll::fetch::Purpose;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::history::{EntryKey, FeedKey};

/// A feed is given up, or its host wants to be left alone: its walk is dropped and goes on after a later check. What it
/// settled without a request, or forgot because the reader wants everything read anew, is written: what is kept of the
/// archives and what is known of them stay one.
pub fn drop_walk(engine: &mut Engine, feed: FeedKey) -> Option<Effect> {
    let backfill = engine.backfills.remove(&feed);
    engine.host_queue.drop_waiting(|purpose| *purpose == Purpose::Archive(feed));
    let subscription = engine.feeds.get_mut(&feed)?;
    Arc::make_mut(&mut subscription.history).asking = None;
    // What is being written is everything that there is to write.
    let mut backfill = backfill.filter(|backfill| backfill.stage != WalkStage::Writing)?;
    let (record, nodes) = (subscription.history.clone(), backfill.nodes.take_touched());
    let commit = HistoryCommit { feed, record, nodes, document: None };
    Some(Effect::store(Job::KeepHistory(Box::new(commit))))
}

/// The host wants to be left alone, or the feed was given up: the page is not asked for after all.
pub fn drop_page(engine: &mut Engine, key: EntryKey, why: &str) {
    engine.pages.remove(&key);
    engine.tell(Event::PageDropped(key, why.to_owned()));
}
