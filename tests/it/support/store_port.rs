//! The port through which tests see the work of the program's store. No other file of these tests names the store's jobs and
//! answers, so that the way in which the program asks its store can change, and the tests judge the change.

use std::collections::BTreeMap;

use backissue::engine::change::undo_stack::StepChanges;
use backissue::engine::change::value::{ChangeId, LaterStep};
use backissue::engine::entries::entry_view::LoadedEntry;
use backissue::engine::entries::filter_work::FilterWork;
use backissue::engine::entries::rows::{MarkedEntries, RowsLoaded, RowsWanted, Scope};
use backissue::engine::feeds::subscription::{Commit, FeedState, SubscriptionRecord};
use backissue::engine::request::{Effect, Input};
use backissue::engine::store_work::{Answer, Beside, Job, JobId, JobSubject};
use backissue::io::store::{Store, StoreThread};
use backissue::ui::effect::ScreenEffect;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{Counters, EntryKey, FeedKey, Flag};
use chrono::NaiveDate;

pub use backissue::engine::store_work::{StoreFailure, StoreWork, Stored};

/// A kind of work that the program has its store do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sets or clears any mark.
    Marks,
    /// Sets or clears this mark.
    MarksWith(Flag),
    /// Sets or clears a mark on a whole list.
    MarksList,
    /// Writes the result of a poll.
    WritesPoll,
    /// Writes records of subscriptions.
    WritesRecords,
    /// Merges two feeds.
    Merges,
    /// Writes the filters.
    WritesFilters,
    /// Applies a filter to entries and leaves the list of filters alone.
    AppliesFilter,
    /// Writes the saved searches.
    WritesSearches,
    /// Writes the history of a feed, apart from a poll.
    WritesHistory,
    /// Reads rows of a list.
    ReadsRows,
    /// Reads an entry.
    ReadsEntry,
    /// Reads the log of a feed's polls.
    ReadsPolls(FeedKey),
    /// Reads the publication times of a feed.
    ReadsPublications(FeedKey),
    /// Reads the publication times of any feed.
    ReadsRhythm,
    /// Writes the daily backup.
    BacksUp,
}

impl Kind {
    /// Whether work is of this kind.
    pub fn is(self, work: &StoreWork) -> bool {
        self.is_of(&work.job)
    }

    fn is_of(self, job: &Job) -> bool {
        match (self, job) {
            (Self::Marks, Job::Mark { .. })
            | (Self::WritesPoll, Job::Commit(_))
            | (Self::WritesRecords, Job::SaveRecords(_))
            | (Self::Merges, Job::Absorb { .. })
            | (Self::WritesFilters, Job::SaveFilters(_) | Job::Filter { list: Some(_), .. })
            | (Self::AppliesFilter, Job::Filter { list: None, .. })
            | (Self::WritesSearches, Job::SaveSearches(_))
            | (Self::WritesHistory, Job::KeepHistory(_))
            | (Self::ReadsRows, Job::ReadRows(_))
            | (Self::ReadsEntry, Job::ReadEntry(_))
            | (Self::ReadsRhythm, Job::ReadPublications(_))
            | (Self::BacksUp, Job::BackUp(_)) => true,
            (Self::MarksWith(wanted), Job::Mark { flag, .. }) => *flag == wanted,
            (Self::MarksList, Job::Mark { entries, .. }) => {
                matches!(entries, MarkedEntries::ListNumber(..) | MarkedEntries::Listed(_))
            }
            (Self::ReadsPolls(of), Job::ReadPolls(feed))
            | (Self::ReadsPublications(of), Job::ReadPublications(feed)) => of == *feed,
            _ => false,
        }
    }

    /// Whether an effect has the store do work of this kind.
    pub fn starts(self, effect: &ScreenEffect) -> bool {
        job(effect).is_some_and(|job| self.is_of(job))
    }
}

fn job(effect: &ScreenEffect) -> Option<&Job> {
    match effect {
        ScreenEffect::Engine(Effect::Store(work)) => Some(&work.job),
        _ => None,
    }
}

/// Number of effects that have the store do work.
pub fn works(effects: &[ScreenEffect]) -> usize {
    effects.iter().filter(|effect| job(effect).is_some()).count()
}

