//! What polls changed and is not written yet.

use std::collections::BTreeSet;

use crate::io::store::pack::{Batch, TableName};

use backissue_core::history::FeedKey;

/// Documents that are written in one transaction at most: their texts are in memory until then.
const DOCUMENTS_MAX: usize = 16;

/// What was prepared and is not written yet. What many feeds change is written as one frame.
#[derive(Debug, Default)]
pub(in crate::io::store) struct WriteGroup {
    /// Whether what is being done may wait for the others.
    pub(super) is_open: bool,
    /// What it writes, in order.
    pub(super) batches: Vec<(TableName, Batch)>,
    /// The feeds that it writes of.
    pub(super) feeds: BTreeSet<FeedKey>,
    /// How many documents are in it.
    pub(super) documents: usize,
}

impl WriteGroup {
    /// What is being done is written at once.
    pub(in crate::io::store) const fn close(&mut self) {
        self.is_open = false;
    }

    /// How many batches are in it.
    pub(in crate::io::store) const fn changes(&self) -> usize {
        self.batches.len()
    }

    /// Whether it is as large as it may be.
    pub(super) const fn is_full(&self) -> bool {
        self.documents >= DOCUMENTS_MAX
    }
}
