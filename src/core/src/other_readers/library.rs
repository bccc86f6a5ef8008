//! What the files of another feed reader contain, in one form for all readers, and helpers for reading them: rows with named
//! columns, entries, and folders as tags.
//!
//! Also reads lists of the video channels that a viewer follows: `subscriptions.csv` of Google Takeout, and the export file of
//! `NewPipe`. They contain the page of each channel, from which the address of its feed is derived.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::elsewhere::{ElsewhereEntry, KnownEntries};
use super::newsboat_config::NewsboatConfig;
use super::sqlite::{SqlValue, Sqlite};
use crate::InputFlaw;
use crate::feed::address::without_logins;
use crate::feed::known_sites::feed_address_of;
use crate::feed::opml::subscription_list::{BadOutline, Opml, OpmlFeed, normal_tags};
use crate::feed::text::{NAME_MAX, TITLE_MAX, one_line, safe_text};
use crate::feed::{Enclosure, Entry};
use crate::filters::Action;

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

/// An export file of `NewPipe`.
#[derive(Deserialize)]
pub(super) struct NewPipe {
    subscriptions: Vec<NewPipeChannel>,
}

#[derive(Deserialize)]
struct NewPipeChannel {
    url: String,
    #[serde(default)]
    name: String,
}

/// Reads an export file of `NewPipe`. If it contains channels of sites without known feeds, they are reported.
pub(super) fn read_newpipe(file: &NewPipe) -> Library {
    let mut library = Library::default();
    for channel in &file.subscriptions {
        add_channel(&mut library, 1, &channel.url, &channel.name);
    }
    library
}

/// Reads a list from Google Takeout. It has a heading in the viewer's language, then a line with the id, page and title of each
/// channel. Returns `None` if the text is not such a list.
pub(super) fn read_takeout(text: &str) -> Option<Library> {
    let lines = || (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (begin, _) = lines().take(2).find(|(_, line)| channel(line).is_some())?;
    let mut library = Library::default();
    for (number, line) in lines().filter(|(number, _)| *number >= begin) {
        let (page, title) = channel(line).unwrap_or((line, ""));
        let quoted = title.strip_prefix('"').and_then(|title| title.strip_suffix('"'));
        let title = quoted.map_or_else(|| title.to_owned(), |title| title.replace("\"\"", "\""));
        add_channel(&mut library, number, page, &title);
    }
    Some(library)
}

/// Returns the page and the title of a channel, as they are written in a line.
fn channel(line: &str) -> Option<(&str, &str)> {
    let (number, rest) = line.trim().split_once(',')?;
    let (page, title) = rest.split_once(',')?;
    let is_meant = number.starts_with("UC") && page.ends_with(&format!("/channel/{number}"));
    is_meant.then_some((page, title))
}

fn add_channel(library: &mut Library, line: usize, page: &str, title: &str) {
    if let Some(feed) = feed_address_of(page) {
        library.add_feed(&feed, some(title), &[]);
    } else {
        let (text, reason) =
            (one_line(&without_logins(page), NAME_MAX), "has no known feed".into());
        library.list.bad.push(BadOutline { text, reason, line });
    }
}

/// What was found in the files of another reader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// Subscriptions and searches.
    pub list: Opml,
    /// What is known about entries, by the address of the feed.
    pub entries: KnownEntries,
    /// The configuration of newsboat.
    pub config: NewsboatConfig,
    /// Whether this program wrote the file. Addresses in such a file lack their secrets.
    pub is_outgoing: bool,
}

/// A filter of another reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedFilter {
    /// What the filter does.
    pub action: Action,
    /// Address of the feed to which the filter is limited.
    pub feed: Option<String>,
    /// Query that an entry must match.
    pub query: String,
}
