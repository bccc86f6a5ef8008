//! Recognises the file of another reader by its content.

use super::library::Library;
use super::sqlite::Sqlite;
use super::{channels, databases, json_files, state_file};
use crate::InputFlaw;

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
        return Ok(channels::read_takeout(&lines));
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
        return Ok(Library { entries: databases::read_cache(bytes)?, ..Library::default() });
    }
    if database.has_tables(&["articles", "feed_mapping"])? {
        return databases::read_news_flash(&database);
    }
    if database.has_tables(&["node", "subscription", "items"])? {
        return databases::read_liferea(&database);
    }
    if database.has_tables(&["Feeds", "Messages"])? {
        return databases::read_rssguard(&database);
    }
    if database.has_tables(&["feeds", "items"])? {
        return databases::read_newsraft(&database);
    }
    Err("it is the database of an unknown reader".into())
}
