//! The lists over the panes: their border with the keys, and their rows.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{account_list, choice, filters};
use crate::engine::downloads::progress::state_words;
use crate::engine::feeds::unsubscribe::recently_removed;
use crate::ui::app::App;
use crate::ui::overlays::list_panel::ListKind;
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::overlay::{ListOf, OpenList};
use crate::view::{bytes, cells, pane, theme};
use backissue_core::feed::text::counted_words;

/// Maximum width of a list, of the menu of programs, and of the choice between feeds, in columns.
const COLUMNS_MAX: (u16, u16, u16) = (84, 60, 100);

/// Draws a list over the panes. Returns the area of its lines and the index of the first visible row.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    (open, kind): (OpenList, &ListKind),
    now: DateTime<Utc>,
) -> (Rect, u16) {
    let (usual, narrow, wide) = COLUMNS_MAX;
    let (columns, below) = match open.of {
        ListOf::Choice(_) => (wide, choice::BELOW_LINES),
        ListOf::Share => (narrow, 0),
        ListOf::Accounts | ListOf::Filters | ListOf::Removed | ListOf::Downloads => (usual, 0),
    };
    let count = (kind.count)(app, now, open.of);
    let lines = count.max(1).saturating_mul(usize::from(kind.lines));
    let most = if below > 0 { area.height.saturating_sub(2) / 2 } else { u16::MAX };
    let lines = u16::try_from(lines).unwrap_or(u16::MAX).min(most);
    let height = lines.saturating_add(below).saturating_add(2);
    let place = pane::centred(frame, area, columns, height);
    let selected = open.list.selected.min(count.saturating_sub(1));
    let at = if count == 0 { String::new() } else { format!("{}/{count}", selected + 1) };
    let keys = &app.ui.settings.keys;
    let title = format!("{} ─ {}", kind.title, kind.hint(keys));
    let inside = pane::counted(frame, place, &title, &at, true);
    let parts = if below > 0 {
        [Constraint::Length(lines), Constraint::Fill(1)]
    } else {
        [Constraint::Fill(1), Constraint::Length(0)]
    };
    let [inside, offer] = Layout::vertical(parts).areas(inside);
    let width = usize::from(inside.width);
    let room = usize::from(inside.height.checked_div(kind.lines).unwrap_or(1).max(1));
    let top = ScrollList { selected, ..open.list }.top_in(count, room);
    let rows = (top..count.min(top.saturating_add(room))).flat_map(|place| {
        let mut lines = row(app, open.of, place, width, now).unwrap_or_default();
        if let Some(head) = lines.first_mut().filter(|_| place == selected) {
            head.style = theme::SELECTED;
        }
        lines.resize(usize::from(kind.lines), Line::default());
        lines
    });
    let mut rows: Vec<Line<'_>> = rows.collect();
    if count == 0 {
        rows.push(Line::styled(format!(" {}", keys.words(kind.empty)), theme::DIM));
    }
    frame.render_widget(Paragraph::new(rows), inside);
    if below > 0 {
        choice::draw_offer(frame, offer, app, open);
    }
    (inside, u16::try_from(top).unwrap_or(u16::MAX))
}

/// Returns the lines of a row.
fn row(
    app: &App,
    of: ListOf,
    place: usize,
    width: usize,
    now: DateTime<Utc>,
) -> Option<Vec<Line<'static>>> {
    match of {
        ListOf::Choice(_) => choice::row(app, of, place, width),
        ListOf::Accounts => account_list::row(app, place, width, now),
        ListOf::Filters => filters::row(app, place, width, now),
        ListOf::Removed => removed(app, place, width, now),
        ListOf::Downloads => download(app, place, width, now),
        ListOf::Share => {
            let (name, command) = app.engine.settings.commands.share.get(place)?;
            Some(ends(&format!(" {name}"), &format!("{} ", command.program()), width))
        }
    }
}

/// Returns a line with a text at each end.
fn ends(left: &str, right: &str, width: usize) -> Vec<Line<'static>> {
    vec![Line::styled(cells::ends(left, right, width), theme::TEXT)]
}

fn removed(
    app: &App,
    place: usize,
    width: usize,
    now: DateTime<Utc>,
) -> Option<Vec<Line<'static>>> {
    let removed = recently_removed(&app.engine, now);
    let (feed, until) = removed.get(place)?;
    let mark = if app.ui.marked.feeds.contains(&feed.key) { '*' } else { ' ' };
    let title = format!("{mark}{}", feed.record.shown_title());
    let until = until.with_timezone(&app.engine.zone).format("%a %-d %b");
    let entries = usize::try_from(feed.counters.total).unwrap_or_default();
    let entries = counted_words(entries, "entry", "entries");
    Some(ends(&title, &format!("{entries} · kept until {until} "), width))
}

fn download(
    app: &App,
    place: usize,
    width: usize,
    now: DateTime<Utc>,
) -> Option<Vec<Line<'static>>> {
    let downloads = &app.engine.downloads;
    let download = downloads.list.values().rev().nth(place)?;
    let title = if download.title.is_empty() { "(no title)" } else { &download.title };
    let feed = cells::cut(&download.feed_title, width / 3);
    let mut lines = ends(&format!(" {title}"), &format!("{feed} "), width);
    let state = state_words(downloads, download, now, bytes::words);
    lines.push(Line::styled(cells::cut(&format!("   {state}"), width), theme::DIM));
    Some(lines)
}
