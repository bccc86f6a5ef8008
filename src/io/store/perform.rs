//! Doing the work of [`crate::engine::store_work`]: one function for the program and for tests.

use super::error::StoreError;
use super::handle::Store;
use super::undo_steps::step_batch;
use super::upkeep::recovery_report::note_seen;
use crate::engine::change::change_id::LaterStep;
use crate::engine::store_work::{
    Answer, Beside, Job, MarkedEntries, StoreFailure, StoreWork, Stored,
};
use backissue_core::history::Merged;

impl Store {
    /// Does one piece of work; the answer names it.
    pub fn perform(&mut self, work: StoreWork) -> Option<Stored> {
        let StoreWork { id, job, beside, .. } = work;
        let subject = job.subject();
        let room = self.check_room(&job);
        let done = room.and_then(|()| self.guarded(|store| do_with_steps(store, job, beside)));
        self.db.beside = None;
        let result = done.map_err(|error| StoreFailure::from(&error)).transpose()?;
        Some(Stored { id, subject, result })
    }

    /// A mark on a list is one on the entries that the list holds now: another list may be open when it is written.
    pub fn fix_list(&mut self, work: &mut StoreWork) {
        if let Job::Mark { entries, .. } = &mut work.job
            && let MarkedEntries::ListNumber(list, part) = entries
        {
            // An index that cannot be read is reported when the mark is written.
            let listed = self.listed(*list, *part).unwrap_or_default();
            *entries = MarkedEntries::Listed(listed);
        }
    }
}

/// Does a job and writes undo steps in its first frame, so that a change without its step is never there.
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
    // A job that had nothing to write leaves its steps.
    store.db.commit(&[])?;
    Ok(answer)
}

/// Does a job; `None`: there is nothing to answer.
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
                counters: merged.counters,
                new: merged.new,
                edited: merged.edited,
                withdrawn: merged.withdrawn,
            })
        }
        Job::SaveTry(feed, at) => {
            store.save_try(feed, at)?;
            None
        }
        Job::KeepHistory(commit) => {
            let Merged { counters, new, edited, .. } = store.keep_history(&commit)?;
            Some(Answer::HistoryKept { feed: commit.feed, counters, new, edited })
        }
        Job::ReadNodes(feed) => Some(Answer::Nodes(feed, Box::new(store.nodes(feed)?))),
        Job::Restore(feed, withdrawn) => {
            Some(Answer::Restored(feed, store.restore(feed, &withdrawn)?))
        }
        Job::SaveState(feed, state) => {
            store.save_state(feed, &state)?;
            None
        }
        Job::SaveRecords(records) => {
            store.save_records(&records)?;
            Some(Answer::RecordsSaved)
        }
        Job::Absorb { from, into, records } => {
            // What is handed over twice is there once: a record that cannot be written leaves both feeds as they are shown.
            let counters = store.absorb(from, into)?;
            store.save_records(&records)?;
            Some(Answer::Absorbed { into, counters })
        }
        Job::Mark { entries, flag, value } => {
            let (keys, whole_list) = match entries {
                MarkedEntries::These(keys) => (keys, false),
                MarkedEntries::Listed(keys) => (keys, true),
                MarkedEntries::ListNumber(list, part) => (store.listed(list, part)?, true),
            };
            let marked = store.mark_with_step(&keys, flag, value, step.as_ref())?;
            Some(Answer::Marked { flag, value, whole_list, step, marked })
        }
        Job::ReadRows(wanted) => Some(Answer::Rows(store.rows_wanted(&wanted)?)),
        Job::ReadEntry(key) => {
            let entry = store.read_entry(key)?.map_err(StoreError::LostRecord)?;
            Some(Answer::Entry(Box::new(entry)))
        }
        Job::ReadPolls(feed) => Some(Answer::Polls(feed, store.poll_log(feed)?)),
        Job::ReadPublications(feed) => {
            Some(Answer::Publications(feed, std::sync::Arc::new(store.publications(feed)?)))
        }
        Job::ReadLearned(feed) => {
            Some(Answer::Learned(feed, store.learned_plan(feed)?.map(Box::new)))
        }
        Job::SaveLearned(feed, learned) => {
            store.save_learned_plan(feed, &learned)?;
            None
        }
        Job::CountToday(since) => Some(Answer::TodayCounted(store.unread_since(since)?)),
        Job::SaveSearches(searches) => {
            store.save_searches(&searches)?;
            Some(Answer::SearchesSaved)
        }
        Job::ReadNewEntries(ranges) => Some(Answer::NewEntries(store.news(&ranges)?)),
        Job::ReadAttached(wanted) => {
            let entries = store.with_attached(&wanted)?;
            Some(Answer::Attached(wanted, entries))
        }
        Job::SaveDownloads(downloads) => {
            store.save_downloads(&downloads)?;
            None
        }
        Job::ReadWithoutPage(feed, among) => {
            Some(Answer::WithoutPage(feed, store.without_page(feed, among)?))
        }
        Job::ReadTexts(wanted) => Some(Answer::Texts(wanted.feed, store.unread_texts(wanted)?)),
        Job::SaveFullText(key, full) => {
            store.save_full_text(key, &full)?;
            None
        }
        Job::SaveReadingPosition(key, place) => {
            store.save_place(key, place)?;
            None
        }
        Job::CountSearches(wanted) => Some(Answer::SearchesCounted(store.count_found(&wanted)?)),
        Job::SaveFilters(filters) => {
            store.save_filters(&filters)?;
            Some(Answer::FiltersSaved)
        }
        Job::Filter { work, list } => {
            Some(Answer::Filtered(Box::new(store.filter_entries(&work, list.as_deref(), step)?)))
        }
        Job::NoteMended => {
            note_seen(&store.data);
            None
        }
        Job::SaveFolded(folded) => {
            store.save_folded(&folded)?;
            None
        }
        Job::NoteElsewhere(feed, now, known) => {
            let noted = store.note_elsewhere(feed, &known, now, step.as_ref())?;
            Some(Answer::ElsewhereNoted(feed, Box::new(noted)))
        }
        Job::AwaitElsewhere { feed, since, waits } => {
            store.await_elsewhere(feed, since, waits)?;
            None
        }
        Job::Sync(sync) => Some(Answer::Synced(sync.feed, store.sync_feed(&sync)?)),
        Job::SaveSteps(steps) => {
            store.save_steps(&steps)?;
            None
        }
        Job::ForgetFeeds(feeds) => {
            store.forget_feeds(&feeds)?;
            None
        }
        Job::CountFilters => Some(Answer::FiltersCounted(store.count_filter_hits()?)),
        // It is written beside everything else, by the thread of the store.
        Job::BackUp(_) => None,
    })
}
