//! Settings of the engine that a configuration file may change, with their defaults.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::downloads::file_names::DownloadSettings;
use super::entries::notification_queue::QuietHours;
use super::external_command::{ExternalCommand, OpenRule};
use super::politeness::address_net::AddressNet;
use super::wording::Lasting;
use backissue_core::history::walk::adaptor::INTERNET_ARCHIVE;
use backissue_core::schedule::Pace;

/// Configuration of the engine. The name of a setting that is a duration ends with its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Settings of requests to the network.
    pub network: NetworkSettings,
    /// Settings of polls.
    pub poll: PollSettings,
    /// Settings of archives and stored texts.
    pub history: HistorySettings,
    /// The user's external commands.
    pub commands: CommandSettings,
    /// Settings of desktop notifications.
    pub notify: NotifySettings,
    /// Settings of accounts on servers.
    pub sync: SyncSettings,
    /// Settings of the port at which devices are served.
    pub serve: ServeSettings,
    /// What is published while `watch` runs.
    pub publish: PublishSettings,
    /// Settings of downloads.
    pub downloads: DownloadSettings,
    /// Which entries of several feeds are read together, `[ui] join`.
    pub join: Join,
}

/// Which entries of several feeds count as one article: they are one row of a list, and are marked read together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Join {
    /// None.
    Never,
    /// Those with the same link.
    #[default]
    Link,
    /// Those with the same link; in a list also those with the same title, if their feeds share a tag.
    Title,
}

impl<'de> Deserialize<'de> for Join {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Switch(bool),
            Word(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Switch(false) => Ok(Self::Never),
            Written::Switch(true) => Ok(Self::Title),
            Written::Word(word) if word == "link" => Ok(Self::Link),
            Written::Word(word) if word == "title" => Ok(Self::Title),
            Written::Word(word) => {
                Err(Error::custom(format!("'{word}' is not \"link\", \"title\" or false")))
            }
        }
    }
}

/// Message that no feed is polled automatically, because `[poll] automatic` is `false`.
pub const ONLY_BY_HAND: &str =
    "feeds are polled only when you ask: [poll] automatic = false in your configuration";

/// Section `[network]` of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkSettings {
    /// Maximum number of requests under way (SPEC 0, `GLOBAL_PARALLEL`).
    pub parallel: usize,
    /// Maximum number of requests under way to one site; `None` means one (SPEC 0, `HOST_PARALLEL`), or six for a site on this
    /// machine without pauses.
    pub host_parallel: Option<usize>,
    /// Pause from the end of a request to the next one to the same site (SPEC 0, `HOST_SPACING`).
    pub host_spacing_ms: u64,
    /// Pause from the end of a request to the next request for an archive at the same site.
    pub archive_spacing_ms: u64,
    /// `true` to keep pauses between requests to this machine as well.
    pub space_loopback: bool,
    /// Proxy to use instead of the proxies in the environment variables.
    pub proxy: Option<String>,
    /// `User-Agent` header to send instead of the default.
    pub user_agent: Option<String>,
    /// Logins. Each is sent only to the origin that it names (SPEC D.1, D.6).
    pub credentials: Vec<Credentials>,
    /// What requests to certain origins send or use instead of the usual.
    pub origins: Vec<OriginSettings>,
    /// File to which logins from typed addresses are written.
    pub credentials_file: Option<PathBuf>,
    /// Hosts that may be requested at a link-local address (SPEC D.6), written as in a URL.
    pub allow_link_local: Vec<String>,
    /// IP addresses that are always allowed, even if a public site links to them (SPEC D.6).
    pub allow_addresses: Vec<AddressNet>,
    /// PEM files with certificates to trust in addition to those of the system.
    pub extra_roots: Vec<PathBuf>,
    /// `true` to run the programs of feeds (`exec:`, `filter:`), as `[commands] allow_sources` says.
    pub allow_sources: bool,
}

/// Section `[[network.credentials]]` of the configuration: a login and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Origin that the login is sent to: scheme, host, and the port if it is not the default, such as `https://a.example`. If one
    /// feed has a different login, this is the address of the feed.
    pub origin: String,
    /// Login to send to the origin.
    pub login: Login,
}

/// Section `[[network.headers]]` of the configuration: what requests to one origin send or use. Nothing of it is sent to another
/// origin, also after a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginSettings {
    /// Origin: scheme, host, and the port if it is not the default, such as `https://a.example`.
    pub origin: String,
    /// Further headers: names in lower case, and values.
    pub headers: Vec<(String, Secret)>,
    /// `User-Agent` header to send instead of the usual one.
    pub user_agent: Option<String>,
    /// Cookie file in the format of Netscape.
    pub cookies: Option<PathBuf>,
    /// Proxy to use instead of the usual one, which may contain a login; `none` for no proxy.
    pub proxy: Option<Secret>,
}

/// Method to authenticate a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// Basic authentication (RFC 7617).
    Basic {
        /// User name, without a colon.
        user: Secret,
        /// Password; may be empty.
        password: Secret,
    },
    /// Bearer token (RFC 6750).
    Bearer {
        /// Token in the form in which it is sent.
        token: Secret,
    },
}

/// A text that is never shown or logged, such as a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret from a text.
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text, to be sent or stored.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}

