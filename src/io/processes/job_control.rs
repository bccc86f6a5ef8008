//! Job control: suspends this process like any job of a shell, and notices when the shell continues it.

use std::time::Duration;

use rustix::process::{Signal, getpgrp, getpid, getsid, kill_current_process_group, kill_process};
use tokio::signal::unix::{self, SignalKind, signal};

/// Maximum wait until a signal that this process sent to itself arrives.
const ARRIVAL: Duration = Duration::from_secs(1);

/// A job control signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io) enum JobSignal {
    /// Suspend (SIGTSTP).
    Stop,
    /// Continue (SIGCONT). In the meantime, other programs may have used the terminal.
    GoOn,
}

/// Receives job control signals.
#[derive(Debug)]
pub(in crate::io) struct Jobs {
    stops: Option<unix::Signal>,
    goes_on: Option<unix::Signal>,
}

impl Jobs {
    /// Starts listening for job control signals. Must be called within a tokio runtime.
    pub(in crate::io) fn watch() -> Self {
        let listen = |kind: Signal| signal(SignalKind::from_raw(kind.as_raw())).ok();
        Self { stops: listen(Signal::TSTP), goes_on: listen(Signal::CONT) }
    }

    /// Waits for the next job control signal.
    pub(in crate::io) async fn next(&mut self) -> JobSignal {
        tokio::select! {
            biased;
            () = received(&mut self.stops) => JobSignal::Stop,
            () = received(&mut self.goes_on) => JobSignal::GoOn,
        }
    }

    /// Stops this process and its process group until the shell continues them.
    pub(in crate::io) async fn stop(&mut self) {
        // The whole job receives SIGTSTP, as from a terminal. This process only catches it; it then stops itself with
        // SIGSTOP, which cannot be caught.
        kill_current_process_group(Signal::TSTP).ok();
        tokio::time::timeout(ARRIVAL, received(&mut self.stops)).await.ok();
        kill_process(getpid(), Signal::STOP).ok();
        // SIGSTOP may reach another thread first, so this thread waits until the process has been stopped and resumed.
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

/// Checks whether a shell would continue this process. A process in the process group of the session leader has no such shell.
pub(in crate::io) fn has_shell() -> bool {
    getsid(None).is_ok_and(|leader| leader != getpgrp())
}
