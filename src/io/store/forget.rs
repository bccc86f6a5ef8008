//! Removes everything that is stored for subscriptions. Texts are removed first, in transactions of their own. All other records of
//! a feed are then removed in one transaction.
//!
//! It also merges a feed into another one, which gets its entries and their marks (SPEC D.3, merge).

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::store_work::AbsorbedEntries;
use backissue_core::history::{
    Counters, EntryKey, FeedKey, Flag, Flags, IndexRow, MergedEntry, TEXT_LOST,
};

use super::error::StoreError;
use super::handle::{Store, feed_bytes};
use super::open::LAST_FEED_KEY;
use super::reading::same_links::inside_key;
use crate::io::store::pack::{Batch, TableName};

/// Number of removed records after which a transaction is written, because its changes are in memory until then.
const REMOVED_TOGETHER: usize = 20_000;

/// Tables with records of feeds, except those with texts.
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
        let mut links = Batch::default();
        let (mut gathered, mut records) = (Vec::new(), 0_usize);
        for (place, &feed) in (1..).zip(feeds) {
            for table in [TableName::Bodies, TableName::Pages] {
                let mut texts = Batch::default();
                for key in self.tables.of(table).keys_of(feed_bytes(feed)) {
                    texts.remove(key?);
                }
                self.db.commit(&[(table, &texts)])?;
            }
            for (table, batch) in &mut batches {
                for key in self.tables.of(*table).keys_of(feed_bytes(feed)) {
                    batch.remove(key?);
                    records = records.saturating_add(1);
                }
            }
            links.remove(inside_key(feed));
            gathered.push(feed);
            if records < REMOVED_TOGETHER && place < feeds.len() {
                continue;
            }
            let removed = batches.iter().map(|(table, batch)| (*table, batch));
            let removed: Vec<_> = removed.chain([(TableName::Facts, &links)]).collect();
            self.db.commit(&removed)?;
            self.inside = None;
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

/// Number of entries that are merged in one transaction.
const BATCH: usize = 500;

impl Store {
    /// Merges the entries of `from` into `into`. An entry that both feeds have keeps the text in `into`, and is read or starred if
    /// it was so in either feed. Other entries are added unchanged. Fetched pages and reading positions are copied if `into` has
    /// none for the entry. Entries of another reader that `from` still waits for are added to those of `into`. Repeating the merge
    /// changes nothing. Returns what changed in `into`.
    pub fn absorb(&mut self, from: FeedKey, into: FeedKey) -> Result<AbsorbedEntries, StoreError> {
        let rows = self.rows_of(from)?.clone();
        let numbered: Vec<(u32, IndexRow)> = (0_u32..).zip(rows).collect();
        let before = self.hits_of_merge(from, into).into_iter();
        let mut changes = AbsorbedEntries::default();
        for batch in numbered.chunks(BATCH) {
            self.absorb_batch(from, into, batch, &mut changes)?;
        }
        changes.filters = before.map(|known| self.with_present_hits(known, into)).collect();
        self.hand_elsewhere(from, into)?;
        Ok(changes)
    }

    fn absorb_batch(
        &mut self,
        from: FeedKey,
        into: FeedKey,
        batch: &[(u32, IndexRow)],
        absorbed: &mut AbsorbedEntries,
    ) -> Result<(), StoreError> {
        let keys: Vec<EntryKey> =
            batch.iter().map(|&(seq, _)| EntryKey { feed: from, seq }).collect();
        let mut handed = self.read_entries(&keys)?;
        let ids: BTreeSet<u64> = batch.iter().map(|(_, row)| row.identity).collect();
        let known = self.find_known(into, |row| ids.contains(&row.identity))?;
        let mut counters = self.counters_of(into)?;
        let mut changed: BTreeMap<u32, IndexRow> = BTreeMap::new();
        let (mut added, mut now_as) = (BTreeMap::new(), BTreeMap::new());
        for &(seq, row) in batch {
            let key = EntryKey { feed: from, seq };
            let Some(kept) = handed.remove(&key) else { continue };
            let candidates = known.get(&row.identity).map_or(&[][..], Vec::as_slice);
            if let Some(same) = candidates.iter().find(|other| other.kept.id == kept.id) {
                let mut flags = either(same.row.flags, row.flags);
                if flags.is_withdrawn() && row.flags.is_live() {
                    // For example, the undo of an earlier merge hid it.
                    flags = flags.withdrawn(false);
                    absorbed.added.push(same.seq);
                }
                let key = EntryKey { feed: into, seq: same.seq };
                let is_new = |is: fn(Flags) -> bool| is(flags) && !is(same.row.flags);
                absorbed.read.extend(is_new(Flags::is_read).then_some(key));
                absorbed.starred.extend(is_new(Flags::is_starred).then_some(key));
                counters.shift(Some(same.row.flags), Some(flags));
                changed.insert(same.seq, IndexRow { flags, ..same.row });
                now_as.insert(seq, same.seq);
            } else {
                let (mut row, body) = (row, self.body(key)?);
                if body.is_none() && self.is_text_gone(key)? {
                    // The note that a text was dropped is stored with the texts, which are not copied, so note it in the row.
                    row.content = TEXT_LOST;
                }
                counters.shift(None, Some(row.flags));
                added.insert(counters.next_seq, MergedEntry::new(row, kept, body));
                now_as.insert(seq, counters.next_seq);
                absorbed.added.push(counters.next_seq);
                counters.next_seq = counters.next_seq.saturating_add(1);
            }
        }
        let bytes = added.values().filter_map(|entry| Some(entry.body.as_ref()?.len()));
        self.check_room_for_texts(bytes.fold(0, usize::saturating_add))?;
        self.write_absorbed(into, counters, changed, added)?;
        self.hand_pages(from, into, &now_as)?;
        self.hand_places(from, into, &now_as)?;
        self.hand_numbers(from, into, &now_as)?;
        self.hand_hits(from, into, &now_as)
    }

    fn write_absorbed(
        &mut self,
        into: FeedKey,
        counters: Counters,
        changed: BTreeMap<u32, IndexRow>,
        added: BTreeMap<u32, MergedEntry>,
    ) -> Result<(), StoreError> {
        let seqs: Vec<u32> = changed.keys().chain(added.keys()).copied().collect();
        let rows = self.rows_of(into)?;
        for (seq, row) in changed {
            if let Some(kept) = rows.get_mut(seq as usize) {
                *kept = row;
            }
        }
        rows.extend(added.values().map(|entry| entry.row));
        let written = self.write_absorbed_batches(into, counters, added, &seqs);
        if written.is_err() {
            // The write failed, so the rows must be read again.
            self.rows.remove(&into);
        }
        written
    }

    fn write_absorbed_batches(
        &mut self,
        into: FeedKey,
        counters: Counters,
        added: BTreeMap<u32, MergedEntry>,
        seqs: &[u32],
    ) -> Result<(), StoreError> {
        let index = self.index_batch(into, seqs.iter().copied())?;
        let (meta, bodies) = self.entry_batches(into, added)?;
        let mut sums = Batch::default();
        self.put_counters(&mut sums, into, counters)?;
        self.db.commit(&[
            (TableName::Counters, &sums),
            (TableName::Meta, &meta),
            (TableName::Bodies, &bodies),
            (TableName::Index, &index),
        ])
    }
}

/// Joins the marks of an entry that two feeds have: it is read or starred if it was so in either of them.
fn either(kept: Flags, handed: Flags) -> Flags {
    let read = kept.is_read() || handed.is_read();
    let starred = kept.is_starred() || handed.is_starred();
    kept.with(Flag::Read, read).with(Flag::Starred, starred)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::feeds::subscription::SubscriptionRecord;
    use crate::io::store::handle::numbered_key;

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
        assert!(
            store.tables.feeds.is_empty()
                && store.tables.counters.is_empty()
                && store.tables.meta.is_empty()
        );
    }
}
