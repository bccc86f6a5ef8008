//! What another reader knew of the entries of a feed, and what became of it in the store.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::engine::change::MarkChange;
use crate::engine::change::undo_stack::Step;
use crate::engine::entries::filter_work::FilterChanges;
use backissue_core::feed::Entry;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::other_readers::elsewhere::SeenElsewhere;

/// What another reader knew of the entries of a feed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Elsewhere {
    /// What is known of all entries.
    pub seen: SeenElsewhere,
    /// Starred and labelled entries with their texts, which are added if the feed no longer has them.
    pub entries: Vec<Entry>,
}

/// What became of the marks of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarksTaken {
    /// Number of entries that are here and have the mark.
    pub here: usize,
    /// Number of entries that get the mark when they are met.
    pub later: usize,
    /// Number of entries of feeds that are not subscribed to.
    pub unsubscribed: usize,
}

/// What the store did with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElsewhereNoted {
    /// Entries that were read elsewhere.
    pub read: MarksTaken,
    /// Entries that were starred elsewhere.
    pub starred: MarksTaken,
    /// Number of starred or labelled entries that were added with their texts.
    pub added: usize,
    /// Marks that entries got which were here before, for the undo.
    pub marked: BTreeMap<u32, Vec<Flag>>,
    /// Labels that entries got, for the undo.
    pub labelled: Vec<FilterChanges>,
    /// Time of the import, if entries are waited for.
    pub waits_since: Option<DateTime<Utc>>,
}

impl ElsewhereNoted {
    /// Returns the steps that undo it.
    pub fn steps(&self, feed: FeedKey, filters: &[EntryFilter]) -> Vec<Step> {
        let marked = [Flag::Read, Flag::Starred].into_iter().filter_map(|flag| {
            let marked = self.marked.iter().filter(|(_, flags)| flags.contains(&flag));
            let keys: Vec<EntryKey> = marked.map(|(&seq, _)| EntryKey { feed, seq }).collect();
            (!keys.is_empty()).then_some(Step::Marked(MarkChange { flag, value: true, keys }))
        });
        let labelled = self.labelled.iter();
        let labelled = labelled.map(|changes| Step::of_filter(filters.to_vec(), changes.clone()));
        let awaited = self.waits_since.map(|since| Step::Awaited { feed, since, again: false });
        marked.chain(labelled).chain(awaited).collect()
    }

    /// Adds the numbers of another feed.
    pub(super) fn add(&mut self, other: &Self) {
        for (sum, taken) in [(&mut self.read, other.read), (&mut self.starred, other.starred)] {
            sum.here = sum.here.saturating_add(taken.here);
            sum.later = sum.later.saturating_add(taken.later);
            sum.unsubscribed = sum.unsubscribed.saturating_add(taken.unsubscribed);
        }
        self.added = self.added.saturating_add(other.added);
    }
}
