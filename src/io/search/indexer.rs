//! The indexer: the one thread that writes to the search index.
//!
//! The store thread says which feeds have changed; the indexer collects changes for a moment and writes them in one
//! batch. At the start it catches up with whatever the index has missed. The store never waits for it. Where the disk is
//! full it waits until there is room again, and then catches up in the same way.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::catch_up::CatchUp;
use super::index::{ROOM_MIN, SearchIndex};
use super::index_error::IndexError;
use super::shared_index::SharedIndex;
use crate::engine::input::Input;
use crate::io::answers::Answers;
use crate::io::clock;
use crate::io::store::{Texts, measure_room};
use crate::io::system::words::is_out_of_files_now;
use backissue_core::history::FeedKey;

/// The pause before it reads every row at the start, so that the first screen comes first.
const START_PAUSE: Duration = Duration::from_millis(700);
/// Changes within this time are written in one batch. Each batch costs a commit and, later, a merge.
const GATHERED: Duration = Duration::from_millis(800);
/// Maximum duration for which changes are gathered while they keep coming: each batch is a segment, which is merged later. A search
/// does not wait for it.
const GATHERED_MOST: Duration = Duration::from_secs(10);
/// Interval of the checks whether what the system refused is possible again.
const REFUSED_PAUSE: Duration = Duration::from_secs(30);
/// Number of entries after which progress is reported.
const TOLD_ENTRIES: usize = 2_000;

/// The handle on the indexer thread.
#[derive(Debug)]
pub struct Indexer {
    orders: Sender<Order>,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// A message to the indexer.
enum Order {
    /// A feed has changed.
    Changed(FeedKey),
    /// A search waits: what is missing is written without a pause. It receives the number of missing entries, 0 at the
    /// end.
    CatchUp(Sender<usize>),
}

/// What is to be done: feeds that changed, and those who wait until that is indexed.
#[derive(Default)]
struct Orders {
    changed: BTreeSet<FeedKey>,
    waiting: Vec<Sender<usize>>,
}

impl Orders {
    fn add(&mut self, order: Order) {
        match order {
            Order::Changed(feed) => {
                self.changed.insert(feed);
            }
            Order::CatchUp(waiting) => self.waiting.push(waiting),
        }
    }

    /// Tells those who wait how many entries are missing.
    fn tell(&mut self, missing: usize) {
        // Who does not wait any more was interrupted.
        self.waiting.retain(|waiting| waiting.send(missing).is_ok() && missing > 0);
    }

    fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.waiting.is_empty()
    }
}

/// The state of the indexer thread.
struct Work {
    data: PathBuf,
    index: SharedIndex,
    texts: Texts,
    orders: Receiver<Order>,
    stopping: Arc<AtomicBool>,
    answers: Answers,
    /// It was reported that the system refuses to write, and nothing was written since.
    is_told: Cell<bool>,
}

impl Indexer {
    /// Starts the thread, which opens the index of a data folder and shares it.
    pub fn start(
        data: PathBuf,
        index: SharedIndex,
        texts: Texts,
        answers: Answers,
    ) -> std::io::Result<Self> {
        let (sender, orders) = channel();
        let stopping = Arc::new(AtomicBool::new(false));
        let work = Work {
            data,
            index,
            texts,
            orders,
            stopping: Arc::clone(&stopping),
            answers,
            is_told: Cell::new(false),
        };
        let thread =
            std::thread::Builder::new().name("indexer".into()).spawn(move || work.run())?;
        Ok(Self { orders: sender, stopping, thread })
    }

    /// Reports that a feed has changed.
    pub fn changed(&self, feed: FeedKey) {
        // If the thread is gone the index lags behind, and the next start catches up.
        self.orders.send(Order::Changed(feed)).ok();
    }

    /// Tells how many entries the index lacks, until it holds what the store holds now: 0. If the index cannot be
    /// written the sender is dropped.
    pub fn when_indexed(&self, answer: Sender<usize>) {
        self.orders.send(Order::CatchUp(answer)).ok();
    }

    /// Ends the thread after the current entries; the rest is indexed at the next start.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::Relaxed);
        drop(self.orders);
        self.thread.join().ok();
    }
}

impl Work {
    /// Works until the program ends. What the system refuses is tried again later; a damaged index is built again once.
    fn run(&self) {
        let mut orders = Orders::default();
        let (mut opened, mut is_rebuilt) = (None, false);
        while let Err(error) = self.work(&mut opened, std::mem::take(&mut orders)) {
            let gone = self.check_place().err();
            if gone.is_some() {
                opened = None;
            }
            let error = gone.unwrap_or(error);
            if matches!(error, IndexError::Unusable(_)) {
                match SearchIndex::make_empty(&self.data) {
                    Ok(index) if !is_rebuilt => (opened, is_rebuilt) = (Some(index), true),
                    Ok(_) | Err(_) => return self.tell(&error),
                }
                continue;
            }
            match self.wait_for_room(&error) {
                Some(ordered) => orders = ordered,
                None => return,
            }
        }
    }

