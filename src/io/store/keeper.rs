//! The keeper: the one thread that owns the store.
//!
//! Work is handed to it and answered through the program's one channel, so that nothing waits for the disk.
//! Reads go before writes. Writes that wait together share one flush and one sync (a group commit), and are
//! reported only after it.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::open::{Store, StoreError};
use crate::app::command_line::CommandLine;
use crate::app::full_text::FullText;
use crate::app::listing::RowsWanted;
use crate::app::msg::{HistoryNews, LoadedEntry, Msg};
use crate::app::placing::TextPlace;
use crate::app::ruling::RuleWish;
use crate::app::saving::SavedSearch;
use crate::app::subscription::{Commit, FeedState, HistoryCommit, SubscriptionRecord};
use crate::filters::EntryRule;
use crate::history::{EntryKey, FeedKey, Flag, Merged};
use crate::io::search::Indexer;
use crate::search::Matching;

/// Writes that share one flush at most.
const GROUP_WRITES_MAX: usize = 64;

/// Said when the thread is gone.
const DEAD: &str = "the store stopped working; what was done since it was saved last may be lost: run 'backissue doctor'";

/// Work for the keeper.
#[derive(Debug)]
pub enum Job {
    /// One feed goes on as another; answered by [`Msg::Absorbed`].
    Absorb { from: FeedKey, into: FeedKey },
    /// What a poll changed; answered by [`Msg::Committed`].
    Commit(Box<Commit>),
    /// What an archive, a page or a wish changed of a history; answered by [`HistoryNews::Kept`].
    KeepHistory(Box<HistoryCommit>),
    /// The archives of a feed, behind all writes; answered by [`HistoryNews::Nodes`].
    Nodes(FeedKey),
    /// Withdrawn entries are brought back; answered by [`HistoryNews::Restored`].
    Restore(FeedKey, Vec<u32>),
    /// The state of a feed before a request goes out; not answered.
    SaveState(FeedKey, Box<FeedState>),
    /// When a feed was tried last.
    SaveTry(FeedKey, DateTime<Utc>),
    /// The lasting part of subscriptions; answered by [`Msg::RecordsSaved`].
    SaveRecords(Vec<(FeedKey, SubscriptionRecord)>),
    /// Marks on entries; answered by [`Msg::Marked`].
    Mark { keys: Vec<EntryKey>, flag: Flag, value: bool },
    /// A mark on all entries of the open list, by its number; answered by [`Msg::Marked`].
    MarkList { list: u64, flag: Flag, value: bool },
    /// Rows of the open list; answered by [`Msg::RowsLoaded`].
    Rows(RowsWanted),
    /// One entry with its text; answered by [`Msg::EntryLoaded`].
    Entry(EntryKey),
    /// Where the reader left an entry.
    SavePlace(EntryKey, Option<TextPlace>),
    /// The page that an entry links to.
    SaveFullText(EntryKey, Box<FullText>),
    /// An entry for a command; answered by [`Msg::PipeRead`].
    ForPipe(EntryKey, CommandLine),
    /// New entries, behind all writes; answered by [`Msg::NewsRead`].
    News(Vec<(FeedKey, Range<u32>)>),
    /// The last polls of a feed; answered by [`Msg::PollsLoaded`].
    Polls(FeedKey),
    /// When a feed published; answered by [`Msg::PublicationsLoaded`].
    Publications(FeedKey),
    /// Unread entries since an instant; answered by [`Msg::TodayCounted`].
    CountToday(DateTime<Utc>),
    /// The searches that are saved.
    SaveSearches(Vec<SavedSearch>),
    /// How many unread entries searches find; answered by [`Msg::FoundCounted`].
    CountFound(Vec<(u32, Matching)>),
    /// The reader's rules; answered by [`Msg::RulesSaved`].
    SaveRules(Vec<EntryRule>),
    /// What is to be done with the entries of a rule; answered by [`Msg::Ruled`].
    Rule(Box<RuleWish>),
    /// Which tags are folded.
    SaveFolded(std::collections::BTreeSet<String>),
    /// What the rules hit; answered by [`Msg::RuledCounted`].
    CountRuled,
    /// Finish what was handed in and stop.
    Stop,
}

