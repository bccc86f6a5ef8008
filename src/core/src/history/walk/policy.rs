//! Limits of an archive walk, and the cases in which the user must agree first (SPEC 0, C.10).

use serde::{Deserialize, Serialize};

/// The user's choice about history, for all feeds or for one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Archives are fetched without asking the user, up to the limits of one run.
    #[default]
    Auto,
    /// The user is asked before the first walk, but not before catching up on a few archives.
    Ask,
    /// No archives are fetched, but gaps are shown.
    Off,
}

impl Mode {
    /// All modes that the user can choose in settings.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Ask, Self::Off];

    /// Returns the name used in settings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ask => "ask",
            Self::Off => "off",
        }
    }
}

/// The limits of an archive walk. The defaults are the values of SPEC 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkPolicy {
    /// The user's choice about history.
    pub mode: Mode,
    /// Maximum number of archives requested in one run (`ARCHIVE_RUN_DOCS`).
    pub run_documents: u32,
    /// Maximum number of entries read in one run (`ARCHIVE_RUN_ENTRIES`).
    pub run_entries: u32,
    /// Maximum number of bytes transferred in one run (`ARCHIVE_RUN_BYTES`).
    pub run_bytes: u64,
    /// Maximum number of archives requested in one day, UTC (`ARCHIVE_DAY_DOCS`).
    pub day_documents: u32,
    /// Number of consecutive archives without new entries after which a run ends.
    pub barren_documents: u32,
    /// Maximum number of archives fetched without asking the user in the mode `ask`.
    pub catch_up_documents: u32,
    /// Whether documents received over https may link to archives at http addresses (SPEC D.6).
    pub allow_insecure: bool,
}

impl Default for WalkPolicy {
    fn default() -> Self {
        Self {
            mode: Mode::Auto,
            run_documents: 20,
            run_entries: 5_000,
            run_bytes: 64 * 1024 * 1024,
            day_documents: 200,
            barren_documents: 3,
            catch_up_documents: 3,
            allow_insecure: false,
        }
    }
}

/// Maximum number of archives and aliases kept for one feed.
pub const NODES_MAX: usize = 20_000;
/// Maximum number of gaps kept for one feed. Once this number is reached, the walk requests only archives that already have
/// a gap.
pub(crate) const GAPS_MAX: usize = 200;
/// Maximum number of pending archives (frontiers) kept for one feed.
pub(crate) const FRONTIERS_MAX: usize = 64;
/// Maximum number of suspected overruns kept for one feed.
pub(crate) const OVERRUNS_MAX: usize = 20;
