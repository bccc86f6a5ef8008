//! The plain screen, for screen readers: no lines, no symbols, and the cursor at the user's position.
//!
//! Rows contain words instead of symbols. In addition, a final pass over the finished screen converts all remaining symbols to
//! ASCII, so that symbols from any drawing function are converted.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Color;

use super::theme;
use crate::ui::app::App;
use crate::ui::reader::lines::{Role, StyledSpan};
use crate::ui::state::layout::{Area, Pane, Viewport};
use crate::ui::state::overlay::Overlay;

/// Symbols that the program draws, each with its ASCII replacement.
const SIGNS: [(&str, &str); 32] = [
    ("✓", "+"),
    ("·", "-"),
    ("–", "-"),
    ("—", "-"),
    ("…", "."),
    ("→", ">"),
    ("←", "<"),
    ("↑", "^"),
    ("↓", "v"),
    ("●", "*"),
    ("★", "*"),
    ("▲", "+"),
    ("▼", "-"),
    ("▶", ">"),
    ("⏎", ">"),
    ("‹", "<"),
    ("›", ">"),
    ("×", "x"),
    ("•", "o"),
    ("○", "O"),
    ("◉", "@"),
    ("▁", "."),
    ("▂", "."),
    ("▃", ":"),
    ("▄", ":"),
    ("▅", "="),
    ("▆", "="),
    ("▇", "%"),
    ("█", "#"),
    ("▓", "%"),
    ("▒", "="),
    ("░", ":"),
];

/// Replaces the lines and symbols on the screen by ASCII characters, for a locale that has no other characters.
pub(super) fn draw_in_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let sign = match cell.symbol() {
            "─" | "━" | "┄" => Some("-"),
            "│" | "┃" | "▌" => Some("|"),
            "▾" => Some("v"),
            "▸" => Some(">"),
            "⟳" => Some("~"),
            "⌕" => Some("/"),
            "†" => Some("x"),
            "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" => Some("+"),
            symbol => in_ascii(symbol),
        };
        if let Some(sign) = sign {
            cell.set_symbol(sign);
        }
    }
}

/// Converts the symbols on the screen to ASCII. Lines and other symbols that have no ASCII replacement become spaces.
pub(super) fn write_out(buffer: &mut Buffer) {
    let (mut before, mut behind) = (" ".to_owned(), buffer.content.iter().skip(1));
    let followed: Vec<bool> = buffer
        .content
        .iter()
        .map(|_| behind.next().is_none_or(|cell| cell.symbol() == " "))
        .collect();
    for (cell, blank_behind) in buffer.content.iter_mut().zip(followed) {
        let symbol = cell.symbol().to_owned();
        // This is a dash between words, not a part of a line.
        if symbol == "─" && before == " " && blank_behind {
            cell.set_symbol("-");
        } else if let Some(sign) = in_ascii(&symbol) {
            cell.set_symbol(sign);
        }
        before = symbol;
    }
}

/// Returns the ASCII replacement of a symbol. Returns `None` if the text is not a symbol that the program draws.
fn in_ascii(symbol: &str) -> Option<&'static str> {
    if symbol.is_ascii() {
        return None;
    }
    if let Some((_, sign)) = SIGNS.iter().find(|(other, _)| *other == symbol) {
        return Some(sign);
    }
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        // These ranges contain lines, blocks, shapes, arrows and technical symbols, but no letters of any script.
        (
            Some(
                '\u{2190}'..='\u{21ff}'
                | '\u{2300}'..='\u{23ff}'
                | '\u{2500}'..='\u{25ff}'
                | '\u{27f0}'..='\u{27ff}',
            ),
            None,
        ) => Some(" "),
        _ => None,
    }
}

/// Returns the text of a span without line-drawing characters. ASCII characters replace quotation bars and rules.
pub(super) fn told(span: &StyledSpan) -> String {
    match span.role {
        Role::QuoteBar => span.text.replace('│', ">"),
        Role::Rule => span.text.replace('─', "-"),
        Role::Text
        | Role::Caption
        | Role::Heading(_)
        | Role::Link
        | Role::Code
        | Role::Preformatted
        | Role::Syntax(_)
        | Role::Image
        | Role::Embed
        | Role::LinkNumber
        | Role::ListMarker
        | Role::TableBorder
        | Role::WrapMark
        | Role::Note => span.text.clone(),
    }
}

