//! The pages to which the texts of recent entries link, so that lists can show a story once that several feeds report. The hashes
//! of the links are written together with the entries, so that lists need not read texts.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::history::{EntryKey, FeedKey, MergedEntry};
use backissue_core::search::{LinksInside, fold_entries, links_inside};

use super::same_links::JOINED_MAX;
use crate::engine::entries::rows::{ListQuery, RowKey};
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::{Store, feed_bytes};
use crate::io::store::pack::{Batch, TableName};

/// Prefix of the keys of link records in the table of facts.
const INSIDE_KEY: &[u8] = b"inside";
/// Key of the pages to which entries may link without being the same story, in the table of facts.
pub(in crate::io::store) const APART_KEY: &[u8] = b"apart";
/// Age in seconds from which the links of an entry are no longer kept: a week.
const KEPT_SECONDS: i64 = 7 * 86_400;
/// Maximum number of entries of a feed whose links are kept. The newest are kept.
const ENTRIES_MAX: usize = 100;
/// Maximum number of pages to which entries may link without being the same story.
const APART_MAX: usize = 2_000;

/// Returns the key of the links of a feed.
pub(in crate::io::store) fn inside_key(feed: FeedKey) -> Vec<u8> {
    [INSIDE_KEY, &feed_bytes(feed)].concat()
}

impl Store {
    /// Notes the links in the texts of entries that are about to be written. Returns the batch to write with them, if they have any.
    pub(in crate::io::store) fn inside_batch(
        &mut self,
        feed: FeedKey,
        entries: &BTreeMap<u32, MergedEntry>,
    ) -> Result<Option<Batch>, StoreError> {
        if entries.is_empty() {
            return Ok(None);
        }
        let newest = entries.values().map(|entry| entry.kept.first_seen.timestamp()).max();
        let since = newest.unwrap_or_default().saturating_sub(KEPT_SECONDS);
        let mut fresh = Vec::new();
        for (&seq, entry) in entries.iter().filter(|(_, entry)| entry.row.listed >= since) {
            let text = entry.body.as_ref().and_then(|body| body.text()).unwrap_or_default();
            let links = links_inside(text, entry.kept.link.as_deref());
            if !links.is_empty() {
                fresh.push(LinksInside { seq, listed: entry.row.listed, links });
            }
        }
        let mut kept = match &self.inside {
            Some(inside) => inside.get(&feed).cloned().unwrap_or_default(),
            None => self.links_of(&inside_key(feed))?,
        };
        let before = kept.len();
        // The text of an entry without a body in this change stays as it is, and so do its links.
        let has_text = |seq: &u32| entries.get(seq).is_some_and(|entry| entry.body.is_some());
        kept.retain(|one| one.listed >= since && !has_text(&one.seq));
        if fresh.is_empty() && kept.len() == before {
            return Ok(None);
        }
        kept.extend(fresh);
        kept.sort_unstable_by_key(|one| one.listed);
        kept.drain(..kept.len().saturating_sub(ENTRIES_MAX));
        let mut batch = Batch::default();
        batch.insert(inside_key(feed), codec::encode(&kept)?);
        if let Some(inside) = &mut self.inside {
            inside.insert(feed, kept);
        }
        Ok(Some(batch))
    }

    /// Reads the links of a feed. A damaged record counts as empty.
    fn links_of(&self, key: &[u8]) -> Result<Vec<LinksInside>, StoreError> {
        let bytes = self.facts.get(key)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Returns the links of all feeds. They are read when the first list needs them, and stay in memory.
    fn links_inside(&mut self) -> Result<&mut BTreeMap<FeedKey, Vec<LinksInside>>, StoreError> {
        if self.inside.is_none() {
            let mut inside = BTreeMap::new();
            for key in self.facts.keys_of(INSIDE_KEY) {
                let key = key?;
                let feed = key.get(INSIDE_KEY.len()..).and_then(<[u8]>::first_chunk);
                let Some(feed) = feed.map(|bytes| FeedKey(u32::from_be_bytes(*bytes))) else {
                    continue;
                };
                inside.insert(feed, self.links_of(&key)?);
            }
            self.inside = Some(inside);
        }
        Ok(self.inside.get_or_insert_default())
    }

    /// Removes unread entries from the open list that link to the same page as an earlier entry of another feed. Their keys are
    /// kept with that entry.
    pub(super) fn fold_inside(&mut self, query: &ListQuery) -> Result<(), StoreError> {
        self.folded_inside.clear();
        if query.join.is_none() || self.order.len() > JOINED_MAX {
            return Ok(());
        }
        let mut apart = self.apart()?;
        apart.extend(&query.apart);
        // Only unread entries share a row, so that no unread entry is hidden below one that was read.
        let mut listed = BTreeSet::new();
        for key in self.order.clone().into_iter().filter_map(RowKey::entry) {
            if self.flags(key)?.is_unread() {
                listed.insert(key);
            }
        }
        self.folded_inside = fold_entries(self.links_inside()?, &listed, &apart);
        let folds = self.folded_inside.iter();
        let of_fold =
            folds.flat_map(|(first, fold)| fold.entries.iter().map(move |key| (*key, *first)));
        let first_of: BTreeMap<EntryKey, EntryKey> = of_fold.collect();
        // The row of a story shows its earliest entry or, if the list is ordered by rarity, the entry whose feed publishes least often,
        // which comes first in the list.
        let firsts = self.folded_inside.keys().filter(|_| query.rare.is_none());
        let mut shown: BTreeMap<EntryKey, EntryKey> = firsts.map(|key| (*key, *key)).collect();
        self.order.retain(|row| {
            row.entry().is_none_or(|key| {
                let first = first_of.get(&key).copied().unwrap_or(key);
                *shown.entry(first).or_insert(key) == key
            })
        });
        let folds = std::mem::take(&mut self.folded_inside).into_iter().map(|(first, mut fold)| {
            let shown = shown.get(&first).copied().unwrap_or(first);
            if shown != first {
                fold.entries.retain(|key| *key != shown);
                fold.entries.insert(0, first);
            }
            (shown, fold)
        });
        self.folded_inside = folds.collect();
        Ok(())
    }

    fn apart(&self) -> Result<BTreeSet<u64>, StoreError> {
        let bytes = self.facts.get(APART_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Notes that entries with these links are not the same story. If that is already noted for all of these links, removes the
    /// note.
    pub(in crate::io::store) fn keep_apart(
        &mut self,
        links: &BTreeSet<u64>,
    ) -> Result<(), StoreError> {
        let mut apart = self.apart()?;
        if links.is_subset(&apart) {
            apart.retain(|link| !links.contains(link));
            self.put(TableName::Facts, APART_KEY, codec::encode(&apart)?)?;
        } else if apart.len() < APART_MAX {
            apart.extend(links);
            self.put(TableName::Facts, APART_KEY, codec::encode(&apart)?)?;
        }
        Ok(())
    }
}
