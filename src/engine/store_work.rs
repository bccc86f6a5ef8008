//! Jobs that the engine and the screens send to the store, and the answers of the store.
//!
//! Every job has an id, and the result of the job contains the same id. If the job fails, the engine uses the id to revert exactly
//! the change that the job should have written (see [`super::change`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};

use super::change::undo_stack::StepChanges;
use super::change::value::{ChangeId, LaterStep, SavedSearch};
use super::change::{MarkChange, PendingChange};
use super::downloads::record::{AttachedWanted, Download};
use super::entries::account_state::{FeedSync, FeedSynced};
use super::entries::ahead_work::{PicturedText, TextsWanted};
use super::entries::entry_view::{FullText, LoadedEntry, ReadingPosition};
use super::entries::filter_work::{FilterChanges, FilterCount, FilterWork};
use super::entries::rows::{MarkedEntries, RowsLoaded, RowsWanted};
use super::feeds::subscription::{Commit, FeedState, HistoryCommit, SubscriptionRecord};
use super::other_reader_marks::{Elsewhere, ElsewhereNoted};
use super::poll::poll_log::PollLogEntry;
use backissue_core::filters::EntryFilter;
use backissue_core::history::timeline::MonthCounts;
use backissue_core::history::{Counters, EntryKey, FeedKey, Flag, HistoryRecord, Nodes};
use backissue_core::schedule::learning::{LearnedRecord, Publications};
use backissue_core::search::Matching;
use chrono_tz::Tz;

/// Id of a store job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(pub u64);

/// A job to be sent to the store, with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreWork {
    /// Id of the job, assigned when the engine returns the effect with the job.
    pub id: JobId,
    /// The job.
    pub job: Job,
    /// The change that the job writes. The engine keeps the change and sends `None` to the store.
    pub change: Option<PendingChange>,
    /// Undo steps that are written in the same frame as the job: all of it is durable, or nothing.
    pub beside: Option<Beside>,
    /// Number of failed writes of the feed's history that the engine knew of. If there was another one, the history in this job
    /// contains what could not be written, and the store refuses the job.
    pub failures: u32,
}

/// Undo steps that are written together with a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Beside {
    /// These steps.
    Steps(StepChanges),
    /// The step of the mark that the job sets on a list, or of the filter that it applies. The store knows the entries.
    Later(LaterStep),
}

