//! Reads the database of RSS Guard: its tables `Categories`, `Feeds` and `Messages`.

use std::collections::BTreeMap;

use chrono::DateTime;

use super::build::{Folders, folder_tag, is_set, rows, some, text};
use super::elsewhere::ElsewhereEntry;
use super::library::Library;
use super::sqlite::Sqlite;
use crate::InputFlaw;
use crate::feed::Entry;

/// Reads the database. The error is a fragment of a sentence.
pub(super) fn read(database: &Sqlite<'_>) -> Result<Library, InputFlaw> {
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
        // Articles named the feed by the number that its service gave it, before version 4.8.
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
