//! A second, read-only view of rows and texts, which other threads use beside the store's own.
//!
//! It may lag behind a batch that is being written; the store's thread says when a feed has changed, and it is read
//! again.

use std::collections::BTreeMap;

use sled::Tree;

use crate::history::{EntryBody, FeedKey, IndexRow, KeptEntry};
use crate::io::store::chunks;
use crate::io::store::handle::Store;
use crate::io::store::record_keys::{feed_bytes, feed_of};

/// A read-only view of the store's records.
#[derive(Debug, Clone)]
pub struct Texts {
    feeds: Tree,
    index: Tree,
    meta: Tree,
    bodies: Tree,
}

impl Store {
    /// Returns a read-only view of rows and texts for another thread.
    pub fn texts(&self) -> Texts {
        Texts {
            feeds: self.feeds.clone(),
            index: self.index.clone(),
            meta: self.meta.clone(),
            bodies: self.bodies.clone(),
        }
    }
}

impl Texts {
    /// Returns all feeds, including those that were given up and can be had back.
    pub fn feeds(&self) -> Vec<FeedKey> {
        self.feeds.iter().keys().filter_map(|key| feed_of(&key.ok()?)).collect()
    }

    pub(in crate::io::store) const fn feeds_tree(&self) -> &Tree {
        &self.feeds
    }

    pub(in crate::io::store) const fn entries_tree(&self) -> &Tree {
        &self.meta
    }

    pub fn has(&self, feed: FeedKey) -> bool {
        self.feeds.contains_key(feed_bytes(feed)).unwrap_or(false)
    }

    /// Returns the rows of a feed; none if they are damaged.
    pub fn rows(&self, feed: FeedKey) -> Vec<IndexRow> {
        chunks::rows_in(&self.index, feed).unwrap_or_default()
    }

    /// Returns entries of a feed with their texts, by number; what cannot be read is left out.
    pub fn read(
        &self,
        feed: FeedKey,
        seqs: impl Iterator<Item = u32>,
    ) -> BTreeMap<u32, (KeptEntry, Option<EntryBody>)> {
        chunks::read_in(&self.meta, &self.bodies, feed, seqs)
    }
}
