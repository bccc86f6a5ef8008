//! Jobs of the store and their answers, for the program and for tests.
//!
//! Every job has an id, which its answer repeats, so that a failure reverts exactly the change that was already shown (see
//! [`super::change`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};

use super::change::PendingChange;
use super::change::undo_stack::StepChanges;
use super::entries::filter_work::{FilterCount, FilterWork, Filtered};
use super::entries::full_text::FullText;
use super::entries::loaded_entry::{LoadedEntry, ReadingPosition};
use super::entries::rows::{RowsLoaded, RowsWanted};
use super::feeds::subscription::{Commit, FeedState, HistoryCommit, SubscriptionRecord};
use super::poll::poll_log::PollLogEntry;
use super::saved_searches::SavedSearch;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{Counters, EntryKey, FeedKey, Flag, Nodes};
use backissue_core::schedule::learning::{LearnedRecord, Publications};
use backissue_core::search::Matching;

/// Id of a store job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(pub u64);

/// A job with its id, to be sent to the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreWork {
    /// Id, assigned when the job leaves the engine.
    pub id: JobId,
    /// The job.
    pub job: Job,
    /// The change that the job writes. The engine keeps the change and sends `None` to the store.
    pub change: Option<PendingChange>,
}

/// A job for the store. The documentation of each variant names its answer; jobs without an answer are reported only if they fail.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Writes the result of a poll atomically: [`Answer::Committed`].
    Commit(Box<Commit>),
    /// Atomically writes the changes that an archive, a page or a user's action made to a history: [`Answer::HistoryKept`].
    KeepHistory(Box<HistoryCommit>),
    /// Reads the fetched archives of a feed after all pending writes: [`Answer::Nodes`].
    ReadNodes(FeedKey),
    /// Restores withdrawn entries: [`Answer::Restored`].
    Restore(FeedKey, Vec<u32>),
    /// Writes the state of a feed before a request goes out (SPEC G.20).
    SaveState(FeedKey, Box<FeedState>),
    /// Writes only the time of the last attempt, if nothing else in the state changed before a request.
    SaveTry(FeedKey, DateTime<Utc>),
    /// Writes records of subscriptions atomically: [`Answer::RecordsSaved`].
    SaveRecords(Vec<(FeedKey, SubscriptionRecord)>),
    /// Moves the entries of one feed, with their marks, to another feed that replaces it: [`Answer::Absorbed`].
    Absorb {
        /// The feed that is removed.
        from: FeedKey,
        /// The feed that remains.
        into: FeedKey,
        /// Records of both feeds, written after the entries were moved.
        records: Vec<(FeedKey, SubscriptionRecord)>,
    },
    /// Sets or clears a mark: [`Answer::Marked`].
    Mark {
        /// The entries.
        entries: MarkedEntries,
        /// The mark.
        flag: Flag,
        /// `true` to set the mark, `false` to clear it.
        value: bool,
    },
    /// Reads rows of a list: [`Answer::Rows`].
    ReadRows(RowsWanted),
    /// Reads one entry with its text: [`Answer::Entry`].
    ReadEntry(EntryKey),
    /// Reads new entries after all pending writes: [`Answer::NewEntries`].
    ReadNewEntries(Vec<(FeedKey, Range<u32>)>),
    /// Writes the reading position in an entry; `None` for its beginning or end.
    SaveReadingPosition(EntryKey, Option<ReadingPosition>),
    /// Writes the text of the page that an entry links to.
    SaveFullText(EntryKey, Box<FullText>),
    /// Reads the last polls of a feed: [`Answer::Polls`].
    ReadPolls(FeedKey),
    /// Reads the publication times of a feed: [`Answer::Publications`].
    ReadPublications(FeedKey),
    /// Reads the learned plan of a feed: [`Answer::Learned`].
    ReadLearned(FeedKey),
    /// Writes the learned plan of a feed.
    SaveLearned(FeedKey, Box<LearnedRecord>),
    /// Counts the unread entries listed since a given time: [`Answer::TodayCounted`].
    CountToday(DateTime<Utc>),
    /// Writes the saved searches: [`Answer::SearchesSaved`].
    SaveSearches(Vec<SavedSearch>),
    /// Counts the unread entries that match saved searches: [`Answer::SearchesCounted`].
    CountSearches(Vec<(u32, Matching)>),
    /// Writes the filters: [`Answer::FiltersSaved`].
    SaveFilters(Vec<EntryFilter>),
    /// Applies a filter to entries, or replays its changes: [`Answer::Filtered`].
    Filter(Box<FilterWork>),
    /// Counts the entries that match each filter: [`Answer::FiltersCounted`].
    CountFilters,
    /// Writes the folded tags.
    SaveFolded(BTreeSet<String>),
    /// Records that the user has seen the report on recovered data.
    NoteMended,
    /// Writes and removes undo steps.
    SaveSteps(StepChanges),
    /// Deletes all data of these feeds, unless they are subscribed to.
    ForgetFeeds(Vec<FeedKey>),
    /// Writes the backup of a day, if there is none yet, in parallel with other work.
    BackUp(NaiveDate),
}

