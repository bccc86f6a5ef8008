//! The open search index as the indexer and the store share it.

use std::sync::Arc;

use tokio::sync::watch;

use super::index::SearchIndex;

/// The search index, shared between the indexer, which opens it, and the store, which searches in it.
#[derive(Debug, Clone, Default)]
pub struct SharedIndex(Arc<watch::Sender<Option<SearchIndex>>>);

impl SharedIndex {
    /// Returns the index if it is open.
    pub fn get(&self) -> Option<SearchIndex> {
        self.0.borrow().clone()
    }

    /// Sets the index. It replaces one that was damaged.
    pub fn set(&self, index: SearchIndex) {
        self.0.send_replace(Some(index));
    }
}
