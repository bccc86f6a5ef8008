//! The search index on disk: a folder of segments. If an entry is in several segments, the newest one counts. The indexer and the
//! store share the open index.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::search::{EntryTexts, WordScanner};
use roaring::RoaringBitmap;
use tokio::sync::watch;

use super::IndexError;
use super::segments::{Field, IndexedEntry, Segment, SegmentBuilder, merge};
use crate::io::private_files::create_empty_subfolder;
use crate::io::regular_files::{self, put_in_place};
use crate::io::store::measure_room;

/// Extension of the file names of segments, after a number.
const ENDING: &str = "words";
/// End of the name of a segment that is being written. The name begins with a dot.
const UNFINISHED: &str = ".tmp";
/// Minimum number of segments of about the same size that are merged.
const MERGED: usize = 6;
/// Bytes that must stay free in addition to what a merge writes, because the store may need them in the meantime.
pub(super) const ROOM_MIN: u64 = 16 * 1024 * 1024;
/// Number of times the folder is read if another process may be merging segments.
const READS: u32 = 4;

/// The state of the index compared with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexState {
    /// Number of entries that are indexed as the store has them now.
    pub indexed: usize,
    /// Number of entries of the store that are missing, or were indexed with other content.
    pub missing: usize,
    pub disk_bytes: u64,
}

/// An open segment.
#[derive(Debug)]
pub(super) struct OpenSegment {
    pub(super) segment: Arc<Segment>,
    /// Ordinals of its entries that are not in a newer segment and were not removed.
    pub(super) live: RoaringBitmap,
    path: PathBuf,
}

/// The open segments, oldest first.
pub(super) type Segments = Vec<Arc<OpenSegment>>;

/// The open index. Clones share it. Only one thread writes it.
#[derive(Debug, Clone)]
pub struct SearchIndex {
    segments: Arc<watch::Sender<Segments>>,
    folder: PathBuf,
}

/// The stamps of entries, by feed and sequence number; 0 means that the entry is not indexed.
pub(super) type Stamps = BTreeMap<FeedKey, Vec<u32>>;

impl SearchIndex {
    /// Returns the data folder of the index.
    pub(super) fn data(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    pub fn folder_in(data: &Path) -> PathBuf {
        data.join("index")
    }

    /// Opens the index in a data folder. If it is missing, damaged, or of another version, replaces it by an empty one. If the
    /// system lacks files or disk space to open it, returns an error and does not change it.
    pub fn open(data: &Path) -> Result<Self, IndexError> {
        let folder = Self::folder_in(data);
        remove_unfinished(&folder);
        match Self::open_there(&folder) {
            Ok(index) => Ok(index),
            Err(error @ IndexError::Passing(_)) => Err(error),
            Err(IndexError::Unusable(_)) => Self::make_empty(data),
        }
    }

    /// Opens the index in a data folder for reading, while another process may write it. An index that does not exist is empty.
    pub fn open_to_read(data: &Path) -> Result<Self, IndexError> {
        let folder = Self::folder_in(data);
        let mut reads = 0;
        loop {
            if !folder.exists() {
                return Ok(Self { segments: Arc::default(), folder });
            }
            reads += 1;
            match Self::open_there(&folder) {
                // Try again, because a segment may have been merged into another one since the folder was read. If the index is
                // damaged, the error persists.
                Err(IndexError::Unusable(_)) if reads < READS => {}
                opened => return opened,
            }
        }
    }

    /// Replaces the index by an empty one.
    pub fn make_empty(data: &Path) -> Result<Self, IndexError> {
        let folder = Self::folder_in(data);
        create_empty_subfolder(&folder)?;
        Self::open_there(&folder)
    }

    fn open_there(folder: &Path) -> Result<Self, IndexError> {
        let mut paths = Vec::new();
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            if number_of(&path).is_some() {
                paths.push(path);
            } else if !is_hidden(&path) {
                return Err(IndexError::Unusable("it has another format".into()));
            }
        }
        paths.sort();
        let segments = paths.into_iter().map(|path| Ok((open_segment(&path)?, path)));
        let segments = segments.collect::<Result<Vec<_>, IndexError>>()?;
        let index = Self { segments: Arc::new(watch::Sender::default()), folder: folder.into() };
        index.set(segments);
        Ok(index)
    }

