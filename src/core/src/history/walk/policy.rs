//! How far a walk may go by itself, and when the reader is asked (SPEC 0, C.10).

use serde::{Deserialize, Serialize};

/// What the reader wants of history, for all feeds or for one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Archives are fetched without asking, up to the caps of one run.
    #[default]
    Auto,
    /// The first walk asks; a catch-up of a few archives does not.
    Ask,
    /// Nothing is fetched; what is missing is shown.
    Off,
}

impl Mode {
    /// The modes, for settings.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Ask, Self::Off];

    /// The word in settings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ask => "ask",
            Self::Off => "off",
        }
    }
}

/// The caps of a walk. The defaults are those of SPEC 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkPolicy {
    /// What the reader wants.
    pub mode: Mode,
    /// Archives asked for in one run (`ARCHIVE_RUN_DOCS`).
    pub run_documents: u32,
    /// Entries read in one run (`ARCHIVE_RUN_ENTRIES`).
    pub run_entries: u32,
    /// Bytes over the wire in one run (`ARCHIVE_RUN_BYTES`).
    pub run_bytes: u64,
    /// Archives asked for in one day, UTC (`ARCHIVE_DAY_DOCS`).
    pub day_documents: u32,
    /// Archives in a row without anything new after which a run ends.
    pub barren_documents: u32,
    /// Archives of a catch-up that needs no question in the mode `ask`.
    pub catch_up_documents: u32,
    /// The reader allows https documents to name http archives (SPEC D.6).
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

/// Archives kept of one feed.
pub const NODES_MAX: usize = 20_000;
/// Gaps kept of one feed: one more archive that cannot be had ends the walk before it.
pub const GAPS_MAX: usize = 200;
/// Places of one feed where a walk may go on.
pub const FRONTIERS_MAX: usize = 64;
/// Suspected overruns kept of one feed.
pub const OVERRUNS_MAX: usize = 20;
