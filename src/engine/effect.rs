//! All effects that the engine can request from the rest of the program, as one closed enum.

use super::change::PendingChange;
use super::downloads::transfer::FileTransfer;
use super::entries::ahead_work::PictureTask;
use super::external::external_run::ExternalRun;
use super::feeds::addition::LoginToKeep;
use super::poll::fetch::FetchRequest;
use super::poll::learn_queue::LearnWanted;
use super::settings::{NetworkSettings, NotifySettings};
use super::store_work::{Beside, Job, JobId, StoreWork};
use backissue_core::filters::EntryFilter;

/// An effect that the rest of the program carries out. The result, if there is one, arrives as an [`super::input::Input`].
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// One HTTP exchange.
    Fetch(FetchRequest),
    /// A job for the store.
    Store(Box<StoreWork>),
    /// Receives an attached file.
    Download(Box<FileTransfer>),
    /// Stops receiving a file.
    StopDownload {
        /// Number of the download.
        id: u32,
        /// Files to delete afterwards.
        delete: Vec<String>,
    },
    /// Learns the publication rhythm of a feed.
    Learn(Box<LearnWanted>),
    /// Searches the store for entries that match a filter.
    FindFilterHits(Box<EntryFilter>),
    /// Works on the picture cache.
    PictureTask(Box<PictureTask>),
    /// Opens an address in the user's browser.
    Open(String),
    /// Starts one of the user's external commands.
    Run(Box<ExternalRun>),
    /// Sends a desktop notification with this text in the configured way.
    Notify(String, NotifySettings),
    /// Reads the subscriptions in the OPML file at this path.
    ReadImport(String),
    /// Applies new network settings.
    Reconnect(Box<NetworkSettings>),
    /// Saves a login in the credentials file.
    KeepLogin(Box<LoginToKeep>),
    /// Ends the program.
    Stop,
}

impl Effect {
    /// Returns the effect for a store job.
    pub fn store(job: Job) -> Self {
        Self::Store(Box::new(StoreWork { id: JobId::default(), job, change: None, beside: None }))
    }

    /// Returns the effect for a job that writes a change.
    pub fn store_change(job: Job, change: PendingChange) -> Self {
        let (id, change) = (JobId::default(), Some(change));
        Self::Store(Box::new(StoreWork { id, job, change, beside: None }))
    }

    /// Returns the effect for a job that writes undo steps, too.
    pub fn store_beside(job: Job, beside: Beside) -> Self {
        let (id, beside) = (JobId::default(), Some(beside));
        Self::Store(Box::new(StoreWork { id, job, change: None, beside }))
    }
}
