//! Lays out blocks as lines, with indents, list markers, bars and blank lines.

use super::model::{
    Block, Column, Item, Look, Role, Slide, StyledLine, TextDirection, TextRun, is_grid,
};
use super::table::{line_cells, table};
use super::wrap::{cells, extent, keep, reads_leftwards, wrap};

/// Maximum number of lines of an entry's text. Further lines are replaced by a note.
const LINES_MAX: usize = 40_000;

/// Maximum width of a preformatted line, in cells. A longer line is wrapped even if the block scrolls sideways.
const SLIDE_CELLS_MAX: usize = 2_000;

/// Minimum width of text beside an indent, in cells. If an indent would leave less width, the text is not indented.
const TEXT_CELLS_MIN: usize = 6;

/// Lays out the blocks of a text. No line is wider than the column, except lines that scroll sideways.
pub(super) fn lay_out(blocks: &[Block], column: Column) -> Vec<StyledLine> {
    let mut lines = blocks_in(blocks, column, false);
    if lines.len() >= LINES_MAX {
        lines.truncate(LINES_MAX);
        lines.push(remark("… too long to show here", column));
    }
    lines
}

/// Lays out a sequence of blocks. With `in_item`, the blocks belong to a list item, and no blank line separates the text of the
/// item from a nested list.
fn blocks_in(blocks: &[Block], column: Column, in_item: bool) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = Vec::new();
    let mut before: Option<&Block> = None;
    for block in blocks {
        if lines.len() >= LINES_MAX {
            break;
        }
        let laid = placed_block(block, column);
        if laid.is_empty() {
            continue;
        }
        if before.is_some_and(|before| is_apart(before, block, in_item)) {
            lines.push(StyledLine::default());
        }
        lines.extend(laid);
        before = Some(block);
    }
    lines
}

/// Lays out a block to the right of the margin. Code and tables that need more width also use the margin.
fn placed_block(block: &Block, column: Column) -> Vec<StyledLine> {
    let (left, right) = column.margins;
    if left == 0 {
        return one_block(block, column);
    }
    let is_wide = match block {
        Block::Preformatted { .. } => true,
        Block::Table(written) => is_grid(written),
        Block::Text { .. }
        | Block::Rule
        | Block::Quote(_)
        | Block::Indented(_)
        | Block::List(_) => false,
    };
    let (mut lines, indent) = if is_wide {
        let lines = one_block(block, Column { margins: (0, left + right), ..column });
        let widest = lines.iter().map(line_cells).max().unwrap_or_default();
        (lines, left.min(column.width.saturating_sub(widest)))
    } else {
        (one_block(block, Column { margins: (0, right), ..column.narrower(left) }), left)
    };
    for line in &mut lines {
        prefix(line, &" ".repeat(indent), Role::Text);
    }
    lines
}

fn one_block(block: &Block, column: Column) -> Vec<StyledLine> {
    match block {
        Block::Text { runs, direction, .. } => text(runs, *direction, column.prose()),
        Block::Preformatted { runs, .. } => preformatted(runs, column),
        Block::Rule => vec![horizontal_rule(column.prose(), Role::Rule)],
        Block::Quote(blocks) => quote(blocks, column),
        Block::Indented(blocks) => {
            let indent = indent(2, column.prose());
            let mut lines = blocks_in(blocks, column.narrower(indent), false);
            for line in &mut lines {
                prefix(line, &" ".repeat(indent), Role::Text);
            }
            lines
        }
        Block::List(items) => list(items, column),
        Block::Table(written) => table(written, column),
    }
}

/// Checks whether a blank line separates two consecutive blocks.
fn is_apart(before: &Block, after: &Block, in_item: bool) -> bool {
    match (before, after) {
        // No blank line separates a caption from the block that it describes.
        (Block::Text { .. }, after) if is_caption(after) => false,
        (before, Block::Table(_)) if is_caption(before) => false,
        (Block::Text { loose: a, .. }, Block::Text { loose: b, .. }) => *a || *b,
        (Block::Text { .. }, Block::List(_)) => !in_item,
        (Block::Text { loose, .. }, Block::Indented(_))
        | (Block::Indented(_), Block::Text { loose, .. }) => *loose,
        (Block::Indented(_), Block::Indented(_)) => false,
        (
            Block::Text { .. }
            | Block::Preformatted { .. }
            | Block::Rule
            | Block::Quote(_)
            | Block::Indented(_)
            | Block::List(_)
            | Block::Table(_),
            _,
        ) => true,
    }
}

