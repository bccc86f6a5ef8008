//! Deletions announced by the publisher (RFC 6721). They are stored because an entry may arrive after its tombstone.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::feed::FeedDocument;
use crate::feed::identity::identity_hash;

/// Maximum number of tombstones kept for one feed. The oldest ones are dropped first.
const TOMBSTONES_MAX: usize = 1_000;

/// Deletion times of entries, by the hash of the entry's id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tombstones(BTreeMap<u64, DateTime<Utc>>);

impl Tombstones {
    /// Adds the tombstones of a document. Returns whether anything changed.
    pub(crate) fn add_from(&mut self, document: &FeedDocument) -> bool {
        let mut changed = false;
        for tombstone in &document.tombstones {
            let when = self.0.entry(identity_hash(&tombstone.id)).or_insert(DateTime::UNIX_EPOCH);
            changed |= *when < tombstone.when;
            *when = tombstone.when.max(*when);
        }
        while self.0.len() > TOMBSTONES_MAX {
            let oldest = self.0.iter().min_by_key(|(_, when)| **when).map(|(id, _)| *id);
            oldest.map(|id| self.0.remove(&id));
        }
        changed
    }

    /// Returns the time at which the entry with this identity hash was deleted.
    pub(crate) fn deleted_at(&self, identity: u64) -> Option<DateTime<Utc>> {
        self.0.get(&identity).copied()
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::Tombstone;
    use crate::history::tombstones::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    fn document(tombstones: impl Iterator<Item = i64>) -> FeedDocument {
        let tombstones = tombstones.map(|n| Tombstone { id: n.to_string(), when: at(n) }).collect();
        FeedDocument { tombstones, ..FeedDocument::default() }
    }

    #[test]
    fn latest_tombstone_counts_and_their_number_is_bounded() {
        let mut tombstones = Tombstones::default();
        assert!(tombstones.add_from(&document(0..1_500)));
        assert!(!tombstones.add_from(&document(1_499..1_500)));
        assert_eq!(tombstones.deleted_at(identity_hash("1499")), Some(at(1_499)));
        assert_eq!(tombstones.deleted_at(identity_hash("3")), None);
        assert_eq!(tombstones.0.len(), TOMBSTONES_MAX);
    }

    #[test]
    fn a_record_keeps_tombstones_under_the_name_they_were_stored_by() {
        let stored = r#"{"graves":{"7":"2026-01-01T00:00:00Z"}}"#;
        let record: crate::history::HistoryRecord = serde_json::from_str(stored).unwrap();
        assert!(record.tombstones.deleted_at(7).is_some());
        assert!(serde_json::to_value(&record).unwrap().get("graves").is_some());
    }
}
