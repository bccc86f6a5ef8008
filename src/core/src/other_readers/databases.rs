//! Reads the databases of Liferea, news-flash (the library that eilmeldung and Newsflash use), newsboat, newsraft and RSS Guard.
//! The database of newsraft has no titles and sections, which are in its file `feeds`. Also recognises the file of any other reader
//! by its content.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, Utc};

use super::elsewhere::{ElsewhereEntry, KnownEntries};
use super::library::{Folders, Library, folder_tag, is_set, rows, seconds, some, text};
use super::sqlite::Sqlite;
use super::{json_files, library, state_file};
use crate::InputFlaw;
use crate::feed::Entry;

/// Reads the database of Liferea. The error is a fragment of a sentence.
pub(super) fn read_liferea(database: &Sqlite<'_>) -> Result<Library, InputFlaw> {
    let mut library = Library::default();
    let mut nodes = Folders::new();
    for [id, parent, title] in rows(database, "node", ["node_id", "parent_id", "title"])? {
        let id = text(&id);
        if id != "root" {
            nodes.insert(id, (text(&title), text(&parent)));
        }
    }
    let mut addresses = BTreeMap::new();
    for [id, address] in rows(database, "subscription", ["node_id", "source"])? {
        let (id, address) = (text(&id), text(&address));
        let (title, parent) = nodes.get(&id).cloned().unwrap_or_default();
        library.add_feed(&address, some(&title), &[folder_tag(&nodes, &parent)]);
        addresses.insert(id, address);
    }
    let columns =
        ["node_id", "title", "read", "marked", "source", "source_id", "description", "date"];
    for [node, title, read, marked, link, guid, content, date] in rows(database, "items", columns)?
    {
        let Some(address) = addresses.get(&text(&node)) else { continue };
        let entry = Entry {
            id: text(&guid),
            title: some(&text(&title)),
            link: some(&text(&link)),
            published: seconds(&date),
            content: some(&text(&content)),
            ..Entry::default()
        };
        let (is_read, is_starred) = (is_set(&read), is_set(&marked));
        library.add_entry(
            address,
            ElsewhereEntry { entry, is_read, is_starred, ..ElsewhereEntry::default() },
        );
    }
    Ok(library)
}

/// Values of the columns `unread` and `marked`. In both, 0 means yes: the entry is read, or it is marked.
const READ: Option<i64> = Some(0);
const MARKED: Option<i64> = Some(0);

/// Reads the database of news-flash. The error is a fragment of a sentence.
pub(super) fn read_news_flash(database: &Sqlite<'_>) -> Result<Library, InputFlaw> {
    let mut library = Library::default();
    let mut folders = Folders::new();
    for [id, label] in rows(database, "categories", ["category_id", "label"])? {
        folders.insert(text(&id), (text(&label), String::new()));
    }
    for [id, parent] in rows(database, "category_mapping", ["category_id", "parent_id"])? {
        if let Some(folder) = folders.get_mut(&text(&id)) {
            folder.1 = text(&parent);
        }
    }
    let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for [feed, folder] in rows(database, "feed_mapping", ["feed_id", "category_id"])? {
        tags.entry(text(&feed)).or_default().push(folder_tag(&folders, &text(&folder)));
    }
    let mut addresses = BTreeMap::new();
    for [id, label, address] in rows(database, "feeds", ["feed_id", "label", "feed_url"])? {
        let (id, address) = (text(&id), text(&address));
        let tags = tags.get(&id).map_or(&[][..], Vec::as_slice);
        library.add_feed(&address, some(&text(&label)), tags);
        addresses.insert(id, address);
    }
    let mut names = BTreeMap::new();
    for [id, label] in rows(database, "tags", ["tag_id", "label"])? {
        names.insert(text(&id), text(&label));
    }
    let mut labels: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for [article, tag] in rows(database, "taggings", ["article_id", "tag_id"])? {
        labels.entry(text(&article)).or_default().extend(names.get(&text(&tag)).cloned());
    }
    let mut bodies = BTreeMap::new();
    for [id, html] in rows(database, "article_contents", ["article_id", "html"])? {
        bodies.insert(text(&id), text(&html));
    }
    let columns = [
        "article_id",
        "feed_id",
        "title",
        "author",
        "url",
        "date",
        "timestamp",
        "html",
        "unread",
        "marked",
    ];
    for [id, feed, title, author, link, date, earlier, html, unread, marked] in
        rows(database, "articles", columns)?
    {
        let (id, Some(address)) = (text(&id), addresses.get(&text(&feed))) else { continue };
        let content = some(&text(&html)).or_else(|| bodies.remove(&id));
        let entry = Entry {
            title: some(&text(&title)),
            author: some(&text(&author)),
            link: some(&text(&link)),
            published: time(&text(&date)).or_else(|| time(&text(&earlier))),
            content,
            id: id.clone(),
            ..Entry::default()
        };
        let labels = labels.remove(&id).unwrap_or_default();
        let (is_read, is_starred) = (unread.integer() == READ, marked.integer() == MARKED);
        library.add_entry(address, ElsewhereEntry { entry, is_read, is_starred, labels });
    }
    Ok(library)
}

