//! Cancels archive walks and the requests for pages of entries.

use std::sync::Arc;

use crate::engine::backfill::walk_stage::WalkStage;
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::subscription::HistoryCommit;
use crate::engine::poll::fetch::Purpose;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::history::{EntryKey, FeedKey};

/// Cancels the archive walk of a feed, for example because the feed was removed or its host asked for a wait. A new walk starts
/// after a later poll. The returned effect writes changes of the walk that are not written yet, so that the history record and the
/// archives stay consistent.
pub fn drop_walk(engine: &mut Engine, feed: FeedKey) -> Option<Effect> {
    let backfill = engine.backfills.remove(&feed);
    engine.host_queue.drop_waiting(|purpose| *purpose == Purpose::Archive(feed));
    let subscription = engine.feeds.get_mut(&feed)?;
    if subscription.history.asking.is_some() {
        Arc::make_mut(&mut subscription.history).asking = None;
    }
    // In the writing stage, all changes of the walk are already being written.
    let mut backfill = backfill.filter(|backfill| backfill.stage != WalkStage::Writing)?;
    let (record, nodes) = (subscription.history.clone(), backfill.nodes.take_touched());
    let commit = HistoryCommit { feed, record, nodes, document: None };
    Some(Effect::store(Job::KeepHistory(Box::new(commit))))
}

/// Emits an event that the page of an entry will not be requested. `why` is the reason, such as that the feed was removed.
pub fn drop_page(engine: &mut Engine, key: EntryKey, why: &str) {
    engine.pages.remove(&key);
    engine.tell(Event::PageDropped(key, why.to_owned()));
}
