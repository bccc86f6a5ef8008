//! The dialog that adds an account on a server.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::form;
use crate::ui::overlays::accounts::account_form::AccountForm;
use crate::view::{cells, pane, theme};

/// Maximum width of the dialog, in columns.
const COLUMNS_MAX: u16 = 84;
/// Width of a label in cells.
const LABEL_CELLS: usize = 10;
/// Number of lines below the form, for a sentence of the server.
const BOTTOM_LINES: u16 = 5;

/// Draws the dialog over the panes. Returns the area of its input lines and the index of the first visible line.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, typed: &AccountForm) -> (Rect, u16) {
    let rows = u16::try_from(typed.form.rows.len()).unwrap_or(u16::MAX);
    let height = rows.saturating_add(BOTTOM_LINES).saturating_add(2);
    let place = pane::centred(frame, area, COLUMNS_MAX, height);
    let title = "Add an account ─ Enter logs in, Esc closes";
    let inside = pane::counted(frame, place, title, "", true);
    let [fields, bottom] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(BOTTOM_LINES)]).areas(inside);
    let top = form::draw(frame, fields, &typed.form, |label| label, LABEL_CELLS);
    let hint = if typed.is_waiting {
        "logging in … · Esc closes this; the login goes on"
    } else {
        "Its feeds, entries and marks are shared with this reader. The login is kept in a file that only you can read."
    };
    let (text, style) = match &typed.form.problem {
        Some(problem) => (problem.as_str(), theme::TROUBLE),
        None => (hint, theme::DIM),
    };
    let width = usize::from(bottom.width).saturating_sub(2);
    let lines = cells::wrap(text, width, usize::from(bottom.height));
    let lines: Vec<Line<'_>> =
        lines.into_iter().map(|line| Line::styled(format!(" {line}"), style)).collect();
    frame.render_widget(Paragraph::new(lines), bottom);
    (fields, u16::try_from(top).unwrap_or(u16::MAX))
}
