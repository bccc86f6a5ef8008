//! The help: the keys that work here, drawn from the table that binds them.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::ui::app::App;
use crate::ui::keys::commands::COMMANDS;
use crate::ui::overlays::help_pane;
use crate::ui::state::overlay::HelpPane;
use crate::view::{cells, pane, theme};

/// Cells of the keys.
const KEY_CELLS: usize = 10;

/// Draws the help over the panes; answers with its lines.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App, help: &HelpPane) -> u16 {
    frame.render_widget(Clear, area);
    let found = &help.filter.text;
    let title = if found.is_empty() {
        "Keys ─ / finds, j and k scroll, ? closes".to_owned()
    } else {
        format!("Keys with '{found}' ─ Esc shows all")
    };
    let inside = pane::bordered(frame, area, &title, true);
    let text_cells = usize::from(inside.width).saturating_sub(KEY_CELLS + 2);
    let mut lines: Vec<Line<'_>> = help_pane::find_rows(app, help)
        .into_iter()
        .filter_map(|place| Some((COMMANDS.get(place)?, app.ui.settings.keys.keys_of(place))))
        .map(|(row, keys)| {
            Line::from(vec![
                Span::styled(format!(" {} ", cells::fit(&keys, KEY_CELLS)), theme::KEY),
                Span::raw(cells::cut(row.help, text_cells)),
            ])
        })
        .collect();
    let count = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    if lines.is_empty() {
        lines.push(Line::styled(" no key that works here is like this", theme::DIM));
    }
    let last = lines.len().saturating_sub(usize::from(inside.height));
    frame.render_widget(
        Paragraph::new(lines.into_iter().skip(help.top.min(last)).collect::<Vec<_>>()),
        inside,
    );
    count
}
