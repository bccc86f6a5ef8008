//! The help: the keys that work here, drawn from the table that binds them.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::{cells, pane, theme};
use crate::app::keymap::{BINDINGS, works_in};
use crate::app::screen::Pane;

/// Cells of the keys.
const KEY_CELLS: usize = 10;

/// Draws the help over the panes from line `top` on; answers with its lines.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, focus: Pane, top: usize) -> u16 {
    frame.render_widget(Clear, area);
    let inside = pane::bordered(frame, area, "Keys ─ j and k scroll, ? closes", true);
    let text_cells = usize::from(inside.width).saturating_sub(KEY_CELLS + 2);
    let lines: Vec<Line<'_>> = BINDINGS
        .iter()
        .filter(|binding| works_in(binding, focus))
        .map(|binding| {
            Line::from(vec![
                Span::styled(format!(" {} ", cells::fit(binding.keys, KEY_CELLS)), theme::KEY),
                Span::raw(cells::cut(binding.help, text_cells)),
            ])
        })
        .collect();
    let count = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let last = lines.len().saturating_sub(usize::from(inside.height));
    frame.render_widget(
        Paragraph::new(lines.into_iter().skip(top.min(last)).collect::<Vec<_>>()),
        inside,
    );
    count
}
