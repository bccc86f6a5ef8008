//! The entries of a feed's last documents (windows). They are compared with a new document to detect entries that were
//! missed.

pub mod known_copies;
pub mod overrun;
pub mod same_publication;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chrono::{DateTime, Utc};
use same_publication::{Comparison, Former, SIGNS, Same, Sign, Signs};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kept::listed;
use crate::feed::identity::identity_hash;
use crate::feed::{Entry, FeedDocument};

/// Maximum number of entries remembered of each document before the latest one, which is kept whole (SPEC C.1).
const WINDOW_MAX: usize = 200;
/// Bit of the hash of an entry's times that is set if the entry is pinned.
const PINNED: u32 = 1;
/// Number of different windows remembered. An entry that is in all of them may be sticky: kept in the document although it
/// is old.
const WINDOWS: usize = 5;
/// Number of documents whose sizes are remembered. The median of the sizes is the usual size of the feed's document.
const SIZES: usize = 10;

/// The contents of the last subscription documents of a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Windows {
    /// Identity hashes of the last different windows, in document order, the latest window last.
    pub past: Vec<Vec<u64>>,
    /// Hashes of the link, title and date of each entry in the latest window, to recognize entries whose id changes.
    #[serde(rename = "known_by")]
    pub signs: WindowSigns,
    /// Number of entries in each of the last documents, the latest document last.
    pub sizes: Vec<u32>,
    /// Date and identity hash of the newest known entry.
    pub newest: Option<(DateTime<Utc>, u64)>,
}

