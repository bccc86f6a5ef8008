//! Entries of other feeds that have the same link as an entry and become read together with it. Also the pages to which the texts
//! of recent entries link, so that lists can show a story once that several feeds report. The hashes of these links are written
//! together with the entries, so that lists need not read texts.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::feed::fingerprint::{PageHash, article_address};
use backissue_core::history::{EntryKey, FeedKey, Flags, IndexRow, MergedEntry};
use backissue_core::search::{LinksInside, NEAR_SECONDS, fold_entries, links_inside};
use serde::Deserialize;

use crate::engine::entries::rows::{ListQuery, RowKey, Scope, Show};
use crate::io::codec;
use crate::io::store::chunks::ENTRIES;
use crate::io::store::error::StoreError;
use crate::io::store::handle::{Store, feed_bytes};
use crate::io::store::pack::{Batch, TableName};

/// Maximum number of entries for which entries with the same link are searched, and of rows in a list that joins entries of the
/// same article. The limit exists because the records of many of these entries must be read.
pub(super) const JOINED_MAX: usize = 20_000;

/// Number of slots of a table that shows for most pages that they are not wanted.
const PAGE_SLOTS: usize = 1 << 14;

/// The link of a stored entry. Its other fields are skipped.
#[derive(Deserialize)]
struct StoredLink {
    link: Option<Box<str>>,
}

