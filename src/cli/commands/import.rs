//! `backissue import`: adds subscriptions from lists and from the files of other readers, without any request. A table at the end
//! shows what was found, what was imported, and why the rest was not.
//!
//! From newsboat's configuration, filters and searches are imported. Key bindings, colours and other settings are printed as
//! lines for the configuration file, or written to that file if it does not exist.

use std::path::{Path, PathBuf};

use backissue_core::feed::address::without_logins;
use backissue_core::feed::opml::{read_list, titled_in};
use backissue_core::feed::text::counted_words;
use backissue_core::other_readers::databases;
use backissue_core::other_readers::elsewhere::KnownEntries;
use backissue_core::other_readers::library::{Library, MovedFilter};
use backissue_core::other_readers::newsboat_config::{NewsboatConfig, read_config};
use backissue_core::other_readers::sqlite::{Sqlite, is_interrupted, with_log};
use clap::ValueEnum as _;
use etcetera::{BaseStrategy, choose_base_strategy};

use super::newsboat_lines::{SettingsTaken, THEME};
use crate::cli::Done;
use crate::cli::args_changes::{ImportArgs, OtherReader};
use crate::cli::context::CommandContext;
use crate::cli::session::{Failure, config_file};
use crate::engine::feeds::addition::{Imported, MoveIn};
use crate::engine::feeds::import::{searches_in, subscriptions_in};
use crate::engine::move_in::{Count, Forecast, forecast, refused as refused_feeds};
use crate::engine::other_reader_marks::{ElsewhereNoted, MarksTaken};
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::named_files::{FileKind, NamedFile};
use crate::io::system::system_words;
use crate::ui::keys::newsboat_keys::translate;

/// Hint at the next steps after an import.
const NEXT: &str =
    "; 'backissue poll' fetches what is due, 'backissue undo --yes' reverts the import";

/// What to import, and where it comes from.
pub(super) struct Source {
    /// What was found.
    pub library: Library,
    /// Whether it comes from another reader. Otherwise it is a plain list.
    pub is_reader: bool,
}

/// Runs `backissue import`.
pub(in crate::cli) fn run(context: &CommandContext, args: &ImportArgs) -> Result<Done, Failure> {
    let Source { library, is_reader } = find(context, args)?;
    let Library { list: read, entries: known, config, is_outgoing } = library;
    for left_out in read.left_out() {
        context.tell(&left_out);
    }
    for flaw in &read.flaws {
        context.tell(&format!("line {}: {}", flaw.line, flaw.reason));
    }
    let (mut searches, refused) = searches_in(&read);
    for sentence in &refused {
        context.tell(sentence);
    }
    let config = ConfigTaken::of(context, config);
    searches.extend(config.searches.iter().cloned());
    let is_cut = read.broken.is_some();
    let bad = read.bad.len();
    let left_out = LeftOut { feeds: bad, searches: refused.len(), config: &config };
    let subscriptions = subscriptions_in(&read);
    let filters = config.filters.clone();
    let moved = MoveIn { subscriptions, searches, filters, known };
    let look = move |engine: &Engine| {
        let moved = if is_outgoing { moved.with_secrets(engine) } else { moved };
        let (all, not_taken) = (forecast(engine, &moved), refused_feeds(engine, &moved));
        (all, not_taken, moved)
    };
    let (all, not_taken, moved) = context.inspect(look)?;
    if args.dry_run {
        tell_not_taken(context, &not_taken);
        let bad = bad.saturating_add(not_taken.len());
        context.put(&format!(
            "{} would be imported, {} could not be read",
            would_be(&all),
            bad.saturating_add(refused.len())
        ));
        if is_reader {
            print(context, &all, None, &left_out);
        }
        return Ok(Done::All);
    }
    let (imported, is_login_lost) = move_in(context, moved)?;
    let bad = [imported.bad.len(), bad, refused.len()].iter().sum::<usize>();
    let saved = match all.searches.taken {
        0 => String::new(),
        saved => format!(", {} saved", counted_words(saved, "search", "searches")),
    };
    context.put(&format!(
        "{} added, {} already subscribed, {bad} could not be read{saved}{}",
        imported.added.len(),
        imported.known.len(),
        if imported.added.is_empty() { "" } else { NEXT }
    ));
    if is_reader {
        let noted = context.inspect(|engine| engine.elsewhere.clone())?;
        print(context, &all, Some(&noted), &left_out);
    }
    if args.write_config {
        config.write(context)?;
    }
    let nothing = imported.added.is_empty() && imported.known.is_empty() && saved.is_empty();
    let whole = bad == 0 && !is_cut && !is_login_lost;
    match (nothing, whole) {
        (true, false) => Err(Failure::new("nothing was imported")),
        (_, true) => Ok(Done::All),
        (false, false) => Ok(Done::WithFailures),
    }
}

