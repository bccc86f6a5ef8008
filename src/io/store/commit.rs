//! What changes the store: one batch a document, one a set of marks, one a subscription.

use std::collections::BTreeMap;

use sled::Batch;
use sled::transaction::{ConflictableTransactionError, TransactionError, Transactional};

use super::super::codec;
use super::error::StoreError;
use super::filters::NewHits;
use super::open::{Store, feed_bytes, numbered_key};
use crate::engine::feeds::subscription::Commit;
use crate::engine::feeds::subscription::FeedState;
use crate::engine::feeds::subscription::HistoryCommit;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::msg::Marked;
use crate::engine::poll::poll_log::POLL_LOG_LINES;
use crate::engine::poll::poll_log::PollLogEntry;
use crate::feed::FeedDocument;
use crate::history::merge::identities;
use crate::history::rank::Position;
use crate::history::{
    ArchiveNode, Counters, DocumentPlace, EntryKey, FeedKey, Flag, Flags, HistoryRecord, IndexRow,
    Known, KnownEntry, Merged, MergedEntry, Merging, Tombstones, complete, merge_as,
};

/// What is written in one batch with entries.
#[derive(Default)]
struct Beside<'a> {
    record: Option<&'a SubscriptionRecord>,
    state: Option<&'a FeedState>,
    /// A line of the poll log, and the number of the poll.
    log: Option<(u32, PollLogEntry)>,
    history: Option<&'a HistoryRecord>,
    nodes: &'a [(String, Option<ArchiveNode>)],
    /// Marks of entries that were not merged.
    flags: BTreeMap<u32, Flags>,
    /// What is new of when the feed published.
    rhythm: Batch,
    /// New entries that rules of the reader's hit.
    hits: NewHits,
}

impl Store {
    /// Writes what a poll changed, all or nothing: entries, sums, state, validators, history, a line of the poll log.
    pub fn commit(&mut self, commit: &Commit) -> Result<Merged, StoreError> {
        let feed = commit.feed;
        let tombstones = commit.history.as_ref().map(|record| record.tombstones.clone());
        let (mut merged, hits) = match &commit.document {
            None => (self.nothing_merged(feed)?, NewHits::new()),
            Some(document) => {
                let place = DocumentPlace {
                    position: Position::Subscription,
                    fetched_at: commit.fetched_at,
                };
                let merging = Merging { renamed: commit.renamed.clone(), ..Merging::at(place) };
                self.merge(feed, document, &merging, &tombstones.unwrap_or_default())?
            }
        };
        let rhythm = self.rhythm_batch(commit, &merged)?;
        let mut flags = BTreeMap::new();
        if let Some(document) = commit.document.as_deref().filter(|_| commit.complete) {
            let rows = self.rows_after(feed, &merged)?;
            let change = complete::withdraw(document, &rows, merged.counters);
            (merged.counters, merged.withdrawn, flags) =
                (change.counters, change.withdrawn, change.flags);
        }
        let history = commit.history.as_deref().cloned().map(|mut record| {
            if !merged.withdrawn.is_empty() {
                record.withdrawn.clone_from(&merged.withdrawn);
            }
            record
        });
        let log = commit.log.as_ref().map(|line| {
            let line = PollLogEntry { new: merged.new, edited: merged.edited, ..line.clone() };
            (commit.state.polls, line)
        });
        let beside = Beside {
            record: commit.record.as_ref(),
            state: Some(&commit.state),
            log,
            history: history.as_ref(),
            nodes: &[],
            flags,
            rhythm,
            hits,
        };
        self.write(feed, merged, beside)
    }

    /// Writes what an archive or a page changed, all or nothing: entries, sums, the record, the archives.
    pub fn keep_history(&mut self, commit: &HistoryCommit) -> Result<Merged, StoreError> {
        let (merged, hits) = match &commit.document {
            None => (self.nothing_merged(commit.feed)?, NewHits::new()),
            Some((document, merging)) => {
                self.merge(commit.feed, document, merging, &commit.record.tombstones)?
            }
        };
        let (history, nodes) = (Some(&commit.record), commit.nodes.as_slice());
        self.write(commit.feed, merged, Beside { history, nodes, hits, ..Beside::default() })
    }

    fn nothing_merged(&self, feed: FeedKey) -> Result<Merged, StoreError> {
        Ok(Merged { counters: self.counters_of(feed)?, ..Merged::default() })
    }

