//! Performs the jobs of [`crate::engine::store_work`]. The program and the tests use the same function.
//!
//! Each undo step has a record of its own, whose key is the id of its change.

use backissue_core::history::{EntryKey, FeedKey, Merged};

use super::super::codec;
use super::error::StoreError;
use super::handle::Store;
use super::upkeep::recovery::note_seen;
use super::upkeep::repair::StoreProblem;
use crate::engine::change::MarkChange;
use crate::engine::change::undo_stack::{SavedStep, Step, StepChanges};
use crate::engine::change::value::LaterStep;
use crate::engine::entries::rows::{ListQuery, MarkedEntries, RowKey, Scope, Show};
use crate::engine::store_work::{
    Answer, Beside, Job, JobSubject, StoreFailure, StoreWork, Stored, UnreadCounts,
};
use crate::io::store::pack::{Batch, TableName};

impl Store {
    /// Performs a job. Returns the answer, which contains the id of the job, or `None` if the job has no answer.
    pub fn perform(&mut self, work: StoreWork) -> Option<Stored> {
        let StoreWork { id, job, beside, failures, .. } = work;
        let subject = job.subject();
        self.counted.clear();
        let result = match self.check_basis(subject, failures) {
            Ok(()) => {
                let room = self.check_room(&job);
                let steps = |store: &mut Self| do_with_steps(store, job, beside);
                room.and_then(|()| self.guarded(steps)).map_err(|error| StoreFailure::from(&error))
            }
            Err(why) => Err(why),
        };
        self.db.beside = None;
        let result = result.map_err(|why| self.note_failed(subject, why)).transpose()?;
        let counted = std::mem::take(&mut self.counted);
        let counters = if result.is_ok() { counted.into_iter().collect() } else { Vec::new() };
        Some(Stored { id, subject, counters, result })
    }

    /// Returns the failure of an earlier write of the feed's history if the job was made before the engine knew of it.
    fn check_basis(&mut self, subject: JobSubject, known: u32) -> Result<(), StoreFailure> {
        let Some(feed) = subject.history() else { return Ok(()) };
        if known > 0 {
            // The store may have been opened since.
            let failed = self.failed.entry(feed).or_default();
            failed.0 = failed.0.max(known);
        }
        let later = self.failed.get(&feed).filter(|(count, _)| known < *count);
        later.map_or(Ok(()), |(_, why)| Err(why.clone()))
    }

    /// Notes a failed write of a feed's history, so that jobs that were made on top of it are refused. Returns the failure with the
    /// number of such failures.
    pub fn note_failed(&mut self, subject: JobSubject, mut why: StoreFailure) -> StoreFailure {
        if let Some(feed) = subject.history() {
            let failed = self.failed.entry(feed).or_default();
            why.failures = failed.0.saturating_add(1);
            *failed = (why.failures, why.clone());
        }
        why
    }

    /// If a job marks a list, replaces the list by its present entries, because another list may be open when the job is
    /// performed.
    pub fn fix_list(&mut self, work: &mut StoreWork) {
        if let Job::Mark { entries, .. } = &mut work.job {
            // If the index cannot be read, no entry is marked.
            let listed = match entries {
                MarkedEntries::ListNumber(list, part) => self.listed(*list, *part),
                MarkedEntries::Unread(feeds) => self.unread_of(std::mem::take(feeds)),
                MarkedEntries::These(_) | MarkedEntries::Listed(_) => return,
            };
            *entries = MarkedEntries::Listed(listed.unwrap_or_default());
        }
    }

    fn unread_of(&mut self, feeds: Vec<FeedKey>) -> Result<Vec<EntryKey>, StoreError> {
        let rows = self.ordered(&ListQuery::of(Scope::Feeds(feeds), Show::Unread))?;
        Ok(rows.into_iter().filter_map(RowKey::entry).collect())
    }
}

/// Performs a job and writes undo steps in its first frame, so that a change is never stored without its step.
fn do_with_steps(
    store: &mut Store,
    job: Job,
    beside: Option<Beside>,
) -> Result<Option<Answer>, StoreError> {
    let mut later = None;
    match beside {
        Some(Beside::Steps(steps)) => store.db.beside = Some(step_batch(&steps)?),
        Some(Beside::Later(step)) => later = Some(step),
        None => {}
    }
    let answer = do_job(store, job, later)?;
    // Write the steps of a job that wrote nothing itself.
    store.db.commit(&[])?;
    Ok(answer)
}

