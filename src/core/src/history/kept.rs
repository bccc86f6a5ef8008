//! Kept entries: the parts of an entry that lists show, and the rank that decides which copy of an entry wins. The entry's text is
//! stored separately and read only when the entry is displayed.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::walk::adaptor::Adaptor;
use crate::feed::content::absolute_addresses::without_data_values;
use crate::feed::fingerprint::content_hash;
use crate::feed::identity::is_served;
use crate::feed::text::{one_line, strip_markup};
use crate::feed::{Enclosure, Entry};

/// Maximum length of an excerpt in characters, which is enough for the widest list.
const EXCERPT_CHARS: usize = 120;
/// Maximum length of an id in a sentence, in characters.
const ID_CHARS: usize = 80;
/// Maximum number of bytes of markup that are read to create an excerpt.
const EXCERPT_FROM_BYTES: usize = 2048;

/// The winning copy of an entry, without its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptEntry {
    /// Id of the entry, which identifies it within the feed (SPEC C.5).
    pub id: String,
    /// Title as plain text.
    pub title: Option<String>,
    /// Beginning of the entry's text. Lists show it for entries without a title, such as short notes.
    #[serde(default)]
    pub excerpt: Option<String>,
    /// Address of the entry's web page.
    pub link: Option<String>,
    /// Address of the page with the comments.
    #[serde(default)]
    pub comments: Option<String>,
    /// Author's name.
    pub author: Option<String>,
    /// Publication time stated by the publisher.
    pub published: Option<DateTime<Utc>>,
    /// Time of the last change stated by the publisher.
    pub updated: Option<DateTime<Utc>>,
    /// Time at which the entry was first seen. Merging a later copy does not change it.
    pub first_seen: DateTime<Utc>,
    /// Date under which an entry without a date is listed, so that it appears below the next newer document. `None` means the
    /// time at which it was first seen.
    #[serde(default)]
    pub placed: Option<DateTime<Utc>>,
    /// Time at which the publisher last deleted the entry (RFC 6721).
    #[serde(default)]
    pub deleted: Option<DateTime<Utc>>,
    /// Rank of the winning copy among the copies of this entry.
    pub rank: Rank,
    /// Attached files.
    pub enclosures: Vec<Enclosure>,
    pub categories: Vec<String>,
    /// Other ids under which the publisher listed the entry, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerId>,
}

/// An id of an entry that is not its present one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerId {
    pub id: String,
    /// Date that the copy with this id stated.
    pub date: Option<DateTime<Utc>>,
    /// Time at which the other id was found.
    pub at: DateTime<Utc>,
    /// What both copies have in common.
    pub reason: Evidence,
    /// Whether the entry was starred while it had this id.
    pub is_marked: bool,
}

/// A row of the table of evidence: the properties that two copies of a publication with different ids have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Evidence {
    LinkAndTitle,
    /// Titles and paths, at two hosts.
    TitleAndPath,
    /// Titles and dates with a time of day.
    TitleAndDate,
    /// Titles and attached files.
    TitleAndFile,
    /// Links, and dates or places in the document.
    Link,
    /// The id is a former one of the entry.
    FormerId,
}

impl Evidence {
    /// Returns what the copies have in common, as a fragment of a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::LinkAndTitle => "the same link and title",
            Self::TitleAndPath => "the same title and path at another host",
            Self::TitleAndDate => "the same title and time",
            Self::TitleAndFile => "the same title and file",
            Self::Link => "the same link",
            Self::FormerId => "an id that it had before",
        }
    }
}

impl KeptEntry {
    /// Creates a kept entry from one copy of the entry.
    pub fn from_copy(entry: &Entry, first_seen: DateTime<Utc>, rank: Rank) -> Self {
        Self {
            id: entry.id.clone(),
            title: entry.title.clone(),
            excerpt: excerpt(entry),
            link: entry.link.clone(),
            comments: entry.comments.clone(),
            author: entry.author.clone(),
            published: entry.published,
            updated: entry.updated,
            first_seen,
            placed: None,
            deleted: None,
            rank,
            enclosures: entry.enclosures.clone(),
            categories: entry.categories.clone(),
            former: Vec::new(),
        }
    }

