//! The store thread: the one thread that owns the store.
//!
//! Work is handed to it and answered through the program's one channel, so that nothing waits for the disk.
//! Reads go before writes. Writes that wait together share one sync (a group commit), and are
//! reported only after it; meanwhile reads are answered.

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

/// Said when the thread is gone.
const DEAD: &str =
    "the store stopped working; changes since the last save may be lost: run 'backissue doctor'";

/// The handle by which the loop hands work to the store thread.
#[derive(Debug)]
pub struct StoreThread {
    work: UnboundedSender<StoreMessage>,
    answers: Answers,
    thread: Option<JoinHandle<Option<Store>>>,
}

impl StoreThread {
    /// Gives the store to its thread; answers go to `answers`.
    pub fn start(store: Store, answers: Answers) -> std::io::Result<Self> {
        let (hand, work) = unbounded_channel();
        let told = answers.clone();
        let (data, shelf) = (store.data.clone(), store.search_index.clone());
        let indexer = Indexer::start(data, shelf, store.texts(), answers.clone())?;
        // Weak, so that the thread ends when nobody is left who hands in work.
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

    /// Another handle, to look into the store beside the loop.
    pub fn handle(&self) -> StoreHandle {
        StoreHandle(self.work.downgrade())
    }

    /// Hands in work.
    pub fn hand(&self, work: StoreWork) {
        self.send(StoreMessage::Work(Box::new(work)));
    }

    fn send(&self, handed: StoreMessage) {
        if self.work.send(handed).is_err() {
            // The thread ends only when told to; if it is gone nothing can be kept any more.
            tell_dead(&self.answers);
        }
    }

    /// Finishes all work and gives the store back; an error if the thread died.
    pub fn stop(mut self) -> Result<Store, String> {
        self.send(StoreMessage::Stop);
        let ended = self.thread.take().and_then(|thread| thread.join().ok().flatten());
        ended.ok_or_else(|| DEAD.into())
    }
}

/// Says that nothing can be kept any more, and has the program stop.
fn tell_dead(answers: &Answers) {
    answers.send(Input::Trouble(DEAD.into()));
    answers.send(Input::Request(Request::Stop));
}

/// Starts the thread that makes durable what the store wrote; it says so in the way in which work is handed in.
fn start_syncing(hand: WeakUnboundedSender<StoreMessage>) -> std::io::Result<SyncThread> {
    SyncThread::start(move |synced| {
        if let Some(hand) = hand.upgrade() {
            hand.send(StoreMessage::Synced(synced.map_err(StoreError::from))).ok();
        }
    })
}

/// What somebody beside the loop does with the store, on its thread, between two pieces of work.
pub(in crate::io) type StoreVisit = Box<dyn FnOnce(&mut Store) + Send>;

/// The message to a caller that waits until the work before is durable.
type DurableAnswer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A second way to the store, beside the loop. It does not keep the thread from ending; work that comes too late is
/// dropped, which a caller that waits for its answer notices.
#[derive(Debug, Clone)]
pub struct StoreHandle(WeakUnboundedSender<StoreMessage>);

impl StoreHandle {
    /// Looks into the store.
    pub(in crate::io) fn visit(&self, visit: StoreVisit) {
        self.send(StoreMessage::Visit(visit));
    }

    /// Answers when everything that was handed in before is durable, or cannot be made so.
    pub fn when_durable(&self, answer: impl FnOnce(Result<(), StoreError>) + Send + 'static) {
        self.send(StoreMessage::WhenDurable(Box::new(answer)));
    }

    /// Answers with how many entries the search index lacks, until there are none.
    pub fn when_indexed(&self, answer: Sender<usize>) {
        self.send(StoreMessage::WhenIndexed(answer));
    }