/// Performs a job. Returns `None` if the job has no answer.
#[expect(clippy::too_many_lines, reason = "a table: an arm for each kind of work")]
fn do_job(
    store: &mut Store,
    job: Job,
    step: Option<LaterStep>,
) -> Result<Option<Answer>, StoreError> {
    Ok(match job {
        Job::Commit(commit) => {
            let merged = store.commit(&commit)?;
            Some(Answer::Committed {
                feed: commit.feed,
                new: merged.new,
                edited: merged.edited,
                withdrawn: merged.withdrawn,
                moves: merged.moves,
            })
        }
        Job::EndUnread(limits, now) => {
            let (ended, this_week) = store.end_unread(&limits, now)?;
            Some(Answer::UnreadEnded { ended, this_week })
        }
        Job::Drip(feed) => Some(Answer::Dripped(feed, store.drip(feed)?)),
        Job::SaveTry(feed, at) => unanswered(store.save_try(feed, at))?,
        Job::KeepHistory(commit) => {
            let Merged { new, edited, .. } = store.keep_history(&commit)?;
            Some(Answer::HistoryKept { feed: commit.feed, new, edited })
        }
        Job::ReadNodes(feed) => Some(Answer::Nodes(feed, Box::new(store.nodes(feed)?))),
        Job::Restore { feed, entries, showing } => {
            Some(Answer::Restored(feed, store.set_withdrawn(feed, entries, showing)?, showing))
        }
        Job::SaveState(feed, state) => unanswered(store.save_state(feed, &state))?,
        Job::SaveRecords(records) => {
            store.save_records(&records)?;
            Some(Answer::RecordsSaved)
        }
        Job::Absorb { from, into, records } => {
            // Merging again changes nothing. If the records cannot be written, both feeds therefore stay as the screen shows
            // them.
            let changes = store.absorb(from, into)?.into();
            store.save_records(&records)?;
            Some(Answer::Absorbed { from, into, changes })
        }
        Job::Mark { entries, flag, value } => {
            let (keys, whole_list) = match entries {
                MarkedEntries::These(keys) => (keys, false),
                MarkedEntries::Listed(keys) => (keys, true),
                MarkedEntries::ListNumber(list, part) => (store.listed(list, part)?, true),
                MarkedEntries::Unread(feeds) => (store.unread_of(feeds)?, true),
            };
            let keys = store.mark_with_step(&keys, flag, value, step.as_ref())?;
            Some(Answer::Marked { mark: MarkChange { flag, value, keys }, whole_list, step })
        }
        Job::ReadRows(wanted) => Some(Answer::Rows(store.rows_wanted(&wanted)?)),
        Job::ReadEntry(key) => {
            Some(Answer::Entry(store.read_entry(key)?.map_err(StoreError::LostRecord)?.into()))
        }
        Job::ReadPolls(feed) => Some(Answer::Polls(feed, store.poll_log(feed)?)),
        Job::ReadPublications(feed) => {
            Some(Answer::Publications(feed, store.publications(feed)?.into()))
        }
        Job::CountMonths(feed, zone) => {
            Some(Answer::MonthsCounted(feed, store.month_counts(feed, zone)?.into()))
        }
        Job::ReadLearned(feed) => {
            Some(Answer::Learned(feed, store.learned_plan(feed)?.map(Box::new)))
        }
        Job::SaveLearned(feed, learned) => unanswered(store.save_learned_plan(feed, &learned))?,
        Job::Count(wanted) => Some(Answer::Counted(UnreadCounts {
            dated: store.unread_since(wanted.since)?,
            portion: store.unread_in_portion(wanted.day)?,
            found: store.count_found(&wanted.searches)?,
        })),
        Job::SaveSearches(searches) => {
            store.save_searches(&searches)?;
            Some(Answer::SearchesSaved)
        }
        Job::ReadNewEntries(ranges) => Some(Answer::NewEntries(store.news(&ranges)?)),
        Job::ReadAttached(wanted) => {
            let entries = store.with_attached(&wanted)?;
            Some(Answer::Attached(wanted, entries))
        }
        Job::SaveDownloads(downloads) => unanswered(store.save_downloads(&downloads))?,
        Job::ReadWithoutPage(feed, among) => {
            Some(Answer::WithoutPage(feed, store.without_page(feed, among)?))
        }
        Job::ReadTexts(wanted) => Some(Answer::Texts(wanted.feed, store.unread_texts(wanted)?)),
        Job::SaveFullText(key, full) => unanswered(store.save_full_text(key, &full))?,
        Job::SaveReadingPosition(key, place) => unanswered(store.save_place(key, place))?,
        Job::SaveFilters(filters) => {
            store.save_filters(&filters)?;
            Some(Answer::FiltersSaved)
        }
        Job::Filter { work, list } => {
            let id = step.as_ref().map(|step| step.id);
            let changes = store.filter_entries(&work, list.as_deref(), step)?;
            Some(Answer::Filtered(Box::new(changes), id))
        }
        Job::NoteMended => {
            note_seen(&store.data);
            None
        }
        Job::SaveFolded(folded) => unanswered(store.save_folded(&folded))?,
        Job::SaveHeld(device, feeds) => unanswered(store.save_held(&device, feeds))?,
        Job::KeepApart(links) => unanswered(store.keep_apart(&links))?,
        Job::NoteElsewhere(feed, now, known) => {
            let noted = store.note_elsewhere(feed, &known, now, step.as_ref())?;
            Some(Answer::ElsewhereNoted(feed, Box::new(noted)))
        }
        Job::AwaitElsewhere { feed, since, waits } => {
            unanswered(store.await_elsewhere(feed, since, waits))?
        }
        Job::Sync(sync) => {
            let (synced, marks) = store.sync_feed(&sync)?;
            Some(Answer::Synced(sync.feed, synced, marks))
        }
        Job::SaveSteps(steps) => unanswered(store.save_steps(&steps))?,
        Job::ForgetFeeds(feeds) => unanswered(store.forget_feeds(&feeds))?,
        Job::CountFilters => Some(Answer::FiltersCounted(store.count_filter_hits()?)),
        // The store thread starts backups itself, because they run on a thread of their own.
        Job::BackUp(_) => None,
    })
}