/// A job for the store. If the documentation of a variant names no answer, the store reports only a failure of the job.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Writes the result of a poll atomically. Answered with [`Answer::Committed`].
    Commit(Box<Commit>),
    /// Atomically writes the changes that an archive, a page or a user's action made to a feed's history. Answered with
    /// [`Answer::HistoryKept`].
    KeepHistory(Box<HistoryCommit>),
    /// Reads the records of a feed's fetched archives after all pending writes. Answered with [`Answer::Nodes`].
    ReadNodes(FeedKey),
    /// Restores withdrawn entries, or withdraws entries that another source than the publisher's document brought. Answered with
    /// [`Answer::Restored`].
    Restore {
        feed: FeedKey,
        /// Numbers of the entries.
        entries: Vec<u32>,
        /// What happens to them.
        showing: Showing,
    },
    /// Writes the state of a feed before a request goes out (SPEC G.20).
    SaveState(FeedKey, Box<FeedState>),
    /// Writes only the time of a feed's last request. Used before a request if nothing else in the feed's state changed.
    SaveTry(FeedKey, DateTime<Utc>),
    /// Writes records of subscriptions atomically. Answered with [`Answer::RecordsSaved`].
    SaveRecords(Vec<(FeedKey, SubscriptionRecord)>),
    /// Merges two feeds: moves the entries of one feed, with their marks, to the other. Answered with [`Answer::Absorbed`].
    Absorb {
        /// The feed that is removed.
        from: FeedKey,
        /// The feed that remains.
        into: FeedKey,
        /// Records of both feeds, written after the entries were moved.
        records: Vec<(FeedKey, SubscriptionRecord)>,
    },
    /// Sets or clears a mark on entries. Answered with [`Answer::Marked`].
    Mark {
        /// Entries to set or clear the mark on.
        entries: MarkedEntries,
        /// The mark.
        flag: Flag,
        /// `true` to set the mark, `false` to clear it.
        value: bool,
    },
    /// Ends the entries that have been unread for longer than these limits, at this time. Answered with [`Answer::UnreadEnded`].
    EndUnread(Vec<UnreadLimit>, DateTime<Utc>),
    /// Makes the oldest entry unread that came from the history of a feed and was not read since. Answered with
    /// [`Answer::Dripped`].
    Drip(FeedKey),
    /// Reads rows of a list. Answered with [`Answer::Rows`].
    ReadRows(RowsWanted),
    /// Reads one entry with its text. Answered with [`Answer::Entry`].
    ReadEntry(EntryKey),
    /// Reads new entries, given by ranges of entry numbers, after all pending writes. Answered with [`Answer::NewEntries`].
    ReadNewEntries(Vec<(FeedKey, Range<u32>)>),
    /// Reads which of a feed's newest entries are unread and have no stored page, among at most this number of entries, after all
    /// pending writes. Answered with [`Answer::WithoutPage`].
    ReadWithoutPage(FeedKey, u32),
    /// Reads texts to find their pictures, after all pending writes. Answered with [`Answer::Texts`].
    ReadTexts(TextsWanted),
    /// Reads entries whose attached files are downloaded, after all pending writes. Answered with [`Answer::Attached`].
    ReadAttached(AttachedWanted),
    /// Writes the list of downloads.
    SaveDownloads(Vec<Download>),
    /// Writes the reading position in an entry. `None` stands for the beginning or the end of the entry.
    SaveReadingPosition(EntryKey, Option<ReadingPosition>),
    /// Writes the text of the page that an entry links to.
    SaveFullText(EntryKey, Box<FullText>),
    /// Reads the log lines of a feed's last polls. Answered with [`Answer::Polls`].
    ReadPolls(FeedKey),
    /// Reads the publication times of a feed. Answered with [`Answer::Publications`].
    ReadPublications(FeedKey),
    /// Counts the entries of a feed by month in a time zone. Answered with [`Answer::MonthsCounted`].
    CountMonths(FeedKey, Tz),
    /// Reads the learned plan of a feed. Answered with [`Answer::Learned`].
    ReadLearned(FeedKey),
    /// Writes the learned plan of a feed.
    SaveLearned(FeedKey, Box<LearnedRecord>),
    /// Counts unread entries. Answered with [`Answer::Counted`].
    Count(Box<CountsWanted>),
    /// Writes the saved searches. Answered with [`Answer::SearchesSaved`].
    SaveSearches(Vec<SavedSearch>),
    /// Writes the filters. Answered with [`Answer::FiltersSaved`].
    SaveFilters(Vec<EntryFilter>),
    /// Applies a filter to entries, or undoes or redoes changes of a filter. Answered with [`Answer::Filtered`].
    Filter {
        /// What is done.
        work: Box<FilterWork>,
        /// All filters from now on, if the change is one of the filters, too.
        list: Option<Vec<EntryFilter>>,
    },
    /// Counts the entries that each filter matches. Answered with [`Answer::FiltersCounted`].
    CountFilters,
    /// Writes the set of tags that are folded in the feed list.
    SaveFolded(BTreeSet<String>),
    /// Writes from which feeds a device asks to unsubscribe.
    SaveHeld(String, Vec<FeedKey>),
    /// Remembers that entries whose texts link to these pages are not the same story.
    KeepApart(BTreeSet<u64>),
    /// Records that the user has seen the report on recovered data.
    NoteMended,
    /// Notes what another reader knew of the entries of a feed. Answered with [`Answer::ElsewhereNoted`].
    NoteElsewhere(FeedKey, DateTime<Utc>, Box<Elsewhere>),
    /// Waits for entries of a feed that an import noted, or stops waiting for them because the import was undone.
    AwaitElsewhere {
        /// The feed.
        feed: FeedKey,
        /// Time of the import.
        since: DateTime<Utc>,
        /// `true` to wait for the entries.
        waits: bool,
    },
    /// Writes what a sync with a server brings for a feed. Answered with [`Answer::Synced`].
    Sync(Box<FeedSync>),
    /// Writes new undo steps and removes dropped ones.
    SaveSteps(StepChanges),
    /// Deletes all data of these feeds, except feeds that are subscribed to again.
    ForgetFeeds(Vec<FeedKey>),
    /// Writes the backup of a day, if there is no backup of this day yet, in parallel with other jobs.
    BackUp(NaiveDate),
}

/// The subject of a job. The result of the job contains the subject, so that the engine can handle a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSubject {
    /// A poll of a feed.
    Poll(FeedKey),
    /// The history of a feed.
    History(FeedKey),
    /// A write of subscription records.
    Records,
    /// Rows of the list with this number.
    Rows(u64),
    /// An entry to show or to pass to a command.
    Entry(EntryKey),
    /// Publication times of a feed.
    Publications(FeedKey),
    /// New entries to notify the user about.
    NewEntries,
    /// Entries whose attached files are downloaded.
    Attached,
    /// A mark on a whole list. The undo step depends on the answer.
    ListMark,
    /// The application of the filter with this number to entries.
    Filter(u32),
    /// A write of a change that is already shown.
    Change,
    /// A write whose result no other work waits for.
    Keeping,
    /// Data to show.
    Display,
}