/// Reads a time such as `2026-03-01 12:00:00+00:00`, with or without the offset.
fn time(written: &str) -> Option<DateTime<Utc>> {
    let zoned = DateTime::parse_from_rfc3339(&written.replacen(' ', "T", 1));
    let plain = || NaiveDateTime::parse_from_str(written, "%Y-%m-%d %H:%M:%S%.f").ok();
    zoned.ok().map(|time| time.to_utc()).or_else(|| plain().map(|time| time.and_utc()))
}

/// The columns that are read, in this order.
const COLUMNS: [&str; 10] = [
    "feedurl", "guid", "url", "title", "author", "pubDate", "unread", "flags", "deleted", "content",
];

/// Reads the cache of newsboat. Returns the entries by the address of their feed. An entry that was deleted in newsboat counts as
/// read. An entry with any flag counts as starred, and gets a label for each letter in its flags. Only such entries keep their
/// text. The error is a fragment of a sentence.
pub fn read_cache(bytes: &[u8]) -> Result<KnownEntries, InputFlaw> {
    let rows = Sqlite::open(bytes)?.read("rss_item", &COLUMNS)?;
    let rows = rows.ok_or("it has no table of entries, so it is not a cache of newsboat")?;
    let mut library = Library::default();
    for row in rows {
        let [feed, guid, url, title, author, date, unread, flags, deleted, content] =
            row.as_slice()
        else {
            continue;
        };
        let Some(feed) = feed.text() else { continue };
        let flags = flags.text().unwrap_or_default();
        let letters = flags.chars().filter(char::is_ascii_alphabetic);
        let labels: Vec<String> = letters.map(String::from).collect();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let entry = Entry {
            id: guid.text().unwrap_or_default().to_owned(),
            link: owned(url.text()),
            title: owned(title.text()),
            author: owned(author.text()),
            published: date.integer().and_then(|date| DateTime::from_timestamp(date, 0)),
            content: owned(content.text()),
            ..Entry::default()
        };
        let is_read = unread.integer() == Some(0) || deleted.integer() == Some(1);
        let is_starred = !flags.is_empty();
        library.add_entry(feed, ElsewhereEntry { entry, is_read, is_starred, labels });
    }
    Ok(library.entries)
}

/// Reads the database of newsraft. The error is a fragment of a sentence.
pub(super) fn read_newsraft(database: &Sqlite<'_>) -> Result<Library, InputFlaw> {
    let mut library = Library::default();
    for [address] in rows(database, "feeds", ["feed_url"])? {
        library.add_feed(&text(&address), None, &[]);
    }
    let columns =
        ["feed_url", "guid", "title", "link", "content", "publication_date", "unread", "important"];
    for [feed, guid, title, link, content, date, unread, important] in
        rows(database, "items", columns)?
    {
        let entry = Entry {
            id: text(&guid),
            title: some(&text(&title)),
            link: some(&text(&link)),
            published: seconds(&date),
            content: longest_text(&text(&content)),
            ..Entry::default()
        };
        let (is_read, is_starred) = (unread.integer() == Some(0), is_set(&important));
        library.add_entry(
            &text(&feed),
            ElsewhereEntry { entry, is_read, is_starred, ..ElsewhereEntry::default() },
        );
    }
    Ok(library)
}

