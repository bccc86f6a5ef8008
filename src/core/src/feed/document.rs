//! The result of parsing a document of any format: its head section, hints, links and entries, sanitised for storage and display.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::content::markup::add_paragraph;
use super::flaws::{Flaw, LACKS_END, TOO_MANY_ENTRIES, TRUNCATED};
use super::hints::Hints;

/// Parsed contents of one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedDocument {
    /// Format of the document, determined from its root element.
    pub kind: Kind,
    /// Role that the document states within the logical feed (RFC 5005, SPEC C.2). It is derived from the document's content alone,
    /// regardless of how the document was found.
    pub role: DocumentRole,
    pub head: FeedHead,
    /// Polling hints from the publisher. Meaningful only in a subscription document (SPEC 0).
    pub hints: Hints,
    /// Archive and paging links, resolved (SPEC C.4).
    pub history: HistoryLinks,
    /// All links of the head section, resolved, in document order.
    pub links: Vec<Link>,
    /// Target of a redirect document (SPEC S1.12, S1.14), or the new feed URL of a podcast (`itunes:new-feed-url`).
    pub new_location: Option<NewLocation>,
    /// Entries deleted by the publisher (RFC 6721).
    pub tombstones: Vec<Tombstone>,
    /// Entries in document order.
    pub entries: Vec<Entry>,
    /// Parts of the document that were dropped or repaired during parsing.
    pub flaws: Vec<Flaw>,
}

impl FeedDocument {
    /// Checks whether the document is truncated. A truncated document contains the part that could be read, but must not be treated
    /// as the whole document (SPEC G.30). Complete and archive documents count as truncated even if only the last end tag is
    /// missing: an entry missing from a complete document would be treated as withdrawn, and an archive is never requested again.
    pub fn is_truncated(&self) -> bool {
        let must_be_whole = self.history.complete || self.history.archive;
        self.has_flaw(TRUNCATED) || (must_be_whole && self.lacks_end())
    }

    /// Checks whether the last end tags of the document are missing, although all its entries are closed.
    pub(crate) fn lacks_end(&self) -> bool {
        self.has_flaw(LACKS_END)
    }

    /// Marks the document as truncated if its last end tags are missing. Call this if there is no other way to detect truncation,
    /// such as a stated length.
    pub fn doubt_end(&mut self) {
        for flaw in self.flaws.iter_mut().filter(|flaw| flaw.reason == LACKS_END) {
            TRUNCATED.clone_into(&mut flaw.reason);
        }
    }

    fn has_flaw(&self, reason: &str) -> bool {
        self.flaws.iter().any(|flaw| flaw.reason == reason)
    }

    /// Checks whether the document has more entries than the limit (SPEC 0). The excess entries were dropped.
    pub fn is_cut_short(&self) -> bool {
        self.has_flaw(TOO_MANY_ENTRIES)
    }

    /// Returns the dates of the entries, oldest first. Skips entries without a date.
    pub(crate) fn entry_dates(&self) -> Vec<DateTime<Utc>> {
        let mut dates: Vec<_> =
            self.entries.iter().filter_map(|entry| entry.published.or(entry.updated)).collect();
        dates.sort_unstable();
        dates
    }

    /// Returns the mean time between the dates of consecutive entries, in seconds. It is always more than 0. Returns `None` if
    /// fewer than [`DATED_MIN`] entries have a date.
    pub(crate) fn mean_gap(&self) -> Option<i64> {
        let dates = self.entry_dates();
        let (first, last) = (dates.first()?, dates.last()?);
        let gaps = i64::try_from(dates.len() - 1).ok()?;
        let span = (*last - *first).num_seconds();
        (dates.len() >= DATED_MIN && span > 0).then(|| span / gaps)
    }
}

/// Minimum number of dated entries needed to compute a mean time between entries.
const DATED_MIN: usize = 3;

/// Format family of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Atom 1.0, or 0.3 and the drafts.
    Atom,
    /// RSS 0.91, 0.92, 0.93, 0.94 and 2.0.
    Rss,
    /// RSS 0.90 and 1.0.
    Rdf,
    /// JSON Feed 1 and 1.1.
    Json,
    /// A list of feeds in OPML, each of which is an entry.
    Opml,
    /// An XML-level redirect (SPEC D.5).
    Redirect,
    /// Not a feed.
    #[default]
    None,
}

