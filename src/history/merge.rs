//! Merging a feed document into what is known of its logical feed (SPEC C.5).
//!
//! The order of C.5 is total, so merging is commutative, associative and idempotent: documents may come in
//! any order, in parts, and again.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::counters::Counters;
use super::kept::{EntryBody, KeptEntry, listed};
use super::rank::{Position, Rank};
use super::row::{Flags, IndexRow, TEXT_LOST};
use super::tombstones::Tombstones;
use crate::feed::fingerprint::content_hash;
use crate::feed::identity::identity_hash;
use crate::feed::{Entry, FeedDocument};

/// Where a document comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPlace {
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
    /// Entries that a complete document withdrew ([`super::complete::withdraw`]).
    pub withdrawn: Vec<u32>,
}

/// One entry to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedEntry {
    pub row: IndexRow,
    /// Its kept form.
    pub kept: KeptEntry,
    /// Its body, if it changed.
    pub body: Option<EntryBody>,
}

/// How a document is merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merging {
    /// Where it comes from.
    pub place: DocumentPlace,
    /// Where its entries stand that state no date; `None`: at first sight.
    pub placed: Option<DateTime<Utc>>,
    /// Entries the publisher gave new ids (SPEC C.8.1 rule 5): the new id, and the identity hash of the old one.
    pub renamed: BTreeMap<String, u64>,
}

impl Merging {
    /// A document that stands at `place` in its feed.
    pub const fn at(place: DocumentPlace) -> Self {
        Self { place, placed: None, renamed: BTreeMap::new() }
    }
}

/// The identity hashes to look up before [`merge`] is called: of the entries, and of those it calls deleted.
/// Those in [`Merging::renamed`] come on top.
pub fn identities(document: &FeedDocument) -> impl Iterator<Item = u64> + '_ {
    let entries = document.entries.iter().map(|entry| identity_hash(&entry.id));
    entries.chain(document.tombstones.iter().map(|tombstone| identity_hash(&tombstone.id)))
}

/// Merges a document that stands at `place` in its feed; see [`merge_as`].
pub fn merge(
    document: &FeedDocument,
    place: DocumentPlace,
    known: &Known,
    counters: Counters,
) -> Merged {
    merge_as(document, &Merging::at(place), &Tombstones::default(), known, counters)
}

/// Merges the entries of `document`.
///
/// 1 - copies of one entry inside the document are settled first: larger entry time, else the first (SPEC C.6)
/// 2 - an entry that is not known is new: unread, or counted as read if an archive or a page brought it
/// 3 - a copy of a known entry replaces it if its rank is larger
/// 4 - equal content keeps the stored text and takes only the larger rank
/// 5 - an entry is deleted while its publisher deleted it later than its winning copy was updated (SPEC C.9)
///
/// First sight and marks are never changed by a later copy.
pub fn merge_as(
    document: &FeedDocument,
    merging: &Merging,
    tombstones: &Tombstones,
    known: &Known,
    counters: Counters,
) -> Merged {
    let mut tombstones = tombstones.clone();
    tombstones.add_from(document);
    let place = merging.place;
    let mut merged = Merged { counters, ..Merged::default() };
    let document_time = document.head.updated.or(document.head.published);
    for entry in one_copy_each(&document.entries) {
        let rank = Rank::new(entry.updated, document_time, place.position, place.fetched_at);
        let content = short_content_hash(entry);
        match known_as(entry, merging, known) {
            None => merged.add(entry, rank, content, merging),
            Some(known) => {
                merged.known = merged.known.saturating_add(1);
                if rank > known.kept.rank {
                    merged.replace(entry, rank, content, known);
                } else if known.row.flags.is_withdrawn() {
                    merged.keep(known);
                }
            }
        }
    }
    merged.apply_tombstones(document, &tombstones, known);
    merged
}

/// The known entry that an entry is a copy of.
fn known_as<'k>(entry: &Entry, merging: &Merging, known: &'k Known) -> Option<&'k KnownEntry> {
    let with = |identity: u64| known.get(&identity).map_or(&[][..], Vec::as_slice).iter();
    with(identity_hash(&entry.id)).find(|candidate| candidate.kept.id == entry.id).or_else(|| {
        let old = merging.renamed.get(&entry.id)?;
        with(*old).find(|candidate| {
            let kept = &candidate.kept;
            (kept.link.is_some() && kept.link == entry.link) || kept.title == entry.title
        })
    })
}

/// Newest and oldest date of a document's own copies, as they would be listed.
pub fn span(
    document: &FeedDocument,
    fetched_at: DateTime<Utc>,
    placed: Option<DateTime<Utc>>,
) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let date = |entry: &Entry| listed(entry.published.or(entry.updated), placed, fetched_at);
    let mut dates = document.entries.iter().map(date);
    let first = dates.next()?;
    Some(dates.fold((first, first), |(newest, oldest), date| (newest.max(date), oldest.min(date))))
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

