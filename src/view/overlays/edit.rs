//! The edit dialog: one line for each thing the reader can choose for a feed.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::ui::overlays::edit_form::{EditForm, EditValue};
use crate::ui::overlays::prompt::Prompt;
use crate::view::{cells, pane, theme};

/// Columns of the dialog at most.
const COLUMNS_MAX: u16 = 84;
/// Cells of a line's name: the longest, and where there is little room.
const LABEL_CELLS: (usize, usize) = (27, 17);
/// Lines below the form.
const BOTTOM_LINES: u16 = 2;

/// Draws the dialog over the panes; answers with the place of its lines and the first one shown.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, form: &EditForm) -> (Rect, u16) {
    let rows = u16::try_from(form.rows.len()).unwrap_or(u16::MAX).saturating_add(1);
    let height = rows.saturating_add(BOTTOM_LINES).saturating_add(2);
    let [place] = Layout::vertical([Constraint::Max(height)]).flex(Flex::Center).areas(area);
    let [place] =
        Layout::horizontal([Constraint::Max(COLUMNS_MAX)]).flex(Flex::Center).areas(place);
    frame.render_widget(Clear, place);
    let inside = pane::bordered(frame, place, "Edit ─ Enter saves, Esc gives up", true);
    let [fields, bottom] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(BOTTOM_LINES)]).areas(inside);
    let top = draw_fields(frame, fields, form);
    draw_bottom(frame, bottom, form);
    (fields, u16::try_from(top).unwrap_or(u16::MAX))
}

/// Draws the lines; answers with the first one shown.
fn draw_fields(frame: &mut Frame<'_>, area: Rect, form: &EditForm) -> usize {
    let width = usize::from(area.width);
    let (long, short) = LABEL_CELLS;
    let label_cells = if width >= 60 { long } else { short };
    let label = |text: &str| format!(" {} ", cells::fit(text, label_cells));
    let address = format!("{}{}", label("address"), form.address);
    let mut lines = vec![Line::styled(cells::cut(&address, width), theme::DIM)];
    let room = width.saturating_sub(label_cells.saturating_add(2));
    for (place, row) in (0_usize..).zip(&form.rows) {
        let selected = place == form.selected;
        let style = if selected { theme::KEY } else { theme::TEXT };
        let mut spans = vec![Span::styled(label(row.label), style)];
        spans.extend(value_spans(&row.value, &row.hint, selected, room));
        lines.push(Line::from(spans));
    }
    let height = usize::from(area.height);
    let at = form.selected.saturating_add(1);
    let top = at.saturating_add(1).saturating_sub(height);
    let seen: Vec<Line<'_>> = lines.into_iter().skip(top).take(height).collect();
    frame.render_widget(Paragraph::new(seen), area);
    let typed = form.rows.get(form.selected).map(|row| &row.value);
    if let Some(EditValue::Line(prompt)) = typed {
        let (_, column) = seen_part(prompt, room);
        let column = label_cells.saturating_add(2).saturating_add(column);
        let x = area.x.saturating_add(u16::try_from(column).unwrap_or(u16::MAX));
        let y = area.y.saturating_add(u16::try_from(at.saturating_sub(top)).unwrap_or(u16::MAX));
        let last = (area.right().saturating_sub(1), area.bottom().saturating_sub(1));
        frame.set_cursor_position(Position::new(x.min(last.0), y.min(last.1)));
    }
    top
}

/// What stands in a line of a form.
pub(in crate::view) fn value_spans(
    value: &EditValue,
    hint: &str,
    selected: bool,
    room: usize,
) -> Vec<Span<'static>> {
    match value {
        EditValue::Line(prompt) if prompt.text.is_empty() => {
            // The cursor stands before the hint.
            let before = if selected { " " } else { "" };
            let hint = cells::cut(&format!("{before}{hint}"), room);
            vec![Span::styled(hint, theme::DIM)]
        }
        EditValue::Line(prompt) if selected => vec![Span::raw(seen_part(prompt, room).0)],
        EditValue::Line(prompt) => vec![Span::raw(cells::cut(&prompt.text, room))],
        EditValue::Choice { words, chosen } => {
            let word = words.get(*chosen).map(String::as_str).unwrap_or_default();
            let text = if selected { format!("← {word} →") } else { word.to_owned() };
            let hint = if *chosen == 0 { format!(" {hint}") } else { String::new() };
            let left = room.saturating_sub(cells::width(&text));
            vec![
                Span::raw(cells::cut(&text, room)),
                Span::styled(cells::cut(&hint, left), theme::DIM),
            ]
        }
    }
}

/// The part of a line around its cursor, and the cursor's column in it.
pub(in crate::view) fn seen_part(prompt: &Prompt, room: usize) -> (String, usize) {
    let before = prompt.text.get(..prompt.cursor).unwrap_or_default();
    let starts = before.char_indices().map(|(at, _)| at).chain([before.len()]);
    let fits = |at: &usize| cells::width(before.get(*at..).unwrap_or_default()) < room.max(1);
    let from = starts.into_iter().find(fits).unwrap_or(before.len());
    let shown = cells::cut(prompt.text.get(from..).unwrap_or_default(), room);
    (shown, cells::width(before.get(from..).unwrap_or_default()))
}

fn draw_bottom(frame: &mut Frame<'_>, area: Rect, form: &EditForm) {
    let width = usize::from(area.width).saturating_sub(2);
    let hint = "↓ ↑ another line · ← → another word · durations like 30m, 2h, 1d";
    let (text, style) = match &form.problem {
        Some(problem) => (problem.as_str(), theme::TROUBLE),
        None => (hint, theme::DIM),
    };
    let lines = cells::wrap(text, width, usize::from(area.height));
    let lines: Vec<Line<'_>> =
        lines.into_iter().map(|line| Line::styled(format!(" {line}"), style)).collect();
    frame.render_widget(Paragraph::new(lines), area);
}
