//! Finds and reads what `backissue import` is given: a list, or the files of another reader.

use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

use super::import::Source;
use crate::cli::args_changes::{ImportArgs, OtherReader};
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::io::system::words::system_words;
use backissue_core::feed::address::without_logins;
use backissue_core::feed::opml::read_list;
use backissue_core::other_readers::elsewhere::KnownEntries;
use backissue_core::other_readers::library::Library;
use backissue_core::other_readers::newsboat_config::{NewsboatConfig, read_config};
use backissue_core::other_readers::sqlite::{Sqlite, is_interrupted, with_log};
use backissue_core::other_readers::{databases, recognise};

/// Names of the files of other readers in their folders.
const FILES: [&str; 6] = [
    "newsraft.sqlite3",
    "database.sqlite",
    "liferea.db",
    "feedr_data.json",
    "database.db",
    "database/database.db",
];

/// Reads what is to be imported.
pub(super) fn find(desk: &CommandContext, args: &ImportArgs) -> Result<Source, Failure> {
    let named = args.file.as_deref().map(PathBuf::from);
    let folders = match (args.from, named) {
        (_, Some(path)) if path.is_dir() => vec![path],
        (Some(reader), None) => usual_folders(reader),
        (_, path) => return read_file(desk, &path.unwrap_or_else(|| "-".into())),
    };
    let is_newsboat = match args.from {
        Some(reader) => reader == OtherReader::Newsboat,
        None => folders.iter().any(|folder| folder.join("urls").is_file()),
    };
    if is_newsboat {
        return Ok(Source { library: read_newsboat(desk, &folders)?, is_reader: true });
    }
    let places = || folders.iter().flat_map(|folder| FILES.iter().map(|name| folder.join(name)));
    let Some(path) = places().find(|path| path.is_file()) else {
        return Err(Failure::new(format!(
            "no file of another reader was found in {}: name the file",
            listed(&folders)
        )));
    };
    let mut source = read_file(desk, &path)?;
    // The titles and sections of newsraft are in a list.
    let list = folders.iter().map(|folder| folder.join("feeds")).find(|list| list.is_file());
    if let Some(list) = list.filter(|_| path.ends_with("newsraft.sqlite3")) {
        source.library.list = read_list(&read(desk, &list)?)
            .map_err(|why| cannot(&list.display().to_string(), &why))?;
    }
    Ok(source)
}

/// Reads a file: of another reader, or a list.
fn read_file(desk: &CommandContext, path: &Path) -> Result<Source, Failure> {
    let shown = path.display().to_string();
    let bytes = read_database(desk, path)?;
    if let Some(library) = recognise::read(&bytes).map_err(|why| cannot(&shown, &why))? {
        return Ok(Source { library, is_reader: true });
    }
    let list = read_list(&bytes).map_err(|why| cannot(&shown, &why))?;
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
fn read(desk: &CommandContext, path: &Path) -> Result<Vec<u8>, Failure> {
    let shown = path.display().to_string();
    let named = path.to_str().ok_or_else(|| cannot(&shown, "its name is not UTF-8"))?;
    desk.read_file(named).map_err(|error| cannot(&shown, &system_words(&error)))
}

/// Reads the bytes of a file. Those of a database include what its program left in files beside it.
fn read_database(desk: &CommandContext, path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = read(desk, path)?;
    if !Sqlite::is_database(&bytes) {
        return Ok(bytes);
    }
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let found = Path::new(&name).metadata().is_ok_and(|found| found.len() > 0);
        if found { read(desk, Path::new(&name)) } else { Ok(Vec::new()) }
    };
    if is_interrupted(&beside("-journal")?) {
        let why =
            "a change of it is not finished: start the other reader, end it, and import again";
        return Err(cannot(&path.display().to_string(), why));
    }
    Ok(with_log(bytes, &beside("-wal")?))
}

fn read_newsboat(desk: &CommandContext, folders: &[PathBuf]) -> Result<Library, Failure> {
    let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|it| it.is_file());
    let Some(urls) = find("urls") else {
        return Err(Failure::new(format!(
            "no file 'urls' of newsboat was found in {}: name its folder",
            listed(folders)
        )));
    };
    let list =
        read_list(&read(desk, &urls)?).map_err(|why| cannot(&urls.display().to_string(), &why))?;
    let entries = if let Some(cache) = find("cache.db") {
        databases::read_cache(&read_database(desk, &cache)?)
            .map_err(|why| cannot(&cache.display().to_string(), &why))?
    } else {
        desk.tell("no cache.db was found beside the urls file: every entry will be unread");
        KnownEntries::new()
    };
    let config = match find("config") {
        Some(path) => read_config(&String::from_utf8_lossy(&read(desk, &path)?)),
        None => NewsboatConfig::default(),
    };
    Ok(Library { list, entries, config, is_outgoing: false })
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
