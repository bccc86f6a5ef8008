//! Changes: shown at once, written, and taken back if they cannot be written or the user wants that.
//!
//! A [`Change`] is one value for its whole life. Whoever makes one shows it in the engine and passes it to [`write`], which
//! derives the store's job from it. The engine keeps it until the store answers: after a failed write [`failed_write`] reverts
//! exactly this change. What the user can undo is kept in [`undo_stack`] and done in [`undo`].

pub mod failed_write;
pub mod feed_change;
pub mod key_runs;
pub mod undo;
pub mod undo_stack;

use serde::{Deserialize, Serialize};

use crate::engine::effect::Effect;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::saved_searches::SavedSearch;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, MarkedEntries};
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use feed_change::FeedChange;
use undo_stack::ChangeId;

/// A change that is shown before it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A mark on entries.
    Mark(MarkChange),
    /// Settings, addresses or the standing of feeds.
    Feeds(Vec<(FeedKey, FeedChange)>),
    /// New subscriptions, and changes of feeds that were subscribed to before.
    Subscribed(Vec<FeedKey>, Vec<(FeedKey, FeedChange)>),
    /// A subscription that was removed.
    Unsubscribed(FeedKey),
    /// A removed subscription that was restored.
    Resubscribed(FeedKey),
    /// A subscription that continues as another one.
    Merged {
        /// The one that was removed.
        from: FeedKey,
        /// The one that continues.
        into: FeedKey,
        /// Tags that it took from the other.
        tags: Vec<String>,
    },
    /// One filter; `None`: it is new.
    Filter {
        /// Its number.
        id: u32,
        /// The filter before.
        before: Option<Box<EntryFilter>>,
    },
    /// All filters, as they were before.
    Filters(Vec<EntryFilter>),
    /// The saved searches, as they were before.
    Searches(Vec<SavedSearch>),
}

/// A mark that is set or cleared on entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkChange {
    /// Which mark.
    pub flag: Flag,
    /// Set or cleared.
    pub value: bool,
    /// The entries.
    #[serde(with = "key_runs")]
    pub keys: Vec<EntryKey>,
}

impl MarkChange {
    /// The opposite change.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { value: !self.value, ..self }
    }
}

/// A change that is being written.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingChange {
    /// The change.
    pub change: Change,
    /// The step of undo that was recorded for it.
    pub step: Option<ChangeId>,
}

/// Writes a change that is shown. If the write fails, the change is reverted and its `step` of undo is forgotten.
pub fn write(engine: &mut Engine, change: Change, step: Option<ChangeId>) -> Effect {
    let job = job(engine, &change);
    if matches!(job, Job::SaveRecords(_) | Job::Absorb { .. }) {
        engine.unsaved = engine.unsaved.saturating_add(1);
    }
    Effect::store_change(job, PendingChange { change, step })
}

/// The job that writes a change as it is shown.
fn job(engine: &Engine, change: &Change) -> Job {
    let records = |feeds: &mut dyn Iterator<Item = FeedKey>| -> Vec<(FeedKey, SubscriptionRecord)> {
        let known = |feed| engine.feeds.get(&feed).or_else(|| engine.ended.get(&feed));
        feeds.filter_map(|feed| Some((feed, known(feed)?.record.clone()))).collect()
    };
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
        &Change::Merged { from, into, .. } => {
            Job::Absorb { from, into, records: records(&mut [from, into].into_iter()) }
        }
        Change::Filter { .. } | Change::Filters(_) => Job::SaveFilters(engine.filters.list.clone()),
        Change::Searches(_) => Job::SaveSearches(engine.saved_searches.clone()),
    }
}
