//! Writes a change: creates the store job for it.

use super::undo_stack::PendingChange;
use super::value::{Change, ChangeId, MarkChange};
use crate::engine::entries::rows::MarkedEntries;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::request::Effect;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, StoreWork};
use backissue_core::history::FeedKey;

/// Writes a change that is already shown. If the write fails, the change is reverted and its undo `step` is dropped.
pub fn write(engine: &mut Engine, change: Change, step: Option<ChangeId>) {
    let job = job(engine, &change);
    if matches!(job, Job::SaveRecords(_) | Job::Absorb { .. }) {
        engine.unsaved = engine.unsaved.saturating_add(1);
    }
    engine.carry_out(Effect::store_change(job, PendingChange::new(change, step)));
}

/// Combines consecutive writes of records that belong to one undo step, so that they are written as one frame, all or none of them.
pub fn join_writes(engine: &mut Engine, effects: &mut Vec<Effect>) {
    let mut first = None;
    for effect in std::mem::take(effects) {
        let Effect::Store(mut work) = effect else {
            effects.push(effect);
            continue;
        };
        if let Some(Effect::Store(before)) = first.and_then(|place: usize| effects.get_mut(place))
            && join(before, &mut work)
        {
            engine.unsaved = engine.unsaved.saturating_sub(1);
            continue;
        }
        // These jobs do not write subscription records, so later writes may be combined with earlier ones.
        if !matches!(work.job, Job::SaveState(..) | Job::KeepHistory(_)) {
            first = Some(effects.len());
        }
        effects.push(Effect::Store(work));
    }
}

/// Adds the records and changes of a write to an earlier write. Returns `false` if they do not belong to the same undo step.
fn join(before: &mut StoreWork, work: &mut StoreWork) -> bool {
    let (Job::SaveRecords(all), Some(known)) = (&mut before.job, &mut before.change) else {
        return false;
    };
    let (Job::SaveRecords(more), Some(later)) = (&mut work.job, &mut work.change) else {
        return false;
    };
    let is_same = known.step == later.step;
    if is_same {
        all.append(more);
        known.changes.append(&mut later.changes);
    }
    is_same
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
        Change::Gap(commit) => Job::KeepHistory(commit.clone()),
        Change::Filters(_) => Job::SaveFilters(engine.filters.list.clone()),
        Change::Searches(_) => Job::SaveSearches(engine.saved_searches.clone()),
    }
}

/// Returns the records of feeds, including removed feeds that can be restored.
pub(super) fn records_of(
    engine: &Engine,
    feeds: &mut dyn Iterator<Item = FeedKey>,
) -> Vec<(FeedKey, SubscriptionRecord)> {
    let known = |feed| engine.feeds.get(&feed).or_else(|| engine.ended.get(&feed));
    feeds.filter_map(|feed| Some((feed, known(feed)?.record.clone()))).collect()
}
