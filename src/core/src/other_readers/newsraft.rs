//! Reads the database of newsraft: its tables `feeds` and `items`. Titles and sections are in its file `feeds`.

use super::build::{is_set, rows, seconds, some, text};
use super::elsewhere::ElsewhereEntry;
use super::library::Library;
use super::sqlite::Sqlite;
use crate::InputFlaw;
use crate::feed::Entry;

/// Reads the database. The error is a fragment of a sentence.
pub(super) fn read(database: &Sqlite<'_>) -> Result<Library, InputFlaw> {
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

/// Returns the longest of the texts of an entry. Fields are separated by control characters, and a text begins with `text=`.
fn longest_text(content: &str) -> Option<String> {
    let fields =
        content.split(['\u{1e}', '\u{1f}']).filter_map(|field| field.strip_prefix("text="));
    fields.max_by_key(|text| text.len()).and_then(some)
}
