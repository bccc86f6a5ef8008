//! Bringing the index in line with the store.
//!
//! The index itself says what it has: for each entry a stamp of the content that was indexed. What differs from the
//! store's rows is put in, replaced or taken out. So it does not matter what was lost between the two: after a kill
//! the difference is found again at the next start.

use std::collections::BTreeMap;

use super::index::{IndexError, IndexState, SearchIndex, Writer};
use crate::history::{EntryKey, FeedKey, IndexRow};
use crate::io::store::Texts;

/// Entries read at once.
const SLICE: usize = 128;
/// Entries written before they are made durable.
const COMMIT_ENTRIES: usize = 20_000;

/// Brings an index in line with a store.
pub struct CatchUp {
    index: SearchIndex,
    texts: Texts,
    /// The stamps of what is in the index, by feed and number; 0: nothing.
    has: BTreeMap<FeedKey, Vec<u32>>,
    writer: Option<Writer>,
    uncommitted: usize,
}

impl std::fmt::Debug for CatchUp {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CatchUp").field("index", &self.index).finish_non_exhaustive()
    }
}

/// What is indexed of an entry, as a number; 0: it is not to be found.
fn stamp(row: &IndexRow) -> u32 {
    if !row.flags.is_findable() {
        return 0;
    }
    let folded = row.content ^ (row.content >> 32);
    u32::try_from(folded & u64::from(u32::MAX)).unwrap_or_default() | 1
}

impl CatchUp {
    /// Looks at what the index has.
    pub fn new(index: SearchIndex, texts: Texts) -> Result<Self, IndexError> {
        let has = super::unpanicked(|| index.stamps())?;
        Ok(Self { index, texts, has, writer: None, uncommitted: 0 })
    }

    /// How the index stands to the store.
    pub fn state(&self) -> IndexState {
        let mut state = IndexState { disk_bytes: self.index.disk_bytes(), ..Default::default() };
        for feed in self.texts.feeds() {
            let has = self.has.get(&feed).map_or(&[][..], Vec::as_slice);
            for (place, row) in self.texts.rows(feed).iter().enumerate() {
                let (wanted, got) = (stamp(row), has.get(place).copied().unwrap_or(0));
                if wanted != got {
                    state.missing = state.missing.saturating_add(1);
                } else if got != 0 {
                    state.indexed = state.indexed.saturating_add(1);
                }
            }
        }
        state
    }

    /// Brings everything in line. `go_on` is told how many entries were done, and says whether to go on; answers
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

    /// Brings one feed in line.
    pub fn feed(
        &mut self,
        feed: FeedKey,
        done: &mut usize,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<bool, IndexError> {
        let rows = if self.texts.has(feed) { self.texts.rows(feed) } else { Vec::new() };
        let wanted: Vec<u32> = rows.iter().map(stamp).collect();
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
            self.write(feed, &changes)?;
            *done = done.saturating_add(slice.len());
            if self.uncommitted >= COMMIT_ENTRIES {
                self.commit()?;
            }
        }
        Ok(true)
    }

    /// Puts in, replaces or takes out entries, each with the stamp it is to have.
    fn write(&mut self, feed: FeedKey, changes: &[(u32, u32)]) -> Result<(), IndexError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.index.writer()?,
        };
        let writer = self.writer.insert(writer);
        let has = self.has.entry(feed).or_default();
        let added = changes.iter().filter(|(_, stamp)| *stamp != 0).map(|(seq, _)| *seq);
        let mut texts = self.texts.read(feed, added);
        for &(seq, stamp) in changes {
            let key = EntryKey { feed, seq };
            let Some(slot) = has.get_mut(seq as usize) else { continue };
            if *slot != 0 {
                writer.remove(key);
            }
            *slot = stamp;
            // An entry whose record is damaged has no words; the doctor says so.
            if let Some((kept, body)) = texts.remove(&seq) {
                writer.add(key, stamp, &kept, body.as_ref())?;
            }
            self.uncommitted = self.uncommitted.saturating_add(1);
        }
        Ok(())
    }

    /// Makes what was done durable and lets searches see it. Says whether there was anything.
    pub fn commit(&mut self) -> Result<bool, IndexError> {
        let Some(writer) = self.writer.as_mut().filter(|_| self.uncommitted > 0) else {
            return Ok(false);
        };
        writer.commit()?;
        self.index.refresh()?;
        self.uncommitted = 0;
        Ok(true)
    }

    /// Gives up the writer with its threads and its memory. What is being merged is given up too, and merged later.
    pub fn rest(&mut self) {
        self.writer = None;
    }

    /// The same, once the parts of the index have been merged.
    pub fn finish(&mut self) -> Result<(), IndexError> {
        if let Some(writer) = self.writer.take() {
            writer.rest()?;
        }
        self.index.refresh()
    }
}
