//! The reader's filters, and the entries that each of them hit, as the store keeps them in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::error::StoreError;
use super::pack::Table;
use super::record_keys::{feed_of, number_of};
use crate::io::{clock, codec};
use backissue_core::filters::{Action, EntryFilter, PreparedFilters};
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::search::NameTest;

/// The key of the filters in the table of facts; they were once called rules.
pub(super) const FILTERS_KEY: &[u8] = b"rules";

/// The reader's filters and the entries that each of them hit.
#[derive(Debug, Default)]
pub(super) struct AppliedFilters {
    pub(super) list: Vec<EntryFilter>,
    pub(super) judge: PreparedFilters,
    pub(super) hits: BTreeMap<(u32, FeedKey), BTreeSet<u32>>,
}

/// Entries of a document that filters hit, by the number of the filter.
pub(super) type NewHits = BTreeMap<u32, Vec<u32>>;

/// Returns the filters in their order; none if their record is damaged.
pub(super) fn saved_in(facts: &Table) -> Result<Vec<EntryFilter>, StoreError> {
    let bytes = facts.get(FILTERS_KEY)?;
    Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
}

impl AppliedFilters {
    /// Reads the filters and their hits; a damaged record of hits counts as none.
    pub(super) fn load(facts: &Table, filter_hits: &Table) -> Result<Self, StoreError> {
        let list = saved_in(facts)?;
        let mut hits: BTreeMap<(u32, FeedKey), BTreeSet<u32>> = BTreeMap::new();
        for pair in filter_hits.iter() {
            let (key, bytes) = pair?;
            let (Some(feed), Some(filter)) = (feed_of(&key), number_of(&key)) else { continue };
            let seqs = codec::decode_compressed::<BTreeSet<u32>>(&bytes).unwrap_or_default();
            hits.insert((filter, feed), seqs);
        }
        Ok(Self { judge: PreparedFilters::new(&list, clock::zone()), list, hits })
    }

    pub(super) fn hits_of(&self, filter: u32) -> impl Iterator<Item = EntryKey> + '_ {
        let of_filter = self.hits.range((filter, FeedKey(0))..=(filter, FeedKey(u32::MAX)));
        of_filter
            .flat_map(|((_, feed), seqs)| seqs.iter().map(|&seq| EntryKey { feed: *feed, seq }))
    }

    pub(super) fn has_hit(&self, filter: u32, key: EntryKey) -> bool {
        self.hits.get(&(filter, key.feed)).is_some_and(|seqs| seqs.contains(&key.seq))
    }

    /// Whether an entry has a label with this name.
    pub(super) fn has_label(&self, key: EntryKey, name: &NameTest) -> bool {
        let mut rules = self.list.iter();
        rules.any(|filter| {
            filter.action.label().is_some_and(|label| name.is_label(label))
                && self.has_hit(filter.id, key)
        })
    }

    /// Whether a filter other than this one hides an entry.
    pub(super) fn is_hidden_otherwise(&self, filter: u32, key: EntryKey) -> bool {
        let mut others = self.list.iter().filter(|other| other.id != filter);
        others.any(|other| other.action == Action::Hide && self.has_hit(other.id, key))
    }
}