    fn set(&self, segments: Vec<(Arc<Segment>, PathBuf)>) {
        let mut seen = Stamps::new();
        let mut open: Segments = Vec::new();
        for (segment, path) in segments.into_iter().rev() {
            let live = live_entries(segment.entries(), &mut seen);
            open.push(Arc::new(OpenSegment { segment, live, path }));
        }
        open.reverse();
        self.segments.send_replace(open);
    }

    /// Returns the open segments.
    pub(super) fn segments(&self) -> Segments {
        self.segments.borrow().clone()
    }

    /// Returns the stamps of all entries.
    pub(super) fn stamps(&self) -> Stamps {
        let mut stamps = Stamps::new();
        for open in self.segments().iter().rev() {
            live_entries(open.segment.entries(), &mut stamps);
        }
        for stamp in stamps.values_mut().flatten().filter(|stamp| **stamp == REMOVED) {
            *stamp = 0;
        }
        stamps
    }

    /// Describes what is wrong with the index in a data folder, or returns `None`. An index that does not exist is not damaged.
    pub fn damage(data: &Path) -> Option<String> {
        let read_all = || -> Result<(), IndexError> {
            for open in Self::open_to_read(data)?.segments() {
                for field in [Field::Title, Field::Author, Field::Text, Field::Category] {
                    open.segment.prefix(field, "")?;
                }
            }
            Ok(())
        };
        match read_all() {
            Ok(()) | Err(IndexError::Passing(_)) => None,
            Err(IndexError::Unusable(why)) => Some(why),
        }
    }

    pub fn disk_bytes(&self) -> u64 {
        self.segments().iter().map(|open| open.segment.bytes_on_disk()).sum()
    }

    /// Writes the collected words as a new segment, so that they are durable and searches find them. Then merges segments, if there
    /// are enough of about the same size and if there is enough disk space.
    pub(super) fn commit(&self, writer: Writer) -> Result<(), IndexError> {
        let mut segments = self.segments();
        self.write_segment(&writer.finish(), &mut segments, 0)?;
        while let Some(from) = merged_from(&segments) {
            let run = segments.get(from..).unwrap_or_default();
            let parts = run.iter().map(|open| (open.segment.as_ref(), kept(open, from > 0)));
            let (merged, replaced) = (merge(&parts.collect::<Vec<_>>())?, run.len());
            let needed = ROOM_MIN.saturating_add(merged.len() as u64);
            if measure_room(&self.folder).is_some_and(|free| free < needed) {
                break;
            }
            self.write_segment(&merged, &mut segments, replaced)?;
        }
        Ok(())
    }

    /// Writes a segment that replaces the last `replaced` ones.
    fn write_segment(
        &self,
        bytes: &[u8],
        segments: &mut Segments,
        replaced: usize,
    ) -> Result<(), IndexError> {
        let last = segments.last().and_then(|open| number_of(&open.path)).unwrap_or(0);
        let path = self.folder.join(format!("{:08}.{ENDING}", last.saturating_add(1)));
        let mut file = tempfile::Builder::new().suffix(UNFINISHED).tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        put_in_place(file, &path)?;
        let left = segments.split_off(segments.len().saturating_sub(replaced));
        let known = segments.iter().map(|open| (Arc::clone(&open.segment), open.path.clone()));
        let mut next: Vec<(Arc<Segment>, PathBuf)> = known.collect();
        next.push((open_segment(&path)?, path));
        self.set(next);
        *segments = self.segments();
        // Remove the oldest segment first. Otherwise, if this is interrupted, a removed entry could reappear, because the note of
        // its removal is in a newer segment.
        for open in left {
            fs::remove_file(&open.path).ok();
        }
        Ok(())
    }
}

fn open_segment(path: &Path) -> Result<Arc<Segment>, IndexError> {
    Ok(Arc::new(Segment::open(regular_files::open(path)?)?))
}

/// Returns the ordinals of the entries of a segment that are in no newer segment. `seen` contains the stamps in newer segments; the
/// stamps in this segment are added.
fn live_entries(entries: &[IndexedEntry], seen: &mut Stamps) -> RoaringBitmap {
    let mut live = RoaringBitmap::new();
    for (ordinal, entry) in entries.iter().enumerate().rev() {
        let key = unpack_key(entry.key);
        let (of_feed, place) = (seen.entry(key.feed).or_default(), key.seq as usize);
        if of_feed.len() <= place {
            of_feed.resize(place.saturating_add(1), 0);
        }
        let Some(slot) = of_feed.get_mut(place).filter(|slot| **slot == 0) else { continue };
        *slot = u32::try_from(entry.stamp).unwrap_or(REMOVED);
        if *slot != REMOVED {
            live.extend(u32::try_from(ordinal));
        }
    }
    live
}

