//! The list of downloads: newest first, with the state of each.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::engine::downloads::progress::state_words;
use crate::ui::actions::downloads::DOWNLOAD_LINES;
use crate::ui::app::App;
use crate::ui::scroll_list::ScrollList;
use crate::view::{bytes, cells, pane, theme};

/// Maximum width of the list, in columns.
const COLUMNS_MAX: u16 = 84;

/// Draws the list over the panes. Returns the area of its lines and the index of the first visible download.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    list: ScrollList,
    now: DateTime<Utc>,
) -> (Rect, u16) {
    let downloads = &app.engine.downloads;
    let count = downloads.list.len();
    let lines = count.max(1).saturating_mul(DOWNLOAD_LINES).saturating_add(2);
    let place = pane::centred(frame, area, COLUMNS_MAX, u16::try_from(lines).unwrap_or(u16::MAX));
    let selected = list.selected.min(count.saturating_sub(1));
    let at = if count == 0 { String::new() } else { format!("{}/{count}", selected + 1) };
    let title = "Downloads ─ Enter plays or resumes, Space pauses, D removes";
    let inside = pane::counted(frame, place, title, &at, true);
    let width = usize::from(inside.width);
    let shown = usize::from(inside.height).checked_div(DOWNLOAD_LINES).unwrap_or(1).max(1);
    let top = ScrollList { selected, ..list }.top_in(count, shown);
    let rows = downloads.list.values().rev().enumerate().skip(top).take(shown);
    let lines = rows.flat_map(|(place, download)| {
        let style = if place == selected { theme::SELECTED } else { theme::TEXT };
        let title = if download.title.is_empty() { "(no title)" } else { &download.title };
        let feed = cells::cut(&download.feed_title, width / 3);
        let head = cells::ends(&format!(" {title}"), &format!("{feed} "), width);
        let state = state_words(downloads, download, now, bytes::words);
        [
            Line::styled(head, style),
            Line::styled(cells::cut(&format!("   {state}"), width), theme::DIM),
        ]
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
    (inside, u16::try_from(top).unwrap_or(u16::MAX))
}