/// Returns the longest text of an entry. Control characters separate the fields, and a field with a text begins with `text=`.
fn longest_text(content: &str) -> Option<String> {
    let fields =
        content.split(['\u{1e}', '\u{1f}']).filter_map(|field| field.strip_prefix("text="));
    fields.max_by_key(|text| text.len()).and_then(some)
}

/// Reads the database of RSS Guard. The error is a fragment of a sentence.
pub(super) fn read_rssguard(database: &Sqlite<'_>) -> Result<Library, InputFlaw> {
    let mut library = Library::default();
    let mut folders = Folders::new();
    for [id, parent, title] in rows(database, "Categories", ["id", "parent_id", "title"])? {
        folders.insert(text(&id), (text(&title), text(&parent)));
    }
    let mut addresses = BTreeMap::new();
    let columns = ["id", "custom_id", "title", "category", "source"];
    for [id, service, title, folder, address] in rows(database, "Feeds", columns)? {
        let address = text(&address);
        library.add_feed(&address, some(&text(&title)), &[folder_tag(&folders, &text(&folder))]);
        // Before version 4.8, articles refer to their feed by the id that the service of the feed assigned.
        addresses.insert(text(&service), address.clone());
        addresses.insert(text(&id), address);
    }
    let columns = [
        "feed",
        "title",
        "url",
        "author",
        "date_created",
        "contents",
        "is_read",
        "is_important",
        "is_deleted",
        "custom_id",
    ];
    for [feed, title, link, author, date, content, read, important, deleted, guid] in
        rows(database, "Messages", columns)?
    {
        let Some(address) = addresses.get(&text(&feed)) else { continue };
        let entry = Entry {
            id: text(&guid),
            title: some(&text(&title)),
            link: some(&text(&link)),
            author: some(&text(&author)),
            published: date.integer().and_then(DateTime::from_timestamp_millis),
            content: some(&text(&content)),
            ..Entry::default()
        };
        let (is_read, is_starred) = (is_set(&read) || is_set(&deleted), is_set(&important));
        library.add_entry(
            address,
            ElsewhereEntry { entry, is_read, is_starred, ..ElsewhereEntry::default() },
        );
    }
    Ok(library)
}

/// Reads a file of another reader or of `backissue export --state`. Databases are recognised by their tables, JSON files and
/// lists of channels by their structure. Returns `None` if the format is not known. The error is a fragment of a sentence.
pub fn read(bytes: &[u8]) -> Result<Option<Library>, InputFlaw> {
    if Sqlite::is_database(bytes) {
        return read_database(bytes).map(Some);
    }
    let text = bytes.trim_ascii_start();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let lines = String::from_utf8_lossy(text);
    if !text.starts_with(b"{") {
        return Ok(library::read_takeout(&lines));
    }
    if state_file::is_state(&lines) {
        return state_file::read(&lines).map(Some);
    }
    let why = "it is JSON, but neither a list of entries (FreshRSS, Google Takeout) nor the file of feedr or NewPipe; \
               subscriptions are read from OPML or a list of addresses";
    json_files::read(text).map(Some).ok_or_else(|| why.into())
}

/// Reads a database. The cache of newsboat contains no subscriptions, which are in its file `urls`.
fn read_database(bytes: &[u8]) -> Result<Library, InputFlaw> {
    let database = Sqlite::open(bytes)?;
    if database.has_tables(&["rss_item", "rss_feed"])? {
        return Ok(Library { entries: read_cache(bytes)?, ..Library::default() });
    }
    if database.has_tables(&["articles", "feed_mapping"])? {
        return read_news_flash(&database);
    }
    if database.has_tables(&["node", "subscription", "items"])? {
        return read_liferea(&database);
    }
    if database.has_tables(&["Feeds", "Messages"])? {
        return read_rssguard(&database);
    }
    if database.has_tables(&["feeds", "items"])? {
        return read_newsraft(&database);
    }
    Err("it is the database of an unknown reader".into())
}
