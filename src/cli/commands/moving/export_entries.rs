//! `backissue export --starred`, `--entries` and `--entry`: entries with their texts, for browsers and other programs.

use std::collections::BTreeSet;
use std::io;

use super::epub::Book;
use super::export::{self, WritePiece, in_file};
use crate::cli::args::{EntryFormat, ExportArgs};
use crate::cli::commands::search::catch_up;
use crate::cli::commands::show::no_entry;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, json};
use crate::engine::entries::entry_view::EntryView;
use crate::engine::entries::rows::{ListQuery, RowOrder, Scope, Show};
use crate::engine::moving::entry_formats::{
    BOOKMARKS_END, BOOKMARKS_HEAD, JSON_FEED_END, JSON_FEED_HEAD, bookmark, json_feed_item,
};
use crate::engine::search_query;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::named_files::{FileKind, NamedFile};
use crate::view::panes::entry_text;
use backissue_core::feed::address::without_logins;
use backissue_core::feed::text::counted_words;
use backissue_core::history::EntryKey;

/// Numbers of what was written, of entries without a link, and of those that cannot be read.
#[derive(Debug, Default)]
struct Written {
    entries: usize,
    without_link: usize,
    left_out: usize,
}

/// Runs `backissue export` with chosen entries.
pub(super) fn run(desk: &CommandContext, args: &ExportArgs) -> Result<Done, Failure> {
    let engine = desk.engine()?;
    let keys = find(desk, &engine, args)?;
    let format = format_of(args);
    let kind = match format {
        EntryFormat::Bookmarks => FileKind::Bookmarks,
        EntryFormat::JsonFeed => FileKind::JsonFeed,
        EntryFormat::Markdown => FileKind::Markdown,
        EntryFormat::Epub => FileKind::Epub,
    };
    let mut written = Written::default();
    let path = if format == EntryFormat::Epub {
        Some(write_book(desk, &engine, args, &keys, &mut written)?)
    } else {
        export::write(desk, args, kind, &mut |put| {
            written = write_entries(desk, &engine, &keys, format, put)?;
            Ok(())
        })?
    };
    if written.without_link > 0 {
        let entries = counted_words(written.without_link, "entry", "entries");
        desk.tell(&format!("{entries} without a web page left out"));
    }
    if let Some(path) = path {
        let entries = counted_words(written.entries, "entry", "entries");
        desk.tell(&format!("{entries} written to {path}"));
    }
    Ok(desk.tell_left_out(written.left_out, "entry", "entries"))
}

/// Returns the format that the user names, or that fits the name of the file.
fn format_of(args: &ExportArgs) -> EntryFormat {
    let extension = args.file.as_deref().and_then(|path| path.extension());
    let by_name = match extension.and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Some(EntryFormat::Bookmarks),
        Some("json") => Some(EntryFormat::JsonFeed),
        Some("md" | "markdown") => Some(EntryFormat::Markdown),
        Some("epub") => Some(EntryFormat::Epub),
        _ if args.starred => Some(EntryFormat::Bookmarks),
        _ => None,
    };
    args.format.or(by_name).unwrap_or(EntryFormat::Markdown)
}

/// Returns the chosen entries, newest first, or in the order in which they are named.
fn find(
    desk: &CommandContext,
    engine: &Engine,
    args: &ExportArgs,
) -> Result<Vec<EntryKey>, Failure> {
    if !args.numbers.is_empty() {
        let keys = args.numbers.iter().map(|typed| typed.parse().map_err(Failure::new));
        let keys: Vec<EntryKey> = keys.collect::<Result<_, Failure>>()?;
        for &key in &keys {
            if desk.look(move |store| store.entry(key))?.is_none() {
                return Err(no_entry(key));
            }
        }
        return Ok(keys);
    }
    let (mut scope, mut show) = (Scope::Everything, Show::Starred);
    if let Some(text) = &args.entries {
        let matching = search_query::resolve(engine, clock::now(), text, false)
            .map_err(|flaw| Failure::new(without_logins(&flaw.to_string())))?;
        if matching.has_words() {
            catch_up(desk)?;
        }
        (scope, show) = (Scope::Found(Box::new(matching)), Show::All);
    }
    let query = ListQuery {
        scope,
        show,
        since: None,
        keep: BTreeSet::new(),
        gaps: Vec::new(),
        order: RowOrder::NewestFirst,
        join: None,
    };
    let rows = desk.look(move |store| store.ordered(&query))?;
    Ok(rows.iter().filter_map(|row| row.entry()).collect())
}

