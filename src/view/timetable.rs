//! The timetable: the coming polls of all feeds in order, with time, feed and what settled each.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::plan::pace_sign;
use super::{cells, pane, theme, when};
use crate::app::foreseeing::TimetablePane;
use crate::app::model::Model;
use crate::app::planning::settled_words;
use crate::history::FeedKey;

/// From this width on the reason stands beside the feed.
const WIDE: usize = 64;
/// Cells of the reason.
const REASON_CELLS: usize = 28;

/// Draws the timetable; answers with its rows.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    shown: TimetablePane,
    now: DateTime<Utc>,
) -> u16 {
    pane::clear_beside(frame, area);
    let count = model.timetable.len();
    let place = format!("{}/{count}", shown.selected.saturating_add(1).min(count));
    let title = "Timetable ─ Enter opens the plan, q closes";
    let inside = pane::counted(frame, area, title, &place, true);
    let width = usize::from(inside.width);
    let coming = (0_usize..).zip(model.timetable.iter());
    let coming = coming.skip(shown.top).take(usize::from(inside.height));
    let mut lines: Vec<Line<'_>> = coming
        .map(|(place, (at, feed))| {
            let line = row(model, at, *feed, width, now);
            if place == shown.selected { line.patch_style(theme::SELECTED) } else { line }
        })
        .collect();
    if count == 0 {
        lines.push(Line::styled(" nothing is planned", theme::DIM));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    inside.height
}

fn row(
    model: &Model,
    at: DateTime<Utc>,
    key: FeedKey,
    width: usize,
    now: DateTime<Utc>,
) -> Line<'static> {
    let Some(feed) = model.feeds.get(&key) else { return Line::default() };
    let day = if at.signed_duration_since(now).num_days() < 6 { "%a %H:%M" } else { "%-d %b" };
    let time = at.with_timezone(&model.zone).format(day).to_string();
    let away = when::span_words(at.signed_duration_since(now).num_seconds());
    let head = format!(" {time:<9} {away:>4}  ");
    let title = format!("{} {}", feed.record.shown_title(), pace_sign(feed));
    let why = settled_words(feed.plan.settled_by);
    let reason_cells = if width >= WIDE { REASON_CELLS } else { 0 };
    let room = width.saturating_sub(cells::width(&head)).saturating_sub(reason_cells);
    Line::from(vec![
        Span::raw(head),
        Span::raw(cells::fit(title.trim_end(), room)),
        Span::styled(cells::fit(&format!(" {why}"), reason_cells), theme::DIM),
    ])
}
