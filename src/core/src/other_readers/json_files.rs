//! Reads JSON files: lists of entries in the format of Google Reader, which other services also write; the files of feedr and
//! `NewPipe`; and the JSON Feed of `backissue export`.

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;

use super::elsewhere::ElsewhereEntry;
use super::library::{self, Library, some};
use crate::feed::opml::subscription_list::OpmlFlaw;
use crate::feed::{Entry, Origin, parse};

/// Suffixes of the categories that Google Reader uses as marks.
const STARRED: &str = "/state/com.google/starred";
const READ: &str = "/state/com.google/read";

/// A list of entries in the format of Google Reader. Items may lack any field.
#[derive(Deserialize)]
struct StreamContents {
    #[serde(default)]
    id: String,
    items: Vec<Value>,
}

/// A JSON Feed that this program exported.
#[derive(Deserialize)]
struct Exported {
    items: Vec<ExportedItem>,
}

#[derive(Deserialize)]
struct ExportedItem {
    id: String,
    #[serde(rename = "_backissue")]
    own: OwnFields,
}

/// Fields that JSON Feed does not have.
#[derive(Deserialize)]
struct OwnFields {
    feed_url: String,
    feed_title: Option<String>,
    id: String,
    #[serde(default)]
    read: bool,
    #[serde(default)]
    starred: bool,
    #[serde(default)]
    labels: Vec<String>,
}

/// The file of feedr.
#[derive(Deserialize)]
struct Feedr {
    bookmarks: Vec<String>,
    #[serde(default)]
    categories: Vec<FeedrCategory>,
    #[serde(default)]
    read_items: BTreeSet<String>,
    #[serde(default)]
    starred_items: BTreeSet<String>,
}

#[derive(Deserialize)]
struct FeedrCategory {
    name: String,
    #[serde(default)]
    feeds: Vec<String>,
}

/// Reads a file. Returns `None` if its format is not known.
pub(super) fn read(bytes: &[u8]) -> Option<Library> {
    if let Ok(Exported { items }) = serde_json::from_slice(bytes) {
        return Some(read_exported(bytes, items));
    }
    if let Ok(stream) = serde_json::from_slice::<StreamContents>(bytes) {
        return Some(read_stream(&stream));
    }
    if let Ok(file) = serde_json::from_slice(bytes) {
        return Some(library::read_newpipe(&file));
    }
    serde_json::from_slice::<Feedr>(bytes).ok().map(|feedr| read_feedr(&feedr))
}

/// Reads a JSON Feed that this program exported. Feeds of starred and labelled entries become subscriptions.
fn read_exported(bytes: &[u8], items: Vec<ExportedItem>) -> Library {
    let mut library = Library { is_outgoing: true, ..Library::default() };
    let mut known: BTreeMap<String, OwnFields> =
        items.into_iter().map(|ExportedItem { id, own }| (id, own)).collect();
    let document = parse(bytes, &Origin { url: None, content_type: None });
    let read = document.entries.len();
    for entry in document.entries {
        let Some(own) = known.remove(&entry.id) else { continue };
        let OwnFields { feed_url, feed_title, id, read: is_read, starred: is_starred, labels } =
            own;
        let entry = ElsewhereEntry { entry: Entry { id, ..entry }, is_read, is_starred, labels };
        if entry.is_kept() {
            library.add_feed(&feed_url, feed_title, &[]);
        }
        library.add_entry(&feed_url, entry);
    }
    if !known.is_empty() {
        let reason = format!("only {read} items could be read, {} are left out", known.len());
        library.list.flaws.push(OpmlFlaw { line: 1, reason });
    }
    library
}

/// Reads a list of entries in the format of Google Reader. Feeds of starred entries become subscriptions, because an entry is
/// stored with its feed.
fn read_stream(stream: &StreamContents) -> Library {
    let mut library = Library::default();
    let is_all_starred = stream.id.ends_with("/starred");
    for item in &stream.items {
        let text = |path: &str| item.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let feed = Some(text("/origin/feedUrl")).filter(|url| !url.is_empty());
        let feed = feed.or_else(|| text("/origin/streamId").strip_prefix("feed/"));
        let Some(feed) = feed.filter(|feed| feed.contains("://")) else { continue };
        let categories: Vec<&str> =
            item["categories"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let has = |end: &str| categories.iter().any(|category| category.ends_with(end));
        let links = ["/canonical/0/href", "/alternate/0/href"];
        let contents = ["/content/content", "/summary/content"];
        let first = |paths: [&str; 2]| paths.iter().find_map(|path| some(text(path)));
        let entry = Entry {
            // Other services do not know the id that Google Reader assigned to the entry.
            id: text("/guid").to_owned(),
            title: some(text("/title")),
            link: first(links),
            author: some(text("/author")),
            published: item["published"]
                .as_i64()
                .and_then(|time| DateTime::from_timestamp(time, 0)),
            content: first(contents),
            ..Entry::default()
        };
        let is_starred = is_all_starred || has(STARRED);
        if is_starred {
            library.add_feed(feed, some(text("/origin/title")), &[]);
        }
        library.add_entry(
            feed,
            ElsewhereEntry { entry, is_read: has(READ), is_starred, ..ElsewhereEntry::default() },
        );
    }
    library
}

/// Reads the file of feedr. It identifies entries by their links and does not name their feeds, so each entry is noted for every
/// feed on its host.
fn read_feedr(feedr: &Feedr) -> Library {
    let mut library = Library::default();
    for address in &feedr.bookmarks {
        let of_feed = feedr.categories.iter().filter(|category| category.feeds.contains(address));
        let tags: Vec<String> = of_feed.map(|category| category.name.clone()).collect();
        library.add_feed(address, None, &tags);
        let site = host(address);
        let (read, starred) = (&feedr.read_items, &feedr.starred_items);
        let links: BTreeSet<&String> = read.iter().chain(starred).collect();
        for link in links.into_iter().filter(|link| host(link) == site) {
            let entry = Entry { link: some(link), ..Entry::default() };
            let (is_read, is_starred) = (read.contains(link), starred.contains(link));
            let seen = ElsewhereEntry { entry, is_read, is_starred, ..ElsewhereEntry::default() };
            library.add_entry(address, seen);
        }
    }
    library
}

/// Returns the host of an address.
fn host(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    rest.split(['/', '?', ':']).next()
}
