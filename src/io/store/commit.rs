//! What changes the store: one batch a document, one a set of marks, one a subscription.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sled::Batch;
use sled::transaction::{ConflictableTransactionError, TransactionError, Transactional};

use super::super::codec;
use super::open::{Store, StoreError, feed_bytes};
use crate::app::msg::Marked;
use crate::app::poll_log::{POLL_LOG_LINES, PollLogEntry};
use crate::app::subscription::{Commit, FeedState, SubscriptionRecord};
use crate::history::merge::identities;
use crate::history::rank::Position;
use crate::history::{Counters, EntryKey, FeedKey, Flag, Known, KnownEntry, Merged, Place, merge};

impl Store {
    /// Writes what a poll changed, all or nothing: entries, sums, state, validators, a line of the poll log.
    pub fn commit(&mut self, commit: &Commit) -> Result<Merged, StoreError> {
        let feed = commit.feed;
        let counters = self.counters_of(feed)?;
        let (mut merged, mut rhythm) = (Merged { counters, ..Merged::default() }, Batch::default());
        if let Some(document) = &commit.document {
            let place = Place { position: Position::Subscription, fetched_at: commit.fetched_at };
            let known = self.known(feed, identities(document).collect())?;
            merged = merge(document, place, &known, counters);
            rhythm = self.rhythm_batch(commit, &known, &merged, counters.next_seq)?;
        }
        self.write(commit, merged, &rhythm)
    }

    /// The entries of a feed that may be those with these identity hashes.
    pub(super) fn known(
        &mut self,
        feed: FeedKey,
        mut wanted: Vec<u64>,
    ) -> Result<Known, StoreError> {
        wanted.sort_unstable();
        let rows = self.rows_of(feed)?;
        let numbered = (0_u32..).zip(rows.iter().copied());
        let hits: Vec<_> =
            numbered.filter(|(_, row)| wanted.binary_search(&row.identity).is_ok()).collect();
        let keys: Vec<EntryKey> = hits.iter().map(|&(seq, _)| EntryKey { feed, seq }).collect();
        let mut kept = self.kept(&keys)?;
        let mut known = Known::new();
        for (seq, row) in hits {
            if let Some(kept) = kept.remove(&EntryKey { feed, seq }) {
                known.entry(row.identity).or_default().push(KnownEntry { seq, row, kept });
            }
        }
        Ok(known)
    }

    fn write(
        &mut self,
        commit: &Commit,
        mut merged: Merged,
        rhythm: &Batch,
    ) -> Result<Merged, StoreError> {
        let feed = commit.feed;
        let entries = std::mem::take(&mut merged.entries);
        let seqs: Vec<u32> = entries.keys().copied().collect();
        let before = self.rows_of(feed)?.clone();
        let rows = self.rows_of(feed)?;
        for (&seq, entry) in &entries {
            match rows.get_mut(seq as usize) {
                Some(row) => *row = entry.row,
                None => rows.push(entry.row),
            }
        }
        let written = self.write_batches(commit, &merged, entries, (&seqs, rhythm));
        if written.is_err() {
            // Nothing was written, so nothing may be remembered.
            self.rows.insert(feed, before);
        }
        written.map(|()| merged)
    }

    fn write_batches(
        &mut self,
        commit: &Commit,
        merged: &Merged,
        entries: BTreeMap<u32, crate::history::MergedEntry>,
        (seqs, rhythm): (&[u32], &Batch),
    ) -> Result<(), StoreError> {
        let (feed, key) = (commit.feed, feed_bytes(commit.feed));
        let index = self.index_batch(feed, seqs.iter().copied())?;
        let (meta, bodies) = self.entry_batches(feed, entries)?;
        let mut feeds = Batch::default();
        if let Some(record) = &commit.record {
            feeds.insert(&key, codec::encode(record)?);
        }
        let mut state = Batch::default();
        state.insert(&key, codec::encode(&commit.state)?);
        let mut counters = Batch::default();
        if !seqs.is_empty() {
            counters.insert(&key, codec::encode(&merged.counters)?);
        }
        let mut polls = Batch::default();
        if let Some(line) = &commit.log {
            let line = PollLogEntry { new: merged.new, edited: merged.edited, ..line.clone() };
            polls.insert(poll_key(feed, commit.state.polls), codec::encode(&line)?);
        }
        let trees = (
            &self.feeds,
            &self.state,
            &self.counters,
            &self.index,
            &self.meta,
            &self.bodies,
            &self.polls,
            &self.rhythms,
        );
        let batches = (&feeds, &state, &counters, &index, &meta, &bodies, &polls, rhythm);
        trees
            .transaction(|(f, s, c, i, m, b, p, r)| {
                f.apply_batch(batches.0)?;
                s.apply_batch(batches.1)?;
                c.apply_batch(batches.2)?;
                i.apply_batch(batches.3)?;
                m.apply_batch(batches.4)?;
                b.apply_batch(batches.5)?;
                p.apply_batch(batches.6)?;
                r.apply_batch(batches.7)?;
                Ok::<(), ConflictableTransactionError<()>>(())
            })
            .map_err(transaction_failed)
    }

