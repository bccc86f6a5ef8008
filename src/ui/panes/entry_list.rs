//! The open entry list: which entries it contains, and which of its rows are in memory.
//!
//! The store keeps the order of the whole list, at a few bytes per entry; the app keeps only the rows around the selection (the
//! window). More rows are requested before the selection reaches the edge of the window.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use chrono_tz::Tz;

use crate::engine::entries::rows::{
    GapMark, ROWS_AT_ONCE_MAX, Row, RowKey, RowOrder, RowsLoaded, RowsWanted,
};
use crate::ui::state::feeds_pane::PlaceList;
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::history::EntryKey;
use backissue_core::words::frequency::Frequency;

/// Number of rows in memory. A screen with more rows keeps as many rows as it shows.
pub const WINDOW_ROWS: usize = 240;
/// Number of screen lines for a gap: what is missing, why, and what happens next.
pub const GAP_LINES: usize = 3;
/// Minimum number of rows in memory above and below the selection. If there are fewer, more rows are requested.
const WINDOW_MARGIN: usize = 60;
/// Maximum number of rows that are added above or below the rows in memory with one request. Small requests do not delay key
/// presses noticeably.
const WINDOW_STEP: usize = 40;
/// Minimum number of rows in a request, whatever the height of the screen.
const SIGHT_ROWS_MIN: usize = 24;
/// The open entry list.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a stage of the rows, independent of the others"
)]
pub struct Listing {
    /// Number that distinguishes this list from previously opened lists.
    pub number: u64,
    /// The row of the subscriptions pane for which the list was opened.
    pub of: PlaceList,
    /// Number of rows in the whole list.
    pub total: usize,
    /// Index of the first row in memory.
    pub offset: usize,
    /// The rows in memory.
    pub rows: Vec<Row>,
    /// Index of the selected row in the whole list.
    pub selected: usize,
    /// Index of the first row on the screen, in the whole list.
    pub top: usize,
    /// Entries that were read or unstarred since the list was opened. These entries remain in the list until it is reopened.
    pub keep: BTreeSet<EntryKey>,
    /// Entries that the user unfolded, so that they have rows of their own, with the pages to which they all link.
    pub unfolded: BTreeMap<EntryKey, BTreeSet<u64>>,
    /// Selected entries of unfolded rows that the user marked as not the same story.
    pub noted_apart: BTreeSet<EntryKey>,
    /// The gaps that were inserted into the list when it was built.
    pub gaps: Vec<GapMark>,
    /// `true` while requested rows have not arrived yet.
    pub waiting: bool,
    /// Sort order of the rows.
    pub order: RowOrder,
    /// Number of entries without a row of their own, because they share one with another entry.
    pub sharing: usize,
    /// Number of entries that the user has opened, if a feed is read from the beginning.
    pub opened: usize,
    /// `true` if no rows of the list have arrived yet.
    pub fresh: bool,
    /// `true` while rows that the user's last key requested are pending, so that the rows in memory are not what the user
    /// expects.
    pub is_due: bool,
    /// `true` if entries changed while requested rows were pending, so that the list must be rebuilt when they arrive.
    pub stale: bool,
}

