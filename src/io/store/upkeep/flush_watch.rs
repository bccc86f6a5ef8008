//! Looks after flushes: where the system refuses a write in one of sled's threads, sled wakes nobody who waits for it, until
//! somebody else flushes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sled::{Config, Db};

/// How often it is seen, while a flush takes its time, whether the system refused a write.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A thread that looks after flushes that take long. It sleeps where nothing was flushed for a while; of flushes that follow
/// upon one another, only the first one wakes it.
#[derive(Debug)]
pub(super) struct FlushWatch {
    state: Arc<WatchState>,
    /// `None`: there was no thread to be had, and it is hoped that nothing is refused.
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct WatchState {
    is_flushing: AtomicBool,
    /// The thread looks by itself; otherwise it has to be woken.
    is_awake: AtomicBool,
    over: AtomicBool,
}

impl FlushWatch {
    /// Starts the thread. It holds the files until this is dropped. `config`: sled's settings, which say what went wrong.
    pub(super) fn start(db: Db, config: Config) -> Self {
        let state = Arc::new(WatchState::default());
        let watched = Arc::clone(&state);
        let look = move || watched.look(&db, &config);
        let thread = thread::Builder::new().name("flush-watch".into()).spawn(look).ok();
        Self { state, thread }
    }

    /// Flushes, watched.
    pub(super) fn flush(&self, db: &Db) -> sled::Result<usize> {
        self.state.is_flushing.store(true, Ordering::SeqCst);
        if !self.state.is_awake.swap(true, Ordering::SeqCst) {
            self.wake();
        }
        let flushed = db.flush();
        self.state.is_flushing.store(false, Ordering::SeqCst);
        flushed
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for FlushWatch {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl WatchState {
    fn look(&self, db: &Db, config: &Config) {
        loop {
            // Not at once: flushes come one after the other, and hardly any takes so long.
            thread::park_timeout(LOOK_EVERY);
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            if self.is_flushing.load(Ordering::SeqCst) {
                if config.global_error().is_err() {
                    db.flush().ok();
                }
                continue;
            }
            self.is_awake.store(false, Ordering::SeqCst);
            if self.is_flushing.load(Ordering::SeqCst) {
                // It has just begun, and took the thread for awake.
                self.is_awake.store(true, Ordering::SeqCst);
            } else {
                thread::park();
            }
        }
    }
}
