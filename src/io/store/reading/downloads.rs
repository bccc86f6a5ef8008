//! The list of downloads, and the entries whose attached files are downloaded.

use crate::engine::downloads::record::AttachedWanted;
use crate::engine::downloads::record::Download;
use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;
use backissue_core::history::EntryKey;

/// The key of the list of downloads in the table of facts.
pub(in crate::io::store) const DOWNLOADS_KEY: &[u8] = b"downloads";

impl Store {
    /// Returns the downloads; none if their record is damaged.
    pub fn downloads(&self) -> Result<Vec<Download>, StoreError> {
        let bytes = self.facts.get(DOWNLOADS_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Writes the list of downloads.
    pub fn save_downloads(&mut self, downloads: &[Download]) -> Result<(), StoreError> {
        self.put(TableName::Facts, DOWNLOADS_KEY, codec::encode(&downloads)?)?;
        Ok(())
    }

    /// Reads the entries whose attached files are downloaded, without their texts; missing ones are left out.
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