/// The entries that a mark applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkedEntries {
    /// These entries.
    These(Vec<EntryKey>),
    /// All entries in the list with this number when the job starts.
    ListNumber(u64),
    /// The entries that were in the list when the job started.
    Listed(Vec<EntryKey>),
}

/// The subject of a job, returned with its answer so that a failure can be assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSubject {
    /// A poll of a feed.
    Poll(FeedKey),
    /// The history of a feed.
    History(FeedKey),
    /// Records of subscriptions.
    Records,
    /// Rows of a list, by its number.
    Rows(u64),
    /// An entry to show or to pass on.
    Entry(EntryKey),
    /// Publication times of a feed.
    Publications(FeedKey),
    /// New entries to notify the user about.
    NewEntries,
    /// A mark on a whole list, whose undo step depends on the answer.
    ListMark,
    /// The application of a filter, by its number.
    Filter(u32),
    /// A change that is already shown.
    Change,
    /// A write that nothing waits for.
    Keeping,
    /// Data that is only shown.
    Display,
}

/// The answer to a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The result of a poll is durable.
    Committed {
        /// The feed.
        feed: FeedKey,
        /// Counters of the feed after the change.
        counters: Counters,
        /// Number of entries never seen before.
        new: u32,
        /// Number of entries whose content changed.
        edited: u32,
        /// Entries that the publisher withdrew.
        withdrawn: Vec<u32>,
    },
    /// The changes that an archive, a page or a user's action made are durable.
    HistoryKept {
        /// The feed.
        feed: FeedKey,
        /// Counters of the feed after the change.
        counters: Counters,
        /// Number of entries never seen before.
        new: u32,
        /// Number of entries whose content changed.
        edited: u32,
    },
    /// The fetched archives of a feed.
    Nodes(FeedKey, Box<Nodes>),
    /// Withdrawn entries of a feed are restored.
    Restored(FeedKey, Marked),
    /// The entries of a feed were moved to another.
    Absorbed {
        /// The feed that remains.
        into: FeedKey,
        /// Counters of the feed after the move.
        counters: Counters,
    },
    /// Records are durable.
    RecordsSaved,
    /// A mark is durable.
    Marked {
        /// The mark.
        flag: Flag,
        /// `true` if the mark was set, `false` if it was cleared.
        value: bool,
        /// `true` if the mark was for a whole list.
        whole_list: bool,
        /// The changed entries.
        marked: Marked,
    },
    /// Rows of a list.
    Rows(RowsLoaded),
    /// An entry with its text.
    Entry(Box<LoadedEntry>),
    /// New entries with their texts.
    NewEntries(Vec<LoadedEntry>),
    /// The last polls of a feed, newest first.
    Polls(FeedKey, Vec<PollLogEntry>),
    /// Publication times of a feed.
    Publications(FeedKey, Arc<Publications>),
    /// The learned plan of a feed, if there is one.
    Learned(FeedKey, Option<Box<LearnedRecord>>),
    /// Number of today's unread entries.
    TodayCounted(u32),
    /// The saved searches are durable.
    SearchesSaved,
    /// Number of unread entries that match each saved search, by the search's number.
    SearchesCounted(BTreeMap<u32, u32>),
    /// The filters are durable.
    FiltersSaved,
    /// The changes of a filter are durable.
    Filtered(Box<Filtered>),
    /// Matches of each filter, by its number.
    FiltersCounted(BTreeMap<u32, FilterCount>),
}