/// The rows that the first effect asks for.
#[track_caller]
pub fn rows_wanted(effects: &[ScreenEffect]) -> &RowsWanted {
    match effects.first().and_then(job) {
        Some(Job::ReadRows(wanted)) => wanted,
        _ => panic!("{effects:?}"),
    }
}

/// The entry that the first effect asks for.
#[track_caller]
pub fn entry_wanted(effects: &[ScreenEffect]) -> EntryKey {
    match effects.first().and_then(job) {
        Some(Job::ReadEntry(key)) => *key,
        _ => panic!("{effects:?}"),
    }
}

/// Rows as they arrive from the store.
pub fn rows_read(rows: RowsLoaded) -> Input {
    answered(Answer::Rows(rows))
}

/// An entry as it arrives from the store.
pub fn entry_read(entry: LoadedEntry) -> Input {
    answered(Answer::Entry(Box::new(entry)))
}

/// The report that the filters are written.
pub fn filters_written() -> Input {
    answered(Answer::FiltersSaved)
}

/// The report that some other write failed, of which no one waits for an answer.
pub fn other_write_failed(why: &str) -> Input {
    let (id, subject) = (JobId(1_000_000), JobSubject::Keeping);
    Input::Stored(Box::new(Stored { id, subject, counters: Vec::new(), result: Err(why.into()) }))
}

fn answered(answer: Answer) -> Input {
    let (id, subject) = (JobId::default(), JobSubject::Display);
    Input::Stored(Box::new(Stored { id, subject, counters: Vec::new(), result: Ok(answer) }))
}

/// The failure of work because the disk is full.
pub fn refused(store: &mut Store, work: &StoreWork) -> Input {
    let why = StoreFailure { no_room: true, .."the disk is full".into() };
    let result = Err(store.note_failed(work.job.subject(), why));
    let (id, subject) = (work.id, work.job.subject());
    Input::Stored(Box::new(Stored { id, subject, counters: Vec::new(), result }))
}

/// Whether work reads what the search index finds.
pub fn searches(work: &StoreWork) -> bool {
    match &work.job {
        Job::ReadRows(wanted) => {
            let scope = wanted.rebuild.as_ref().map(|query| &query.scope);
            matches!(scope, Some(Scope::Found(_)))
        }
        Job::Count(wanted) => !wanted.searches.is_empty(),
        _ => false,
    }
}

/// Whether work only reads.
pub fn reads(work: &StoreWork) -> bool {
    work.job.is_read()
}

/// Whether the group of unwritten changes must be written before this work.
pub fn needs_group(store: &Store, work: &StoreWork) -> bool {
    store.needs_group(&work.job)
}

/// Whether a crash in the middle of this write may leave a part of it.
pub fn may_be_parted(work: &StoreWork) -> bool {
    matches!(work.job, Job::Absorb { .. } | Job::ForgetFeeds(_) | Job::Filter { .. })
}

/// Whether a write is never added to the group of unwritten changes.
pub fn is_written_at_once(work: &StoreWork) -> bool {
    !matches!(work.job, Job::Commit(_) | Job::SaveTry(..) | Job::SaveState(..))
}

/// The entries that a report says were marked, with the mark and its value.
pub fn marked(stored: &Stored) -> Option<(&[EntryKey], Flag, bool)> {
    match &stored.result {
        Ok(Answer::Marked { mark, .. }) => Some((&mark.keys, mark.flag, mark.value)),
        _ => None,
    }
}

/// What was refused, and why; `None` if nothing was, or if it may be: a full disk, or something that was only to be shown.
pub fn wrongly_refused(stored: &Stored) -> Option<String> {
    let failure = stored.result.as_ref().err()?;
    let may_fail = failure.no_room || stored.subject == JobSubject::Display;
    (!may_fail).then(|| format!("{:?}: {}", stored.subject, failure.text))
}

/// A store without entries, in memory, for tests of the engine alone.
#[derive(Debug, Default)]
pub struct BareStore {
    /// The states of feeds.
    pub states: BTreeMap<FeedKey, Box<FeedState>>,
    /// The records of subscriptions.
    pub records: BTreeMap<FeedKey, SubscriptionRecord>,
}

