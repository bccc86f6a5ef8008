//! Merges a feed into another one: its entries and their marks are handed over (SPEC D.3, merge).

use std::collections::{BTreeMap, BTreeSet};

use crate::io::store::pack::{Batch, TableName};

use super::super::codec;
use super::error::StoreError;
use super::handle::Store;
use super::record_keys::feed_bytes;
use backissue_core::history::{
    Counters, EntryKey, FeedKey, Flag, Flags, IndexRow, MergedEntry, TEXT_LOST,
};

/// Entries in one transaction.
const BATCH: usize = 500;

impl Store {
    /// Hands the entries of `from` to `into`. An entry that both have keeps the text of `into` and is read, or
    /// starred, if it was so in either; the others are added as they are. Fetched pages and reading positions go along
    /// where `into` has none, and so does what another reader knew of entries that are still waited for. Doing it again changes
    /// nothing.
    pub fn absorb(&mut self, from: FeedKey, into: FeedKey) -> Result<Counters, StoreError> {
        let rows = self.rows_of(from)?.clone();
        let numbered: Vec<(u32, IndexRow)> = (0_u32..).zip(rows).collect();
        for batch in numbered.chunks(BATCH) {
            self.absorb_batch(from, into, batch)?;
        }
        self.hand_elsewhere(from, into)?;
        self.counters_of(into)
    }

    fn absorb_batch(
        &mut self,
        from: FeedKey,
        into: FeedKey,
        batch: &[(u32, IndexRow)],
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
                let flags = either(same.row.flags, row.flags);
                counters.shift(Some(same.row.flags), Some(flags));
                changed.insert(same.seq, IndexRow { flags, ..same.row });
                now_as.insert(seq, same.seq);
            } else {
                let (mut row, body) = (row, self.body(key)?);
                if body.is_none() && self.is_text_gone(key)? {
                    // What was dropped is noted beside the texts, which do not go along.
                    row.content = TEXT_LOST;
                }
                counters.shift(None, Some(row.flags));
                added.insert(counters.next_seq, MergedEntry::new(row, kept, body));
                now_as.insert(seq, counters.next_seq);
                counters.next_seq = counters.next_seq.saturating_add(1);
            }
        }
        let bytes = added.values().filter_map(|entry| Some(entry.body.as_ref()?.len()));
        self.check_room_for_texts(bytes.fold(0, usize::saturating_add))?;
        self.write_absorbed(into, counters, changed, added)?;
        self.hand_pages(from, into, &now_as)?;
        self.hand_places(from, into, &now_as)?;
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
            // What is remembered is read again.
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
        sums.insert(feed_bytes(into), codec::encode(&counters)?);
        self.db.commit(&[
            (TableName::Counters, &sums),
            (TableName::Meta, &meta),
            (TableName::Bodies, &bodies),
            (TableName::Index, &index),
        ])
    }
}

/// Joins the marks of an entry that two feeds had: it is read or starred if it was so in either.
fn either(kept: Flags, handed: Flags) -> Flags {
    let read = !kept.is_unread() || !handed.is_unread();
    let starred = kept.is_starred() || handed.is_starred();
    kept.with(Flag::Read, read).with(Flag::Starred, starred)
}
