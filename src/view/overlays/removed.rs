//! The list of feeds that were unsubscribed within the last week.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::unsubscribe::recently_removed;
use crate::ui::app::App;
use crate::ui::scroll_list::ScrollList;
use crate::view::{cells, pane, theme};
use backissue_core::feed::text::counted_words;

/// Maximum width of the list, in columns.
const COLUMNS_MAX: u16 = 84;

/// Draws the list over the panes. Returns the area of its rows and the index of the first visible row.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    list: ScrollList,
    now: DateTime<Utc>,
) -> (Rect, u16) {
    let removed = recently_removed(&app.engine, now);
    let height = u16::try_from(removed.len().max(1).saturating_add(2)).unwrap_or(u16::MAX);
    let place = pane::centred(frame, area, COLUMNS_MAX, height);
    let title = "Recently removed ─ Enter subscribes again, x marks, A restores all, q closes";
    let inside = pane::bordered(frame, place, title, true);
    let width = usize::from(inside.width);
    if removed.is_empty() {
        let text = " Nothing here: removed feeds are listed for a week.";
        frame.render_widget(Paragraph::new(text).style(theme::DIM), inside);
        return (inside, 0);
    }
    let selected = list.selected.min(removed.len().saturating_sub(1));
    let shown = usize::from(inside.height);
    let top = ScrollList { selected, ..list }.top_in(removed.len(), shown);
    let rows = removed.iter().enumerate().skip(top).take(shown);
    let lines = rows.map(|(place, (feed, until))| {
        let style = if place == selected { theme::SELECTED } else { theme::TEXT };
        let mark = if app.ui.marked.feeds.contains(&feed.key) { '*' } else { ' ' };
        let title = format!("{mark}{}", feed.record.shown_title());
        let until = until.with_timezone(&app.engine.zone).format("%a %-d %b");
        let kept = format!("{} · kept until {until} ", entries(feed));
        Line::styled(cells::ends(&title, &kept, width), style)
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
    (inside, u16::try_from(top).unwrap_or(u16::MAX))
}

fn entries(feed: &Subscription) -> String {
    counted_words(usize::try_from(feed.counters.total).unwrap_or_default(), "entry", "entries")
}