    fn tell(&self, error: &IndexError) {
        self.answers.send(Input::Trouble(error.to_string()));
    }

    /// Waits until the system may give what it refused. What changes meanwhile is found by its stamp; a search is answered at once
    /// that not everything is indexed. What lasts is reported once. Returns what is ordered; `None`: the program ends.
    fn wait_for_room(&self, refused: &IndexError) -> Option<Orders> {
        let mut began = clock::instant();
        loop {
            let mut orders = Orders::default();
            let left = REFUSED_PAUSE.saturating_sub(began.elapsed());
            match self.orders.recv_timeout(left) {
                Ok(order) => orders.add(order),
                Err(RecvTimeoutError::Timeout) => began = clock::instant(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
            let is_over = orders.is_empty();
            if (is_over || !orders.waiting.is_empty()) && self.check_room().is_ok() {
                return Some(orders);
            }
            if is_over && !self.is_told.replace(true) {
                self.tell(refused);
            }
        }
    }

    /// An error if the data folder is not the one in which the store was opened.
    fn check_place(&self) -> Result<(), IndexError> {
        let is_there = self.texts.is_in_place(&self.data);
        if is_there { Ok(()) } else { Err(IndexError::gone()) }
    }

    /// An error if there is no room to write, or no file to open: it is better not tried.
    fn check_room(&self) -> Result<(), IndexError> {
        self.check_place()?;
        if measure_room(&self.data).is_some_and(|free| free < ROOM_MIN) {
            return Err(IndexError::Passing("the disk is full".into()));
        }
        if is_out_of_files_now() {
            return Err(IndexError::Passing("too many files are open".into()));
        }
        Ok(())
    }

    /// Indexes what is missing, and then what changes, until the program ends or that fails.
    fn work(&self, opened: &mut Option<SearchIndex>, mut orders: Orders) -> Result<(), IndexError> {
        let index = match opened {
            Some(index) => index.clone(),
            None => opened.insert(SearchIndex::open(&self.data)?).clone(),
        };
        self.index.set(index.clone());
        if orders.is_empty() {
            match self.orders.recv_timeout(START_PAUSE) {
                Ok(order) => orders.add(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
        let mut catch_up = CatchUp::new(index, self.texts.clone());
        let missing = catch_up.state().missing;
        if missing > 0 {
            self.check_room()?;
        }
        let mut told = 0;
        let all = catch_up.everything(&mut |done| {
            if done >= told + TOLD_ENTRIES {
                told = done;
                let missing = missing.saturating_sub(done);
                self.report_missing(missing);
                // Searches that begin meanwhile are answered, too.
                self.orders.try_iter().for_each(|order| orders.add(order));
                if missing > 0 {
                    orders.tell(missing);
                }
            }
            !self.stopping.load(Ordering::Relaxed)
        })?;
        let wrote = catch_up.commit()?;
        if wrote || told > 0 {
            self.report_missing(0);
        }
        self.is_told.set(false);
        if all { self.follow(&mut catch_up, orders) } else { Ok(()) }
    }

    /// Indexes changed feeds until the program ends.
    fn follow(&self, catch_up: &mut CatchUp, mut orders: Orders) -> Result<(), IndexError> {
        loop {
            if orders.is_empty() {
                match self.orders.recv() {
                    Ok(order) => orders.add(order),
                    Err(_) => return Ok(()),
                }
            }
            self.gather(&mut orders);
            if !orders.changed.is_empty() {
                self.check_room()?;
            }
            // A search reports the entries that it cannot find yet; nothing else needs their number.
            let missing = if orders.waiting.is_empty() {
                0
            } else {
                orders.changed.iter().map(|&feed| catch_up.state_of(feed).missing).sum()
            };
            if missing > 0 {
                self.report_missing(missing);
            }
            for feed in std::mem::take(&mut orders.changed) {
                let go_on = &mut |_| !self.stopping.load(Ordering::Relaxed);
                if !catch_up.feed(feed, &mut 0, go_on)? {
                    break;
                }
            }
            if catch_up.commit()? || missing > 0 {
                self.report_missing(0);
            }
            orders.tell(0);
        }
    }

    /// Collects further changes until none has come for a moment; not at all if somebody waits.
    fn gather(&self, orders: &mut Orders) {
        let began = clock::instant();
        loop {
            let left = GATHERED.min(GATHERED_MOST.saturating_sub(began.elapsed()));
            let next = if orders.waiting.is_empty() && !left.is_zero() {
                self.orders.recv_timeout(left).ok()
            } else {
                self.orders.try_recv().ok()
            };
            let Some(order) = next else { return };
            orders.add(order);
        }
    }

    fn report_missing(&self, missing: usize) {
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        self.answers.send(Input::Indexed { missing });
    }
}