/// Prints the addresses that cannot be subscribed to, with the reasons.
fn tell_not_taken(context: &CommandContext, not_taken: &[(String, String)]) {
    for (address, why) in not_taken {
        context.tell(&format!("{address}: {why}"));
    }
}

/// Describes what would be imported.
fn would_be(all: &Forecast) -> String {
    let feeds = counted_words(all.feeds.taken, "subscription", "subscriptions");
    match all.searches.taken {
        0 => feeds,
        searches => format!("{feeds} and {}", counted_words(searches, "search", "searches")),
    }
}

/// Imports everything and waits until it is durable. Returns what was imported, and whether a login could not be saved.
fn move_in(context: &CommandContext, moved: MoveIn) -> Result<(Imported, bool), Failure> {
    let has_marks = !moved.known.is_empty();
    let request = Request::MoveIn(Box::new(moved));
    let imported = context.ask_and_inspect(request, |engine, _| engine.imported.clone())?;
    let imported = imported.unwrap_or_default();
    let mut is_login_lost = false;
    for login in &imported.logins {
        is_login_lost |= context.tell_login(login.clone())?;
    }
    context.wait_until_subscribed()?;
    context.follow(|engine, _, _: &mut Vec<()>| !engine.filters.is_any_pending(), |()| {})?;
    // A login that could not be saved was already reported. It is no reason to report the whole import as failed.
    if has_marks && !is_login_lost {
        context.wait_until_kept()?;
    }
    tell_not_taken(context, &imported.bad);
    Ok((imported, is_login_lost))
}

/// Names of the files of other readers in their folders.
const FILES: [&str; 6] = [
    "newsraft.sqlite3",
    "database.sqlite",
    "liferea.db",
    "feedr_data.json",
    "database.db",
    "database/database.db",
];

/// Reads what to import.
pub(super) fn find(context: &CommandContext, args: &ImportArgs) -> Result<Source, Failure> {
    let named = args.file.as_deref().map(PathBuf::from);
    let folders = match (args.from, named) {
        (_, Some(path)) if path.is_dir() => vec![path],
        (Some(reader), None) => usual_folders(reader),
        (reader, path) => return read_file(context, &path.unwrap_or_else(|| "-".into()), reader),
    };
    let is_newsboat = match args.from {
        Some(reader) => reader == OtherReader::Newsboat,
        None => folders.iter().any(|folder| folder.join("urls").is_file()),
    };
    if is_newsboat {
        return Ok(Source { library: read_newsboat(context, &folders)?, is_reader: true });
    }
    let places = || folders.iter().flat_map(|folder| FILES.iter().map(|name| folder.join(name)));
    let Some(path) = places().find(|path| path.is_file()) else {
        return Err(Failure::new(format!(
            "no file of another reader was found in {}: name the file",
            listed(&folders)
        )));
    };
    let mut source = read_file(context, &path, args.from)?;
    // The titles and sections of newsraft are in a separate list.
    let list = folders.iter().map(|folder| folder.join("feeds")).find(|list| list.is_file());
    if let Some(list) = list.filter(|_| path.ends_with("newsraft.sqlite3")) {
        source.library.list = read_list(&read(context, &list)?, Some(true))
            .map_err(|why| cannot(&list.display().to_string(), &why))?;
    }
    Ok(source)
}

