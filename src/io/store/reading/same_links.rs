//! Entries of other feeds that have the same link as an entry and become read together with it.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::entries::rows::{Scope, Show};
use crate::io::store::chunks::{ENTRIES, slot};
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use backissue_core::feed::identity::identity_hash;
use backissue_core::history::{EntryKey, FeedKey, Flags};
use backissue_core::search::{NEAR_SECONDS, article_address};
use serde::Deserialize;

/// Maximum number of entries for which entries with the same link are searched, and of rows in a list that joins entries of the
/// same article. The limit exists because the records of all these entries must be read.
pub(super) const JOINED_MAX: usize = 20_000;

/// The link of a stored entry. Its other fields are skipped: the first list reads the newest record of each feed.
#[derive(Deserialize)]
struct StoredLink {
    link: Option<Box<str>>,
}

/// An entry with a link that entries of other feeds may have too.
#[derive(Debug, Clone)]
struct Linked {
    key: EntryKey,
    listed: i64,
    address: String,
}

/// The entries with one link, by feed: each with its date in Unix seconds and its marks.
type Holders = BTreeMap<FeedKey, Vec<(EntryKey, i64, Flags)>>;

impl Store {
    /// Returns, for each of these entries, the unread entries of other feeds that have the same link and a date at most two days
    /// apart. A link that a feed gives to several entries of that time does not identify an article and is ignored. Returns nothing
    /// for more than [`JOINED_MAX`] entries.
    pub fn unread_with_same_links(
        &mut self,
        keys: &[EntryKey],
    ) -> Result<BTreeMap<EntryKey, Vec<(EntryKey, Flags)>>, StoreError> {
        let mut wanted: BTreeMap<u32, Vec<Linked>> = BTreeMap::new();
        for &key in keys.iter().take(JOINED_MAX.saturating_add(1)) {
            if let Some(linked) = self.linked(key)? {
                wanted.entry(link_hash(&linked.address)).or_default().push(linked);
            }
        }
        let mut found = BTreeMap::new();
        if wanted.is_empty() || keys.len() > JOINED_MAX {
            return Ok(found);
        }
        let mut feeds: BTreeSet<FeedKey> =
            self.feeds_in(&Scope::Everything, Show::Unread, true)?.into_iter().collect();
        feeds.extend(keys.iter().map(|key| key.feed));
        let holders = self.find_holders(&feeds, &wanted)?;
        for one in wanted.into_values().flatten() {
            let Some(feeds) = holders.get(&one.address) else { continue };
            let near = |listed: i64| listed.abs_diff(one.listed) <= NEAR_SECONDS;
            let is_only = feeds.get(&one.key.feed).is_some_and(|held| held.len() == 1);
            let others = feeds.iter().filter(|(feed, _)| is_only && **feed != one.key.feed);
            let others = others.filter_map(|(_, held)| match held.as_slice() {
                &[(key, listed, flags)] if flags.is_unread() && near(listed) => Some((key, flags)),
                _ => None,
            });
            let others: Vec<_> = others.collect();
            if !others.is_empty() {
                found.insert(one.key, others);
            }
        }
        Ok(found)
    }

    /// Returns the entries with one of the wanted addresses and a date near a wanted entry, by address and feed.
    fn find_holders(
        &mut self,
        feeds: &BTreeSet<FeedKey>,
        wanted: &BTreeMap<u32, Vec<Linked>>,
    ) -> Result<BTreeMap<String, Holders>, StoreError> {
        let mut dates: Vec<i64> = wanted.values().flatten().map(|linked| linked.listed).collect();
        dates.sort_unstable();
        let is_near = |listed: i64| {
            let next = dates.partition_point(|&date| date < listed);
            let beside = [next.checked_sub(1), Some(next)].into_iter().flatten();
            let mut beside = beside.filter_map(|place| dates.get(place));
            beside.any(|date| date.abs_diff(listed) <= NEAR_SECONDS)
        };
        let mut holders: BTreeMap<String, Holders> = BTreeMap::new();
        for &feed in feeds {
            // Skip a feed whose index is damaged, so that the other entries can still be read.
            let Ok(rows) = self.rows_of(feed) else { continue };
            let rows = (0_u32..).zip(rows.iter()).filter(|(_, row)| is_near(row.listed));
            let rows: Vec<(u32, Flags)> = rows.map(|(seq, row)| (seq, row.flags)).collect();
            for (seq, flags) in rows {
                let key = EntryKey { feed, seq };
                if !self.hash_of_link(key)?.is_some_and(|hash| wanted.contains_key(&hash)) {
                    continue;
                }
                if let Some(Linked { key, listed, address }) = self.linked(key)? {
                    let feeds = holders.entry(address).or_default();
                    feeds.entry(feed).or_default().push((key, listed, flags));
                }
            }
        }
        Ok(holders)
    }

    fn linked(&mut self, key: EntryKey) -> Result<Option<Linked>, StoreError> {
        let entry = self.listed_entry(key)?;
        Ok(entry.and_then(|entry| {
            let address = entry.link.as_deref().and_then(article_address)?;
            Some(Linked { key, listed: entry.listed.timestamp(), address })
        }))
    }

    /// Returns a hash of the link of an entry, or `None` if the entry has no link to a page. The hashes are computed once and kept
    /// in memory.
    pub(super) fn hash_of_link(&mut self, key: EntryKey) -> Result<Option<u32>, StoreError> {
        let record = (key.feed, key.seq / ENTRIES);
        if self.shown.link_hashes(record).is_none() {
            let entries: Vec<Option<StoredLink>> = match self.entry_record(record) {
                // Treat a damaged record like an empty one, so that lists show the other entries.
                Err(StoreError::Damaged { .. }) => Vec::new(),
                entries => entries?,
            };
            let link = |entry: &Option<StoredLink>| {
                let link = entry.as_ref().and_then(|entry| entry.link.as_deref());
                link.and_then(article_address).map_or(0, |address| link_hash(&address))
            };
            self.shown.keep_link_hashes(record, entries.iter().map(link).collect());
        }
        let hashes = self.shown.link_hashes(record).unwrap_or_default();
        Ok(hashes.get(slot(key.seq, ENTRIES)).copied().filter(|hash| *hash != 0))
    }
}

/// Returns a hash of an address; never 0.
fn link_hash(address: &str) -> u32 {
    let hash = identity_hash(address);
    u32::try_from(hash & u64::from(u32::MAX)).unwrap_or_default().max(1)
}
