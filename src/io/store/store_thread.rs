//! The keeper: the one thread that owns the store.
//!
//! Work is handed to it and answered through the program's one channel, so that nothing waits for the disk.
//! Reads go before writes. Writes that wait together share one flush and one sync (a group commit), and are
//! reported only after it; meanwhile reads are answered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use chrono::NaiveDate;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::error::StoreError;
use super::error::catch_sled_panic;
use super::handle::Store;
use super::jobs::Concerns;
use super::jobs::Job;
use super::jobs::perform;
use super::upkeep::daily_backup;
use crate::engine::msg::HistoryNews;
use crate::engine::msg::Msg;
use crate::history::FeedKey;
use crate::io::search::Indexer;

/// Writes that share one flush at most.
const GROUP_WRITES_MAX: usize = 64;

/// Said when the thread is gone.
const DEAD: &str = "the store stopped working; what was done since it was saved last may be lost: run 'backissue doctor'";

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
        let (data, shelf) = (store.data.clone(), store.search_index.clone());
        let indexer = Indexer::start(data, shelf, store.texts(), answers.clone())?;
        // Weak, so that the keeper ends when nobody is left who hands in work.
        let handed = jobs.downgrade();
        let (orders, syncing) = store.syncer.start(move |synced| {
            if let Some(jobs) = handed.upgrade() {
                jobs.send(Job::Synced(synced)).ok();
            }
        })?;
        let keeping = move || {
            let store = keep(Keeping::new(store, &told, &indexer), work, &orders);
            drop(orders);
            // The files are this thread's alone from here on.
            syncing.join().ok();
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

    /// Finishes all work and gives the store back; an error if the thread died.
    pub fn stop(mut self) -> Result<Store, String> {
        self.hand(Job::Stop);
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended.ok_or_else(|| DEAD.into())
    }
}

/// The thread's work in progress.
struct Keeping<'a> {
    store: Store,
    answers: &'a UnboundedSender<Msg>,
    indexer: &'a Indexer,
    writes: VecDeque<Job>,
    /// What was written and is being synced, with its answers.
    unsynced: Option<Vec<(Concerns, Option<Msg>)>>,
    stopping: bool,
    backup: Option<BackingUp>,
}

/// A backup being written on a thread of its own.
struct BackingUp {
    left: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl BackingUp {
    /// Leaves it, so that nobody else has the files open.
    fn leave(self) {
        self.left.store(true, Ordering::Relaxed);
        self.thread.join().ok();
    }
}

/// Works until told to stop. Reads are answered while a sync is under way; writes wait for it.
fn keep(mut keeping: Keeping<'_>, mut work: UnboundedReceiver<Job>, orders: &Sender<()>) -> Store {
    loop {
        let idle = keeping.unsynced.is_none();
        if idle && keeping.writes.is_empty() && keeping.stopping {
            return keeping.ended();
        }
        if !idle || keeping.writes.is_empty() {
            match work.blocking_recv() {
                Some(job) => keeping.take(job),
                None => return keeping.left(),
            }
        }
        keeping.take_waiting(&mut work);
        if keeping.unsynced.is_none() {
            keeping.write(&mut work, orders);
        }
    }
}

impl<'a> Keeping<'a> {
    fn new(store: Store, answers: &'a UnboundedSender<Msg>, indexer: &'a Indexer) -> Self {
        let writes = VecDeque::new();
        Self { store, answers, indexer, writes, unsynced: None, stopping: false, backup: None }
    }

    /// Writes the backup of a day, if there is none. What cannot be written is told and tried again on the next day.
    fn back_up(&mut self, today: NaiveDate) {
        let data = self.store.data.clone();
        let under_way = self.backup.as_ref().is_some_and(|backup| !backup.thread.is_finished());
        if under_way || !daily_backup::backup_is_due(&data, today) {
            return;
        }
        let left = Arc::new(AtomicBool::new(false));
        let (source, answers, leaves) =
            (self.store.backup_source(), self.answers.clone(), left.clone());
        let writing = move || {
            let goes_on = || !leaves.load(Ordering::Relaxed);
            let written = catch_sled_panic(|| daily_backup::write(&source, &data, today, &goes_on));
            if let (Err(error), true) = (written, goes_on()) {
                answers.send(no_backup(&error)).ok();
            }
        };
        let thread = std::thread::Builder::new().name("backup".into()).spawn(writing);
        match thread {
            Ok(thread) => self.backup = Some(BackingUp { left, thread }),
            Err(error) => {
                self.answers.send(no_backup(&error)).ok();
            }
        }
    }

