//! The result of parsing: one feed document with its head section, hints, links and entries, the same for all formats.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::flaws::{Flaw, LACKS_END, TOO_MANY_ENTRIES, TRUNCATED};
use super::hints::Hints;

/// Everything that was read in one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedDocument {
    /// The format family of the root element.
    pub kind: Kind,
    /// What the document says of its own place in the logical feed (RFC 5005, SPEC C.2), judged from
    /// the document alone: whether it was reached through an archive link is not known here.
    pub role: DocumentRole,
    pub head: FeedHead,
    /// What the publisher asks of pollers. Meaningful only in a subscription document (SPEC 0).
    pub hints: Hints,
    /// Archive and paging links, resolved (SPEC C.4).
    pub history: HistoryLinks,
    /// All links of the head section, resolved, in document order.
    pub links: Vec<Link>,
    /// For a redirect document (SPEC S1.12, S1.14), and where a podcast says that it moved (`itunes:new-feed-url`).
    pub new_location: Option<NewLocation>,
    /// Entries the publisher has deleted (RFC 6721).
    pub tombstones: Vec<Tombstone>,
    /// In document order.
    pub entries: Vec<Entry>,
    /// What was dropped or repaired.
    pub flaws: Vec<Flaw>,
}

impl FeedDocument {
    /// Whether the document breaks off. What could be read of it is here, but it must not be taken for
    /// the whole (SPEC G.30). Where entries that are missing would be withdrawn or never asked for again, a missing
    /// last end tag is enough.
    pub fn is_truncated(&self) -> bool {
        let must_be_whole = self.history.complete || self.history.archive;
        self.has_flaw(TRUNCATED) || (must_be_whole && self.lacks_end())
    }

    /// Whether all entries are closed and only the last end tags are missing.
    pub fn lacks_end(&self) -> bool {
        self.has_flaw(LACKS_END)
    }

    /// Takes missing last end tags for a break, because nothing else would show one.
    pub fn doubt_end(&mut self) {
        for flaw in self.flaws.iter_mut().filter(|flaw| flaw.reason == LACKS_END) {
            TRUNCATED.clone_into(&mut flaw.reason);
        }
    }

    fn has_flaw(&self, reason: &str) -> bool {
        self.flaws.iter().any(|flaw| flaw.reason == reason)
    }

    /// Whether the document holds more entries than the limit (SPEC 0). The rest was left out.
    pub fn is_cut_short(&self) -> bool {
        self.has_flaw(TOO_MANY_ENTRIES)
    }

    /// Returns the dates of the entries, oldest first. Entries without one are left out.
    pub fn entry_dates(&self) -> Vec<DateTime<Utc>> {
        let mut dates: Vec<_> =
            self.entries.iter().filter_map(|entry| entry.published.or(entry.updated)).collect();
        dates.sort_unstable();
        dates
    }

    /// Returns the mean time between entries by their own dates, seconds, more than 0; `None` where too few have one.
    pub fn mean_gap(&self) -> Option<i64> {
        let dates = self.entry_dates();
        let (first, last) = (dates.first()?, dates.last()?);
        let gaps = i64::try_from(dates.len() - 1).ok()?;
        let span = (*last - *first).num_seconds();
        (dates.len() >= DATED_MIN && span > 0).then(|| span / gaps)
    }
}

/// How many dates are needed to say how often entries come.
const DATED_MIN: usize = 3;

/// The format family of a document.
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
    /// No feed at all.
    #[default]
    None,
}

impl Kind {
    /// The word used in `parse --json` (UX 5).
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

    /// Whether a document of this kind can have entries.
    pub const fn is_feed(self) -> bool {
        matches!(self, Self::Atom | Self::Rss | Self::Rdf | Self::Json)
    }
}

/// The place of a document in its logical feed, judged from the document alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DocumentRole {
    /// It links to archives: a subscription document of an archived feed (RFC 5005 §4).
    Subscription,
    /// It is marked as an archive document (RFC 5005 §4).
    Archive,
    /// It is the whole logical feed (RFC 5005 §2).
    Complete,
    /// It has paging links (RFC 5005 §3, JSON Feed `next_url`).
    Paged,
    #[default]
    Plain,
}

impl DocumentRole {
    /// The word used in `parse --json` (UX 5).
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

/// The head section. Texts are plain text, safe to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedHead {
    /// `atom:id`; `None` where the format has none.
    pub id: Option<String>,
    /// Title as plain text.
    pub title: Option<String>,
    /// The site, resolved.
    pub link: Option<String>,
    /// `atom:updated`, RSS `lastBuildDate`.
    pub updated: Option<DateTime<Utc>>,
    /// RSS channel `pubDate`.
    pub published: Option<DateTime<Utc>>,
    /// Subtitle or description as the publisher marked it up.
    pub subtitle: Option<String>,
    /// Language tag as written.
    pub language: Option<String>,
    /// Rights statement as plain text.
    pub rights: Option<String>,
    /// Name of the first author.
    pub author: Option<String>,
    /// Program that wrote the document.
    pub generator: Option<String>,
}

/// Archive and paging links and marks (RFC 5005; drafts as SPEC A.4). Addresses are resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryLinks {
    /// `fh:complete`, or the drafts' `incremental` / `stateful` = false.
    pub complete: bool,
    /// `fh:archive`.
    pub archive: bool,
    /// The drafts' `incremental` / `stateful` = true.
    pub incremental: bool,
    /// `self`.
    pub this: Option<String>,
    /// `current`.
    pub current: Option<String>,
    /// `prev-archive`, else the drafts' `fh:prev`.
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

/// One link of a head section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Relation in lower case, IANA form shortened (SPEC C.2 rule 1); missing = `alternate`.
    pub rel: String,
    /// Resolved address.
    pub href: String,
    /// Media type as written.
    pub media_type: Option<String>,
}

/// Where a redirect document points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewLocation {
    /// A resolved address; it has the effect of a 301 (SPEC S1.12).
    At(String),
    /// An empty address; it has the effect of a 410 (SPEC S1.14).
    Gone,
}

/// An entry deleted by its publisher (RFC 6721).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// Id of the deleted entry.
    pub id: String,
    /// When it was deleted.
    pub when: DateTime<Utc>,
}
