//! Reads the JSON files of other readers: lists of entries in the form of Google Reader, which other services write too, and the
//! file of feedr.

use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;

use super::build::some;
use super::elsewhere::ElsewhereEntry;
use super::library::Library;
use crate::feed::Entry;

/// Ends of the categories by which Google Reader marks entries.
const STARRED: &str = "/state/com.google/starred";
const READ: &str = "/state/com.google/read";

/// A list of entries. Fields that are missing or of another type are empty.
#[derive(Deserialize)]
struct Stream {
    #[serde(default)]
    id: String,
    items: Vec<Value>,
}

/// The file of feedr.
#[derive(Deserialize)]
struct Feedr {
    bookmarks: Vec<String>,
    #[serde(default)]
    categories: Vec<FeedrCategory>,
    #[serde(default)]
    read_items: Vec<String>,
}

#[derive(Deserialize)]
struct FeedrCategory {
    name: String,
    #[serde(default)]
    feeds: Vec<String>,
}

/// Reads a file. Returns `None` if it is of no known form.
pub(super) fn read(bytes: &[u8]) -> Option<Library> {
    if let Ok(stream) = serde_json::from_slice::<Stream>(bytes) {
        return Some(read_stream(&stream));
    }
    serde_json::from_slice::<Feedr>(bytes).ok().map(|feedr| read_feedr(&feedr))
}

/// Feeds of entries that are starred become subscriptions, because an entry is kept with its feed.
fn read_stream(stream: &Stream) -> Library {
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
            // The id that Google Reader gave the entry is of no use elsewhere.
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
        library.add_entry(feed, ElsewhereEntry { entry, is_read: has(READ), is_starred });
    }
    library
}

/// feedr identifies entries by their links and does not say of which feed they are, so each is
/// waited for in the feeds of its site.
fn read_feedr(feedr: &Feedr) -> Library {
    let mut library = Library::default();
    for address in &feedr.bookmarks {
        let of_feed = feedr.categories.iter().filter(|category| category.feeds.contains(address));
        let tags: Vec<String> = of_feed.map(|category| category.name.clone()).collect();
        library.add_feed(address, None, &tags);
        let site = host(address);
        for link in feedr.read_items.iter().filter(|link| host(link) == site) {
            let entry = Entry { link: some(link), ..Entry::default() };
            library.add_entry(address, ElsewhereEntry { entry, is_read: true, is_starred: false });
        }
    }
    library
}

/// Returns the host of an address.
fn host(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    rest.split(['/', '?', ':']).next()
}