impl Job {
    /// Whether it is done at once: what reads, and what is too small a thing to sync the disk for.
    const fn is_read(&self) -> bool {
        matches!(
            self,
            Self::Rows(_)
                | Self::Entry(_)
                | Self::Polls(_)
                | Self::Publications(_)
                | Self::SavePlace(..)
                | Self::SaveFullText(..)
                | Self::ForPipe(..)
                | Self::CountToday(_)
                | Self::CountFound(_)
                | Self::CountRuled
        )
    }
}

/// The handle by which the loop hands work to the keeper.
#[derive(Debug)]
pub struct Keeper {
    jobs: UnboundedSender<Job>,
    answers: UnboundedSender<Msg>,
    thread: Option<JoinHandle<Store>>,
}

impl Keeper {
    /// Gives the store to its thread; answers go to `answers`.
    pub fn start(store: Store, answers: UnboundedSender<Msg>) -> std::io::Result<Self> {
        let (jobs, work) = unbounded_channel();
        let told = answers.clone();
        let (data, shelf) = (store.data.clone(), store.shelf.clone());
        let indexer = Indexer::start(data, shelf, store.texts(), answers.clone())?;
        let keeping = move || {
            let store = keep(store, work, &told, &indexer);
            indexer.stop();
            store
        };
        let thread = std::thread::Builder::new().name("keeper".into()).spawn(keeping)?;
        Ok(Self { jobs, answers, thread: Some(thread) })
    }

    /// Hands in work.
    pub fn hand(&self, job: Job) {
        if self.jobs.send(job).is_err() {
            // The thread ends only when told to; if it is gone nothing can be kept any more.
            self.answers.send(Msg::Trouble(DEAD.into())).ok();
            self.answers.send(Msg::Stop).ok();
        }
    }

    /// Finishes all work; an error if the thread died.
    pub fn stop(mut self) -> Result<(), String> {
        self.hand(Job::Stop);
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(_)) => Ok(()),
            Some(Err(_)) | None => Err(DEAD.into()),
        }
    }
}

fn keep(
    mut store: Store,
    mut work: UnboundedReceiver<Job>,
    answers: &UnboundedSender<Msg>,
    indexer: &Indexer,
) -> Store {
    let mut writes: std::collections::VecDeque<Job> = std::collections::VecDeque::new();
    let mut stopping = false;
    while !stopping || !writes.is_empty() {
        if writes.is_empty() {
            match work.blocking_recv() {
                None | Some(Job::Stop) => stopping = true,
                Some(job) => sort_in(job, &mut store, &mut writes, answers),
            }
        }
        let mut done = Vec::new();
        for _ in 0..GROUP_WRITES_MAX {
            let mut waiting: Vec<Job> = std::iter::from_fn(|| work.try_recv().ok()).collect();
            drop_left(&mut waiting);
            for job in waiting {
                if matches!(job, Job::Stop) {
                    stopping = true;
                } else {
                    sort_in(job, &mut store, &mut writes, answers);
                }
            }
            let Some(job) = writes.pop_front() else { break };
            let concerns = Concerns::of(&job);
            done.push((concerns, guarded(&mut store, job)));
        }
        if done.is_empty() {
            continue;
        }
        let synced = unpanicked(&mut store, Store::sync);
        for (concerns, answer) in done {
            let answer = match &synced {
                Ok(()) => answer,
                Err(error) => Some(concerns.told(error)),
            };
            if let Some(answer) = answer {
                if let Some(feed) = touched(&answer) {
                    indexer.changed(feed);
                }
                answers.send(answer).ok();
            }
        }
    }
    store
}

/// The feed of which entries came, changed or went.
fn touched(answer: &Msg) -> Option<FeedKey> {
    if let Msg::Committed { feed, new, edited, withdrawn, .. } = answer {
        let changed = *new > 0 || *edited > 0 || !withdrawn.is_empty();
        return changed.then_some(*feed);
    }
    let (Msg::History(feed, HistoryNews::Kept { .. } | HistoryNews::Restored(_))
    | Msg::Absorbed { into: feed, .. }) = answer
    else {
        return None;
    };
    Some(*feed)
}

