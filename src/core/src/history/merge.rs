//! Merges a feed document into the known part of its logical feed (SPEC C.5).
//!
//! The order of copies in SPEC C.5 is total, so merging is commutative, associative and idempotent. Documents may arrive in
//! any order, in parts, and more than once.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::counters::Counters;
use super::kept::{EntryBody, KeptEntry, listed};
use super::rank::{Position, Rank};
use super::row::{Flags, IndexRow, TEXT_LOST};
use super::tombstones::Tombstones;
use super::windows::same_publication::{Former, Signs, find_same};
use crate::feed::fingerprint::content_hash;
use crate::feed::identity::{hashed_identity, identity_hash, is_hashed_identity};
use crate::feed::{Entry, FeedDocument};

/// The origin of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPlace {
    /// Position of the document in the logical feed.
    pub position: Position,
    /// Time at which the document was fetched.
    pub fetched_at: DateTime<Utc>,
}

/// A known entry that may be the same as an entry in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEntry {
    /// Sequence number of the entry in its feed.
    pub seq: u32,
    pub row: IndexRow,
    /// Kept form of the entry.
    pub kept: KeptEntry,
}

/// Known entries by identity hash: those whose hash occurs in the document. If the document also contains entries with
/// unknown ids, the map also contains the known entries that may be the same publications under another id.
pub type Known = BTreeMap<u64, Vec<KnownEntry>>;

/// The result of a merge: entries to write and statistics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Entries to write, by sequence number in the feed.
    pub entries: BTreeMap<u32, MergedEntry>,
    /// The feed's counters after the merge.
    pub counters: Counters,
    /// Number of entries that were never seen before.
    pub new: u32,
    /// Number of known entries whose content changed.
    pub edited: u32,
    /// Sequence numbers of the entries that a complete document withdrew ([`super::complete::withdraw`]).
    pub withdrawn: Vec<u32>,
}

/// An entry to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedEntry {
    pub row: IndexRow,
    /// Kept form of the entry.
    pub kept: KeptEntry,
    /// Body of the entry, if it changed.
    pub body: Option<EntryBody>,
}

/// How a document is merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merging {
    /// Origin of the document.
    pub place: DocumentPlace,
    /// Date under which entries without a date are listed; `None` means the time of the fetch.
    pub placed: Option<DateTime<Utc>>,
    /// Identity hashes of the entries in recent documents.
    pub recent: BTreeSet<u64>,
    /// Date above which new entries of an archive are unread, because they were missed between two polls. The flag is true if
    /// entries without a date are unread, too.
    pub unread_above: Option<(DateTime<Utc>, bool)>,
}

impl Merging {
    /// Creates the settings for a document at `place` in its feed: its undated entries are listed at the time of the fetch,
    /// and no recent entries are known.
    pub const fn at(place: DocumentPlace) -> Self {
        Self { place, placed: None, recent: BTreeSet::new(), unread_above: None }
    }
}

/// Returns the identity hashes to look up before [`merge`] is called: those of the document's entries and tombstones. The server of an
/// account may have given an entry first, with the SHA-256 of its id only.
pub fn identities(document: &FeedDocument) -> impl Iterator<Item = u64> + '_ {
    let entries = document.entries.iter();
    let entries = entries
        .flat_map(|entry| [identity_hash(&entry.id), identity_hash(&hashed_identity(&entry.id))]);
    entries.chain(document.tombstones.iter().map(|tombstone| identity_hash(&tombstone.id)))
}

/// Merges a document at `place` in its feed; see [`merge_as`].
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
/// 1. Of several copies of an entry in the document, the latest update time wins, else the first copy (SPEC C.6).
/// 2. An unknown entry is new. It is unread, or counted as read if an archive or a page contains it.
/// 3. A copy of a known entry replaces it if its rank is larger.
/// 4. A replacement with equal content keeps the stored text and takes only the larger rank.
/// 5. An entry is deleted while its publisher's deletion is later than the update time of its winning copy (SPEC C.9).
///
/// A later copy never changes the time at which an entry was first seen or the user's flags.
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
    let entries = one_copy_each(&document.entries);
    let mut same = find_known(&entries, merging, known);
    for (at, entry) in entries.into_iter().enumerate() {
        let rank = Rank::new(entry.updated, document_time, place.position, place.fetched_at);
        let content = short_content_hash(entry);
        match same.remove(&at) {
            None => merged.add(entry, rank, content, merging),
            Some(known) => {
                if rank > known.kept.rank {
                    merged.replace(entry, rank, content, known);
                } else if place.position == Position::Subscription && known.kept.id != entry.id {
                    merged.keep(known, &entry.id);
                } else if known.row.flags.is_withdrawn() {
                    merged.keep(known, &known.kept.id);
                }
            }
        }
    }
    merged.apply_tombstones(document, &tombstones, known);
    merged
}

/// Checks whether the document contains a known entry under another id.
pub fn has_renamed(document: &FeedDocument, merging: &Merging, known: &Known) -> bool {
    let entries = one_copy_each(&document.entries);
    let found = find_known(&entries, merging, known);
    let is_renamed = |id: &str, known: &str| {
        id != known && hashed_identity(id) != known && id != hashed_identity(known)
    };
    found
        .iter()
        .any(|(at, known)| entries.get(*at).is_some_and(|it| is_renamed(&it.id, &known.kept.id)))
}

/// Returns the ids of the document's entries that are known under any id, by the sequence number of the known entry.
pub fn known_copies(
    document: &FeedDocument,
    merging: &Merging,
    known: &Known,
) -> BTreeMap<u32, String> {
    let entries = one_copy_each(&document.entries);
    let found = find_known(&entries, merging, known);
    let id = |at: usize| entries.get(at).map(|entry| entry.id.clone());
    found.into_iter().filter_map(|(at, known)| Some((known.seq, id(at)?))).collect()
}

