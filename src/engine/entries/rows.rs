//! Lists of entries as the store answers them: which entries a list holds, and the rows of a part of it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use backissue_core::history::{EntryKey, FeedKey, Flags, GapKey};
use backissue_core::search::Matching;

/// The most rows that are given at once: some screens are higher than the window.
pub const ROWS_AT_ONCE_MAX: usize = 2000;

/// Which entries a list holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// Where they are taken from.
    pub scope: Scope,
    /// Which of them.
    pub show: Show,
    /// Listed not before this; `None`: no bound.
    pub since: Option<DateTime<Utc>>,
    /// Held in any case, so that a row does not vanish while it is read.
    pub keep: BTreeSet<EntryKey>,
    /// The gaps among them, as the engine knows them.
    pub gaps: Vec<GapMark>,
    /// Which end comes first.
    pub order: RowOrder,
}

/// Which end of a list comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// The newest entry.
    #[default]
    NewestFirst,
    /// The oldest: a feed is read from its beginning.
    OldestFirst,
    /// The one that fits best what was looked for.
    BestFirst,
}

/// What a row of a list stands for. Of one date entries stand before gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKey {
    /// An entry.
    Entry(EntryKey),
    /// Something missing (a pseudo-entry, RFC 5005 §4.2).
    Gap(FeedKey, GapKey),
}

impl RowKey {
    /// The entry, if it is one.
    pub const fn entry(self) -> Option<EntryKey> {
        match self {
            Self::Entry(key) => Some(key),
            Self::Gap(..) => None,
        }
    }

    /// The feed it belongs to.
    pub const fn feed(self) -> FeedKey {
        match self {
            Self::Entry(key) => key.feed,
            Self::Gap(feed, _) => feed,
        }
    }
}

/// Where the entries of a list are taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Every feed.
    Everything,
    /// These feeds.
    Feeds(Vec<FeedKey>),
    /// What was looked for.
    Found(Box<Matching>),
}

/// Which entries of a scope are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// All that are part of their feeds.
    #[default]
    All,
    /// Those not read.
    Unread,
    /// Those with a star.
    Starred,
    /// Those that rules of the reader's hide.
    Hidden,
}

impl Show {
    /// Whether an entry with these marks is listed.
    pub const fn takes(self, flags: Flags) -> bool {
        match self {
            Self::All => flags.is_shown(),
            Self::Unread => flags.is_unread(),
            Self::Starred => flags.is_starred(),
            Self::Hidden => flags.is_hidden() && flags.is_live(),
        }
    }
}

/// One row of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it stands for.
    pub key: RowKey,
    /// Its marks; a gap counts as read.
    pub flags: Flags,
    /// The date it is listed under.
    pub listed: DateTime<Utc>,
    /// Its title, plain text; empty if it has none.
    pub title: String,
    /// Its page.
    pub link: Option<String>,
    /// Its author's name.
    pub author: Option<String>,
    /// The reader's rules that hit it, by their numbers.
    pub ruled: Vec<u32>,
}

/// Which rows are wanted of which list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsWanted {
    /// Number of the list, so that rows of a list closed meanwhile are dropped.
    pub list: u64,
    /// Build the order anew by this query; `None`: the order the store has.
    pub rebuild: Option<ListQuery>,
    /// Find this row and answer with the rows around it; else those at `offset`.
    pub around: Option<RowKey>,
    /// Find the first row at this date or beyond it, in the order of the list.
    pub date: Option<DateTime<Utc>>,
    /// First row wanted.
    pub offset: usize,
    /// Rows wanted; [`ROWS_AT_ONCE_MAX`] at most.
    pub rows: usize,
    /// Find the next entry of a kind from a place on, and answer with the rows around it.
    pub seek: Option<Seek>,
    /// Where the selection stood that follows what is found.
    pub asked: Option<usize>,
}

impl RowsWanted {
    /// Rows of a list from a place on.
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

/// Where to look for an entry of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seek {
    /// The first place to look at.
    pub from: usize,
    /// Towards the end of the list, or towards its beginning.
    pub down: bool,
    /// What to look for.
    pub what: Sought,
}

/// What is looked for in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// An unread entry.
    Unread,
    /// One that was never opened, though it may count as read because it came from history.
    Unopened,
}

impl Sought {
    /// Whether an entry with these marks is looked for.
    pub const fn takes(self, flags: Flags) -> bool {
        match self {
            Self::Unread => flags.is_unread(),
            Self::Unopened => !flags.was_opened(),
        }
    }
}

/// Rows of a list, as the store gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsLoaded {
    /// Number of the list.
    pub list: u64,
    /// Rows of the whole list.
    pub total: usize,
    /// Place of the first of `rows`.
    pub offset: usize,
    /// The rows.
    pub rows: Vec<Row>,
    /// Place of the entry that was looked for, if it is in the list.
    pub found: Option<usize>,
    /// Where the selection stood when it was asked for.
    pub asked: Option<usize>,
    /// It answers a look for an entry of a kind.
    pub seek: bool,
    /// It answers a look for a date: the row that was found is gone to.
    pub dated: bool,
    /// Entries of the whole list that were opened, if it was built anew from the beginning.
    pub opened: Option<usize>,
}

/// A gap as a row of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapMark {
    /// Its feed.
    pub feed: FeedKey,
    /// Its name.
    pub gap: GapKey,
    /// The date it is listed under: after all entries of that date.
    pub listed: DateTime<Utc>,
}
