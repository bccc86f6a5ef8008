//! Lays out tables: as a grid with borders if it fits, or else as a wider grid that scrolls sideways, or row by row. Tables that
//! only arrange their contents are laid out as text.
//!
//! Cells that span several rows or columns are resolved on the grid.

use super::lines::{blocks_extent, horizontal_rule, lay_out, sliding};
use super::model::{Align, Cell, Column, HtmlTable, Look, Role, Style, StyledLine, is_grid};
use super::wrap::cells;

/// Minimum width of a table column that contains sentences, in cells.
const SENTENCE_CELLS_MIN: usize = 8;

/// Minimum width of a table column that contains paragraphs, in cells.
const PARAGRAPH_CELLS_MIN: usize = 16;

/// Width of a table column that contains sentences if the table is wider than the pane and scrolls sideways, in cells.
const SENTENCE_CELLS: usize = 28;

/// Maximum width of a word that is never split to make room for other table columns, in cells.
const WORD_CELLS_MAX: usize = 16;

/// Lays out a table.
pub(super) fn table(written: &HtmlTable, column: Column) -> Vec<StyledLine> {
    let width = column.width;
    if !is_grid(written) {
        return as_text(written, column);
    }
    let headers = written.rows.iter().take_while(|row| row.iter().all(|cell| cell.header)).count();
    let Some(grid) = Grid::place(&written.rows) else {
        return row_by_row(written, headers, column.prose());
    };
    match column_widths(&grid, width) {
        Some((widths, padding)) => grid.draw(&widths, padding, headers),
        None if column.slides => {
            let lines = grid.draw(&natural_widths(&grid, width), 1, headers);
            sliding(lines, column)
        }
        None => row_by_row(written, headers, column.prose()),
    }
}

/// Lays out the contents of the cells one below another, without borders.
fn as_text(table: &HtmlTable, column: Column) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = Vec::new();
    let mut long_before = false;
    for cell in table.rows.iter().flatten() {
        let laid = lay_out(&cell.blocks, column);
        if laid.is_empty() {
            continue;
        }
        let is_long = laid.len() > 1;
        if !lines.is_empty() && (is_long || long_before) {
            lines.push(StyledLine::default());
        }
        long_before = is_long;
        lines.extend(laid);
    }
    lines
}

/// Lays out each row of a table as lines of the form `heading: cell`, with horizontal rules between the rows.
fn row_by_row(table: &HtmlTable, headers: usize, width: usize) -> Vec<StyledLine> {
    let headings: Vec<String> = match table.rows.first() {
        Some(row) if headers > 0 => row.iter().map(heading).collect(),
        Some(_) | None => Vec::new(),
    };
    let mut lines = vec![horizontal_rule(width, Role::TableBorder)];
    for row in table.rows.iter().skip(headers) {
        for (at, cell) in row.iter().enumerate() {
            let laid = lay_out(&cell.blocks, Column::fixed(width));
            if !laid.is_empty() {
                let heading = headings.get(at).map(String::as_str).unwrap_or_default();
                lines.extend(labelled(heading, laid, width));
            }
        }
        if lines.last().is_some_and(|line| line.spans.iter().all(|s| s.role != Role::TableBorder)) {
            lines.push(horizontal_rule(width, Role::TableBorder));
        }
    }
    lines
}

/// Returns the text of a heading cell as one line.
fn heading(cell: &Cell) -> String {
    let lines = lay_out(&cell.blocks, Column::fixed(200));
    lines.iter().map(StyledLine::text).collect::<Vec<_>>().join(" ")
}

/// Adds `heading: ` at the beginning of the first line or, if there is no room, as a line of its own.
fn labelled(heading: &str, mut laid: Vec<StyledLine>, width: usize) -> Vec<StyledLine> {
    let label = format!("{heading}: ");
    if heading.is_empty() || cells(&label) > width {
        return laid;
    }
    let bold = Style { bold: true, ..Style::default() };
    let span = Look { style: bold, ..Look::default() }.span(label);
    let used = cells(&span.text);
    match laid.first_mut() {
        Some(first) if used + line_cells(first) <= width => first.spans.insert(0, span),
        Some(_) | None => laid.insert(0, vec![span].into()),
    }
    laid
}