    /// Answers a read at once and queues a write.
    fn take(&mut self, job: Job) {
        if let Job::Synced(synced) = job {
            self.report(&synced);
        } else if let Job::BackUp(today) = job {
            self.back_up(today);
        } else if matches!(job, Job::Stop) {
            self.stopping = true;
        } else if let Job::MarkList { list, flag, value } = job {
            // Another list may be open by the time it is written.
            let keys = self.store.listed(list);
            self.writes.push_back(Job::MarkListed { keys, flag, value });
        } else if !job.is_read() {
            self.writes.push_back(job);
        } else if let Some(answer) = guarded(&mut self.store, job) {
            self.answers.send(answer).ok();
        }
    }

    fn take_waiting(&mut self, work: &mut UnboundedReceiver<Job>) {
        let mut waiting: Vec<Job> = std::iter::from_fn(|| work.try_recv().ok()).collect();
        drop_left(&mut waiting);
        for job in waiting {
            self.take(job);
        }
    }

    /// Does the writes that wait together and orders one sync for them.
    fn write(&mut self, work: &mut UnboundedReceiver<Job>, orders: &Sender<()>) {
        let mut done = Vec::new();
        for _ in 0..GROUP_WRITES_MAX {
            let Some(job) = self.writes.pop_front() else { break };
            done.push((Concerns::of(&job), guarded(&mut self.store, job)));
            self.take_waiting(work);
        }
        if done.is_empty() {
            return;
        }
        self.unsynced = Some(done);
        if orders.send(()).is_err() {
            let synced = on_damaged_files(&mut self.store, Store::sync);
            self.report(&synced);
        }
    }

    /// What was written is reported once it is durable.
    fn report(&mut self, synced: &Result<(), StoreError>) {
        for (concerns, answer) in self.unsynced.take().unwrap_or_default() {
            let answer = match synced {
                Ok(()) => answer,
                Err(error) => Some(concerns.told(error)),
            };
            if let Some(answer) = answer {
                if let Some(feed) = touched(&answer) {
                    self.indexer.changed(feed);
                }
                self.answers.send(answer).ok();
            }
        }
    }

    /// Nobody hands in work any more, nor waits for answers: what was handed in is done.
    fn left(mut self) -> Store {
        while let Some(job) = self.writes.pop_front() {
            guarded(&mut self.store, job);
        }
        on_damaged_files(&mut self.store, Store::sync).ok();
        self.ended()
    }

    fn ended(self) -> Store {
        if let Some(backup) = self.backup {
            backup.leave();
        }
        self.store
    }
}

fn no_backup(why: &impl std::fmt::Display) -> Msg {
    Msg::Trouble(format!("no backup was made today: {why}"))
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

/// Does one piece of work.
fn guarded(store: &mut Store, job: Job) -> Option<Msg> {
    let concerns = Concerns::of(&job);
    match on_damaged_files(store, |store| perform(store, job)) {
        Ok(answer) => answer,
        Err(error) => Some(concerns.told(&error)),
    }
}

/// Does work that may find the files damaged: what is remembered of them may be wrong then, and is forgotten.
fn on_damaged_files<T>(
    store: &mut Store,
    work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let done = catch_sled_panic(|| work(store));
    if let Err(StoreError::Corrupted(_)) = done {
        store.rows.clear();
        store.shown.clear();
    }
    done
}

#[cfg(test)]
mod tests {
    use crate::io::store::store_thread::*;

    #[test]
    fn the_store_is_nobody_elses_when_the_keeper_gives_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let (answers, _heard) = unbounded_channel();
        let keeper = Keeper::start(Store::open(folder.path()).unwrap(), answers).unwrap();
        keeper.hand(Job::SaveSearches(Vec::new()));
        let store = keeper.stop().unwrap();
        let other = Store::open(folder.path());
        assert!(matches!(other, Err(StoreError::InUse { .. })), "{other:?}");
        assert!(store.saved_searches().unwrap().is_empty());
    }
}
