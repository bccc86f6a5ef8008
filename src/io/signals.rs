//! The signals that tell this process to end. They are heard for as long as it lives: also between two sessions of the
//! loop none is lost.

use std::sync::OnceLock;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::terminal::is_lent;

/// What tells a process to end.
const STOPPING: [SignalKind; 3] =
    [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];

/// Tells a process that writes more to a file than it may.
const FILE_TOO_LARGE: rustix::process::Signal = rustix::process::Signal::XFSZ;

/// How often this process was told to end.
static TOLD: OnceLock<watch::Receiver<u32>> = OnceLock::new();

/// Hears whether this process is told to end.
#[derive(Debug, Clone)]
pub struct Stops {
    told: watch::Receiver<u32>,
    /// How often it was told so when it was listened to last.
    heard: u32,
}

impl Stops {
    /// Hears also what was told before.
    pub fn of_process() -> Self {
        Self { told: TOLD.get_or_init(hear).clone(), heard: 0 }
    }

    /// Hears what is told from now on.
    pub fn from_now_on() -> Self {
        let stops = Self::of_process();
        let heard = *stops.told.borrow();
        Self { heard, ..stops }
    }

    /// Hears nothing, also where another test tells this process to end.
    #[cfg(test)]
    pub fn of_nobody() -> Self {
        Self { told: watch::channel(0).1, heard: 0 }
    }

    /// Whether this process was told to end.
    pub fn were_told(&self) -> bool {
        *self.told.borrow() > self.heard
    }

    /// Waits until this process is told to end; once more with each call.
    pub async fn wait(&mut self) {
        let heard = self.heard;
        let told = self.told.wait_for(|told| *told > heard).await.map(|told| *told);
        match told {
            Ok(told) => self.heard = told,
            // Nobody can tell it.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Begins to listen, on a thread of its own. Without one the system ends this process as it ends any other.
fn hear() -> watch::Receiver<u32> {
    let (tell, told) = watch::channel(0);
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return told };
    let heard: Vec<(SignalKind, Signal)> = {
        let _inside = runtime.enter();
        // Once it is listened to it ends nobody: the write fails, and whoever writes says so.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE.as_raw())));
        STOPPING.into_iter().filter_map(|kind| Some((kind, signal(kind).ok()?))).collect()
    };
    let listen = move || {
        runtime.block_on(async {
            let tell = &tell;
            let each = heard.into_iter().map(|(kind, mut signals)| {
                Box::pin(async move {
                    while signals.recv().await.is_some() {
                        // A key that ends the command that has the terminal is not meant for us.
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