/// Returns the width of a line in cells.
pub(super) fn line_cells(line: &StyledLine) -> usize {
    line.spans.iter().map(|span| cells(&span.text)).sum()
}

/// Returns the width of each table column and the number of spaces on both sides of its text. Returns `None` if the table does not
/// fit without splitting words or making sentences unreadable.
fn column_widths(grid: &Grid<'_>, width: usize) -> Option<(Vec<usize>, usize)> {
    let columns = grid.columns;
    let room = |padding: usize| width.checked_sub(columns + 1 + 2 * padding * columns);
    let least = |padding| -> usize { wants(grid, padding).iter().map(|(least, _)| *least).sum() };
    let padding = usize::from(room(1).is_some_and(|room| room >= least(1)));
    let room = room(padding)?;
    let wants = wants(grid, padding);
    let most: usize = wants.iter().map(|(_, most)| *most).sum();
    if most <= room {
        return Some((wants.into_iter().map(|(_, most)| most).collect(), padding));
    }
    let mut widths: Vec<usize> = wants.iter().map(|(least, _)| *least).collect();
    if widths.iter().sum::<usize>() > room {
        return None;
    }
    share(&mut widths, &wants, room);
    Some((widths, padding))
}

/// Returns the width of each column of a table that may be wider than the pane and scrolls sideways. No single column is wider than
/// the pane.
fn natural_widths(grid: &Grid<'_>, width: usize) -> Vec<usize> {
    let seen = width.saturating_sub(4).max(SENTENCE_CELLS_MIN);
    let wanted = |(least, most): (usize, usize)| least.max(most.min(SENTENCE_CELLS)).min(seen);
    wants(grid, 1).into_iter().map(wanted).collect()
}

/// Distributes the cells that remain in a row of `room` cells. Each cell goes to the column whose width is the smallest fraction of
/// its preferred width.
fn share(widths: &mut [usize], wants: &[(usize, usize)], room: usize) {
    let mut left = room.saturating_sub(widths.iter().sum());
    while left > 0 {
        let hungry = widths.iter_mut().zip(wants).filter(|(width, (_, most))| **width < *most);
        let Some((width, _)) =
            hungry.min_by_key(|(width, (_, most))| **width * 1_000 / most.max(&1))
        else {
            break;
        };
        *width += 1;
        left -= 1;
    }
}

/// Returns the minimum and the preferred width of each table column, in cells. The minimum is the width of the longest word (up to
/// a limit) or, if the column contains sentences, the width that makes them readable.
fn wants(grid: &Grid<'_>, padding: usize) -> Vec<(usize, usize)> {
    let mut wants = vec![(1, 1); grid.columns];
    let sized = grid.placed.iter().map(|placed| (placed, blocks_extent(&placed.cell.blocks)));
    let (single, spanning): (Vec<_>, Vec<_>) = sized.partition(|(placed, _)| placed.columns == 1);
    for (placed, (least, most)) in single {
        if let Some(want) = wants.get_mut(placed.column) {
            want.0 = want.0.max(least.min(WORD_CELLS_MAX)).max(readable(most));
            want.1 = want.1.max(most);
        }
    }
    for (placed, (_, most)) in spanning {
        let within = placed.column..placed.column + placed.columns;
        let Some(wants) = wants.get_mut(within) else { continue };
        let between = (placed.columns - 1) * (1 + 2 * padding);
        let have: usize = wants.iter().map(|(_, most)| *most).sum::<usize>() + between;
        let more = most.saturating_sub(have).div_ceil(placed.columns.max(1));
        for (_, most) in wants {
            *most += more;
        }
    }
    wants
}

/// Returns the minimum width at which a text is readable. `most` is the width of the text on one line, in cells.
const fn readable(most: usize) -> usize {
    let wished = most / 4;
    let wished = if wished < PARAGRAPH_CELLS_MIN { wished } else { PARAGRAPH_CELLS_MIN };
    let least = if wished > SENTENCE_CELLS_MIN { wished } else { SENTENCE_CELLS_MIN };
    if least < most { least } else { most }
}

/// Returns the number of spaces before and after a text of `used` cells in a table cell that is `width` cells wide.
pub(super) const fn margins(align: Align, used: usize, width: usize) -> (usize, usize) {
    let free = width.saturating_sub(used);
    match align {
        Align::Left => (0, free),
        Align::Centre => (free / 2, free - free / 2),
        Align::Right => (free, 0),
    }
}

