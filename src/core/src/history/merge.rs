//! Merges a feed document into the known part of its logical feed (SPEC C.5).
//!
//! The order of copies in SPEC C.5 is total, so merging is commutative, associative and idempotent. Documents may arrive in
//! any order, in parts, and more than once.
//!
//! In a complete feed, entries missing from the document are withdrawn and can be restored (SPEC C.6).

pub use super::windows::known_copies::{
    DocumentPlace, Known, KnownEntry, Merging, has_renamed, known_copies,
};

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::kept::{
    EntryBody, Evidence, FormerId, KeptEntry, Position, PreviousText, Rank, listed,
    short_content_hash,
};
use super::record::Tombstones;
use super::row::{Counters, Flags, IndexRow, TEXT_LOST};
use super::windows::known_copies::{Match, find_known, one_copy_each};
use crate::feed::identity::{hashed_identity, identity_hash};
use crate::feed::{Entry, FeedDocument};

/// Maximum number of former ids that are kept of an entry; the oldest are dropped first.
const FORMER_IDS_MAX: usize = 8;

/// The result of a merge: entries to write and statistics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Entries to write, by sequence number in the feed.
    pub entries: BTreeMap<u32, MergedEntry>,
    /// The feed's counters after the merge.
    pub counters: Counters,
    /// Number of entries that were never seen before.
    pub new: u32,
    /// Number of known entries whose title or text changed, as the reader sees it.
    pub edited: u32,
    /// Whether most entries of the previous document returned at another host without dates: this publisher moves its entries.
    pub moves: bool,
    /// Sequence numbers of the entries that a complete document withdrew ([`withdraw`]).
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
    /// A copy with another id that did not win, if its text is not the one of the entry.
    pub earlier: Option<Box<PreviousText>>,
    /// Whether the entry counts as edited.
    pub is_edited: bool,
}

impl MergedEntry {
    /// Creates an entry to write that no other copy contradicts.
    pub const fn new(row: IndexRow, kept: KeptEntry, body: Option<EntryBody>) -> Self {
        Self { row, kept, body, earlier: None, is_edited: false }
    }

    /// Notes a copy that has another id than the known entry: the id that did not win, and a losing text that is not the entry's.
    fn note_other_copy(
        &mut self,
        copy: &Entry,
        known: &KnownEntry,
        reason: Evidence,
        at: DateTime<Utc>,
    ) {
        let wins = self.kept.id == copy.id;
        let date = if wins {
            known.kept.published.or(known.kept.updated)
        } else {
            copy.published.or(copy.updated)
        };
        let id = if wins { known.kept.id.clone() } else { copy.id.clone() };
        let is_marked = wins && known.row.flags.is_starred();
        let had = self.kept.former.iter().find(|former| former.id == copy.id);
        let reason = had.map_or(reason, |had| had.reason);
        let (winner, former) = (&self.kept.id, &mut self.kept.former);
        former.retain(|former| former.id != id && former.id != *winner);
        if id == *winner {
            return;
        }
        if !wins && short_content_hash(copy) != self.row.content {
            let text = EntryBody::from_copy(copy).text().unwrap_or_default().to_owned();
            let title = copy.title.clone();
            let former = Some(id.clone());
            self.earlier = Some(Box::new(PreviousText { title, text, at, former, before: None }));
        }
        former.push(FormerId { id, date, at, reason, is_marked });
        former.drain(..former.len().saturating_sub(FORMER_IDS_MAX));
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
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    for (at, entry) in entries.iter().copied().enumerate() {
        let rank = Rank::new(entry.updated, document_time, place.position, place.fetched_at);
        let content = short_content_hash(entry);
        let Some(Match { known, evidence }) = same.remove(&at) else {
            merged.add(entry, rank, content, merging);
            continue;
        };
        let is_same =
            evidence.is_none() && known.kept.is_of_copy() && known.kept.link == entry.link;
        if place.position == Position::Copy && !is_same {
            // A copy by another reader changes nothing that others supplied.
            continue;
        }
        let wins = rank > known.kept.rank;
        let takes_id = wins || place.position == Position::Subscription;
        if wins {
            merged.replace(entry, rank, content, known);
        } else if (takes_id && known.kept.id != entry.id)
            || known.row.flags.is_withdrawn()
            || evidence.is_some_and(|evidence| evidence != Evidence::FormerId)
        {
            merged.keep(known, if takes_id { &entry.id } else { &known.kept.id });
        }
        let Some(written) = merged.entries.get_mut(&known.seq) else { continue };
        if let Some(evidence) = evidence {
            merged.moves |= evidence == Evidence::TitleAndPath;
            written.note_other_copy(entry, known, evidence, place.fetched_at);
        }
        written.kept.former.retain(|former| !ids.contains(former.id.as_str()));
    }
    merged.apply_tombstones(document, &tombstones, known);
    merged
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

/// Checks whether only the signatures in the addresses of the attached files changed.
fn is_resigned(entry: &Entry, known: &KnownEntry) -> bool {
    let (now, before) = (&entry.enclosures, &known.kept.enclosures);
    let is_same = || now.iter().zip(before).all(|(now, before)| now.is_resigned(&before.url));
    if now.is_empty() || now.len() != before.len() || !is_same() {
        return false;
    }
    let with_old_files = Entry { enclosures: before.clone(), ..entry.clone() };
    short_content_hash(&with_old_files) == known.row.content
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
            Position::Page
            | Position::Archive { .. }
            | Position::Capture { .. }
            | Position::Copy => Flags::OLD,
        };
        let row = IndexRow::new(&kept, content, flags);
        let seq = self.counters.next_seq;
        self.counters.next_seq = seq.saturating_add(1);
        self.counters.shift(None, Some(row.flags));
        self.new = self.new.saturating_add(1);
        self.entries.insert(seq, MergedEntry::new(row, kept, Some(EntryBody::from_copy(entry))));
    }