/// Moves the cursor to the user's position: the selected row, or the beginning of the open text. If an input line is open, it has
/// already set the cursor.
pub(super) fn point(frame: &mut Frame<'_>, app: &App, viewport: &Viewport) {
    let place = match &app.ui.overlay {
        Some(Overlay::Prompt(_) | Overlay::Pick(_) | Overlay::Account(_)) => {
            return;
        }
        Some(Overlay::Edit(edited)) => {
            if edited.form.typed_line().is_some() {
                return;
            }
            Some(line_of(viewport, edited.form.selected.saturating_add(1)))
        }
        Some(Overlay::FilterDialog(edited)) => {
            if edited.form.typed_line().is_some() {
                return;
            }
            Some(line_of(viewport, edited.form.selected))
        }
        Some(Overlay::Help(help)) if help.typing => return,
        Some(Overlay::Plan(_)) => Some(first_cell(viewport.overlay)),
        Some(Overlay::Help(_)) => Some(Position::new(1, 1)),
        None if app.ui.focus == Pane::Reader => Some(first_cell(viewport.reader)),
        Some(
            Overlay::Timetable(_)
            | Overlay::List(_)
            | Overlay::Question(_)
            | Overlay::Hints(_)
            | Overlay::Looking(_),
        )
        | None => selected_cell(frame.buffer_mut()),
    };
    frame.set_cursor_position(place.unwrap_or(Position::new(0, 0)));
}

/// Returns the position of the beginning of a line in an overlay. `line` counts all lines, including those that are scrolled out of
/// view.
fn line_of(viewport: &Viewport, line: usize) -> Position {
    let below = line.saturating_sub(usize::from(viewport.overlay_top));
    let row = viewport.overlay.row.saturating_add(u16::try_from(below).unwrap_or(u16::MAX));
    Position::new(viewport.overlay.column, row)
}

const fn first_cell(area: Area) -> Position {
    Position::new(area.column, area.row)
}

/// Returns the position of the first cell of the selected row. Returns `None` if no row is selected.
fn selected_cell(buffer: &Buffer) -> Option<Position> {
    let selected: Option<Color> = theme::SELECTED.bg;
    let place = buffer.content.iter().position(|cell| Some(cell.bg) == selected)?;
    let (column, row) = buffer.pos_of(place);
    Some(Position::new(column, row))
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Cell;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn signs_are_ascii_and_letters_stay() {
        for (symbol, expected) in [
            ("a", None),
            ("│", Some(" ")),
            ("┄", Some(" ")),
            ("●", Some("*")),
            ("⟳", Some(" ")),
            ("▾", Some(" ")),
            ("⌕", Some(" ")),
            ("é", None),
            ("漢", None),
            ("“", None),
            ("🍎", None),
        ] {
            assert_eq!(in_ascii(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn lines_and_symbols_are_drawn_in_ascii() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 16, 1));
        buffer.set_string(0, 0, "┌ A ─┬┐│┄▾●é 漢", Style::new());
        draw_in_ascii(&mut buffer);
        let text: String = buffer.content.iter().map(Cell::symbol).collect();
        assert_eq!(text, "+ A -++|-v*é 漢  ");
    }

    #[test]
    fn a_dash_between_words_is_kept_and_a_line_is_not() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "┌ A ─ b ───┐", Style::new());
        write_out(&mut buffer);
        let text: String = buffer.content.iter().map(Cell::symbol).collect();
        assert_eq!(text, "  A - b     ");
    }

    #[test]
    fn no_two_marks_of_one_picture_are_written_alike() {
        // The symbols in the chart of the week (shades, publications, polls, hours to skip) and in the row of the last polls.
        for picture in [["█", "▓", "▒", "░", "·", "×", "•", "○"].as_slice(), &["●", "·"]]
        {
            let mut written: Vec<_> = picture.iter().map(|sign| in_ascii(sign)).collect();
            written.sort_unstable();
            written.dedup();
            assert_eq!(written.len(), picture.len(), "{picture:?}");
        }
    }
}
