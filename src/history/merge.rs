//! Merging a feed document into what is known of its logical feed (SPEC C.5).
//!
//! The order of C.5 is total, so merging is commutative, associative and idempotent: documents may come in
//! any order, in parts, and again.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::counters::Counters;
use super::kept::{Body, KeptEntry};
use super::rank::{Position, Rank};
use super::row::{Flags, IndexRow};
use crate::feed::fingerprint::content_hash;
use crate::feed::identity::identity_hash;
use crate::feed::{Entry, FeedDocument};

/// Where a document comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its place in the logical feed.
    pub position: Position,
    /// When it was fetched.
    pub fetched_at: DateTime<Utc>,
}

/// An entry that may be the same as one of the document's: its identity hash is equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEntry {
    /// Sequence number.
    pub seq: u32,
    /// Its row.
    pub row: IndexRow,
    /// Its kept form.
    pub kept: KeptEntry,
}

/// The known entries whose identity hashes occur in the document, by that hash.
pub type Known = BTreeMap<u64, Vec<KnownEntry>>;

/// What a merge asks to be written, and what it found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Entries to write, by sequence number.
    pub entries: BTreeMap<u32, MergedEntry>,
    /// The feed's sums afterwards.
    pub counters: Counters,
    /// Entries never seen before.
    pub new: u32,
    /// Known entries whose content changed.
    pub edited: u32,
    /// Entries of the document that were known, changed or not.
    pub known: u32,
}

/// One entry to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedEntry {
    /// Its row.
    pub row: IndexRow,
    /// Its kept form.
    pub kept: KeptEntry,
    /// Its body, if it changed.
    pub body: Option<Body>,
}

/// The identity hashes to look up before [`merge`] is called.
pub fn identities(document: &FeedDocument) -> impl Iterator<Item = u64> + '_ {
    document.entries.iter().map(|entry| identity_hash(&entry.id))
}

/// Merges the entries of `document`.
///
/// 1 - copies of one entry inside the document are settled first: larger entry time, else the first (SPEC C.6)
/// 2 - an entry that is not known is new and unread
/// 3 - a copy of a known entry replaces it if its rank is larger
/// 4 - equal content keeps the stored text and takes only the larger rank
///
/// First sight and marks are never changed by a later copy.
pub fn merge(document: &FeedDocument, place: Place, known: &Known, counters: Counters) -> Merged {
    let mut merged = Merged { counters, ..Merged::default() };
    let document_time = document.head.updated.or(document.head.published);
    for entry in one_copy_each(&document.entries) {
        let rank = Rank::new(entry.updated, document_time, place.position, place.fetched_at);
        let identity = identity_hash(&entry.id);
        let content = short_content_hash(entry);
        let candidates = known.get(&identity).map_or(&[][..], Vec::as_slice);
        match candidates.iter().find(|candidate| candidate.kept.id == entry.id) {
            None => merged.add(entry, rank, identity, content, place.fetched_at),
            Some(known) => {
                merged.known = merged.known.saturating_add(1);
                if rank > known.kept.rank {
                    merged.replace(entry, rank, content, known);
                }
            }
        }
    }
    merged
}

/// Entries with one copy for each id, in document order of the copy that won (SPEC C.6, G.41).
fn one_copy_each(entries: &[Entry]) -> Vec<&Entry> {
    let mut winners: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, entry) in entries.iter().enumerate() {
        let winner = winners.entry(&entry.id).or_insert(place);
        if entries.get(*winner).is_some_and(|current| entry.updated > current.updated) {
            *winner = place;
        }
    }
    let mut places: Vec<usize> = winners.into_values().collect();
    places.sort_unstable();
    places.into_iter().filter_map(|place| entries.get(place)).collect()
}

/// The content hash as the index keeps it.
fn short_content_hash(entry: &Entry) -> u64 {
    let lower = content_hash(entry) & u128::from(u64::MAX);
    u64::try_from(lower).unwrap_or_default()
}

impl Merged {
    fn add(&mut self, entry: &Entry, rank: Rank, identity: u64, content: u64, seen: DateTime<Utc>) {
        let kept = KeptEntry::of(entry, seen, rank);
        let row =
            IndexRow { identity, content, listed: kept.listed().timestamp(), flags: Flags::NEW };
        let seq = self.counters.next_seq;
        self.counters.next_seq = seq.saturating_add(1);
        self.counters.shift(None, Some(row.flags));
        self.new = self.new.saturating_add(1);
        self.entries.insert(seq, MergedEntry { row, kept, body: Some(Body::of(entry)) });
    }

