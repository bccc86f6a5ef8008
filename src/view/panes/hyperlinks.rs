//! Writes the links of the open text as terminal hyperlinks (OSC 8) into the finished screen.
//!
//! Consecutive cells that belong to one link and have the same style become a single cell. This cell contains the opening escape
//! sequence, the text of all these cells, and the closing escape sequence, and it has the width of all these cells. The other cells
//! become empty. Anything that is drawn there later differs from the empty cells and is therefore written to the terminal again, so
//! that no cell keeps a link that has disappeared.

use std::num::NonZeroU16;

use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::layout::Position;
use unicode_width::UnicodeWidthStr;

use crate::ui::app::App;
use crate::ui::reader::lines::{self, StyledLine};
use crate::ui::state::layout::Viewport;

/// Maximum length of an address in bytes. Terminals reject longer addresses.
const ADDRESS_MAX: usize = 2000;

/// Turns the links of the open text into terminal hyperlinks.
pub(in crate::view) fn link(buffer: &mut Buffer, app: &App, viewport: &Viewport) {
    // An overlay covers the text, so there are no links to write.
    if app.ui.covers_panes() {
        return;
    }
    let Some(reader) = app.ui.shown_reader() else { return };
    let Some(text) = &reader.rendered else { return };
    let area = viewport.reader;
    let lines = text.lines.iter().skip(reader.scroll).zip(0..area.rows);
    for (line, row) in lines {
        let row = area.row.saturating_add(row);
        let line = line.window(reader.sideways, usize::from(area.columns));
        for run in runs(&line, area.columns) {
            let address = text.target(run.number).map(|link| &link.url);
            if let Some(address) = address.filter(|address| is_harmless(address)) {
                let from = area.column.saturating_add(run.from);
                link_run(buffer, row, (from, area.column.saturating_add(run.to)), &run, address);
            }
        }
    }
}

/// Consecutive cells of a line that belong to one link.
struct Run {
    number: u16,
    from: u16,
    to: u16,
}

/// Finds the consecutive cells that belong to a link, for each link in a line. The text column has the given width.
fn runs(line: &StyledLine, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut at = 0_u16;
    for span in &line.spans {
        let cells = u16::try_from(lines::cells(&span.text)).unwrap_or(u16::MAX);
        let (from, to) = (at.min(columns), at.saturating_add(cells).min(columns));
        at = at.saturating_add(cells);
        let Some(number) = span.link.filter(|_| to > from) else { continue };
        match runs.last_mut() {
            Some(last) if last.number == number && last.to == from => last.to = to,
            Some(_) | None => runs.push(Run { number, from, to }),
        }
    }
    runs
}