impl Windows {
    /// Checks whether nothing can be missing between the last document and this one, because they share an entry that was
    /// neither edited nor pinned (SPEC C.8, seam "overlap"). `times` are those of the last document's entries; `falls` means
    /// that it listed the newest ones first. Also returns true if there is nothing to compare.
    pub(super) fn join(&self, document: &FeedDocument, times: &[u32], falls: bool) -> bool {
        let Some(before) = self.past.last().filter(|ids| !ids.is_empty()) else { return true };
        let entries = window_entries(document);
        if entries.len() == before.len() && entries.iter().all(|(id, _)| before.contains(id)) {
            return true;
        }
        let (sticky, pinned) = (self.sticky(), pinned(document, falls));
        let places: BTreeMap<u64, usize> =
            before.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let last_unknown = entries.iter().rposition(|(id, _)| !places.contains_key(id));
        let ordinary = |(id, _): &(u64, &Entry)| !sticky.contains(id) && !pinned.contains(id);
        let shared: Vec<(usize, usize, &Entry)> = entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| ordinary(entry))
            .filter_map(|(at, (id, entry))| Some((at, *places.get(id)?, *entry)))
            .collect();
        let mut order = shared.iter().map(|(_, place, _)| *place);
        // A document that lists its oldest entries first begins with the last entries of the one before.
        let is_end = order.next_back().is_some_and(|last| last.saturating_add(1) == before.len())
            && shared.is_sorted_by_key(|(_, place, _)| *place);
        let rises = !falls && self::order(document) == Ordering::Less;
        let stays = |(at, place, entry): &(usize, usize, &Entry)| {
            let is_dated = entry.published.is_some() || entry.updated.is_some();
            let same_times = times.get(*place).is_none_or(|time| time & !PINNED == times_of(entry));
            // Without dates, an entry above unknown ones may have been pinned there.
            let in_place = if is_dated {
                !rises || is_end
            } else {
                (is_end && shared.len() > 1) || last_unknown.is_none_or(|last| last < *at)
            };
            same_times && in_place
        };
        let all_change = shared.iter().all(|(_, place, entry)| {
            times.get(*place).is_some_and(|time| time & !PINNED != times_of(entry))
        });
        shared.iter().any(stays)
            || (all_change && shared.len().saturating_mul(2) > before.len())
            || self.has_renamed(&without(document, &pinned), &sticky)
    }

    /// Returns the ordinary entries of the last document with the hashes of their times. `times` are those of the last
    /// document's entries.
    pub(super) fn ordinary(&self, times: &[u32]) -> BTreeMap<u64, u32> {
        let sticky = self.sticky();
        let last = self.past.last().map_or(&[][..], Vec::as_slice).iter().copied();
        let all = last.zip(times.iter().copied().chain(std::iter::repeat(0)));
        all.filter(|(id, time)| time & PINNED == 0 && !sticky.contains(id)).collect()
    }

    /// Checks whether the last document contains an entry of this one under its id.
    pub(super) fn knows(&self, document: &FeedDocument) -> bool {
        let last: BTreeSet<&u64> = self.past.last().into_iter().flatten().collect();
        window_ids(document).iter().any(|id| last.contains(id))
    }

    /// Checks whether a document shares an entry with any of the remembered documents, even if the entry's id has changed.
    pub fn shares(&self, document: &FeedDocument) -> bool {
        let ids = window_ids(document);
        self.past.iter().flatten().any(|id| ids.contains(id))
            || self.has_renamed(document, &BTreeSet::new())
    }

    /// Returns the identity hashes in all remembered documents, and those of the document before this one in its order.
    pub fn before(&self, document: &FeedDocument) -> (BTreeSet<u64>, Vec<u64>) {
        let ids = window_ids(document);
        let previous = self.past.iter().rev().find(|past| **past != ids);
        (self.past.iter().flatten().copied().collect(), previous.cloned().unwrap_or_default())
    }

    /// Checks whether every entry of this document was also in the last document.
    pub fn holds(&self, document: &FeedDocument) -> bool {
        let before = self.past.last();
        before.is_some_and(|before| window_ids(document).iter().all(|id| before.contains(id)))
    }

    /// Returns the median number of entries in the last documents.
    pub fn usual(&self) -> usize {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).map_or(0, |&size| usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// Returns the entries that are in each of the remembered windows, provided that at least half of the other entries
    /// changed during that time (SPEC G.43).
    pub fn sticky(&self) -> BTreeSet<u64> {
        let (Some(first), Some(last)) = (self.past.first(), self.past.last()) else {
            return BTreeSet::new();
        };
        if self.past.len() < WINDOWS {
            return BTreeSet::new();
        }
        let everywhere: BTreeSet<u64> = first
            .iter()
            .copied()
            .filter(|id| self.past.iter().all(|window| window.contains(id)))
            .collect();
        let others = || last.iter().filter(|id| !everywhere.contains(id));
        let changed = others().filter(|id| !first.contains(id)).count();
        let moved = changed.saturating_mul(2) >= others().count() && changed > 0;
        if moved { everywhere } else { BTreeSet::new() }
    }

    /// Checks whether a document contains an entry of the last document under another id. Entries in `sticky` are ignored.
    pub fn has_renamed(&self, document: &FeedDocument, sticky: &BTreeSet<u64>) -> bool {
        let Some(before) = self.past.last() else { return false };
        let entries = window_entries(document);
        let ids: BTreeSet<u64> = entries.iter().map(|(id, _)| *id).collect();
        let signs: Vec<Signs> = entries.iter().map(|(_, entry)| Signs::of(entry)).collect();
        let unknown: BTreeSet<usize> = (0..entries.len())
            .filter(|at| entries.get(*at).is_some_and(|(id, _)| !before.contains(id)))
            .collect();
        let former: Vec<Former> = before
            .iter()
            .zip(self.signs.entries())
            .enumerate()
            .filter(|(_, (id, _))| !ids.contains(id) && !sticky.contains(id))
            .map(|(place, (_, signs))| Former { signs, is_recent: true, place: Some(place) })
            .collect();
        let now: Vec<u64> = entries.iter().map(|(id, _)| *id).collect();
        let comparison = Comparison {
            document: &signs,
            unknown: &unknown,
            former: &former,
            order: (&now, before),
            is_replaced: false,
            moves: false,
        };
        let mut found = Same::new();
        comparison.find_same(&mut found);
        !found.is_empty()
    }

    pub(super) fn remember(&mut self, document: &FeedDocument, fetched_at: DateTime<Utc>) {
        let mut window = window_ids(document);
        if self.past.last() != Some(&window) {
            if let Some(last) = self.past.last_mut() {
                last.truncate(WINDOW_MAX);
                last.shrink_to_fit();
            }
            // Windows are kept in memory for every feed, so spare capacity is freed.
            window.shrink_to_fit();
            self.past.push(window);
            let surplus = self.past.len().saturating_sub(WINDOWS);
            self.past.drain(..surplus);
        }
        self.sizes.push(u32::try_from(document.entries.len()).unwrap_or(u32::MAX));
        let surplus = self.sizes.len().saturating_sub(SIZES);
        self.sizes.drain(..surplus);
        let entries = window_entries(document).into_iter();
        self.signs = WindowSigns::of(entries.map(|(_, entry)| Signs::of(entry)));
        for entry in &document.entries {
            let date = listed(entry.published.or(entry.updated), None, fetched_at);
            if self.newest.is_none_or(|(newest, _)| newest < date) {
                self.newest = Some((date, identity_hash(&entry.id)));
            }
        }
    }

    /// Inserts the entries of a 226 response, which contains only new entries, at the front of the last window (SPEC D.7).
    pub(super) fn add_delta(&mut self, document: &FeedDocument) {
        let Some(last) = self.past.last_mut() else { return };
        let entries = window_entries(document);
        let mut window: Vec<(u64, Signs)> =
            entries.iter().map(|&(id, entry)| (id, Signs::of(entry))).collect();
        let seen: BTreeSet<u64> = window.iter().map(|(id, _)| *id).collect();
        let signs = self.signs.entries().chain(std::iter::repeat(Signs::default()));
        let rest = last.iter().copied().zip(signs);
        window.extend(rest.filter(|(id, _)| !seen.contains(id)));
        window.truncate(last.len().max(1));
        *last = window.iter().map(|(id, _)| *id).collect();
        self.signs = WindowSigns::of(window.iter().map(|(_, signs)| *signs));
    }
}

