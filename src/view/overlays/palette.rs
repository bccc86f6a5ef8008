//! The command palette: the matching commands above the input line.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::ui::keys::key_bindings::Keymap;
use crate::ui::state::overlay::Palette;
use crate::view::{cells, pane, theme};

/// Maximum width of the palette, in cells.
const CELLS: u16 = 90;
/// Width of the column with the command names, in cells.
const NAME_CELLS: usize = 17;
/// Minimum width of a command's description, in cells. If there is less room, only the name of the command is shown.
const HELP_CELLS_MIN: usize = 12;

/// Draws the palette at the bottom of the panes. Returns the area of its rows and the index of the first visible row.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    palette: &Palette,
    keys: &Keymap,
) -> (Rect, u16) {
    let rows = u16::try_from(palette.found.len().max(1)).unwrap_or(u16::MAX).saturating_add(2);
    let [place] = Layout::vertical([Constraint::Max(rows)]).flex(Flex::End).areas(area);
    let [place] = Layout::horizontal([Constraint::Max(CELLS)]).flex(Flex::Start).areas(place);
    frame.render_widget(Clear, place);
    let inside = pane::bordered(frame, place, "Commands ─ type to find one, Enter runs it", true);
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    let first = palette.list.top_in(palette.found.len(), height);
    let shown = (0_usize..).zip(&palette.found).skip(first).take(height);
    let mut lines: Vec<Line<'_>> = shown
        .filter_map(|(place, at)| {
            let described = palette.described(*at)?;
            Some(row(&described, &keys.keys_of(*at), place == palette.list.selected, width))
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::styled(" no command matches this", theme::DIM));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    (inside, u16::try_from(first).unwrap_or(u16::MAX))
}

fn row((name, help): &(String, String), keys: &str, selected: bool, width: usize) -> Line<'static> {
    let keys = format!("{keys} ");
    let named = format!(" {} ", cells::fit(name, NAME_CELLS));
    let room = width.saturating_sub(cells::width(&named)).saturating_sub(cells::width(&keys) + 1);
    let help = if room < HELP_CELLS_MIN { String::new() } else { cells::cut(help, room) };
    if selected {
        return Line::styled(cells::ends(&format!("{named}{help}"), &keys, width), theme::SELECTED);
    }
    let gap = room.saturating_sub(cells::width(&help)).saturating_add(1);
    Line::from(vec![
        Span::styled(named, theme::TEXT),
        Span::styled(help, theme::DIM),
        Span::raw(" ".repeat(gap)),
        Span::styled(keys, theme::KEY),
    ])
}