    /// Writes the state of a feed alone: where more than its last try changes before a request goes out, or where an
    /// attempt is taken back. It says itself when the feed was tried last.
    pub fn save_state(&self, feed: FeedKey, state: &FeedState) -> Result<(), StoreError> {
        self.state.insert(feed_bytes(feed), codec::encode(state)?)?;
        self.tries.remove(feed_bytes(feed))?;
        Ok(())
    }

    /// Writes when a feed was tried last: 8 bytes before each request, where its
    /// state would be some hundred, so that a restart does not repeat it (SPEC G.20).
    pub fn save_try(&self, feed: FeedKey, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.tries.insert(feed_bytes(feed), &at.timestamp_millis().to_be_bytes())?;
        Ok(())
    }

    /// When a feed was tried last, as far as [`Store::save_try`] was told.
    pub(super) fn last_try(&self, feed: FeedKey) -> Result<Option<DateTime<Utc>>, StoreError> {
        let bytes = self.tries.get(feed_bytes(feed))?;
        let millis = bytes.and_then(|bytes| <[u8; 8]>::try_from(bytes.as_ref()).ok());
        Ok(millis.and_then(|bytes| DateTime::from_timestamp_millis(i64::from_be_bytes(bytes))))
    }

    /// Writes the lasting part of subscriptions, all or nothing.
    pub fn save_records(
        &mut self,
        records: &[(FeedKey, SubscriptionRecord)],
    ) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        for (feed, record) in records {
            if record.ended.is_some() {
                self.ended.insert(*feed);
            } else {
                self.ended.remove(feed);
            }
            batch.insert(&feed_bytes(*feed), codec::encode(record)?);
        }
        self.feeds.apply_batch(batch)?;
        Ok(())
    }

    /// Removes a subscription with everything kept of it.
    pub(super) fn remove(&mut self, feed: FeedKey) -> Result<(), StoreError> {
        let key = feed_bytes(feed);
        // The record goes last: as long as it is there, an interrupted removal is done again.
        for tree in [
            &self.state,
            &self.counters,
            &self.index,
            &self.meta,
            &self.bodies,
            &self.polls,
            &self.rhythms,
            &self.tries,
            &self.feeds,
        ] {
            let mut batch = Batch::default();
            for entry in tree.scan_prefix(key).keys() {
                batch.remove(entry?);
            }
            tree.apply_batch(batch)?;
        }
        self.rows.remove(&feed);
        Ok(())
    }

    /// Sets one mark on entries; answers with those it changed and the sums of their feeds afterwards.
    pub fn mark(
        &mut self,
        keys: &[EntryKey],
        flag: Flag,
        value: bool,
    ) -> Result<Marked, StoreError> {
        let mut by_feed: BTreeMap<FeedKey, Vec<u32>> = BTreeMap::new();
        for key in keys {
            by_feed.entry(key.feed).or_default().push(key.seq);
        }
        let mut marked = Marked::default();
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
            if let Err(error) = self.write_marks(feed, &changed, counters) {
                self.rows.remove(&feed);
                return Err(error);
            }
            marked.counters.push((feed, counters));
            marked.changed.extend(changed.into_iter().map(|seq| EntryKey { feed, seq }));
        }
        Ok(marked)
    }

    fn write_marks(
        &mut self,
        feed: FeedKey,
        seqs: &[u32],
        counters: Counters,
    ) -> Result<(), StoreError> {
        let index = self.index_batch(feed, seqs.iter().copied())?;
        let mut sums = Batch::default();
        sums.insert(&feed_bytes(feed), codec::encode(&counters)?);
        (&self.index, &self.counters)
            .transaction(|(i, c)| {
                i.apply_batch(&index)?;
                c.apply_batch(&sums)?;
                Ok::<(), ConflictableTransactionError<()>>(())
            })
            .map_err(transaction_failed)
    }

    /// The poll log of a feed, newest first.
    pub fn poll_log(&self, feed: FeedKey) -> Result<Vec<PollLogEntry>, StoreError> {
        let lines = self.polls.scan_prefix(feed_bytes(feed)).values();
        let mut log: Vec<PollLogEntry> =
            lines.map(|bytes| Ok(codec::decode(&bytes?)?)).collect::<Result<_, StoreError>>()?;
        log.sort_by_key(|line| std::cmp::Reverse(line.at));
        Ok(log)
    }
}

/// The place of the `count`-th poll of a feed in the ring.
fn poll_key(feed: FeedKey, count: u32) -> Vec<u8> {
    let place = count % POLL_LOG_LINES;
    feed_bytes(feed).into_iter().chain(place.to_be_bytes()).collect()
}

pub(super) fn transaction_failed(error: TransactionError<()>) -> StoreError {
    match error {
        TransactionError::Abort(()) => StoreError::Failed("a transaction was aborted".into()),
        TransactionError::Storage(error) => error.into(),
    }
}
