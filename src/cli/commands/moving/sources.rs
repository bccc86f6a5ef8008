//! Finds and reads what `backissue import` is given: a list, or the files of another reader.

use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

use super::import::Source;
use crate::cli::args::{ImportArgs, OtherReader};
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use backissue_core::feed::logins::without_logins;
use backissue_core::feed::opml::read_list;
use backissue_core::other_readers::elsewhere::KnownEntries;
use backissue_core::other_readers::library::Library;
use backissue_core::other_readers::newsboat;
use backissue_core::other_readers::newsboat_config::{NewsboatConfig, read_config};

/// Reads what is to be imported.
pub(super) fn find(desk: &CommandContext, args: &ImportArgs) -> Result<Source, Failure> {
    if let Some(OtherReader::Newsboat) = args.from {
        let library = read_newsboat(desk, args)?;
        return Ok(Source { library, is_reader: true });
    }
    let path = args.file.as_deref().unwrap_or("-");
    let library = read_plain(desk, path)?;
    Ok(Source { library, is_reader: false })
}

fn cannot(path: &str, why: &str) -> Failure {
    Failure::new(format!("'{}' cannot be imported: {why}", without_logins(path)))
}

fn read_plain(desk: &CommandContext, path: &str) -> Result<Library, Failure> {
    let bytes = desk.read_file(path).map_err(|why| cannot(path, &why))?;
    let list = read_list(&bytes).map_err(|why| cannot(path, &why))?;
    Ok(Library { list, ..Library::default() })
}

/// Reads a file whose path is not typed.
fn read(desk: &CommandContext, path: &Path) -> Result<Vec<u8>, Failure> {
    let shown = path.display().to_string();
    let named = path.to_str().ok_or_else(|| cannot(&shown, "its name is not UTF-8"))?;
    desk.read_file(named).map_err(|why| cannot(&shown, &why))
}

fn read_newsboat(desk: &CommandContext, args: &ImportArgs) -> Result<Library, Failure> {
    let folders = args.file.as_ref().map_or_else(usual_folders, |path| vec![path.into()]);
    let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|it| it.is_file());
    let Some(urls) = find("urls") else {
        let searched: Vec<String> =
            folders.iter().map(|folder| folder.display().to_string()).collect();
        return Err(Failure::new(format!(
            "no file 'urls' of newsboat was found in {}: name its folder",
            searched.join(" or ")
        )));
    };
    let list =
        read_list(&read(desk, &urls)?).map_err(|why| cannot(&urls.display().to_string(), &why))?;
    let entries = if let Some(cache) = find("cache.db") {
        newsboat::read_cache(&read(desk, &cache)?)
            .map_err(|why| cannot(&cache.display().to_string(), &why))?
    } else {
        desk.tell("no cache.db was found beside the urls file: every entry will be unread");
        KnownEntries::new()
    };
    let config = match find("config") {
        Some(path) => read_config(&String::from_utf8_lossy(&read(desk, &path)?)),
        None => NewsboatConfig::default(),
    };
    Ok(Library { list, entries, config })
}

/// Returns the folders in which newsboat looks for its files.
fn usual_folders() -> Vec<PathBuf> {
    let Ok(base) = choose_base_strategy() else { return Vec::new() };
    vec![
        base.home_dir().join(".newsboat"),
        base.config_dir().join("newsboat"),
        base.data_dir().join("newsboat"),
    ]
}