    fn replace(&mut self, entry: &Entry, rank: Rank, content: u64, known: &KnownEntry) {
        let old = &known.kept;
        let changed = content != known.row.content;
        let kept = if changed {
            let (placed, deleted, former) = (old.placed, old.deleted, old.former.clone());
            let kept = KeptEntry::from_copy(entry, old.first_seen, rank);
            KeptEntry { placed, deleted, former, ..kept }
        } else {
            let (published, updated) = (entry.published, entry.updated);
            KeptEntry { id: entry.id.clone(), rank, published, updated, ..old.clone() }
        };
        let mut flags = known.row.flags.withdrawn(false);
        // The publisher of a copy does not decide what was read.
        let is_first = old.is_of_copy() && rank.position == Position::Subscription;
        if is_first && flags == Flags::OLD {
            flags = Flags::NEW;
        }
        let row = IndexRow::new(&kept, content, flags);
        self.counters.shift(Some(known.row.flags), Some(flags));
        let edited = changed && known.row.content != TEXT_LOST && !is_resigned(entry, known);
        self.edited = self.edited.saturating_add(u32::from(edited));
        let body = changed.then(|| EntryBody::from_copy(entry));
        let entry = MergedEntry {
            is_edited: edited && !old.is_of_copy(),
            ..MergedEntry::new(row, kept, body)
        };
        self.entries.insert(known.seq, entry);
    }

