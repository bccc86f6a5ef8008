//! A list from which the user picks an item: the matching items above the input line.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::ui::state::pick_list::{PickItem, PickList};
use crate::view::{cells, pane, theme};

/// Maximum width of the list, in cells.
const CELLS: u16 = 64;
/// Maximum number of rows, with the border.
const ROWS_MAX: u16 = 16;

/// Draws the list at the bottom of the panes. Returns the area of its rows and the index of the first visible row.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, picks: &PickList) -> (Rect, u16) {
    let rows = u16::try_from(picks.found.len().max(1)).unwrap_or(u16::MAX).saturating_add(2);
    let rows = rows.min(ROWS_MAX);
    let [place] = Layout::vertical([Constraint::Max(rows)]).flex(Flex::End).areas(area);
    let [place] = Layout::horizontal([Constraint::Max(CELLS)]).flex(Flex::Start).areas(place);
    frame.render_widget(Clear, place);
    let inside = pane::bordered(frame, place, "Type to find one, Enter opens it", true);
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    let first = picks.list.top_in(picks.found.len(), height);
    let shown = (0_usize..).zip(&picks.found).skip(first).take(height);
    let mut lines: Vec<Line<'_>> = shown
        .filter_map(|(place, at)| {
            Some(row(picks.items.get(*at)?, place == picks.list.selected, width))
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::styled(" nothing matches this", theme::DIM));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    (inside, u16::try_from(first).unwrap_or(u16::MAX))
}

fn row(item: &PickItem, selected: bool, width: usize) -> Line<'static> {
    let name = format!(" {} ", cells::cut(&item.name, width.saturating_sub(2)));
    let room = width.saturating_sub(cells::width(&name)).saturating_sub(1);
    let detail = cells::cut(&item.detail, room);
    if selected {
        return Line::styled(cells::ends(&name, &format!("{detail} "), width), theme::SELECTED);
    }
    let gap = room.saturating_sub(cells::width(&detail));
    Line::from(vec![
        Span::styled(name, theme::TEXT),
        Span::raw(" ".repeat(gap)),
        Span::styled(detail, theme::DIM),
    ])
}
