//! The work that the store is asked to do, and its answers: one list for the program and for tests.
//!
//! Every piece of work has an identity. Its answer names it, so that a failure takes back exactly what was shown ahead of it
//! (see [`super::change`]).

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

/// The identity of a piece of work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(pub u64);

/// A piece of work with its identity, on its way to the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreWork {
    /// Given by the engine when the work leaves it.
    pub id: JobId,
    /// What is to be done.
    pub job: Job,
    /// The change that it writes; the engine keeps it and passes on `None`.
    pub change: Option<PendingChange>,
}

/// What the store can be asked to do. The answer is named where there is one; work without an answer is told only if
/// it fails.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Writes what a poll changed, all or nothing: [`Answer::Committed`].
    Commit(Box<Commit>),
    /// Writes what an archive, a page or a reader's action changed in a history, all or nothing: [`Answer::HistoryKept`].
    KeepHistory(Box<HistoryCommit>),
    /// Reads which archives of a feed were fetched, behind all writes: [`Answer::Nodes`].
    ReadNodes(FeedKey),
    /// Brings withdrawn entries back: [`Answer::Restored`].
    Restore(FeedKey, Vec<u32>),
    /// Writes the state of a feed before a request goes out (SPEC G.20).
    SaveState(FeedKey, Box<FeedState>),
    /// Writes when a feed was tried last, where nothing else of its state changes before a request.
    SaveTry(FeedKey, DateTime<Utc>),
    /// Writes the lasting part of subscriptions, all or nothing: [`Answer::RecordsSaved`].
    SaveRecords(Vec<(FeedKey, SubscriptionRecord)>),
    /// Hands the entries of one feed, with their marks, to another that goes on in its place: [`Answer::Absorbed`].
    Absorb {
        /// The feed that is given up.
        from: FeedKey,
        /// The feed that goes on.
        into: FeedKey,
        /// The lasting parts of both, written once the entries are handed over.
        records: Vec<(FeedKey, SubscriptionRecord)>,
    },
    /// Sets or clears a mark: [`Answer::Marked`].
    Mark {
        /// Which entries.
        entries: MarkedEntries,
        /// Which mark.
        flag: Flag,
        /// Set or cleared.
        value: bool,
    },
    /// Reads rows of a list: [`Answer::Rows`].
    ReadRows(RowsWanted),
    /// Reads one entry with its text: [`Answer::Entry`].
    ReadEntry(EntryKey),
    /// Reads new entries, behind all writes: [`Answer::NewEntries`].
    ReadNewEntries(Vec<(FeedKey, Range<u32>)>),
    /// Keeps where the reader left an entry; `None`: at its beginning or its end.
    SaveReadingPosition(EntryKey, Option<ReadingPosition>),
    /// Keeps the page that an entry links to.
    SaveFullText(EntryKey, Box<FullText>),
    /// Reads the last polls of a feed: [`Answer::Polls`].
    ReadPolls(FeedKey),
    /// Reads when a feed published: [`Answer::Publications`].
    ReadPublications(FeedKey),
    /// Reads what was learned of a feed: [`Answer::Learned`].
    ReadLearned(FeedKey),
    /// Keeps what was learned of a feed.
    SaveLearned(FeedKey, Box<LearnedRecord>),
    /// Counts the unread entries listed since an instant: [`Answer::TodayCounted`].
    CountToday(DateTime<Utc>),
    /// Writes the saved searches: [`Answer::SearchesSaved`].
    SaveSearches(Vec<SavedSearch>),
    /// Counts the unread entries that saved searches find: [`Answer::SearchesCounted`].
    CountSearches(Vec<(u32, Matching)>),
    /// Writes the filters: [`Answer::FiltersSaved`].
    SaveFilters(Vec<EntryFilter>),
    /// Does with the entries of a filter what is wanted: [`Answer::Filtered`].
    Filter(Box<FilterWork>),
    /// Counts what the filters hit: [`Answer::FiltersCounted`].
    CountFilters,
    /// Writes which tags are folded.
    SaveFolded(BTreeSet<String>),
    /// The reader has seen what came back from damaged files.
    NoteMended,
    /// Keeps and forgets steps of undo.
    SaveSteps(StepChanges),
    /// Forgets everything that is kept of these feeds, where they are given up.
    ForgetFeeds(Vec<FeedKey>),
    /// Writes the backup of a day, if there is none; beside everything else.
    BackUp(NaiveDate),
}

