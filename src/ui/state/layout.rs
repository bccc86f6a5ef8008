//! The layout of the panes: a table of arrangements by the width of the screen (UX 2), and the sizes measured when the screen was
//! last drawn.

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
    /// Number of visible lines of the text in the reader pane, with those of a header that scrolls away.
    pub reader_rows: u16,
    /// Number of lines of a header that scrolls away. 0 if the header stays at the top of the reader pane.
    pub reader_head: u16,
    /// Width of the text in the reader pane, in columns, with its margins.
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
    /// Three panes side by side. The automatic layout uses it from 140 columns on.
    Wide,
    /// The subscriptions on the left; the entries above the reader on the right.
    Stacked,
    /// The subscriptions on the left and the entries on the right, or the reader alone.
    Medium,
    /// One pane at a time. The automatic layout uses it below 80 columns.
    Narrow,
}

/// The layout for screens of a minimum width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaneLayout {
    /// Minimum width of the screen, in columns.
    pub from: u16,
    /// Arrangement of the panes.
    pub arrangement: Arrangement,
    /// Width of the subscriptions pane, in columns.
    pub feeds: u16,
    /// Width of the entries pane if the reader is beside it, in columns. Otherwise, the entries pane gets all columns except
    /// those of the subscriptions pane.
    pub entries: u16,
    /// Number of lines per entry in a list of several feeds. The second line contains the feed and the time.
    pub lines: u16,
    /// Width of the column with the feed names in a list of several feeds, in cells. 0 if there is no such column.
    pub names: u16,
}

/// The layouts, ordered by width. Between two layouts, the widths of the panes grow evenly, so that the width of a pane never
/// changes suddenly when the width of the screen changes by one column.
pub const LAYOUTS: [PaneLayout; 7] = [
    PaneLayout::new(0, Arrangement::Narrow, (0, 0), (1, 0)),
    PaneLayout::new(80, Arrangement::Medium, (22, 0), (1, 0)),
    PaneLayout::new(94, Arrangement::Medium, (25, 0), (1, 18)),
    PaneLayout::new(100, Arrangement::Medium, (26, 0), (1, 18)),
    PaneLayout::new(120, Arrangement::Stacked, (26, 0), (1, 20)),
    PaneLayout::new(140, Arrangement::Wide, (28, 46), (2, 0)),
    PaneLayout::new(200, Arrangement::Wide, (32, 74), (1, 20)),
];

/// Share of the entries pane, in percent of the space that it has together with the reader, if the user chose no other.
pub const LIST_SHARE: u16 = 42;
/// Minimum and maximum share.
pub const LIST_SHARES: std::ops::RangeInclusive<u16> = 15..=85;
/// Minimum height of the entries pane and of the reader below it, with their borders, in rows.
const STACKED_ROWS_MIN: u16 = 7;

/// Minimum width of the subscriptions pane on a screen whose arrangement differs from that in the table, in columns.
const FEEDS_COLUMNS_MIN: u16 = 22;

/// Returns the number of rows or columns that the entries pane gets, given its share.
pub fn list_part(whole: u16, share: u16) -> u16 {
    let share = share.clamp(*LIST_SHARES.start(), *LIST_SHARES.end());
    let part = (u32::from(whole) * u32::from(share) + 50) / 100;
    let part = u16::try_from(part).unwrap_or(whole);
    let most = whole.saturating_sub(STACKED_ROWS_MIN).max(whole / 2);
    part.max(STACKED_ROWS_MIN).min(most)
}

/// Returns the share of a part, in percent.
pub fn share_of(part: u16, whole: u16) -> u16 {
    let share = (u32::from(part) * 100 + u32::from(whole) / 2) / u32::from(whole.max(1));
    u16::try_from(share).unwrap_or(LIST_SHARE).clamp(*LIST_SHARES.start(), *LIST_SHARES.end())
}

impl PaneLayout {
    const fn new(
        from: u16,
        arrangement: Arrangement,
        (feeds, entries): (u16, u16),
        (lines, names): (u16, u16),
    ) -> Self {
        Self { from, arrangement, feeds, entries, lines, names }
    }