/// Returns the ordinals of the entries of a segment that a merge keeps. Notes of removed entries are kept if older segments are not
/// merged.
fn kept(open: &OpenSegment, has_older: bool) -> RoaringBitmap {
    let mut kept = open.live.clone();
    if has_older {
        let entries = (0_u32..).zip(open.segment.entries());
        kept.extend(entries.filter(|(_, it)| it.stamp == u64::from(REMOVED)).map(|(at, _)| at));
    }
    kept
}

/// Returns the index of the first segment to merge; all later segments are merged with it. Stops before a segment that is more than
/// twice as large as all later ones together. Returns `None` if fewer than [`MERGED`] segments are left.
fn merged_from(segments: &Segments) -> Option<usize> {
    let (mut from, mut sum) = (segments.len(), 0_u64);
    for (place, open) in segments.iter().enumerate().rev() {
        let bytes = open.segment.bytes_on_disk();
        if sum > 0 && bytes > sum.saturating_mul(2) {
            break;
        }
        (from, sum) = (place, sum.saturating_add(bytes));
    }
    (segments.len().saturating_sub(from) >= MERGED).then_some(from)
}

/// Returns whether a file is hidden. Hidden files are being written or belong to the system, so they are not segments.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Removes unfinished files that an interrupted program left.
fn remove_unfinished(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = file.path();
        if is_hidden(&path) && path.to_string_lossy().ends_with(UNFINISHED) {
            fs::remove_file(path).ok();
        }
    }
}

/// Returns the number in the file name of a segment.
fn number_of(path: &Path) -> Option<u32> {
    path.extension().filter(|ending| *ending == ENDING)?;
    path.file_stem()?.to_str()?.parse().ok()
}

/// The search index, shared between the indexer, which opens it, and the store, which searches in it.
#[derive(Debug, Clone, Default)]
pub struct SharedIndex(Arc<watch::Sender<Option<SearchIndex>>>);

impl SharedIndex {
    /// Returns the index if it is open.
    pub fn get(&self) -> Option<SearchIndex> {
        self.0.borrow().clone()
    }

    /// Sets the index, which may replace a damaged one.
    pub fn set(&self, index: SearchIndex) {
        self.0.send_replace(Some(index));
    }
}

/// Memory in bytes that the words of a new segment may take before it is written.
const BUILDER_BYTES: usize = 4 * 1024 * 1024;
/// Stamp of an entry that was removed. Other stamps are odd.
pub(super) const REMOVED: u32 = 2;

/// Collects the words of entries for the next segment.
#[derive(Debug, Default)]
pub(super) struct Writer {
    builder: SegmentBuilder,
    word: String,
}

impl Writer {
    /// Notes that an entry must no longer be found.
    pub(super) fn remove(&mut self, key: EntryKey) {
        self.builder.start_entry(pack_key(key), u64::from(REMOVED));
    }

    /// Adds the words of an entry, which replaces the entry in older segments.
    pub(super) fn add(&mut self, key: EntryKey, stamp: u32, texts: &EntryTexts<'_>) {
        self.builder.start_entry(pack_key(key), u64::from(stamp));
        self.add_words(Field::Title, texts.title);
        self.add_words(Field::Author, texts.author);
        self.add_words(Field::Text, texts.text());
        for category in texts.categories {
            self.add_words(Field::Category, category);
        }
    }

    fn add_words(&mut self, field: Field, text: &str) {
        let mut scanner = WordScanner::new(text);
        while scanner.next_into(&mut self.word).is_some() {
            self.builder.add(field, &self.word);
        }
    }

    /// Returns the bytes of the segment's file.
    pub(super) fn finish(self) -> Vec<u8> {
        self.builder.finish()
    }

    /// Returns whether the words take enough memory to be written as a segment.
    pub(super) fn is_full(&self) -> bool {
        self.builder.bytes() >= BUILDER_BYTES
    }

