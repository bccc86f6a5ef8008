//! Finds the known entries of which a document contains copies: those with the same ids, and those that are the same publications
//! under other ids (SPEC C.5).

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::same_publication::{Comparison, Former, Same, Signs};
use crate::feed::identity::{hashed_identity, identity_hash, is_hashed_identity};
use crate::feed::{Entry, FeedDocument};
use crate::history::kept::{Evidence, KeptEntry, Position, short_content_hash};
use crate::history::row::IndexRow;

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
    /// Identity hashes of the entries in the previous document, in its order.
    pub previous: Vec<u64>,
    /// Whether this publisher is known to move its entries between hosts.
    pub moves: bool,
}

impl Merging {
    /// Creates the settings for a document at `place` in its feed: its undated entries are listed at the time of the fetch,
    /// and no recent entries are known.
    pub const fn at(place: DocumentPlace) -> Self {
        Self {
            place,
            placed: None,
            recent: BTreeSet::new(),
            unread_above: None,
            previous: Vec::new(),
            moves: false,
        }
    }
}

/// Checks whether the document contains a known entry under another id.
pub fn has_renamed(document: &FeedDocument, merging: &Merging, known: &Known) -> bool {
    let entries = one_copy_each(&document.entries);
    find_known(&entries, merging, known).values().any(|same| same.evidence.is_some())
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
    found.into_iter().filter_map(|(at, same)| Some((same.known.seq, id(at)?))).collect()
}

/// A known entry of which a document contains a copy.
#[derive(Clone, Copy)]
pub(in crate::history) struct Match<'k> {
    pub known: &'k KnownEntry,
    /// What proves it; `None` if the ids are equal.
    pub evidence: Option<Evidence>,
}

/// Finds, for each entry of the document, the known entry that it is a copy of. The keys are positions in `entries`. Entries
/// with the same id are matched first; the remaining ones match if they are the same publication under another id
/// (SPEC C.5).
pub(in crate::history) fn find_known<'k>(
    entries: &[&Entry],
    merging: &Merging,
    known: &'k Known,
) -> BTreeMap<usize, Match<'k>> {
    let mut found = find_by_id(entries, known);
    let unknown: BTreeSet<usize> =
        (0..entries.len()).filter(|at| !found.contains_key(at)).collect();
    if unknown.is_empty() {
        return found;
    }
    let id = |at: usize| entries.get(at).map(|entry| entry.id.as_str());
    // A former id that is beside the present one is another entry. What the reader marked belongs to the id that had it.
    for at in &unknown {
        let had = |same: &Match<'_>| {
            let mut former = same.known.kept.former.iter();
            former.any(|former| former.is_marked && Some(former.id.as_str()) == id(*at))
        };
        let owner = found.iter().find(|(_, same)| had(same)).map(|(place, same)| (*place, *same));
        if let Some((place, same)) = owner {
            found.remove(&place);
            found.insert(*at, Match { evidence: Some(Evidence::FormerId), ..same });
        }
    }
    let here: BTreeSet<u32> = found.values().map(|same| same.known.seq).collect();
    // What a copy by another reader supplied is an entry of this publisher only if it has the same id.
    let is_former = |known: &&KnownEntry| !here.contains(&known.seq) && !known.kept.is_of_copy();
    let mut former: Vec<&KnownEntry> = known.values().flatten().filter(is_former).collect();
    if former.is_empty() {
        return found;
    }
    former.sort_unstable_by_key(|known| known.seq);
    let unknown: BTreeSet<usize> =
        unknown.into_iter().filter(|at| !found.contains_key(at)).collect();
    for (at, place) in compare(entries, &unknown, &former, merging) {
        if let Some(known) = former.get(place.0) {
            found.insert(at, Match { known, evidence: Some(place.1) });
        }
    }
    found
}

/// Finds the known entries that have the ids of the document's entries. The server of an account tells the SHA-256 of an id only.
fn find_by_id<'k>(entries: &[&Entry], known: &'k Known) -> BTreeMap<usize, Match<'k>> {
    let with_id = |id: &str| {
        let with = known.get(&identity_hash(id)).map_or(&[][..], Vec::as_slice);
        with.iter().find(|candidate| candidate.kept.id == id)
    };
    let with_any_id = |id: &str| with_id(id).or_else(|| with_id(&hashed_identity(id)));
    let same = |known| Match { known, evidence: None };
    let numbered = entries.iter().enumerate();
    let mut found: BTreeMap<usize, Match<'k>> =
        numbered.filter_map(|(at, entry)| Some((at, same(with_any_id(&entry.id)?)))).collect();
    let is_hashed = |at: usize| entries.get(at).is_some_and(|it| is_hashed_identity(&it.id));
    let hashed: BTreeMap<&str, usize> = (0..entries.len())
        .filter(|at| !found.contains_key(at) && is_hashed(*at))
        .filter_map(|at| Some((entries.get(at)?.id.as_str(), at)))
        .collect();
    if !hashed.is_empty() {
        for known in known.values().flatten() {
            if let Some(at) = hashed.get(hashed_identity(&known.kept.id).as_str()) {
                found.insert(*at, same(known));
            }
        }
    }
    found
}

/// Compares the entries at the places `unknown` of a document with known entries that have other ids.
fn compare(
    entries: &[&Entry],
    unknown: &BTreeSet<usize>,
    former: &[&KnownEntry],
    merging: &Merging,
) -> Same {
    let had: BTreeMap<&str, usize> = former
        .iter()
        .enumerate()
        .flat_map(|(place, known)| known.kept.former.iter().map(move |it| (it.id.as_str(), place)))
        .collect();
    let again = unknown.iter().filter_map(|at| {
        let place = had.get(entries.get(*at)?.id.as_str())?;
        Some((*at, (*place, Evidence::FormerId)))
    });
    let mut found: Same = again.collect();
    let signs: Vec<Signs> = entries.iter().map(|entry| Signs::of(entry)).collect();
    let place_of = |identity: u64| merging.previous.iter().position(|id| *id == identity);
    let signs_of = |known: &&KnownEntry| {
        let (row, is_recent) = (known.row, merging.recent.contains(&known.row.identity));
        Former::of_kept(&known.kept, is_recent, place_of(row.identity))
    };
    let before: Vec<Former> = former.iter().map(signs_of).collect();
    let now: Vec<u64> = entries.iter().map(|entry| identity_hash(&entry.id)).collect();
    let only = entries.first().filter(|_| entries.len() == 1 && merging.previous.len() == 1);
    let has_text_of = |entry: &Entry| {
        let content = short_content_hash(entry);
        former.iter().any(|known| known.row.content == content)
    };
    let comparison = Comparison {
        document: &signs,
        unknown,
        former: &before,
        order: (&now, &merging.previous),
        is_replaced: only.is_some_and(|entry| !has_text_of(entry)),
        moves: merging.moves,
    };
    comparison.find_same(&mut found);
    found
}

/// Keeps one copy of the entry for each id. The result is in document order (SPEC C.6, G.41).
pub(in crate::history) fn one_copy_each(entries: &[Entry]) -> Vec<&Entry> {
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
