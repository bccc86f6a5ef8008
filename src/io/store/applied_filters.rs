//! The reader's filters, and the entries that each of them hit, as the store keeps them in memory.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::filters::{Action, EntryFilter, PreparedFilters};
use backissue_core::history::{EntryKey, FeedKey};

/// The reader's filters and the entries that each of them hit.
#[derive(Debug, Default)]
pub(super) struct AppliedFilters {
    pub(super) list: Vec<EntryFilter>,
    pub(super) judge: PreparedFilters,
    pub(super) hits: BTreeMap<(u32, FeedKey), BTreeSet<u32>>,
}

/// Entries of a document that filters hit, by the number of the filter.
pub(super) type NewHits = BTreeMap<u32, Vec<u32>>;

impl AppliedFilters {
    pub(super) fn hits_of(&self, filter: u32) -> impl Iterator<Item = EntryKey> + '_ {
        let of_filter = self.hits.range((filter, FeedKey(0))..=(filter, FeedKey(u32::MAX)));
        of_filter
            .flat_map(|((_, feed), seqs)| seqs.iter().map(|&seq| EntryKey { feed: *feed, seq }))
    }

    pub(super) fn has_hit(&self, filter: u32, key: EntryKey) -> bool {
        self.hits.get(&(filter, key.feed)).is_some_and(|seqs| seqs.contains(&key.seq))
    }

    /// Whether one of these filters hit an entry.
    pub(super) fn have_hit(&self, filters: &BTreeSet<u32>, key: EntryKey) -> bool {
        filters.iter().any(|&filter| self.has_hit(filter, key))
    }

    /// Whether a filter other than this one hides an entry.
    pub(super) fn is_hidden_otherwise(&self, filter: u32, key: EntryKey) -> bool {
        let mut others = self.list.iter().filter(|other| other.id != filter);
        others.any(|other| other.action == Action::Hide && self.has_hit(other.id, key))
    }
}
