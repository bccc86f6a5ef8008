//! Work of other hands on the loop: a visit is done between two inputs, and what it waits for is looked at after each.
//!
//! A command runs on a thread of its own and reaches the engine and the store only through a [`Hand`]. So it works the
//! same in the process that was started for it and in the one that has the store open already.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use tokio::sync::mpsc::UnboundedSender;

use super::loop_ended::LoopEnded;
use super::performing::Ending;
use super::store::{Store, StoreError, StoreHandle};
use crate::engine::event::Event;
use crate::engine::request::Request;
use crate::engine::state::Engine;

/// What a visit meets: the loop with its engine.
pub trait Host {
    /// The engine as it is.
    fn engine(&self) -> &Engine;
    /// Asks the engine for something and returns what it told at once. `offline`: nothing is asked of the network for
    /// it.
    fn ask(&mut self, request: Request, offline: bool) -> Vec<Event>;
    /// Looks on after each input until the watcher says that it has seen enough.
    fn watch(&mut self, watcher: Watcher);
    /// Ends the loop.
    fn end(&mut self, ending: Ending);
}

/// What is done on the loop between two inputs.
pub type Visit = Box<dyn FnOnce(&mut dyn Host) + Send>;
/// Looks at the engine and at what it told since the last look; `true`: it has seen enough.
pub type Watcher = Box<dyn FnMut(&Engine, &[Event]) -> bool + Send>;

/// How a command reaches the loop and the store of the process that it runs in.
#[derive(Clone)]
pub struct Hand {
    visits: UnboundedSender<Visit>,
    store: StoreHandle,
    /// Whoever waits for what the command does wants it to end.
    cancelled: Arc<AtomicBool>,
    /// The command does not end by itself.
    endless: Arc<AtomicBool>,
    /// A wait of the command ended because of that.
    cut_short: Arc<AtomicBool>,
}

impl std::fmt::Debug for Hand {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Hand").finish_non_exhaustive()
    }
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// What was waited for happened.
    Done,
    /// Whoever waits was told to stop.
    Cancelled,
}

impl Hand {
    pub(super) fn new(visits: UnboundedSender<Visit>, store: StoreHandle) -> Self {
        Self {
            visits,
            store,
            cancelled: Arc::default(),
            endless: Arc::default(),
            cut_short: Arc::default(),
        }
    }

    /// A hand that is cancelled apart from this one.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            cancelled: Arc::default(),
            endless: Arc::default(),
            cut_short: Arc::default(),
            ..self.clone()
        }
    }

    /// Whether this is the hand of the same command.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cancelled, &other.cancelled)
    }

    /// Tells the command that uses this hand to end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// The command ends only when it is told to.
    pub fn never_ends(&self) {
        self.endless.store(true, Ordering::Relaxed);
    }

    /// Whether the command ends only when it is told to.
    pub fn is_endless(&self) -> bool {
        self.endless.load(Ordering::Relaxed)
    }

    /// Looks on after each input until the watcher says that it has seen enough.
    pub fn watch(&self, watcher: Watcher) {
        // If the loop has ended there is nothing to see.
        self.do_later(move |host| host.watch(watcher));
    }

    /// Does something on the loop, unless that ends before.
    pub fn do_later(&self, work: impl FnOnce(&mut dyn Host) + Send + 'static) {
        self.visits.send(Box::new(work)).ok();
    }

    /// Lets whoever waits look again.
    pub fn wake(&self) {
        self.do_later(|_| {});
    }

    /// Whether the command is told to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether work that is left is left undone, because the command is told to end.
    pub fn is_cut_short(&self) -> bool {
        let cancelled = self.is_cancelled();
        self.cut_short.fetch_or(cancelled, Ordering::Relaxed);
        cancelled
    }

    /// Whether the command was told to end while it waited for something that was not done then.
    pub fn was_cut_short(&self) -> bool {
        self.cut_short.load(Ordering::Relaxed)
    }

    /// Does something on the loop and waits for its result. It must be short: the screen waits meanwhile.
    pub fn visit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Host) -> T + Send + 'static,
    ) -> Result<T, LoopEnded> {
        let (answer, answered) = channel();
        let visit = move |host: &mut dyn Host| {
            // Nobody waits for it if the command ended.
            answer.send(work(host)).ok();
        };
        self.visits.send(Box::new(visit)).map_err(|_| LoopEnded)?;
        answered.recv().map_err(|_| LoopEnded)
    }

    /// Looks at the engine after each input until `step` says that it is done; what it notes is told outside the loop,
    /// which never waits for a terminal.
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

    /// Looks into the store.
    pub fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = channel();
        self.store.visit(Box::new(move |store| {
            let found = super::store::catch_sled_panic(|| look(store));
            answer.send(found).ok();
        }));
        answered.recv().unwrap_or(Err(StoreError::Ended(LoopEnded)))
    }

    /// Waits until everything that was handed to the store is durable.
    pub fn wait_until_durable(&self) -> Result<(), StoreError> {
        let (answer, answered) = channel();
        // Who does not wait any more was interrupted.
        self.store.when_durable(move |durable| drop(answer.send(durable)));
        answered.recv().unwrap_or(Err(StoreError::Ended(LoopEnded)))
    }

    /// Waits until the search index holds what the store holds; `left` is told how many entries it lacks.
    pub fn wait_until_indexed(&self, mut left: impl FnMut(usize)) -> Result<(), StoreError> {
        let (answer, answered): (Sender<usize>, _) = channel();
        self.store.when_indexed(answer);
        loop {
            match answered.recv() {
                Ok(0) => return Ok(()),
                Ok(missing) => left(missing),
                Err(_) => {
                    // The loop is there: it is the index that cannot be written.
                    self.visit(|_| ())?;
                    let why = "the search index cannot be written now, and lacks what is new; if the disk is not full, run 'backissue doctor'";
                    return Err(StoreError::Search(why.to_owned()));
                }
            }
        }
    }
}
