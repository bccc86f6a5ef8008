//! Small records of entries and feeds: the texts of pages that entries link to, the times at which a feed published, reading
//! positions, and the list of downloads.

use std::collections::BTreeMap;

use backissue_core::history::timeline::MonthCounts;
use backissue_core::history::{EntryKey, FeedKey, Merged};
use backissue_core::schedule::learning::{Fetch, LearnedRecord, Publications, Stamp};
use chrono_tz::Tz;

use crate::engine::downloads::record::{AttachedWanted, Download};
use crate::engine::entries::ahead_work::{PicturedText, TextsWanted};
use crate::engine::entries::entry_view::{FullText, LoadedEntry, ReadingPosition};
use crate::engine::feeds::subscription::Commit;
use crate::io::codec;
use crate::io::store::chunks::kept_in;
use crate::io::store::error::StoreError;
use crate::io::store::handle::{Store, TextRecord, feed_bytes, feed_of, number_of, numbered_key};
use crate::io::store::pack::{Batch, TableName};
use crate::io::store::reading::caches::KnownVerdicts;

/// Maximum total size in bytes of the texts that are searched for pictures at once.
const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

const fn page_key(key: EntryKey) -> [u8; 8] {
    numbered_key(key.feed, key.seq)
}

impl Store {
    /// Returns the stored article of the page that an entry links to; a damaged record counts as none.
    pub fn full_text(&self, key: EntryKey) -> Result<Option<FullText>, StoreError> {
        let bytes = self.tables.pages.get(page_key(key))?;
        Ok(bytes.and_then(|bytes| codec::decode_compressed(&bytes).ok()))
    }

    /// Writes the article of the page that an entry links to.
    pub fn save_full_text(&mut self, key: EntryKey, full: &FullText) -> Result<(), StoreError> {
        self.put(TableName::Pages, page_key(key), codec::encode_compressed(full)?)?;
        // Forget the results of text tests, which did not include this page.
        self.verified = KnownVerdicts::default();
        Ok(())
    }

    /// Among the `among` newest entries of a feed, returns those that are unread and link to a page that is not stored, with the
    /// addresses of the pages. A page that could not be fetched counts as stored.
    pub fn without_page(
        &mut self,
        feed: FeedKey,
        among: u32,
    ) -> Result<Vec<(EntryKey, String)>, StoreError> {
        let mut found = Vec::new();
        for (key, link) in self.newest_unread(feed, among)? {
            let link = link.filter(|link| link.starts_with("http"));
            if let Some(link) = link
                && !self.tables.pages.contains_key(page_key(key))?
            {
                found.push((key, link));
            }
        }
        Ok(found)
    }

    /// Returns the texts of the unread ones among the newest entries of a feed, newest first, up to [`TEXT_BYTES_MAX`] in total.
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

    /// Returns the records of fetched pages with their sizes in bytes.
    pub(in crate::io::store) fn page_records(
        &self,
    ) -> impl Iterator<Item = Result<(TextRecord, u64), StoreError>> {
        self.tables.pages.iter().filter_map(|pair| {
            let (key, bytes) = match pair {
                Ok(pair) => pair,
                Err(error) => return Some(Err(error)),
            };
            let key = EntryKey { feed: feed_of(&key)?, seq: number_of(&key)? };
            Some(Ok((TextRecord::Page(key), u64::try_from(bytes.len()).unwrap_or(u64::MAX))))
        })
    }

    /// Drops the fetched pages of entries of a feed in one batch.
    pub(in crate::io::store) fn drop_pages(
        &mut self,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        seqs.for_each(|seq| batch.remove(page_key(EntryKey { feed, seq })));
        self.db.commit(&[(TableName::Pages, &batch)])
    }

    /// Copies the fetched pages of entries to the feed into which their feed is merged, unless that feed has them. `now_as` maps
    /// the old entry numbers to the new ones.
    pub(in crate::io::store) fn hand_pages(
        &mut self,
        from: FeedKey,
        into: FeedKey,
        now_as: &BTreeMap<u32, u32>,
    ) -> Result<(), StoreError> {
        for (&seq, &now_seq) in now_as {
            let Some(page) = self.tables.pages.get(page_key(EntryKey { feed: from, seq }))? else {
                continue;
            };
            let key = page_key(EntryKey { feed: into, seq: now_seq });
            if !self.tables.pages.contains_key(key)? {
                self.put(TableName::Pages, key, page.to_vec())?;
            }
        }
        Ok(())
    }
}