    fn send(&self, handed: StoreMessage) {
        if let Some(sender) = self.0.upgrade() {
            sender.send(handed).ok();
        }
    }
}

/// What reaches the thread.
enum StoreMessage {
    /// Work to do.
    Work(Box<StoreWork>),
    /// Somebody beside the loop looks into the store.
    Visit(StoreVisit),
    /// Somebody waits until what was handed in before is durable.
    WhenDurable(DurableAnswer),
    /// Somebody waits until the search index holds what the store holds.
    WhenIndexed(Sender<usize>),
    /// What was written before is durable now, or not.
    Synced(Result<(), StoreError>),
    /// Finish what was handed in and stop.
    Stop,
}

/// The thread's work in progress.
struct Working<'a> {
    store: Store,
    syncing: SyncThread,
    hand: WeakUnboundedSender<StoreMessage>,
    answers: &'a Answers,
    indexer: &'a Indexer,
    writes: VecDeque<Write>,
    /// What was done since the last sync was ordered, and which of it is not written yet, by place.
    done: Vec<Unsynced>,
    grouped: Vec<usize>,
    /// What was written and is being synced, with its answers.
    unsynced: Option<Vec<Unsynced>>,
    stopping: bool,
    backup: Option<BackingUp>,
}

/// What waits for its turn to be written.
enum Write {
    /// Work.
    Work(Box<StoreWork>),
    /// Somebody who waits until the work before is durable.
    WhenDurable(DurableAnswer),
}

/// What was written and is being synced.
enum Unsynced {
    /// Work with its answer.
    Work { id: JobId, subject: JobSubject, answer: Option<Stored> },
    /// Somebody who waits for it.
    Waiting(DurableAnswer),
}

/// Works until told to stop. Reads are answered while a sync is under way; writes wait for it. `None`: the files could
/// not be opened any more.
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

    /// Opens the store again, because there is room again. `None`: it cannot be opened.
    fn reopened(self) -> Option<Self> {
        // Other threads that have the files open close them.
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

    /// Writes the backup of a day, if there is none. A failure is reported, and the backup is tried again on the next day.
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

    /// Answers a read at once and queues a write.
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

    /// Writes what was left to the group. If that fails, nothing in it was done.
    fn write_group(&mut self) {
        let written = self.store.write_group();
        let grouped = std::mem::take(&mut self.grouped);
        let Err(error) = written else { return };
        for place in grouped {
            if let Some(Unsynced::Work { id, subject, answer }) = self.done.get_mut(place) {
                let result = Err((&error).into());
                *answer = Some(Stored { id: *id, subject: *subject, result });
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

    /// Does the writes that wait together and orders one sync for them.
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

    /// What was written is reported once it is durable, in a file that is still at its place.
    fn report(&mut self, synced: Result<(), StoreError>) {
        let synced = &synced.and_then(|()| self.store.check_place());
        match synced {
            Ok(()) => self.store.db.was_synced(),
            // Whether it is durable is not known, so it must not be there after a restart.
            Err(_) => self.store.db.give_up_unsynced(),
        }
        for unsynced in self.unsynced.take().unwrap_or_default() {
            let answer = match (unsynced, synced) {
                (Unsynced::Work { answer, .. }, Ok(())) => answer,
                (Unsynced::Work { id, subject, .. }, Err(error)) => {
                    Some(Stored { id, subject, result: Err(error.into()) })
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

    /// Nobody hands in work any more, nor waits for answers: what was handed in is done.
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
        // The files are this thread's alone from here on.
        self.syncing.end();
        if let Some(backup) = self.backup {
            backup.leave();
        }
        self.store
    }
}

/// Rows of lists that were left while they waited are not read: who types a search leaves one with each key.
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
        thread.hand(StoreWork { id: JobId(1), job, change: None, beside: None });
        let store = thread.stop().unwrap();
        let other = Store::open(folder.path());
        assert!(matches!(other, Err(StoreError::InUse { .. })), "{other:?}");
        assert!(store.saved_searches().unwrap().is_empty());
    }
}
