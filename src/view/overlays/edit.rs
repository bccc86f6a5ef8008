//! The edit dialog: one line for each setting of a feed.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::form;
use crate::ui::overlays::edit_form::EditForm;
use crate::view::{cells, pane, theme};

/// Maximum width of the dialog, in columns.
const COLUMNS_MAX: u16 = 84;
/// Width of a label in cells: first on a wide screen, then on a narrow screen.
const LABEL_CELLS: (usize, usize) = (27, 17);
/// Number of lines below the form.
const BOTTOM_LINES: u16 = 2;

/// Draws the dialog over the panes. Returns the area of its input lines and the index of the first visible line.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, edited: &EditForm) -> (Rect, u16) {
    let rows = u16::try_from(edited.form.rows.len()).unwrap_or(u16::MAX);
    let height = rows.saturating_add(BOTTOM_LINES).saturating_add(2);
    let place = pane::centred(frame, area, COLUMNS_MAX, height);
    let form = &edited.form;
    let at = form::place_of(form.selected, form.rows.len(), place.height < height);
    let inside = pane::counted(frame, place, "Edit ─ Enter saves, Esc cancels", &at, true);
    let [fields, bottom] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(BOTTOM_LINES)]).areas(inside);
    let top = draw_fields(frame, fields, edited);
    draw_bottom(frame, bottom, edited);
    (fields, u16::try_from(top).unwrap_or(u16::MAX))
}

/// Draws the input lines of the form. Returns the index of the first visible line.
fn draw_fields(frame: &mut Frame<'_>, area: Rect, edited: &EditForm) -> usize {
    let (long, short) = LABEL_CELLS;
    let label_cells = if area.width >= 60 { long } else { short };
    form::draw(frame, area, &edited.form, |label| label, label_cells)
}

fn draw_bottom(frame: &mut Frame<'_>, area: Rect, edited: &EditForm) {
    let width = usize::from(area.width).saturating_sub(2);
    let hint = "↓ ↑ select · ← → change · durations like 30m, 2h, 1d";
    let (text, style) = match &edited.form.problem {
        Some(problem) => (problem.as_str(), theme::TROUBLE),
        None => (hint, theme::DIM),
    };
    let lines = cells::wrap(text, width, usize::from(area.height));
    let lines: Vec<Line<'_>> =
        lines.into_iter().map(|line| Line::styled(format!(" {line}"), style)).collect();
    frame.render_widget(Paragraph::new(lines), area);
}
