//! An entry as loaded from the store, and an entry with its feed and labels for use outside the screen: JSON, `show`, other
//! commands, Markdown, books and bookmarks. The text of such an entry is the text that the screen shows, which may come from the
//! page that the entry links to.

use std::collections::BTreeMap;

use backissue_core::feed::Enclosure;
use backissue_core::feed::outgoing::{outgoing_markup, outgoing_title};
use backissue_core::feed::text::strip_markup;
use backissue_core::history::{EntryBody, EntryKey, FeedKey, Flags, KeptEntry};
use backissue_core::publish::outgoing_entry;
use backissue_core::words::rfc_3339;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::poll::fetch::Validators;

/// An entry with its feed, labels and downloaded files.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryView {
    /// The entry, its marks and its texts.
    pub entry: LoadedEntry,
    /// Its feed.
    pub feed: FeedOfEntry,
    /// Its labels, sorted, each once.
    pub labels: Vec<String>,
    /// Paths of its attached files that are downloaded, by address.
    pub downloaded: BTreeMap<String, String>,
}

/// The feed of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedOfEntry {
    /// The title to show.
    pub title: String,
    pub url: String,
    /// Language tag that the feed states, if it is well-formed.
    pub language: Option<String>,
    /// Whether entries are shown with the text of the page that they link to, if that is stored.
    pub shows_page: bool,
}

/// Which text of an entry is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ShownText {
    /// The text from the feed.
    Feed,
    /// The text of the page that the entry links to.
    Page,
}

impl FeedOfEntry {
    /// Creates the view of a feed.
    pub fn new(title: &str, url: &str, shows_page: bool) -> Self {
        Self { title: title.to_owned(), url: url.to_owned(), language: None, shows_page }
    }
}

impl EntryView {
    /// Creates a view of an entry without its labels and downloaded files.
    pub const fn new(entry: LoadedEntry, feed: FeedOfEntry) -> Self {
        Self { entry, feed, labels: Vec::new(), downloaded: BTreeMap::new() }
    }

    /// Returns a copy that may leave this machine: without secrets, and with links to the web only.
    #[must_use]
    pub fn outgoing(self) -> Self {
        let Self { entry, feed, labels, .. } = self;
        let (kept, body) = outgoing_entry(entry.kept, entry.body);
        let mut full = entry.full;
        if let Some(page) = &mut full {
            page.html = outgoing_markup(&page.html);
        }
        let title = outgoing_title(Some(&feed.title), &feed.url);
        Self {
            entry: LoadedEntry { kept, body, full, ..entry },
            feed: FeedOfEntry { title, ..feed },
            labels,
            downloaded: BTreeMap::new(),
        }
    }

    /// Returns which text is shown, its markup, and the base address for relative links in it.
    pub fn text(&self) -> (ShownText, &str, Option<&str>) {
        match self.entry.page().filter(|_| self.feed.shows_page) {
            Some(page) => (ShownText::Page, &page.html, Some(&page.url)),
            None => (
                ShownText::Feed,
                self.entry.feed_text().unwrap_or_default(),
                self.entry.kept.link.as_deref(),
            ),
        }
    }

    /// Returns the entry as JSON, without its text. Lists load no texts, so nothing in it may depend on one.
    pub fn json(&self) -> Value {
        serde_json::to_value(Fields::of(self)).unwrap_or_default()
    }

    /// Returns the entry as JSON with the shown text, which is null if there is none, and the address of its feed.
    pub fn json_with_text(&self) -> Value {
        let (which, markup, _) = self.text();
        let is_empty = which == ShownText::Feed && self.entry.feed_text().is_none();
        let mut value = self.json();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("feed_url".into(), json!(self.feed.url));
            fields.insert("text".into(), json!((!is_empty).then_some(which)));
            fields.insert("content".into(), json!((!is_empty).then_some(markup)));
        }
        value
    }
}

/// The fields of an entry in JSON.
#[derive(Serialize)]
struct Fields<'v> {
    kind: &'static str,
    number: String,
    feed: FeedKey,
    feed_title: &'v str,
    id: &'v str,
    title: Option<&'v str>,
    link: Option<&'v str>,
    comments: Option<&'v str>,
    author: Option<&'v str>,
    published: Option<String>,
    updated: Option<String>,
    first_seen: String,
    listed: String,
    read: bool,
    starred: bool,
    labels: &'v [String],
    categories: &'v [String],
    enclosures: Vec<FileFields<'v>>,
}

