//! The help: lists the keys that work in the current context, in groups, generated from the command table.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use crate::ui::app::App;
use crate::ui::overlays::help_pane;
use crate::ui::state::overlay::HelpPane;
use crate::view::{cells, pane, theme};

/// Width of the column with the keys, in cells.
const KEY_CELLS: usize = 10;
/// Minimum width of the help for two columns of groups, in cells.
const TWO_COLUMNS_CELLS: usize = 96;
/// Gap between the two columns of groups, in cells.
const GUTTER_CELLS: usize = 2;
/// Maximum number of lines for the description of one command, which is more than any description needs.
const HELP_LINES: usize = 8;

/// Draws the help over the panes. Returns the number of lines of the whole help.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App, help: &HelpPane) -> u16 {
    frame.render_widget(Clear, area);
    let found = &help.filter.text;
    let narrow = area.width < 60;
    let title = match (found.is_empty(), narrow) {
        (true, true) => app.ui.words("Keys ─ {search} searches"),
        (true, false) => app.ui.words(
            "Keys that work here ─ {search} searches, {down} and {up} scroll, {help} closes",
        ),
        (false, _) => format!("Keys matching '{found}' ─ {}", app.ui.words("{close} shows all")),
    };
    let inside = pane::bordered(frame, area, &title, true);
    let width = usize::from(inside.width);
    let lines = if width >= TWO_COLUMNS_CELLS {
        let column = width.saturating_sub(GUTTER_CELLS) / 2;
        side_by_side(blocks(app, help, column), column)
    } else {
        blocks(app, help, width).into_iter().flatten().collect()
    };
    let count = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    if lines.is_empty() {
        let nothing = Line::styled(" no key that works here matches", theme::DIM);
        pane::put(frame, &[nothing], inside);
        return 0;
    }
    let last = lines.len().saturating_sub(usize::from(inside.height));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(help.top.min(last)).collect();
    pane::put(frame, &shown, inside);
    count
}

/// Returns each group as lines of the given width: a heading, the keys with their descriptions, and a blank line.
fn blocks(app: &App, help: &HelpPane, width: usize) -> Vec<Vec<Line<'static>>> {
    let key_cells = KEY_CELLS.min(width / 4);
    let room = width.saturating_sub(key_cells + 3);
    let mut blocks = Vec::new();
    for (heading, places) in help_pane::find_groups(app, help) {
        let mut lines = vec![Line::styled(format!(" {heading}"), theme::HEADING)];
        for place in places {
            let Some((keys, name, help)) = help_pane::described(app, place) else { continue };
            // For a command without a key, the help shows how to run it by name.
            let keys = if keys.is_empty() { format!(":{name}") } else { keys };
            // If the keys are wider than their column, they get a separate line.
            let wide = cells::width(&keys) > key_cells;
            if wide {
                lines.push(Line::styled(
                    format!(" {}", cells::fit(&keys, width.saturating_sub(1))),
                    theme::KEY,
                ));
            }
            for (number, text) in cells::wrap(&help, room, HELP_LINES).into_iter().enumerate() {
                let keys = if number == 0 && !wide { keys.as_str() } else { "" };
                lines.push(Line::from(vec![
                    Span::styled(format!(" {}  ", cells::fit(keys, key_cells)), theme::KEY),
                    Span::raw(cells::fit(&text, room)),
                ]));
            }
        }
        lines.push(Line::default());
        blocks.push(lines);
    }
    blocks
}

/// Arranges the groups in two columns of about equal height, each `column` cells wide. No group is split.
fn side_by_side(blocks: Vec<Vec<Line<'static>>>, column: usize) -> Vec<Line<'static>> {
    let all: usize = blocks.iter().map(Vec::len).sum();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for block in blocks {
        let is_left = right.is_empty() && left.len().saturating_add(block.len() / 2) <= all / 2;
        if is_left { left.extend(block) } else { right.extend(block) }
    }
    let height = left.len().max(right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let mut lines = Vec::with_capacity(height);
    for _ in 0..height {
        let mut line = left.next().unwrap_or_default();
        let pad = column.saturating_sub(line.width()).saturating_add(GUTTER_CELLS);
        // The style of a heading applies to its whole line. It is moved to the spans, so that it does not affect the other column.
        let style = line.style;
        let mut spans: Vec<Span<'_>> =
            line.spans.drain(..).map(|span| span.patch_style(style)).collect();
        spans.push(Span::raw(" ".repeat(pad)));
        let behind = right.next().unwrap_or_default();
        let style = behind.style;
        spans.extend(behind.spans.into_iter().map(|span| span.patch_style(style)));
        lines.push(Line::from(spans));
    }
    lines
}