/// The status 226 (IM Used) of a delta, which contains only new entries (RFC 3229).
const DELTA: u16 = 226;

impl Store {
    /// Returns the publication times of a feed, or the default if none are stored.
    pub fn publications(&self, feed: FeedKey) -> Result<Publications, StoreError> {
        let bytes = self.tables.rhythms.get(feed_bytes(feed))?;
        Ok(bytes.map(|bytes| codec::decode(&bytes)).transpose()?.unwrap_or_default())
    }

    /// Counts the shown entries of a feed by month and source. Entries whose records cannot be read are left out.
    pub fn month_counts(&self, feed: FeedKey, zone: Tz) -> Result<MonthCounts, StoreError> {
        let rows = self.read_rows(feed)?;
        let shown = (0_u32..).zip(rows).filter(|(_, row)| row.flags.is_shown());
        let mut counts = MonthCounts::default();
        for (kept, _) in kept_in(&self.tables.meta, feed, shown.map(|(seq, _)| seq)).values() {
            counts.add(kept, zone);
        }
        Ok(counts)
    }

    /// Returns the plan that was last learned for a feed. A damaged record counts as missing: the plan is learned again.
    pub fn learned_plan(&self, feed: FeedKey) -> Result<Option<LearnedRecord>, StoreError> {
        let bytes = self.tables.rhythms.get(plan_key(feed))?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()))
    }

    /// Stores the plan that was learned for a feed.
    pub fn save_learned_plan(
        &mut self,
        feed: FeedKey,
        learned: &LearnedRecord,
    ) -> Result<(), StoreError> {
        self.put(TableName::Rhythms, plan_key(feed), codec::encode(learned)?)?;
        Ok(())
    }

    /// Returns the batch that adds the publication times of a commit, or `None` if it adds none.
    ///
    /// If no times of the feed are stored yet, all dates in the document count, even if the feed itself has been known for longer.
    pub(in crate::io::store) fn rhythm_batch(
        &self,
        commit: &Commit,
        merged: &Merged,
    ) -> Result<Option<Batch>, StoreError> {
        let Some(document) = &commit.document else { return Ok(None) };
        // Replace a damaged record: its content is learned again.
        let mut publications = self.publications(commit.feed).unwrap_or_default();
        let first = publications.since().is_none();
        let stamps: Vec<Option<Stamp>> = if first {
            document.entries.iter().map(Stamp::of).collect()
        } else {
            let feed = commit.feed;
            let before = self.counters_of(feed)?.next_seq;
            let written = merged.entries.keys().filter(|&&seq| seq < before);
            let known =
                self.read_entries(&written.map(|&seq| EntryKey { feed, seq }).collect::<Vec<_>>())?;
            let updated: BTreeMap<u32, _> =
                known.iter().map(|(key, kept)| (key.seq, kept.updated)).collect();
            // Stored entries have no time zone offset, so take it from the document.
            let offsets: BTreeMap<_, _> = document
                .entries
                .iter()
                .filter_map(|entry| Stamp::of(entry).map(|stamp| (stamp.at, stamp.offset_minutes)))
                .collect();
            let stamp = |at: Option<_>| {
                at.map(|at| Stamp { at, offset_minutes: offsets.get(&at).copied().flatten() })
            };
            let written = merged.entries.iter().filter_map(|(&seq, entry)| {
                let kept = &entry.kept;
                if seq >= before {
                    return Some(stamp(kept.published.or(kept.updated)));
                }
                let later = kept.updated > updated.get(&seq).copied().flatten();
                (later && entry.body.is_some()).then(|| stamp(kept.updated))
            });
            written.collect()
        };
        if stamps.is_empty() && !first {
            return Ok(None);
        }
        let is_delta = commit.state.status == Some(DELTA);
        let previous = if first { None } else { self.state_of(commit.feed)?.facts.last_ok };
        publications.learn_from_fetch(&Fetch {
            previous,
            at: commit.fetched_at,
            stamps: &stamps,
            document_entries: if is_delta { 0 } else { document.entries.len() },
        });
        let mut batch = Batch::default();
        batch.insert(feed_bytes(commit.feed), codec::encode(&publications)?);
        Ok(Some(batch))
    }
}

/// Returns the key of a feed's learned plan, which is in the same table as its publication times.
fn plan_key(feed: FeedKey) -> [u8; 5] {
    let [a, b, c, d] = feed_bytes(feed);
    [a, b, c, d, b'p']
}

/// Maximum number of reading positions of a feed; the oldest are dropped first.
const PLACES_MAX: usize = 500;