/// Checks whether an address is safe to write into an escape sequence: it has an allowed scheme, consists of printable ASCII
/// characters, and is not too long.
fn is_harmless(address: &str) -> bool {
    let scheme = ["http://", "https://", "mailto:"];
    address.len() <= ADDRESS_MAX
        && scheme.iter().any(|scheme| address.starts_with(scheme))
        && address.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Turns the cells of a row from column `from` to column `to` (exclusive) into hyperlinks, one for each sequence of cells with the
/// same style.
fn link_run(buffer: &mut Buffer, row: u16, (from, to): (u16, u16), run: &Run, address: &str) {
    let style =
        |buffer: &Buffer, column: u16| buffer.cell(Position::new(column, row)).map(Cell::style);
    let mut start = from;
    while start < to {
        let first = style(buffer, start);
        let mut end = start.saturating_add(1);
        while end < to && style(buffer, end) == first {
            end = end.saturating_add(1);
        }
        link_stretch(buffer, row, (start, end), run.number, address);
        start = end;
    }
}

fn link_stretch(buffer: &mut Buffer, row: u16, (from, to): (u16, u16), number: u16, address: &str) {
    let mut text = String::new();
    let mut hidden = 0;
    for column in from..to {
        let Some(cell) = buffer.cell_mut(Position::new(column, row)) else { return };
        if hidden == 0 {
            text.push_str(cell.symbol());
            hidden = cell.symbol().width().max(1);
        }
        hidden = hidden.saturating_sub(1);
        cell.set_symbol("");
    }
    // The width must be given, because the text as a whole may be narrower than its cells: some letters join.
    let cells = NonZeroU16::new(to.saturating_sub(from));
    let (Some(cells), Some(cell)) = (cells, buffer.cell_mut(Position::new(from, row))) else {
        return;
    };
    // The `id` shows the terminal that the pieces of a link on several lines belong together.
    let symbol = format!("\u{1b}]8;id={number};{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\");
    cell.set_symbol(&symbol).set_diff_option(CellDiffOption::ForcedWidth(cells));
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::{Modifier, Style};

    use crate::ui::reader::lines::StyledSpan;
    use crate::view::panes::hyperlinks::*;

    fn line(parts: &[(&str, Option<u16>)]) -> StyledLine {
        let span = |(text, link): &(&str, Option<u16>)| StyledSpan {
            text: (*text).to_owned(),
            link: *link,
            ..StyledSpan::default()
        };
        parts.iter().map(span).collect::<Vec<_>>().into()
    }

    #[test]
    fn neighbours_of_one_link_are_one_run() {
        let line = line(&[("see ", None), ("漢字", Some(1)), ("[1]", Some(1)), ("x", Some(2))]);
        let found: Vec<(u16, u16, u16)> =
            runs(&line, 80).iter().map(|run| (run.number, run.from, run.to)).collect();
        assert_eq!(found, [(1, 4, 11), (2, 11, 12)]);
        let found: Vec<u16> = runs(&line, 6).iter().map(|run| run.to).collect();
        assert_eq!(found, [6], "what does not fit is not linked");
    }

    #[test]
    fn only_harmless_addresses_are_written() {
        for (address, expected) in [
            ("https://a.example/?x=1;y", true),
            ("mailto:a@b.example", true),
            ("javascript:alert(1)", false),
            ("file:///etc/passwd", false),
            ("https://a.example/\u{1b}]8;;", false),
            ("https://a.example/a b", false),
            ("https://é.example/", false),
        ] {
            assert_eq!(is_harmless(address), expected, "{address}");
        }
        assert!(!is_harmless(&format!("https://{}", "a".repeat(2000))));
    }

    #[test]
    fn a_run_is_one_cell_of_its_width_and_what_follows_stays() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "a漢字b c", Style::new());
        let run = Run { number: 7, from: 1, to: 6 };
        link_run(&mut buffer, 0, (1, 6), &run, "https://a.example/");
        let cell = &buffer.content[1];
        assert_eq!(
            cell.symbol(),
            "\u{1b}]8;id=7;https://a.example/\u{1b}\\漢字b\u{1b}]8;;\u{1b}\\"
        );
        assert_eq!(cell.diff_option, CellDiffOption::ForcedWidth(NonZeroU16::new(5).unwrap()));
        assert_eq!((buffer.content[0].symbol(), buffer.content[7].symbol()), ("a", "c"));
        assert!(buffer.content[2..6].iter().all(|cell| cell.symbol().is_empty()));
    }

    #[test]
    fn a_run_of_letters_that_join_has_the_width_of_its_cells() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        buffer.set_string(0, 0, "لاx", Style::new());
        let to = u16::try_from(lines::cells("لا")).unwrap();
        link_run(&mut buffer, 0, (0, to), &Run { number: 1, from: 0, to }, "https://a.example/");
        let whole = CellDiffOption::ForcedWidth(NonZeroU16::new(to).unwrap());
        assert_eq!((to, buffer.content[0].diff_option), (2, whole));
    }

    #[test]
    fn a_stretch_has_one_style() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        buffer.set_string(0, 0, "ab", Style::new());
        buffer.set_string(2, 0, "cd", Style::new().add_modifier(Modifier::BOLD));
        link_run(&mut buffer, 0, (0, 4), &Run { number: 1, from: 0, to: 4 }, "https://a.example/");
        assert!(buffer.content[0].symbol().contains("\\ab\u{1b}"));
        assert!(buffer.content[2].symbol().contains("\\cd\u{1b}"));
    }

    /// Returns the text that is written to a terminal whose screen shows `before`, to change it to `after`.
    fn written(before: &Buffer, after: &Buffer) -> Vec<(u16, String)> {
        before
            .diff(after)
            .into_iter()
            .map(|(column, _, cell)| (column, cell.symbol().to_owned()))
            .collect()
    }

    #[test]
    fn removed_link_leaves_no_cell_behind() {
        let mut plain = Buffer::empty(Rect::new(0, 0, 6, 1));
        plain.set_string(0, 0, "ladder", Style::new());
        let mut linked = plain.clone();
        link_run(&mut linked, 0, (1, 5), &Run { number: 1, from: 1, to: 5 }, "https://a.example/");
        let columns = |cells: Vec<(u16, String)>| cells.into_iter().map(|(column, _)| column);
        assert_eq!(columns(written(&plain, &linked)).collect::<Vec<_>>(), [1]);
        assert_eq!(columns(written(&linked, &linked)).collect::<Vec<_>>(), [0; 0]);
        assert_eq!(columns(written(&linked, &plain)).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }
}