/// Returns the identity hashes of a document's entries, without duplicates.
fn window_ids(document: &FeedDocument) -> Vec<u64> {
    window_entries(document).into_iter().map(|(id, _)| id).collect()
}

/// Returns the oldest entry of a document that is not pinned: the last one, or the first if the oldest entries come first.
pub(super) fn bottom(document: &FeedDocument, falls: bool) -> Option<(u64, Option<DateTime<Utc>>)> {
    let pinned = pinned(document, falls);
    let entries = window_entries(document);
    let ordinary = entries.iter().filter(|(id, _)| !pinned.contains(id));
    let last = ordinary.clone().next_back()?;
    let dated = |(id, entry): &(u64, &Entry)| Some((entry.published.or(entry.updated)?, *id));
    let oldest = ordinary.filter_map(dated).min();
    Some(oldest.map_or((last.0, None), |(date, id)| (id, Some(date))))
}

/// Returns the dates of the entries that are not pinned, ascending.
pub(super) fn ordinary_dates(document: &FeedDocument, falls: bool) -> Vec<DateTime<Utc>> {
    without(document, &pinned(document, falls)).entry_dates()
}

/// Returns a hash of each entry's times, in document order, with a bit for pinned entries.
pub(super) fn times(document: &FeedDocument, falls: bool) -> Vec<u32> {
    let pinned = pinned(document, falls);
    let time = |(id, entry): (u64, &Entry)| {
        times_of(entry) | if pinned.contains(&id) { PINNED } else { 0 }
    };
    window_entries(document).into_iter().map(time).collect()
}

/// Returns a hash of the times that an entry states.
pub(super) fn times_of(entry: &Entry) -> u32 {
    let seconds = |time: Option<DateTime<Utc>>| time.map_or(0, |time| time.timestamp());
    let both = seconds(entry.published).wrapping_mul(31) ^ seconds(entry.updated);
    u32::try_from(both & i64::from(u32::MAX)).unwrap_or_default() & !PINNED
}

/// Returns the entries that are pinned above newer ones: those at the top of a document that are older than its last entry,
/// unless the document lists its oldest entries first. `falls` means that the last document listed its newest entries first.
pub(super) fn pinned(document: &FeedDocument, falls: bool) -> BTreeSet<u64> {
    let dates = dates(document);
    let last = dates.last().filter(|_| falls || order(document) != Ordering::Less);
    let Some(&(_, last)) = last else { return BTreeSet::new() };
    dates.into_iter().take_while(|(_, date)| *date < last).map(|(id, _)| id).collect()
}

/// Compares how often the dates fall from entry to entry with how often they rise. `Less` means that the oldest entries come
/// first.
pub(super) fn order(document: &FeedDocument) -> Ordering {
    let dates = dates(document);
    let pairs = || dates.iter().zip(dates.iter().skip(1));
    let falling = pairs().filter(|((_, a), (_, b))| a > b).count();
    falling.cmp(&pairs().filter(|((_, a), (_, b))| a < b).count())
}

