//! The result of parsing: one feed document with its head section, hints, links and entries. It is the same for all formats.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::flaws::{Flaw, LACKS_END, TOO_MANY_ENTRIES, TRUNCATED};
use super::hints::Hints;

/// Parsed contents of one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedDocument {
    /// Format family of the root element.
    pub kind: Kind,
    /// Role that the document states within the logical feed (RFC 5005, SPEC C.2). It is derived from the document alone,
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
    /// Parts that were dropped or repaired.
    pub flaws: Vec<Flaw>,
}

impl FeedDocument {
    /// Checks whether the document is truncated. A truncated document contains the part that could be read, but must not be
    /// treated as the whole (SPEC G.30). Complete and archive documents count as truncated even if only the last end tag is
    /// missing, because a missing entry there would be withdrawn or never requested again.
    pub fn is_truncated(&self) -> bool {
        let must_be_whole = self.history.complete || self.history.archive;
        self.has_flaw(TRUNCATED) || (must_be_whole && self.lacks_end())
    }

    /// Checks whether all entries are closed and only the last end tags are missing.
    pub(crate) fn lacks_end(&self) -> bool {
        self.has_flaw(LACKS_END)
    }

    /// Treats missing last end tags as truncation. Use this when nothing else would reveal a truncated document.
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

    /// Returns the mean time between the dates of the entries, in seconds, more than 0, or `None` if too few entries are dated.
    pub(crate) fn mean_gap(&self) -> Option<i64> {
        let dates = self.entry_dates();
        let (first, last) = (dates.first()?, dates.last()?);
        let gaps = i64::try_from(dates.len() - 1).ok()?;
        let span = (*last - *first).num_seconds();
        (dates.len() >= DATED_MIN && span > 0).then(|| span / gaps)
    }
}

/// Minimum number of dates for a mean gap.
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
    /// An XML-level redirect (SPEC D.5).
    Redirect,
    /// Not a feed.
    #[default]
    None,
}

impl Kind {
    /// Returns the name used in `parse --json` (UX 5).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Atom => "atom",
            Self::Rss => "rss",
            Self::Rdf => "rdf",
            Self::Json => "json",
            Self::Redirect => "redirect",
            Self::None => "none",
        }
    }

    /// Checks whether a document of this kind can have entries.
    pub const fn is_feed(self) -> bool {
        matches!(self, Self::Atom | Self::Rss | Self::Rdf | Self::Json)
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
    /// Returns the name used in `parse --json` (UX 5).
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

/// The head section. All texts except the subtitle are plain text that is safe to display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedHead {
    /// `atom:id`; `None` if the format has none.
    pub id: Option<String>,
    /// Title as plain text.
    pub title: Option<String>,
    /// URL of the site, resolved.
    pub link: Option<String>,
    /// `atom:updated`, RSS `lastBuildDate`.
    pub updated: Option<DateTime<Utc>>,
    /// RSS channel `pubDate`.
    pub published: Option<DateTime<Utc>>,
    /// Subtitle or description with the publisher's markup.
    pub subtitle: Option<String>,
    /// Language tag as written.
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
    /// `fh:complete`, or `incremental` / `stateful` = false in the drafts.
    pub complete: bool,
    /// `fh:archive`.
    pub archive: bool,
    /// `incremental` / `stateful` = true in the drafts.
    pub incremental: bool,
    /// `self`.
    pub this: Option<String>,
    /// `current`.
    pub current: Option<String>,
    /// `prev-archive`, otherwise `fh:prev` from the drafts.
    pub prev_archive: Option<String>,
    /// `next-archive`.
    pub next_archive: Option<String>,
    /// `first`.
    pub first: Option<String>,
    /// `last`.
    pub last: Option<String>,
    /// `next`, JSON Feed `next_url`.
    pub next: Option<String>,
    /// `previous`, or its alias `prev`.
    pub previous: Option<String>,
}

/// A link in the head section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Relation in lower case, with an IANA address shortened to its last segment (SPEC C.2 rule 1). `alternate` if missing.
    pub rel: String,
    /// Resolved URL.
    pub href: String,
    /// Media type as written.
    pub media_type: Option<String>,
}

/// Target of a redirect document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewLocation {
    /// Resolved URL, treated like a 301 (SPEC S1.12).
    At(String),
    /// Empty URL, treated like a 410 (SPEC S1.14).
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