/// The fields of an attached file in JSON.
#[derive(Serialize)]
struct FileFields<'v> {
    url: &'v str,
    r#type: Option<&'v str>,
    length: Option<u64>,
    duration_seconds: Option<u32>,
    /// Path of the file if it is downloaded.
    path: Option<&'v str>,
}

impl<'v> Fields<'v> {
    fn of(view: &'v EntryView) -> Self {
        let LoadedEntry { key, kept, flags, .. } = &view.entry;
        let file = |file: &'v Enclosure| FileFields {
            url: &file.url,
            r#type: file.media_type.as_deref(),
            length: file.length,
            duration_seconds: file.duration_seconds,
            path: view.downloaded.get(&file.url).map(String::as_str),
        };
        Self {
            kind: "entry",
            number: key.to_string(),
            feed: key.feed,
            feed_title: &view.feed.title,
            id: &kept.id,
            title: kept.title.as_deref(),
            link: kept.link.as_deref(),
            comments: kept.comments.as_deref(),
            author: kept.author.as_deref(),
            published: kept.published.map(rfc_3339),
            updated: kept.updated.map(rfc_3339),
            first_seen: rfc_3339(kept.first_seen),
            listed: rfc_3339(kept.listed()),
            read: flags.is_read(),
            starred: flags.is_starred(),
            labels: &view.labels,
            categories: &kept.categories,
            enclosures: kept.enclosures.iter().map(file).collect(),
        }
    }
}

/// Formats an instant as RFC 3339 in UTC with whole seconds. Returns null for `None`.
pub fn time(at: Option<DateTime<Utc>>) -> Value {
    at.map_or(Value::Null, |at| Value::String(rfc_3339(at)))
}

/// Returns the JSON document with new entries for the user's command.
pub fn news(entries: &[EntryView]) -> Value {
    json!({
        "kind": "new_entries",
        "count": entries.len(),
        "entries": entries.iter().map(EntryView::json_with_text).collect::<Vec<_>>(),
    })
}

/// An entry loaded from the store to be shown or passed to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedEntry {
    /// Key of the entry.
    pub key: EntryKey,
    /// Fields that lists show.
    pub kept: KeptEntry,
    /// Marks of the entry.
    pub flags: Flags,
    /// Text of the entry from the feed.
    pub body: Option<EntryBody>,
    /// `true` if the text is no longer stored.
    pub text_gone: bool,
    /// Saved reading position in the text of the entry.
    pub place: Option<ReadingPosition>,
    /// Stored text of the page that the entry links to.
    pub full: Option<FullText>,
    /// Numbers of the filters that matched the entry.
    pub ruled: Vec<u32>,
}

impl LoadedEntry {
    /// Creates an entry without its texts, as lists need it.
    pub const fn without_text(
        key: EntryKey,
        kept: KeptEntry,
        flags: Flags,
        ruled: Vec<u32>,
    ) -> Self {
        Self { key, kept, flags, body: None, text_gone: false, place: None, full: None, ruled }
    }

    /// Returns the markup of the text from the feed.
    pub fn feed_text(&self) -> Option<&str> {
        self.body.as_ref().and_then(EntryBody::text)
    }

    /// Returns the text of the entry's page. Returns `None` if the page was not fetched, contains no readable text, or has less of
    /// the text than the feed.
    pub fn page(&self) -> Option<&FullText> {
        self.full.as_ref().filter(|full| full.failed.is_none() && !self.has_more_than(full))
    }

    /// Checks whether the feed has more of the text than the page.
    fn has_more_than(&self, full: &FullText) -> bool {
        let letters =
            |html: &str| strip_markup(html).chars().filter(|c| !c.is_whitespace()).count();
        self.feed_text().is_some_and(|text| {
            text.len() > full.html.len() / 2 && letters(text) > letters(&full.html)
        })
    }
}

/// A position in a text, counted in characters so that it does not depend on the width of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingPosition {
    /// Number of characters before the first line shown.
    pub offset: u32,
    /// Number of characters in the whole text. If the text has changed, the position is scaled to the new length.
    pub of: u32,
}

/// Stored text of the page that an entry links to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FullText {
    /// Address of the page.
    pub url: String,
    /// Text of the page, with markup.
    pub html: String,
    /// Time of the last request for the page.
    pub asked: DateTime<Utc>,
    /// Validators of the page.
    pub validators: Validators,
    /// Reason that the page has no text, as a sentence.
    pub failed: Option<String>,
}
