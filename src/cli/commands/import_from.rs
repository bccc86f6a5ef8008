//! `backissue import --from`: takes subscriptions over from another feed reader, with the entries that were read or starred there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

use crate::cli::Done;
use crate::cli::args::{ImportArgs, OtherReader};
use crate::cli::commands::import;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::request::Request;
use backissue_core::feed::text::counted_words;
use backissue_core::other_readers::elsewhere::ElsewhereEntry;
use backissue_core::other_readers::newsboat;

/// What is known of entries, by the address of the feed.
type KnownEntries = BTreeMap<String, Vec<ElsewhereEntry>>;

/// Runs `backissue import --from READER`.
pub(in crate::cli) fn run(
    desk: &CommandContext,
    args: &ImportArgs,
    reader: OtherReader,
) -> Result<Done, Failure> {
    let OtherReader::Newsboat = reader;
    let folders = args.file.as_ref().map_or_else(usual_folders, |path| vec![path.into()]);
    let cannot = |path: &Path, why: String| {
        Failure::new(format!("'{}' cannot be imported: {why}", path.display()))
    };
    let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|it| it.is_file());
    let Some(urls) = find("urls") else {
        let searched: Vec<String> =
            folders.iter().map(|folder| folder.display().to_string()).collect();
        return Err(Failure::new(format!(
            "no file 'urls' of newsboat was found in {}: name its folder",
            searched.join(" or ")
        )));
    };
    let read = |path: &Path| {
        let named = path.to_str().ok_or_else(|| "its name is not UTF-8".to_owned());
        named.and_then(|named| desk.read_file(named)).map_err(|why| cannot(path, why))
    };
    let list = read(&urls)?;
    let known = if let Some(cache) = find("cache.db") {
        newsboat::read_cache(&read(&cache)?).map_err(|why| cannot(&cache, why))?
    } else {
        desk.tell("no cache.db was found beside the urls file: every entry will be unread");
        KnownEntries::new()
    };
    let imported = import::import_list(desk, &urls.display().to_string(), &list, args.dry_run)?;
    note_entries(desk, known, args.dry_run)?;
    Ok(imported)
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

/// Hands over what is known of entries, and prints what came of it.
fn note_entries(desk: &CommandContext, known: KnownEntries, dry_run: bool) -> Result<(), Failure> {
    let entries = || known.values().flatten();
    let (all, read) = (entries().count(), entries().filter(|it| it.is_read).count());
    let starred = entries().filter(|it| it.is_starred).count();
    desk.put(&format!(
        "{} there: {read} read, {starred} flagged",
        counted_words(all, "entry", "entries")
    ));
    if dry_run {
        return Ok(());
    }
    desk.change(Request::NoteElsewhere(known))?;
    let noted = desk.inspect(|engine| engine.elsewhere)?;
    desk.put(&format!(
        "{} marked here, {} flagged and added with their texts, {} waiting for the next polls (90 days at most)",
        noted.met, noted.added, noted.later
    ));
    Ok(())
}