/// The answer of the store to a job that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The result of a poll is durable.
    Committed {
        /// The feed.
        feed: FeedKey,
        /// Number of entries never seen before.
        new: u32,
        /// Number of entries whose content changed.
        edited: u32,
        /// Numbers of the entries that the publisher withdrew.
        withdrawn: Vec<u32>,
        /// `true` if the feed is known to have changed the ids and addresses of entries.
        moves: bool,
    },
    /// The changes that an archive, a page or a user's action made to a feed's history are durable.
    HistoryKept {
        /// The feed.
        feed: FeedKey,
        /// Number of entries never seen before.
        new: u32,
        /// Number of entries whose content changed.
        edited: u32,
    },
    /// The records of a feed's fetched archives.
    Nodes(FeedKey, Box<Nodes>),
    /// Entries that were unread for too long count as read.
    UnreadEnded {
        /// The entries.
        ended: Vec<EntryKey>,
        /// Number of entries that ended in the last seven days.
        this_week: u32,
    },
    /// An old entry of a feed is unread, or there was none left.
    Dripped(FeedKey, Vec<EntryKey>),
    /// Withdrawn entries of a feed are restored, or entries are withdrawn.
    Restored(FeedKey, Vec<EntryKey>, Showing),
    /// The entries of a feed were moved to another one.
    Absorbed {
        /// The feed that is removed.
        from: FeedKey,
        /// The feed that remains.
        into: FeedKey,
        /// What changed in the feed that remains.
        changes: Box<AbsorbedEntries>,
    },
    /// The subscription records are durable.
    RecordsSaved,
    /// A mark that was set or cleared on entries is durable.
    Marked {
        /// The mark, with the entries that did not have this value before.
        mark: MarkChange,
        /// `true` if the mark was for a whole list.
        whole_list: bool,
        /// The id and the time of the undo step that was written with it.
        step: Option<LaterStep>,
    },
    /// The requested rows of a list.
    Rows(RowsLoaded),
    /// An entry with its text.
    Entry(Box<LoadedEntry>),
    /// New entries with their texts.
    NewEntries(Vec<LoadedEntry>),
    /// Entries whose attached files are downloaded, without their texts.
    Attached(AttachedWanted, Vec<LoadedEntry>),
    /// Unread entries of a feed without a stored page, newest first, with the addresses of their pages.
    WithoutPage(FeedKey, Vec<(EntryKey, String)>),
    /// Texts of a feed's unread entries, newest first.
    Texts(FeedKey, Vec<PicturedText>),
    /// The log lines of a feed's last polls, newest first.
    Polls(FeedKey, Vec<PollLogEntry>),
    /// The publication times of a feed.
    Publications(FeedKey, Arc<Publications>),
    /// Numbers of the entries of a feed by month.
    MonthsCounted(FeedKey, Box<MonthCounts>),
    /// The learned plan of a feed, if there is one.
    Learned(FeedKey, Option<Box<LearnedRecord>>),
    /// Numbers of unread entries.
    Counted(UnreadCounts),
    /// The saved searches are durable.
    SearchesSaved,
    /// What another reader knew of the entries of a feed is durable.
    ElsewhereNoted(FeedKey, Box<ElsewhereNoted>),
    /// What a sync brought for a feed is durable, with the marks that it changed on entries that were there before.
    Synced(FeedKey, FeedSynced, Vec<MarkChange>),
    /// The filters are durable.
    FiltersSaved,
    /// The changes that a filter made to entries are durable, with the id of the undo step that was written with them.
    Filtered(Box<FilterChanges>, Option<ChangeId>),
    /// Counts of the entries that each filter matches, by the number of the filter.
    FiltersCounted(BTreeMap<u32, FilterCount>),
}

/// What a merge changes in the feed that remains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AbsorbedEntries {
    /// Entries that became read.
    pub read: Vec<EntryKey>,
    /// Entries that became starred.
    pub starred: Vec<EntryKey>,
    /// Numbers of the added entries.
    pub added: Vec<u32>,
    /// Filters that now match other entries, or that applied to the removed feed only.
    pub filters: Vec<FilterChanges>,
}

/// Which unread entries to count.
#[derive(Debug, Clone, PartialEq)]
pub struct CountsWanted {
    /// Entries that are listed under a date since this instant.
    pub since: DateTime<Utc>,
    /// Entries in the portion of the day with this number.
    pub day: i32,
    /// Entries that each of these saved searches matches.
    pub searches: Vec<(u32, Matching)>,
}

