//! `backissue export`: writes all subscriptions as OPML 2.0, the state of all entries as lines of JSON, which `backissue import`
//! reads, or chosen entries with their texts, for browsers, reading devices and other programs. A
//! book of entries is an EPUB with a section for each feed, and with those pictures of the texts that are stored.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use backissue_core::feed::outgoing::{escaped_text, outgoing_link};
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::other_readers::state_file::{STATE_VERSION, StateEntry, StateFeed, StateLine};
use chrono::SubsecRound;
use epub_builder::{EpubBuilder, EpubContent, EpubVersion, ReferenceType, ZipLibrary};

use crate::cli::args::{EntryFormat, ExportArgs};
use crate::cli::commands::entries::{found_by, list_keys, no_entry};
use crate::cli::commands::feeds::tell_lost;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, json};
use crate::engine::entries::entry_view::{EntryView, LoadedEntry};
use crate::engine::entries::rows::{Scope, Show};
use crate::engine::entry_formats::{
    BOOKMARKS_END, BOOKMARKS_HEAD, JSON_FEED_END, JSON_FEED_HEAD, bookmark, json_feed_item,
};
use crate::engine::feeds::import::subscriptions_text;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::named_files::{FileKind, NamedFile};
use crate::io::pictures::PictureCache;
use crate::view::html::{self, InBook};
use crate::view::panes::entry_lines;

/// Writes a piece of an export: one or several lines without the last line end.
pub(super) type WritePiece<'a> = dyn FnMut(&str) -> io::Result<()> + 'a;

/// Runs `backissue export`.
pub(in crate::cli) fn run(context: &CommandContext, args: &ExportArgs) -> Result<Done, Failure> {
    if args.state {
        return export_state(context, args);
    }
    if args.starred || args.entries.is_some() || !args.numbers.is_empty() {
        return export_entries(context, args);
    }
    let saved = context.look(|store| store.subscriptions())?;
    let text = subscriptions_text(saved.iter().map(|saved| &saved.record));
    let path = write(context, args, FileKind::Opml, &mut |put| put(text.trim_end()))?;
    if let Some(path) = path {
        let feeds = counted_words(saved.len(), "subscription", "subscriptions");
        context.tell(&format!("{feeds} written to {path}"));
    }
    tell_lost(context)
}