/// Section `[poll]` of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct PollSettings {
    /// `true` to poll feeds when they are due, `false` to poll only on request.
    pub automatic: bool,
    /// Effect of a failing feed on the exit status of a command that polls.
    pub failing_feeds: FailingFeeds,
    /// Minimum interval between polls of a feed (SPEC A.8).
    pub min_minutes: u32,
    /// Maximum interval between polls of a feed (SPEC A.8).
    pub max_minutes: u32,
    /// Interval between polls of a feed without any recommendation (SPEC 0, `DEFAULT_INTERVAL`).
    pub default_minutes: u32,
    /// Pace of polls for feeds that have no pace of their own.
    pub pace: Pace,
    /// `true` to poll feeds whose publishers recommend no interval at times learned from their publications.
    pub learn: bool,
    /// Maximum random delay of the first polls after start-up (SPEC A.9).
    pub start_spread_seconds: u32,
}

/// Effect of a failing feed on the exit status of a command that polls (UX 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailingFeeds {
    /// The exit status is 1.
    #[default]
    Status,
    /// The failure is reported, and the exit status is 0.
    Ignore,
}

/// Minimum value of the setting `[history] texts_mb`.
pub const TEXTS_MB_MIN: u32 = 16;

/// Section `[history]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HistorySettings {
    /// When to fetch archives of older entries.
    pub mode: HistoryMode,
    /// Maximum number of archives requested for one feed per day (`ARCHIVE_DAY_DOCS`).
    pub archives_a_day: u32,
    /// Address of the Internet Archive, for feeds whose archives the user chose to fetch there.
    pub internet_archive: String,
    /// Maximum size of stored texts in megabytes (SPEC C.10); at least [`TEXTS_MB_MIN`].
    pub texts_mb: u32,
    /// How long entries stay unread.
    pub unread_for: Lasting,
    /// How long entries of feeds with a tag stay unread, by tag.
    pub unread_for_tags: BTreeMap<String, Lasting>,
}

/// When to fetch archives of older entries (SPEC C.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryMode {
    /// Fetch archives automatically, up to the limits of one archive walk.
    Auto,
    /// Fetch archives only if the user agrees, except a few archives to close a gap after an earlier walk.
    Ask,
    /// Never fetch archives.
    Off,
}

impl HistoryMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Ask, Self::Off];

    /// Returns the word for `[history] mode` and `--history` (UX 4).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ask => "ask",
            Self::Off => "off",
        }
    }
}

/// Section `[commands]` of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandSettings {
    /// Command that opens an address; `None` uses the browser in the environment variable `BROWSER`, or else the browser of the
    /// desktop.
    pub open: Option<ExternalCommand>,
    /// Command that opens an attached file; `None` opens the file like an address.
    pub enclosure: Option<ExternalCommand>,
    /// Initial text in the prompt for a command to pipe an entry to (key `|`).
    pub pipe: Option<String>,
    /// Command that is notified of new entries.
    pub on_new: Option<ExternalCommand>,
    /// Commands that open certain addresses or files, from the section `[open]`.
    pub rules: Vec<OpenRule>,
    /// Names and commands of the section `[share]`.
    pub share: Vec<(String, ExternalCommand)>,
}

/// Section `[notify]` of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotifySettings {
    /// Method to notify the desktop of new entries.
    pub desktop: DesktopNotes,
    /// `true` to ring the terminal's bell for new entries as well.
    pub bell: bool,
    /// Query of the entries to notify of, or the name of a saved search; all if it is empty.
    pub only: String,
    /// Hours of the day without notifications.
    pub quiet: Option<QuietHours>,
}

/// Section `[sync]` of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncSettings {
    /// Interval between syncs of an account, in minutes.
    pub every_minutes: u32,
    /// Whether servers mark entries read that were unread for too long here.
    pub send_ended: bool,
}

impl Default for SyncSettings {
    fn default() -> Self {
        Self { every_minutes: 10, send_ended: false }
    }
}

/// Section `[serve]` of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeSettings {
    /// Names of this machine and of the web server in front of it, in lower case, for browsers.
    pub hosts: Vec<String>,
    /// Address of the web server in front, which states the address of the device.
    pub proxy: Option<IpAddr>,
}

/// Section `[publish]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishSettings {
    /// Interval between two publications, in minutes.
    pub every_minutes: u32,
    /// The arguments of `backissue publish` for each of them.
    pub feeds: Vec<Vec<String>>,
}

impl Default for PublishSettings {
    fn default() -> Self {
        Self { every_minutes: 60, feeds: Vec::new() }
    }
}

/// Escape sequence that the terminal turns into a desktop notification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DesktopNotes {
    /// No notification.
    #[default]
    Off,
    /// `OSC 9` (iTerm2, kitty, foot, `WezTerm`, ghostty, Windows Terminal).
    Osc9,
    /// `OSC 777` (urxvt, foot, ghostty, `VTE`).
    Osc777,
}

impl NetworkSettings {
    /// Returns the maximum number of requests in preparation or under way, which is twice the maximum number under way. Because
    /// each poll is written to the store before its request (SPEC G.20), preparing more requests in the meantime keeps the network
    /// busy.
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
                origins: Vec::new(),
                credentials_file: None,
                allow_link_local: Vec::new(),
                allow_addresses: Vec::new(),
                extra_roots: Vec::new(),
                allow_sources: false,
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
            sync: SyncSettings::default(),
            serve: ServeSettings::default(),
            publish: PublishSettings::default(),
            downloads: DownloadSettings::default(),
            join: Join::default(),
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
            unread_for: Lasting(None),
            unread_for_tags: BTreeMap::new(),
        }
    }
}