    /// Returns whether no entry was added or removed.
    pub(super) fn is_empty(&self) -> bool {
        self.builder.entries() == 0
    }
}

fn pack_key(key: EntryKey) -> u64 {
    (u64::from(key.feed.0) << 32) | u64::from(key.seq)
}

/// Unpacks a number from [`pack_key`].
pub(super) fn unpack_key(packed: u64) -> EntryKey {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    EntryKey { feed: FeedKey(half(packed >> 32)), seq: half(packed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backissue_core::history::EntryKey;
    use backissue_core::search::EntryTexts;

    /// Writes entries of feed 1 with one word each, or removes an entry if its word is `None`.
    fn write(index: &SearchIndex, entries: &[(u32, Option<&str>)]) {
        let mut writer = Writer::default();
        for &(seq, word) in entries {
            let key = EntryKey { feed: FeedKey(1), seq };
            match word {
                None => writer.remove(key),
                Some(word) => {
                    let mut texts = EntryTexts::default();
                    texts.title = word;
                    writer.add(key, 1, &texts);
                }
            }
        }
        index.commit(writer).unwrap();
    }

    fn found(index: &SearchIndex, word: &str) -> Vec<u32> {
        let mut found = Vec::new();
        for open in index.segments() {
            for ordinal in open.segment.word(Field::Title, word).unwrap() & &open.live {
                let key = open.segment.entries()[ordinal as usize].key;
                found.push(unpack_key(key).seq);
            }
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn the_newest_segment_counts_also_after_merges() {
        let data = tempfile::tempdir().unwrap();
        let index = SearchIndex::open(data.path()).unwrap();
        write(&index, &[(0, Some("frost")), (1, Some("frost")), (2, Some("wax"))]);
        write(&index, &[(1, Some("wax")), (2, None)]);
        assert_eq!((found(&index, "frost"), found(&index, "wax")), (vec![0], vec![1]));
        for seq in 3..20 {
            write(&index, &[(seq, Some("frost"))]);
        }
        write(&index, &[(0, None)]);
        let expected: Vec<u32> = (3..20).collect();
        let again = SearchIndex::open(data.path()).unwrap();
        for index in [index, again] {
            assert!(index.segments().len() < MERGED + 2);
            assert_eq!((found(&index, "frost"), found(&index, "wax")), (expected.clone(), vec![1]));
            let stamps = &index.stamps()[&FeedKey(1)];
            assert_eq!(stamps[..4], [0, 1, 0, 1]);
        }
    }

    #[test]
    fn damage_is_found_and_the_index_replaced() {
        let data = tempfile::tempdir().unwrap();
        let index = SearchIndex::open(data.path()).unwrap();
        write(&index, &[(0, Some("frost"))]);
        let path = index.segments()[0].path.clone();
        let bytes = fs::read(&path).unwrap();
        for cut in [0, 10, bytes.len() - 1] {
            fs::write(&path, &bytes[..cut]).unwrap();
            assert!(SearchIndex::damage(data.path()).is_some(), "{cut}");
        }
        assert!(SearchIndex::open(data.path()).unwrap().segments().is_empty());
        fs::write(data.path().join("index/meta.json"), "of another version").unwrap();
        assert!(SearchIndex::open(data.path()).unwrap().segments().is_empty());
        assert_eq!(fs::read_dir(data.path().join("index")).unwrap().count(), 0);
    }

    #[test]
    fn hidden_files_are_no_damage_and_reading_removes_nothing() {
        let data = tempfile::tempdir().unwrap();
        assert!(SearchIndex::open_to_read(data.path()).unwrap().segments().is_empty());
        assert!(!SearchIndex::folder_in(data.path()).exists());
        let index = SearchIndex::open(data.path()).unwrap();
        write(&index, &[(0, Some("frost"))]);
        let [unfinished, of_system] =
            [".x.tmp", ".DS_Store"].map(|name| data.path().join("index").join(name));
        fs::write(&unfinished, "half a segment").unwrap();
        fs::write(&of_system, "").unwrap();
        assert_eq!(SearchIndex::damage(data.path()), None);
        let read = SearchIndex::open_to_read(data.path()).unwrap();
        assert!(found(&read, "frost") == [0] && unfinished.exists());
        let again = SearchIndex::open(data.path()).unwrap();
        assert!(found(&again, "frost") == [0] && !unfinished.exists() && of_system.exists());
    }
}