    /// Returns the origin of the copy in plain words if a third party supplied the copy; `None` if the publisher did.
    pub const fn foreign_origin(&self) -> Option<&'static str> {
        match self.rank.position {
            Position::Copy => Some("from another reader's copy (not by the publisher)"),
            Position::Capture { .. } => Some(Adaptor::InternetArchive.origin()),
            Position::Page | Position::Archive { .. } | Position::Subscription => None,
        }
    }

    /// Checks whether the publisher's current document had the entry.
    pub fn was_listed(&self) -> bool {
        self.rank.position == Position::Subscription
    }

    /// Checks whether another reader's copy of the history supplied the entry, and the publisher did not yet.
    pub fn is_of_copy(&self) -> bool {
        self.rank.position == Position::Copy
    }

    /// Says which id of its publisher the entry had before, and why it is the same entry; `None` if it never had another.
    pub fn former_id_words(&self) -> Option<String> {
        let former = self.former.iter().rev().find(|former| !is_served(&former.id))?;
        let (id, why) = (one_line(&former.id, ID_CHARS), former.reason.text());
        Some(format!("also known as {id} until {}: {why}", former.at.format("%Y-%m-%d")))
    }

    /// Returns the title shown in lists, or the excerpt if there is no title.
    pub fn shown_title(&self) -> &str {
        self.title.as_deref().or(self.excerpt.as_deref()).unwrap_or_default()
    }

    /// Returns the date under which the entry is listed: the publication date, else the last change, else its place in
    /// history. The date is never later than the time at which the entry was first seen (SPEC G.42), so that a wrong
    /// clock cannot pin an entry to the top.
    pub fn listed(&self) -> DateTime<Utc> {
        listed(self.published.or(self.updated), self.placed, self.first_seen)
    }
}

/// Returns the date under which an entry is listed: the date that the entry states, else its place in the history, but no
/// later than `first_seen`.
pub fn listed(
    stated: Option<DateTime<Utc>>,
    placed: Option<DateTime<Utc>>,
    first_seen: DateTime<Utc>,
) -> DateTime<Utc> {
    stated.or(placed).map_or(first_seen, |date| date.min(first_seen))
}

/// Returns the lower 64 bits of the content hash, as stored in the index.
pub(super) fn short_content_hash(entry: &Entry) -> u64 {
    let lower = content_hash(entry) & u128::from(u64::MAX);
    u64::try_from(lower).unwrap_or_default()
}

/// Returns the beginning of the text of an entry without a title.
fn excerpt(entry: &Entry) -> Option<String> {
    let untitled = entry.title.as_deref().is_none_or(|title| title.trim().is_empty());
    let body = untitled.then(|| EntryBody::from_copy(entry))?;
    let text = without_data_values(body.text()?);
    let start = text.get(..text.floor_char_boundary(EXCERPT_FROM_BYTES)).unwrap_or_default();
    Some(one_line(&strip_markup(start), EXCERPT_CHARS)).filter(|line| !line.is_empty())
}

/// The text of an entry with the publisher's markup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryBody {
    /// Summary or description.
    pub summary: Option<String>,
    /// Full content.
    pub content: Option<String>,
    /// Title and text before the last edit; `None` if the publisher did not edit them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Box<PreviousText>>,
}

/// The title and text that an entry had before its publisher edited it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviousText {
    /// Title as plain text.
    pub title: Option<String>,
    /// Text with the publisher's markup.
    pub text: String,
    /// Time of the poll that found the edit.
    pub at: DateTime<Utc>,
    /// Id of this copy if it is another one than the entry has now ([`KeptEntry::former`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<String>,
    /// The copy before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Self>>,
}

impl EntryBody {
    /// Creates the body from one copy of the entry.
    pub fn from_copy(entry: &Entry) -> Self {
        let [summary, content] = entry.kept_texts().map(|text| text.map(str::to_owned));
        Self { summary, content, previous: None }
    }

    /// Returns the text to display: the content, or the summary if the content is blank.
    pub fn text(&self) -> Option<&str> {
        self.content.as_deref().filter(|text| !text.trim().is_empty()).or(self.summary.as_deref())
    }

    /// Adds the markup of the page that the entry links to, so that searches find its words too.
    #[must_use]
    pub fn with_page(self, markup: &str) -> Self {
        let content = format!("{} {markup}", self.text().unwrap_or_default());
        Self { content: Some(content), ..self }
    }

    /// Returns the length of all texts together, in bytes.
    pub fn len(&self) -> usize {
        let texts = [self.summary.as_ref(), self.content.as_ref()].into_iter().flatten();
        let first = self.previous.as_deref();
        let versions = std::iter::successors(first, |version| version.before.as_deref());
        texts.chain(versions.map(|version| &version.text)).map(String::len).sum()
    }

