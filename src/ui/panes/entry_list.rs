//! The open entry list: which entries it holds, and the window of rows that is in memory.
//!
//! The store keeps the whole order (a few bytes an entry); the app keeps the rows around the selection.
//! Rows are asked for before the selection reaches the edge of the window.

use std::collections::BTreeSet;

use chrono_tz::Tz;

use crate::engine::calendar::day_of;
use crate::engine::entries::rows::{
    GapMark, ROWS_AT_ONCE_MAX, Row, RowKey, RowOrder, RowsLoaded, RowsWanted,
};
use backissue_core::history::EntryKey;

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
            lines = lines.saturating_add(self.row(place).map_or(1, row_height));
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

/// Lines that a row takes on the screen.
pub const fn row_height(row: &Row) -> usize {
    match row.key {
        RowKey::Entry(_) => 1,
        RowKey::Gap(..) => GAP_LINES,
    }
}
