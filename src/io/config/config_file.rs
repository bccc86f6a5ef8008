//! Reads the configuration file and determines the default folders of the program. Also contains the commented configuration with
//! every key and its default.

use std::path::{Path, PathBuf};

use backissue_core::schedule::Pace;
use backissue_core::search::{COLOURS_MAX, parse as parse_query, row_query};
use backissue_core::{InputFlaw, flaw};
use etcetera::{BaseStrategy, choose_base_strategy};
use serde::Deserialize;

use super::credentials::{self, CredentialsTable, OriginTable, one_each};
use super::key_bindings::{
    self, CommandTable, CommandsTable, DownloadsTable, KeysTable, located, open_rules,
    share_targets,
};
use crate::engine::politeness::address_net::AddressNet;
use crate::engine::settings::{
    Credentials, FailingFeeds, HistorySettings, NotifySettings, PublishSettings, ServeSettings,
    Settings, TEXTS_MB_MIN,
};
use crate::engine::wording::Span;
use crate::io::named_files::expand_home;
use crate::io::regular_files;
use crate::io::system::system_words;
use crate::ui::settings::{ColourRule, EntryColumn, ScreenSettings};
use crate::ui::theme::theme_roles::Paint;

const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// The contents of a configuration file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configured {
    pub settings: Settings,
    /// The screen settings.
    pub screen: ScreenSettings,
    /// Minor problems, such as two commands on the same key, one sentence each.
    pub notes: Vec<String>,
}

/// The default locations of the program's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// The folder of the store.
    pub data: PathBuf,
    pub config: PathBuf,
}

/// Returns the platform's default locations. The error is a sentence.
pub fn folders() -> Result<Folders, InputFlaw> {
    let base = choose_base_strategy()
        .map_err(|_| "no home folder was found; set --data-dir and --config".to_owned())?;
    Ok(Folders {
        data: base.data_dir().join("backissue"),
        config: base.config_dir().join("backissue/config.toml"),
    })
}

/// Reads the configuration. If the file is missing, returns the default settings, or an error if the user named the file
/// (`must_exist`). The error is a sentence with line and column.
pub fn read(path: &Path, must_exist: bool) -> Result<Configured, InputFlaw> {
    let cannot =
        |why: String| format!("the configuration file {} cannot be read: {why}", path.display());
    let text = match regular_files::read_text(path, CONFIG_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
            return with_credentials(Configured::default(), path);
        }
        // Users name this file to start without a configuration.
        _ if path == Path::new("/dev/null") => String::new(),
        read => read.map_err(|error| cannot(system_words(&error)))?,
    };
    let mut configured = parse(&text)
        .map_err(|why| format!("the configuration file {} has an error: {why}", path.display()))?;
    // Relative paths in the settings are relative to the folder of the configuration file.
    let folder = path.parent().unwrap_or(path);
    for file in &mut configured.settings.network.extra_roots {
        *file = folder.join(&*file);
    }
    with_credentials(configured, path)
}

/// Adds the logins from the credentials file next to the configuration file.
fn with_credentials(mut configured: Configured, path: &Path) -> Result<Configured, InputFlaw> {
    credentials::add_to(&mut configured.settings, path)?;
    let folder = path.parent().unwrap_or(path);
    for file in configured.settings.network.origins.iter_mut().flat_map(|one| &mut one.cookies) {
        *file = folder.join(expand_home(&file.to_string_lossy()));
    }
    let downloads = &mut configured.settings.downloads;
    downloads.folder = expand_home(&downloads.folder);
    Ok(configured)
}