/// Reads an entry to write. Returns `None` for an entry that cannot be read, and counts it as left out. A stop signal
/// is an error, so that no incomplete file replaces an earlier one.
fn read_one(
    desk: &CommandContext,
    engine: &Engine,
    key: EntryKey,
    written: &mut Written,
) -> io::Result<Option<EntryView>> {
    if desk.is_closed() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let read = desk.look(move |store| store.read_entry(key)).map_err(in_file)?;
    let found = read.ok().filter(|entry| engine.feeds.contains_key(&entry.key.feed));
    let found = found.map(|entry| engine.view_of(entry).outgoing());
    if found.is_none() {
        written.left_out = written.left_out.saturating_add(1);
    }
    Ok(found)
}

/// Writes a book. Returns the path of the file.
fn write_book(
    desk: &CommandContext,
    engine: &Engine,
    args: &ExportArgs,
    keys: &[EntryKey],
    written: &mut Written,
) -> Result<String, Failure> {
    let path = args.file.as_deref().filter(|path| path.as_os_str() != "-");
    let Some(path) = path.map(|path| path.to_string_lossy().into_owned()) else {
        return Err(Failure::new("a book is a file: name one, such as 'entries.epub'"));
    };
    let file = NamedFile { path, kind: FileKind::Epub, force: args.force };
    desk.write_file(&file, &mut |file| {
        let mut book = Book::new()?;
        for &key in keys {
            let Some(view) = read_one(desk, engine, key, written)? else { continue };
            book.add(&view)?;
            written.entries = written.entries.saturating_add(1);
        }
        book.write(file)
    })?;
    Ok(file.path)
}

fn write_entries(
    desk: &CommandContext,
    engine: &Engine,
    keys: &[EntryKey],
    format: EntryFormat,
    put: &mut WritePiece<'_>,
) -> io::Result<Written> {
    let (head, end) = match format {
        EntryFormat::Bookmarks => (BOOKMARKS_HEAD, BOOKMARKS_END),
        EntryFormat::JsonFeed => (JSON_FEED_HEAD, JSON_FEED_END),
        EntryFormat::Markdown | EntryFormat::Epub => ("", ""),
    };
    if !head.is_empty() {
        put(head)?;
    }
    let (mut written, mut ids) = (Written::default(), BTreeSet::new());
    for &key in keys {
        let Some(view) = read_one(desk, engine, key, &mut written)? else { continue };
        // A mark between two entries.
        let between = if written.entries == 0 { "" } else { "---\n\n" };
        let text = match format {
            EntryFormat::Bookmarks => bookmark(&view),
            EntryFormat::JsonFeed => {
                let comma = if written.entries == 0 { "" } else { "," };
                let item = json_feed_item(&view, &mut ids);
                Some(format!("{comma}{}", json::line(&item)))
            }
            EntryFormat::Markdown => Some(format!("{between}{}", entry_text::markdown(&view))),
            // It is written by `write_book`.
            EntryFormat::Epub => None,
        };
        if let Some(text) = text {
            put(&text)?;
            written.entries = written.entries.saturating_add(1);
        } else {
            written.without_link = written.without_link.saturating_add(1);
        }
    }
    if !end.is_empty() {
        put(end)?;
    }
    Ok(written)
}
