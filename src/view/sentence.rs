//! Draws one sentence in the middle of an otherwise empty screen.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

/// Draws a sentence in the middle of the screen, wrapped to several lines if necessary.
pub fn draw_sentence(frame: &mut Frame<'_>, text: &str) {
    let area = frame.area();
    let width = usize::from(area.width.max(1));
    let lines = u16::try_from(text.width().div_ceil(width)).unwrap_or(u16::MAX);
    let top = area.height.saturating_sub(lines) / 2;
    let place = Rect { y: area.y.saturating_add(top), height: area.height - top, ..area };
    let paragraph = Paragraph::new(text).wrap(Wrap { trim: true }).alignment(Alignment::Center);
    frame.render_widget(paragraph, place);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::buffer::Cell;

    use super::*;

    #[test]
    fn sentence_is_centred_on_any_screen() {
        for (columns, rows, expected) in
            [(9, 3, vec!["", "   one", ""]), (3, 2, vec!["one", ""]), (1, 1, vec!["o"])]
        {
            let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
            terminal.draw(|frame| draw_sentence(frame, "one")).unwrap();
            let cells = &terminal.backend().buffer().content;
            let shown: Vec<String> = cells
                .chunks(usize::from(columns))
                .map(|row| row.iter().map(Cell::symbol).collect::<String>())
                .map(|row| row.trim_end().to_owned())
                .collect();
            assert_eq!(shown, expected, "{columns} x {rows}");
        }
    }
}
