//! Writes marks of entries, with the undo step of the change.

use std::collections::BTreeMap;

use crate::engine::change::MarkChange;
use crate::engine::change::change_id::LaterStep;
use crate::engine::change::step::Step;
use crate::engine::store_work::Marked;
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::{Batch, TableName};
use crate::io::store::record_keys::feed_bytes;
use backissue_core::history::{Counters, EntryKey, FeedKey, Flag};

impl Store {
    /// Sets a mark on entries. Returns the changed ones, and the counters of their feeds afterwards.
    pub fn mark(
        &mut self,
        keys: &[EntryKey],
        flag: Flag,
        value: bool,
    ) -> Result<Marked, StoreError> {
        self.mark_with_step(keys, flag, value, None)
    }

    /// Sets a mark on entries, and writes its undo step with this id and time in the same frame.
    pub(in crate::io::store) fn mark_with_step(
        &mut self,
        keys: &[EntryKey],
        flag: Flag,
        value: bool,
        step: Option<&LaterStep>,
    ) -> Result<Marked, StoreError> {
        let mut by_feed: BTreeMap<FeedKey, Vec<u32>> = BTreeMap::new();
        for key in keys {
            by_feed.entry(key.feed).or_default().push(key.seq);
        }
        let touched: Vec<FeedKey> = by_feed.keys().copied().collect();
        let marked = self.mark_feeds(by_feed, flag, value, step);
        if marked.is_err() {
            // Nothing was written, so nothing may be remembered.
            for feed in touched {
                self.rows.remove(&feed);
            }
        }
        marked
    }

    /// Sets a mark on entries of feeds, all or none of them.
    fn mark_feeds(
        &mut self,
        by_feed: BTreeMap<FeedKey, Vec<u32>>,
        flag: Flag,
        value: bool,
        step: Option<&LaterStep>,
    ) -> Result<Marked, StoreError> {
        let mut marked = Marked::default();
        let (mut index, mut sums) = (Batch::default(), Batch::default());
        for (feed, seqs) in by_feed {
            let mut counters = self.counters_of(feed)?;
            let mut changed = Vec::new();
            let rows = self.rows_of(feed)?;
            for seq in seqs {
                let Some(row) = rows.get_mut(seq as usize) else { continue };
                let after = row.flags.with(flag, value);
                if after != row.flags {
                    counters.shift(Some(row.flags), Some(after));
                    row.flags = after;
                    changed.push(seq);
                }
            }
            if changed.is_empty() {
                continue;
            }
            self.add_rows(&mut index, feed, changed.iter().copied())?;
            sums.insert(feed_bytes(feed), codec::encode(&counters)?);
            marked.counters.push((feed, counters));
            marked.changed.extend(changed.into_iter().map(|seq| EntryKey { feed, seq }));
        }
        if let Some(step) = step.filter(|_| !marked.changed.is_empty()) {
            let keys = marked.changed.clone();
            self.write_beside(step, vec![Step::Marked(MarkChange { flag, value, keys })])?;
        }
        self.db.commit(&[(TableName::Index, &index), (TableName::Counters, &sums)])?;
        Ok(marked)
    }

    pub(in crate::io::store) fn write_marks(
        &mut self,
        feed: FeedKey,
        seqs: &[u32],
        counters: Counters,
    ) -> Result<(), StoreError> {
        let index = self.index_batch(feed, seqs.iter().copied())?;
        let mut sums = Batch::default();
        sums.insert(feed_bytes(feed), codec::encode(&counters)?);
        self.db.commit(&[(TableName::Index, &index), (TableName::Counters, &sums)])
    }
}
