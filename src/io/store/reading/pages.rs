//! The articles of the pages that entries link to: one compressed record each.

use std::collections::BTreeMap;

use crate::io::store::pack::{Batch, TableName};

use crate::engine::entries::ahead_work::{PicturedText, TextsWanted};
use crate::engine::entries::full_text::FullText;
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::reading::search_hits::KnownVerdicts;
use crate::io::store::record_keys::TextRecord;
use crate::io::store::record_keys::{feed_of, number_of, numbered_key};
use backissue_core::history::{EntryKey, FeedKey};

/// Maximum size of the texts in which pictures are sought at once, bytes.
const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

const fn page_key(key: EntryKey) -> [u8; 8] {
    numbered_key(key.feed, key.seq)
}

impl Store {
    /// Returns the stored article of the page that an entry links to; a damaged record counts as none.
    pub fn full_text(&self, key: EntryKey) -> Result<Option<FullText>, StoreError> {
        let bytes = self.pages.get(page_key(key))?;
        Ok(bytes.and_then(|bytes| codec::decode_compressed(&bytes).ok()))
    }

    /// Writes the article of the page that an entry links to.
    pub fn save_full_text(&mut self, key: EntryKey, full: &FullText) -> Result<(), StoreError> {
        self.put(TableName::Pages, page_key(key), codec::encode_compressed(full)?)?;
        // They were made without the words of the page.
        self.verified = KnownVerdicts::default();
        Ok(())
    }

    /// Returns the unread ones among the `among` newest entries of a feed that have the address of a page, and no stored page. A
    /// page that could not be fetched counts as stored.
    pub fn without_page(
        &mut self,
        feed: FeedKey,
        among: u32,
    ) -> Result<Vec<(EntryKey, String)>, StoreError> {
        let mut found = Vec::new();
        for (key, link) in self.newest_unread(feed, among)? {
            let link = link.filter(|link| link.starts_with("http"));
            if let Some(link) = link
                && !self.pages.contains_key(page_key(key))?
            {
                found.push((key, link));
            }
        }
        Ok(found)
    }

    /// Returns the texts of the unread ones among the newest entries of a feed, newest first, up to [`TEXT_BYTES_MAX`].
    pub fn unread_texts(&mut self, wanted: TextsWanted) -> Result<Vec<PicturedText>, StoreError> {
        let TextsWanted { feed, among, pages } = wanted;
        let (mut texts, mut bytes) = (Vec::new(), 0_usize);
        for (key, link) in self.newest_unread(feed, among)? {
            let page = if pages { self.full_text(key)? } else { None };
            let page = page.filter(|page| !page.html.is_empty());
            let text = match page {
                Some(page) => Some((page.html, Some(page.url))),
                None => self.body(key)?.and_then(|body| Some((body.text()?.to_owned(), link))),
            };
            let Some((html, base)) = text else { continue };
            bytes = bytes.saturating_add(html.len());
            if bytes > TEXT_BYTES_MAX {
                break;
            }
            texts.push(PicturedText { key, html, base });
        }
        Ok(texts)
    }

    /// Returns the unread ones among the `among` newest entries of a feed, newest first, with the addresses of their pages.
    fn newest_unread(
        &mut self,
        feed: FeedKey,
        among: u32,
    ) -> Result<Vec<(EntryKey, Option<String>)>, StoreError> {
        let rows = self.rows_of(feed)?.iter();
        let mut newest: Vec<(u32, i64)> = (0..).zip(rows.map(|row| row.listed)).collect();
        newest.sort_by_key(|(_, listed)| std::cmp::Reverse(*listed));
        newest.truncate(usize::try_from(among).unwrap_or(usize::MAX));
        let newest = newest.into_iter().map(|(seq, _)| EntryKey { feed, seq });
        let entries = self.entries(&newest.collect::<Vec<_>>())?;
        let unread = entries.into_iter().filter(|entry| entry.flags.is_unread());
        Ok(unread.map(|entry| (entry.key, entry.kept.link)).collect())
    }

    /// Returns the records with their sizes in bytes.
    pub(in crate::io::store) fn page_records(
        &self,
    ) -> impl Iterator<Item = Result<(TextRecord, u64), StoreError>> {
        self.pages.iter().filter_map(|pair| {
            let (key, bytes) = match pair {
                Ok(pair) => pair,
                Err(error) => return Some(Err(error)),
            };
            let key = EntryKey { feed: feed_of(&key)?, seq: number_of(&key)? };
            Some(Ok((TextRecord::Page(key), u64::try_from(bytes.len()).unwrap_or(u64::MAX))))
        })
    }

    /// Drops the articles of entries of a feed in one batch.
    pub(in crate::io::store) fn drop_pages(
        &mut self,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        seqs.for_each(|seq| batch.remove(page_key(EntryKey { feed, seq })));
        self.db.commit(&[(TableName::Pages, &batch)])
    }

    /// Hands over the articles of entries that moved to another feed, where it has none; `now_as`: their numbers
    /// there.
    pub(in crate::io::store) fn hand_pages(
        &mut self,
        from: FeedKey,
        into: FeedKey,
        now_as: &BTreeMap<u32, u32>,
    ) -> Result<(), StoreError> {
        for (&seq, &now_seq) in now_as {
            let Some(page) = self.pages.get(page_key(EntryKey { feed: from, seq }))? else {
                continue;
            };
            let key = page_key(EntryKey { feed: into, seq: now_seq });
            if !self.pages.contains_key(key)? {
                self.put(TableName::Pages, key, page.to_vec())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::io::store::reading::pages::*;

    #[test]
    fn fetched_page_is_replaced_and_deleted_with_its_feed() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let key = EntryKey { feed: FeedKey(1), seq: 7 };
        for text in ["one", "two"] {
            let full = FullText { html: text.into(), ..FullText::default() };
            store.save_full_text(key, &full).unwrap();
            assert_eq!(store.full_text(key).unwrap(), Some(full));
        }
        store.remove(&[FeedKey(1)]).unwrap();
        assert_eq!(store.full_text(key).unwrap(), None);
    }
}
