//! Reads what newsboat knows of entries: the table `rss_item` of its `cache.db`.

use chrono::DateTime;

use super::elsewhere::{ElsewhereEntry, KnownEntries};
use super::library::Library;
use super::sqlite::Sqlite;
use crate::InputFlaw;
use crate::feed::Entry;

/// The columns that are read, in this order.
const COLUMNS: [&str; 10] = [
    "feedurl", "guid", "url", "title", "author", "pubDate", "unread", "flags", "deleted", "content",
];

/// Reads the entries of each feed, by the address of the feed. An entry that was deleted there counts as read, and one with any flag
/// as starred. The texts of other than starred entries are left out. The error is a fragment of a sentence.
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
        let is_starred = flags.text().is_some();
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
        let entry = ElsewhereEntry { entry, is_read, is_starred, ..ElsewhereEntry::default() };
        library.add_entry(feed, entry);
    }
    Ok(library.entries)
}
