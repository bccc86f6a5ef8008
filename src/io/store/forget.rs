//! Removes what is kept of subscriptions: first its texts, which nobody misses who looks in between, and then all the rest of it
//! or nothing.

use crate::io::store::pack::{Batch, TableName};

use super::error::StoreError;
use super::handle::Store;
use super::open::LAST_FEED_KEY;
use super::record_keys::feed_bytes;
use backissue_core::history::FeedKey;

/// Number of records with which a transaction ends: what it removes is in memory until then.
const REMOVED_TOGETHER: usize = 20_000;

/// Tables in which something is stored by feed, but for texts.
const TABLES_OF_FEEDS: [TableName; 14] = [
    TableName::Feeds,
    TableName::State,
    TableName::Counters,
    TableName::Index,
    TableName::Meta,
    TableName::Polls,
    TableName::Times,
    TableName::History,
    TableName::Nodes,
    TableName::Rhythms,
    TableName::Places,
    TableName::FilterHits,
    TableName::Elsewhere,
    TableName::Syncs,
];

impl Store {
    /// Removes everything that is stored for these subscriptions, if they are unsubscribed.
    pub fn forget_feeds(&mut self, feeds: &[FeedKey]) -> Result<(), StoreError> {
        let ended: Vec<FeedKey> =
            feeds.iter().copied().filter(|feed| self.ended.contains(feed)).collect();
        if ended.is_empty() {
            return Ok(());
        }
        let last = FeedKey(self.last_feed()?);
        self.put(TableName::Facts, LAST_FEED_KEY, feed_bytes(last))?;
        self.remove(&ended)
    }

    /// Removes subscriptions with everything that is stored for them.
    pub(super) fn remove(&mut self, feeds: &[FeedKey]) -> Result<(), StoreError> {
        let mut batches: Vec<(TableName, Batch)> =
            TABLES_OF_FEEDS.map(|table| (table, Batch::default())).into();
        let (mut gathered, mut records) = (Vec::new(), 0_usize);
        for (place, &feed) in (1..).zip(feeds) {
            for table in [TableName::Bodies, TableName::Pages] {
                let mut texts = Batch::default();
                for key in self.db.table(table).keys_of(feed_bytes(feed)) {
                    texts.remove(key?);
                }
                self.db.commit(&[(table, &texts)])?;
            }
            for (table, batch) in &mut batches {
                for key in self.db.table(*table).keys_of(feed_bytes(feed)) {
                    batch.remove(key?);
                    records = records.saturating_add(1);
                }
            }
            gathered.push(feed);
            if records < REMOVED_TOGETHER && place < feeds.len() {
                continue;
            }
            let removed: Vec<_> = batches.iter().map(|(table, batch)| (*table, batch)).collect();
            self.db.commit(&removed)?;
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
}

#[cfg(test)]
mod tests {
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
        let (mut sums, mut entries) = (Batch::default(), Batch::default());
        for &feed in &feeds {
            sums.insert(feed_bytes(feed), b"sums");
            (0..100).for_each(|seq| entries.insert(numbered_key(feed, seq), b"entry"));
        }
        store.db.commit(&[(TableName::Counters, &sums), (TableName::Meta, &entries)]).unwrap();
        store.forget_feeds(&feeds).unwrap();
        assert!(store.feeds.is_empty() && store.counters.is_empty() && store.meta.is_empty());
    }
}
