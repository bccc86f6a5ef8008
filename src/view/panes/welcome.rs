//! The welcome pane: three things to do while there is no subscription, one key each.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use crate::view::{pane, theme};

/// Draws the pane.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect) {
    let inside = pane::bordered(frame, area, "backissue", true);
    let choice = |key: &'static str, text: &'static str| {
        Line::from(vec![
            Span::raw("   "),
            Span::styled(key, theme::KEY),
            Span::raw("  "),
            Span::raw(text),
        ])
    };
    let lines = vec![
        Line::default(),
        Line::styled("  Welcome. Nothing to read yet:", theme::UNREAD),
        Line::default(),
        choice("a", "paste the address of any site"),
        choice("i", "import a list of feeds: OPML, or newsboat's urls"),
        choice("d", "look around in a demo"),
        Line::default(),
        Line::styled("  q quits, ? shows the keys", theme::DIM),
    ];
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inside);
}
