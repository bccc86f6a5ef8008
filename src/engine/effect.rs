//! Everything the engine may ask of the world, as one closed enum.

use super::change::PendingChange;
use super::external::external_run::ExternalRun;
use super::feeds::addition::LoginToKeep;
use super::poll::fetch::FetchRequest;
use super::poll::learn_queue::LearnWanted;
use super::settings::{NetworkSettings, NotifySettings};
use super::store_work::{Job, JobId, StoreWork};
use backissue_core::filters::EntryFilter;

/// Something asked of the world. The answer, where there is one, comes as an [`super::input::Input`].
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// One HTTP exchange.
    Fetch(FetchRequest),
    /// Work for the store.
    Store(Box<StoreWork>),
    /// Learn the rhythm of a feed.
    Learn(Box<LearnWanted>),
    /// Look through the store for what a filter hits.
    FindFilterHits(Box<EntryFilter>),
    /// Open an address in the reader's browser.
    Open(String),
    /// Start a command of the reader's own.
    Run(Box<ExternalRun>),
    /// Tell the desktop something, by the way that is configured.
    Notify(String, NotifySettings),
    /// Read the subscriptions that an OPML file names.
    ReadImport(String),
    /// Ask the network as these settings say from now on.
    Reconnect(Box<NetworkSettings>),
    /// Keep a login in the file of credentials.
    KeepLogin(Box<LoginToKeep>),
    /// End the program.
    Stop,
}

impl Effect {
    /// Work for the store.
    pub fn store(job: Job) -> Self {
        Self::Store(Box::new(StoreWork { id: JobId::default(), job, change: None }))
    }

    /// Work for the store that writes a change.
    pub fn store_change(job: Job, change: PendingChange) -> Self {
        Self::Store(Box::new(StoreWork { id: JobId::default(), job, change: Some(change) }))
    }
}
