//! Helpers for reading the databases of other readers: rows with named columns, entries, and folders as tags.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::elsewhere::ElsewhereEntry;
use super::library::Library;
use super::sqlite::{SqlValue, Sqlite};
use crate::InputFlaw;
use crate::feed::opml::subscription_list::{OpmlFeed, normal_tags};
use crate::feed::text::{NAME_MAX, TITLE_MAX, one_line, safe_text};
use crate::feed::{Enclosure, Entry};

/// Maximum number of labels, of categories and of attached files of an entry.
const LIST_MAX: usize = 100;
/// Maximum number of nested folders.
const DEPTH_MAX: usize = 32;

/// Reads columns of a table. A table that does not exist has no rows.
pub(super) fn rows<const N: usize>(
    database: &Sqlite<'_>,
    table: &str,
    columns: [&str; N],
) -> Result<Vec<[SqlValue; N]>, InputFlaw> {
    let rows = database.read(table, &columns)?.unwrap_or_default();
    Ok(rows.into_iter().filter_map(|row| row.try_into().ok()).collect())
}

/// Returns a value as text, even if the database stores a number.
pub(super) fn text(value: &SqlValue) -> String {
    match value {
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => text.trim().to_owned(),
        SqlValue::Null => String::new(),
    }
}

/// Returns a text without surrounding blanks, or `None` if nothing is left.
pub(super) fn some(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Checks whether a value is the number 1.
pub(super) fn is_set(value: &SqlValue) -> bool {
    value.integer() == Some(1)
}

/// Returns the time for a number of seconds since 1970, or `None` for 0.
pub(super) fn seconds(value: &SqlValue) -> Option<DateTime<Utc>> {
    let seconds = value.integer().filter(|seconds| *seconds != 0)?;
    DateTime::from_timestamp(seconds, 0)
}

/// Folders by number or name: the title of each folder, and the folder that contains it.
pub(super) type Folders = BTreeMap<String, (String, String)>;

/// Returns the titles of a folder and of the folders that contain it as one tag.
pub(super) fn folder_tag(folders: &Folders, folder: &str) -> String {
    let (mut parts, mut place) = (Vec::new(), folder);
    while let Some((title, parent)) = folders.get(place).filter(|_| parts.len() < DEPTH_MAX) {
        parts.insert(0, title.replace('/', " "));
        place = parent;
    }
    parts.join("/")
}

/// Removes control characters from an entry, and shortens a title or a name that is too long.
fn cleaned(entry: Entry) -> Entry {
    let line = |text: Option<String>, max| text.and_then(|text| some(&one_line(&text, max)));
    let safe = |text: String| safe_text(&text).into_owned();
    let file = |file: Enclosure| Enclosure {
        url: safe(file.url),
        media_type: line(file.media_type, NAME_MAX),
        ..file
    };
    Entry {
        id: safe(entry.id),
        title: line(entry.title, TITLE_MAX),
        link: entry.link.map(safe),
        author: line(entry.author, NAME_MAX),
        content: entry.content.map(safe),
        categories: names(entry.categories),
        enclosures: entry.enclosures.into_iter().take(LIST_MAX).map(file).collect(),
        ..entry
    }
}

/// Returns at most [`LIST_MAX`] names, without control characters and empty names.
fn names(names: Vec<String>) -> Vec<String> {
    let names = names.into_iter().take(LIST_MAX).map(|name| one_line(&name, NAME_MAX));
    names.filter(|name| !name.is_empty()).collect()
}

impl Library {
    /// Adds a feed, unless its address is empty or was already added.
    pub(super) fn add_feed(&mut self, address: &str, title: Option<String>, tags: &[String]) {
        let is_known = self.list.outlines.iter().any(|feed| feed.xml_url == address);
        if !address.is_empty() && !is_known {
            let tags = normal_tags(tags.iter().map(String::as_str));
            let xml_url = address.to_owned();
            let title = title.and_then(|title| some(&one_line(&title, TITLE_MAX)));
            self.list.outlines.push(OpmlFeed { xml_url, title, tags, ..OpmlFeed::default() });
        }
    }

    /// Adds what the other reader knew about an entry, without control characters. An entry without an id is identified by its
    /// link. Only starred and labelled entries keep their text.
    pub(super) fn add_entry(&mut self, address: &str, mut entry: ElsewhereEntry) {
        if address.is_empty() {
            return;
        }
        entry.entry = cleaned(entry.entry);
        entry.labels = names(entry.labels);
        let is_kept = entry.is_kept();
        let Entry { id, link, content, .. } = &mut entry.entry;
        if id.is_empty() {
            *id = link.clone().unwrap_or_default();
        }
        content.take_if(|_| !is_kept);
        self.entries.entry(address.to_owned()).or_default().push(entry);
    }
}
