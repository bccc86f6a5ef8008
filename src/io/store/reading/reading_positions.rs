//! Reading positions: one small record for each feed, the entry that was left last at its end.

use std::collections::BTreeMap;

use crate::engine::entries::loaded_entry::ReadingPosition;
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;
use crate::io::store::record_keys::feed_bytes;
use backissue_core::history::{EntryKey, FeedKey};

/// Most positions for a feed; the oldest are dropped first.
const PLACES_MAX: usize = 500;

impl Store {
    /// Returns where the reader left an entry.
    pub fn place(&self, key: EntryKey) -> Result<Option<ReadingPosition>, StoreError> {
        let places = self.places_of(key.feed)?;
        Ok(places.iter().rev().find(|(seq, _)| *seq == key.seq).map(|(_, place)| *place))
    }

    /// Writes where the reader left an entry; `None`: the next time it starts at the top.
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

    /// Hands over the positions in entries that moved to another feed, where it has none; `now_as`: their numbers
    /// there.
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

    /// Returns the positions of a feed. A damaged record counts as empty: it holds nothing that a page key does not
    /// bring back.
    fn places_of(&self, feed: FeedKey) -> Result<Vec<(u32, ReadingPosition)>, StoreError> {
        let bytes = self.places.get(feed_bytes(feed))?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use crate::io::store::reading::reading_positions::*;

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