/// An entry with a link that entries of other feeds may have too.
#[derive(Debug, Clone)]
struct Linked {
    key: EntryKey,
    listed: i64,
    page: PageHash,
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
        let mut wanted: BTreeMap<PageHash, Vec<Linked>> = BTreeMap::new();
        for &key in keys.iter().take(JOINED_MAX.saturating_add(1)) {
            if let Some(linked) = self.linked(key)? {
                wanted.entry(linked.page).or_default().push(linked);
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
        wanted: &BTreeMap<PageHash, Vec<Linked>>,
    ) -> Result<BTreeMap<String, Holders>, StoreError> {
        let mut dates: Vec<i64> = wanted.values().flatten().map(|linked| linked.listed).collect();
        dates.sort_unstable();
        let is_near = |listed: i64| {
            let next = dates.partition_point(|&date| date < listed);
            let beside = [next.checked_sub(1), Some(next)].into_iter().flatten();
            let mut beside = beside.filter_map(|place| dates.get(place));
            beside.any(|date| date.abs_diff(listed) <= NEAR_SECONDS)
        };
        // Most pages are not wanted, and looking them up in the map takes longer than reading their rows.
        let slot_of = |page: PageHash| page.0 as usize % PAGE_SLOTS;
        let mut slots = vec![false; PAGE_SLOTS];
        for slot in wanted.keys().map(|&page| slot_of(page)) {
            slots.get_mut(slot).into_iter().for_each(|is_wanted| *is_wanted = true);
        }
        let mut holders: BTreeMap<String, Holders> = BTreeMap::new();
        for &feed in feeds {
            // Skip a feed whose index is damaged, so that the other entries can still be read.
            let Ok(rows) = self.rows_of(feed) else { continue };
            let may_hold = |row: &IndexRow| {
                let is_wanted =
                    slots.get(slot_of(row.page)) == Some(&true) && wanted.contains_key(&row.page);
                is_wanted || row.page == PageHash::UNKNOWN
            };
            let rows = (0_u32..).zip(rows.iter());
            let rows = rows.filter(|(_, row)| may_hold(row) && is_near(row.listed));
            let rows: Vec<(u32, Flags)> = rows.map(|(seq, row)| (seq, row.flags)).collect();
            for (seq, flags) in rows {
                let key = EntryKey { feed, seq };
                if !self.page_of(key)?.is_some_and(|page| wanted.contains_key(&page)) {
                    continue;
                }
                if let Some(Linked { key, listed, address, .. }) = self.linked(key)? {
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
            let page = PageHash::of_address(&address);
            Some(Linked { key, listed: entry.listed.timestamp(), page, address })
        }))
    }

    /// Returns a hash of the page that an entry links to, or `None` if it links to no page.
    pub(super) fn page_of(&mut self, key: EntryKey) -> Result<Option<PageHash>, StoreError> {
        let row = self.rows_of(key.feed)?.get(key.seq as usize).copied();
        match row.map(|row| row.page) {
            Some(PageHash::UNKNOWN) => self.read_pages(key),
            page => Ok(page.and_then(PageHash::page)),
        }
    }

    /// Reads the pages of an entry and of the others in its record, which a store of an older version does not have in its rows.
    /// The rows in memory have them from then on.
    fn read_pages(&mut self, key: EntryKey) -> Result<Option<PageHash>, StoreError> {
        let record = key.seq / ENTRIES;
        let entries: Vec<Option<StoredLink>> = match self.entry_record((key.feed, record)) {
            // Ignore a damaged record, so that lists show the other entries. The pages stay unknown, because it may be repaired.
            Err(StoreError::Damaged { .. }) => return Ok(None),
            entries => entries?,
        };
        let links = entries.iter().map(|entry| entry.as_ref().and_then(|one| one.link.as_deref()));
        let pages = links.chain(std::iter::repeat(None)).map(PageHash::of);
        let first = record.saturating_mul(ENTRIES) as usize;
        let rows = self.rows_of(key.feed)?.iter_mut().skip(first).take(ENTRIES as usize);
        for (row, page) in rows.zip(pages).filter(|(row, _)| row.page == PageHash::UNKNOWN) {
            row.page = page;
        }
        let row = self.rows_of(key.feed)?.get(key.seq as usize);
        Ok(row.and_then(|row| row.page.page()))
    }
}

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
        let bytes = self.tables.facts.get(key)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Returns the links of all feeds. They are read when the first list needs them, and stay in memory.
    fn links_inside(&mut self) -> Result<&mut BTreeMap<FeedKey, Vec<LinksInside>>, StoreError> {
        if self.inside.is_none() {
            let mut inside = BTreeMap::new();
            for key in self.tables.facts.keys_of(INSIDE_KEY) {
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
        let bytes = self.tables.facts.get(APART_KEY)?;
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

#[cfg(test)]
mod tests {
    use backissue_core::accounts::{ItemId, Marks};
    use backissue_core::feed::Entry;
    use backissue_core::history::Flag;
    use chrono::DateTime;

    use crate::engine::entries::account_state::FeedSync;
    use crate::engine::feeds::subscription::SubscriptionRecord;
    use crate::io::store::handle::numbered_key;
    use crate::io::store::reading::same_links::*;

    #[test]
    fn same_links_are_found_in_rows_of_older_stores_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let feeds = [FeedKey(1), FeedKey(2)];
        store.save_records(&feeds.map(|feed| (feed, SubscriptionRecord::default()))).unwrap();
        for feed in feeds {
            let id = ItemId::read(&feed.to_string()).unwrap();
            let entry = Entry {
                id: id.long(),
                link: Some("https://a.example/1".to_owned()),
                published: DateTime::from_timestamp(100, 0),
                ..Entry::default()
            };
            let marks = [(id.clone(), Marks::default())].into();
            let arrived = [(id, entry)].into();
            let sync = FeedSync { arrived, marks, ..FeedSync::new(feed, DateTime::UNIX_EPOCH) };
            store.sync_feed(&sync).unwrap();
        }
        let [key, other] = feeds.map(|feed| EntryKey { feed, seq: 0 });
        let found = |store: &mut Store| {
            let found = store.unread_with_same_links(&[key]).unwrap();
            found.into_values().flatten().map(|(key, _)| key).collect::<Vec<_>>()
        };
        let stored = |store: &Store| store.read_rows(other.feed).unwrap()[0].page;
        let page = stored(&store);
        assert_eq!((page.page().is_some(), found(&mut store)), (true, vec![other]));
        for feed in feeds {
            let row = store.read_rows(feed).unwrap()[0].to_bytes();
            let old = codec::seal(&row[..IndexRow::SIZE_WITHOUT_PAGE]);
            store.put(TableName::Index, numbered_key(feed, 0), old).unwrap();
        }
        store.rows.clear();
        assert_eq!((stored(&store), found(&mut store)), (PageHash::UNKNOWN, vec![other]));
        store.mark(&[other], Flag::Starred, true).unwrap();
        assert_eq!(stored(&store), page, "it is written with the next change");
        let put = |store: &mut Store, page| {
            let row = IndexRow { page, ..store.read_rows(other.feed).unwrap()[0] };
            let row = codec::encode_rows(&[row]);
            store.put(TableName::Index, numbered_key(other.feed, 0), row).unwrap();
            store.rows.clear();
        };
        put(&mut store, PageHash::of(None));
        store.mend_feeds(false).unwrap();
        assert_eq!(stored(&store), page, "the page of a restored row may be outdated");
        put(&mut store, PageHash::UNKNOWN);
        let entries = store.tables.meta.get(numbered_key(other.feed, 0)).unwrap().unwrap().to_vec();
        store.put(TableName::Meta, numbered_key(other.feed, 0), b"damaged").unwrap();
        assert_eq!(store.page_of(other).unwrap(), None);
        store.put(TableName::Meta, numbered_key(other.feed, 0), entries).unwrap();
        assert_eq!(store.page_of(other).unwrap(), Some(page), "a repaired record is read");
    }
}
