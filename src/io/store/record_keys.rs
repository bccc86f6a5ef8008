//! Keys of records: the number of a feed, and of a record within the feed, in big-endian order so that they sort.

use backissue_core::history::{EntryKey, FeedKey};

/// Returns the key of a feed's records.
pub(super) const fn feed_bytes(feed: FeedKey) -> [u8; 4] {
    feed.0.to_be_bytes()
}

/// Returns the key of a numbered record of a feed; keys sort by feed, then by number.
pub(super) const fn numbered_key(feed: FeedKey, number: u32) -> [u8; 8] {
    ((feed.0 as u64) << 32 | number as u64).to_be_bytes()
}

/// Reads the number of a [`numbered_key`].
pub(super) fn number_of(key: &[u8]) -> Option<u32> {
    key.get(4..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Reads the feed of a [`feed_bytes`] or [`numbered_key`].
pub(super) fn feed_of(key: &[u8]) -> Option<FeedKey> {
    key.first_chunk().map(|bytes| FeedKey(u32::from_be_bytes(*bytes)))
}

/// A record that holds texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextRecord {
    /// Texts of consecutive entries; the key of the first.
    Packed(EntryKey),
    /// The text of one entry.
    Alone(EntryKey),
    /// The page that an entry links to.
    Page(EntryKey),
}

impl TextRecord {
    pub(super) const fn feed(self) -> FeedKey {
        match self {
            Self::Packed(key) | Self::Alone(key) | Self::Page(key) => key.feed,
        }
    }
}
