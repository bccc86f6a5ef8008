//! The open entry list: which entries it holds, and the window of rows that is in memory.
//!
//! The store keeps the whole order (a few bytes an entry); the model keeps the rows around the selection.
//! Rows are asked for before the selection reaches the edge of the window.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

use super::gap_rows::GapMark;
use crate::history::{EntryKey, FeedKey, Flags, GapKey};
use crate::search::Matching;

/// Rows that are in memory, where the screen is not higher.
pub const WINDOW_ROWS: usize = 240;
/// Lines of a gap: what is missing, why, and what happens next.
pub const GAP_LINES: usize = 3;
/// Rows to have around the selection on both sides before more are asked for.
const WINDOW_MARGIN: usize = 60;
/// Rows by which what is in memory grows on each side at once: a key pressed meanwhile does not wait for more.
const WINDOW_STEP: usize = 40;
/// The fewest rows that are asked for, whatever the height of the screen.
const SIGHT_ROWS_MIN: usize = 24;
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
    /// The gaps among them, as the model knows them.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

impl Row {
    /// Lines it takes on the screen.
    pub const fn height(&self) -> usize {
        match self.key {
            RowKey::Entry(_) => 1,
            RowKey::Gap(..) => GAP_LINES,
        }
    }
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

/// The open list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Its number.
    pub number: u64,
    /// Rows of the whole list.
    pub total: usize,
    /// Place of the first row in memory.
    pub offset: usize,
    /// The rows in memory.
    pub rows: Vec<Row>,
    /// Place of the selected row.
    pub selected: usize,
    /// Place of the first row on the screen.
    pub top: usize,
    /// Entries read or unstarred since the list was opened: they stay until it is opened anew.
    pub keep: BTreeSet<EntryKey>,
    /// The gaps it was built with.
    pub gaps: Vec<GapMark>,
    /// Rows have been asked for and have not come.
    pub waiting: bool,
    /// Which end comes first.
    pub order: RowOrder,
    /// Entries of it that were opened, where it goes from the beginning.
    pub opened: usize,
    /// The list was never filled.
    pub fresh: bool,
    /// Something changed while rows were on their way: the list is to be built anew.
    pub stale: bool,
}

impl Listing {
    /// The row at a place of the whole list, if it is in memory.
    pub fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get(place.checked_sub(self.offset)?)
    }

    /// The selected row.
    pub fn selected_row(&self) -> Option<&Row> {
        self.row(self.selected)
    }

    /// Takes rows that came. Where an entry was looked for, selection and screen move as far as it moved since
    /// it was asked for: keys pressed meanwhile are not undone, and the screen stays still under the reader.
    pub fn take(&mut self, loaded: RowsLoaded) {
        if let (Some(found), Some(asked)) = (loaded.found, loaded.asked) {
            let moved = |place: usize| place.saturating_add(found).saturating_sub(asked);
            self.selected = moved(self.selected);
            self.top = moved(self.top);
        }
        if let Some(found) = loaded.found.filter(|_| loaded.dated) {
            self.selected = found;
        }
        self.total = loaded.total;
        self.opened = loaded.opened.unwrap_or(self.opened);
        self.offset = loaded.offset;
        self.rows = loaded.rows;
        self.selected = self.selected.min(self.total.saturating_sub(1));
        self.top = self.top.min(self.selected);
        self.waiting = false;
        self.fresh = false;
    }

    /// The rows to ask for, if those around the selection are not all in memory. On a screen of `height` lines: those
    /// in sight alone if one of them is missing, else as many more as are read in no time.
    pub fn wanted(&self, height: usize) -> Option<RowsWanted> {
        if self.waiting || self.total == 0 {
            return None;
        }
        let end = self.offset.saturating_add(self.rows.len());
        let height = height.min(ROWS_AT_ONCE_MAX / 2);
        let top = self.top.max(self.selected.saturating_sub(height));
        let sight = top..top.saturating_add(height).min(self.total);
        if sight.start < self.offset || sight.end > end {
            // Day headings move what is in sight by a few rows.
            let (above, rows) = (height / 4, sight_rows(height).saturating_add(height / 4));
            return Some(RowsWanted::at(self.number, top.saturating_sub(above), rows));
        }
        let from = self.selected.saturating_sub(WINDOW_MARGIN);
        let to = self.selected.saturating_add(WINDOW_MARGIN).min(self.total);
        if from >= self.offset && to <= end {
            return None;
        }
        let window = self.selected.saturating_sub(WINDOW_ROWS / 2);
        let from = window.min(sight.start).max(self.offset.saturating_sub(WINDOW_STEP));
        let to = window.saturating_add(WINDOW_ROWS).max(sight.end);
        let to = to.min(end.saturating_add(WINDOW_STEP));
        Some(RowsWanted::at(self.number, from, to.saturating_sub(from)))
    }

    /// Moves `top` so that the selected row is on a screen of `height` lines, day headings included.
    pub fn keep_in_sight(&mut self, height: usize, zone: Tz) {
        self.top = self.top.min(self.selected);
        while self.top < self.selected && self.lines_between(self.top, self.selected, zone) > height
        {
            // Far jumps are not walked line by line: a heading a row is the worst case.
            let far = self.selected.saturating_sub(height);
            self.top = self.top.saturating_add(1).max(far);
        }
        // A screen that grew shows more above, not blank lines below.
        let last = self.total.saturating_sub(1);
        while self.top > self.offset
            && last.saturating_sub(self.top) < height
            && self.lines_between(self.top.saturating_sub(1), last, zone) <= height
        {
            self.top = self.top.saturating_sub(1);
        }
    }

    /// Lines from the row at `from` to the row at `to`, both included, with their day headings.
    fn lines_between(&self, from: usize, to: usize, zone: Tz) -> usize {
        let mut lines = 0_usize;
        let mut day = None;
        for place in from..=to {
            let this = self.row(place).map(|row| day_of(row.listed, zone));
            if this.is_some() && this != day && self.order != RowOrder::BestFirst {
                lines = lines.saturating_add(1);
                day = this;
            }
            lines = lines.saturating_add(self.row(place).map_or(1, Row::height));
            if lines > 4 * usize::from(u16::MAX) {
                break;
            }
        }
        lines
    }
}

/// Rows that fill a screen of a height.
pub const fn sight_rows(height: usize) -> usize {
    if height < SIGHT_ROWS_MIN { SIGHT_ROWS_MIN } else { height }
}

/// Rows to ask for around a row that stands anywhere on a screen of a height.
pub const fn rows_around(height: usize) -> usize {
    sight_rows(height).saturating_mul(2)
}

/// The day an instant falls on in a zone.
pub fn day_of(instant: DateTime<Utc>, zone: Tz) -> NaiveDate {
    instant.with_timezone(&zone).date_naive()
}