/// The content hash of an entry's row, made anew of what is kept and of a text: equal, if it is the text of that entry.
pub fn kept_content_hash(kept: &KeptEntry, text: EntryBody) -> u64 {
    let kept = kept.clone();
    short_content_hash(&Entry {
        title: kept.title,
        link: kept.link,
        author: kept.author,
        summary: text.summary,
        content: text.content,
        enclosures: kept.enclosures,
        categories: kept.categories,
        ..Entry::default()
    })
}

impl Merged {
    fn add(&mut self, entry: &Entry, rank: Rank, content: u64, merging: &Merging) {
        let seen = merging.place.fetched_at;
        let kept = KeptEntry { placed: merging.placed, ..KeptEntry::from_copy(entry, seen, rank) };
        let flags = match merging.place.position {
            Position::Subscription => Flags::NEW,
            Position::Page | Position::Archive { .. } | Position::Capture { .. } => Flags::OLD,
        };
        let identity = identity_hash(&entry.id);
        let row = IndexRow { identity, content, listed: kept.listed().timestamp(), flags };
        let seq = self.counters.next_seq;
        self.counters.next_seq = seq.saturating_add(1);
        self.counters.shift(None, Some(row.flags));
        self.new = self.new.saturating_add(1);
        self.entries
            .insert(seq, MergedEntry { row, kept, body: Some(EntryBody::from_copy(entry)) });
    }

    fn replace(&mut self, entry: &Entry, rank: Rank, content: u64, known: &KnownEntry) {
        let old = &known.kept;
        let changed = content != known.row.content;
        let kept = if changed {
            let (placed, deleted) = (old.placed, old.deleted);
            KeptEntry { placed, deleted, ..KeptEntry::from_copy(entry, old.first_seen, rank) }
        } else {
            let (published, updated) = (entry.published, entry.updated);
            KeptEntry { id: entry.id.clone(), rank, published, updated, ..old.clone() }
        };
        let identity = identity_hash(&entry.id);
        let flags = known.row.flags.withdrawn(false);
        let row = IndexRow { identity, content, listed: kept.listed().timestamp(), flags };
        self.counters.shift(Some(known.row.flags), Some(flags));
        let edited = changed && known.row.content != TEXT_LOST;
        self.edited = self.edited.saturating_add(u32::from(edited));
        let body = changed.then(|| EntryBody::from_copy(entry));
        self.entries.insert(known.seq, MergedEntry { row, kept, body });
    }

    /// Writes a known entry whose copy did not win: it is part of the feed again.
    fn keep(&mut self, known: &KnownEntry) {
        let flags = known.row.flags.withdrawn(false);
        self.counters.shift(Some(known.row.flags), Some(flags));
        let row = IndexRow { flags, ..known.row };
        self.entries.insert(known.seq, MergedEntry { row, kept: known.kept.clone(), body: None });
    }

    /// Deletes and revives entries: those written, and the known ones that the document calls deleted.
    fn apply_tombstones(
        &mut self,
        document: &FeedDocument,
        tombstones: &Tombstones,
        known: &Known,
    ) {
        for tombstone in &document.tombstones {
            let same = known.get(&identity_hash(&tombstone.id)).map_or(&[][..], Vec::as_slice);
            for known in same.iter().filter(|known| known.kept.id == tombstone.id) {
                self.entries.entry(known.seq).or_insert_with(|| MergedEntry {
                    row: known.row,
                    kept: known.kept.clone(),
                    body: None,
                });
            }
        }
        for entry in self.entries.values_mut() {
            entry.kept.deleted = tombstones.deleted_at(entry.row.identity).max(entry.kept.deleted);
            let when = entry.kept.deleted;
            let is_deleted =
                when.is_some_and(|when| entry.kept.updated.is_none_or(|at| at <= when));
            let after = entry.row.flags.deleted(is_deleted);
            self.counters.shift(Some(entry.row.flags), Some(after));
            entry.row.flags = after;
        }
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

    fn polled(seconds: i64) -> DocumentPlace {
        DocumentPlace { position: Position::Subscription, fetched_at: at(seconds) }
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
    fn the_hash_of_a_row_is_that_of_what_is_kept_with_the_text_and_of_no_other_text() {
        let stated = |title: &str, updated: i64| Entry {
            link: Some("https://a.example/1?utm_source=feed".into()),
            author: Some("N. N.".into()),
            summary: Some("short".into()),
            categories: vec!["b".into(), "a".into()],
            enclosures: vec![crate::feed::Enclosure {
                url: "https://a.example/1.mp3".into(),
                ..Default::default()
            }],
            ..entry("a", title, Some(updated))
        };
        let first =
            merge(&document(vec![stated("A", 0)]), polled(0), &Known::new(), Counters::default());
        let changed = document(vec![stated("B", 9)]);
        let second = merge(&changed, polled(9), &known(&first), first.counters);
        for MergedEntry { row, kept, body } in [&first, &second].map(|merged| &merged.entries[&0]) {
            let body = body.clone().unwrap();
            assert_eq!(kept_content_hash(kept, body.clone()), row.content);
            let other = EntryBody { content: Some("<p>C</p>".into()), ..body };
            assert_ne!(kept_content_hash(kept, other), row.content);
        }
        assert_ne!(first.entries[&0].row.content, second.entries[&0].row.content);
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
