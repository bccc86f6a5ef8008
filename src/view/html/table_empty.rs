//! Removes rows and columns of a table that only create space, and columns with line numbers beside code.

use super::model::{Align, Block, Cell, HtmlTable};
use super::table::Grid;

/// A remaining cell of the table: its index among all cells of the table (`None` for a missing cell), and its numbers of columns
/// and rows.
type KeptCell = (Option<usize>, usize, usize);

impl HtmlTable {
    /// Removes rows and columns without any text. If only one column remains, the table is laid out as text.
    pub(super) fn drop_empty(&mut self) {
        self.drop_line_numbers();
        let Some(kept) = self.kept_cells() else { return };
        let cells = std::mem::take(&mut self.rows).into_iter().flatten();
        let mut cells: Vec<Option<Cell>> = cells.map(Some).collect();
        let mut take = |(id, columns, rows): KeptCell| {
            let written = id.and_then(|id| cells.get_mut(id)?.take());
            let align = Align::Left;
            let missing = Cell { header: false, columns, rows, align, blocks: Vec::new() };
            Cell { columns, rows, ..written.unwrap_or(missing) }
        };
        self.rows = kept.into_iter().map(|row| row.into_iter().map(&mut take).collect()).collect();
        self.layout_only |= self.rows.iter().all(|row| row.len() <= 1);
    }

    /// Returns the remaining cells of each row. Returns `None` if there is nothing to remove.
    fn kept_cells(&self) -> Option<Vec<Vec<KeptCell>>> {
        let is_filled = |cell: &Cell| !cell.blocks.is_empty();
        if self.rows.iter().flatten().all(is_filled) {
            return None;
        }
        let grid = Grid::place(&self.rows)?;
        let columns = grid.filled_columns();
        let rows: Vec<usize> = (0..self.rows.len())
            .filter(|row| self.rows.get(*row).is_some_and(|row| row.iter().any(is_filled)))
            .collect();
        if columns.len() == grid.columns && rows.len() == self.rows.len() {
            return None;
        }
        let mut written = vec![false; grid.placed.len()];
        let kept_row = |&row: &usize| {
            let mut kept: Vec<KeptCell> = Vec::new();
            for &column in &columns {
                let id = grid.slot(row, column);
                let is_new = id.is_none_or(|id| {
                    written.get_mut(id).is_some_and(|done| !std::mem::replace(done, true))
                });
                if is_new {
                    let same = |row, column| id.is_some() && grid.slot(row, column) == id;
                    let wide = columns.iter().filter(|column| same(row, **column)).count();
                    let high = rows.iter().filter(|row| same(**row, column)).count();
                    kept.push((id, wide.max(1), high.max(1)));
                }
            }
            while kept.pop_if(|(id, ..)| id.is_none()).is_some() {}
            kept
        };
        Some(rows.iter().map(kept_row).collect())
    }

    /// Removes the contents of a column that only contains line numbers beside code.
    fn drop_line_numbers(&mut self) {
        let mut next: Option<u64> = None;
        for row in &self.rows {
            let [numbers, code] = row.as_slice() else { return };
            if code.blocks.is_empty()
                || !code.blocks.iter().all(|block| matches!(block, Block::Preformatted { .. }))
            {
                return;
            }
            for line in text(numbers).lines().filter(|line| !line.trim().is_empty()) {
                let Ok(number) = line.trim().parse::<u64>() else { return };
                if next.is_some_and(|next| next != number) {
                    return;
                }
                next = number.checked_add(1);
            }
        }
        self.rows.iter_mut().filter_map(|row| row.first_mut()).for_each(|cell| cell.blocks.clear());
    }
}

impl Grid<'_> {
    /// Returns the columns with text. For a text that spans several columns, one of them is kept.
    fn filled_columns(&self) -> Vec<usize> {
        let mut filled = vec![false; self.columns];
        let spans = self.placed.iter().filter(|placed| !placed.cell.blocks.is_empty());
        let (single, spanning): (Vec<_>, Vec<_>) = spans.partition(|placed| placed.columns == 1);
        for placed in single.into_iter().chain(spanning) {
            let Some(covered) = filled.get_mut(placed.column..placed.column + placed.columns)
            else {
                continue;
            };
            if !covered.contains(&true)
                && let Some(first) = covered.first_mut()
            {
                *first = true;
            }
        }
        (0..).zip(filled).filter_map(|(column, filled)| filled.then_some(column)).collect()
    }
}

/// Returns the text of a cell. If the cell contains other blocks, the result is a text that is not a number.
fn text(cell: &Cell) -> String {
    let text = |block: &Block| match block {
        Block::Text { runs, .. } | Block::Preformatted { runs, .. } => {
            runs.iter().map(|run| run.text.as_str()).collect::<String>()
        }
        Block::Rule | Block::Quote(_) | Block::Indented(_) | Block::List(_) | Block::Table(_) => {
            "other".to_owned()
        }
    };
    cell.blocks.iter().map(text).collect::<Vec<_>>().join("\n")
}