/// Parses the text of a configuration file.
pub fn parse(text: &str) -> Result<Configured, InputFlaw> {
    let mut file: ConfigDocument = toml::from_str(text).map_err(|error| located(text, &error))?;
    let keys = std::mem::take(&mut file.keys);
    let (keys, notes) = key_bindings::keymap(file.ui.key_preset, keys, text)?;
    let (settings, screen) = file.into_settings()?;
    Ok(Configured { settings, screen: ScreenSettings { keys, ..screen }, notes })
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ConfigDocument {
    network: NetworkTable,
    poll: PollTable,
    history: HistorySettings,
    ui: ScreenSettings,
    commands: CommandsTable,
    open: CommandTable,
    share: CommandTable,
    keys: KeysTable,
    colours: Vec<ColourTable>,
    notify: NotifySettings,
    sync: SyncTable,
    serve: ServeSettings,
    publish: PublishTable,
    downloads: DownloadsTable,
}

/// The fields of `[[colours]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColourTable {
    query: String,
    style: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SyncTable {
    every: Option<Span>,
    send_ended: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PublishTable {
    every: Option<Span>,
    feeds: Vec<String>,
}

impl PublishTable {
    fn into_settings(self) -> Result<PublishSettings, InputFlaw> {
        let mut settings = PublishSettings::default();
        set(&mut settings.every_minutes, self.every.map(Span::minutes));
        for line in self.feeds {
            let words = shell_words::split(&line);
            let wrong = |_| flaw!("[publish] feeds: a quote in '{line}' is not closed");
            settings.feeds.push(words.map_err(wrong)?);
        }
        Ok(settings)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NetworkTable {
    parallel: Option<usize>,
    host_parallel: Option<usize>,
    host_spacing: Option<Span>,
    archive_spacing: Option<Span>,
    space_loopback: Option<bool>,
    proxy: Option<String>,
    user_agent: Option<String>,
    credentials: Vec<CredentialsTable>,
    headers: Vec<OriginTable>,
    allow_link_local: Vec<String>,
    allow_addresses: Vec<AddressNet>,
    extra_roots: Vec<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PollTable {
    automatic: Option<bool>,
    failing_feeds: Option<FailingFeeds>,
    min: Option<Span>,
    max: Option<Span>,
    default: Option<Span>,
    pace: Option<Pace>,
    learn: Option<bool>,
}

impl ConfigDocument {
    fn into_settings(self) -> Result<(Settings, ScreenSettings), InputFlaw> {
        let mut settings = Settings::default();
        let network = &mut settings.network;
        set(&mut network.parallel, self.network.parallel.map(|number| number.max(1)));
        network.host_parallel = self.network.host_parallel.map(|number| number.max(1));
        set(&mut network.host_spacing_ms, self.network.host_spacing.map(|span| span.ms));
        set(&mut network.archive_spacing_ms, self.network.archive_spacing.map(|span| span.ms));
        set(&mut network.space_loopback, self.network.space_loopback);
        network.proxy = self.network.proxy;
        network.user_agent = self.network.user_agent;
        network.credentials = one_an_origin(self.network.credentials)?;
        network.origins = one_each(self.network.headers)?;
        network.allow_link_local =
            self.network.allow_link_local.iter().map(|host| host_as_asked(host)).collect();
        network.allow_addresses = self.network.allow_addresses;
        network.extra_roots = self.network.extra_roots;
        network.allow_sources = self.commands.allow_sources;
        let poll = &mut settings.poll;
        for (target, span) in [
            (&mut poll.min_minutes, self.poll.min),
            (&mut poll.max_minutes, self.poll.max),
            (&mut poll.default_minutes, self.poll.default),
        ] {
            set(target, span.map(Span::minutes));
        }
        set(&mut poll.automatic, self.poll.automatic);
        set(&mut poll.failing_feeds, self.poll.failing_feeds);
        set(&mut poll.pace, self.poll.pace);
        set(&mut poll.learn, self.poll.learn);
        if poll.min_minutes > poll.max_minutes {
            return Err(flaw!(
                "[poll] min ({} minutes) is longer than max ({} minutes)",
                poll.min_minutes,
                poll.max_minutes
            ));
        }
        settings.history = self.history;
        let base = &settings.history.internet_archive;
        if !(base.starts_with("https://") || base.starts_with("http://")) {
            return Err(flaw!("[history] internet_archive is not an address: '{base}'"));
        }
        if settings.history.texts_mb < TEXTS_MB_MIN {
            return Err(flaw!("[history] texts_mb must be at least {TEXTS_MB_MIN}"));
        }
        let mut screen = self.ui;
        screen.text_width = screen.text_width.clamp(20, 400);
        screen.escape_time = screen.escape_time.map(|milliseconds| milliseconds.min(1000));
        screen.feeds_width = screen.feeds_width.map(|columns| columns.clamp(16, 200));
        if !screen.columns.contains(&EntryColumn::Title) {
            return Err("[ui] columns must include \"title\"".into());
        }
        screen.colours = colour_rules(&self.colours)?;
        settings.join = screen.join;
        settings.commands = self.commands.into_settings()?;
        settings.commands.rules = open_rules(self.open)?;
        settings.commands.share = share_targets(self.share)?;
        set(&mut settings.sync.every_minutes, self.sync.every.map(Span::minutes));
        set(&mut settings.sync.send_ended, self.sync.send_ended);
        settings.serve = self.serve;
        for host in &mut settings.serve.hosts {
            *host = host_as_asked(host);
        }
        settings.publish = self.publish.into_settings()?;
        settings.downloads = self.downloads.into_settings()?;
        settings.notify = self.notify;
        parse_query(&settings.notify.only, false, chrono_tz::Tz::UTC)
            .map_err(|flaw| format!("[notify] only: {flaw}"))?;
        Ok((settings, screen))
    }
}

/// Reads the colours of entries. Dates in their queries are in UTC.
fn colour_rules(tables: &[ColourTable]) -> Result<Vec<ColourRule>, InputFlaw> {
    if tables.len() > COLOURS_MAX {
        return Err(flaw!("there can be at most {COLOURS_MAX} [[colours]]"));
    }
    let rule = |ColourTable { query, style }: &ColourTable| {
        let wrong = |why: InputFlaw| flaw!("[[colours]] '{query}': {why}");
        let condition = row_query(query, chrono_tz::Tz::UTC).map_err(wrong)?;
        Ok(ColourRule { query: condition, style: Paint::parse(style).map_err(wrong)? })
    };
    tables.iter().map(rule).collect()
}

/// Converts the credentials tables, or returns an error if two tables have the same origin.
fn one_an_origin(tables: Vec<CredentialsTable>) -> Result<Vec<Credentials>, InputFlaw> {
    let mut all: Vec<Credentials> = Vec::with_capacity(tables.len());
    for CredentialsTable(next) in tables {
        if all.iter().any(|one| one.origin == next.origin) {
            return Err(flaw!("[[network.credentials]] names {} twice", next.origin));
        }
        all.push(next);
    }
    Ok(all)
}

/// Normalises a host to lowercase, and an IPv6 address to the form without brackets.
fn host_as_asked(written: &str) -> String {
    written.trim().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

/// The text of the configuration. A line that begins with `# ` is a key without a default, or a comment.
pub const DEFAULT_CONFIG: &str = include_str!("../../../assets/config.toml");

#[cfg(test)]
mod tests {
    use crate::engine::settings::DesktopNotes;
    use crate::io::config::config_file::*;
    use crate::ui::settings::ImageProtocol;

    #[test]
    fn an_empty_file_means_the_defaults() {
        assert_eq!(parse(""), Ok(Configured::default()));
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "each key has a line")]
    fn every_documented_key_is_read() {
        let text = r#"
            [network]
            parallel = 8
            host_parallel = 2
            host_spacing = "500ms"
            archive_spacing = "4s"
            space_loopback = false
            proxy = "http://proxy.example:3128"
            user_agent = "x/1"
            allow_link_local = ["[FE80::1]", "cam.lan"]
            allow_addresses = ["198.18.0.0/15", "10.0.0.7"]
            extra_roots = ["home.pem", "/etc/ssl/home.pem"]
            [[network.credentials]]
            origin = "https://a.example"
            user = "me"
            password = "open sesame"
            [[network.credentials]]
            origin = "https://b.example"
            token = "abc"
            [[network.headers]]
            origin = "https://a.example"
            headers = { X-Key = "k" }
            [poll]
            automatic = false
            failing_feeds = "ignore"
            min = "30m"
            max = "2d"
            default = "2h"
            pace = "more"
            learn = false
            [history]
            mode = "ask"
            archives_a_day = 20
            internet_archive = "http://localhost:8080"
            texts_mb = 64
            [ui]
            theme = "dark"
            mouse = true
            images = true
            image_protocol = "half-blocks"
            title = false
            hyperlinks = true
            text_width = 72
            [commands]
            open = ["firefox", "{link}"]
            enclosure = "mpv --no-video"
            pipe = "!less"
            on_new = "sh -c 'cat >> news.json'"
            allow_sources = true
            [sync]
            every = "30m"
            [publish]
            every = "2h"
            feeds = ["--starred --out 'my www'"]
            [notify]
            desktop = "osc777"
            bell = true
            [keys]
            star = ["x", "g s"]
        "#;
        let Configured { settings, screen, .. } = parse(text).unwrap();
        assert_eq!((settings.network.parallel, settings.network.host_spacing_ms), (8, 500));
        assert!(!settings.network.space_loopback);
        assert_eq!(settings.network.allow_link_local, ["fe80::1", "cam.lan"]);
        let allowed = ["198.18.0.0/15", "10.0.0.7"].map(|net| net.parse().unwrap());
        assert_eq!(settings.network.allow_addresses, allowed);
        let roots = settings.network.extra_roots.iter().map(|file| file.to_str().unwrap());
        assert_eq!(roots.collect::<Vec<_>>(), ["home.pem", "/etc/ssl/home.pem"]);
        let origins: Vec<&str> =
            settings.network.credentials.iter().map(|one| one.origin.as_str()).collect();
        assert_eq!(origins, ["https://a.example", "https://b.example"]);
        assert_eq!(
            (settings.poll.min_minutes, settings.poll.max_minutes, settings.poll.default_minutes),
            (30, 2880, 120)
        );
        let poll = (settings.poll.automatic, settings.poll.failing_feeds);
        assert_eq!(poll, (false, FailingFeeds::Ignore));
        assert_eq!((settings.poll.pace, screen.text_width), (Pace::More, 72));
        assert!(settings.network.allow_sources);
        assert_eq!(settings.network.origins.len(), 1);
        let on_new = settings.commands.on_new.unwrap();
        assert_eq!(on_new.arguments(), ["-c", "cat >> news.json"]);
        assert_eq!((screen.images, screen.image_protocol), (true, ImageProtocol::HalfBlocks));
        assert_eq!((settings.sync.every_minutes, settings.publish.every_minutes), (30, 120));
        assert_eq!(settings.publish.feeds, [["--starred", "--out", "my www"]]);
        assert_eq!((settings.notify.desktop, settings.notify.bell), (DesktopNotes::Osc777, true));
        let history = &settings.history;
        assert_eq!(history.internet_archive, "http://localhost:8080");
        assert_eq!((history.archives_a_day, history.texts_mb), (20, 64));
    }

    #[test]
    fn config_errors_name_line_and_column() {
        for (text, expected) in [
            ("[poll]\nmin = 15", "line 2, column 7"),
            ("[poll]\nmin = \"soon\"", "'soon' is not a duration"),
            ("[network\n", "line 1"),
            (
                "[network]\nallow_addresses = [\"10.0.0.0/8\", \"10.0.0.0/33\"]",
                "line 2, column 19: '10.0.0.0/33' is not an IP address or an address range; write it like",
            ),
            ("[commands]\nopen = 'a \"b'", "line 2, column 8: a quote"),
            ("[commands]\non_new = \"!vim\"", "would need the terminal"),
            ("[commands]\nopen = 3", "a command must be text"),
            (
                "[commands]\nopen = \"sh -c 'w3m {link}'\"",
                "[commands] open: {link} must be a separate word",
            ),
            (
                "[commands]\nenclosure = ['mpv', '-{link}']",
                "enclosure: {link} must be a separate word",
            ),
            ("[poll]\nmni = \"1h\"", "unknown key 'mni'; did you mean 'min'?"),
            (
                "[[colours]]\nquery = \"title:a frost\"\nstyle = \"red\"",
                "'title:a frost': lists know neither texts",
            ),
            (
                "[[colours]]\nquery = \"category:a\"\nstyle = \"red\"",
                "lists know neither texts nor categories",
            ),
            (
                "[[colours]]\nquery = \"is:unread\"\nstyle = \"rde\"",
                "'is:unread': 'rde' is neither a colour",
            ),
            ("[pol]", "line 1, column 2: unknown key 'pol'; did you mean 'poll'?"),
            (
                "[keys]\n\nstra = \"x\"",
                "line 3: [keys] has an unknown command 'stra'; did you mean 'star'?",
            ),
            ("[keys]\nstar = \"hyper\"", "line 2: star: 'hyper' is not a key"),
            ("[keys]\nstar = 7", "line 2, column 8: keys must be text"),
            ("[poll]\nmni = \"1h\"", "line 2, column 1"),
            ("[network]\n[[network.credentials]]\norigin = \"x\"", "line 2"),
            (
                "[[network.credentials]]\norigin = \"https://a.example\"\ntoken = 7",
                "line 3, column 9: this must be text in quotes",
            ),
            (
                "network.credentials = [{ origin = \"http://a\", token = \"t\" }, { origin = \"http://A/\", token = \"u\" }]",
                "names http://a twice",
            ),
            (
                "[poll]\nmin = \"2h\"\nmax = \"1h\"",
                "min (120 minutes) is longer than max (60 minutes)",
            ),
            ("[publish]\nfeeds = [\"--out 'a\"]", "[publish] feeds: a quote in '--out 'a'"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(expected), "{why}");
            assert!(!why.contains('\n'), "{why}");
        }
    }
}

#[cfg(test)]
mod default_text_tests {
    use crate::engine::settings::Settings;
    use crate::io::config::config_file::{parse, *};

    /// Returns the default configuration with all commented-out keys enabled.
    fn with_everything() -> String {
        let is_key = |line: &str| {
            let name = line.split(['=', ' ']).next().unwrap_or_default();
            let named =
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-');
            line.starts_with('[') || (named && line.contains(" = "))
        };
        let taken = DEFAULT_CONFIG.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if is_key(rest) => rest,
            Some(_) | None => line,
        });
        taken.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_printed_configuration_means_the_defaults() {
        let read = parse(DEFAULT_CONFIG).unwrap();
        assert_eq!(read.settings, Settings::default());
        assert_eq!(read.notes, Vec::<String>::new());
    }

    #[test]
    fn every_key_that_is_read_is_printed() {
        let everything = with_everything();
        assert!(parse(&everything).is_ok(), "{:?}", parse(&everything));
        for section in ["network", "poll", "history", "ui", "commands", "notify"] {
            let why = parse(&format!("[{section}]\nzzzzzzzz = 1")).unwrap_err();
            let (_, known) = why.split_once("the keys here are ").unwrap();
            let inside = everything.split(&format!("[{section}]")).nth(1).unwrap();
            let inside = inside.split("\n[").next().unwrap();
            for name in known.split(", ") {
                let written = inside.lines().any(|line| line.split(" = ").next() == Some(name))
                    || everything.contains(&format!("[[{section}.{name}]]"));
                assert!(written, "[{section}] {name} is read and not printed");
            }
        }
    }
}
