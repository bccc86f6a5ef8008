//! Draws the borders of panes and dialogs, and lines of text inside them.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::symbols::merge::MergeStrategy;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Clear};

use super::{cells, theme};
use crate::ui::state::layout::Area;

/// Clears the area of a pane, except the border column that it shares with the pane on its left.
pub(super) fn clear_beside(frame: &mut Frame<'_>, area: Rect) {
    let shared = u16::from(area.x > 0);
    let (x, width) = (area.x.saturating_add(shared), area.width.saturating_sub(shared));
    frame.render_widget(Clear, Rect { x, width, ..area });
}

/// Converts an area of ratatui to an area of the app.
pub(super) const fn area(place: Rect) -> Area {
    Area { column: place.x, row: place.y, columns: place.width, rows: place.height }
}

/// Draws lines, cutting text beyond the right edge of the area. Printable ASCII text, which is the most frequent, is drawn without
/// splitting it into graphemes. This halves the time to draw the screen.
pub(super) fn put(frame: &mut Frame<'_>, lines: &[Line<'_>], area: Rect) {
    let area = area.intersection(frame.area());
    let buffer = frame.buffer_mut();
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        let mut x = area.x;
        for span in &line.spans {
            let room = usize::from(area.right().saturating_sub(x));
            let style = line.style.patch(span.style);
            if !cells::is_printable_ascii(&span.content) {
                (x, _) = buffer.set_stringn(x, y, &span.content, room, style);
                continue;
            }
            for char in span.content.chars().take(room) {
                if let Some(cell) = buffer.cell_mut((x, y)) {
                    cell.set_char(char).set_style(style);
                }
                x = x.saturating_add(1);
            }
        }
    }
}

/// Returns a centred area of at most `columns` columns and `height` rows for a dialog, and clears this area of the screen.
pub(super) fn centred(frame: &mut Frame<'_>, area: Rect, columns: u16, height: u16) -> Rect {
    let [place] = Layout::vertical([Constraint::Max(height)]).flex(Flex::Center).areas(area);
    let [place] = Layout::horizontal([Constraint::Max(columns)]).flex(Flex::Center).areas(place);
    frame.render_widget(Clear, place);
    place
}

/// Draws the border of a pane with a title. Returns the area inside the border.
pub(super) fn bordered(frame: &mut Frame<'_>, area: Rect, title: &str, focused: bool) -> Rect {
    counted(frame, area, title, "", focused)
}

/// Draws the border of a pane with a title at the top and a position such as `12/88` at the bottom. Returns the area inside the
/// border.
pub(super) fn counted(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    place: &str,
    focused: bool,
) -> Rect {
    let title = cells::cut(title, usize::from(area.width).saturating_sub(4));
    let style = if focused { theme::BORDER_FOCUSED } else { theme::BORDER };
    let block =
        Block::new().borders(Borders::ALL).border_style(style).merge_borders(MergeStrategy::Exact);
    let block = if title.is_empty() {
        block
    } else {
        block.title(Line::from(format!(" {title} ")).style(if focused {
            theme::TITLE_FOCUSED
        } else {
            theme::TEXT
        }))
    };
    let block = if place.is_empty() {
        block
    } else {
        block.title_bottom(Line::from(format!(" {place} ")).style(theme::DIM).right_aligned())
    };
    let inside = block.inner(area);
    frame.render_widget(block, area);
    inside
}

/// Draws the mark on the right border of a pane that shows the position in a list or text that is longer than the pane. It is drawn
/// after all panes, because adjacent panes share a border.
pub(super) fn position_mark(frame: &mut Frame<'_>, area: Rect, place: usize, count: usize) {
    let rows = usize::from(area.height.saturating_sub(2));
    if count <= rows || rows == 0 {
        return;
    }
    let end = count.saturating_sub(1).max(1);
    // A text may be scrolled further than its end until its pane is measured.
    let place = place.min(end);
    let row = place.saturating_mul(rows.saturating_sub(1)).checked_div(end).unwrap_or(0);
    let row = u16::try_from(row).unwrap_or(0).saturating_add(1).saturating_add(area.y);
    let column = area.right().saturating_sub(1);
    frame.buffer_mut().set_string(column, row, "┃", theme::HEADING);
}
