//! New entries with their texts, for those who are told of them.

use std::ops::Range;

use super::error::StoreError;
use super::open::Store;
use crate::app::msg::LoadedEntry;
use crate::history::{EntryKey, FeedKey};

impl Store {
    /// Entries by feed and numbers as they stand now; what is not there any more is left out.
    pub fn news(
        &mut self,
        ranges: &[(FeedKey, Range<u32>)],
    ) -> Result<Vec<LoadedEntry>, StoreError> {
        let texts = self.texts();
        let mut news = Vec::new();
        for (feed, range) in ranges {
            for (seq, (kept, body)) in texts.read(*feed, range.clone()) {
                let key = EntryKey { feed: *feed, seq };
                let flags = self.flags(key)?;
                news.push(LoadedEntry {
                    key,
                    kept,
                    flags,
                    body,
                    text_gone: false,
                    ruled: Vec::new(),
                    place: None,
                    full: None,
                });
            }
        }
        Ok(news)
    }
}
