//! One entry of a feed, made safe to keep and to show.

use chrono::{DateTime, Utc};

/// One entry. `id` is never empty (SPEC C.5).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Identity within its feed (SPEC C.5): stated id, else link, else a hash of title and text.
    pub id: String,
    /// Title as plain text: entities and markup resolved once, control characters out.
    pub title: Option<String>,
    /// The page of the entry, resolved.
    pub link: Option<String>,
    /// Name of the first author.
    pub author: Option<String>,
    /// When it was published, as far as stated and readable.
    pub published: Option<DateTime<Utc>>,
    /// When it was changed: `atom:updated`, `dcterms:modified`, JSON Feed `date_modified`. Never `pubDate`
    /// (SPEC AMB-13): this is the `entry_time` of SPEC C.5.
    pub updated: Option<DateTime<Utc>>,
    /// Publisher's markup.
    pub summary: Option<String>,
    /// Publisher's markup.
    pub content: Option<String>,
    pub enclosures: Vec<Enclosure>,
    /// Categories as plain text.
    pub categories: Vec<String>,
}

impl Entry {
    /// The text to read: content, else summary.
    pub fn body(&self) -> Option<&str> {
        self.content.as_deref().filter(|text| !text.trim().is_empty()).or(self.summary.as_deref())
    }
}

/// A file attached to an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Enclosure {
    /// Resolved address.
    pub url: String,
    /// Media type as written.
    pub media_type: Option<String>,
    /// Size in bytes as stated.
    pub length: Option<u64>,
    /// Playing time in seconds, where stated.
    pub duration_seconds: Option<u32>,
}
