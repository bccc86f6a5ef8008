//! Lists of entries as the store returns them: the query of a list, and the rows of a part of it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::todays_reading::PortionWanted;
use backissue_core::history::{EntryKey, FeedKey, Flags, GapKey};
use backissue_core::search::{FoldedEntries, Matching};
use backissue_core::words::frequency::Frequency;

/// Maximum number of rows in one response of the store.
pub const ROWS_AT_ONCE_MAX: usize = 2000;

/// A query that selects the entries of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// Source of the entries.
    pub scope: Scope,
    /// Selection of entries within the source.
    pub show: Show,
    /// Earliest date of an entry; `None` means no limit.
    pub since: Option<DateTime<Utc>>,
    /// Entries that are listed even if they do not match, so that a row does not disappear while the user reads it.
    pub keep: BTreeSet<EntryKey>,
    /// Gaps in the list, supplied by the engine.
    pub gaps: Vec<GapMark>,
    /// Order of the rows.
    pub order: RowOrder,
    /// How entries that are the same article are joined into one row; `None` shows a row for each entry.
    pub join: Option<JoinBy>,
    /// Hashes of pages: entries are not joined because their texts link to these.
    pub apart: BTreeSet<u64>,
    /// What [`RowOrder::RareFirst`] needs to know of the feeds; `None` with another order.
    pub rare: Option<Box<RareTerms>>,
}

impl ListQuery {
    /// Returns the query that lists each entry in a row of its own, newest first, without gaps.
    pub const fn of(scope: Scope, show: Show) -> Self {
        Self {
            scope,
            show,
            since: None,
            keep: BTreeSet::new(),
            gaps: Vec::new(),
            order: RowOrder::NewestFirst,
            join: None,
            apart: BTreeSet::new(),
            rare: None,
        }
    }
}

/// What is needed to order entries by how rarely their feeds publish, beside the entries themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RareTerms {
    /// How often each feed publishes.
    pub frequencies: BTreeMap<FeedKey, Frequency>,
    /// Feeds that the user made quiet. Their entries come last, with the read ones.
    pub quiet: BTreeSet<FeedKey>,
}

/// What shows that entries of several feeds are the same article.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinBy {
    /// By their links.
    Link,
    /// By their links, or by their titles if their feeds share a tag. Contains the tags of each feed.
    Title(BTreeMap<FeedKey, Vec<String>>),
}

/// Order of the rows of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// Newest entry first.
    #[default]
    NewestFirst,
    /// Oldest entry first.
    OldestFirst,
    /// By title.
    ByTitle,
    /// By the title of the feed, and newest first within a feed.
    ByFeed,
    /// By the time when the entry was first seen, newest first.
    ByReceived,
    /// Oldest entry first, to read a feed from its beginning.
    FromBeginning,
    /// Unread entries by how rarely their feeds publish, and newest first within a class; then the others.
    RareFirst,
    /// Best match of a search first.
    BestFirst,
}

impl RowOrder {
    /// Checks whether the rows are ordered by their dates.
    pub const fn is_by_date(self) -> bool {
        matches!(self, Self::NewestFirst | Self::OldestFirst | Self::FromBeginning)
    }

    /// Checks whether the oldest row comes first.
    pub const fn is_oldest_first(self) -> bool {
        matches!(self, Self::OldestFirst | Self::FromBeginning)
    }
}

/// Key of a row in a list. In the order of keys, entries come before gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKey {
    /// An entry.
    Entry(EntryKey),
    /// A gap, shown as a pseudo-entry (RFC 5005 §4.2).
    Gap(FeedKey, GapKey),
}

impl RowKey {
    /// Returns the key of the entry, or `None` for a gap.
    pub const fn entry(self) -> Option<EntryKey> {
        match self {
            Self::Entry(key) => Some(key),
            Self::Gap(..) => None,
        }
    }

    /// Returns the feed of the row.
    pub const fn feed(self) -> FeedKey {
        match self {
            Self::Entry(key) => key.feed,
            Self::Gap(feed, _) => feed,
        }
    }
}

/// The part of a list that a mark is set on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListPart {
    /// The whole list.
    All,
    /// The rows above this row.
    Above(RowKey),
    /// The rows below this row.
    Below(RowKey),
    /// The entries with a date before this time.
    Before(DateTime<Utc>),
}

/// The entries to set or clear a mark on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkedEntries {
    /// The entries with these keys.
    These(Vec<EntryKey>),
    /// The entries in a part of the list with this number when the job starts.
    ListNumber(u64, ListPart),
    /// The unread entries of these feeds when the job starts.
    Unread(Vec<FeedKey>),
    /// The entries that were in a list when the job started. Replaces the two above.
    Listed(Vec<EntryKey>),
}

/// Source of the entries of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All feeds.
    Everything,
    /// These feeds.
    Feeds(Vec<FeedKey>),
    /// Matches of a search.
    Found(Box<Matching>),
    /// The portion of unread entries for a day.
    Portion(PortionWanted),
}