/// Reads the file of another reader, or a list.
fn read_file(
    context: &CommandContext,
    path: &Path,
    reader: Option<OtherReader>,
) -> Result<Source, Failure> {
    let shown = path.display().to_string();
    let bytes = read_database(context, path)?;
    if let Some(library) = databases::read(&bytes).map_err(|why| cannot(&shown, &why))? {
        return Ok(Source { library, is_reader: true });
    }
    let titled = match reader {
        Some(OtherReader::Newsboat) => Some(false),
        Some(OtherReader::Newsraft) => Some(true),
        Some(_) | None => titled_in(path),
    };
    let list = read_list(&bytes, titled).map_err(|why| cannot(&shown, &why))?;
    Ok(Source { library: Library { list, ..Library::default() }, is_reader: false })
}

fn listed(folders: &[PathBuf]) -> String {
    let folders: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
    if folders.is_empty() { "the usual folders".to_owned() } else { folders.join(" or ") }
}

fn cannot(path: &str, why: &str) -> Failure {
    Failure::new(format!("'{}' cannot be imported: {why}", without_logins(path)))
}

/// Reads the bytes of a file.
fn read(context: &CommandContext, path: &Path) -> Result<Vec<u8>, Failure> {
    let shown = path.display().to_string();
    let named = path.to_str().ok_or_else(|| cannot(&shown, "its name is not UTF-8"))?;
    context.read_file(named).map_err(|error| cannot(&shown, &system_words(&error)))
}

/// Reads the bytes of a file. For a database, they include changes that its program left in other files next to it.
fn read_database(context: &CommandContext, path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = read(context, path)?;
    if !Sqlite::is_database(&bytes) {
        return Ok(bytes);
    }
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let found = Path::new(&name).metadata().is_ok_and(|found| found.len() > 0);
        if found { read(context, Path::new(&name)) } else { Ok(Vec::new()) }
    };
    if is_interrupted(&beside("-journal")?) {
        let why =
            "a change of it is not finished: start the other reader, end it, and import again";
        return Err(cannot(&path.display().to_string(), why));
    }
    Ok(with_log(bytes, &beside("-wal")?))
}

fn read_newsboat(context: &CommandContext, folders: &[PathBuf]) -> Result<Library, Failure> {
    let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|it| it.is_file());
    let Some(urls) = find("urls") else {
        return Err(Failure::new(format!(
            "no file 'urls' of newsboat was found in {}: name its folder",
            listed(folders)
        )));
    };
    let list = read_list(&read(context, &urls)?, Some(false))
        .map_err(|why| cannot(&urls.display().to_string(), &why))?;
    let entries = if let Some(cache) = find("cache.db") {
        databases::read_cache(&read_database(context, &cache)?)
            .map_err(|why| cannot(&cache.display().to_string(), &why))?
    } else {
        context.tell("no cache.db was found beside the urls file: every entry will be unread");
        KnownEntries::new()
    };
    let config = match find("config") {
        Some(path) => read_config(&String::from_utf8_lossy(&read(context, &path)?)),
        None => NewsboatConfig::default(),
    };
    Ok(Library { list, entries, config, is_outgoing: false })
}

/// Returns the readers whose files are in their usual folders.
pub(in crate::cli) fn found_readers() -> impl Iterator<Item = OtherReader> {
    let is_found = |reader: &OtherReader| {
        let names: &[&str] = if *reader == OtherReader::Newsboat { &["urls"] } else { &FILES };
        let is_here = |folder: PathBuf| names.iter().any(|name| folder.join(name).is_file());
        usual_folders(*reader).into_iter().any(is_here)
    };
    OtherReader::value_variants().iter().copied().filter(is_found)
}

