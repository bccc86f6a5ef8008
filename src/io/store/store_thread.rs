//! The store thread: the one thread that owns the store.
//!
//! Jobs are sent to this thread, and its answers arrive through the program's one channel, so that no other thread waits for the
//! disk. Reads are performed before writes. Waiting writes share one sync (group commit) and are reported only after it. Reads
//! are answered while a sync is in progress.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use chrono::NaiveDate;
use tokio::sync::mpsc::{
    UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel,
};

use super::error::StoreError;
use super::handle::Store;
use super::pack::pack_file::SyncThread;
use super::upkeep::daily_backup::BackingUp;
use crate::engine::request::{Input, Request};
use crate::engine::store_work::{Answer, Job, JobId, JobSubject, StoreWork, Stored};
use crate::io::answers::Answers;
use crate::io::search::Indexer;

/// Maximum number of writes that share one sync.
const GROUP_WRITES_MAX: usize = 64;

/// Message to the user if the store thread has died.
const DEAD: &str =
    "the store stopped working; changes since the last save may be lost: run 'backissue doctor'";

/// The main loop's handle to the store thread.
#[derive(Debug)]
pub struct StoreThread {
    work: UnboundedSender<StoreMessage>,
    answers: Answers,
    thread: Option<JoinHandle<Option<Store>>>,
}

impl StoreThread {
    /// Starts the store thread, which owns the store from then on. Its answers are sent to `answers`.
    pub fn start(store: Store, answers: Answers) -> std::io::Result<Self> {
        let (hand, work) = unbounded_channel();
        let told = answers.clone();
        let (data, shelf) = (store.data.clone(), store.search_index.clone());
        let indexer = Indexer::start(data, shelf, store.texts(), store.stay, answers.clone())?;
        // A weak sender, so that the thread ends when all other senders are gone.
        let handed = hand.downgrade();
        let syncing = start_syncing(handed.clone())?;
        let working = move || {
            let store = run(Working::new(store, syncing, handed, &told, &indexer), work);
            if store.is_none() {
                tell_dead(&told);
            }
            indexer.stop();
            store
        };
        let thread = std::thread::Builder::new().name("store".into()).spawn(working)?;
        Ok(Self { work: hand, answers, thread: Some(thread) })
    }

    /// Returns a handle to the store for threads other than the main loop.
    pub fn handle(&self) -> StoreHandle {
        StoreHandle(self.work.downgrade())
    }

    /// Sends a job to the store thread.
    pub fn hand(&self, work: StoreWork) {
        self.send(StoreMessage::Work(Box::new(work)));
    }

    fn send(&self, handed: StoreMessage) {
        if self.work.send(handed).is_err() {
            // The thread ends only on request. If it is gone, nothing can be saved.
            tell_dead(&self.answers);
        }
    }

    /// Finishes all jobs and returns the store, or an error if the thread died.
    pub fn stop(mut self) -> Result<Store, String> {
        self.send(StoreMessage::Stop);
        let ended = self.thread.take().and_then(|thread| thread.join().ok().flatten());
        ended.ok_or_else(|| DEAD.into())
    }
}

/// Reports that nothing can be saved, and stops the program.
fn tell_dead(answers: &Answers) {
    answers.send(Input::Trouble(DEAD.into()));
    answers.send(Input::Request(Request::Stop));
}

/// Starts the thread that syncs the pack. It reports the result of each sync as a message to the store thread.
fn start_syncing(hand: WeakUnboundedSender<StoreMessage>) -> std::io::Result<SyncThread> {
    SyncThread::start(move |synced| {
        if let Some(hand) = hand.upgrade() {
            hand.send(StoreMessage::Synced(synced.map_err(StoreError::from))).ok();
        }
    })
}

/// A function from another thread. The store thread runs it between two jobs.
pub(in crate::io) type StoreVisit = Box<dyn FnOnce(&mut Store) + Send>;

