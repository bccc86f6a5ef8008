//! The arguments of `publish` and `serve`.

use std::path::PathBuf;

use backissue_core::publish::ArchiveSize;
use backissue_core::{InputFlaw, flaw};

/// The arguments of `backissue publish`.
#[derive(Debug, clap::Args)]
pub(super) struct PublishArgs {
    /// The feeds: number, address, or part of the title
    #[arg(value_name = "FEED", required = true)]
    pub(super) feeds: Vec<String>,
    /// The folder to write to; each feed gets a folder in it
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
    /// Address at which that folder will be published; relative links if omitted
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Size of an archive: 'month', or a number of entries
    #[arg(long, value_name = "SIZE", default_value = "month", value_parser = read_size)]
    pub(super) archives: ArchiveSize,
    /// State the learned schedule as interval rules and ttl
    #[arg(long)]
    pub(super) interval: bool,
    /// State that nothing is older than the oldest entry
    #[arg(long)]
    pub(super) whole: bool,
    /// Overwrite documents of other programs or other feeds
    #[arg(long)]
    pub(super) force: bool,
}

/// The arguments of `backissue serve`.
#[derive(Debug, clap::Args)]
pub(super) struct ServeArgs {
    /// The folder to serve
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
    /// Port on this machine; a free one if omitted
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) port: u16,
}

/// Largest number of entries in an archive.
const ENTRIES_MAX: usize = 5_000;

fn read_size(typed: &str) -> Result<ArchiveSize, InputFlaw> {
    if typed == "month" {
        return Ok(ArchiveSize::Month);
    }
    let count = typed.parse().ok().filter(|count| (1..=ENTRIES_MAX).contains(count));
    count
        .map(ArchiveSize::Entries)
        .ok_or_else(|| flaw!("use 'month' or a number from 1 to {ENTRIES_MAX}"))
}
