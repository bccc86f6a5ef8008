//! The data needed to undo one change.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::value::MarkChange;
use crate::engine::entries::filter_work::FilterChanges;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::subscription::{ProposedMove, SubscriptionRecord};
use crate::engine::saved_searches::SavedSearch;
use backissue_core::feed::text::counted_words;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag, GapKey};

/// Maximum number of entries in a stored step. Such a step takes at most 2 MB, because an entry that is not adjacent to another
/// takes 8 bytes.
const SAVED_ENTRIES_MAX: usize = 250_000;

/// The data needed to undo one change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// A mark was set or cleared on these entries.
    Marked(MarkChange),
    /// A subscription was removed; it is in [`crate::engine::state::Engine::ended`].
    Unsubscribed(FeedKey),
    /// A removed subscription was restored.
    Resubscribed(FeedKey),
    /// The address of a subscription was changed, or a proposed or insecure address was accepted or declined.
    Readdressed {
        /// The subscription.
        feed: FeedKey,
        /// Record of the subscription before the change.
        before: Box<SubscriptionRecord>,
        /// The proposed move before the change.
        proposed: Option<ProposedMove>,
    },
    /// A complete feed withdrew entries.
    Withdrawn {
        /// The feed.
        feed: FeedKey,
        /// Numbers of the withdrawn entries.
        withdrawn: Vec<u32>,
    },
    /// The user hid a gap.
    Dismissed {
        /// The feed.
        feed: FeedKey,
        /// The gap.
        gap: GapKey,
    },
    /// A hidden gap was shown again.
    ShownAgain {
        /// The feed.
        feed: FeedKey,
        /// The gap.
        gap: GapKey,
    },
    /// A search was saved, renamed or removed.
    Searches {
        /// The saved searches before the change.
        before: Vec<SavedSearch>,
    },
    /// A filter was added, changed or removed.
    Filters {
        /// The filters before the change.
        before: Vec<EntryFilter>,
        /// Changes that the new filters made to entries.
        changes: Box<FilterChanges>,
        /// `true` if the step redoes the change, `false` if it undoes the change.
        forward: bool,
    },
    /// A tag was renamed.
    Retagged {
        /// Tags of the affected feeds before the change.
        tags: Vec<(FeedKey, Vec<String>)>,
        /// Filters before the change, because filters may name the tag.
        filters: Vec<EntryFilter>,
        /// Tags and filters after the change; empty in steps of earlier versions.
        #[serde(default)]
        after: (Vec<(FeedKey, Vec<String>)>, Vec<EntryFilter>),
    },
    /// Entries of a feed that another reader knew are waited for, or no longer.
    Awaited {
        /// The feed.
        feed: FeedKey,
        /// Time of the import.
        since: DateTime<Utc>,
        /// `true` if undoing the step waits for the entries again, `false` if it stops waiting.
        again: bool,
    },
    /// Steps of changes that are undone together, in the order of the changes.
    Together(Vec<Self>),
    /// Steps of an import, which are undone together.
    Imported(Vec<Self>),
    /// The user changed the settings of a subscription.
    Changed {
        /// The subscription.
        feed: FeedKey,
        /// The settings before the change.
        before: Box<Chosen>,
        /// The settings after the change; `None` in steps of earlier versions.
        #[serde(default)]
        after: Option<Box<Chosen>>,
    },
}

impl Step {
    /// Creates the step of changed settings.
    pub fn changed(feed: FeedKey, before: Chosen, after: Chosen) -> Self {
        Self::Changed { feed, before: Box::new(before), after: Some(Box::new(after)) }
    }

    /// Creates the step of a change of the filters, with the filters before it.
    pub fn of_filter(before: Vec<EntryFilter>, changes: FilterChanges) -> Self {
        Self::Filters { before, changes: Box::new(changes), forward: false }
    }

    /// Returns the single steps of the step, in the order of the changes.
    pub fn parts(&self) -> Vec<&Self> {
        if let Self::Together(steps) | Self::Imported(steps) = self {
            steps.iter().flat_map(Self::parts).collect()
        } else {
            vec![self]
        }
    }

