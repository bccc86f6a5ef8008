//! The reader pane: one entry with its title, its origin, its text and its links.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{cells, pane, theme, when};
use crate::app::model::Model;
use crate::app::screen::{Pane, Reader};

/// Lines above the text: title, origin, address or enclosure, a blank one.
const HEAD_LINES: u16 = 4;

/// Draws the pane; answers with columns and rows of its text.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) -> (u16, u16) {
    let inside = pane::bordered(frame, area, "", model.screen.focus == Pane::Reader);
    let [head, text] =
        Layout::vertical([Constraint::Length(HEAD_LINES), Constraint::Fill(1)]).areas(inside);
    if let Some(reader) = &model.screen.reader {
        let lines = head_lines(model, reader, usize::from(head.width));
        frame.render_widget(Paragraph::new(lines), head);
        draw_text(frame, text, reader);
    } else {
        let hint =
            vec![Span::styled("Enter", theme::KEY), Span::styled(" opens an entry", theme::DIM)];
        frame.render_widget(Paragraph::new(Line::from(hint)), head);
    }
    (text.width, text.height)
}

fn head_lines(model: &Model, reader: &Reader, width: usize) -> Vec<Line<'static>> {
    let kept = &reader.entry.kept;
    let feed = model.feeds.get(&reader.entry.key.feed).map_or("", |feed| feed.record.shown_title());
    let star = if reader.entry.flags.is_starred() { "★ " } else { "" };
    let title = kept.title.as_deref().filter(|title| !title.is_empty()).unwrap_or("(no title)");
    let origin =
        [Some(feed), kept.author.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let dated = format!("{origin} · {}", when::minute(kept.listed(), model.zone));
    let third = match kept.enclosures.first() {
        Some(enclosure) => format!("▶ {}", enclosure.url),
        None => kept.link.clone().unwrap_or_default(),
    };
    vec![
        Line::styled(cells::cut(&format!("{star}{title}"), width), theme::UNREAD),
        Line::styled(cells::cut(&dated, width), theme::DIM),
        Line::styled(cells::cut(&third, width), theme::DIM),
        Line::default(),
    ]
}

fn draw_text(frame: &mut Frame<'_>, area: Rect, reader: &Reader) {
    let Some(text) = &reader.rendered else { return };
    if text.lines.is_empty() {
        frame.render_widget(
            Paragraph::new("This entry has no text: o opens its page.").style(theme::DIM),
            area,
        );
        return;
    }
    let lines = text.lines.iter().skip(reader.scroll).take(usize::from(area.height));
    let spans = |line: &crate::app::lines::StyledLine| {
        line.spans
            .iter()
            .map(|span| Span::styled(span.text.clone(), theme::of_span(span)))
            .collect::<Vec<_>>()
    };
    frame.render_widget(
        Paragraph::new(lines.map(|line| Line::from(spans(line))).collect::<Vec<_>>()),
        area,
    );
}
