//! The keeper: the one thread that owns the store.
//!
//! Work is handed to it and answered through the program's one channel, so that nothing waits for the disk.
//! Reads go before writes. Writes that wait together share one flush and one sync (a group commit), and are
//! reported only after it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::open::{Store, StoreError};
use crate::app::listing::{ListQuery, RowsWanted};
use crate::app::msg::{LoadedEntry, Msg};
use crate::app::subscription::{Commit, FeedState, SubscriptionRecord};
use crate::history::{EntryKey, FeedKey, Flag};

/// Writes that share one flush at most.
const GROUP_WRITES_MAX: usize = 64;

/// Work for the keeper.
#[derive(Debug)]
pub enum Job {
    /// What a poll changed; answered by [`Msg::Committed`].
    Commit(Box<Commit>),
    /// The state of a feed before a request goes out; not answered.
    SaveState(FeedKey, Box<FeedState>),
    /// The lasting part of subscriptions; answered by [`Msg::RecordsSaved`].
    SaveRecords(Vec<(FeedKey, SubscriptionRecord)>),
    /// Marks on entries; answered by [`Msg::Marked`].
    Mark { keys: Vec<EntryKey>, flag: Flag, value: bool, undoes: bool },
    /// A mark on all entries of a list; answered by [`Msg::Marked`].
    MarkList { query: ListQuery, flag: Flag, value: bool },
    /// Rows of the open list; answered by [`Msg::RowsLoaded`].
    Rows(RowsWanted),
    /// One entry with its text; answered by [`Msg::EntryLoaded`].
    Entry(EntryKey),
    /// Unread entries since an instant; answered by [`Msg::TodayCounted`].
    CountToday(DateTime<Utc>),
    /// Finish what was handed in and stop.
    Stop,
}

impl Job {
    const fn is_read(&self) -> bool {
        matches!(self, Self::Rows(_) | Self::Entry(_) | Self::CountToday(_))
    }
}

/// The handle by which the loop hands work to the keeper.
#[derive(Debug)]
pub struct Keeper {
    jobs: UnboundedSender<Job>,
    thread: Option<JoinHandle<Store>>,
}

impl Keeper {
    /// Gives the store to its thread; answers go to `answers`.
    pub fn start(store: Store, answers: UnboundedSender<Msg>) -> std::io::Result<Self> {
        let (jobs, work) = unbounded_channel();
        let thread = std::thread::Builder::new()
            .name("keeper".into())
            .spawn(move || keep(store, work, &answers))?;
        Ok(Self { jobs, thread: Some(thread) })
    }

    /// Hands in work. After [`Self::stop`] it is dropped.
    pub fn hand(&self, job: Job) {
        // The keeper ends only when told to, after all work; what comes later has no reader.
        self.jobs.send(job).ok();
    }

    /// Finishes all work and gives the store back; `None` if the thread died.
    pub fn stop(mut self) -> Option<Store> {
        self.hand(Job::Stop);
        self.thread.take()?.join().ok()
    }
}

fn keep(
    mut store: Store,
    mut work: UnboundedReceiver<Job>,
    answers: &UnboundedSender<Msg>,
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
            while let Ok(job) = work.try_recv() {
                if matches!(job, Job::Stop) {
                    stopping = true;
                } else {
                    sort_in(job, &mut store, &mut writes, answers);
                }
            }
            let Some(job) = writes.pop_front() else { break };
            done.push(guarded(&mut store, job));
        }
        if done.is_empty() {
            continue;
        }
        let synced = store.sync();
        for answer in done.into_iter().flatten() {
            let answer = match (&synced, &answer) {
                (Ok(()), _) => answer,
                (Err(error), Msg::Committed { feed, .. }) => failure(Some(*feed), error),
                (Err(error), _) => failure(None, error),
            };
            answers.send(answer).ok();
        }
    }
    store
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

/// Does one piece of work. sled panics on some damages; that must not take the thread with it.
fn guarded(store: &mut Store, job: Job) -> Option<Msg> {
    let feed = if let Job::Commit(commit) = &job { Some(commit.feed) } else { None };
    let done = catch_unwind(AssertUnwindSafe(|| perform(store, job)));
    let error = match done {
        Ok(Ok(answer)) => return answer,
        Ok(Err(error)) => error,
        Err(_) => StoreError::Failed("its files are damaged".into()),
    };
    Some(failure(feed, &error))
}

/// How a failure is told: the poll it belongs to must not wait for its answer for ever.
fn failure(feed: Option<FeedKey>, error: &StoreError) -> Msg {
    let why = error.to_string();
    match feed {
        Some(feed) => Msg::CommitFailed { feed, why },
        None => Msg::StoreFailed(why),
    }
}

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
            })
        }
        Job::SaveState(feed, state) => {
            store.save_state(feed, &state)?;
            None
        }
        Job::SaveRecords(records) => {
            store.save_records(&records)?;
            Some(Msg::RecordsSaved)
        }
        Job::Mark { keys, flag, value, undoes } => {
            let marked = store.mark(&keys, flag, value)?;
            Some(Msg::Marked { flag, value, undoes, whole_list: false, marked })
        }
        Job::MarkList { query, flag, value } => {
            let keys = store.ordered(&query)?;
            let marked = store.mark(&keys, flag, value)?;
            Some(Msg::Marked { flag, value, undoes: false, whole_list: true, marked })
        }
        Job::Rows(wanted) => Some(Msg::RowsLoaded(store.rows_wanted(&wanted)?)),
        Job::Entry(key) => {
            let found = store.entry(key)?;
            let body = store.body(key)?;
            let loaded = found.map(|(kept, flags)| LoadedEntry { key, kept, flags, body });
            loaded.map(|loaded| Msg::EntryLoaded(Box::new(loaded)))
        }
        Job::CountToday(since) => Some(Msg::TodayCounted(store.unread_since(since)?)),
        Job::Stop => None,
    })
}
