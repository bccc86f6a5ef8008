//! The arguments of `backup`, `restore` and `doctor`.

use std::path::PathBuf;

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