/// Rows of lists that were left while they waited are not read: who types a search leaves one with each key.
fn drop_left(waiting: &mut Vec<Job>) {
    let number = |job: &Job| if let Job::Rows(wanted) = job { Some(wanted.list) } else { None };
    let newest = waiting.iter().filter_map(number).max();
    waiting.retain(|job| number(job).is_none() || number(job) == newest);
}

/// Answers a read at once and queues a write.
fn sort_in(
    job: Job,
    store: &mut Store,
    writes: &mut std::collections::VecDeque<Job>,
    answers: &UnboundedSender<Msg>,
) {
    if job.is_read() {
        if let Some(answer) = guarded(store, job) {
            answers.send(answer).ok();
        }
    } else {
        writes.push_back(job);
    }
}

/// Whose failure it is to be told as.
#[derive(Debug, Clone, Copy)]
enum Concerns {
    Poll(FeedKey),
    History(FeedKey),
    Records,
    Rows(u64),
    Entry(EntryKey),
    Rhythm(FeedKey),
    News,
    Nobody,
}

impl Concerns {
    const fn of(job: &Job) -> Self {
        match job {
            Job::Commit(commit) => Self::Poll(commit.feed),
            Job::KeepHistory(commit) => Self::History(commit.feed),
            Job::Nodes(feed) => Self::History(*feed),
            Job::SaveRecords(_) => Self::Records,
            Job::Rows(wanted) => Self::Rows(wanted.list),
            Job::Entry(key) => Self::Entry(*key),
            Job::Publications(feed) => Self::Rhythm(*feed),
            Job::News(_) => Self::News,
            Job::SaveState(..)
            | Job::SaveTry(..)
            | Job::Absorb { .. }
            | Job::Restore(..)
            | Job::Mark { .. }
            | Job::MarkList { .. }
            | Job::Polls(_)
            | Job::CountToday(_)
            | Job::SavePlace(..)
            | Job::SaveFullText(..)
            | Job::ForPipe(..)
            | Job::SaveSearches(_)
            | Job::CountFound(_)
            | Job::SaveRules(_)
            | Job::Rule(_)
            | Job::SaveFolded(_)
            | Job::CountRuled
            | Job::Stop => Self::Nobody,
        }
    }

    /// How a failure is told: whoever waits for an answer must not wait for ever.
    fn told(self, error: &StoreError) -> Msg {
        let why = error.to_string();
        match self {
            Self::Poll(feed) => Msg::CommitFailed { feed, why },
            Self::History(feed) => Msg::History(feed, HistoryNews::Failed(why)),
            Self::Records => Msg::RecordsNotSaved(why),
            Self::Rows(list) => Msg::RowsFailed(list, why),
            Self::Entry(key) => Msg::EntryFailed(key, why),
            // Nothing is lost but what could be learned.
            Self::Rhythm(feed) => Msg::PublicationsLoaded(feed, None),
            Self::News => Msg::NewsRead(Vec::new()),
            Self::Nobody => Msg::StoreFailed(why),
        }
    }
}

/// Does one piece of work. sled panics on some damages; that must not take the thread with it.
fn guarded(store: &mut Store, job: Job) -> Option<Msg> {
    let concerns = Concerns::of(&job);
    match unpanicked(store, |store| perform(store, job)) {
        Ok(answer) => answer,
        Err(error) => Some(concerns.told(&error)),
    }
}

/// Turns a panic of sled into an error. What is remembered of the files may be wrong then, and is forgotten.
fn unpanicked<T>(
    store: &mut Store,
    work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(|| work(store))).unwrap_or_else(|_| {
        store.rows.clear();
        Err(StoreError::Failed("its files are damaged".into()))
    })
}