impl Store {
    /// Returns the reading position in an entry.
    pub fn place(&self, key: EntryKey) -> Result<Option<ReadingPosition>, StoreError> {
        let places = self.places_of(key.feed)?;
        Ok(places.iter().rev().find(|(seq, _)| *seq == key.seq).map(|(_, place)| *place))
    }

    /// Writes the reading position in an entry. `None` removes it, so that the entry opens at its start.
    pub fn save_place(
        &mut self,
        key: EntryKey,
        place: Option<ReadingPosition>,
    ) -> Result<(), StoreError> {
        let mut places = self.places_of(key.feed)?;
        places.retain(|(seq, _)| *seq != key.seq);
        places.extend(place.map(|place| (key.seq, place)));
        let beyond = places.len().saturating_sub(PLACES_MAX);
        places.drain(..beyond);
        if places.is_empty() {
            self.drop_record(TableName::Places, feed_bytes(key.feed))?;
        } else {
            self.put(TableName::Places, feed_bytes(key.feed), codec::encode(&places)?)?;
        }
        Ok(())
    }

    /// Copies the reading positions of entries to the feed into which their feed is merged, unless that feed has them. `now_as`
    /// maps the old entry numbers to the new ones.
    pub(in crate::io::store) fn hand_places(
        &mut self,
        from: FeedKey,
        into: FeedKey,
        now_as: &BTreeMap<u32, u32>,
    ) -> Result<(), StoreError> {
        for (seq, place) in self.places_of(from)? {
            let Some(&seq) = now_as.get(&seq) else { continue };
            let key = EntryKey { feed: into, seq };
            if self.place(key)?.is_none() {
                self.save_place(key, Some(place))?;
            }
        }
        Ok(())
    }

    /// Returns the reading positions in entries of a feed. A damaged record counts as empty, because the user can easily find a
    /// position again.
    fn places_of(&self, feed: FeedKey) -> Result<Vec<(u32, ReadingPosition)>, StoreError> {
        let bytes = self.tables.places.get(feed_bytes(feed))?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }
}

/// The key of the list of downloads in the table of facts.
pub(in crate::io::store) const DOWNLOADS_KEY: &[u8] = b"downloads";

impl Store {
    /// Returns the downloads; none if their record is damaged.
    pub fn downloads(&self) -> Result<Vec<Download>, StoreError> {
        let bytes = self.tables.facts.get(DOWNLOADS_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Writes the list of downloads.
    pub fn save_downloads(&mut self, downloads: &[Download]) -> Result<(), StoreError> {
        self.put(TableName::Facts, DOWNLOADS_KEY, codec::encode(&downloads)?)?;
        Ok(())
    }

    /// Reads the entries whose attached files are wanted, without their texts; leaves out entries that cannot be read.
    pub fn with_attached(
        &mut self,
        wanted: &AttachedWanted,
    ) -> Result<Vec<LoadedEntry>, StoreError> {
        let keys: Vec<EntryKey> = match wanted {
            AttachedWanted::Chosen(keys, _) | AttachedWanted::Addresses(keys) => keys.clone(),
            AttachedWanted::New(feed, range) => {
                range.clone().map(|seq| EntryKey { feed: *feed, seq }).collect()
            }
        };
        self.entries(&keys)
    }
}

#[cfg(test)]
mod tests {
    use crate::io::store::reading::small_records::*;

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

#[cfg(test)]
mod reading_positions_tests {
    use crate::io::store::reading::small_records::*;

    #[test]
    fn reading_position_is_kept_replaced_and_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let key = EntryKey { feed: FeedKey(1), seq: 7 };
        let place = |offset| Some(ReadingPosition { offset, of: 100 });
        for kept in [None, place(3), place(40), None] {
            store.save_place(key, kept).unwrap();
            assert_eq!(store.place(key).unwrap(), kept);
        }
        assert_eq!(store.place(EntryKey { feed: FeedKey(2), seq: 7 }).unwrap(), None);
    }

    #[test]
    fn oldest_positions_of_a_feed_are_dropped_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let place = Some(ReadingPosition { offset: 1, of: 2 });
        for seq in 0..=500 {
            store.save_place(EntryKey { feed: FeedKey(1), seq }, place).unwrap();
        }
        assert_eq!(store.place(EntryKey { feed: FeedKey(1), seq: 0 }).unwrap(), None);
        assert_eq!(store.place(EntryKey { feed: FeedKey(1), seq: 1 }).unwrap(), place);
    }
}