/// Finds, for each entry of the document, the known entry that it is a copy of. The keys are positions in `entries`. Entries
/// with the same id are matched first; the remaining ones match if they are the same publication under another id
/// (SPEC C.5).
fn find_known<'k>(
    entries: &[&Entry],
    merging: &Merging,
    known: &'k Known,
) -> BTreeMap<usize, &'k KnownEntry> {
    let with_id = |id: &str| {
        let with = known.get(&identity_hash(id)).map_or(&[][..], Vec::as_slice);
        with.iter().find(|candidate| candidate.kept.id == id)
    };
    let with_any_id = |id: &str| with_id(id).or_else(|| with_id(&hashed_identity(id)));
    let numbered = entries.iter().enumerate();
    let mut found: BTreeMap<usize, &KnownEntry> =
        numbered.filter_map(|(at, entry)| Some((at, with_any_id(&entry.id)?))).collect();
    let is_hashed = |at: usize| entries.get(at).is_some_and(|it| is_hashed_identity(&it.id));
    let hashed: BTreeMap<&str, usize> = (0..entries.len())
        .filter(|at| !found.contains_key(at) && is_hashed(*at))
        .filter_map(|at| Some((entries.get(at)?.id.as_str(), at)))
        .collect();
    if !hashed.is_empty() {
        for known in known.values().flatten() {
            if let Some(at) = hashed.get(hashed_identity(&known.kept.id).as_str()) {
                found.insert(*at, known);
            }
        }
    }
    let unknown: BTreeSet<usize> =
        (0..entries.len()).filter(|at| !found.contains_key(at)).collect();
    if unknown.is_empty() {
        return found;
    }
    let here: BTreeSet<u32> = found.values().map(|known| known.seq).collect();
    let mut former: Vec<&KnownEntry> =
        known.values().flatten().filter(|known| !here.contains(&known.seq)).collect();
    former.sort_unstable_by_key(|known| known.seq);
    let signs: Vec<Signs> = entries.iter().map(|entry| Signs::of(entry)).collect();
    let former_signs: Vec<Former> = former
        .iter()
        .map(|known| Former::of_kept(&known.kept, merging.recent.contains(&known.row.identity)))
        .collect();
    for (at, place) in find_same(&signs, &unknown, &former_signs) {
        if let Some(known) = former.get(place) {
            found.insert(at, known);
        }
    }
    found
}

/// Returns the newest and oldest listing date of a document's entries.
pub fn span(
    document: &FeedDocument,
    fetched_at: DateTime<Utc>,
    placed: Option<DateTime<Utc>>,
) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let date = |entry: &Entry| listed(entry.published.or(entry.updated), placed, fetched_at);
    newest_and_oldest(document.entries.iter().map(date))
}

/// Returns the newest and oldest date that a document states for its entries; `None` if it states none.
pub(crate) fn stated_span(
    document: &FeedDocument,
    fetched_at: DateTime<Utc>,
) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let stated = document.entries.iter().filter_map(|entry| entry.published.or(entry.updated));
    newest_and_oldest(stated.map(|date| date.min(fetched_at)))
}

/// Returns the oldest date of a document, ignoring old entries that are pinned above newer ones. A gap below the document is
/// listed at this date.
pub(crate) fn window_bottom(
    document: &FeedDocument,
    fetched_at: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let date = |entry: &Entry| listed(entry.published.or(entry.updated), None, fetched_at);
    let dates: Vec<DateTime<Utc>> = document.entries.iter().map(date).collect();
    let last = *dates.last()?;
    let pinned = dates.iter().take_while(|&&date| date < last).count();
    // In a document that lists the oldest entries first, most entries are older than the last one without being pinned.
    let skipped = if pinned.saturating_mul(2) < dates.len() { pinned } else { 0 };
    dates.into_iter().skip(skipped).min()
}

fn newest_and_oldest(
    mut dates: impl Iterator<Item = DateTime<Utc>>,
) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let first = dates.next()?;
    Some(dates.fold((first, first), |(newest, oldest), date| (newest.max(date), oldest.min(date))))
}

/// Keeps one copy of the entry for each id. The result is in document order (SPEC C.6, G.41).
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

/// Returns the lower 64 bits of the content hash, as stored in the index.
fn short_content_hash(entry: &Entry) -> u64 {
    let lower = content_hash(entry) & u128::from(u64::MAX);
    u64::try_from(lower).unwrap_or_default()
}

/// Recomputes an entry's content hash from its kept form and a text. The result equals the hash stored in the entry's row
/// only if the text belongs to the entry.
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
        let date = entry.published.or(entry.updated);
        let missed = merging
            .unread_above
            .is_some_and(|(above, undated)| date.map_or(undated, |date| date > above));
        let flags = match merging.place.position {
            Position::Subscription => Flags::NEW,
            Position::Archive { .. } if missed => Flags::NEW,
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

    /// Adds to the result a known entry whose new copy did not win: restores the entry if it was withdrawn, and sets its id.
    fn keep(&mut self, known: &KnownEntry, id: &str) {
        let flags = known.row.flags.withdrawn(false);
        self.counters.shift(Some(known.row.flags), Some(flags));
        let row = IndexRow { flags, identity: identity_hash(id), ..known.row };
        let kept = KeptEntry { id: id.to_owned(), ..known.kept.clone() };
        self.entries.insert(known.seq, MergedEntry { row, kept, body: None });
    }

    /// Updates the deleted flags of the entries to be written. Also adds the known entries that the document lists as
    /// deleted.
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
#[path = "merge_tests.rs"]
mod tests;