/// The callback of a caller that waits until earlier changes are durable.
type DurableAnswer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A handle to the store for threads other than the main loop. It does not keep the store thread running. If that thread has ended,
/// messages are dropped, and a caller that waits for an answer sees that its channel is closed.
#[derive(Debug, Clone)]
pub struct StoreHandle(WeakUnboundedSender<StoreMessage>);

impl StoreHandle {
    /// Runs a function on the store thread.
    pub(in crate::io) fn visit(&self, visit: StoreVisit) {
        self.send(StoreMessage::Visit(visit));
    }

    /// Calls `answer` when all earlier changes are durable, or cannot be made durable.
    pub fn when_durable(&self, answer: impl FnOnce(Result<(), StoreError>) + Send + 'static) {
        self.send(StoreMessage::WhenDurable(Box::new(answer)));
    }

    /// Sends the number of entries that are not in the search index yet, repeatedly until it is 0.
    pub fn when_indexed(&self, answer: Sender<usize>) {
        self.send(StoreMessage::WhenIndexed(answer));
    }

    fn send(&self, handed: StoreMessage) {
        if let Some(sender) = self.0.upgrade() {
            sender.send(handed).ok();
        }
    }
}

/// A message to the store thread.
enum StoreMessage {
    Work(Box<StoreWork>),
    /// A function from another thread to run with the store.
    Visit(StoreVisit),
    /// A caller waits until earlier changes are durable.
    WhenDurable(DurableAnswer),
    /// A caller waits until the search index is up to date.
    WhenIndexed(Sender<usize>),
    /// The sync in progress has ended, with this result.
    Synced(Result<(), StoreError>),
    /// Finish all jobs and stop.
    Stop,
}

/// The state of the store thread.
struct Working<'a> {
    store: Store,
    syncing: SyncThread,
    hand: WeakUnboundedSender<StoreMessage>,
    answers: &'a Answers,
    indexer: &'a Indexer,
    writes: VecDeque<Write>,
    /// Jobs done since the last sync was started, and the indexes of those whose changes are still in the write group.
    done: Vec<Unsynced>,
    grouped: Vec<usize>,
    /// Jobs whose changes are being synced, with their answers.
    unsynced: Option<Vec<Unsynced>>,
    stopping: bool,
    backup: Option<BackingUp>,
}

/// An item in the queue of writes.
enum Write {
    Work(Box<StoreWork>),
    /// A caller that waits until earlier changes are durable.
    WhenDurable(DurableAnswer),
}

/// An item that waits for a sync.
enum Unsynced {
    /// A job with its answer.
    Work { id: JobId, subject: JobSubject, answer: Option<Stored> },
    /// A caller that waits for the sync.
    Waiting(DurableAnswer),
}

/// Runs until it is asked to stop, or until all senders are gone. Reads are answered while a sync is in progress; writes wait for
/// it. Returns `None` if the files could not be opened again.
fn run(mut working: Working<'_>, mut work: UnboundedReceiver<StoreMessage>) -> Option<Store> {
    loop {
        let idle = working.unsynced.is_none();
        if idle && working.writes.is_empty() && working.stopping {
            return Some(working.ended());
        }
        if !idle || working.writes.is_empty() {
            match work.blocking_recv() {
                Some(handed) => working.take(handed),
                None => return Some(working.left()),
            }
        }
        working.take_waiting(&mut work);
        if working.unsynced.is_none() && !working.writes.is_empty() {
            if working.store.is_worth_reopening() {
                working = working.reopened()?;
            }
            working.write(&mut work);
        }
    }
}

impl<'a> Working<'a> {
    fn new(
        store: Store,
        syncing: SyncThread,
        hand: WeakUnboundedSender<StoreMessage>,
        answers: &'a Answers,
        indexer: &'a Indexer,
    ) -> Self {
        Self {
            store,
            syncing,
            hand,
            answers,
            indexer,
            writes: VecDeque::new(),
            done: Vec::new(),
            grouped: Vec::new(),
            unsynced: None,
            stopping: false,
            backup: None,
        }
    }

