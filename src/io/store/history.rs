//! Histories: one record for each feed, and one for each archive that was fetched.

use crate::io::store::pack::Batch;

use super::super::codec;
use super::error::StoreError;
use super::handle::Store;
use super::record_keys::feed_bytes;
use crate::engine::store_work::Marked;
use backissue_core::history::{ArchiveNode, EntryKey, FeedKey, HistoryRecord, Nodes, merge};

/// Returns the key of an archive: its feed and its canonical address.
fn node_key(feed: FeedKey, address: &str) -> Vec<u8> {
    feed_bytes(feed).into_iter().chain(address.bytes()).collect()
}

impl Store {
    /// Returns what is known of a feed's history; the default if nothing is stored.
    pub fn history_of(&self, feed: FeedKey) -> Result<HistoryRecord, StoreError> {
        let damaged =
            |why| StoreError::Damaged { what: format!("the history of feed {feed}"), why };
        let bytes = self.history.get(feed_bytes(feed))?;
        bytes.map_or(Ok(HistoryRecord::default()), |bytes| codec::decode(&bytes).map_err(damaged))
    }

    /// Returns the fetched archives of a feed. One whose record cannot be read counts as not fetched.
    pub fn nodes(&self, feed: FeedKey) -> Result<Nodes, StoreError> {
        let (nodes, _) = self.readable_nodes(feed)?;
        Ok(nodes)
    }

    /// Returns the archives whose records can be read, and how many cannot be.
    pub fn readable_nodes(&self, feed: FeedKey) -> Result<(Nodes, usize), StoreError> {
        let prefix = feed_bytes(feed);
        let (mut kept, mut damaged) = (Vec::new(), 0_usize);
        for pair in self.nodes.scan(prefix) {
            let (key, bytes) = pair?;
            let address = key.get(prefix.len()..).map(String::from_utf8_lossy);
            match (address, codec::decode::<ArchiveNode>(&bytes)) {
                (Some(address), Ok(node)) => kept.push((address.into_owned(), node)),
                (None, _) | (Some(_), Err(_)) => damaged = damaged.saturating_add(1),
            }
        }
        Ok((Nodes::from_records(kept), damaged))
    }

    /// Returns the batches that write a history record and the changed archives.
    pub(super) fn history_batches(
        feed: FeedKey,
        record: Option<&HistoryRecord>,
        changed: &[(String, Option<ArchiveNode>)],
    ) -> Result<(Batch, Batch), StoreError> {
        let (mut history, mut nodes) = (Batch::default(), Batch::default());
        if let Some(record) = record {
            history.insert(feed_bytes(feed), codec::encode(record)?);
        }
        for (address, node) in changed {
            match node {
                Some(node) => nodes.insert(node_key(feed, address), codec::encode(node)?),
                None => nodes.remove(node_key(feed, address)),
            }
        }
        Ok((history, nodes))
    }

    /// Restores entries that a complete document withdrew (SPEC C.6). Returns those that were withdrawn.
    pub fn restore(&mut self, feed: FeedKey, withdrawn: &[u32]) -> Result<Marked, StoreError> {
        let counters = self.counters_of(feed)?;
        let rows = self.rows_of(feed)?;
        let change = merge::restore(withdrawn, rows, counters);
        for (&seq, &flags) in &change.flags {
            if let Some(row) = rows.get_mut(seq as usize) {
                row.flags = flags;
            }
        }
        let seqs: Vec<u32> = change.flags.keys().copied().collect();
        if let Err(error) = self.write_marks(feed, &seqs, change.counters) {
            self.rows.remove(&feed);
            return Err(error);
        }
        let changed = seqs.into_iter().map(|seq| EntryKey { feed, seq }).collect();
        Ok(Marked { changed, counters: vec![(feed, change.counters)] })
    }
}
