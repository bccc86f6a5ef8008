//! Work that other threads run on the main loop. A visit is a function that runs between two inputs, and a watcher is a function
//! that checks a condition after each input.
//!
//! A command runs on a separate thread and reaches the engine and the store only through a [`LoopHandle`]. So a command works the
//! same in the process started for the command and in a process that already has the store open.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::mpsc::UnboundedSender;

use super::answers::LoopEnded;
use super::http::Http;
use super::performing::Ending;
use super::store::{Store, StoreError, StoreHandle};
use crate::engine::request::{Event, Request};
use crate::engine::state::Engine;
use backissue_core::InputFlaw;

/// The functions of the main loop that a visit can use.
pub trait Host {
    /// Returns the engine.
    fn engine(&self) -> &Engine;
    /// Sends the engine a request and returns the immediate events. With `offline`, no network is used for the request.
    fn ask(&mut self, request: Request, offline: bool) -> Vec<Event>;
    /// Shows a problem that only the user can fix, a sentence.
    fn complain(&mut self, why: String);
    /// Returns the HTTP client. The error is a sentence.
    fn http(&mut self) -> Result<Arc<Http>, InputFlaw>;
    /// Calls the watcher after each input until it returns `true`.
    fn watch(&mut self, watcher: Watcher);
    /// Ends the main loop.
    fn end(&mut self, ending: Ending);
}

/// Why a change that came from a server or a device was not made.
#[derive(Debug)]
pub enum ArrivalFault {
    /// The main loop ended.
    Ended(LoopEnded),
    /// The engine refuses the change, with the reason as a sentence.
    Refused(String),
    /// The store could not write it.
    Unwritten(String),
}

impl From<LoopEnded> for ArrivalFault {
    fn from(ended: LoopEnded) -> Self {
        Self::Ended(ended)
    }
}

/// Work that runs on the loop between two inputs.
pub type Visit = Box<dyn FnOnce(&mut dyn Host) + Send>;
/// Inspects the engine and the events since its last call. Returns `true` when it is done.
pub type Watcher = Box<dyn FnMut(&Engine, &[Event]) -> bool + Send>;

/// An answer of any type. All answers share one type of channel, because a hundred types added more than a megabyte to the
/// program.
type Answer = Box<dyn Any + Send>;

/// Waits for an answer of the loop or the store.
fn wait_for<T: 'static>(answered: &Receiver<Answer>) -> Result<T, LoopEnded> {
    let answer = answered.recv().ok().and_then(|answer| answer.downcast().ok());
    answer.map(|answer| *answer).ok_or(LoopEnded)
}

/// A command's handle to the loop and the store of its process.
#[derive(Clone)]
pub struct LoopHandle {
    visits: UnboundedSender<Visit>,
    store: StoreHandle,
    /// Set when the user cancels the command.
    cancelled: Arc<AtomicBool>,
    /// Set if the command ends only when it is cancelled.
    endless: Arc<AtomicBool>,
    /// Set when the command stops waiting because it was cancelled.
    cut_short: Arc<AtomicBool>,
}

impl std::fmt::Debug for LoopHandle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Hand").finish_non_exhaustive()
    }
}

/// The outcome of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The expected condition occurred.
    Done,
    /// The command was cancelled.
    Cancelled,
}

impl LoopHandle {
    pub(super) fn new(visits: UnboundedSender<Visit>, store: StoreHandle) -> Self {
        Self {
            visits,
            store,
            cancelled: Arc::default(),
            endless: Arc::default(),
            cut_short: Arc::default(),
        }
    }