    fn merge(
        &mut self,
        feed: FeedKey,
        document: &FeedDocument,
        merging: &Merging,
        tombstones: &Tombstones,
    ) -> Result<(Merged, NewHits), StoreError> {
        let wanted = identities(document).chain(merging.renamed.values().copied());
        let known = self.known(feed, wanted.collect())?;
        let counters = self.counters_of(feed)?;
        let mut merged = merge_as(document, merging, tombstones, &known, counters);
        let now = merging.place.fetched_at;
        let hits = self.judge_new(feed, &mut merged, counters.next_seq, now);
        Ok((merged, hits))
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

    /// The rows of a feed as they are after a merge.
    fn rows_after(&mut self, feed: FeedKey, merged: &Merged) -> Result<Vec<IndexRow>, StoreError> {
        let mut rows = self.rows_of(feed)?.clone();
        for (&seq, entry) in &merged.entries {
            match rows.get_mut(seq as usize) {
                Some(row) => *row = entry.row,
                None => rows.push(entry.row),
            }
        }
        Ok(rows)
    }

    fn write(
        &mut self,
        feed: FeedKey,
        mut merged: Merged,
        beside: Beside<'_>,
    ) -> Result<Merged, StoreError> {
        let mut after = self.rows_after(feed, &merged)?;
        let entries = std::mem::take(&mut merged.entries);
        let mut seqs: Vec<u32> = entries.keys().copied().collect();
        for (&seq, &flags) in &beside.flags {
            if let Some(row) = after.get_mut(seq as usize) {
                row.flags = flags;
                seqs.push(seq);
            }
        }
        let before = std::mem::replace(self.rows_of(feed)?, after);
        let written = self.write_batches(feed, &merged, entries, &seqs, &beside);
        if written.is_err() {
            // Nothing was written, so nothing may be remembered.
            self.rows.insert(feed, before);
        } else {
            self.hits_written(feed, beside.hits);
        }
        written.map(|()| merged)
    }

    fn write_batches(
        &mut self,
        feed: FeedKey,
        merged: &Merged,
        entries: BTreeMap<u32, MergedEntry>,
        seqs: &[u32],
        beside: &Beside<'_>,
    ) -> Result<(), StoreError> {
        let key = feed_bytes(feed);
        let index = self.index_batch(feed, seqs.iter().copied())?;
        let (meta, bodies) = self.entry_batches(feed, entries)?;
        let mut feeds = Batch::default();
        if let Some(record) = beside.record {
            feeds.insert(&key, codec::encode(record)?);
        }
        let (state, times) = match beside.state {
            Some(written) => self.state_batches(feed, written)?,
            None => (Batch::default(), Batch::default()),
        };
        let mut counters = Batch::default();
        if !seqs.is_empty() {
            counters.insert(&key, codec::encode(&merged.counters)?);
        }
        let mut polls = Batch::default();
        if let Some((count, line)) = &beside.log {
            polls.insert(&poll_key(feed, *count), codec::encode(line)?);
        }
        let (history, nodes) = Self::history_batches(feed, beside.history, beside.nodes)?;
        let hits = self.hits_batch(feed, &beside.hits)?;
        let trees = (
            &self.feeds,
            &self.state,
            &self.counters,
            &self.index,
            &self.meta,
            &self.bodies,
            &self.polls,
            &self.history,
            &self.nodes,
            &self.times,
            &self.rhythms,
            &self.rulings_tree,
        );
        trees
            .transaction(|(f, s, c, i, m, b, p, h, n, t, r, u)| {
                f.apply_batch(&feeds)?;
                s.apply_batch(&state)?;
                c.apply_batch(&counters)?;
                i.apply_batch(&index)?;
                m.apply_batch(&meta)?;
                b.apply_batch(&bodies)?;
                p.apply_batch(&polls)?;
                h.apply_batch(&history)?;
                n.apply_batch(&nodes)?;
                t.apply_batch(&times)?;
                r.apply_batch(&beside.rhythm)?;
                u.apply_batch(&hits)?;
                Ok::<(), ConflictableTransactionError<()>>(())
            })
            .map_err(transaction_failed)
    }

    /// Writes the state of a feed alone: where more than its last try changes before a request goes out, or where an
    /// attempt is taken back.
    pub fn save_state(&self, feed: FeedKey, state: &FeedState) -> Result<(), StoreError> {
        let (state, times) = self.state_batches(feed, state)?;
        (&self.state, &self.times)
            .transaction(|(s, t)| {
                s.apply_batch(&state)?;
                t.apply_batch(&times)?;
                Ok::<(), ConflictableTransactionError<()>>(())
            })
            .map_err(transaction_failed)
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
            &self.times,
            &self.history,
            &self.nodes,
            &self.rhythms,
            &self.places,
            &self.pages,
            &self.rulings_tree,
            &self.feeds,
        ] {
            let mut batch = Batch::default();
            for entry in tree.scan_prefix(key).keys() {
                batch.remove(entry?);
            }
            tree.apply_batch(batch)?;
        }
        self.rows.remove(&feed);
        self.shown.forget(feed);
        self.forget_hits(feed);
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

    pub(super) fn write_marks(
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
const fn poll_key(feed: FeedKey, count: u32) -> [u8; 8] {
    numbered_key(feed, count % POLL_LOG_LINES)
}

pub(super) fn transaction_failed(error: TransactionError<()>) -> StoreError {
    match error {
        TransactionError::Abort(()) => StoreError::Failed("a transaction was aborted".into()),
        TransactionError::Storage(error) => error.into(),
    }
}
