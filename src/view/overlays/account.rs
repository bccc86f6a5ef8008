//! The dialog that adds an account on a server.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::form::{self, Dialog};
use crate::ui::overlays::accounts::account_form::AccountForm;

/// Width of a label in cells.
const LABEL_CELLS: usize = 10;
/// Number of lines below the form, for a sentence of the server.
const BOTTOM_LINES: u16 = 5;

/// Draws the dialog over the panes. Returns the area of its input lines and the index of the first visible line.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, typed: &AccountForm) -> (Rect, u16) {
    let dialog = Dialog {
        title: "Add an account ─ Enter logs in, Esc closes",
        label_cells: LABEL_CELLS,
        below: (BOTTOM_LINES, BOTTOM_LINES),
    };
    let (fields, bottom, top) = form::dialog(frame, area, &typed.form, |label| label, dialog);
    let hint = if typed.is_waiting {
        "logging in … · Esc closes this; the login goes on"
    } else {
        "Its feeds, entries and marks are shared with this reader. The login is kept in a file that only you can read."
    };
    form::draw_below(frame, bottom, typed.form.problem.as_deref(), hint);
    (fields, top)
}