    /// Opens the store again. Returns `None` if that fails.
    fn reopened(self) -> Option<Self> {
        // First end the other threads that have the files open.
        self.syncing.end();
        if let Some(backup) = self.backup {
            backup.leave();
        }
        let (store, told) = self.store.reopen().ok()?;
        if let Some(told) = told {
            self.answers.send(Input::Trouble(told));
        }
        let syncing = start_syncing(self.hand.clone()).ok()?;
        Some(Self { store, syncing, backup: None, ..self })
    }

    /// Starts the backup of a day, if there is none yet. A failure is reported, and the next attempt is on the next day.
    fn back_up(&mut self, today: NaiveDate) {
        let is_under_way = self.backup.as_ref().is_some_and(BackingUp::is_under_way);
        if is_under_way || self.store.check_place().is_err() {
            return;
        }
        let answers = self.answers.clone();
        let tell = move |why: String| {
            let told = format!("no backup was made today: {why}");
            answers.send(Input::Trouble(told));
        };
        self.backup = BackingUp::start(&self.store, today, tell);
    }

    /// Handles a message. Reads are answered at once; writes are queued.
    fn take(&mut self, handed: StoreMessage) {
        let mut work = match handed {
            StoreMessage::Work(work) => *work,
            StoreMessage::Synced(synced) => return self.report(synced),
            StoreMessage::Visit(visit) => {
                self.write_group();
                return visit(&mut self.store);
            }
            StoreMessage::WhenDurable(answer) => {
                self.writes.push_back(Write::WhenDurable(answer));
                return;
            }
            StoreMessage::WhenIndexed(answer) => return self.indexer.when_indexed(answer),
            StoreMessage::Stop => {
                self.stopping = true;
                return;
            }
        };
        self.store.fix_list(&mut work);
        if let Job::BackUp(today) = work.job {
            self.back_up(today);
        } else if !work.job.is_read() {
            self.writes.push_back(Write::Work(Box::new(work)));
        } else {
            if self.store.needs_group(&work.job) {
                self.write_group();
            }
            let paged = work.job.paged_feed();
            if let Some(answer) = self.store.perform(work) {
                self.answer(answer);
            }
            if let Some(feed) = paged {
                self.indexer.changed(feed);
            }
        }
    }

    /// Writes the changes in the write group. If that fails, all of its jobs fail.
    fn write_group(&mut self) {
        let written = self.store.write_group();
        let grouped = std::mem::take(&mut self.grouped);
        let Err(error) = written else { return };
        for place in grouped {
            if let Some(Unsynced::Work { id, subject, answer }) = self.done.get_mut(place) {
                *answer = Some(failed(&mut self.store, *id, *subject, &error));
            }
        }
    }

    fn answer(&self, stored: Stored) {
        self.answers.send(Input::Stored(Box::new(stored)));
    }

    fn take_waiting(&mut self, work: &mut UnboundedReceiver<StoreMessage>) {
        let mut waiting: Vec<StoreMessage> = std::iter::from_fn(|| work.try_recv().ok()).collect();
        drop_outdated_rows(&mut waiting);
        for handed in waiting {
            self.take(handed);
        }
    }

    /// Performs up to [`GROUP_WRITES_MAX`] queued writes and starts one sync for them.
    fn write(&mut self, work: &mut UnboundedReceiver<StoreMessage>) {
        for _ in 0..GROUP_WRITES_MAX {
            let Some(next) = self.writes.pop_front() else { break };
            let done = match next {
                Write::Work(work) => self.write_one(*work),
                Write::WhenDurable(answer) => Unsynced::Waiting(answer),
            };
            self.done.push(done);
            self.take_waiting(work);
            if self.store.db.is_wrong() {
                break; // The others find the store opened again.
            }
        }
        if self.done.is_empty() {
            return;
        }
        self.write_group();
        let done = std::mem::take(&mut self.done);
        self.unsynced = Some(done);
        if !self.syncing.order(self.store.db.begin_sync()) {
            let synced = self.store.sync();
            self.report(synced);
        }
    }

