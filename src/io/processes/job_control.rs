//! Job control: suspending for the shell, and continuing.

use std::time::Duration;

use rustix::process::{Signal, getpgrp, getpid, getsid, kill_current_process_group, kill_process};
use tokio::signal::unix::{self, SignalKind, signal};

/// How long to wait for a signal that the process sent to itself.
const ARRIVAL: Duration = Duration::from_secs(1);

/// A signal of job control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io) enum JobSignal {
    /// Suspend (SIGTSTP).
    Stop,
    /// Continue (SIGCONT): others may have used the terminal meanwhile.
    GoOn,
}

/// Receives the signals of job control.
#[derive(Debug)]
pub(in crate::io) struct Jobs {
    stops: Option<unix::Signal>,
    goes_on: Option<unix::Signal>,
}

impl Jobs {
    /// Starts to listen. Must be called inside a tokio runtime.
    pub(in crate::io) fn watch() -> Self {
        let listen = |kind: Signal| signal(SignalKind::from_raw(kind.as_raw())).ok();
        Self { stops: listen(Signal::TSTP), goes_on: listen(Signal::CONT) }
    }

    /// Waits for the next signal.
    pub(in crate::io) async fn next(&mut self) -> JobSignal {
        tokio::select! {
            biased;
            () = received(&mut self.stops) => JobSignal::Stop,
            () = received(&mut self.goes_on) => JobSignal::GoOn,
        }
    }

    /// Stops this process, and everything that was started together with it, until the shell continues it.
    pub(in crate::io) async fn stop(&mut self) {
        // All of the job is told to stop, as a terminal does it. We hear of that ourselves and only listen: the signal
        // that stops us is one that nobody can listen to.
        kill_current_process_group(Signal::TSTP).ok();
        tokio::time::timeout(ARRIVAL, received(&mut self.stops)).await.ok();
        kill_process(getpid(), Signal::STOP).ok();
        // It may reach another thread first: this one waits until it was stopped and goes on.
        tokio::time::timeout(ARRIVAL, received(&mut self.goes_on)).await.ok();
    }
}

async fn received(signals: &mut Option<unix::Signal>) {
    match signals {
        Some(signals) => {
            signals.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether there is a shell that would continue us: a process in the group of the session's leader has none.
pub(in crate::io) fn has_shell() -> bool {
    getsid(None).is_ok_and(|leader| leader != getpgrp())
}