    /// Returns another handle to the same loop, for a command that is cancelled separately.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            cancelled: Arc::default(),
            endless: Arc::default(),
            cut_short: Arc::default(),
            ..self.clone()
        }
    }

    /// Checks whether both handles belong to the same command.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cancelled, &other.cancelled)
    }

    /// Cancels the command that uses this handle.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Marks the command as one that ends only when it is cancelled.
    pub fn never_ends(&self) {
        self.endless.store(true, Ordering::Relaxed);
    }

    /// Checks whether the command ends only when it is cancelled.
    pub fn is_endless(&self) -> bool {
        self.endless.load(Ordering::Relaxed)
    }

    /// Calls the watcher after each input until it returns `true`.
    pub fn watch(&self, watcher: Watcher) {
        // If the main loop has ended, the watcher is dropped, because no further input arrives.
        self.do_later(move |host| host.watch(watcher));
    }

    /// Queues work to run on the main loop, without waiting for it. The work is dropped if the loop ends first.
    pub fn do_later(&self, work: impl FnOnce(&mut dyn Host) + Send + 'static) {
        self.visits.send(Box::new(work)).ok();
    }

    /// Wakes the loop, so that the watchers check again.
    pub fn wake(&self) {
        self.do_later(|_| {});
    }

    /// Checks whether the command is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Checks whether the command is cancelled. If it is, records that its remaining work is skipped.
    pub fn is_cut_short(&self) -> bool {
        let cancelled = self.is_cancelled();
        self.cut_short.fetch_or(cancelled, Ordering::Relaxed);
        cancelled
    }

    /// Checks whether the command was cancelled before its work was done.
    pub fn was_cut_short(&self) -> bool {
        self.cut_short.load(Ordering::Relaxed)
    }

    /// Runs work on the loop and waits for its result. The work must be short, because the screen is blocked in the meantime.
    pub fn visit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Host) -> T + Send + 'static,
    ) -> Result<T, LoopEnded> {
        let (answer, answered) = channel::<Answer>();
        let visit = move |host: &mut dyn Host| {
            // Sending fails only if the command has ended.
            answer.send(Box::new(work(host))).ok();
        };
        self.visits.send(Box::new(visit)).map_err(|_| LoopEnded)?;
        wait_for(&answered)
    }

    /// Calls `step` with the engine after each input until `step` returns `true`. The notes that `step` sends are passed to
    /// `tell` on the calling thread, so that the loop never waits for a terminal.
    pub fn follow<N: Send + 'static>(
        &self,
        mut step: impl FnMut(&Engine, &[Event], &mut Vec<N>) -> bool + Send + 'static,
        mut tell: impl FnMut(N),
    ) -> Result<Waited, LoopEnded> {
        let (sender, heard) = channel();
        let cancelled = Arc::clone(&self.cancelled);
        let watcher: Watcher = Box::new(move |engine, events| {
            let mut notes = Vec::new();
            let done = step(engine, events, &mut notes);
            for note in notes {
                sender.send(Ok(note)).ok();
            }
            let ended = match (done, cancelled.load(Ordering::Relaxed)) {
                (true, _) => Some(Waited::Done),
                (false, true) => Some(Waited::Cancelled),
                (false, false) => None,
            };
            ended.is_some_and(|ended| {
                sender.send(Err(ended)).ok();
                true
            })
        });
        self.visits.send(Box::new(move |host| host.watch(watcher))).map_err(|_| LoopEnded)?;
        loop {
            match heard.recv().map_err(|_| LoopEnded)? {
                Ok(note) => tell(note),
                Err(ended) => {
                    self.cut_short.fetch_or(ended == Waited::Cancelled, Ordering::Relaxed);
                    return Ok(ended);
                }
            }
        }
    }

    /// Makes a change that came from a server or a device, and waits until it is durable.
    pub fn arrive(&self, request: Request) -> Result<(), ArrivalFault> {
        let request = Request::Arrived(Box::new(request));
        let (told, before) = self.visit(move |host| {
            let before = host.engine().failed_writes.0;
            (host.ask(request, false), before)
        })?;
        for event in told {
            if let Event::Refused(why) = event {
                return Err(ArrivalFault::Refused(why));
            }
        }
        match self.wait_until_durable() {
            Ok(()) => {}
            Err(StoreError::Ended(ended)) => return Err(ended.into()),
            Err(error) => return Err(ArrivalFault::Unwritten(error.to_string())),
        }
        let (count, why) = self.visit(|host| host.engine().failed_writes.clone())?;
        if count == before { Ok(()) } else { Err(ArrivalFault::Unwritten(why)) }
    }

    /// Runs a function that reads the store on the store's thread, and returns its result.
    pub fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = channel::<Answer>();
        self.store.visit(Box::new(move |store| {
            let found = super::store::catch_sled_panic(|| look(store));
            answer.send(Box::new(found)).ok();
        }));
        wait_for(&answered).unwrap_or(Err(StoreError::Ended(LoopEnded)))
    }

    /// Waits until all work sent to the store is durable.
    pub fn wait_until_durable(&self) -> Result<(), StoreError> {
        let (answer, answered) = channel();
        // Sending fails only if the command was interrupted.
        self.store.when_durable(move |durable| drop(answer.send(durable)));
        answered.recv().unwrap_or(Err(StoreError::Ended(LoopEnded)))
    }

    /// Waits until the search index is up to date with the store. `left` is called with the number of entries that are not
    /// indexed yet.
    pub fn wait_until_indexed(&self, mut left: impl FnMut(usize)) -> Result<(), StoreError> {
        let (answer, answered): (Sender<usize>, _) = channel();
        self.store.when_indexed(answer);
        loop {
            match answered.recv() {
                Ok(0) => return Ok(()),
                Ok(missing) => left(missing),
                Err(_) => {
                    // If the main loop still runs, updating the index failed because the index is unwritable.
                    self.visit(|_| ())?;
                    let why = "the search index cannot be written and lacks new entries; if the disk is not full, run 'backissue doctor'";
                    return Err(StoreError::Search(why.to_owned()));
                }
            }
        }
    }
}
