//! The welcome pane for users without subscriptions: three possible actions with their keys, and how to restore recently removed
//! feeds.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use crate::engine::feeds::unsubscribe::recently_removed;
use crate::ui::app::App;
use crate::view::{pane, theme};
use backissue_core::feed::text::counted_words;

/// Draws the welcome pane.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App, now: DateTime<Utc>) {
    let inside = pane::bordered(frame, area, "backissue", true);
    let mut lines = vec![
        Line::default(),
        Line::styled("  Welcome. Nothing to read yet:", theme::UNREAD),
        Line::default(),
        choice(&app.ui.words("{add}"), "paste the address of any site"),
        choice("i", "import a list of feeds: OPML, or newsboat's urls"),
        choice(&app.ui.words("{account-add}"), "sync with FreshRSS, Miniflux or a similar server"),
        choice("d", "look around in a demo"),
        Line::default(),
    ];
    lines.extend(removed_lines(app, now));
    lines.push(Line::styled(app.ui.words("  {back} quits, {help} shows the keys"), theme::DIM));
    lines.push(Line::styled(
        "  Marks and tags of newsboat and others: 'backissue import' in a shell",
        theme::DIM,
    ));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inside);
}

fn choice(key: &str, text: impl Into<Span<'static>>) -> Line<'static> {
    Line::from(vec![
        Span::raw("   "),
        Span::styled(key.to_owned(), theme::KEY),
        Span::raw("  "),
        text.into(),
    ])
}

/// Explains how to restore feeds that were removed within the last week. Returns no lines if there are no such feeds.
fn removed_lines(app: &App, now: DateTime<Utc>) -> Vec<Line<'static>> {
    let removed = recently_removed(&app.engine, now).len();
    if removed == 0 {
        return Vec::new();
    }
    let text =
        format!("  You removed {} in the last week:", counted_words(removed, "feed", "feeds"));
    let mut lines = vec![Line::styled(text, theme::UNREAD)];
    let key = app.ui.settings.keys.key("undo").filter(|_| app.engine.undo.can_undo());
    lines.extend(key.map(|key| choice(&key, "undo the last change")));
    lines.push(choice(&app.ui.words("{removed}"), app.ui.words("lists them; {open} restores one")));
    lines.push(Line::default());
    lines
}
