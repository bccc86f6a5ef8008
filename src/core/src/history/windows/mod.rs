//! The last documents of a feed as far as they are remembered, to notice what two of them have in common.

pub mod overrun;
pub mod same_publication;
mod signs;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use signs::WindowSigns;

use super::kept::listed;
use crate::feed::identity::identity_hash;
use crate::feed::{Entry, FeedDocument};
use same_publication::{Former, Signs, find_same};

/// Entries of a window that are remembered (SPEC C.1).
const WINDOW_MAX: usize = 200;
/// Different windows remembered: what stands in all of them is sticky.
const WINDOWS: usize = 5;
/// Sizes remembered; their median is the usual one.
const SIZES: usize = 10;

/// What the last documents showed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Windows {
    /// Identity hashes of the last different windows, in document order, the latest last.
    pub past: Vec<Vec<u64>>,
    /// What the entries of the latest can be known by beside their ids.
    #[serde(rename = "known_by")]
    pub signs: WindowSigns,
    /// Entries of the last documents, the latest last.
    pub sizes: Vec<u32>,
    /// The newest entry known: its date and identity hash.
    pub newest: Option<(DateTime<Utc>, u64)>,
}

impl Windows {
    /// Whether a document has an entry in common with the last one, perhaps under another id, or there is no last one.
    pub fn overlap(&self, document: &FeedDocument) -> bool {
        let Some(before) = self.past.last().filter(|ids| !ids.is_empty()) else { return true };
        window_ids(document).iter().any(|id| before.contains(id))
            || self.has_renamed(document, &BTreeSet::new())
    }

    /// Whether a document has an entry in common with one of the last ones, perhaps under another id.
    pub fn shares(&self, document: &FeedDocument) -> bool {
        let ids = window_ids(document);
        self.past.iter().flatten().any(|id| ids.contains(id))
            || self.has_renamed(document, &BTreeSet::new())
    }

    /// Whether everything in a document was in the last one.
    pub fn holds(&self, document: &FeedDocument) -> bool {
        let before = self.past.last();
        before.is_some_and(|before| window_ids(document).iter().all(|id| before.contains(id)))
    }

    /// Median number of entries of the last documents.
    pub fn usual(&self) -> usize {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).map_or(0, |&size| usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// Entries in each of the last windows while at least half of the others changed (SPEC G.43).
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

    /// Whether an entry of a document is one of the last document under another id. Those that always stand there do
    /// not count.
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
            .filter(|(id, _)| !ids.contains(id) && !sticky.contains(id))
            .map(|(_, signs)| Former { signs, is_recent: true })
            .collect();
        !find_same(&signs, &unknown, &former).is_empty()
    }

    pub(super) fn remember(&mut self, document: &FeedDocument, fetched_at: DateTime<Utc>) {
        let mut window = window_ids(document);
        if self.past.last() != Some(&window) {
            // Of every feed some are in memory: they take no more room than they need.
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

    /// A delta puts its entries in front of the last window (SPEC D.7).
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

/// Identity hashes of a document's entries, each once.
pub(super) fn window_ids(document: &FeedDocument) -> Vec<u64> {
    window_entries(document).into_iter().map(|(id, _)| id).collect()
}

/// The entries of a document with their identity hashes, each once.
fn window_entries(document: &FeedDocument) -> Vec<(u64, &Entry)> {
    let mut seen = BTreeSet::new();
    let entries = document.entries.iter().map(|entry| (identity_hash(&entry.id), entry));
    entries.filter(|(id, _)| seen.insert(*id)).take(WINDOW_MAX).collect()
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
    fn entries_with_new_ids_are_known_by_their_links_also_after_a_restart() {
        let mut windows = Windows::default();
        windows.remember(&document(&["old 1", "old 2"]), DateTime::UNIX_EPOCH);
        let kept = rmp_serde::to_vec_named(&windows).unwrap();
        for windows in [windows, rmp_serde::from_slice(&kept).unwrap()] {
            assert!(windows.has_renamed(&document(&["new 1", "new 2"]), &BTreeSet::new()));
            assert!(windows.overlap(&document(&["new 1", "new 2"])));
            let sticky = ["old 1", "old 2"].map(identity_hash).into();
            assert!(!windows.has_renamed(&document(&["new 1", "new 2"]), &sticky));
        }
    }

    #[test]
    fn a_delta_puts_its_entries_and_their_links_in_front() {
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
