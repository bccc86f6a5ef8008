//! The layout of the panes: their arrangement, and the sizes measured when the screen was last drawn.

use serde::{Deserialize, Serialize};

/// One of the three panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pane {
    /// The subscriptions pane.
    #[default]
    Feeds,
    /// The entry list.
    Entries,
    /// The reader pane, with the open entry.
    Reader,
}

/// Positions and sizes of the panes and overlays, in cells, measured when the screen was last drawn. Zero before the first draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Viewport {
    /// Number of visible rows in the subscriptions pane.
    pub feeds_rows: u16,
    /// Number of visible rows in the entries pane.
    pub entries_rows: u16,
    /// Index of the first visible problem in the Attention list.
    pub attention_top: u16,
    /// Number of additional lines that the reason of the selected problem takes in the Attention list.
    pub attention_extra: u16,
    /// Number of visible lines of the text in the reader pane.
    pub reader_rows: u16,
    /// Width of the text in the reader pane, in columns.
    pub reader_columns: u16,
    /// Number of lines of the whole help.
    pub help_lines: u16,
    /// Number of lines of the whole plan.
    pub plan_lines: u16,
    /// Number of visible rows in the plan pane or the timetable.
    pub overlay_rows: u16,
    /// Area of the rows in the subscriptions pane. Empty if the pane is hidden.
    pub feeds: Area,
    /// Area of the rows in the entries pane. Empty if the pane is hidden.
    pub entries: Area,
    /// Area of the text in the reader pane. Empty if the pane is hidden.
    pub reader: Area,
    /// Area that the entries pane and the reader share, with their borders.
    pub shared: Area,
    /// Area of the rows in the topmost overlay.
    pub overlay: Area,
    /// Index of the first visible row in the topmost overlay.
    pub overlay_top: u16,
}

/// A rectangle of the screen, in cells.
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
    /// Returns the line (from 0) within the area that contains a cell of the screen. Returns `None` if the cell is outside the
    /// area.
    pub fn line_at(self, column: u16, row: u16) -> Option<usize> {
        let across = column.checked_sub(self.column)?;
        let down = row.checked_sub(self.row)?;
        (across < self.columns && down < self.rows).then_some(usize::from(down))
    }
}

/// How the panes are arranged on the screen (UX 2).
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
