//! The arguments of `watch`, `events` and `service`, and of the commands about the store: `backup`, `restore` and `doctor`.

use std::path::PathBuf;

/// The arguments of `backissue watch`.
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Print events as JSON to standard output, one per line
    #[arg(long)]
    pub(super) follow: bool,
}

/// The arguments of `backissue events`.
#[derive(Debug, clap::Args)]
pub(super) struct EventsArgs {
    /// Keep printing new events until interrupted
    #[arg(long)]
    pub(super) follow: bool,
}

/// The arguments of `backissue service`.
#[derive(Debug, clap::Args)]
pub(super) struct ServiceArgs {
    /// What to do with the service
    #[arg(value_name = "WHAT")]
    pub(super) what: ServiceAction,
}

/// The actions of `backissue service` on the file of systemd or launchd.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum ServiceAction {
    /// Write the service file and start the service
    Install,
    /// Stop the service and remove its file
    Remove,
    /// Show whether the service is running
    Status,
}

/// The arguments of `backissue backup`.
#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// The file to write
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Overwrite an existing file of any kind
    #[arg(long)]
    pub(super) force: bool,
}

/// The arguments of `backissue restore`.
#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// A file written by 'backissue backup'
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
}

/// The arguments of `backissue doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Compact the store's files
    #[arg(long)]
    pub(super) compact: bool,
    /// Repair what can be repaired
    #[arg(long)]
    pub(super) repair: bool,
    /// Delete the damaged files that an earlier repair kept
    #[arg(long)]
    pub(super) discard_damaged: bool,
}