    /// Checks whether summary and content are both missing or empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The rank of one copy of an entry. The fields are compared in order, and the copy with the larger rank wins. `None` is
/// smaller than any time.
///
/// The order is lexicographic rather than a chain of conditions. Comparing times only if both copies have one would not be
/// transitive: a dated, an undated and another dated copy could form a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// Update time stated by the entry.
    pub entry_time: Option<DateTime<Utc>>,
    /// Update time stated by the document that contains the copy.
    pub document_time: Option<DateTime<Utc>>,
    /// Position in the logical feed of the document that contains the copy.
    pub position: Position,
    /// Time at which the document that contains the copy was fetched.
    pub fetched_at: DateTime<Utc>,
}

/// The position of a document in the logical feed. Later variants of this enum are newer than earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Position {
    /// A document that another reader published. Every other copy counts as newer.
    Copy,
    /// A capture of the feed by a third party at the given time. The publisher's own copies always count as newer.
    Capture {
        /// Unix time in seconds.
        taken: i64,
    },
    /// A page of a paged feed (RFC 5005 §3).
    Page,
    /// An archive document, ordered by the archive walk that reached it and by its distance from the start of that walk.
    Archive {
        /// Number of the archive walk that reached the archive; archives of later walks are newer.
        epoch: u32,
        /// Negated number of archives between this one and the subscription document: 0 is the newest archive of its walk.
        depth: i32,
    },
    /// The subscription document.
    Subscription,
}

impl Rank {
    /// Creates the rank of a copy. A time more than a day after `fetched_at` counts as missing. Otherwise, an entry with a
    /// date in the year 2099 could never be replaced by a corrected copy.
    pub fn new(
        entry_time: Option<DateTime<Utc>>,
        document_time: Option<DateTime<Utc>>,
        position: Position,
        fetched_at: DateTime<Utc>,
    ) -> Self {
        let latest = fetched_at.checked_add_signed(TimeDelta::days(1)).unwrap_or(fetched_at);
        let foreign = matches!(position, Position::Capture { .. } | Position::Copy);
        let plausible =
            |time: Option<DateTime<Utc>>| time.filter(|&time| time <= latest && !foreign);
        let fallback = (position == Position::Subscription).then_some(fetched_at);
        Self {
            entry_time: plausible(entry_time),
            document_time: plausible(document_time).or(fallback),
            position,
            fetched_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn the_entry_time_decides_before_the_document_time() {
        let older = Rank::new(Some(at(10)), Some(at(900)), Position::Subscription, at(1000));
        let newer = Rank::new(Some(at(20)), Some(at(100)), Position::Page, at(1000));
        assert!(newer > older);
    }

    #[test]
    fn third_party_copy_never_beats_the_publishers() {
        let taken = |taken| Position::Capture { taken };
        let copy = Rank::new(Some(at(900)), Some(at(950)), taken(960), at(1000));
        for position in [Position::Page, Position::Archive { epoch: 0, depth: -9 }] {
            assert!(copy < Rank::new(None, None, position, at(1)), "{position:?}");
        }
        assert!(copy < Rank::new(Some(at(1)), None, Position::Subscription, at(1)));
        assert!(copy > Rank::new(Some(at(990)), None, taken(959), at(2000)), "of two the later");
    }

    #[test]
    fn a_missing_entry_time_is_smaller_than_any() {
        let undated = Rank::new(None, Some(at(900)), Position::Subscription, at(1000));
        let dated = Rank::new(Some(at(1)), None, Position::Page, at(1000));
        assert!(dated > undated);
    }

    #[test]
    fn a_date_far_in_the_future_counts_as_missing() {
        let frozen = Rank::new(Some(at(4_000_000_000)), None, Position::Subscription, at(1000));
        assert_eq!(frozen.entry_time, None);
    }

    #[test]
    fn pages_rank_below_archives_below_the_feed_document() {
        let newest = Position::Archive { epoch: 1, depth: 0 };
        let older = Position::Archive { epoch: 1, depth: -1 };
        let next_walk = Position::Archive { epoch: 2, depth: -7 };
        assert!(Position::Page < older && older < newest && newest < next_walk);
        assert!(next_walk < Position::Subscription);
    }
}
