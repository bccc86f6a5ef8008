//! The settings, with their defaults; what a configuration file may change.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::external::external_command::ExternalCommand;
use super::politeness::address_net::AddressNet;
use backissue_core::history::walk::adaptor::INTERNET_ARCHIVE;
use backissue_core::schedule::Pace;

/// What the engine can be configured to. Times are in the unit their name ends with.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The network.
    pub network: NetworkSettings,
    /// The schedule.
    pub poll: PollSettings,
    /// History.
    pub history: HistorySettings,
    /// Commands of the reader's own.
    pub commands: CommandSettings,
    /// What the desktop is told.
    pub notify: NotifySettings,
}

/// Shown for feeds while `[poll] automatic` is false.
pub const ONLY_BY_HAND: &str =
    "feeds are polled only when you ask: [poll] automatic = false in your configuration";

/// `[network]`.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkSettings {
    /// Requests under way at once (SPEC 0, `GLOBAL_PARALLEL`).
    pub parallel: usize,
    /// Requests under way at once to one site; `None`: one (SPEC 0, `HOST_PARALLEL`), six where sites on this machine are
    /// not spaced.
    pub host_parallel: Option<usize>,
    /// From the end of a request to the start of the next to the same site (SPEC 0, `HOST_SPACING`).
    pub host_spacing_ms: u64,
    /// The same for archives.
    pub archive_spacing_ms: u64,
    /// Loopback hosts are spaced as others are.
    pub space_loopback: bool,
    /// A proxy to use instead of those the environment names.
    pub proxy: Option<String>,
    /// Sent as `User-Agent` instead of our own.
    pub user_agent: Option<String>,
    /// Sent to the origins they name, and nowhere else (SPEC D.1, D.6).
    pub credentials: Vec<Credentials>,
    /// Where logins go that were typed within an address.
    pub credentials_file: Option<PathBuf>,
    /// Hosts that may be asked at a link-local address (SPEC D.6), as they stand in an address.
    pub allow_link_local: Vec<String>,
    /// Addresses that may be asked wherever they come from (SPEC D.6).
    pub allow_addresses: Vec<AddressNet>,
    /// Files in PEM with certificates that are trusted beside the system's authorities.
    pub extra_roots: Vec<PathBuf>,
}

/// `[[network.credentials]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Scheme, host and port if it is not the usual one: `https://a.example`; or the address of one feed, for which
    /// another login is meant than for its origin.
    pub origin: String,
    /// What the origin wants to see.
    pub login: Login,
}

/// How a request proves who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// RFC 7617.
    Basic {
        /// Without a colon.
        user: Secret,
        /// May be empty.
        password: Secret,
    },
    /// RFC 6750.
    Bearer {
        /// As it is sent.
        token: Secret,
    },
}

/// A text that is shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text from being shown.
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, to be sent.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}

/// `[poll]`.
#[derive(Debug, Clone, PartialEq)]
pub struct PollSettings {
    /// Polls happen by themselves when they fall due; else only when somebody asks.
    pub automatic: bool,
    /// What a feed that fails means for the exit status of a command that polls.
    pub failing_feeds: FailingFeeds,
    /// Shortest interval (SPEC A.8).
    pub min_minutes: u32,
    /// Longest interval (SPEC A.8).
    pub max_minutes: u32,
    /// Interval where nothing is known (SPEC 0, `DEFAULT_INTERVAL`).
    pub default_minutes: u32,
    /// The reader's pace where a feed has none of its own.
    pub pace: Pace,
    /// Learn the rhythm of feeds whose publishers say nothing.
    pub learn: bool,
    /// Polls at start begin within this time (SPEC A.9).
    pub start_spread_seconds: u32,
}

/// What a feed that fails means for the exit status of a command that polls (UX 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailingFeeds {
    /// The status is 1.
    #[default]
    Status,
    /// Nothing: it is told, and the status is 0.
    Ignore,
}

/// The least that `[history] texts_mb` can be.
pub const TEXTS_MB_MIN: u32 = 16;

/// `[history]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HistorySettings {
    /// Whether archives are walked.
    pub mode: HistoryMode,
    /// Archives of one feed asked for in a day (`ARCHIVE_DAY_DOCS`).
    pub archives_a_day: u32,
    /// Where the Internet Archive is asked, for feeds whose reader wants it.
    pub internet_archive: String,
    /// Megabytes of texts kept (SPEC C.10); from [`TEXTS_MB_MIN`] up.
    pub texts_mb: u32,
}

/// Whether archives are walked (SPEC C.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryMode {
    /// Up to one run's caps without asking.
    Auto,
    /// Only after the reader agreed.
    Ask,
    /// Never.
    Off,
}

impl HistoryMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Ask, Self::Off];

    /// The word of `[history] mode` and of `--history` (UX 4).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ask => "ask",
            Self::Off => "off",
        }
    }
}

/// `[commands]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandSettings {
    /// Opens an address; `None`: the browser that `BROWSER` names, else the desktop's.
    pub open: Option<ExternalCommand>,
    /// Opens an attached file; `None`: as an address.
    pub enclosure: Option<ExternalCommand>,
    /// Stands in the prompt of `|` at first.
    pub pipe: Option<String>,
    /// Is told of new entries.
    pub on_new: Option<ExternalCommand>,
}

/// `[notify]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotifySettings {
    /// How the desktop is told of new entries.
    pub desktop: DesktopNotes,
    /// The terminal's bell rings beside it.
    pub bell: bool,
}

/// How a terminal passes a note on to the desktop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DesktopNotes {
    /// Not at all.
    #[default]
    Off,
    /// `OSC 9` (iTerm2, kitty, foot, `WezTerm`, ghostty, Windows Terminal).
    Osc9,
    /// `OSC 777` (urxvt, foot, ghostty, `VTE`).
    Osc777,
}

impl NetworkSettings {
    /// How many requests are begun at once: as many again as may be under way. That a feed is asked is written before the
    /// request goes out (SPEC G.20), and the network need not wait for that.
    pub const fn begun_max(&self) -> usize {
        self.parallel.saturating_mul(2)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            network: NetworkSettings {
                parallel: 32,
                host_parallel: None,
                host_spacing_ms: 1000,
                archive_spacing_ms: 2000,
                space_loopback: true,
                proxy: None,
                user_agent: None,
                credentials: Vec::new(),
                credentials_file: None,
                allow_link_local: Vec::new(),
                allow_addresses: Vec::new(),
                extra_roots: Vec::new(),
            },
            poll: PollSettings {
                automatic: true,
                failing_feeds: FailingFeeds::Status,
                min_minutes: 15,
                max_minutes: 1440,
                default_minutes: 60,
                pace: Pace::Normal,
                learn: true,
                start_spread_seconds: 5,
            },
            history: HistorySettings::default(),
            commands: CommandSettings::default(),
            notify: NotifySettings::default(),
        }
    }
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self {
            mode: HistoryMode::Auto,
            archives_a_day: 200,
            internet_archive: INTERNET_ARCHIVE.to_owned(),
            texts_mb: 1024,
        }
    }
}
