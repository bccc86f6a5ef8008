//! One feed entry, sanitised for storage and display.

use chrono::{DateTime, Utc};

use super::content::markup::add_paragraph;

/// A feed entry. `id` is never empty (SPEC C.5).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Identity within the feed (SPEC C.5): the stated ID, else the link, else a hash of the title and text.
    pub id: String,
    /// Title as plain text, with entities and markup resolved once and control characters removed.
    pub title: Option<String>,
    /// URL of the entry's page, resolved.
    pub link: Option<String>,
    /// URL of the page with the comments on the entry, resolved.
    pub comments: Option<String>,
    /// Names of the authors, separated by commas.
    pub author: Option<String>,
    /// Publication time, if stated and readable.
    pub published: Option<DateTime<Utc>>,
    /// Minutes east of UTC in the date by which the entry is placed, if it states an offset in numbers.
    pub offset_minutes: Option<i16>,
    /// Time of the last change: `atom:updated`, `dcterms:modified` or JSON Feed `date_modified`, never `pubDate` (SPEC AMB-13).
    /// This is the `entry_time` of SPEC C.5.
    pub updated: Option<DateTime<Utc>>,
    /// Summary, including the publisher's markup.
    pub summary: Option<String>,
    /// Content, including the publisher's markup.
    pub content: Option<String>,
    /// The text as it is shown, if this is more than what the publisher wrote as the text: with pictures that are attached to the
    /// entry, or without a second escaping.
    pub shown: Option<String>,
    pub enclosures: Vec<Enclosure>,
    /// Categories as plain text.
    pub categories: Vec<String>,
}

impl Entry {
    /// Returns the markup to display: the content, or the summary if the content is missing or blank.
    pub fn body(&self) -> Option<&str> {
        self.content.as_deref().filter(|text| !text.trim().is_empty()).or(self.summary.as_deref())
    }

    /// Adds a paragraph to the text that is shown.
    pub(in crate::feed) fn add_shown(&mut self, inline: &str) {
        let body = self.shown.take().or_else(|| self.body().map(str::to_owned));
        add_paragraph(self.shown.insert(body.unwrap_or_default()), inline);
    }

    /// Returns the summary and the content as they are kept: the displayed one of them as it is shown.
    pub(crate) fn kept_texts(&self) -> [Option<&str>; 2] {
        let [summary, content] = [&self.summary, &self.content].map(Option::as_deref);
        let is_blank = |text: Option<&str>| text.is_none_or(|text| text.trim().is_empty());
        match self.shown.as_deref() {
            Some(_) if is_blank(content) && !is_blank(summary) => [self.shown.as_deref(), content],
            Some(shown) => [summary, Some(shown)],
            None => [summary, content],
        }
    }
}

impl Enclosure {
    /// Checks whether an address names this file with another signature: some servers sign the addresses of files again for
    /// each request of the feed.
    pub fn is_resigned(&self, address: &str) -> bool {
        let bare = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
        bare(&self.url) == bare(address)
    }
}

/// A file attached to an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Enclosure {
    /// Resolved URL of the file.
    pub url: String,
    /// Media type of the file as written by the publisher.
    pub media_type: Option<String>,
    /// Size of the file in bytes, as stated by the publisher.
    pub length: Option<u64>,
    /// Playing time in seconds, as stated by the publisher.
    pub duration_seconds: Option<u32>,
}