    fn replace(&mut self, entry: &Entry, rank: Rank, content: u64, known: &KnownEntry) {
        let changed = content != known.row.content;
        let kept = if changed {
            KeptEntry::of(entry, known.kept.first_seen, rank)
        } else {
            KeptEntry {
                rank,
                published: entry.published,
                updated: entry.updated,
                ..known.kept.clone()
            }
        };
        let row = IndexRow { content, listed: kept.listed().timestamp(), ..known.row };
        self.edited = self.edited.saturating_add(u32::from(changed));
        let body = changed.then(|| Body::of(entry));
        self.entries.insert(known.seq, MergedEntry { row, kept, body });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    fn entry(id: &str, title: &str, updated: Option<i64>) -> Entry {
        Entry {
            id: id.into(),
            title: Some(title.into()),
            updated: updated.map(at),
            content: Some(format!("<p>{title}</p>")),
            ..Entry::default()
        }
    }

    fn document(entries: Vec<Entry>) -> FeedDocument {
        FeedDocument { entries, ..FeedDocument::default() }
    }

    fn polled(seconds: i64) -> Place {
        Place { position: Position::Subscription, fetched_at: at(seconds) }
    }

    /// What the store would hand over after `merged` was written.
    fn known(merged: &Merged) -> Known {
        let mut known = Known::new();
        for (&seq, entry) in &merged.entries {
            let found = KnownEntry { seq, row: entry.row, kept: entry.kept.clone() };
            known.entry(entry.row.identity).or_default().push(found);
        }
        known
    }

    #[test]
    fn entries_never_seen_are_new_and_unread() {
        let merged = merge(
            &document(vec![entry("a", "A", None), entry("b", "B", None)]),
            polled(0),
            &Known::new(),
            Counters::default(),
        );
        assert_eq!((merged.new, merged.edited), (2, 0));
        assert_eq!(merged.counters, Counters { unread: 2, total: 2, starred: 0, next_seq: 2 });
    }

    #[test]
    fn the_same_document_again_adds_and_edits_nothing() {
        let first = merge(
            &document(vec![entry("a", "A", None)]),
            polled(0),
            &Known::new(),
            Counters::default(),
        );
        let again = merge(
            &document(vec![entry("a", "A", None)]),
            polled(60),
            &known(&first),
            first.counters,
        );
        assert_eq!((again.new, again.edited), (0, 0));
        assert_eq!(again.counters, first.counters);
        assert!(again.entries.values().all(|entry| entry.body.is_none()));
    }

    #[test]
    fn a_changed_title_edits_the_entry_and_keeps_first_sight_and_marks() {
        let mut first = merge(
            &document(vec![entry("a", "A", None)]),
            polled(0),
            &Known::new(),
            Counters::default(),
        );
        first.entries.get_mut(&0).unwrap().row.flags = Flags(3);
        let again = merge(
            &document(vec![entry("a", "B", None)]),
            polled(60),
            &known(&first),
            first.counters,
        );
        assert_eq!((again.new, again.edited), (0, 1));
        let edited = &again.entries[&0];
        assert_eq!((edited.kept.title.as_deref(), edited.kept.first_seen), (Some("B"), at(0)));
        assert_eq!(edited.row.flags, Flags(3));
    }

    #[test]
    fn an_older_copy_never_replaces_a_newer_one() {
        let first = merge(
            &document(vec![entry("a", "new", Some(50))]),
            polled(60),
            &Known::new(),
            Counters::default(),
        );
        let again = merge(
            &document(vec![entry("a", "old", Some(10))]),
            polled(120),
            &known(&first),
            first.counters,
        );
        assert!(again.entries.is_empty());
    }

    #[test]
    fn equal_hashes_of_different_ids_do_not_merge_entries() {
        let first = merge(
            &document(vec![entry("a", "A", None)]),
            polled(0),
            &Known::new(),
            Counters::default(),
        );
        let mut colliding = known(&first).into_values().next().unwrap();
        colliding[0].kept.id = "other".into();
        let known = Known::from([(identity_hash("a"), colliding)]);
        let again =
            merge(&document(vec![entry("a", "A", None)]), polled(60), &known, first.counters);
        assert_eq!(again.new, 1);
        assert!(again.entries.contains_key(&1));
    }

    #[test]
    fn of_two_copies_in_one_document_the_later_updated_wins_else_the_first() {
        let twice = document(vec![
            entry("a", "one", Some(1)),
            entry("a", "two", Some(2)),
            entry("a", "three", Some(2)),
        ]);
        let merged = merge(&twice, polled(10), &Known::new(), Counters::default());
        assert_eq!(merged.entries[&0].kept.title.as_deref(), Some("two"));
        assert_eq!(merged.new, 1);
    }
}