/// Maximum number of columns and rows of a table that is drawn as a grid.
const COLUMNS_MAX: usize = 32;
const ROWS_MAX: usize = 2_000;

/// A cell and its position on the grid.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub cell: &'a Cell,
    pub row: usize,
    pub column: usize,
    /// Number of columns that the cell covers in its row. If a cell from a row above takes some of these columns, this number is
    /// smaller than the span in the markup.
    pub columns: usize,
}

#[derive(Debug)]
pub(super) struct Grid<'a> {
    pub columns: usize,
    pub placed: Vec<Placed<'a>>,
    /// For each row and column, the index in `placed` of the cell that covers it.
    slots: Vec<Vec<Option<usize>>>,
}

impl<'a> Grid<'a> {
    /// Places the cells of all rows on a grid. Returns `None` if the table is too large for a grid.
    pub(super) fn place(rows: &'a [Vec<Cell>]) -> Option<Self> {
        if rows.len() > ROWS_MAX {
            return None;
        }
        let mut slots: Vec<Vec<Option<usize>>> = vec![Vec::new(); rows.len()];
        let mut placed = Vec::new();
        for (row, cells) in rows.iter().enumerate() {
            let mut column = 0;
            for cell in cells {
                while is_taken(&slots, row, column) {
                    column += 1;
                }
                if column + cell.columns > COLUMNS_MAX {
                    return None;
                }
                for line in slots.iter_mut().skip(row).take(cell.rows) {
                    cover(line, column, cell.columns, placed.len());
                }
                let line = slots.get(row).map_or(&[][..], Vec::as_slice);
                let own = line.iter().skip(column).take_while(|slot| **slot == Some(placed.len()));
                placed.push(Placed { cell, row, column, columns: own.count().max(1) });
                column += cell.columns;
            }
        }
        let columns = slots.iter().map(Vec::len).max().unwrap_or_default();
        Some(Self { columns, placed, slots })
    }

    /// Draws the table as lines, with the given column widths. `headers` is the number of heading rows.
    pub(super) fn draw(&self, widths: &[usize], padding: usize, headers: usize) -> Vec<StyledLine> {
        let pen = Pen { grid: self, widths, padding };
        let laid: Vec<Vec<StyledLine>> = self.placed.iter().map(|placed| pen.lay(placed)).collect();
        let heights = self.heights(&laid);
        let spans_rows = self.placed.iter().any(|placed| placed.cell.rows > 1);
        let ruled = spans_rows || heights.iter().skip(headers).any(|&height| height > 1);
        let mut lines = vec![pen.border(0)];
        for (row, &height) in heights.iter().enumerate() {
            if row > 0 && (ruled || row == headers) {
                lines.push(pen.border(row));
            }
            lines.extend((0..height).map(|line| pen.text(row, line, &laid)));
        }
        lines.push(pen.border(self.slots.len()));
        lines
    }

    fn heights(&self, laid: &[Vec<StyledLine>]) -> Vec<usize> {
        let mut heights = vec![1; self.slots.len()];
        for (placed, lines) in self.placed.iter().zip(laid) {
            if let Some(height) = heights.get_mut(placed.row) {
                *height = lines.len().max(*height);
            }
        }
        heights
    }

    pub(super) fn slot(&self, row: usize, column: usize) -> Option<usize> {
        self.slots.get(row)?.get(column).copied().flatten()
    }

    /// Checks whether there is a border to the left of `column` in `row`.
    fn is_split_left(&self, row: usize, column: usize) -> bool {
        if row >= self.slots.len() {
            return false;
        }
        let Some(left) = column.checked_sub(1) else { return true };
        column == self.columns
            || self.slot(row, left).is_none_or(|id| self.slot(row, column) != Some(id))
    }

    /// Checks whether there is a border above `row` in `column`.
    fn is_split_above(&self, row: usize, column: usize) -> bool {
        if column >= self.columns {
            return false;
        }
        let Some(above) = row.checked_sub(1) else { return true };
        row == self.slots.len()
            || self.slot(above, column).is_none_or(|id| self.slot(row, column) != Some(id))
    }
}

