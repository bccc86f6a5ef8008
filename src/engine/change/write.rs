//! Writes a change: creates the store job for it.

use super::value::{Change, ChangeId, MarkChange, PendingChange};
use crate::engine::effect::Effect;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, MarkedEntries};
use backissue_core::history::FeedKey;

/// Writes a change that is already shown. If the write fails, the change is reverted and its undo `step` is dropped.
pub fn write(engine: &mut Engine, change: Change, step: Option<ChangeId>) -> Effect {
    let job = job(engine, &change);
    if matches!(job, Job::SaveRecords(_) | Job::Absorb { .. }) {
        engine.unsaved = engine.unsaved.saturating_add(1);
    }
    Effect::store_change(job, PendingChange { change, step })
}

/// Returns the store job that writes the values that a change shows.
fn job(engine: &Engine, change: &Change) -> Job {
    let records = |feeds: &mut dyn Iterator<Item = FeedKey>| records_of(engine, feeds);
    match change {
        Change::Mark(MarkChange { flag, value, keys }) => {
            let entries = MarkedEntries::These(keys.clone());
            Job::Mark { entries, flag: *flag, value: *value }
        }
        Change::Feeds(feeds) => Job::SaveRecords(records(&mut feeds.iter().map(|(feed, _)| *feed))),
        Change::Subscribed(added, changed) => {
            let changed = changed.iter().map(|(feed, _)| *feed);
            Job::SaveRecords(records(&mut added.iter().copied().chain(changed)))
        }
        Change::Unsubscribed(feed) | Change::Resubscribed(feed) => {
            Job::SaveRecords(records(&mut [*feed].into_iter()))
        }
        Change::Merged { from, into: (into, _) } => {
            let (from, into) = (*from, *into);
            Job::Absorb { from, into, records: records(&mut [from, into].into_iter()) }
        }
        Change::Filters(_) => Job::SaveFilters(engine.filters.list.clone()),
        Change::Searches(_) => Job::SaveSearches(engine.saved_searches.clone()),
    }
}

/// Returns the records of feeds, also of removed ones that can be restored.
pub(super) fn records_of(
    engine: &Engine,
    feeds: &mut dyn Iterator<Item = FeedKey>,
) -> Vec<(FeedKey, SubscriptionRecord)> {
    let known = |feed| engine.feeds.get(&feed).or_else(|| engine.ended.get(&feed));
    feeds.filter_map(|feed| Some((feed, known(feed)?.record.clone()))).collect()
}
