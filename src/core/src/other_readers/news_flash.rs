//! Reads the database of news-flash, the library of eilmeldung and of Newsflash.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, Utc};

use super::build::{Folders, folder_tag, rows, some, text};
use super::elsewhere::ElsewhereEntry;
use super::library::Library;
use super::sqlite::Sqlite;
use crate::InputFlaw;
use crate::feed::Entry;

/// Numbers in the columns `unread` and `marked`. A marked article has the smaller number, unlike an unread one.
const READ: Option<i64> = Some(0);
const MARKED: Option<i64> = Some(0);

/// Reads the database. The error is a fragment of a sentence.
pub(super) fn read(database: &Sqlite<'_>) -> Result<Library, InputFlaw> {
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

/// Reads a time such as `2026-03-01 12:00:00+00:00`, with or without the zone.
fn time(written: &str) -> Option<DateTime<Utc>> {
    let zoned = DateTime::parse_from_rfc3339(&written.replacen(' ', "T", 1));
    let plain = || NaiveDateTime::parse_from_str(written, "%Y-%m-%d %H:%M:%S%.f").ok();
    zoned.ok().map(|time| time.to_utc()).or_else(|| plain().map(|time| time.and_utc()))
}