/// Returns the result of a job that has no answer.
fn unanswered(done: Result<(), StoreError>) -> Result<Option<Answer>, StoreError> {
    done.map(|()| None)
}

/// Returns the batch that writes and removes undo steps.
fn step_batch(changes: &StepChanges) -> Result<Batch, StoreError> {
    let mut batch = Batch::default();
    for id in &changes.gone {
        batch.remove(id.0.to_be_bytes());
    }
    for saved in &changes.kept {
        batch.insert(saved.id.0.to_be_bytes(), codec::encode_compressed(saved)?);
    }
    Ok(batch)
}

impl Store {
    /// Writes and removes undo steps, all or none of them.
    pub fn save_steps(&mut self, changes: &StepChanges) -> Result<(), StoreError> {
        let batch = step_batch(changes)?;
        self.db.commit(&[(TableName::Undo, &batch)])
    }

    /// Adds the undo step of a change to the next frame, which writes the change. The changes of an import share one step, to which
    /// `parts` are added.
    pub(super) fn write_beside(
        &mut self,
        &LaterStep { id, at, joins, .. }: &LaterStep,
        parts: Vec<Step>,
    ) -> Result<(), StoreError> {
        let known = self.tables.undo.get(id.0.to_be_bytes())?.filter(|_| joins);
        let known = known.map(|bytes| codec::decode_compressed::<SavedStep>(&bytes)).transpose()?;
        // The stored step is empty because the step became too large earlier.
        let is_dropped = known.as_ref().is_some_and(|known| known.step.is_nothing());
        let new = SavedStep { id, at, step: Step::Imported(Vec::new()), undone: false };
        let mut saved = known.unwrap_or(new);
        if joins {
            for part in parts {
                saved.step.join(part);
            }
        } else if let Some(step) = parts.into_iter().next() {
            saved.step = step;
        }
        if is_dropped || (joins && !saved.step.is_saved()) {
            saved.step = Step::Imported(Vec::new());
        }
        if saved.step.is_saved() {
            let changes = StepChanges { kept: vec![saved], gone: Vec::new() };
            self.db.beside = Some(step_batch(&changes)?);
        }
        Ok(())
    }

    /// Returns the steps that can be undone or redone, oldest first. Because changes are undone in order, a step that cannot be
    /// read is left out together with all older ones.
    pub fn saved_steps(&self) -> Result<Vec<SavedStep>, StoreError> {
        let mut saved = Vec::new();
        for record in self.tables.undo.iter() {
            match codec::decode_compressed::<SavedStep>(&record?.1) {
                Ok(step) => saved.push(step),
                Err(_) => saved.clear(),
            }
        }
        Ok(saved)
    }

