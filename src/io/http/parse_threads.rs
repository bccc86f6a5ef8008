//! Threads that parse documents. They are separate from the threads of the tokio runtime, which resolve host names and wait for
//! commands. So a document never waits for such work, and only a few threads use memory for parsing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use tokio::sync::oneshot;

use crate::io::panics::catch_fault;

/// Minimum and maximum number of threads that parse documents at the same time. Parsing a document may take several times its
/// size in memory.
const THREADS_MIN: usize = 2;
const THREADS_MAX: usize = 4;
/// Number of web pages parsed at the same time. One is enough, because the user opens web pages one at a time. It is separate
/// from documents, because web pages take the longest to parse.
const PAGE_THREADS: usize = 1;
/// Maximum number of threads that have been replaced because they still run cancelled work. Beyond this number, threads are not
/// replaced.
const LOST_MAX: usize = 4;
/// Time after which an idle thread ends.
const IDLE: Duration = Duration::from_secs(10);

/// Work for a thread. Returns whether the thread that ran the work still counts towards the maximum number of threads.
type Work = Box<dyn FnOnce() -> bool + Send>;

/// A piece of work, and the state shared by the thread that runs the work and the task that waits for the result.
#[derive(Clone)]
struct ParseJob {
    /// The work, taken by the thread that runs it or by a waiter that cancels it.
    work: Receiver<Work>,
    /// Set once the work ends or its thread no longer counts, whichever comes first.
    settled: Arc<AtomicBool>,
}

/// A pool of threads that is empty while there is no work.
#[derive(Debug)]
pub(super) struct ParseThreads {
    orders: Sender<ParseJob>,
    jobs: Receiver<ParseJob>,
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct Counts {
    /// Maximum number of threads.
    most: usize,
    alive: AtomicUsize,
    /// Number of threads that have been replaced but have not ended.
    lost: AtomicUsize,
}

impl ParseThreads {
    /// Creates the pool for documents, with one thread per processor, but at least [`THREADS_MIN`] and at most [`THREADS_MAX`].
    /// Starts no thread yet.
    pub(super) fn for_documents() -> Self {
        let processors = thread::available_parallelism().map_or(THREADS_MIN, usize::from);
        Self::up_to(processors.clamp(THREADS_MIN, THREADS_MAX))
    }

    /// Creates the pool for web pages, so that they do not delay documents. Starts no thread yet.
    pub(super) fn for_pages() -> Self {
        Self::up_to(PAGE_THREADS)
    }

    fn up_to(most: usize) -> Self {
        let (orders, jobs) = unbounded();
        let counts = Counts { most, alive: AtomicUsize::new(0), lost: AtomicUsize::new(0) };
        Self { orders, jobs, counts: Arc::new(counts) }
    }

    /// Runs work on one of the threads. Returns `None` if it panics. Dropping the future cancels the work.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let settled = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&settled);
        let work: Work = Box::new(move || {
            // A panic is caught, so that the thread continues, and is reported as a fault of the program.
            let done = catch_fault(work);
            let still_counts = !ended.swap(true, Ordering::SeqCst);
            if let Some(done) = done {
                // Sending fails only if nothing waits for the result any longer.
                answer.send(done).ok();
            }
            still_counts
        });
        let (hand, work_to_take) = bounded(1);
        hand.send(work).ok()?;
        let job = ParseJob { work: work_to_take, settled };
        let _waiter = Waiter { threads: self, job: job.clone() };
        self.orders.send(job).ok()?;
        self.start_thread();
        answered.await.ok()
    }

    /// Starts a thread, unless the maximum is reached.
    fn start_thread(&self) {
        if !self.counts.enter() {
            return;
        }
        let (jobs, counts) = (self.jobs.clone(), Arc::clone(&self.counts));
        let started =
            thread::Builder::new().name("parse".into()).spawn(move || work_off(&jobs, &counts));
        if started.is_err() {
            self.counts.alive.fetch_sub(1, Ordering::SeqCst);
            // The system allows no new thread, so an existing thread or this thread runs the work.
            if let Ok(job) = self.jobs.try_recv() {
                job.settled.store(true, Ordering::SeqCst);
                if let Ok(work) = job.work.try_recv() {
                    work();
                }
            }
        }
    }

    /// Cancels a job whose result nothing waits for any longer. A job that has not started is dropped at once, together with its
    /// document. A running job may occupy its thread for long, so another thread replaces it.
    fn give_up(&self, job: &ParseJob) {
        if let Ok(work) = job.work.try_recv() {
            return drop(work);
        }
        if job.settled.load(Ordering::SeqCst) || !self.counts.lose() {
            return;
        }
        if job.settled.swap(true, Ordering::SeqCst) {
            // The job ended in the meantime, so its thread is not lost.
            self.counts.lost.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        self.counts.alive.fetch_sub(1, Ordering::SeqCst);
        if !self.jobs.is_empty() {
            self.start_thread();
        }
    }
}

/// The wait for the result of a job. If it is dropped before the result arrives, the job is cancelled.
struct Waiter<'a> {
    threads: &'a ParseThreads,
    job: ParseJob,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.threads.give_up(&self.job);
    }
}