    /// Adds to the result a known entry whose new copy did not win: restores the entry if it was withdrawn, and sets its id.
    fn keep(&mut self, known: &KnownEntry, id: &str) {
        let flags = known.row.flags.withdrawn(false);
        self.counters.shift(Some(known.row.flags), Some(flags));
        let row = IndexRow { flags, identity: identity_hash(id), ..known.row };
        let kept = KeptEntry { id: id.to_owned(), ..known.kept.clone() };
        self.entries.insert(known.seq, MergedEntry::new(row, kept, None));
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
                let entry = || MergedEntry::new(known.row, known.kept.clone(), None);
                self.entries.entry(known.seq).or_insert_with(entry);
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

/// The changes to make to entries that a complete document does not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Withdrawal {
    /// Entries whose flags change: sequence number and new flags.
    pub flags: BTreeMap<u32, Flags>,
    /// Sequence numbers of the withdrawn entries, kept so that the user can undo the withdrawal.
    pub withdrawn: Vec<u32>,
    /// The feed's counters after the change.
    pub counters: Counters,
}

/// Withdraws the feed's entries that are not in a complete document, and restores withdrawn entries that are in it. `rows`
/// are the feed's rows after the document was merged. Never called for a 226 response, which contains only new entries
/// (SPEC D.7).
pub fn withdraw(document: &FeedDocument, rows: &[IndexRow], counters: Counters) -> Withdrawal {
    let held: BTreeSet<u64> =
        document.entries.iter().map(|entry| identity_hash(&entry.id)).collect();
    let mut change = Withdrawal { counters, ..Withdrawal::default() };
    for (seq, row) in (0_u32..).zip(rows) {
        let after = row.flags.withdrawn(!held.contains(&row.identity));
        if after == row.flags {
            continue;
        }
        change.counters.shift(Some(row.flags), Some(after));
        change.flags.insert(seq, after);
        if after.is_withdrawn() {
            change.withdrawn.push(seq);
        }
    }
    change
}

/// Withdraws these entries, or restores them if they were withdrawn.
pub fn set_withdrawn(
    entries: &[u32],
    withdrawn: bool,
    rows: &[IndexRow],
    counters: Counters,
) -> Withdrawal {
    let mut change = Withdrawal { counters, ..Withdrawal::default() };
    for &seq in entries {
        let row = usize::try_from(seq).ok().and_then(|place| rows.get(place));
        let Some(row) = row.filter(|row| row.flags.is_withdrawn() != withdrawn) else { continue };
        let after = row.flags.withdrawn(withdrawn);
        change.counters.shift(Some(row.flags), Some(after));
        change.flags.insert(seq, after);
    }
    change
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;

#[cfg(test)]
mod complete_tests {
    use super::*;
    use crate::feed::Entry;
    use crate::feed::fingerprint::PageHash;
    use crate::history::Flag;

    fn document(ids: &[&str]) -> FeedDocument {
        let entries =
            ids.iter().map(|id| Entry { id: (*id).to_owned(), ..Entry::default() }).collect();
        FeedDocument { entries, ..FeedDocument::default() }
    }

    fn row(id: &str, flags: Flags) -> IndexRow {
        let page = PageHash::UNKNOWN;
        IndexRow { identity: identity_hash(id), content: 0, listed: 0, flags, page }
    }

    fn apply(rows: &mut [IndexRow], change: &Withdrawal) {
        for (seq, flags) in &change.flags {
            rows[*seq as usize].flags = *flags;
        }
    }

    #[test]
    fn entries_absent_from_a_complete_document_are_hidden() {
        let starred = Flags::NEW.with(Flag::Starred, true);
        let mut rows = [row("a", Flags::NEW), row("b", Flags::NEW), row("c", starred)];
        let before =
            Counters { unread: 3, total: 3, starred: 1, next_seq: 3, ..Counters::default() };
        let change = withdraw(&document(&["a"]), &rows, before);
        assert_eq!(change.withdrawn, [1, 2]);
        assert_eq!(
            change.counters,
            Counters { unread: 1, total: 1, starred: 1, next_seq: 3, ..Counters::default() }
        );
        apply(&mut rows, &change);
        assert!(rows[2].flags.is_shown(), "a starred entry stays among the starred");
        assert!(!rows[1].flags.is_shown());

        let undone = set_withdrawn(&change.withdrawn, false, &rows, change.counters);
        assert_eq!(undone.counters, before);
        apply(&mut rows, &undone);
        assert!(rows.iter().all(|row| row.flags.is_live()));
    }

    #[test]
    fn returning_entry_is_part_of_the_feed_again() {
        let mut rows = [row("a", Flags::NEW), row("b", Flags::NEW)];
        let sums = Counters { unread: 2, total: 2, starred: 0, next_seq: 2, ..Counters::default() };
        let none = withdraw(&document(&[]), &rows, sums);
        apply(&mut rows, &none);
        let again = withdraw(&document(&["b"]), &rows, none.counters);
        assert_eq!((again.counters.total, again.withdrawn.len()), (1, 0));
        apply(&mut rows, &again);
        assert!(rows[1].flags.is_live() && !rows[0].flags.is_live());
    }
}