fn is_caption(block: &Block) -> bool {
    matches!(block, Block::Text { runs, .. } if runs.iter().any(|run| run.look.role == Role::Caption))
}

/// Lays out running text. Right-to-left text is aligned to the right.
fn text(runs: &[TextRun], direction: TextDirection, width: usize) -> Vec<StyledLine> {
    let mut lines = wrap(runs, width);
    if is_leftward(runs, direction) {
        for line in &mut lines {
            let free = width.saturating_sub(line_cells(line));
            // The leading spaces get a role other than text. Otherwise, a picture on this line would be indented by them.
            prefix(line, &" ".repeat(free), Role::Note);
        }
    }
    lines
}

fn is_leftward(runs: &[TextRun], direction: TextDirection) -> bool {
    match direction {
        TextDirection::Auto => reads_leftwards(runs),
        TextDirection::Rightward => false,
        TextDirection::Leftward => true,
    }
}

/// Checks whether blocks are right-to-left. The first text determines this.
fn begin_leftwards(blocks: &[Block]) -> bool {
    blocks.iter().find_map(first_direction).unwrap_or_default()
}

/// Returns whether the first text of a block is right-to-left. Returns `None` if the block has no text.
pub(super) fn first_direction(block: &Block) -> Option<bool> {
    match block {
        Block::Text { runs, direction, .. } => Some(is_leftward(runs, *direction)),
        Block::Preformatted { .. } => Some(false),
        Block::Quote(blocks) | Block::Indented(blocks) => blocks.iter().find_map(first_direction),
        Block::List(items) => items.iter().flat_map(|item| &item.blocks).find_map(first_direction),
        Block::Table(table) => {
            table.rows.iter().flatten().flat_map(|cell| &cell.blocks).find_map(first_direction)
        }
        Block::Rule => None,
    }
}

/// Adds a text at the right edge of a column. The column must have enough room for the text after the line.
fn suffix(line: &mut StyledLine, text: &str, role: Role, width: usize) {
    let free = width.saturating_sub(line_cells(line) + cells(text));
    let text = " ".repeat(free) + text;
    line.spans.push(Look::with_role(role).span(text));
}

/// Lays out preformatted lines. If a line is too wide, the block scrolls sideways; if the column does not allow this, the line is
/// wrapped.
fn preformatted(runs: &[TextRun], column: Column) -> Vec<StyledLine> {
    let wanted = preformatted_cells(runs).min(SLIDE_CELLS_MAX);
    if !column.slides || wanted <= column.width {
        return keep(runs, column.width);
    }
    sliding(keep(runs, wanted), column)
}

/// Makes the lines of a block scroll sideways if any of them is too wide. The lines must not have a bar, indent or marker yet.
pub(super) fn sliding(mut lines: Vec<StyledLine>, column: Column) -> Vec<StyledLine> {
    let cells = lines.iter().map(line_cells).max().unwrap_or_default();
    if cells > column.width {
        for line in &mut lines {
            line.slide = Some(Slide { stays: 0, cells });
        }
    }
    lines
}

fn quote(blocks: &[Block], column: Column) -> Vec<StyledLine> {
    let indent = indent(2, column.prose());
    let mut lines = blocks_in(blocks, column.narrower(indent), false);
    let is_leftward = begin_leftwards(blocks);
    for line in &mut lines {
        for span in &mut line.spans {
            span.style.quoted = true;
        }
        // A line that scrolls sideways has no right edge, so the bar is on the left.
        if indent > 0 && is_leftward && line.slide.is_none() {
            suffix(line, " │", Role::QuoteBar, column.prose());
        } else if indent > 0 {
            let bar = if line.spans.is_empty() { "│" } else { "│ " };
            prefix(line, bar, Role::QuoteBar);
        }
    }
    lines
}

