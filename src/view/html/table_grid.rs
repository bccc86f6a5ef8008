//! Places the cells of a table on a grid, resolves cells that span several rows or columns, and draws the borders.

use super::lines::lay_out;
use super::model::{Cell, Column, Look, Role, StyledLine};
use super::table::{line_cells, margins};

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
