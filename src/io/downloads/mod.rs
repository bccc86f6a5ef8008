//! Receives attached files, and follows the player that plays them. What to receive, and what an answer means, is decided by
//! `src/engine/downloads/`.

mod part_file;
pub mod player;
mod receive;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;

use crate::engine::downloads::rate::Pace;
use crate::engine::downloads::transfer::{Cure, DownloadNews, FileTransfer, TransferFailure};
use crate::engine::input::Input;
use crate::io::clock;
use crate::io::http::Http;
use crate::ui::input::ScreenInput;
use backissue_core::InputFlaw;

/// The files that are being received.
#[derive(Debug)]
pub(in crate::io) struct Receiving {
    tasks: BTreeMap<u32, JoinHandle<()>>,
    pace: SharedPace,
    answers: UnboundedSender<ScreenInput>,
}

/// The pace that all downloads share.
#[derive(Debug, Clone)]
pub(in crate::io) struct SharedPace {
    pace: Arc<Mutex<Pace>>,
    began: Instant,
}

impl SharedPace {
    /// Notes received bytes and returns how long to wait before more are received.
    async fn wait_after(&self, bytes: u64, rate: Option<u64>) -> Duration {
        let now = clock::instant().saturating_duration_since(self.began);
        self.pace.lock().await.wait_after(now, bytes, rate)
    }
}

impl Receiving {
    /// Creates the tasks' common state. Reports are sent to `answers`.
    pub(in crate::io) fn new(answers: UnboundedSender<ScreenInput>) -> Self {
        let pace = SharedPace { pace: Arc::default(), began: clock::instant() };
        Self { tasks: BTreeMap::new(), pace, answers }
    }

    /// Starts to receive a file as soon as `durable` ends. The report about its end is sent even if the task panics.
    pub(in crate::io) fn start(
        &mut self,
        http: Result<Arc<Http>, InputFlaw>,
        transfer: FileTransfer,
        durable: oneshot::Receiver<()>,
    ) {
        self.tasks.retain(|_, task| !task.is_finished());
        let (id, answers, pace) = (transfer.id, self.answers.clone(), self.pace.clone());
        let reports = answers.clone();
        let receiving = async move {
            // Ignore a failed write, which is reported elsewhere.
            durable.await.ok();
            match http {
                Ok(http) => receive::receive(&http, &transfer, &pace, &reports).await,
                Err(why) => {
                    Err(TransferFailure { cure: Cure::Later(0), why: why.into(), received: 0 })
                }
            }
        };
        // The inner task is aborted together with the outer one.
        let task = tokio::spawn(async move {
            let mut receiving = AbortOnDrop(tokio::spawn(receiving));
            let ended = (&mut receiving.0).await.unwrap_or_else(|_| {
                let why = "the file could not be received".to_owned();
                Err(TransferFailure { cure: Cure::Nothing, why, received: 0 })
            });
            let news = ended.map_or_else(DownloadNews::Failed, DownloadNews::Complete);
            answers.send(Input::Download(id, news).into()).ok();
        });
        self.tasks.insert(id, task);
    }

    /// Stops receiving a file, and deletes these files when it has stopped.
    pub(in crate::io) fn stop(&mut self, id: u32, delete: Vec<String>) {
        let task = self.tasks.remove(&id);
        if let Some(task) = &task {
            task.abort();
        }
        tokio::spawn(async move {
            if let Some(task) = task {
                task.await.ok();
            }
            tokio::task::spawn_blocking(move || {
                for path in delete {
                    // It may be gone already.
                    fs::remove_file(path).ok();
                }
            });
        });
    }
}

/// Aborts a task when it is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