impl Kind {
    /// Returns the name of this format in the output of `parse --json` (UX 5).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Atom => "atom",
            Self::Rss => "rss",
            Self::Rdf => "rdf",
            Self::Json => "json",
            Self::Opml => "opml",
            Self::Redirect => "redirect",
            Self::None => "none",
        }
    }

    /// Checks whether a document of this kind can have entries.
    pub const fn is_feed(self) -> bool {
        matches!(self, Self::Atom | Self::Rss | Self::Rdf | Self::Json | Self::Opml)
    }
}

/// Role of a document within its logical feed, derived from the document alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DocumentRole {
    /// A subscription document of an archived feed: it links to archives (RFC 5005 §4).
    Subscription,
    /// A document marked as an archive (RFC 5005 §4).
    Archive,
    /// A document that contains the whole logical feed (RFC 5005 §2).
    Complete,
    /// A document with paging links (RFC 5005 §3, JSON Feed `next_url`).
    Paged,
    #[default]
    Plain,
}

impl DocumentRole {
    /// Returns the name of this role in the output of `parse --json` (UX 5).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Subscription => "subscription",
            Self::Archive => "archive",
            Self::Complete => "complete",
            Self::Paged => "paged",
            Self::Plain => "plain",
        }
    }
}

/// The head section of a feed. All texts except the subtitle are plain text that is safe to display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedHead {
    /// `atom:id`, or `None` if the document states none.
    pub id: Option<String>,
    /// Title as plain text.
    pub title: Option<String>,
    /// URL of the feed's website, resolved.
    pub link: Option<String>,
    /// Time of the last change (`atom:updated`, RSS `lastBuildDate`).
    pub updated: Option<DateTime<Utc>>,
    /// Publication time (RSS channel `pubDate`).
    pub published: Option<DateTime<Utc>>,
    /// Subtitle or description, including the publisher's markup.
    pub subtitle: Option<String>,
    /// Language tag as written by the publisher.
    pub language: Option<String>,
    /// Rights statement as plain text.
    pub rights: Option<String>,
    /// Name of the first author.
    pub author: Option<String>,
    /// Program that generated the document.
    pub generator: Option<String>,
}

/// Archive and paging links and markers (RFC 5005; drafts as in SPEC A.4). URLs are resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryLinks {
    /// Whether the document contains the whole feed: `fh:complete`, or `incremental` or `stateful` = false in the drafts.
    pub complete: bool,
    /// Whether the document is an archive (`fh:archive`).
    pub archive: bool,
    /// Whether the document contains only a part of the feed: `incremental` or `stateful` = true in the drafts.
    pub incremental: bool,
    /// URL of the document itself (link relation `self`).
    pub this: Option<String>,
    /// URL of the current document of the feed (link relation `current`).
    pub current: Option<String>,
    /// URL of the archive with the next older entries: link relation `prev-archive`, or else `fh:prev` from the drafts.
    pub prev_archive: Option<String>,
    /// URL of the archive with the next newer entries (link relation `next-archive`).
    pub next_archive: Option<String>,
    /// URL of the first page (link relation `first`).
    pub first: Option<String>,
    /// URL of the last page (link relation `last`).
    pub last: Option<String>,
    /// URL of the next page (link relation `next`, JSON Feed `next_url`).
    pub next: Option<String>,
    /// URL of the previous page (link relation `previous`, or its alias `prev`).
    pub previous: Option<String>,
    /// URLs of archives that the publisher states to be missing: linked, but never available (SPEC H.11).
    pub missing: Vec<String>,
}

/// A link in the head section of a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Link relation in lower case, with an IANA address shortened to its last segment (SPEC C.2 rule 1). `alternate` if the link
    /// states none.
    pub rel: String,
    /// Resolved URL.
    pub href: String,
    /// Media type as written by the publisher.
    pub media_type: Option<String>,
}

/// Target of a redirect document, or the new URL of a podcast feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewLocation {
    /// Resolved URL of the target. The redirect is treated like HTTP status 301 (SPEC S1.12).
    At(String),
    /// The stated URL is empty: the feed no longer exists. The redirect is treated like HTTP status 410 (SPEC S1.14).
    Gone,
}

/// An entry that its publisher deleted (RFC 6721).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// ID of the deleted entry.
    pub id: String,
    /// Time of the deletion.
    pub when: DateTime<Utc>,
}

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
    pub(super) fn add_shown(&mut self, inline: &str) {
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
