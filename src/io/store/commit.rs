//! Writes changes. Each document, each set of marks and each change of subscriptions is one transaction.

use std::collections::{BTreeMap, BTreeSet};

use crate::io::store::pack::{Batch, TableName};

use super::super::codec;
use super::error::StoreError;
use super::handle::{NewHits, Store, feed_bytes};
use crate::engine::feeds::subscription::{Commit, FeedState, HistoryCommit, SubscriptionRecord};
use crate::engine::poll::poll_log::PollLogEntry;
use backissue_core::feed::FeedDocument;
use backissue_core::feed::identity::identity_hash;
use backissue_core::history::kept::Position;
use backissue_core::history::merge::{self, has_renamed, identities};
use backissue_core::history::{
    ArchiveNode, DocumentPlace, EntryKey, FeedKey, Flags, HistoryRecord, IndexRow, Known,
    KnownEntry, Merged, MergedEntry, Merging, Tombstones, merge_as,
};
use backissue_core::words::frequency::Frequency;

/// Number of entries, newest first, that are compared with a document if the feed seems to have changed its ids.
const FORMER_MAX: usize = 2_000;

/// Records that are written in the same transaction as the entries.
#[derive(Default)]
pub(super) struct CommitParts<'a> {
    record: Option<&'a SubscriptionRecord>,
    state: Option<&'a FeedState>,
    /// The number of the poll, and its line of the poll log.
    log: Option<(u32, PollLogEntry)>,
    history: Option<&'a HistoryRecord>,
    nodes: &'a [(String, Option<ArchiveNode>)],
    /// New marks of entries that are not in the document.
    flags: BTreeMap<u32, Flags>,
    /// New publication times of the feed.
    rhythm: Option<Batch>,
    /// New entries that filters matched.
    hits: NewHits,
    /// The batch that writes which entries of another reader have not arrived yet.
    elsewhere: Option<Batch>,
    /// The batch that writes the state of a sync.
    sync: Option<Batch>,
}

impl CommitParts<'_> {
    /// Returns what an import from another reader writes.
    pub(super) fn of_import(hits: NewHits, elsewhere: Batch) -> Self {
        Self { hits, elsewhere: Some(elsewhere), ..Self::default() }
    }

    /// Returns what a sync with a server writes.
    pub(super) fn of_sync(hits: NewHits, flags: BTreeMap<u32, Flags>, sync: Batch) -> Self {
        Self { hits, flags, sync: Some(sync), ..Self::default() }
    }
}

impl Store {
    /// Writes what a poll changed, all or none of it: entries, counters, state, validators, history, and a line of the poll log.
    pub fn commit(&mut self, commit: &Commit) -> Result<Merged, StoreError> {
        let feed = commit.feed;
        let tombstones = commit.history.as_ref().map(|record| record.tombstones.clone());
        let (mut merged, mut hits) = match &commit.document {
            None => (self.nothing_merged(feed)?, NewHits::new()),
            Some(document) => {
                let place = DocumentPlace {
                    position: Position::Subscription,
                    fetched_at: commit.fetched_at,
                };
                let record = commit.history.as_deref();
                let (recent, previous) =
                    record.map(|record| record.windows.before(document)).unwrap_or_default();
                let moves = record.is_some_and(|record| record.moves);
                let merging = Merging { recent, previous, moves, ..Merging::at(place) };
                let tombstones = tombstones.unwrap_or_default();
                let (mut merged, hits) = self.merge(feed, document, &merging, &tombstones)?;
                self.keep_previous(feed, &mut merged, place);
                (merged, hits)
            }
        };
        let elsewhere = self.apply_elsewhere(feed, &mut merged, &mut hits, commit.fetched_at)?;
        let rhythm = self.rhythm_batch(commit, &merged)?;
        let mut flags = BTreeMap::new();
        if let Some(document) = commit.document.as_deref().filter(|_| commit.complete) {
            let rows = self.rows_after(feed, &merged.entries, &BTreeMap::new())?;
            let change = merge::withdraw(document, &rows, merged.counters);
            (merged.counters, merged.withdrawn, flags) =
                (change.counters, change.withdrawn, change.flags);
        }
        let history = commit.history.as_deref().cloned().map(|mut record| {
            if !merged.withdrawn.is_empty() {
                record.withdrawn.clone_from(&merged.withdrawn);
            }
            record.moves |= merged.moves;
            record
        });
        let log = commit.log.as_ref().map(|line| {
            let withdrawn = u32::try_from(merged.withdrawn.len()).unwrap_or(u32::MAX);
            let (new, edited) = (merged.new, merged.edited);
            let line = PollLogEntry { new, edited, withdrawn, ..line.clone() };
            (commit.state.polls, line)
        });
        let beside = CommitParts {
            record: commit.record.as_ref(),
            state: Some(&commit.state),
            log,
            history: history.as_ref(),
            nodes: &[],
            flags,
            rhythm,
            hits,
            elsewhere,
            sync: None,
        };
        self.write(feed, merged, beside)
    }

