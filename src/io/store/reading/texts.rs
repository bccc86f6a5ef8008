//! A second, read-only view of rows and texts, which other threads use beside the store's own.
//!
//! It may lag behind a batch that is being written; the store's thread says when a feed has changed, and it is read
//! again. While the store is opened anew it waits.

use std::collections::BTreeMap;

use tokio::sync::watch;

use crate::io::store::chunks;
use crate::io::store::handle::{Store, TextTrees};
use crate::io::store::record_keys::{feed_bytes, feed_of};
use backissue_core::history::{EntryBody, FeedKey, IndexRow, KeptEntry};

/// A read-only view of the store's records.
#[derive(Debug, Clone)]
pub struct Texts(watch::Receiver<Option<TextTrees>>);

impl Store {
    /// Returns a read-only view of rows and texts for another thread.
    pub fn texts(&self) -> Texts {
        Texts(self.shared_trees.subscribe())
    }

    pub(in crate::io::store) fn text_trees(&self) -> TextTrees {
        TextTrees {
            feeds: self.feeds.clone(),
            index: self.index.clone(),
            meta: self.meta.clone(),
            bodies: self.bodies.clone(),
        }
    }
}

impl Texts {
    /// The trees, for one reading.
    pub(in crate::io::store) fn trees(&self) -> Option<TextTrees> {
        self.0.borrow().clone()
    }

    /// Returns all feeds, including those that were given up and can be had back.
    pub fn feeds(&self) -> Vec<FeedKey> {
        let Some(trees) = self.trees() else { return Vec::new() };
        trees.feeds.iter().keys().filter_map(|key| feed_of(&key.ok()?)).collect()
    }

    pub fn has(&self, feed: FeedKey) -> bool {
        let trees = self.trees();
        trees.is_some_and(|trees| trees.feeds.contains_key(feed_bytes(feed)).unwrap_or(false))
    }

    /// Returns the rows of a feed; none if they are damaged.
    pub fn rows(&self, feed: FeedKey) -> Vec<IndexRow> {
        let rows = self.trees().map(|trees| chunks::rows_in(&trees.index, feed));
        rows.and_then(Result::ok).unwrap_or_default()
    }

    /// Returns entries of a feed with their texts, by number; what cannot be read is left out.
    pub fn read(
        &self,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> BTreeMap<u32, (KeptEntry, Option<EntryBody>)> {
        let Some(trees) = self.trees() else { return BTreeMap::new() };
        chunks::read_in(&trees.meta, &trees.bodies, feed, seqs)
    }
}