impl Counts {
    /// Counts another thread, unless the maximum is reached.
    fn enter(&self) -> bool {
        add_below(&self.alive, self.most)
    }

    /// Counts a thread as lost, if it may be replaced.
    fn lose(&self) -> bool {
        add_below(&self.lost, LOST_MAX)
    }
}

fn add_below(count: &AtomicUsize, most: usize) -> bool {
    let one_more = |count: usize| (count < most).then_some(count.saturating_add(1));
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok()
}

fn work_off(jobs: &Receiver<ParseJob>, counts: &Counts) {
    loop {
        match jobs.recv_timeout(IDLE) {
            Ok(job) => {
                // If the work has been taken, the job was cancelled; continue with the next job.
                let Ok(work) = job.work.try_recv() else { continue };
                if !work() {
                    counts.lost.fetch_sub(1, Ordering::SeqCst);
                    return;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                counts.alive.fetch_sub(1, Ordering::SeqCst);
                // Check for jobs again: a job that has just arrived may have started no thread, because this thread still counted
                // towards the maximum.
                if jobs.is_empty() || !counts.enter() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use futures_util::future::{join_all, poll_immediate};

    use super::*;
    use crate::io::panics::{Caught, how_caught};

    /// Maximum wait for events that should happen at once.
    const WAIT: Duration = Duration::from_secs(30);

    /// Work that lasts until its gate is dropped, and reports when it starts.
    struct Gated {
        gate: Sender<()>,
        begun: Receiver<()>,
    }

    /// Starts gated work, then stops waiting for its result.
    async fn begin_and_leave(threads: &ParseThreads) -> Gated {
        let (gate, closed) = unbounded::<()>();
        let (tell, begun) = unbounded();
        let running = threads.run(move || {
            tell.send(()).ok();
            closed.recv().ok();
        });
        let mut running = Box::pin(running);
        assert!(poll_immediate(running.as_mut()).await.is_none());
        let gated = Gated { gate, begun };
        gated.begun.recv_timeout(WAIT).unwrap();
        gated
    }

    async fn answers(threads: &ParseThreads) -> bool {
        tokio::time::timeout(WAIT, threads.run(|| 7)).await == Ok(Some(7))
    }

    #[tokio::test]
    async fn panicking_job_gives_no_answer_and_next_one_runs() {
        let threads = ParseThreads::up_to(1);
        assert_eq!(threads.run(|| panic!("a fault")).await.map(|(): ()| ()), None);
        assert_eq!(threads.run(how_caught).await, Some(Caught::AsFault), "it is reported");
        assert!(answers(&threads).await);
    }

    #[tokio::test]
    async fn parse_concurrency_reaches_but_never_exceeds_the_limit() {
        let threads = ParseThreads::up_to(3);
        let (running, highest) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        // Each job waits at this barrier, so that no job ends before three have started.
        let three = Arc::new(Barrier::new(3));
        let asked = (0..99).map(|number| {
            let (running, highest) = (Arc::clone(&running), Arc::clone(&highest));
            let three = Arc::clone(&three);
            threads.run(move || {
                highest.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                three.wait();
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                number * 2
            })
        });
        let doubled: Vec<Option<i32>> = (0..99).map(|number| Some(number * 2)).collect();
        assert_eq!(join_all(asked).await, doubled);
        assert_eq!(highest.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn abandoned_parse_job_is_dropped_before_it_starts() {
        let threads = ParseThreads::up_to(1);
        let (gate, closed) = unbounded::<()>();
        let first = threads.run(move || closed.recv().is_err());
        let mut first = Box::pin(first);
        assert!(poll_immediate(first.as_mut()).await.is_none());
        let (document, begun) = (Arc::new([0_u8; 8]), Arc::new(AtomicBool::new(false)));
        let (held, tell) = (Arc::clone(&document), Arc::clone(&begun));
        let second = threads.run(move || {
            tell.store(true, Ordering::SeqCst);
            held.len()
        });
        assert!(poll_immediate(Box::pin(second)).await.is_none());
        assert_eq!(Arc::strong_count(&document), 1, "its document is not kept");
        drop(gate);
        assert_eq!(first.await, Some(true));
        assert!(answers(&threads).await);
        assert!(!begun.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn thread_stuck_on_abandoned_work_is_replaced() {
        let threads = ParseThreads::up_to(1);
        let stuck = begin_and_leave(&threads).await;
        assert!(answers(&threads).await);
        drop(stuck.gate);
    }

    #[tokio::test]
    async fn replaced_threads_are_limited_until_some_end() {
        let threads = ParseThreads::up_to(1);
        let mut stuck = Vec::new();
        for _ in 0..=LOST_MAX {
            stuck.push(begin_and_leave(&threads).await);
        }
        assert_eq!(threads.counts.lost.load(Ordering::SeqCst), LOST_MAX);
        let waiting = threads.run(|| 7);
        let mut waiting = Box::pin(waiting);
        assert!(poll_immediate(waiting.as_mut()).await.is_none());
        assert_eq!(threads.counts.alive.load(Ordering::SeqCst), 1, "there is none for it");
        stuck.clear();
        assert_eq!(tokio::time::timeout(WAIT, waiting).await, Ok(Some(7)));
    }
}
