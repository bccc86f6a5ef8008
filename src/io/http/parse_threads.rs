//! Threads that read documents. They are apart from those of the runtime, where names are resolved and commands waited for: a
//! document waits for none of these, and only a few threads have memory of their own for what is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use tokio::sync::oneshot;

use crate::io::panics::catch_fault;

/// Documents that are read at the same time, at least and at most: each may take several times its size in memory.
const THREADS_MIN: usize = 2;
const THREADS_MAX: usize = 4;
/// A thread that had nothing to do for so long ends.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// The threads, of which there are none while nothing is to be done.
#[derive(Debug)]
pub(super) struct ParseThreads {
    orders: Sender<Job>,
    jobs: Receiver<Job>,
    alive: Arc<AtomicUsize>,
    /// As many as may be: one for each processor.
    most: usize,
}

impl ParseThreads {
    /// Starts none yet.
    pub(super) fn new() -> Self {
        let (orders, jobs) = unbounded();
        let processors = thread::available_parallelism().map_or(THREADS_MIN, usize::from);
        let most = processors.clamp(THREADS_MIN, THREADS_MAX);
        Self { orders, jobs, alive: Arc::default(), most }
    }

    /// Does work on one of the threads; `None` if it panics.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let job = move || {
            // The thread goes on; the panic is a fault of the program and is reported as one.
            if let Some(done) = catch_fault(work) {
                // Who does not wait any more needs no answer.
                answer.send(done).ok();
            }
        };
        self.orders.send(Box::new(job)).ok()?;
        self.start_thread();
        answered.await.ok()
    }

    /// Starts a thread, unless there are as many as may be.
    fn start_thread(&self) {
        let one_more = |alive: usize| (alive < self.most).then_some(alive.saturating_add(1));
        if self.alive.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_err() {
            return;
        }
        let (jobs, alive) = (self.jobs.clone(), Arc::clone(&self.alive));
        let started =
            thread::Builder::new().name("parse".into()).spawn(move || work_off(&jobs, &alive));
        if started.is_err() {
            self.alive.fetch_sub(1, Ordering::SeqCst);
            // The system refuses one: it is done here, or by those that there are.
            if let Ok(job) = self.jobs.try_recv() {
                job();
            }
        }
    }
}

fn work_off(jobs: &Receiver<Job>, alive: &AtomicUsize) {
    loop {
        match jobs.recv_timeout(IDLE) {
            Ok(job) => job(),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                alive.fetch_sub(1, Ordering::SeqCst);
                // What came just now may have found as many threads as there may be, this one among them.
                let Ok(job) = jobs.try_recv() else { return };
                alive.fetch_add(1, Ordering::SeqCst);
                job();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::panics::{Caught, how_caught};

    #[tokio::test]
    async fn work_is_answered_by_few_threads_and_a_panic_is_no_answer() {
        let threads = ParseThreads::new();
        assert_eq!(threads.run(|| panic!("a fault")).await.map(|(): ()| ()), None);
        assert_eq!(threads.run(how_caught).await, Some(Caught::AsFault), "it is reported");
        let asked = (0..100).map(|number| threads.run(move || number * 2));
        let answers = futures_util::future::join_all(asked).await;
        let doubled: Vec<Option<i32>> = (0..100).map(|number| Some(number * 2)).collect();
        assert_eq!(answers, doubled);
        assert!(threads.alive.load(Ordering::SeqCst) <= threads.most);
    }
}