/// Numbers of unread entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadCounts {
    /// Entries that are listed under a date since the requested instant.
    pub dated: u32,
    /// Entries in the portion of the requested day; 0 before it is chosen.
    pub portion: u32,
    /// Entries that match each saved search, by the number of the search.
    pub found: BTreeMap<u32, u32>,
}

/// What [`Job::Restore`] does with entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Showing {
    /// Shows withdrawn entries again.
    Again,
    /// Hides entries, except those that were in the publisher's current document since.
    HidesUnlisted,
    /// Hides entries that only a copy by another reader supplied.
    HidesCopies,
    /// Hides entries that were added by a merge.
    HidesAbsorbed,
}

impl Answer {
    /// Returns the feed whose entries the job may have added, changed or removed. Returns `None` if no entries changed.
    pub fn changed_feed(&self) -> Option<FeedKey> {
        if let Self::Committed { feed, new, edited, withdrawn, .. } = self {
            let changed = *new > 0 || *edited > 0 || !withdrawn.is_empty();
            return changed.then_some(*feed);
        }
        let (Self::HistoryKept { feed, .. }
        | Self::Restored(feed, ..)
        | Self::ElsewhereNoted(feed, _)
        | Self::Synced(feed, ..)
        | Self::Absorbed { into: feed, .. }) = self
        else {
            return None;
        };
        Some(*feed)
    }
}

/// Reason that a job failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreFailure {
    /// Error message.
    pub text: String,
    /// `true` if nothing can be written for now, because the disk is full or the data folder is gone. The data in the store is valid.
    pub no_room: bool,
    /// Number of failed writes of the feed's history that the store knows of, for [`StoreWork::failures`].
    pub failures: u32,
}

impl From<&str> for StoreFailure {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// The result of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Id of the job.
    pub id: JobId,
    /// Subject of the job.
    pub subject: JobSubject,
    /// Counters of the feeds whose counters the job changed, after the change. Empty if it failed.
    pub counters: Vec<(FeedKey, Counters)>,
    /// The answer to the job, or the reason that the job failed.
    pub result: Result<Answer, StoreFailure>,
}

/// How long the entries of a feed stay unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadLimit {
    pub feed: FeedKey,
    /// Longest time that an entry stays unread here, in minutes.
    pub minutes: u32,
    /// Whether the entries count as read by the user, so that the account of the feed sends it.
    pub is_sent: bool,
}

impl JobSubject {
    /// Returns the feed whose history the job writes or reads.
    pub const fn history(self) -> Option<FeedKey> {
        if let Self::Poll(feed) | Self::History(feed) = self { Some(feed) } else { None }
    }

    /// Checks whether data is lost if a job with this subject fails.
    pub const fn is_kept(self) -> bool {
        let is_write =
            matches!(self, Self::Records | Self::ListMark | Self::Change | Self::Keeping);
        is_write || matches!(self, Self::Poll(_) | Self::History(_) | Self::Filter(_))
    }
}

/// When the store does a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// At once, because it only reads and need not wait for pending writes. If a feed is given, it needs the earlier changes of only
    /// this feed.
    Read(Option<FeedKey>),
    /// After all pending writes, although it only reads.
    LateRead,
    /// At once, because its write is too small to sync the disk for. The feed is as for a read.
    SmallWrite(Option<FeedKey>),
    /// In turn. It may be written together with polls of other feeds.
    PollWrite(FeedKey),
    /// In turn.
    Write,
}

/// What is to be known of a job besides its work.
pub struct JobTraits<'a> {
    /// The subject of the job.
    pub subject: JobSubject,
    /// When the store does it.
    pub turn: Turn,
    /// The feeds whose commands wait until it is done; a feed may occur several times.
    pub awaited: Box<dyn Iterator<Item = FeedKey> + 'a>,
}

impl<'a> JobTraits<'a> {
    fn new(subject: JobSubject, turn: Turn) -> Self {
        Self { subject, turn, awaited: Box::new(std::iter::empty()) }
    }

    fn awaited(self, feeds: impl IntoIterator<Item = FeedKey, IntoIter: 'a>) -> Self {
        Self { awaited: Box::new(feeds.into_iter()), ..self }
    }
}

impl Job {
    /// Returns the history that the job writes.
    pub const fn history(&self) -> Option<&Arc<HistoryRecord>> {
        if let Self::KeepHistory(commit) = self {
            return Some(&commit.record);
        }
        if let Self::Commit(commit) = self { commit.history.as_ref() } else { None }
    }