impl Answer {
    /// Returns the feed whose entries were added, changed or removed.
    pub fn changed_feed(&self) -> Option<FeedKey> {
        if let Self::Committed { feed, new, edited, withdrawn, .. } = self {
            let changed = *new > 0 || *edited > 0 || !withdrawn.is_empty();
            return changed.then_some(*feed);
        }
        let (Self::HistoryKept { feed, .. }
        | Self::Restored(feed, _)
        | Self::Absorbed { into: feed, .. }) = self
        else {
            return None;
        };
        Some(*feed)
    }
}

/// Reason that a job failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFailure {
    /// Error message.
    pub text: String,
    /// Whether the disk was full; the data itself is valid.
    pub no_room: bool,
}

impl From<&str> for StoreFailure {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), no_room: false }
    }
}

/// The result of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Id of the job.
    pub id: JobId,
    /// Subject of the job.
    pub subject: JobSubject,
    /// The answer, or the reason for the failure.
    pub result: Result<Answer, StoreFailure>,
}

/// The entries that a mark changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marked {
    /// The entries whose mark changed.
    pub changed: Vec<EntryKey>,
    /// Counters of the affected feeds after the change.
    pub counters: Vec<(FeedKey, Counters)>,
}

impl JobSubject {
    /// Checks whether a failure of the job loses data.
    pub const fn is_kept(self) -> bool {
        match self {
            Self::Poll(_)
            | Self::History(_)
            | Self::Records
            | Self::ListMark
            | Self::Filter(_)
            | Self::Change
            | Self::Keeping => true,
            Self::Rows(_)
            | Self::Entry(_)
            | Self::Publications(_)
            | Self::NewEntries
            | Self::Display => false,
        }
    }
}

impl Job {
    /// Checks whether the job writes nothing.
    pub const fn only_reads(&self) -> bool {
        matches!(
            self,
            Self::ReadRows(_)
                | Self::ReadEntry(_)
                | Self::ReadPolls(_)
                | Self::ReadPublications(_)
                | Self::ReadLearned(_)
                | Self::ReadNodes(_)
                | Self::ReadNewEntries(_)
                | Self::CountToday(_)
                | Self::CountSearches(_)
                | Self::CountFilters
        )
    }

    /// Checks whether the job runs at once: it only reads and need not wait for writes, or it is too small to sync the disk for.
    pub const fn is_read(&self) -> bool {
        let is_small = matches!(
            self,
            Self::SaveLearned(..) | Self::SaveReadingPosition(..) | Self::SaveFullText(..)
        );
        let is_behind_writes = matches!(self, Self::ReadNodes(_) | Self::ReadNewEntries(_));
        is_small || (self.only_reads() && !is_behind_writes)
    }

    /// Returns the subject of the job.
    pub fn subject(&self) -> JobSubject {
        match self {
            Self::Commit(commit) => JobSubject::Poll(commit.feed),
            Self::KeepHistory(commit) => JobSubject::History(commit.feed),
            Self::ReadNodes(feed) => JobSubject::History(*feed),
            Self::SaveRecords(_) | Self::Absorb { .. } => JobSubject::Records,
            Self::ReadRows(wanted) => JobSubject::Rows(wanted.list),
            Self::ReadEntry(key) => JobSubject::Entry(*key),
            Self::ReadPublications(feed) => JobSubject::Publications(*feed),
            Self::ReadNewEntries(_) => JobSubject::NewEntries,
            Self::Mark { entries: MarkedEntries::These(_), .. }
            | Self::Restore(..)
            | Self::SaveFilters(_)
            | Self::SaveSearches(_) => JobSubject::Change,
            Self::Mark {
                entries: MarkedEntries::ListNumber(_) | MarkedEntries::Listed(_), ..
            } => JobSubject::ListMark,
            Self::Filter(work) => JobSubject::Filter(work.filter()),
            Self::SaveState(..)
            | Self::SaveTry(..)
            | Self::SaveLearned(..)
            | Self::SaveReadingPosition(..)
            | Self::SaveFullText(..)
            | Self::SaveFolded(_)
            | Self::NoteMended
            | Self::SaveSteps(_)
            | Self::ForgetFeeds(_) => JobSubject::Keeping,
            Self::ReadPolls(_)
            | Self::ReadLearned(_)
            | Self::CountToday(_)
            | Self::CountSearches(_)
            | Self::CountFilters
            | Self::BackUp(_) => JobSubject::Display,
        }
    }
}
