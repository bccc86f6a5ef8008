//! Collects the words of entries for a segment.

use super::segments::{Field, SegmentBuilder};
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::search::{EntryTexts, WordScanner};

/// Memory of the words of a segment that is being built, in bytes. Then it is written.
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
    /// Notes that an entry is no longer to be found.
    pub(super) fn remove(&mut self, key: EntryKey) {
        self.builder.start_entry(pack_key(key), u64::from(REMOVED));
    }

    /// Adds the words of an entry. It replaces the entry in older segments.
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

    /// Returns whether the words fill a segment.
    pub(super) fn is_full(&self) -> bool {
        self.builder.bytes() >= BUILDER_BYTES
    }

    /// Returns whether there is no entry in it.
    pub(super) fn is_empty(&self) -> bool {
        self.builder.entries() == 0
    }
}

fn pack_key(key: EntryKey) -> u64 {
    (u64::from(key.feed.0) << 32) | u64::from(key.seq)
}

/// Unpacks the number of [`pack_key`].
pub(super) fn unpack_key(packed: u64) -> EntryKey {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    EntryKey { feed: FeedKey(half(packed >> 32)), seq: half(packed) }
}