    /// Returns the layout of a screen with this number of columns.
    pub fn of(columns: u16) -> Self {
        let next = LAYOUTS.iter().position(|layout| layout.from > columns);
        let place = next.unwrap_or(LAYOUTS.len()).saturating_sub(1);
        let before = LAYOUTS.get(place).copied().unwrap_or(LAYOUTS[0]);
        let Some(after) = LAYOUTS.get(place.saturating_add(1)) else { return before };
        let share = |from: u16, to: u16| {
            // A pane that the smaller layout does not have appears only with the next layout.
            if from == 0 { from } else { between((before.from, from), (after.from, to), columns) }
        };
        Self {
            feeds: share(before.feeds, after.feeds),
            entries: share(before.entries, after.entries),
            ..before
        }
    }

    /// Returns the layout of a screen with this number of columns if the panes have this arrangement, even if the table specifies
    /// another arrangement.
    pub fn arranged(columns: u16, arrangement: Arrangement) -> Self {
        let usual = Self::of(columns);
        if usual.arrangement == arrangement {
            return usual;
        }
        let feeds = usual.feeds.max(FEEDS_COLUMNS_MIN).min(columns / 3);
        let rest = columns.saturating_sub(feeds);
        match arrangement {
            Arrangement::Wide => {
                let entries = rest.saturating_mul(4) / 9;
                Self { arrangement, feeds, entries, lines: 2, names: 0, ..usual }
            }
            Arrangement::Medium | Arrangement::Stacked => {
                let names = LAYOUTS.iter().rfind(|layout| {
                    layout.arrangement != Arrangement::Wide && layout.from <= columns
                });
                let names = names.map_or(0, |layout| layout.names);
                Self { arrangement, feeds, entries: 0, lines: 1, names, ..usual }
            }
            Arrangement::Narrow => {
                let names = if columns >= LAYOUTS[3].from { LAYOUTS[3].names } else { 0 };
                Self { arrangement, feeds: 0, entries: 0, lines: 1, names, ..usual }
            }
        }
    }
}

/// Returns the value at `at` on the line through two points, rounded.
fn between((from, low): (u16, u16), (to, high): (u16, u16), at: u16) -> u16 {
    let (from, low, to, high) = (i32::from(from), i32::from(low), i32::from(to), i32::from(high));
    let span = (to - from).max(1);
    let value = low + ((i32::from(at) - from) * (high - low) * 2 + span) / (span * 2);
    u16::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_have_the_widths_of_the_table() {
        let seen: Vec<_> = [79, 80, 93, 99, 100, 119, 120, 139, 140, 170, 200, 260]
            .map(|columns| {
                let layout = PaneLayout::of(columns);
                (columns, layout.feeds, layout.entries, layout.lines, layout.names)
            })
            .to_vec();
        assert_eq!(
            seen,
            [
                (79, 0, 0, 1, 0),
                (80, 22, 0, 1, 0),
                (93, 25, 0, 1, 0),
                (99, 26, 0, 1, 18),
                (100, 26, 0, 1, 18),
                (119, 26, 0, 1, 18),
                (120, 26, 0, 1, 20),
                (139, 28, 0, 1, 20),
                (140, 28, 46, 2, 0),
                (170, 30, 60, 2, 0),
                (200, 32, 74, 1, 20),
                (260, 32, 74, 1, 20),
            ]
        );
    }

    #[test]
    fn no_pane_moves_by_more_than_two_columns() {
        for columns in 81..300 {
            let (before, after) = (PaneLayout::of(columns - 1), PaneLayout::of(columns));
            assert!(after.feeds.abs_diff(before.feeds) <= 2, "{columns}");
            if before.arrangement == after.arrangement {
                assert!(after.entries.abs_diff(before.entries) <= 1, "{columns}");
            }
        }
    }

    #[test]
    fn chosen_arrangements_leave_room_for_all_panes() {
        for columns in 60..300 {
            // Three panes are shown from 100 columns on.
            let wide = (columns >= 100).then_some(Arrangement::Wide);
            let others = [Arrangement::Stacked, Arrangement::Medium];
            for arrangement in others.into_iter().chain(wide) {
                let layout = PaneLayout::arranged(columns, arrangement);
                let taken = layout.feeds + layout.entries;
                assert!(layout.feeds >= 20 && taken + 30 <= columns, "{columns} {layout:?}");
            }
        }
    }
}
