//! The menu of the programs with which an entry can be shared.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::ui::app::App;
use crate::ui::scroll_list::ScrollList;
use crate::view::{cells, pane, theme};

/// Maximum width of the menu, in columns.
const COLUMNS_MAX: u16 = 60;

/// Draws the menu over the panes. Returns the area of its rows and the index of the first visible row.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    list: ScrollList,
) -> (Rect, u16) {
    let share = &app.engine.settings.commands.share;
    let height = u16::try_from(share.len().saturating_add(2)).unwrap_or(u16::MAX);
    let place = pane::centred(frame, area, COLUMNS_MAX, height);
    let inside = pane::bordered(frame, place, "Share ─ Enter shares, q closes", true);
    let width = usize::from(inside.width);
    let shown = usize::from(inside.height);
    let top = list.top_in(share.len(), shown);
    let rows = share.iter().enumerate().skip(top).take(shown);
    let lines = rows.map(|(place, (name, command))| {
        let style = if place == list.selected { theme::SELECTED } else { theme::TEXT };
        Line::styled(
            cells::ends(&format!(" {name}"), &format!("{} ", command.program()), width),
            style,
        )
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
    (inside, u16::try_from(top).unwrap_or(u16::MAX))
}