/// Returns the folders in which a reader keeps its files.
fn usual_folders(reader: OtherReader) -> Vec<PathBuf> {
    let Ok(base) = choose_base_strategy() else { return Vec::new() };
    let (config, data) = (base.config_dir(), base.data_dir());
    match reader {
        OtherReader::Newsboat => {
            vec![base.home_dir().join(".newsboat"), config.join("newsboat"), data.join("newsboat")]
        }
        OtherReader::Newsraft => vec![data.join("newsraft"), config.join("newsraft")],
        OtherReader::Eilmeldung => vec![data.join("eilmeldung"), data.join("news-flash")],
        OtherReader::Feedr => vec![data.join("feedr")],
        OtherReader::Liferea => vec![data.join("liferea")],
        OtherReader::Rssguard => vec![config.join("RSS Guard 4"), data.join("RSS Guard 4")],
        OtherReader::Freshrss | OtherReader::Miniflux | OtherReader::Netnewswire => Vec::new(),
    }
}

/// The result of translating a configuration of newsboat.
#[derive(Debug, Default)]
pub(super) struct ConfigTaken {
    /// Filters to save.
    pub filters: Vec<MovedFilter>,
    /// Number of lines of the killfile that have no counterpart.
    pub filters_refused: usize,
    /// Searches to save, each as its name and query.
    pub searches: Vec<(String, String)>,
    /// Number of named filters that have no counterpart.
    pub searches_refused: usize,
    /// Key bindings.
    pub keys: Count,
    /// Key bindings and other settings.
    settings: SettingsTaken,
}

impl ConfigTaken {
    /// Translates a configuration, and prints a sentence for each line that has no counterpart.
    pub(super) fn of(context: &CommandContext, config: NewsboatConfig) -> Self {
        let mut taken = Self::default();
        let keys = translate(&config);
        let mut told = Vec::new();
        for refused in &config.refused {
            let count = match refused.setting.as_str() {
                "define-filter" => Some(&mut taken.searches_refused),
                "bind-key" | "bind" | "unbind-key" | "macro" => Some(&mut taken.keys.found),
                "ignore-article" => Some(&mut taken.filters_refused),
                _ => None,
            };
            if let Some(count) = count {
                *count = count.saturating_add(1);
            }
            told.push((refused.line, format!("{}: {}", refused.setting, refused.why)));
        }
        told.extend(keys.refused);
        taken.keys.found = taken.keys.found.saturating_add(config.bindings.len());
        taken.keys.taken = keys.lines.len().saturating_add(keys.preset);
        taken.settings = SettingsTaken::of(&config, keys.lines);
        told.append(&mut taken.settings.refused);
        told.sort();
        for (line, why) in &told {
            context.tell(&format!("newsboat's config, line {line}, is left out: {why}"));
        }
        taken.filters = config.rules;
        taken.searches = config.searches;
        taken
    }

    /// Prints the lines for the configuration file and the theme, and the counterparts of other settings.
    fn print_lines(&self, context: &CommandContext) {
        let SettingsTaken { config, theme, others, .. } = &self.settings;
        if !config.is_empty() {
            context.put("\nfor your configuration file ('backissue config' shows where it is):");
            context.put(config.trim_end());
        }
        if !theme.is_empty() {
            context.put(&format!("\nfor the file {THEME} beside it:\n{}", theme.trim_end()));
        }
        if !others.is_empty() {
            context.put("\nother settings of newsboat, and what they are here:");
        }
        for (name, here) in others {
            context.put(&format!("  {name}: {here}"));
        }
    }

    /// Writes the configuration file and the theme, unless the configuration file exists.
    fn write(&self, context: &CommandContext) -> Result<(), Failure> {
        let path = config_file(&context.options).filter(|_| !self.settings.config.is_empty());
        let Some(path) = path else {
            context.tell("no configuration is written: there are no settings that differ from the defaults here");
            return Ok(());
        };
        let theme = path.with_file_name(THEME);
        let files = [(theme, &self.settings.theme), (path.clone(), &self.settings.config)];
        for (file, text) in files.iter().filter(|(_, text)| !text.is_empty()) {
            let shown = file.display();
            if path.exists() || file.exists() {
                context.tell(&format!("{shown} is not written: you have a configuration already"));
                continue;
            }
            let named = NamedFile { path: shown.to_string(), kind: FileKind::Config, force: false };
            context.write_file(&named, &mut |out| out.write_all(text.as_bytes()))?;
            context.put(&format!("written to {shown}"));
        }
        Ok(())
    }
}

