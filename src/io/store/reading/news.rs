//! Reads entries with their texts: one for the reader pane, and new ones for notifications.

use std::ops::Range;

use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use backissue_core::history::{EntryKey, FeedKey};

impl Store {
    /// Reads an entry with everything that the reader pane shows; the inner error is a sentence that its record is
    /// lost.
    pub fn read_entry(&mut self, key: EntryKey) -> Result<Result<LoadedEntry, String>, StoreError> {
        let (found, body) = (self.entry(key)?, self.body(key)?);
        let Some((kept, flags)) = found else {
            return Ok(Err(format!("the record of entry {key} is lost; run 'backissue doctor'")));
        };
        let (place, full, ruled) =
            (self.place(key)?, self.full_text(key)?, self.filters_that_hit(key));
        let text_gone = body.is_none() && self.is_text_gone(key)?;
        Ok(Ok(LoadedEntry { key, kept, flags, body, text_gone, place, full, ruled }))
    }

    /// Reads entries by feed and range of numbers; missing ones are left out.
    pub fn news(
        &mut self,
        ranges: &[(FeedKey, Range<u32>)],
    ) -> Result<Vec<LoadedEntry>, StoreError> {
        let texts = self.texts();
        let mut news = Vec::new();
        for (feed, range) in ranges {
            for (seq, (kept, body)) in texts.read(*feed, range.clone()) {
                let key = EntryKey { feed: *feed, seq };
                let (flags, ruled) = (self.flags(key)?, self.filters_that_hit(key));
                let entry = LoadedEntry::without_text(key, kept, flags, ruled);
                news.push(LoadedEntry { body, ..entry });
            }
        }
        Ok(news)
    }
}
