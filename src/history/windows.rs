//! The last documents of a feed as far as they are remembered, to notice what two of them have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::kept::listed;
use crate::feed::identity::identity_hash;
use crate::feed::{Entry, FeedDocument};

/// Entries of a window that are remembered (SPEC C.1).
const WINDOW_MAX: usize = 200;
/// Different windows remembered: what stands in all of them is sticky.
const WINDOWS: usize = 5;
/// Sizes remembered; their median is the usual one.
const SIZES: usize = 10;
/// Keys of the hashes kept here. They never change.
const KEYS: (u64, u64) = (0x7769_6e64_6f77_7320, 0x6d6f_7665_206f_6e21);

/// What the last documents showed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Windows {
    /// Identity hashes of the last different windows, in document order, the latest last.
    pub past: Vec<Vec<u64>>,
    /// Of the latest: by hash of the link, and by hash of title and date, the identity hash.
    pub signs: Vec<(u64, u64)>,
    /// Entries of the last documents, the latest last.
    pub sizes: Vec<u32>,
    /// The newest entry known: its date and identity hash.
    pub newest: Option<(DateTime<Utc>, u64)>,
}

impl Windows {
    /// Whether a document has an entry in common with the last one, or there is no last one.
    pub fn overlap(&self, document: &FeedDocument) -> bool {
        let Some(before) = self.past.last().filter(|ids| !ids.is_empty()) else { return true };
        window_ids(document).iter().any(|id| before.contains(id))
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

    /// Entries whose id is new but whose link, or title and date, stood in the last window (condition 5): the new
    /// id, and the identity hash of the old one.
    pub fn renamed(&self, document: &FeedDocument) -> BTreeMap<String, u64> {
        let known: BTreeMap<u64, u64> = self.signs.iter().copied().collect();
        let old =
            |entry: &Entry| signs(entry).into_iter().flatten().find_map(|sign| known.get(&sign));
        let entries = document.entries.iter();
        entries
            .filter_map(|entry| Some((entry.id.clone(), *old(entry)?)))
            .filter(|(id, old)| identity_hash(id) != *old)
            .collect()
    }

    pub(super) fn remember(&mut self, document: &FeedDocument, fetched_at: DateTime<Utc>) {
        let window = window_ids(document);
        if self.past.last() != Some(&window) {
            self.past.push(window);
            let surplus = self.past.len().saturating_sub(WINDOWS);
            self.past.drain(..surplus);
        }
        self.sizes.push(u32::try_from(document.entries.len()).unwrap_or(u32::MAX));
        let surplus = self.sizes.len().saturating_sub(SIZES);
        self.sizes.drain(..surplus);
        let entries = document.entries.iter().take(WINDOW_MAX);
        let signed = entries.flat_map(|entry| {
            let id = identity_hash(&entry.id);
            signs(entry).into_iter().flatten().map(move |sign| (sign, id))
        });
        self.signs = signed.collect();
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
        let mut window = window_ids(document);
        let rest: Vec<u64> = last.iter().copied().filter(|id| !window.contains(id)).collect();
        window.extend(rest);
        window.truncate(last.len().max(1));
        *last = window;
    }
}

/// Identity hashes of a document's entries, each once.
pub(super) fn window_ids(document: &FeedDocument) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    let ids = document.entries.iter().map(|entry| identity_hash(&entry.id));
    ids.filter(|id| seen.insert(*id)).take(WINDOW_MAX).collect()
}

/// What else an entry can be known by: its link, and its title with its date.
fn signs(entry: &Entry) -> [Option<u64>; 2] {
    let link = entry.link.as_deref().map(|link| hash(&["link", link]));
    let date = entry.published.or(entry.updated).map(|date| date.timestamp().to_string());
    let title = entry.title.as_deref().zip(date);
    [link, title.map(|(title, date)| hash(&["title", title, &date]))]
}

fn hash(parts: &[&str]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(KEYS.0, KEYS.1);
    for part in parts {
        hasher.write(part.as_bytes());
        hasher.write_u8(0x1f);
    }
    hasher.finish()
}