impl BareStore {
    /// Does work; returns its report, if there is one.
    pub fn perform(&mut self, work: StoreWork) -> Option<Input> {
        let (id, subject) = (work.id, work.job.subject());
        let answer = match work.job {
            Job::SaveTry(feed, at) => {
                self.states.entry(feed).or_default().facts.last_try = Some(at);
                return None;
            }
            Job::SaveState(feed, state) => {
                self.states.insert(feed, state);
                return None;
            }
            Job::SaveRecords(records) => {
                self.records.extend(records);
                Answer::RecordsSaved
            }
            Job::Commit(commit) => {
                let feed = commit.feed;
                self.states.insert(feed, commit.state);
                self.records.extend(commit.record.map(|record| (feed, record)));
                let (new, edited, withdrawn) = (0, 0, Vec::new());
                Answer::Committed { feed, new, edited, withdrawn, moves: false }
            }
            _ => return None,
        };
        let (counters, result) = (Vec::new(), Ok(answer));
        Some(Input::Stored(Box::new(Stored { id, subject, counters, result })))
    }
}

/// The feed of which this work writes a poll.
pub fn polled_feed(work: &StoreWork) -> Option<FeedKey> {
    if let Job::Commit(commit) = &work.job { Some(commit.feed) } else { None }
}

/// Work that a test has a store do.
#[derive(Debug)]
pub struct Task(Job);

impl Task {
    /// Writes a poll.
    pub fn poll(commit: Commit) -> Self {
        Self(Job::Commit(Box::new(commit)))
    }

    /// Marks entries.
    pub fn mark(entries: Vec<EntryKey>, flag: Flag, value: bool) -> Self {
        Self(Job::Mark { entries: MarkedEntries::These(entries), flag, value })
    }

    /// Marks the entries of a list.
    pub fn mark_list(entries: Vec<EntryKey>, flag: Flag, value: bool) -> Self {
        Self(Job::Mark { entries: MarkedEntries::Listed(entries), flag, value })
    }

    /// Applies a filter, and writes the list of filters.
    pub fn filter(work: FilterWork, list: Vec<EntryFilter>) -> Self {
        Self(Job::Filter { work: Box::new(work), list: Some(list) })
    }

    /// Drops undo steps.
    pub fn drop_steps(gone: Vec<ChangeId>) -> Self {
        Self(Job::SaveSteps(StepChanges { kept: Vec::new(), gone }))
    }

    /// Reads an entry.
    pub fn read_entry(key: EntryKey) -> Self {
        Self(Job::ReadEntry(key))
    }

    /// Writes the backup of a day.
    pub fn back_up(day: NaiveDate) -> Self {
        Self(Job::BackUp(day))
    }

    /// Does the work with a store that has no thread.
    pub fn perform(self, store: &mut Store) -> Result<Done, StoreFailure> {
        let done = store.perform(self.numbered(1, None));
        done.map_or(Ok(Done { counters: Vec::new(), answer: Answer::RecordsSaved }), Done::of)
    }

    /// Hands the work to a store's thread, under a number, with the undo step that is written beside it.
    pub fn hand(self, thread: &StoreThread, number: u64, step: Option<LaterStep>) {
        thread.hand(self.numbered(number, step));
    }

    fn numbered(self, number: u64, step: Option<LaterStep>) -> StoreWork {
        let beside = step.map(Beside::Later);
        // No engine waits for failures here.
        let failures = u32::MAX;
        StoreWork { id: JobId(number), job: self.0, change: None, beside, failures }
    }
}

/// The report about the task with this number, if this is it.
pub fn report_on(input: Input, number: u64) -> Option<Result<Done, StoreFailure>> {
    match input {
        Input::Stored(stored) if stored.id == JobId(number) => Some(Done::of(*stored)),
        _ => None,
    }
}

/// What a store reports about a task that it did.
#[derive(Debug)]
pub struct Done {
    counters: Vec<(FeedKey, Counters)>,
    answer: Answer,
}

impl Done {
    fn of(stored: Stored) -> Result<Self, StoreFailure> {
        let Stored { counters, result, .. } = stored;
        result.map(|answer| Self { counters, answer })
    }

    /// The feed and its counters after a poll.
    #[track_caller]
    pub fn poll(self) -> (FeedKey, Counters) {
        match (self.counters.as_slice(), self.answer) {
            ([counters], Answer::Committed { .. }) => *counters,
            other => panic!("{other:?}"),
        }
    }

    /// The entry that was read.
    #[track_caller]
    pub fn entry(self) -> LoadedEntry {
        match self.answer {
            Answer::Entry(entry) => *entry,
            other => panic!("{other:?}"),
        }
    }
}
