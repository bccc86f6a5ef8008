//! Reads the database of Liferea: its tables `node`, `subscription` and `items`.

use std::collections::BTreeMap;

use super::build::{Folders, folder_tag, is_set, rows, seconds, some, text};
use super::elsewhere::ElsewhereEntry;
use super::library::Library;
use super::sqlite::Sqlite;
use crate::InputFlaw;
use crate::feed::Entry;

/// Reads the database. The error is a fragment of a sentence.
pub(super) fn read(database: &Sqlite<'_>) -> Result<Library, InputFlaw> {
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
