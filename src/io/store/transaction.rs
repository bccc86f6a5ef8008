//! Transactions: batches for several tables that are written together or not at all. Changes of several polls share a
//! transaction.
//!
//! This file also keeps the earlier texts of entries that a document changes.

use backissue_core::history::edits::keep_previous;
use backissue_core::history::kept::Position;
use backissue_core::history::{DocumentPlace, FeedKey, Merged};

use super::handle::WriteGroup;
use crate::engine::store_work::{Job, StoreWork, Stored, Turn};
use crate::io::store::chunks::read_in;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::{Batch, TableName};

impl Store {
    /// Like [`Self::perform`], but adds the changes of polls to the write group. Call [`Self::write_group`] before the job is
    /// reported, and before any job for which [`Self::needs_group`] returns `true`.
    pub fn perform_in_group(&mut self, work: StoreWork) -> Option<Stored> {
        let turn = work.job.traits().turn;
        let feed = if let Turn::PollWrite(feed) = turn { Some(feed) } else { None };
        let with_document = matches!(&work.job, Job::Commit(commit) if commit.document.is_some());
        self.group.is_open = feed.is_some();
        let stored = self.perform(work);
        self.group.is_open = false;
        self.group.feeds.extend(feed);
        self.group.documents += usize::from(with_document);
        stored
    }

    /// Checks whether the write group must be written before this job.
    pub fn needs_group(&self, job: &Job) -> bool {
        let feed = match job.traits().turn {
            Turn::PollWrite(feed) if !self.group.is_full() => Some(feed),
            Turn::Read(feed) | Turn::SmallWrite(feed) => feed,
            Turn::PollWrite(_) | Turn::LateRead | Turn::Write => None,
        };
        feed.is_none_or(|feed| self.group.feeds.contains(&feed))
    }

    /// Writes the changes in the write group, all or none of them.
    pub fn write_group(&mut self) -> Result<(), StoreError> {
        let WriteGroup { batches, feeds, .. } = std::mem::take(&mut self.group);
        if batches.is_empty() {
            return Ok(());
        }
        let written = self.guarded(|store| store.commit_all(&batches));
        if written.is_err() {
            // The write failed, so rows and entries must be read again.
            self.inside = None;
            for feed in feeds {
                self.rows.remove(&feed);
                self.shown.forget(feed);
            }
        }
        written
    }

    /// Writes batches now, or adds them to the write group if it is open.
    pub(in crate::io::store) fn apply(
        &mut self,
        batches: Vec<(TableName, Batch)>,
    ) -> Result<(), StoreError> {
        if self.group.is_open {
            self.group.batches.extend(batches);
            return Ok(());
        }
        self.commit_all(&batches)
    }

    fn commit_all(&mut self, batches: &[(TableName, Batch)]) -> Result<(), StoreError> {
        let batches: Vec<_> = batches.iter().map(|(table, batch)| (*table, batch)).collect();
        self.db.commit(&batches)
    }

    /// Sets a record.
    pub(in crate::io::store) fn put(
        &mut self,
        table: TableName,
        key: impl AsRef<[u8]>,
        value: impl Into<Vec<u8>>,
    ) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        batch.insert(key, value);
        self.db.commit(&[(table, &batch)])
    }

    /// Removes a record.
    pub(in crate::io::store) fn drop_record(
        &mut self,
        table: TableName,
        key: impl AsRef<[u8]>,
    ) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        batch.remove(key);
        self.db.commit(&[(table, &batch)])
    }
}