    /// Writes what an archive or a page changed, all or none of it: entries, counters, the history record, and the archives.
    pub fn keep_history(&mut self, commit: &HistoryCommit) -> Result<Merged, StoreError> {
        let (mut merged, mut hits) = match &commit.document {
            None => (self.nothing_merged(commit.feed)?, NewHits::new()),
            Some((document, merging)) => {
                let tombstones = &commit.record.tombstones;
                let (mut merged, hits) = self.merge(commit.feed, document, merging, tombstones)?;
                self.keep_previous(commit.feed, &mut merged, merging.place);
                (merged, hits)
            }
        };
        let now = commit.document.as_ref().map(|(_, merging)| merging.place.fetched_at);
        let elsewhere = match now {
            Some(now) => self.apply_elsewhere(commit.feed, &mut merged, &mut hits, now)?,
            None => None,
        };
        let (history, nodes) = (Some(&*commit.record), commit.nodes.as_slice());
        self.write(
            commit.feed,
            merged,
            CommitParts { history, nodes, hits, elsewhere, ..CommitParts::default() },
        )
    }

    fn nothing_merged(&self, feed: FeedKey) -> Result<Merged, StoreError> {
        Ok(Merged { counters: self.counters_of(feed)?, ..Merged::default() })
    }

    pub(super) fn merge(
        &mut self,
        feed: FeedKey,
        document: &FeedDocument,
        merging: &Merging,
        tombstones: &Tombstones,
    ) -> Result<(Merged, NewHits), StoreError> {
        let known = self.find_candidates(feed, document, merging)?;
        let counters = self.counters_of(feed)?;
        let mut merged = merge_as(document, merging, tombstones, &known, counters);
        let now = merging.place.fetched_at;
        let hits = self.apply_filters(feed, document, &mut merged, counters.next_seq, now);
        Ok((merged, hits))
    }

    /// Returns the stored entries that the entries of a document may be copies of (SPEC C.5): those with the same ids. If some ids
    /// are unknown, also returns the entries of the last documents and entries with the same dates. If the feed seems to have
    /// changed its ids, returns those with the same ids and the newest [`FORMER_MAX`] entries.
    pub(super) fn find_candidates(
        &mut self,
        feed: FeedKey,
        document: &FeedDocument,
        merging: &Merging,
    ) -> Result<Known, StoreError> {
        let wanted: BTreeSet<u64> = identities(document).collect();
        let rows = self.rows_of(feed)?;
        let known = rows.iter().map(|row| row.identity).filter(|id| wanted.contains(id));
        let here: BTreeSet<u64> = known.collect();
        let ids = || document.entries.iter().map(|entry| identity_hash(&entry.id));
        if rows.is_empty() || ids().all(|id| here.contains(&id)) {
            return self.find_known(feed, |row| wanted.contains(&row.identity));
        }
        let stated = document.entries.iter().filter_map(|entry| entry.published.or(entry.updated));
        let dates: BTreeSet<i64> = stated.map(|date| date.timestamp()).collect();
        let newest = rows.len().saturating_sub(FORMER_MAX);
        let near = self.find_known(feed, |row| {
            wanted.contains(&row.identity)
                || merging.recent.contains(&row.identity)
                || dates.contains(&row.listed)
        })?;
        if ids().any(|id| here.contains(&id)) && !has_renamed(document, merging, &near) {
            return Ok(near);
        }
        let mut place = 0;
        self.find_known(feed, |row| {
            place += 1;
            place > newest || wanted.contains(&row.identity)
        })
    }

    /// Returns the entries of a feed whose rows satisfy `is_wanted`.
    pub(super) fn find_known(
        &mut self,
        feed: FeedKey,
        mut is_wanted: impl FnMut(&IndexRow) -> bool,
    ) -> Result<Known, StoreError> {
        let rows = self.rows_of(feed)?;
        let numbered = (0_u32..).zip(rows.iter().copied());
        let hits: Vec<_> = numbered.filter(|(_, row)| is_wanted(row)).collect();
        let keys: Vec<EntryKey> = hits.iter().map(|&(seq, _)| EntryKey { feed, seq }).collect();
        let mut kept = self.read_entries(&keys)?;
        let mut known = Known::new();
        for (seq, row) in hits {
            if let Some(kept) = kept.remove(&EntryKey { feed, seq }) {
                known.entry(row.identity).or_default().push(KnownEntry { seq, row, kept });
            }
        }
        Ok(known)
    }

    /// Returns the rows of a feed after these entries and then these marks are applied.
    fn rows_after(
        &mut self,
        feed: FeedKey,
        entries: &BTreeMap<u32, MergedEntry>,
        flags: &BTreeMap<u32, Flags>,
    ) -> Result<Vec<IndexRow>, StoreError> {
        let known = self.rows_of(feed)?;
        // The rows stay in memory, so allocate no more than they need.
        let last = entries.keys().next_back();
        let count = last.map_or(0, |&seq| (seq as usize).saturating_add(1));
        let mut rows = Vec::with_capacity(count.max(known.len()));
        rows.extend_from_slice(known);
        for (&seq, entry) in entries {
            match rows.get_mut(seq as usize) {
                Some(row) => *row = entry.row,
                None => rows.push(entry.row),
            }
        }
        for (&seq, &flags) in flags {
            if let Some(row) = rows.get_mut(seq as usize) {
                row.flags = flags;
            }
        }
        Ok(rows)
    }