fn dates(document: &FeedDocument) -> Vec<(u64, DateTime<Utc>)> {
    let dated = |(id, entry): (u64, &Entry)| Some((id, entry.published.or(entry.updated)?));
    window_entries(document).into_iter().filter_map(dated).collect()
}

fn without(document: &FeedDocument, ids: &BTreeSet<u64>) -> FeedDocument {
    let entries = document.entries.iter();
    let kept = entries.filter(|entry| !ids.contains(&identity_hash(&entry.id)));
    FeedDocument { entries: kept.cloned().collect(), ..FeedDocument::default() }
}

/// Returns the entries of a document with their identity hashes, without duplicates.
fn window_entries(document: &FeedDocument) -> Vec<(u64, &Entry)> {
    let mut seen = BTreeSet::new();
    let entries = document.entries.iter().map(|entry| (identity_hash(&entry.id), entry));
    entries.filter(|(id, _)| seen.insert(*id)).collect()
}

/// The signs of a document's entries, in document order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowSigns(Box<[[Sign; SIGNS]]>);

impl WindowSigns {
    fn of(entries: impl Iterator<Item = Signs>) -> Self {
        Self(entries.map(Signs::to_array).collect())
    }

    /// Iterates over the signs of the entries.
    fn entries(&self) -> impl Iterator<Item = Signs> {
        self.0.iter().copied().map(Signs::from_array)
    }

    /// Decodes bytes written by the implementation of [`Serialize`].
    fn from_bytes(bytes: &[u8]) -> Self {
        let (entries, _) = bytes.as_chunks::<{ SIGNS * size_of::<Sign>() }>();
        let signs_of = |entry: &[u8; SIGNS * size_of::<Sign>()]| {
            let mut signs = [0; SIGNS];
            for (sign, bytes) in signs.iter_mut().zip(entry.as_chunks().0) {
                *sign = Sign::from_le_bytes(*bytes);
            }
            signs
        };
        Self(entries.iter().map(signs_of).collect())
    }
}

impl Serialize for WindowSigns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> =
            self.0.as_flattened().iter().flat_map(|sign| sign.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for WindowSigns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = WindowSigns;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the signs of entries")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<WindowSigns, E> {
        Ok(WindowSigns::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(ids: &[&str]) -> FeedDocument {
        let entry = |(number, id): (usize, &&str)| Entry {
            id: (*id).to_owned(),
            link: Some(format!("https://a.example/{number}")),
            ..Entry::default()
        };
        let entries = ids.iter().enumerate().map(entry).collect();
        FeedDocument { entries, ..FeedDocument::default() }
    }

    #[test]
    fn entries_with_new_ids_match_by_link_after_restart() {
        let mut windows = Windows::default();
        windows.remember(&document(&["old 1", "old 2"]), DateTime::UNIX_EPOCH);
        let kept = rmp_serde::to_vec_named(&windows).unwrap();
        for windows in [windows, rmp_serde::from_slice(&kept).unwrap()] {
            assert!(windows.has_renamed(&document(&["new 1", "new 2"]), &BTreeSet::new()));
            assert!(windows.join(&document(&["new 1", "new 2"]), &[], true));
            let sticky = ["old 1", "old 2"].map(identity_hash).into();
            assert!(!windows.has_renamed(&document(&["new 1", "new 2"]), &sticky));
        }
    }

    #[test]
    fn delta_puts_entries_and_links_first() {
        let mut windows = Windows::default();
        windows.remember(&document(&["old 1", "old 2"]), DateTime::UNIX_EPOCH);
        let mut delta = document(&["old 3"]);
        for entry in &mut delta.entries {
            entry.link = Some("https://a.example/3".into());
        }
        windows.add_delta(&delta);
        let mut next = document(&["new", "other"]);
        for link in ["https://a.example/3", "https://a.example/0"] {
            next.entries[0].link = Some(link.into());
            next.entries[1].link = Some("https://a.example/9".into());
            assert!(windows.has_renamed(&next, &BTreeSet::new()), "{link}");
        }
        next.entries[0].link = Some("https://a.example/8".into());
        assert!(!windows.has_renamed(&next, &BTreeSet::new()));
    }
}