/// Note about items that were listed above the table.
const NAMED: &str = "the others are named above";

/// A row of the table.
struct ReportRow {
    what: &'static str,
    count: Count,
    note: String,
}

/// What was left out before the import was counted.
pub(super) struct LeftOut<'c> {
    /// Number of lines in the list that are not feeds.
    pub feeds: usize,
    /// Number of searches in the list that have no counterpart.
    pub searches: usize,
    /// The result of translating newsboat's configuration.
    pub config: &'c ConfigTaken,
}

/// Prints the table, and the lines for the configuration. `noted` is `None` if nothing was imported, only counted.
pub(super) fn print(
    context: &CommandContext,
    all: &Forecast,
    noted: Option<&ElsewhereNoted>,
    left_out: &LeftOut<'_>,
) {
    let config = left_out.config;
    let named = |count: Count, otherwise: &str| {
        if count.taken < count.found { NAMED.to_owned() } else { otherwise.to_owned() }
    };
    let more =
        |count: Count, more: usize| Count { found: count.found.saturating_add(more), ..count };
    let subscribed = match all.subscribed {
        0 => String::new(),
        count => format!("{count} already subscribed"),
    };
    let feeds = more(all.feeds, left_out.feeds);
    let searches = more(all.searches, left_out.searches.saturating_add(config.searches_refused));
    let filters = more(all.filters, config.filters_refused);
    let later = "feeds that you have keep their titles";
    let titles = if all.titles.taken < all.titles.found { later } else { "" };
    let marks = |count: Count, taken: Option<MarksTaken>, added: usize| {
        let mut parts = Vec::new();
        if let Some(taken) = taken {
            let marked = taken.here.saturating_sub(added);
            parts.extend((marked > 0).then(|| format!("{marked} marked")));
            parts.extend((added > 0).then(|| format!("{added} added with their texts")));
            let waiting = taken.later;
            parts.extend(
                (waiting > 0).then(|| format!("{waiting} wait for later polls, 90 days at most")),
            );
        }
        let others = count.found.saturating_sub(count.taken);
        parts.extend((others > 0).then(|| format!("{others} in feeds you are not subscribed to")));
        parts.join("; ")
    };
    let read = marks(all.read, noted.map(|noted| noted.read), 0);
    let added = noted.map_or(0, |noted| noted.added);
    let starred = marks(all.starred, noted.map(|noted| noted.starred), added);
    let rows = [
        ReportRow { what: "feeds", count: feeds, note: named(feeds, &subscribed) },
        ReportRow { what: "titles", count: all.titles, note: titles.to_owned() },
        ReportRow { what: "tags", count: all.tags, note: String::new() },
        ReportRow { what: "hidden feeds", count: all.hidden, note: "quiet here".to_owned() },
        ReportRow { what: "read entries", count: all.read, note: read },
        ReportRow { what: "starred entries", count: all.starred, note: starred },
        ReportRow { what: "labels", count: all.labels, note: String::new() },
        ReportRow { what: "saved searches", count: searches, note: named(searches, "") },
        ReportRow { what: "filters", count: filters, note: filters_note(all.filters, filters) },
        ReportRow { what: "keys", count: config.keys, note: named(config.keys, "printed below") },
    ];
    context.put(&format!("{:<15} {:>7} {:>7}", "", "found", "taken"));
    for ReportRow { what, count, note } in rows.iter().filter(|row| row.count.found > 0) {
        let Count { found, taken } = count;
        context.put(format!("{what:<15} {found:>7} {taken:>7}  {note}").trim_end());
    }
    config.print_lines(context);
}

/// Describes why filters were not imported. `valid` counts those that have a counterpart here.
fn filters_note(valid: Count, all: Count) -> String {
    let unsubscribed = valid.found.saturating_sub(valid.taken);
    let parts = [
        (all.found > valid.found).then(|| NAMED.to_owned()),
        (unsubscribed > 0).then(|| format!("{unsubscribed} of feeds you are not subscribed to")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