    /// Adds a part to the step of an import. What a filter did to entries completes the part of the new filter.
    pub fn join(&mut self, part: Self) {
        let Self::Imported(parts) = self else { return };
        if let Self::Filters { changes: done, .. } = &part {
            let is_of_filter = |known: &&mut Self| {
                let Self::Filters { changes, .. } = known else { return false };
                **changes == FilterChanges::none(done.filter)
            };
            if let Some(Self::Filters { changes, .. }) = parts.iter_mut().find(is_of_filter) {
                changes.clone_from(done);
                return;
            }
        }
        parts.push(part);
    }

    /// Returns the subscriptions that the undo of the step removes.
    pub fn removed_feeds(&self) -> Vec<FeedKey> {
        let removed =
            |step: &Self| if let Self::Resubscribed(feed) = step { Some(*feed) } else { None };
        self.parts().into_iter().filter_map(removed).collect()
    }

    /// Returns the largest number of a filter that the step names.
    pub(super) fn last_filter(&self) -> Option<u32> {
        let filter = |step: &Self| {
            if let Self::Filters { changes, .. } = step { Some(changes.filter) } else { None }
        };
        self.parts().into_iter().filter_map(filter).max()
    }

    /// Checks whether the step is small enough to be stored.
    pub fn is_saved(&self) -> bool {
        self.entries() <= SAVED_ENTRIES_MAX
    }

    pub(super) fn leave_out(&mut self, mark: (Flag, bool), had_it: &BTreeSet<EntryKey>) {
        if let Self::Together(steps) | Self::Imported(steps) = self {
            for step in steps {
                step.leave_out(mark, had_it);
            }
        } else if let Self::Marked(change) = self
            && (change.flag, change.value) == mark
        {
            change.keys.retain(|key| !had_it.contains(key));
        }
    }

    /// Checks whether the step has no effect because it consists only of marks without entries.
    pub fn is_nothing(&self) -> bool {
        let is_empty = |step: &Self| matches!(step, Self::Marked(mark) if mark.keys.is_empty());
        self.parts().into_iter().all(is_empty)
    }

    /// Returns the number of entries in the step.
    fn entries(&self) -> usize {
        let count = |step: &Self| {
            if let Self::Marked(mark) = step {
                mark.keys.len()
            } else if let Self::Withdrawn { withdrawn, .. } = step {
                withdrawn.len()
            } else if let Self::Filters { changes, .. } = step {
                [changes.before.len(), changes.after.len(), changes.flags.len()].iter().sum()
            } else {
                0
            }
        };
        self.parts().into_iter().map(count).sum()
    }
}

/// Describes an import that is undone or redone.
pub fn words_of_import(steps: &[Step]) -> String {
    let is_feed = |step: &&Step| matches!(step, Step::Resubscribed(_) | Step::Unsubscribed(_));
    let feeds = steps.iter().filter(is_feed).count();
    if feeds == 0 { words_together(steps) } else { counted_words(feeds, "feed", "feeds") }
}

/// Describes the changes that undoing a combined step makes, for a notice.
pub fn words_together(steps: &[Step]) -> String {
    let count = |is: fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    let removed = count(|step| matches!(step, Step::Resubscribed(_)));
    let brought_back = count(|step| matches!(step, Step::Unsubscribed(_)));
    let awaited = count(|step| matches!(step, Step::Awaited { .. }));
    let shown = steps.len().saturating_sub(awaited);
    let others = shown.saturating_sub(removed).saturating_sub(brought_back);
    let parts = [
        (removed, "unsubscribed from ", "feed", "feeds"),
        (brought_back, "subscribed again to ", "feed", "feeds"),
        (others, "", "change", "changes"),
        (if shown == 0 { awaited } else { 0 }, "entries that were awaited for ", "feed", "feeds"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts =
        parts.map(|(count, what, one, more)| format!("{what}{}", counted_words(count, one, more)));
    parts.collect::<Vec<_>>().join(", ")
}