    pub(super) fn write(
        &mut self,
        feed: FeedKey,
        mut merged: Merged,
        beside: CommitParts<'_>,
    ) -> Result<Merged, StoreError> {
        let entries = std::mem::take(&mut merged.entries);
        let mut seqs: Vec<u32> = entries.keys().copied().collect();
        seqs.extend(beside.flags.keys());
        // If no entry changed, the rows stay as they are and need not be read.
        let before = if seqs.is_empty() {
            None
        } else {
            let after = self.rows_after(feed, &entries, &beside.flags)?;
            let seen = entries.values().map(|entry| entry.kept.first_seen).max();
            if let Some(now) = seen.filter(|_| merged.new > 0) {
                let live = after.iter().filter(|row| row.flags.is_live());
                let dates = live.map(|row| row.listed);
                merged.counters.counted = Frequency::counted(&dates, now.timestamp());
            }
            Some(std::mem::replace(self.rows_of(feed)?, after))
        };
        let batches = self.batches(feed, &merged, entries, &seqs, &beside);
        // Matches of filters are also kept in memory, so write them now and not with the group.
        if !beside.hits.is_empty() {
            self.group.close();
        }
        let written = batches.and_then(|batches| self.apply(batches));
        if written.is_err() {
            // The write failed, so restore the rows in memory.
            self.inside = None;
            before.map(|before| self.rows.insert(feed, before));
        } else {
            self.hits_written(feed, beside.hits);
            if let Some(record) = beside.record {
                self.note_ended(feed, record);
            }
        }
        written.map(|()| merged)
    }

    fn batches(
        &mut self,
        feed: FeedKey,
        merged: &Merged,
        entries: BTreeMap<u32, MergedEntry>,
        seqs: &[u32],
        beside: &CommitParts<'_>,
    ) -> Result<Vec<(TableName, Batch)>, StoreError> {
        let key = feed_bytes(feed);
        let mut batches = Vec::new();
        if !seqs.is_empty() {
            let index = self.index_batch(feed, seqs.iter().copied())?;
            batches
                .extend(self.inside_batch(feed, &entries)?.map(|batch| (TableName::Facts, batch)));
            let (meta, bodies) = self.entry_batches(feed, entries)?;
            let mut counters = Batch::default();
            self.put_counters(&mut counters, feed, merged.counters)?;
            // Write the rows last, because the indexer reads at the same time and must not find a row whose texts are missing.
            batches.extend([
                (TableName::Meta, meta),
                (TableName::Bodies, bodies),
                (TableName::Index, index),
                (TableName::Counters, counters),
            ]);
        }
        if let Some(record) = beside.record {
            let mut feeds = Batch::default();
            feeds.insert(key, codec::encode(record)?);
            batches.push((TableName::Feeds, feeds));
        }
        if let Some(written) = beside.state {
            batches.extend(self.state_batches(feed, written)?);
        }
        if let Some((count, line)) = &beside.log {
            let batch = self.poll_log_batch(feed, *count, line.clone())?;
            batches.push((TableName::Polls, batch));
        }
        if beside.history.is_some() || !beside.nodes.is_empty() {
            let (history, nodes) = Self::history_batches(feed, beside.history, beside.nodes)?;
            batches.extend([(TableName::History, history), (TableName::Nodes, nodes)]);
        }
        if let Some(rhythm) = &beside.rhythm {
            batches.push((TableName::Rhythms, rhythm.clone()));
        }
        if let Some(elsewhere) = &beside.elsewhere {
            batches.push((TableName::Elsewhere, elsewhere.clone()));
        }
        if let Some(sync) = &beside.sync {
            batches.push((TableName::Syncs, sync.clone()));
        }
        if !beside.hits.is_empty() {
            batches.push((TableName::FilterHits, self.hits_batch(feed, &beside.hits)?));
        }
        Ok(batches)
    }

    /// Writes only the state of a feed: before a request, if more than the time of the last attempt changed, or when an attempt is
    /// reverted.
    pub fn save_state(&mut self, feed: FeedKey, state: &FeedState) -> Result<(), StoreError> {
        let batches = self.state_batches(feed, state)?;
        self.apply(batches)
    }

    /// Writes the records of subscriptions, all or none of them.
    pub fn save_records(
        &mut self,
        records: &[(FeedKey, SubscriptionRecord)],
    ) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        for (feed, record) in records {
            batch.insert(feed_bytes(*feed), codec::encode(record)?);
        }
        self.db.commit(&[(TableName::Feeds, &batch)])?;
        for (feed, record) in records {
            self.note_ended(*feed, record);
        }
        Ok(())
    }

    /// Updates the set of unsubscribed feeds, whose entries no list shows.
    fn note_ended(&mut self, feed: FeedKey, record: &SubscriptionRecord) {
        if record.ended.is_some() {
            self.ended.insert(feed);
        } else {
            self.ended.remove(&feed);
        }
    }
}
