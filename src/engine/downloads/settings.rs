//! Section `[downloads]` of the configuration.

use super::file_names::NameTemplate;
use crate::engine::external::external_command::ExternalCommand;

/// Player that is used if none is configured. The leading `!` gives it the terminal, so that its keys work.
pub const USUAL_PLAYER: &str = "!mpv {link}";

/// Section `[downloads]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadSettings {
    /// Folder for the files; `~/` at its start is the home folder.
    pub folder: String,
    /// Template of the names of files below the folder.
    pub name: NameTemplate,
    /// Maximum number of files that are received at once; one of each site.
    pub parallel: usize,
    /// Maximum speed of all downloads together, in bytes per second; `None` for no limit.
    pub rate: Option<u64>,
    /// Maximum size of a file, in megabytes.
    pub max_mb: u64,
    /// Command that plays a file.
    pub player: Option<ExternalCommand>,
    /// How long a file is kept after it was played to its end, in minutes; `None` for ever.
    pub keep_played_minutes: Option<u32>,
}

impl DownloadSettings {
    /// Returns the maximum size of a file, in bytes.
    pub const fn bytes_max(&self) -> u64 {
        self.max_mb.saturating_mul(1_000_000)
    }
}

impl Default for DownloadSettings {
    fn default() -> Self {
        Self {
            folder: "~/Podcasts".to_owned(),
            name: NameTemplate::default(),
            parallel: 2,
            rate: None,
            max_mb: 4_000,
            player: ExternalCommand::typed(USUAL_PLAYER).ok(),
            keep_played_minutes: Some(7 * 24 * 60),
        }
    }
}