/// The entries that a mark is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkedEntries {
    /// These.
    These(Vec<EntryKey>),
    /// All that the list with this number holds when the work is taken.
    ListNumber(u64),
    /// Those that a list held then.
    Listed(Vec<EntryKey>),
}

/// What a job is about, kept beside its answer: it says whose failure a failure is.
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
    /// An entry that is to be shown or handed on.
    Entry(EntryKey),
    /// When a feed published.
    Publications(FeedKey),
    /// New entries that somebody is to be told of.
    NewEntries,
    /// A mark on a whole list, whose step of undo waits for the answer.
    ListMark,
    /// What a filter, by its number, is to do with entries.
    Filter(u32),
    /// A change that was shown ahead.
    Change,
    /// Something to be kept that nobody waits for.
    Keeping,
    /// Something that was only to be shown.
    Display,
}

/// What the store answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// What a poll changed is durable.
    Committed {
        /// The feed.
        feed: FeedKey,
        /// Its sums afterwards.
        counters: Counters,
        /// Entries never seen before.
        new: u32,
        /// Entries whose content changed.
        edited: u32,
        /// Entries that the publisher withdrew.
        withdrawn: Vec<u32>,
    },
    /// What an archive, a page or a reader's action changed is durable.
    HistoryKept {
        /// The feed.
        feed: FeedKey,
        /// Its sums afterwards.
        counters: Counters,
        /// Entries never seen before.
        new: u32,
        /// Entries whose content changed.
        edited: u32,
    },
    /// The archives of a feed that were fetched.
    Nodes(FeedKey, Box<Nodes>),
    /// Withdrawn entries of a feed are back.
    Restored(FeedKey, Marked),
    /// A feed took over the entries of another.
    Absorbed {
        /// The feed that goes on.
        into: FeedKey,
        /// Its sums afterwards.
        counters: Counters,
    },
    /// Records are durable.
    RecordsSaved,
    /// A mark is durable.
    Marked {
        /// Which mark.
        flag: Flag,
        /// Set or cleared.
        value: bool,
        /// It was asked for a whole list.
        whole_list: bool,
        /// What changed.
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
    /// When a feed published.
    Publications(FeedKey, Arc<Publications>),
    /// What was learned of a feed, if it was.
    Learned(FeedKey, Option<Box<LearnedRecord>>),
    /// Unread entries of today.
    TodayCounted(u32),
    /// The saved searches are durable.
    SearchesSaved,
    /// Unread entries that saved searches find, by the searches' numbers.
    SearchesCounted(BTreeMap<u32, u32>),
    /// The filters are durable.
    FiltersSaved,
    /// What a filter did is durable.
    Filtered(Box<Filtered>),
    /// What the filters hit, by their numbers.
    FiltersCounted(BTreeMap<u32, FilterCount>),
}

impl Answer {
    /// The feed of which entries came, changed or went.
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

/// Why a job could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFailure {
    /// A sentence.
    pub text: String,
    /// There was no room to write to: nothing is wrong with what was to be written.
    pub no_room: bool,
}

impl From<&str> for StoreFailure {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), no_room: false }
    }
}

/// The answer to one job, or why it could not be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Which job it was.
    pub id: JobId,
    /// What it was about.
    pub subject: JobSubject,
    /// What came of it.
    pub result: Result<Answer, StoreFailure>,
}

/// Which entries a mark changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marked {
    /// The entries that did not have it so before.
    pub changed: Vec<EntryKey>,
    /// The sums of their feeds afterwards.
    pub counters: Vec<(FeedKey, Counters)>,
}

impl JobSubject {
    /// Whether something was to be kept: its failure loses it.
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
    /// Whether it writes nothing.
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

    /// Whether it is done at once: it only reads, and not behind all writes, or is too small to sync the disk for.
    pub const fn is_read(&self) -> bool {
        let is_small = matches!(
            self,
            Self::SaveLearned(..) | Self::SaveReadingPosition(..) | Self::SaveFullText(..)
        );
        let is_behind_writes = matches!(self, Self::ReadNodes(_) | Self::ReadNewEntries(_));
        is_small || (self.only_reads() && !is_behind_writes)
    }

    /// What the job is about.
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