/// Selection of entries within a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// All entries that are part of their feeds.
    #[default]
    All,
    /// Unread entries.
    Unread,
    /// Starred entries.
    Starred,
    /// Entries that the user's filters hide.
    Hidden,
    /// Entries that were unread for too long and ended in the last seven days.
    Ended,
}

impl Show {
    /// Checks whether an entry with these marks is listed.
    pub const fn takes(self, flags: Flags) -> bool {
        match self {
            Self::All => flags.is_shown(),
            Self::Unread => flags.is_unread(),
            Self::Starred => flags.is_starred(),
            Self::Hidden => flags.is_hidden() && flags.is_live(),
            Self::Ended => flags.has_ended() && flags.is_shown(),
        }
    }
}

/// One row of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Entry or gap that the row shows.
    pub key: RowKey,
    /// Marks of the entry; a gap counts as read.
    pub flags: Flags,
    /// Date that the row is listed under.
    pub listed: DateTime<Utc>,
    /// Title as plain text, empty if there is none.
    pub title: String,
    /// Address of the entry's page.
    pub link: Option<String>,
    /// Name of the author.
    pub author: Option<String>,
    /// Numbers of the user's filters that match the entry.
    pub ruled: Vec<u32>,
    /// Entries of other feeds that are the same article: those that share this row, and unread ones outside the list.
    pub also: Vec<(EntryKey, Flags)>,
    /// Entries of other feeds that share this row, because their texts link to the same page. Each keeps its own marks.
    pub inside: FoldedEntries,
    /// How often the feed publishes, if the row is placed by it.
    pub frequency: Option<Frequency>,
}

impl Row {
    /// Returns a row of which nothing else is known.
    pub fn bare(
        key: RowKey,
        flags: Flags,
        listed: DateTime<Utc>,
        title: impl Into<String>,
    ) -> Self {
        let (ruled, also, inside) = (Vec::new(), Vec::new(), FoldedEntries::default());
        let (title, link, author, frequency) = (title.into(), None, None, None);
        Self { key, flags, listed, title, link, author, ruled, also, inside, frequency }
    }
}

/// A request for rows of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsWanted {
    /// Number of the list. Rows of a list that was closed in the meantime are dropped.
    pub list: u64,
    /// Query to rebuild the list with; `None` uses the list as the store last built it.
    pub rebuild: Option<ListQuery>,
    /// Row to find. The response contains the rows around this row, or the rows at `offset` if this is `None`.
    pub around: Option<RowKey>,
    /// Date to find. The response contains the rows around the first row that, in the order of the list, has this date or comes
    /// after it.
    pub date: Option<DateTime<Utc>>,
    /// Position of the first requested row in the list.
    pub offset: usize,
    /// Number of requested rows, at most [`ROWS_AT_ONCE_MAX`].
    pub rows: usize,
    /// Kind of entry to search for. The response contains the rows around the next entry of this kind.
    pub seek: Option<Seek>,
    /// Position of the selected row at the time of the request, if the selection moves to the row found.
    pub asked: Option<usize>,
}

impl RowsWanted {
    /// Creates a request for `rows` rows of a list, from the position `offset` on.
    pub const fn at(list: u64, offset: usize, rows: usize) -> Self {
        Self {
            list,
            rebuild: None,
            around: None,
            date: None,
            offset,
            rows,
            seek: None,
            asked: None,
        }
    }
}

/// A search in a list for the next entry of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seek {
    /// Position of the first row to examine.
    pub from: usize,
    /// `true` to search towards the end of the list, `false` towards its beginning.
    pub down: bool,
    /// Kind of entry to find.
    pub what: SeekTarget,
}

/// Kind of entry to find in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeekTarget {
    /// An unread entry.
    Unread,
    /// An entry that was never opened. Such an entry may be marked as read, for example because it came from an archive.
    Unopened,
}

impl SeekTarget {
    /// Checks whether an entry with these marks is of this kind.
    pub const fn takes(self, flags: Flags) -> bool {
        match self {
            Self::Unread => flags.is_unread(),
            Self::Unopened => !flags.was_opened(),
        }
    }
}

/// Rows of a list, as the store returns them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsLoaded {
    /// Number of the list.
    pub list: u64,
    /// Number of rows in the whole list.
    pub total: usize,
    /// Number of entries of the list that have no row of their own.
    pub sharing: usize,
    /// Position of the first row in `rows`.
    pub offset: usize,
    /// Requested rows.
    pub rows: Vec<Row>,
    /// Position of the row that was searched for, if the list contains such a row.
    pub found: Option<usize>,
    /// Position of the selected row at the time of the request.
    pub asked: Option<usize>,
    /// `true` in the response to a search for an entry of a kind.
    pub seek: bool,
    /// `true` in the response to a search for a date; the selection moves to the row found.
    pub dated: bool,
    /// Number of opened entries in the whole list, if the list was rebuilt in the order [`RowOrder::FromBeginning`].
    pub opened: Option<usize>,
}

/// A gap as a row of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapMark {
    /// Feed of the gap.
    pub feed: FeedKey,
    /// Key of the gap.
    pub gap: GapKey,
    /// Date that the gap is listed under, after all entries of that date.
    pub listed: DateTime<Utc>,
}