    /// Checks the records of undo steps. `repair` removes those that cannot be used: unreadable ones, and all that are older.
    pub(super) fn check_steps(&mut self, repair: bool) -> Result<Option<StoreProblem>, StoreError> {
        let lost = self.tables.undo.len().saturating_sub(self.saved_steps()?.len());
        if lost == 0 {
            return Ok(None);
        }
        if repair {
            let mut batch = Batch::default();
            for key in self.tables.undo.keys().take(lost) {
                batch.remove(key?);
            }
            self.db.commit(&[(TableName::Undo, &batch)])?;
        }
        let text = format!("{lost} of your changes can no longer be undone: a record is damaged");
        Ok(Some(StoreProblem { text, repaired: repair }))
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::change::value::ChangeId;
    use crate::engine::entries::filter_work::FilterChanges;
    use crate::io::store::perform::*;
    use backissue_core::history::{EntryKey, FeedKey, Flag};

    fn marked(id: u64, seqs: impl Iterator<Item = u32>) -> SavedStep {
        let keys = seqs.map(|seq| EntryKey { feed: FeedKey(1), seq }).collect();
        let step = Step::Marked(MarkChange { flag: Flag::Read, value: true, keys });
        SavedStep { id: ChangeId(id), at: chrono::DateTime::UNIX_EPOCH, step, undone: false }
    }

    #[test]
    fn undo_steps_are_read_in_order_until_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let kept = vec![marked(2, 0..3), marked(300, 5..6)];
        store.save_steps(&StepChanges { kept: kept.clone(), gone: Vec::new() }).unwrap();
        drop(store);
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!(store.saved_steps().unwrap(), kept);
        let changes = StepChanges { kept: Vec::new(), gone: vec![ChangeId(300)] };
        store.save_steps(&changes).unwrap();
        assert_eq!(store.saved_steps().unwrap(), kept[..1]);
    }

    #[test]
    fn steps_older_than_a_damaged_one_are_dropped_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let kept = (1..=3).map(|id| marked(id, 0..1)).collect();
        store.save_steps(&StepChanges { kept, gone: Vec::new() }).unwrap();
        store.put(TableName::Undo, 2_u64.to_be_bytes(), b"damaged").unwrap();
        assert_eq!(store.saved_steps().unwrap(), [marked(3, 0..1)]);
        let health = store.check(true).unwrap();
        assert!(health.findings[0].text.starts_with("2 of your changes"), "{health:?}");
        assert_eq!(store.check(false).unwrap().findings, []);
        assert_eq!(store.saved_steps().unwrap(), [marked(3, 0..1)]);
    }

    #[test]
    fn parts_join_the_step_of_an_import_until_it_is_too_large() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let import = SavedStep {
            step: Step::Imported(vec![Step::Resubscribed(FeedKey(1))]),
            ..marked(7, 0..0)
        };
        store.save_steps(&StepChanges { kept: vec![import.clone()], gone: Vec::new() }).unwrap();
        let later = LaterStep { id: ChangeId(7), at: import.at, filters: Vec::new(), joins: true };
        let mut expected = import.step;
        for part in [marked(7, 0..3).step, marked(7, 5..9).step] {
            expected.join(part.clone());
            store.write_beside(&later, vec![part]).unwrap();
            store.db.commit(&[]).unwrap();
            assert_eq!(store.saved_steps().unwrap()[0].step, expected);
        }
        for part in [marked(7, 0..300_000).step, marked(7, 0..1).step] {
            store.write_beside(&later, vec![part]).unwrap();
            store.db.commit(&[]).unwrap();
            assert_eq!(
                store.saved_steps().unwrap()[0].step,
                Step::Imported(Vec::new()),
                "no part alone"
            );
        }
        let first = LaterStep { id: ChangeId(8), ..later };
        store.write_beside(&first, vec![marked(8, 0..3).step]).unwrap();
        store.db.commit(&[]).unwrap();
        assert_eq!(
            store.saved_steps().unwrap()[1].step,
            Step::Imported(vec![marked(8, 0..3).step])
        );
    }

    #[test]
    fn largest_stored_step_stays_below_two_megabytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let mut written = |step: SavedStep| {
            let changes = StepChanges { kept: vec![step], gone: Vec::new() };
            store.save_steps(&changes).unwrap();
            store.tables.undo.iter().next().unwrap().unwrap().1.len()
        };
        assert!(written(marked(1, 0..100_000)) < 200, "a whole list");
        let scattered = written(marked(1, (0..100_000).map(|seq| seq * 3)));
        assert!(scattered < 800_000, "{scattered} bytes");
        // The worst case: no two entries are adjacent, and all have large numbers.
        let flags = (0..250_000).map(|seq| EntryKey { feed: FeedKey(1), seq: seq * 5 + 70_000 });
        let flags = flags.map(|key| (key, Flag::Hidden, true)).collect();
        let changes = Box::new(FilterChanges { flags, ..FilterChanges::default() });
        let step = Step::Filters { before: Vec::new(), changes, forward: false };
        let worst = written(SavedStep { step, ..marked(1, 0..0) });
        assert!(worst < 2_000_000, "{worst} bytes");
    }
}