fn list(items: &[Item], column: Column) -> Vec<StyledLine> {
    let widest = items.iter().map(|item| cells(&item.marker)).max().unwrap_or_default();
    let indent = indent(widest + 1, column.prose());
    // If any item has several blocks (not counting nested lists), blank lines separate all items.
    let is_long = |item: &Item| {
        item.blocks.iter().filter(|block| !matches!(block, Block::List(_))).count() > 1
    };
    let apart = items.iter().any(is_long);
    let mut lines = Vec::new();
    for item in items {
        if lines.len() >= LINES_MAX {
            break;
        }
        let mut laid = blocks_in(&item.blocks, column.narrower(indent), true);
        if laid.is_empty() {
            laid.push(StyledLine::default());
        }
        if indent == 0 {
            // The column is too narrow for text beside the marker, so the marker gets its own line.
            laid.insert(0, vec![marker(&item.marker, column.prose())].into());
        }
        if apart && !lines.is_empty() {
            lines.push(StyledLine::default());
        }
        let is_leftward = begin_leftwards(&item.blocks);
        for (at, mut line) in laid.into_iter().enumerate() {
            if is_leftward && indent > 0 && line.slide.is_none() {
                if at == 0 {
                    let text = format!(" {}", item.marker);
                    let edge = column.prose().saturating_sub(indent) + cells(&text);
                    suffix(&mut line, &text, Role::ListMarker, edge);
                }
            } else if at == 0 && indent > 0 {
                let gap = indent.saturating_sub(cells(&item.marker) + 1);
                let text = format!("{}{} ", " ".repeat(gap), item.marker);
                prefix(&mut line, &text, Role::ListMarker);
            } else if !line.spans.is_empty() {
                prefix(&mut line, &" ".repeat(indent), Role::Text);
            }
            lines.push(line);
        }
    }
    lines
}

/// Returns a list marker that is alone on its line. A marker that is wider than the line is replaced by a bullet.
fn marker(text: &str, width: usize) -> super::model::StyledSpan {
    let text = if cells(text) <= width { text } else { "•" };
    Look::with_role(Role::ListMarker).span(text.to_owned())
}

/// Returns the width of an indent, or 0 if the indent would leave too little width for the text.
const fn indent(wished: usize, width: usize) -> usize {
    if width >= wished + TEXT_CELLS_MIN { wished } else { 0 }
}

pub(in crate::view) fn prefix(line: &mut StyledLine, text: &str, role: Role) {
    if !text.is_empty() {
        line.spans.insert(0, Look::with_role(role).span(text.to_owned()));
        if let Some(slide) = &mut line.slide {
            slide.stays += 1;
        }
    }
}

/// Returns a horizontal rule of the given width.
pub(super) fn horizontal_rule(width: usize, role: Role) -> StyledLine {
    vec![Look::with_role(role).span("─".repeat(width))].into()
}

/// Returns a note by the program as a line, cut to the width of running text.
pub(super) fn remark(text: &str, column: Column) -> StyledLine {
    let text = text.chars().take(column.prose()).collect();
    let mut line = vec![Look::with_role(Role::Note).span(text)].into();
    prefix(&mut line, &" ".repeat(column.margins.0), Role::Text);
    line
}

/// Returns the minimum and the preferred width of a sequence of blocks, in cells.
pub(super) fn blocks_extent(blocks: &[Block]) -> (usize, usize) {
    let sizes = blocks.iter().map(|block| match block {
        Block::Text { runs, .. } => extent(runs),
        Block::Preformatted { runs, .. } => (TEXT_CELLS_MIN, preformatted_cells(runs)),
        Block::Rule => (1, 1),
        Block::Quote(blocks) | Block::Indented(blocks) => moved(blocks_extent(blocks), 2),
        Block::List(items) => {
            let marker = items.iter().map(|item| cells(&item.marker)).max().unwrap_or_default();
            let sizes = items.iter().map(|item| blocks_extent(&item.blocks));
            moved(sizes.fold((0, 0), larger), marker + 1)
        }
        Block::Table(_) => (TEXT_CELLS_MIN, usize::MAX / 4),
    });
    sizes.fold((0, 0), larger)
}

fn preformatted_cells(runs: &[TextRun]) -> usize {
    let text: String = runs.iter().map(|run| run.text.as_str()).collect();
    text.lines().map(|line| cells(&line.replace('\t', "    "))).max().unwrap_or_default()
}

const fn moved((least, most): (usize, usize), by: usize) -> (usize, usize) {
    (least + by, most + by)
}

fn larger(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0.max(b.0), a.1.max(b.1))
}
