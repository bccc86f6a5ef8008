//! An entry as it is kept: what lists show of it, apart from its body, which is read only to be shown.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::rank::{Position, Rank};
use super::walk::adaptor::Adaptor;
use crate::feed::content::data_values::without_data_values;
use crate::feed::text::{one_line, strip_markup};
use crate::feed::{Enclosure, Entry};

/// Characters of an excerpt: as many as the widest list shows.
const EXCERPT_CHARS: usize = 120;
/// Bytes of markup an excerpt is taken from.
const EXCERPT_FROM_BYTES: usize = 2048;

/// The winning copy of an entry, without its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptEntry {
    /// Identity within the feed (SPEC C.5).
    pub id: String,
    /// Title as plain text.
    pub title: Option<String>,
    /// How the text begins, where there is no title: short notes have none.
    #[serde(default)]
    pub excerpt: Option<String>,
    /// Page of the entry.
    pub link: Option<String>,
    /// Author's name.
    pub author: Option<String>,
    /// Stated publication time.
    pub published: Option<DateTime<Utc>>,
    /// Stated time of the last change.
    pub updated: Option<DateTime<Utc>>,
    /// When we saw it first. Never changed by a later copy.
    pub first_seen: DateTime<Utc>,
    /// Where it stands if it states no date: below the document that is newer than its own. `None`: at first sight.
    #[serde(default)]
    pub placed: Option<DateTime<Utc>>,
    /// When the publisher deleted it last (RFC 6721).
    #[serde(default)]
    pub deleted: Option<DateTime<Utc>>,
    /// Rank of the copy that won.
    pub rank: Rank,
    /// Attached files.
    pub enclosures: Vec<Enclosure>,
    pub categories: Vec<String>,
}

impl KeptEntry {
    /// What is kept of a copy.
    pub fn from_copy(entry: &Entry, first_seen: DateTime<Utc>, rank: Rank) -> Self {
        Self {
            id: entry.id.clone(),
            title: entry.title.clone(),
            excerpt: excerpt(entry),
            link: entry.link.clone(),
            author: entry.author.clone(),
            published: entry.published,
            updated: entry.updated,
            first_seen,
            placed: None,
            deleted: None,
            rank,
            enclosures: entry.enclosures.clone(),
            categories: entry.categories.clone(),
        }
    }

    /// Whose copy it is, in plain words, if not the publisher's.
    pub const fn foreign_origin(&self) -> Option<&'static str> {
        match self.rank.position {
            Position::Capture { .. } => Some(Adaptor::InternetArchive.origin()),
            Position::Page | Position::Archive { .. } | Position::Subscription => None,
        }
    }

    /// What a list shows of it: the title, else how its text begins.
    pub fn shown_title(&self) -> &str {
        self.title.as_deref().or(self.excerpt.as_deref()).unwrap_or_default()
    }

    /// The date it is listed under: publication, else change, else its place in history, else first sight. A date later than first
    /// sight is not believed (SPEC G.42), so that a wrong clock cannot pin an entry to the top.
    pub fn listed(&self) -> DateTime<Utc> {
        listed(self.published.or(self.updated), self.placed, self.first_seen)
    }
}

/// The date an entry is listed under: the stated one if it is believable, else its place, else first sight.
pub fn listed(
    stated: Option<DateTime<Utc>>,
    placed: Option<DateTime<Utc>>,
    first_seen: DateTime<Utc>,
) -> DateTime<Utc> {
    stated.or(placed).map_or(first_seen, |date| date.min(first_seen))
}

/// How the text of an entry without a title begins.
fn excerpt(entry: &Entry) -> Option<String> {
    let untitled = entry.title.as_deref().is_none_or(|title| title.trim().is_empty());
    let text = without_data_values(entry.body().filter(|_| untitled)?);
    let start = text.get(..text.floor_char_boundary(EXCERPT_FROM_BYTES)).unwrap_or_default();
    Some(one_line(&strip_markup(start), EXCERPT_CHARS)).filter(|line| !line.is_empty())
}

/// The text of an entry as the publisher marked it up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryBody {
    /// Summary or description.
    pub summary: Option<String>,
    /// Full content.
    pub content: Option<String>,
}

impl EntryBody {
    /// The text of a copy.
    pub fn from_copy(entry: &Entry) -> Self {
        Self { summary: entry.summary.clone(), content: entry.content.clone() }
    }

    /// What a reader reads: content, else summary.
    pub fn text(&self) -> Option<&str> {
        self.content.as_deref().filter(|text| !text.trim().is_empty()).or(self.summary.as_deref())
    }

    /// Bytes of both texts.
    pub fn len(&self) -> usize {
        self.summary.as_ref().map_or(0, String::len) + self.content.as_ref().map_or(0, String::len)
    }

    /// No text at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