    fn write_one(&mut self, work: StoreWork) -> Unsynced {
        let (id, subject) = (work.id, work.job.subject());
        if self.store.needs_group(&work.job) {
            self.write_group();
        }
        let left = self.store.group.changes();
        let answer = self.store.perform_in_group(work);
        if self.store.group.changes() > left {
            self.grouped.push(self.done.len());
        }
        Unsynced::Work { id, subject, answer }
    }

    /// Reports the results of jobs after their sync. Changes count as durable only if the file is still in its place.
    fn report(&mut self, synced: Result<(), StoreError>) {
        let synced = &synced.and_then(|()| self.store.check_place());
        match synced {
            Ok(()) => self.store.db.was_synced(),
            // It is not known whether the changes are durable, so remove them: they must not reappear after a restart.
            Err(_) => self.store.db.give_up_unsynced(),
        }
        for unsynced in self.unsynced.take().unwrap_or_default() {
            let answer = match (unsynced, synced) {
                (Unsynced::Work { answer: Some(stored), .. }, _) if stored.result.is_err() => {
                    Some(stored)
                }
                (Unsynced::Work { answer, .. }, Ok(())) => answer,
                (Unsynced::Work { id, subject, .. }, Err(error)) => {
                    Some(failed(&mut self.store, id, subject, error))
                }
                (Unsynced::Waiting(waiting), synced) => {
                    waiting(synced.as_ref().map_or_else(|error| Err(error.again()), |()| Ok(())));
                    None
                }
            };
            if let Some(answer) = answer {
                if let Some(feed) = answer.result.as_ref().ok().and_then(Answer::changed_feed) {
                    self.indexer.changed(feed);
                }
                self.answer(answer);
            }
        }
    }

    /// Performs the queued writes after all senders are gone. No answers are sent.
    fn left(mut self) -> Store {
        while let Some(write) = self.writes.pop_front() {
            if let Write::Work(work) = write {
                self.store.perform(*work);
            }
        }
        self.store.sync().ok();
        self.ended()
    }

    fn ended(self) -> Store {
        // End the other threads that use the files.
        self.syncing.end();
        if let Some(backup) = self.backup {
            backup.leave();
        }
        self.store
    }
}

/// Returns the result of a job whose changes could not be written after it was done.
fn failed(store: &mut Store, id: JobId, subject: JobSubject, error: &StoreError) -> Stored {
    let why = store.note_failed(subject, error.into());
    Stored { id, subject, counters: Vec::new(), result: Err(why) }
}

/// Drops requests for rows of lists that a newer list has replaced. While a search is typed, each key opens another list.
fn drop_outdated_rows(waiting: &mut Vec<StoreMessage>) {
    let number = |handed: &StoreMessage| {
        let StoreMessage::Work(work) = handed else { return None };
        if let Job::ReadRows(wanted) = &work.job { Some(wanted.list) } else { None }
    };
    let newest = waiting.iter().filter_map(number).max();
    waiting.retain(|handed| number(handed).is_none() || number(handed) == newest);
}

#[cfg(test)]
mod tests {
    use crate::io::store::store_thread::*;

    #[test]
    fn store_thread_releases_the_store_when_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let (answers, _heard) = unbounded_channel::<Input>();
        let thread =
            StoreThread::start(Store::open(folder.path()).unwrap(), Answers::new(answers)).unwrap();
        let job = Job::SaveSearches(Vec::new());
        thread.hand(StoreWork { id: JobId(1), job, change: None, beside: None, failures: 0 });
        let store = thread.stop().unwrap();
        let other = Store::open(folder.path());
        assert!(matches!(other, Err(StoreError::InUse { .. })), "{other:?}");
        assert!(store.saved_searches().unwrap().is_empty());
    }
}
