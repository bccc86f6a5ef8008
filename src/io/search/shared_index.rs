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

    /// Sets the index. If there is one already, that one gets the segments.
    pub fn set(&self, index: SearchIndex) {
        if let Err(index) = self.0.set(index)
            && let Some(known) = self.0.get()
        {
            known.take_segments(&index);
        }
    }
}