/// Writes an export to standard output, or to a file completely or not at all. Returns the path of the file.
pub(super) fn write(
    context: &CommandContext,
    args: &ExportArgs,
    kind: FileKind,
    export: &mut dyn FnMut(&mut WritePiece<'_>) -> io::Result<()>,
) -> Result<Option<String>, Failure> {
    let Some(path) = args.file.as_deref().filter(|path| path.as_os_str() != "-") else {
        let mut put = |text: &str| {
            context.put(text);
            Ok(())
        };
        return match export(&mut put) {
            // The program that reads the output has closed it.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            done => done.map(|()| None).map_err(|error| Failure::new(error.to_string())),
        };
    };
    let path = path.to_string_lossy().into_owned();
    let file = NamedFile { path, kind, force: args.force };
    context.write_file(&file, &mut |file| {
        export(&mut |text| {
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")
        })
    })?;
    Ok(Some(file.path))
}

/// Turns a failure within [`write()`] into an error of the file.
fn in_file(failure: Failure) -> io::Error {
    io::Error::other(failure.sentence)
}

/// Numbers of entries: written ones, ones without a link, and unreadable ones.
#[derive(Debug, Default)]
struct Written {
    entries: usize,
    without_link: usize,
    left_out: usize,
}

/// Runs `backissue export` with chosen entries.
pub(super) fn export_entries(context: &CommandContext, args: &ExportArgs) -> Result<Done, Failure> {
    let engine = context.engine()?;
    let keys = find(context, &engine, args)?;
    let format = format_of(args);
    let kind = match format {
        EntryFormat::Bookmarks => FileKind::Bookmarks,
        EntryFormat::JsonFeed => FileKind::JsonFeed,
        EntryFormat::Markdown => FileKind::Markdown,
        EntryFormat::Epub => FileKind::Epub,
    };
    let mut written = Written::default();
    let path = if format == EntryFormat::Epub {
        Some(write_book(context, &engine, args, &keys, &mut written)?)
    } else {
        write(context, args, kind, &mut |put| {
            written = write_entries(context, &engine, &keys, format, put)?;
            Ok(())
        })?
    };
    if written.without_link > 0 {
        let entries = counted_words(written.without_link, "entry", "entries");
        context.tell(&format!("{entries} without a web page left out"));
    }
    if let Some(path) = path {
        let entries = counted_words(written.entries, "entry", "entries");
        context.tell(&format!("{entries} written to {path}"));
    }
    Ok(context.tell_left_out(written.left_out, "entry", "entries"))
}

/// Returns the format that the user named, or else the format that matches the extension of the file.
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

/// Returns the chosen entries, newest first, or in the order in which the user named them.
fn find(
    context: &CommandContext,
    engine: &Engine,
    args: &ExportArgs,
) -> Result<Vec<EntryKey>, Failure> {
    if !args.numbers.is_empty() {
        let keys = args.numbers.iter().map(|typed| typed.parse().map_err(Failure::new));
        let keys: Vec<EntryKey> = keys.collect::<Result<_, Failure>>()?;
        for &key in &keys {
            if context.look(move |store| store.entry(key))?.is_none() {
                return Err(no_entry(key));
            }
        }
        return Ok(keys);
    }
    select(context, engine, args.entries.as_deref())
}

/// Returns the entries that a query finds, newest first. Without a query, returns the starred entries.
pub(super) fn select(
    context: &CommandContext,
    engine: &Engine,
    query: Option<&str>,
) -> Result<Vec<EntryKey>, Failure> {
    match query {
        Some(text) => list_keys(context, found_by(context, engine, text)?, Show::All),
        None => list_keys(context, Scope::Everything, Show::Starred),
    }
}

/// Reads an entry to write. If the entry cannot be read, counts it as left out and returns `None`. A stop signal is an error, so
/// that no incomplete file replaces an earlier one.
fn read_one(
    context: &CommandContext,
    engine: &Engine,
    key: EntryKey,
    written: &mut Written,
) -> io::Result<Option<EntryView>> {
    if context.is_closed() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let read = context.look(move |store| store.read_entry(key)).map_err(in_file)?;
    let found = read.ok().filter(|entry| engine.feeds.contains_key(&entry.key.feed));
    let found = found.map(|entry| engine.view_of(entry));
    if found.is_none() {
        written.left_out = written.left_out.saturating_add(1);
    }
    Ok(found)
}

/// Writes a book, in which the entries of each feed follow one another. Returns the path of the file.
fn write_book(
    context: &CommandContext,
    engine: &Engine,
    args: &ExportArgs,
    keys: &[EntryKey],
    written: &mut Written,
) -> Result<String, Failure> {
    let path = args.file.as_deref().filter(|path| path.as_os_str() != "-");
    let Some(path) = path.map(|path| path.to_string_lossy().into_owned()) else {
        return Err(Failure::new("a book is a file: name one, such as 'entries.epub'"));
    };
    if keys.is_empty() {
        return Err(Failure::new("there is no entry to write: a book needs one"));
    }
    let file = NamedFile { path, kind: FileKind::Epub, force: args.force };
    let today = clock::now().with_timezone(&engine.zone).format("%-d %B %Y");
    let title = format!("backissue, {today}");
    let cache = context.look(|store| Ok(PictureCache::beside(store.folder())))?;
    let (mut by_feed, mut order) = (keys.to_vec(), BTreeMap::new());
    for key in keys {
        let next = order.len();
        order.entry(key.feed).or_insert(next);
    }
    by_feed.sort_by_key(|key| order.get(&key.feed).copied());
    context.write_file(&file, &mut |file| {
        let mut book = Book::new(&title, order.len() > 1, cache.clone())?;
        for &key in &by_feed {
            let Some(view) = read_one(context, engine, key, written)? else { continue };
            book.add(view)?;
            written.entries = written.entries.saturating_add(1);
        }
        book.write(file)
    })?;
    Ok(file.path)
}

fn write_entries(
    context: &CommandContext,
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
        let Some(view) = read_one(context, engine, key, &mut written)? else { continue };
        let view = view.outgoing();
        // A separator between two entries.
        let between = if written.entries == 0 { "" } else { "---\n\n" };
        let text = match format {
            EntryFormat::Bookmarks => bookmark(&view),
            EntryFormat::JsonFeed => {
                let comma = if written.entries == 0 { "" } else { "," };
                let item = json_feed_item(&view, &mut ids);
                Some(format!("{comma}{}", json::line(&item)))
            }
            EntryFormat::Markdown => Some(format!("{between}{}", entry_lines::markdown(&view))),
            // `write_book` writes books.
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

/// Number of entries to read from the store at once.
const SLICE: u32 = 256;

/// Numbers of written entries, and of entries that cannot be read.
#[derive(Debug, Default)]
struct WrittenState {
    entries: usize,
    left_out: usize,
}

/// Runs `backissue export --state`.
pub(super) fn export_state(context: &CommandContext, args: &ExportArgs) -> Result<Done, Failure> {
    let engine = context.engine()?;
    let mut written = WrittenState::default();
    let path = write(context, args, FileKind::State, &mut |put| {
        written = write_all(context, &engine, put)?;
        Ok(())
    })?;
    if let Some(path) = path {
        let feeds = counted_words(engine.feeds.len(), "subscription", "subscriptions");
        let entries = counted_words(written.entries, "entry", "entries");
        context.tell(&format!("{feeds} and {entries} written to {path}"));
    }
    Ok(context.tell_left_out(written.left_out, "entry", "entries"))
}

fn write_all(
    context: &CommandContext,
    engine: &Engine,
    put: &mut WritePiece<'_>,
) -> io::Result<WrittenState> {
    let exported = Some(clock::now().trunc_subsecs(0));
    put(&text(&StateLine::State { version: STATE_VERSION, exported }))?;
    for feed in engine.feeds.values() {
        put(&text(&StateLine::Feed(feed_line(feed))))?;
    }
    let mut written = WrittenState::default();
    for feed in engine.feeds.values() {
        let key = feed.key;
        let end = feed.counters.next_seq;
        for start in (0..end).step_by(SLICE as usize) {
            if context.is_closed() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let range = start..start.saturating_add(SLICE).min(end);
            let wanted = range.len();
            let read = context.look(move |store| store.news(&[(key, range)])).map_err(in_file)?;
            written.left_out = written.left_out.saturating_add(wanted.saturating_sub(read.len()));
            for entry in read.iter().filter(|entry| entry.flags.is_findable()) {
                written.entries = written.entries.saturating_add(1);
                put(&text(&StateLine::Entry(Box::new(entry_line(engine, feed, entry)))))?;
            }
        }
    }
    put(&text(&StateLine::End))?;
    Ok(written)
}

fn feed_line(feed: &Subscription) -> StateFeed {
    let record = &feed.record;
    StateFeed {
        url: record.url.clone(),
        title: record.own_title.clone(),
        publisher_title: record.title.clone(),
        site: record.site.clone(),
        tags: record.tags.clone(),
        settings: record.feed_settings.to_opml(),
    }
}

fn entry_line(engine: &Engine, feed: &Subscription, entry: &LoadedEntry) -> StateEntry {
    let labels = engine.filters.labels(&entry.ruled);
    let line = StateEntry::new(&feed.record.url, &entry.kept, entry.flags, labels);
    let content = entry.feed_text().filter(|_| line.is_kept()).map(str::to_owned);
    StateEntry { content, ..line }
}

/// Formats a line. It contains no line end and no control characters.
fn text(line: &StateLine) -> String {
    serde_json::to_value(line).map(|value| json::line(&value)).unwrap_or_default()
}

/// A book to which entries are added. The entries of a feed must be added one after another.
pub(super) struct Book {
    builder: EpubBuilder<ZipLibrary>,
    cache: PictureCache,
    /// Names of the pictures in the book, by the addresses that the texts contain.
    pictures: BTreeMap<String, String>,
    languages: BTreeSet<String>,
    /// Number of pages.
    pages: usize,
    has_sections: bool,
    /// Feed of the current section.
    section: Option<FeedKey>,
}

impl Book {
    /// Creates a book without entries. If `has_sections` is set, each feed gets a section.
    pub(super) fn new(title: &str, has_sections: bool, cache: PictureCache) -> io::Result<Self> {
        let mut builder = EpubBuilder::new(ZipLibrary::new().map_err(io::Error::other)?)
            .map_err(io::Error::other)?;
        builder.epub_version(EpubVersion::V30);
        builder.set_title(title);
        builder.set_generator("backissue");
        let style = "img { max-width: 100%; height: auto; }";
        builder.stylesheet(style.as_bytes()).map_err(io::Error::other)?;
        let (pictures, languages) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { builder, cache, pictures, languages, pages: 0, has_sections, section: None })
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, view: EntryView) -> io::Result<()> {
        let (_, markup, base) = view.text();
        for address in html::picture_addresses(markup, base) {
            self.add_picture(&address)?;
        }
        let view = view.outgoing();
        let feed = view.entry.key.feed;
        if self.has_sections && self.section != Some(feed) {
            let title = &view.feed.title;
            let heading = format!("<h1>{}</h1>\n", escaped_text(title));
            self.add_page(&view, title, 1, |_| heading)?;
            self.section = Some(feed);
        }
        let level = if self.has_sections { 2 } else { 1 };
        let title = view.entry.kept.shown_title();
        self.add_page(&view, title, level, |place| entry_lines::xhtml(&view, place))?;
        self.languages.extend(view.feed.language);
        Ok(())
    }

    /// Adds a picture if it is in the cache.
    fn add_picture(&mut self, address: &str) -> io::Result<()> {
        let Some(shown) = outgoing_link(address) else { return Ok(()) };
        if self.pictures.contains_key(&shown) {
            return Ok(());
        }
        let Some(bytes) = self.cache.find(address) else { return Ok(()) };
        let Ok(format) = image::guess_format(&bytes) else { return Ok(()) };
        let end = format.extensions_str().first().copied().unwrap_or_default();
        let name = format!("picture-{}.{end}", self.pictures.len().saturating_add(1));
        let added = self.builder.add_resource(&name, bytes.as_slice(), format.to_mime_type());
        added.map_err(io::Error::other)?;
        self.pictures.insert(shown, name);
        Ok(())
    }

    /// Adds a page in the language and writing direction of an entry, and lists it at this level of the contents.
    fn add_page(
        &mut self,
        view: &EntryView,
        title: &str,
        level: i32,
        body: impl FnOnce(InBook<'_>) -> String,
    ) -> io::Result<()> {
        let language = view.feed.language.as_deref();
        let is_leftward = entry_lines::is_leftward(title, language);
        let language = language.map(|tag| format!(" lang=\"{tag}\" xml:lang=\"{tag}\""));
        let page = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<html xmlns=\"http://www.w3.org/1999/xhtml\"{}{}>\
             <head><title>{}</title><link rel=\"stylesheet\" type=\"text/css\" href=\"stylesheet.css\"/></head>\n\
             <body>\n{}</body></html>\n",
            language.unwrap_or_default(),
            if is_leftward { " dir=\"rtl\"" } else { "" },
            escaped_text(title),
            body(InBook { is_leftward, pictures: Some(&self.pictures) })
        );
        self.pages = self.pages.saturating_add(1);
        let name = format!("page-{}.xhtml", self.pages);
        let mut content = EpubContent::new(name, page.as_bytes()).title(title).level(level);
        if self.pages == 1 {
            // The list of landmarks must not be empty.
            content = content.reftype(ReferenceType::Text);
        }
        self.builder.add_content(content).map_err(io::Error::other)?;
        Ok(())
    }

    /// Writes the book.
    pub(super) fn write(mut self, file: &mut dyn Write) -> io::Result<()> {
        if self.languages.is_empty() {
            // The format requires a language: undetermined.
            self.languages.insert("und".to_owned());
        }
        self.builder.set_languages(self.languages.into_iter().collect());
        let mut bytes = Vec::new();
        self.builder.generate(&mut bytes).map_err(io::Error::other)?;
        file.write_all(&bytes)
    }
}