impl Store {
    /// Keeps the earlier texts of entries that a document edits or contains under another id. Edits that the user does not see
    /// are not counted.
    pub(in crate::io::store) fn keep_previous(
        &self,
        feed: FeedKey,
        merged: &mut Merged,
        place: DocumentPlace,
    ) {
        let first_new = merged.counters.next_seq.saturating_sub(merged.new);
        let known = merged.entries.range(..first_new);
        let edited: Vec<u32> = known
            .filter(|(_, it)| it.body.is_some() || it.earlier.is_some())
            .map(|it| *it.0)
            .collect();
        for (seq, (kept, body)) in
            read_in(&self.tables.meta, &self.tables.bodies, feed, edited.into_iter())
        {
            let (Some(entry), Some(body)) = (merged.entries.get_mut(&seq), body) else { continue };
            // In an archive, only a copy with another id is an earlier version. Otherwise its texts are older, whatever their dates
            // are.
            let is_poll = place.position == Position::Subscription;
            if !is_poll && entry.earlier.is_none() && entry.kept.id == kept.id {
                continue;
            }
            let counted = entry.is_edited;
            let is_seen =
                keep_previous(entry, &kept, body, place.fetched_at) && entry.row.flags.is_shown();
            let unseen = u32::from(counted && !is_seen);
            merged.edited = merged.edited.saturating_sub(unseen);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::{DateTime, Utc};

    use super::*;
    use crate::engine::feeds::subscription::Commit;
    use crate::engine::store_work::{JobId, JobSubject, StoreFailure};
    use backissue_core::feed::{Entry, FeedDocument};
    use backissue_core::history::EntryKey;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const A: FeedKey = FeedKey(1);
    const B: FeedKey = FeedKey(2);

    fn work(job: Job) -> StoreWork {
        StoreWork { id: JobId(1), job, change: None, beside: None, failures: 0 }
    }

    fn tried(feed: FeedKey) -> StoreWork {
        work(Job::SaveTry(feed, NOW))
    }

    fn polled(feed: FeedKey) -> StoreWork {
        let entry = Entry { id: "one".into(), ..Entry::default() };
        let document = FeedDocument { entries: vec![entry], ..FeedDocument::default() };
        let commit = Commit {
            feed,
            state: Box::default(),
            record: None,
            document: Some(Box::new(document)),
            fetched_at: NOW,
            history: None,
            complete: false,
            log: None,
        };
        work(Job::Commit(Box::new(commit)))
    }

    fn tries(store: &Store) -> Vec<bool> {
        let tried = |feed| store.state_of(feed).unwrap().facts.last_try.is_some();
        [A, B].into_iter().map(tried).collect()
    }

    #[test]
    fn commits_of_many_feeds_are_written_as_one_group() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.perform_in_group(tried(A));
        store.perform_in_group(tried(B));
        assert_eq!(tries(&store), [false, false]);
        store.write_group().unwrap();
        assert_eq!(tries(&store), [true, true]);
    }

    #[test]
    fn feed_in_the_group_flushes_it_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.perform_in_group(tried(A));
        for (job, needs) in [
            (Job::SaveTry(A, NOW), true),
            (Job::SaveTry(B, NOW), false),
            (Job::ReadPublications(A), true),
            (Job::ReadPublications(B), false),
            (Job::ReadEntry(EntryKey { feed: B, seq: 0 }), true),
            (Job::SaveFolded(BTreeSet::new()), true),
        ] {
            assert_eq!(store.needs_group(&job), needs, "{job:?}");
        }
        store.group.documents = usize::MAX;
        assert!(store.needs_group(&polled(B).job), "the number of texts in memory is limited");
    }

    #[test]
    fn jobs_made_before_a_failure_was_known_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let full = StoreFailure { no_room: true, .."the disk is full".into() };
        store.note_failed(JobSubject::History(A), full);
        let after = |failures, feed| StoreWork { failures, ..polled(feed) };
        for (work, is_done) in [
            (after(0, A), false),
            (after(1, A), false),
            (after(2, B), true),
            (after(3, A), true),
            (after(2, A), false),
        ] {
            let result = store.perform(work).unwrap().result;
            assert_eq!(result.is_ok(), is_done, "{result:?}");
            let told = result.err().map(|why| (why.text, why.no_room));
            assert!(is_done || told == Some(("the disk is full".to_owned(), true)));
        }
        // The engine knows of failures from before the store was opened.
        let failures = |store: &Store| store.failed.get(&B).map(|(count, _)| *count);
        assert_eq!(failures(&store), Some(2));
    }

    #[test]
    fn a_group_that_was_not_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let stored = store.perform_in_group(polled(A));
        assert!(stored.is_some_and(|stored| stored.result.is_ok()));
        assert_eq!(store.rows_of(A).unwrap().len(), 1, "it is seen by those that come after it");
        // The process dies here.
        drop(store);
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!(store.rows_of(A).unwrap().len(), 0);
        assert_eq!(store.counters_of(A).unwrap().total, 0);
    }
}
