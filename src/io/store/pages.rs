//! The pages that entries link to, compressed, a record each.

use super::super::codec;
use super::error::StoreError;
use super::open::{Store, feed_bytes};
use crate::app::full_text::FullText;
use crate::history::EntryKey;

fn page_key(key: EntryKey) -> Vec<u8> {
    feed_bytes(key.feed).into_iter().chain(key.seq.to_be_bytes()).collect()
}

impl Store {
    /// What is kept of the page an entry links to; a damaged record is as good as none.
    pub fn full_text(&self, key: EntryKey) -> Result<Option<FullText>, StoreError> {
        let bytes = self.pages.get(page_key(key))?;
        Ok(bytes.and_then(|bytes| codec::decode_compressed(&bytes).ok()))
    }

    /// Keeps it.
    pub fn save_full_text(&self, key: EntryKey, full: &FullText) -> Result<(), StoreError> {
        self.pages.insert(page_key(key), codec::encode_compressed(full)?)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::FeedKey;

    #[test]
    fn a_page_is_kept_replaced_and_goes_with_its_feed() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let key = EntryKey { feed: FeedKey(1), seq: 7 };
        for text in ["one", "two"] {
            let full = FullText { html: text.into(), ..FullText::default() };
            store.save_full_text(key, &full).unwrap();
            assert_eq!(store.full_text(key).unwrap(), Some(full));
        }
        store.remove(FeedKey(1)).unwrap();
        assert_eq!(store.full_text(key).unwrap(), None);
    }
}
