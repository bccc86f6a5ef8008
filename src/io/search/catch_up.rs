//! Updates the search index from the store.
//!
//! The index holds a stamp of the indexed content of each entry. Entries whose stamp differs from the store's rows are
//! added, replaced or removed. So nothing is lost when the program is killed: the difference is found again at the
//! next start.

use super::index::{IndexState, SearchIndex, Stamps};
use super::index_error::IndexError;
use super::writer::Writer;
use crate::io::store::Texts;
use backissue_core::history::{EntryKey, FeedKey, IndexRow};
use backissue_core::search::EntryTexts;

/// Entries that are read together.
const SLICE: usize = 128;

/// Updates an index from a store.
pub struct CatchUp {
    index: SearchIndex,
    texts: Texts,
    /// The stamps in the index, by feed and entry number; 0: not indexed.
    has: Stamps,
    /// What is not written yet.
    writer: Writer,
}

impl std::fmt::Debug for CatchUp {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CatchUp").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Returns the stamp of an entry's content; 0: it is not to be indexed. `page` is the length of the record of its page, if that was
/// fetched: another page has another length.
fn stamp(row: &IndexRow, page: Option<&u64>) -> u32 {
    if !row.flags.is_findable() {
        return 0;
    }
    // The lowest bit is always set, so the length begins at the next one.
    let folded = row.content ^ (row.content >> 32) ^ page.map_or(0, |length| length << 1);
    u32::try_from(folded & u64::from(u32::MAX)).unwrap_or_default() | 1
}

impl CatchUp {
    /// Reads the stamps of an index.
    pub fn new(index: SearchIndex, texts: Texts) -> Self {
        let has = index.stamps();
        Self { index, texts, has, writer: Writer::default() }
    }

    /// Compares the index with the store.
    pub fn state(&self) -> IndexState {
        let mut state = IndexState { disk_bytes: self.index.disk_bytes(), ..Default::default() };
        for feed in self.texts.feeds() {
            let of_feed = self.state_of(feed);
            state.missing = state.missing.saturating_add(of_feed.missing);
            state.indexed = state.indexed.saturating_add(of_feed.indexed);
        }
        state
    }

    /// Compares the entries of one feed.
    pub fn state_of(&self, feed: FeedKey) -> IndexState {
        let mut state = IndexState::default();
        if !self.texts.has(feed) {
            return state;
        }
        let has = self.has.get(&feed).map_or(&[][..], Vec::as_slice);
        for (place, wanted) in self.stamps(feed).into_iter().enumerate() {
            let got = has.get(place).copied().unwrap_or(0);
            if wanted != got {
                state.missing = state.missing.saturating_add(1);
            } else if got != 0 {
                state.indexed = state.indexed.saturating_add(1);
            }
        }
        state
    }

    /// Returns the stamps of the entries of a feed as they are in the store.
    fn stamps(&self, feed: FeedKey) -> Vec<u32> {
        let pages = self.texts.pages(feed);
        let rows = self.texts.rows(feed);
        (0_u32..).zip(&rows).map(|(seq, row)| stamp(row, pages.get(&seq))).collect()
    }

    /// Updates everything. `go_on` receives the number of finished entries and returns whether to continue. Returns
    /// whether it was finished.
    pub fn everything(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Result<bool, IndexError> {
        let feeds = self.texts.feeds();
        let gone: Vec<FeedKey> =
            self.has.keys().filter(|feed| !feeds.contains(feed)).copied().collect();
        let mut done = 0;
        for feed in gone.into_iter().chain(feeds) {
            if !self.feed(feed, &mut done, go_on)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn feed(
        &mut self,
        feed: FeedKey,
        done: &mut usize,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<bool, IndexError> {
        let wanted = if self.texts.has(feed) { self.stamps(feed) } else { Vec::new() };
        let has = self.has.entry(feed).or_default();
        has.resize(has.len().max(wanted.len()), 0);
        let want = |place: usize| wanted.get(place).copied().unwrap_or(0);
        let differing: Vec<usize> =
            (0..has.len()).filter(|&place| has.get(place).copied() != Some(want(place))).collect();
        for slice in differing.chunks(SLICE) {
            if !go_on(*done) {
                return Ok(false);
            }
            let changes: Vec<(u32, u32)> = slice
                .iter()
                .map(|&place| (u32::try_from(place).unwrap_or(u32::MAX), want(place)))
                .collect();
            self.write(feed, &changes);
            *done = done.saturating_add(slice.len());
            if self.writer.is_full() {
                self.commit()?;
            }
        }
        Ok(true)
    }

    /// Adds, replaces or removes entries, each given with its new stamp.
    fn write(&mut self, feed: FeedKey, changes: &[(u32, u32)]) {
        let has = self.has.entry(feed).or_default();
        let added = changes.iter().filter(|(_, stamp)| *stamp != 0).map(|(seq, _)| *seq);
        let mut texts = self.texts.read(feed, added);
        let pages = self.texts.pages(feed);
        for &(seq, stamp) in changes {
            let key = EntryKey { feed, seq };
            let Some(slot) = has.get_mut(seq as usize) else { continue };
            // An entry whose record is damaged has no words; the doctor says so.
            if let Some((kept, body)) = texts.remove(&seq) {
                let page = pages.contains_key(&seq).then(|| self.texts.page(key)).flatten();
                let whole = page.map(|page| body.clone().unwrap_or_default().with_page(&page.html));
                let words = EntryTexts::new(&kept, whole.as_ref().or(body.as_ref()));
                self.writer.add(key, stamp, &words);
            } else if *slot != 0 {
                self.writer.remove(key);
            }
            *slot = stamp;
        }
    }

    /// Writes what was collected, so that it is durable and searches see it. Returns whether there was anything.
    pub fn commit(&mut self) -> Result<bool, IndexError> {
        if self.writer.is_empty() {
            return Ok(false);
        }
        if !self.texts.is_in_place(self.index.data()) {
            return Err(IndexError::gone());
        }
        self.index.commit(std::mem::take(&mut self.writer))?;
        Ok(true)
    }
}