impl Listing {
    /// Returns the row at an index of the whole list, if it is in memory.
    pub fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get(place.checked_sub(self.offset)?)
    }

    /// Returns the selected row.
    pub fn selected_row(&self) -> Option<&Row> {
        self.row(self.selected)
    }

    /// Stores rows that arrived from the store. If the request named an entry, the selection and the visible range move by the
    /// distance that this entry moved since the request. Keys pressed in the meantime therefore keep their effect, and the visible
    /// rows stay in place.
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
        self.sharing = loaded.sharing;
        self.opened = loaded.opened.unwrap_or(self.opened);
        self.offset = loaded.offset;
        self.rows = loaded.rows;
        self.selected = self.selected.min(self.total.saturating_sub(1));
        self.top = self.top.min(self.selected);
        self.waiting = false;
        self.fresh = false;
        self.is_due &= self.stale;
    }

    /// Returns the rows to request next, or `None` if enough rows around the selection are in memory. If a row that is visible on a
    /// screen of `height` lines is missing, the visible rows are requested. Otherwise, only a few rows above or below the rows in
    /// memory are requested, which takes no noticeable time.
    pub fn wanted(&self, height: usize) -> Option<RowsWanted> {
        if self.waiting || self.total == 0 {
            return None;
        }
        let end = self.offset.saturating_add(self.rows.len());
        let height = height.min(ROWS_AT_ONCE_MAX / 2);
        let top = self.top.max(self.selected.saturating_sub(height));
        let sight = top..top.saturating_add(height).min(self.total);
        if sight.start < self.offset || sight.end > end {
            // Day headings also take lines, so the visible rows can differ from this range by a few rows.
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

    /// Adjusts `top` so that the selected row is visible on a screen of `height` lines, including day headings.
    pub fn keep_in_sight(&mut self, height: usize, shape: RowShape, zone: Tz) {
        self.top = self.top.min(self.selected);
        while self.top < self.selected
            && self.lines_between(self.top, self.selected, shape, zone) > height
        {
            // After a long jump, rows far above the selection are skipped at once. Each remaining row takes at most two lines,
            // because it can have a day heading.
            let far = self.selected.saturating_sub(height);
            self.top = self.top.saturating_add(1).max(far);
        }
        // If the screen has become taller, show more rows above the first visible row instead of blank lines below the last row.
        let last = self.total.saturating_sub(1);
        while self.top > self.offset
            && last.saturating_sub(self.top) < height
            && self.lines_between(self.top.saturating_sub(1), last, shape, zone) <= height
        {
            self.top = self.top.saturating_sub(1);
        }
    }

    /// Returns the number of lines from row `from` to row `to`, both inclusive, with their day headings.
    fn lines_between(&self, from: usize, to: usize, shape: RowShape, zone: Tz) -> usize {
        let mut lines = 0_usize;
        let mut heading = None;
        for place in from..=to {
            let this = self.row(place).and_then(|row| shape.heading(row, zone));
            if this.is_some() && this != heading {
                lines = lines.saturating_add(1);
                heading = this;
            }
            lines = lines.saturating_add(self.row(place).map_or(1, |row| shape.height(row)));
            if lines > 4 * usize::from(u16::MAX) {
                break;
            }
        }
        lines
    }
}

/// Returns the number of rows to request so that they fill a screen of `height` lines.
pub const fn sight_rows(height: usize) -> usize {
    if height < SIGHT_ROWS_MIN { SIGHT_ROWS_MIN } else { height }
}

/// Returns the number of rows to request around a row if its line on the screen is not known yet.
pub const fn rows_around(height: usize) -> usize {
    sight_rows(height).saturating_mul(2)
}

/// Where an entry list has headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headings {
    /// Nowhere.
    None,
    /// Above the entries of each day.
    Days,
    /// Above the entries of feeds that publish equally often.
    Frequencies,
}

/// The heading above a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// The day of the row.
    Day(NaiveDate),
    /// How often the feed of the row publishes.
    Frequency(&'static str),
}

/// How the rows of a list are drawn, as far as it affects their heights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShape {
    /// Which entries are below a heading of their own.
    pub headings: Headings,
    /// Number of lines of an entry.
    pub lines: usize,
}

impl RowShape {
    /// Returns the heading that a row is below.
    pub fn heading(self, row: &Row, zone: Tz) -> Option<Heading> {
        match self.headings {
            Headings::None => None,
            Headings::Days => Some(Heading::Day(day_of(row.listed, zone))),
            Headings::Frequencies => {
                let words = row.frequency.map_or("read, or of quiet feeds", Frequency::words);
                Some(Heading::Frequency(words))
            }
        }
    }

    /// Returns the number of screen lines that a row takes.
    pub const fn height(self, row: &Row) -> usize {
        match row.key {
            RowKey::Entry(_) => self.lines,
            RowKey::Gap(..) => GAP_LINES,
        }
    }
}