    /// Returns the feed of the entry whose page the job saves, which has more words to find then.
    pub const fn paged_feed(&self) -> Option<FeedKey> {
        if let Self::SaveFullText(key, _) = self { Some(key.feed) } else { None }
    }

    /// Checks whether the job only reads from the store.
    pub fn only_reads(&self) -> bool {
        matches!(self.traits().turn, Turn::Read(_) | Turn::LateRead)
    }

    /// Checks whether the job runs at once, before pending writes.
    pub fn is_read(&self) -> bool {
        matches!(self.traits().turn, Turn::Read(_) | Turn::SmallWrite(_))
    }

    /// Returns the subject of the job.
    pub fn subject(&self) -> JobSubject {
        self.traits().subject
    }

    /// Returns what is to be known of the job besides its work.
    pub fn traits(&self) -> JobTraits<'_> {
        use JobSubject::{
            Attached, Change, Display, Entry, Filter, History, Keeping, ListMark, NewEntries, Poll,
            Publications, Records, Rows,
        };
        use Turn::{LateRead, PollWrite, Read, SmallWrite, Write};
        let of = JobTraits::new;
        match self {
            Self::Commit(commit) => {
                // A changed subscription also changes what is kept in memory, so it is written on its own.
                let is_alone = commit.record.is_some();
                let turn = if is_alone { Write } else { PollWrite(commit.feed) };
                of(Poll(commit.feed), turn).awaited([commit.feed])
            }
            Self::SaveTry(feed, _) | Self::SaveState(feed, _) => of(Keeping, PollWrite(*feed)),
            Self::KeepHistory(commit) => of(History(commit.feed), Write).awaited([commit.feed]),
            Self::ReadNodes(feed) => of(History(*feed), LateRead),
            Self::SaveRecords(records) => {
                of(Records, Write).awaited(records.iter().map(|(feed, _)| *feed))
            }
            Self::Absorb { from, into, .. } => of(Records, Write).awaited([*from, *into]),
            Self::Mark { entries: MarkedEntries::These(keys), .. } => {
                of(Change, Write).awaited(keys.iter().map(|key| key.feed))
            }
            Self::Mark { entries: MarkedEntries::Listed(keys), .. } => {
                of(ListMark, Write).awaited(keys.iter().map(|key| key.feed))
            }
            Self::Mark {
                entries: MarkedEntries::ListNumber(..) | MarkedEntries::Unread(_),
                ..
            } => of(ListMark, Write),
            Self::Restore { feed, .. } => of(Change, Write).awaited([*feed]),
            Self::SaveFilters(_) | Self::SaveSearches(_) => of(Change, Write),
            Self::Filter { work, .. } => of(Filter(work.filter()), Write),
            Self::NoteElsewhere(feed, ..) => of(ListMark, Write).awaited([*feed]),
            Self::AwaitElsewhere { feed, .. } => of(Keeping, Write).awaited([*feed]),
            Self::Sync(sync) => of(Keeping, Write).awaited([sync.feed]),
            Self::EndUnread(..)
            | Self::Drip(_)
            | Self::SaveFolded(_)
            | Self::SaveHeld(..)
            | Self::KeepApart(_)
            | Self::SaveDownloads(_)
            | Self::NoteMended
            | Self::SaveSteps(_)
            | Self::ForgetFeeds(_) => of(Keeping, Write),
            Self::BackUp(_) => of(Display, Write),
            Self::SaveLearned(feed, _) => of(Keeping, SmallWrite(Some(*feed))),
            Self::SaveReadingPosition(..) | Self::SaveFullText(..) => of(Keeping, SmallWrite(None)),
            Self::ReadRows(wanted) => of(Rows(wanted.list), Read(None)),
            Self::ReadEntry(key) => of(Entry(*key), Read(None)),
            Self::ReadPublications(feed) => of(Publications(*feed), Read(Some(*feed))),
            Self::ReadPolls(feed) | Self::ReadLearned(feed) => of(Display, Read(Some(*feed))),
            Self::CountMonths(..) | Self::Count(_) | Self::CountFilters => of(Display, Read(None)),
            Self::ReadNewEntries(_) => of(NewEntries, LateRead),
            // These lead to downloads, and to requests for pages and pictures, for which commands wait.
            Self::ReadAttached(wanted) => of(Attached, LateRead).awaited(wanted.feeds()),
            Self::ReadWithoutPage(feed, _) | Self::ReadTexts(TextsWanted { feed, .. }) => {
                of(Display, LateRead).awaited([*feed])
            }
        }
    }
}
