//! Removes what is kept of subscriptions: first its texts, which nobody misses who looks in between, and then all the rest of it
//! or nothing.

use sled::{Batch, Tree};

use super::error::StoreError;
use super::handle::Store;
use super::open::LAST_FEED_KEY;
use super::record_keys::feed_bytes;
use super::writing::transaction::apply_together;
use backissue_core::history::FeedKey;

/// With so many records a transaction is closed: what it removes is in memory until then.
const REMOVED_TOGETHER: usize = 20_000;

impl Store {
    /// Removes everything that is stored for these subscriptions, where they are given up.
    pub fn forget_feeds(&mut self, feeds: &[FeedKey]) -> Result<(), StoreError> {
        let ended: Vec<FeedKey> =
            feeds.iter().copied().filter(|feed| self.ended.contains(feed)).collect();
        if ended.is_empty() {
            return Ok(());
        }
        let last = FeedKey(self.last_feed()?);
        self.facts.insert(LAST_FEED_KEY, &feed_bytes(last))?;
        self.remove(&ended)
    }

    /// Removes subscriptions with everything that is stored for them.
    pub(super) fn remove(&mut self, feeds: &[FeedKey]) -> Result<(), StoreError> {
        let mut batches: Vec<(Tree, Batch)> = self.trees_of_feeds().map(no_changes).into();
        let (mut gathered, mut records) = (Vec::new(), 0_usize);
        for (place, &feed) in (1..).zip(feeds) {
            for tree in [&self.bodies, &self.pages] {
                let mut texts = Batch::default();
                for key in tree.scan_prefix(feed_bytes(feed)).keys() {
                    texts.remove(key?);
                }
                tree.apply_batch(texts)?;
            }
            for (tree, batch) in &mut batches {
                for key in tree.scan_prefix(feed_bytes(feed)).keys() {
                    batch.remove(key?);
                    records = records.saturating_add(1);
                }
            }
            gathered.push(feed);
            if records < REMOVED_TOGETHER && place < feeds.len() {
                continue;
            }
            let removed: Vec<_> = batches.iter().map(|(tree, batch)| (tree, batch)).collect();
            apply_together(&removed)?;
            for feed in gathered.drain(..) {
                self.rows.remove(&feed);
                self.shown.forget(feed);
                self.forget_hits(feed);
                self.ended.remove(&feed);
            }
            records = 0;
            for (_, batch) in &mut batches {
                *batch = Batch::default();
            }
        }
        Ok(())
    }

    /// Where something is stored by feed, but for texts.
    fn trees_of_feeds(&self) -> [Tree; 12] {
        [
            &self.feeds,
            &self.state,
            &self.counters,
            &self.index,
            &self.meta,
            &self.polls,
            &self.times,
            &self.history,
            &self.nodes,
            &self.rhythms,
            &self.places,
            &self.filter_hits,
        ]
        .map(Tree::clone)
    }
}

fn no_changes(tree: Tree) -> (Tree, Batch) {
    (tree, Batch::default())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use sled::transaction::{ConflictableTransactionError, Transactional};

    use super::*;
    use crate::engine::feeds::subscription::SubscriptionRecord;
    use crate::io::store::record_keys::numbered_key;

    #[test]
    fn a_subscription_is_forgotten_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let feeds: Vec<FeedKey> = (1..=60).map(FeedKey).collect();
        let ended =
            SubscriptionRecord { ended: Some(chrono::DateTime::UNIX_EPOCH), ..Default::default() };
        let records: Vec<_> = feeds.iter().map(|feed| (*feed, ended.clone())).collect();
        store.save_records(&records).unwrap();
        let mut entries = Batch::default();
        for &feed in &feeds {
            store.counters.insert(feed_bytes(feed), b"sums").unwrap();
            (0..100).for_each(|seq| entries.insert(&numbered_key(feed, seq), b"entry"));
        }
        store.meta.apply_batch(entries).unwrap();
        let (sums, subscriptions, is_over) =
            (store.counters.clone(), store.feeds.clone(), AtomicBool::new(false));
        let look = |feed: &FeedKey| {
            let key = feed_bytes(*feed);
            let trees = (&sums, &subscriptions);
            let seen = trees.transaction(|(sums, subscriptions)| {
                let seen = (sums.get(key)?.is_some(), subscriptions.get(key)?.is_some());
                Ok::<_, ConflictableTransactionError<()>>(seen)
            });
            seen.unwrap()
        };
        let halves = std::thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut halves = Vec::new();
                while !is_over.load(Ordering::SeqCst) {
                    let seen = feeds.iter().map(|feed| (*feed, look(feed)));
                    halves.extend(seen.filter(|(_, (sums, subscription))| sums != subscription));
                }
                halves
            });
            store.forget_feeds(&feeds).unwrap();
            is_over.store(true, Ordering::SeqCst);
            watching.join().unwrap()
        });
        assert_eq!(halves, []);
        assert!(store.feeds.is_empty() && store.counters.is_empty() && store.meta.is_empty());
    }
}