#[expect(clippy::too_many_lines, reason = "a table: an arm for each kind of work")]
fn perform(store: &mut Store, job: Job) -> Result<Option<Msg>, StoreError> {
    Ok(match job {
        Job::Commit(commit) => {
            let feed = commit.feed;
            let merged = store.commit(&commit)?;
            Some(Msg::Committed {
                feed,
                counters: merged.counters,
                new: merged.new,
                edited: merged.edited,
                known: merged.known,
                withdrawn: merged.withdrawn,
            })
        }
        Job::SaveTry(feed, at) => {
            store.save_try(feed, at)?;
            None
        }
        Job::KeepHistory(commit) => {
            let feed = commit.feed;
            let Merged { counters, new, edited, .. } = store.keep_history(&commit)?;
            Some(Msg::History(feed, HistoryNews::Kept { counters, new, edited }))
        }
        Job::Nodes(feed) => {
            Some(Msg::History(feed, HistoryNews::Nodes(Box::new(store.nodes(feed)?))))
        }
        Job::Restore(feed, withdrawn) => {
            let marked = store.restore(feed, &withdrawn)?;
            Some(Msg::History(feed, HistoryNews::Restored(marked)))
        }
        Job::SaveState(feed, state) => {
            store.save_state(feed, &state)?;
            None
        }
        Job::SaveRecords(records) => {
            store.save_records(&records)?;
            Some(Msg::RecordsSaved)
        }
        Job::Absorb { from, into } => {
            let counters = store.absorb(from, into)?;
            Some(Msg::Absorbed { into, counters })
        }
        Job::Mark { keys, flag, value } => {
            let marked = store.mark(&keys, flag, value)?;
            Some(Msg::Marked { flag, value, whole_list: false, marked })
        }
        Job::MarkList { list, flag, value } => {
            let keys = store.listed(list);
            let marked = store.mark(&keys, flag, value)?;
            Some(Msg::Marked { flag, value, whole_list: true, marked })
        }
        Job::Rows(wanted) => Some(Msg::RowsLoaded(store.rows_wanted(&wanted)?)),
        Job::Entry(key) => Some(match entry(store, key)? {
            Ok(entry) => Msg::EntryLoaded(Box::new(entry)),
            Err(why) => Msg::EntryFailed(key, why),
        }),
        Job::Polls(feed) => Some(Msg::PollsLoaded(feed, store.poll_log(feed)?)),
        Job::Publications(feed) => {
            let publications = Some(std::sync::Arc::new(store.publications(feed)?));
            Some(Msg::PublicationsLoaded(feed, publications))
        }
        Job::CountToday(since) => Some(Msg::TodayCounted(store.unread_since(since)?)),
        Job::SaveSearches(searches) => {
            store.save_searches(&searches)?;
            None
        }
        Job::ForPipe(key, command) => Some(match entry(store, key)? {
            Ok(entry) => Msg::PipeRead(Box::new(entry), command),
            Err(why) => Msg::EntryFailed(key, why),
        }),
        Job::News(ranges) => Some(Msg::NewsRead(store.news(&ranges)?)),
        Job::SaveFullText(key, full) => {
            store.save_full_text(key, &full)?;
            None
        }
        Job::SavePlace(key, place) => {
            store.save_place(key, place)?;
            None
        }
        Job::CountFound(wanted) => Some(Msg::FoundCounted(store.count_found(&wanted)?)),
        Job::SaveRules(rules) => {
            store.save_rules(&rules)?;
            Some(Msg::RulesSaved)
        }
        Job::Rule(wish) => Some(Msg::Ruled(Box::new(store.rule(&wish)?))),
        Job::SaveFolded(folded) => {
            store.save_folded(&folded)?;
            None
        }
        Job::CountRuled => Some(Msg::RuledCounted(store.count_ruled()?)),
        Job::Stop => None,
    })
}

/// An entry with its text, or why there is none.
fn entry(store: &mut Store, key: EntryKey) -> Result<Result<LoadedEntry, String>, StoreError> {
    let (found, body) = (store.entry(key)?, store.body(key)?);
    let Some((kept, flags)) = found else {
        return Ok(Err(format!("the record of entry {key} is lost; run 'backissue doctor'")));
    };
    let place = store.place(key)?;
    let full = store.full_text(key)?;
    let ruled = store.ruled_by(key);
    Ok(Ok(LoadedEntry { key, kept, flags, body, place, full, ruled }))
}
