//! The edit dialog: one line for each setting of a feed.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::form::{self, Dialog};
use crate::ui::overlays::edit_form::EditForm;

/// Width of a label in cells: first on a wide screen, then on a narrow screen.
const LABEL_CELLS: (usize, usize) = (27, 17);
/// Minimum width of a wide screen, in columns.
const WIDE_COLUMNS: u16 = 62;
/// Number of lines below the form.
const BOTTOM_LINES: u16 = 2;

/// Draws the dialog over the panes. Returns the area of its input lines and the index of the first visible line.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, edited: &EditForm) -> (Rect, u16) {
    let (long, short) = LABEL_CELLS;
    let dialog = Dialog {
        title: "Edit ─ Enter saves, Esc cancels",
        label_cells: if area.width >= WIDE_COLUMNS { long } else { short },
        below: (BOTTOM_LINES, BOTTOM_LINES),
    };
    let (fields, bottom, top) = form::dialog(frame, area, &edited.form, |label| label, dialog);
    let hint = "↓ ↑ select · ← → change · durations like 30m, 2h, 1d";
    form::draw_below(frame, bottom, edited.form.problem.as_deref(), hint);
    (fields, top)
}
