//! Stop signals of this process. They are caught as long as the process runs, so that no signal is lost between two runs of the
//! main loop.

use std::sync::OnceLock;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::terminal::is_lent;

/// The signals that request a process to end, and those that end it by default, which would leave the terminal in raw mode.
const STOPPING: [SignalKind; 7] = [
    SignalKind::terminate(),
    SignalKind::interrupt(),
    SignalKind::hangup(),
    SignalKind::quit(),
    SignalKind::alarm(),
    SignalKind::user_defined1(),
    SignalKind::user_defined2(),
];

/// The signal sent when a process exceeds the maximum file size.
const FILE_TOO_LARGE: rustix::process::Signal = rustix::process::Signal::XFSZ;

/// Number of stop signals received so far.
static TOLD: OnceLock<watch::Receiver<u32>> = OnceLock::new();

/// Receives stop signals.
#[derive(Debug, Clone)]
pub struct Stops {
    told: watch::Receiver<u32>,
    /// Number of stop signals that this receiver has already handled.
    heard: u32,
}

impl Stops {
    /// Creates a receiver that also reports the stop signals that have already arrived.
    pub fn of_process() -> Self {
        Self { told: TOLD.get_or_init(hear).clone(), heard: 0 }
    }

    /// Creates a receiver that reports only signals from now on.
    pub fn from_now_on() -> Self {
        let stops = Self::of_process();
        let heard = *stops.told.borrow();
        Self { heard, ..stops }
    }

    /// Creates a receiver that reports nothing, even if another test sends a stop signal.
    #[cfg(test)]
    pub fn of_nobody() -> Self {
        Self { told: watch::channel(0).1, heard: 0 }
    }

    /// Checks whether an unhandled stop signal has arrived.
    pub fn were_told(&self) -> bool {
        *self.told.borrow() > self.heard
    }

    /// Waits for a stop signal; each call waits for another one.
    pub async fn wait(&mut self) {
        let heard = self.heard;
        let told = self.told.wait_for(|told| *told > heard).await.map(|told| *told);
        match told {
            Ok(told) => self.heard = told,
            // The signal thread could not be started, so no signal will ever arrive.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Starts the thread that catches stop signals. If it cannot be started, signals have their default effect.
fn hear() -> watch::Receiver<u32> {
    let (tell, told) = watch::channel(0);
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return told };
    let heard: Vec<(SignalKind, Signal)> = {
        let _inside = runtime.enter();
        // Catch this signal, so that the write that exceeds the limit fails with an error instead of ending the process.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE.as_raw())));
        STOPPING.into_iter().filter_map(|kind| Some((kind, signal(kind).ok()?))).collect()
    };
    let listen = move || {
        runtime.block_on(async {
            let tell = &tell;
            let each = heard.into_iter().map(|(kind, mut signals)| {
                Box::pin(async move {
                    while signals.recv().await.is_some() {
                        // An interrupt while the terminal is lent is meant for the command that has it.
                        if kind != SignalKind::interrupt() || !is_lent() {
                            tell.send_modify(|times| *times = times.saturating_add(1));
                        }
                    }
                })
            });
            futures_util::future::join_all(each).await;
        });
    };
    std::thread::Builder::new().name("signals".into()).spawn(listen).ok();
    told
}
