//! The indexer: the one thread that writes to the search index.
//!
//! The store thread says which feeds have changed; the indexer collects changes for a moment and writes them in one
//! batch. At the start it catches up with whatever the index has missed. The store never waits for it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::catch_up::CatchUp;
use super::index::{IndexError, SearchIndex};
use super::shared_index::SharedIndex;
use crate::engine::input::Input;
use crate::history::FeedKey;
use crate::io::clock;
use crate::io::store::Texts;
use crate::ui::input::ScreenInput;

/// The pause before it reads every row at the start, so that the first screen comes first.
const START_PAUSE: Duration = Duration::from_millis(700);
/// Changes within this time are written in one batch.
const GATHERED: Duration = Duration::from_millis(800);
/// The writer with its memory is dropped after this time without work.
const IDLE: Duration = Duration::from_secs(30);
/// Progress is reported after so many entries.
const TOLD_ENTRIES: usize = 2_000;

/// The handle on the indexer thread.
#[derive(Debug)]
pub struct Indexer {
    changed: Sender<FeedKey>,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// The state of the indexer thread.
struct Work {
    data: PathBuf,
    index: SharedIndex,
    texts: Texts,
    changed: Receiver<FeedKey>,
    stopping: Arc<AtomicBool>,
    answers: UnboundedSender<ScreenInput>,
}

impl Indexer {
    /// Starts the thread, which opens the index of a data folder and shares it.
    pub fn start(
        data: PathBuf,
        index: SharedIndex,
        texts: Texts,
        answers: UnboundedSender<ScreenInput>,
    ) -> std::io::Result<Self> {
        let (sender, changed) = channel();
        let stopping = Arc::new(AtomicBool::new(false));
        let work = Work { data, index, texts, changed, stopping: Arc::clone(&stopping), answers };
        let thread = std::thread::Builder::new().name("indexer".into()).spawn(move || {
            if let Err(error) = work.run() {
                work.answers.send(Input::Trouble(error.to_string()).into()).ok();
            }
        })?;
        Ok(Self { changed: sender, stopping, thread })
    }

    /// Reports that a feed has changed.
    pub fn changed(&self, feed: FeedKey) {
        // If the thread is gone the index lags behind, and the next start catches up.
        self.changed.send(feed).ok();
    }

    /// Ends the thread after the current entries; the rest is indexed at the next start.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::Relaxed);
        drop(self.changed);
        self.thread.join().ok();
    }
}

impl Work {
    fn run(&self) -> Result<(), IndexError> {
        let index = SearchIndex::open(&self.data)?;
        self.index.set(index.clone());
        let mut changed = BTreeSet::new();
        if let Err(RecvTimeoutError::Disconnected) =
            self.changed.recv_timeout(START_PAUSE).map(|feed| changed.insert(feed))
        {
            return Ok(());
        }
        let mut catch_up = CatchUp::new(index, self.texts.clone())?;
        let missing = catch_up.state().missing;
        let mut told = 0;
        let all = catch_up.everything(&mut |done| {
            if done >= told + TOLD_ENTRIES {
                told = done;
                self.report_missing(missing.saturating_sub(done));
            }
            !self.stopping.load(Ordering::Relaxed)
        })?;
        let wrote = catch_up.commit()?;
        if wrote || told > 0 {
            self.report_missing(0);
        }
        if all { self.follow(&mut catch_up, changed) } else { Ok(()) }
    }

    /// Indexes changed feeds until the program ends.
    fn follow(
        &self,
        catch_up: &mut CatchUp,
        mut changed: BTreeSet<FeedKey>,
    ) -> Result<(), IndexError> {
        loop {
            let first = match self.changed.recv_timeout(IDLE) {
                Ok(feed) => Some(feed),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            changed.extend(first);
            if changed.is_empty() {
                catch_up.rest();
                // Nothing is held while nothing happens.
                match self.changed.recv() {
                    Ok(feed) => changed.insert(feed),
                    Err(_) => return Ok(()),
                };
            }
            self.gather(&mut changed);
            for feed in std::mem::take(&mut changed) {
                let go_on = &mut |_| !self.stopping.load(Ordering::Relaxed);
                if !catch_up.feed(feed, &mut 0, go_on)? {
                    break;
                }
            }
            if catch_up.commit()? {
                self.report_missing(0);
            }
        }
    }

    /// Collects further changes for a moment.
    fn gather(&self, changed: &mut BTreeSet<FeedKey>) {
        let began = clock::instant();
        while let Some(left) = GATHERED.checked_sub(began.elapsed()) {
            match self.changed.recv_timeout(left) {
                Ok(feed) => {
                    changed.insert(feed);
                }
                Err(_) => return,
            }
        }
    }

    fn report_missing(&self, missing: usize) {
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        self.answers.send(ScreenInput::Indexed { missing }).ok();
    }
}
