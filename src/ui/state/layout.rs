//! The three panes and their places: how they are arranged, and the sizes that were measured when the screen was drawn.

use serde::{Deserialize, Serialize};

/// One of the three panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pane {
    /// Subscriptions.
    #[default]
    Feeds,
    /// Entries.
    Entries,
    /// The entry being read.
    Reader,
}

/// Sizes of the panes' insides, in cells. Zero before the first draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Viewport {
    /// Rows of the subscriptions pane.
    pub feeds_rows: u16,
    /// Rows of the entries pane.
    pub entries_rows: u16,
    /// Rows of the reader's text.
    pub reader_rows: u16,
    /// Columns of the reader's text.
    pub reader_columns: u16,
    /// Lines of the help.
    pub help_lines: u16,
    /// Lines of the plan.
    pub plan_lines: u16,
    /// Rows of the plan or the timetable.
    pub overlay_rows: u16,
    /// Where the rows of the subscriptions are; nowhere if the pane is not shown.
    pub feeds: Area,
    /// Where the rows of the entries are.
    pub entries: Area,
    /// Where the text of the reader is.
    pub reader: Area,
    /// Where the rows of what lies over the panes are.
    pub overlay: Area,
    /// The first row shown there.
    pub overlay_top: u16,
}

/// A part of the screen, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Area {
    /// Its first column.
    pub column: u16,
    /// Its first row.
    pub row: u16,
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl Area {
    /// The line of a cell in it, from 0; `None`: the cell is outside.
    pub fn line_at(self, column: u16, row: u16) -> Option<usize> {
        let across = column.checked_sub(self.column)?;
        let down = row.checked_sub(self.row)?;
        (across < self.columns && down < self.rows).then_some(usize::from(down))
    }
}

/// How the panes are arranged at a width (UX 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Three panes side by side, from 120 columns on.
    Wide,
    /// Subscriptions, and beside them the entries above the reader.
    Stacked,
    /// Subscriptions, and entries or reader beside them.
    Medium,
    /// One pane at a time, below 80 columns.
    Narrow,
}
