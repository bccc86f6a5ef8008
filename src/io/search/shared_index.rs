//! The open search index as the indexer and the store share it.

use std::sync::{Arc, OnceLock};

use super::index::SearchIndex;

/// The search index, shared between the indexer, which opens it, and the store, which searches in it.
#[derive(Debug, Clone, Default)]
pub struct SharedIndex(Arc<OnceLock<SearchIndex>>);

impl SharedIndex {
    /// Returns the index if it is open.
    pub fn get(&self) -> Option<&SearchIndex> {
        self.0.get()
    }

    /// Sets the index. If there is one already, that one reloads what was written.
    pub fn set(&self, index: SearchIndex) {
        if self.0.set(index).is_err() {
            self.0.get().and_then(|known| known.refresh().ok());
        }
    }
}
