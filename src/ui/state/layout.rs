//! The layout of the three panes: their arrangement, and the sizes measured when the screen was drawn.

use serde::{Deserialize, Serialize};

/// One of the three panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pane {
    /// The subscriptions.
    #[default]
    Feeds,
    /// The entries.
    Entries,
    /// The open entry.
    Reader,
}

/// Inner sizes of the panes, in cells. Zero before the first draw.
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
    /// Visible rows of the plan or the timetable.
    pub overlay_rows: u16,
    /// Area of the subscription rows. Empty if the pane is hidden.
    pub feeds: Area,
    /// Area of the entry rows.
    pub entries: Area,
    /// Area of the reader's text.
    pub reader: Area,
    /// Area of the topmost overlay's rows.
    pub overlay: Area,
    /// Index of the first row shown in the overlay.
    pub overlay_top: u16,
}

/// A part of the screen, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Area {
    /// First column.
    pub column: u16,
    /// First row.
    pub row: u16,
    /// Number of columns.
    pub columns: u16,
    /// Number of rows.
    pub rows: u16,
}

impl Area {
    /// Returns the line of a cell within the area, from 0. Returns `None` if the cell is outside.
    pub fn line_at(self, column: u16, row: u16) -> Option<usize> {
        let across = column.checked_sub(self.column)?;
        let down = row.checked_sub(self.row)?;
        (across < self.columns && down < self.rows).then_some(usize::from(down))
    }
}

/// The arrangement of the panes at a width (UX 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Three panes side by side. The automatic layout uses it from 120 columns on.
    Wide,
    /// The subscriptions on the left; the entries above the reader on the right.
    Stacked,
    /// The subscriptions on the left; the entries or the reader on the right.
    Medium,
    /// One pane at a time. The automatic layout uses it below 80 columns.
    Narrow,
}