fn is_taken(slots: &[Vec<Option<usize>>], row: usize, column: usize) -> bool {
    slots.get(row).and_then(|row| row.get(column)).is_some_and(Option::is_some)
}

/// Assigns columns of a row to the cell with the index `id`, except columns that another cell already covers.
fn cover(line: &mut Vec<Option<usize>>, column: usize, columns: usize, id: usize) {
    if line.len() < column + columns {
        line.resize(column + columns, None);
    }
    for slot in line.iter_mut().skip(column).take(columns) {
        slot.get_or_insert(id);
    }
}

/// Draws the lines of a table grid.
struct Pen<'a> {
    grid: &'a Grid<'a>,
    widths: &'a [usize],
    padding: usize,
}

impl Pen<'_> {
    fn lay(&self, placed: &Placed<'_>) -> Vec<StyledLine> {
        lay_out(&placed.cell.blocks, Column::fixed(self.inner(placed.column, placed.columns)))
    }

    /// Returns the width of the text in a cell that spans this number of columns, in cells of the terminal.
    fn inner(&self, column: usize, columns: usize) -> usize {
        let widths: usize = self.widths.iter().skip(column).take(columns).sum();
        widths + columns.saturating_sub(1) * (1 + 2 * self.padding)
    }

    /// Draws one line of text of a table row, with the vertical borders.
    fn text(&self, row: usize, line: usize, laid: &[Vec<StyledLine>]) -> StyledLine {
        let mut drawn = StyledLine::default();
        let mut column = 0;
        while column < self.grid.columns {
            let columns = (column + 1..self.grid.columns)
                .take_while(|&next| !self.grid.is_split_left(row, next))
                .count()
                + 1;
            push(&mut drawn, "│", Role::TableBorder);
            let inner = self.inner(column, columns);
            let id = self.grid.slot(row, column);
            let placed = id.and_then(|id| self.grid.placed.get(id)).filter(|p| p.row == row);
            let text = id.and_then(|id| laid.get(id)).and_then(|lines| lines.get(line));
            match (placed, text) {
                (Some(placed), Some(text)) => {
                    let (before, after) = margins(placed.cell.align, line_cells(text), inner);
                    push(&mut drawn, &" ".repeat(self.padding + before), Role::Text);
                    drawn.spans.extend(text.spans.iter().cloned());
                    push(&mut drawn, &" ".repeat(self.padding + after), Role::Text);
                }
                (_, _) => push(&mut drawn, &" ".repeat(inner + 2 * self.padding), Role::Text),
            }
            column += columns;
        }
        push(&mut drawn, "│", Role::TableBorder);
        drawn
    }

    /// Draws the border above a table row. If `row` is the number of rows, draws the bottom border.
    fn border(&self, row: usize) -> StyledLine {
        let mut text = String::new();
        for column in 0..=self.grid.columns {
            let above =
                row.checked_sub(1).is_some_and(|above| self.grid.is_split_left(above, column));
            let below = self.grid.is_split_left(row, column);
            let left =
                column.checked_sub(1).is_some_and(|left| self.grid.is_split_above(row, left));
            let right = self.grid.is_split_above(row, column);
            text.push(joint([above, below, left, right]));
            if let Some(width) = self.widths.get(column) {
                let sign = if right { "─" } else { " " };
                text.push_str(&sign.repeat(width + 2 * self.padding));
            }
        }
        let mut line = StyledLine::default();
        push(&mut line, &text, Role::TableBorder);
        line
    }
}

/// Returns the box-drawing character that joins lines from the given sides.
const fn joint(above_below_left_right: [bool; 4]) -> char {
    match above_below_left_right {
        [true, true, true, true] => '┼',
        [true, true, true, false] => '┤',
        [true, true, false, true] => '├',
        [true, false, true, true] => '┴',
        [false, true, true, true] => '┬',
        [true, false, true, false] => '┘',
        [true, false, false, true] => '└',
        [false, true, true, false] => '┐',
        [false, true, false, true] => '┌',
        [true | false, true, false, false] | [true, false, false, false] => '│',
        [false, false, true | false, true] | [false, false, true, false] => '─',
        [false, false, false, false] => ' ',
    }
}

fn push(line: &mut StyledLine, text: &str, role: Role) {
    if !text.is_empty() {
        line.spans.push(Look::with_role(role).span(text.to_owned()));
    }
}
