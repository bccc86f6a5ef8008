//! The subscriptions pane: smart lists, tags, and feeds with their unread counts and the time until the next poll.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::entries::MARKED_SIGN;
use super::feeds_in_words;
use crate::engine::backfill::gap_rows;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::trouble;
use crate::ui::app::App;
use crate::ui::panes::tag_tree::{self, INDENT_CELLS};
use crate::ui::panes::{feeds_pane, list_query, tag_folds};
use crate::ui::state::feeds_pane::{FeedsRow, SortOrder};
use crate::ui::state::layout::{Arrangement, Pane};
use crate::view::overlays::plan;
use crate::view::{cells, pane, theme, when};

/// Width of the column with the time until the next poll, in cells.
const WHEN_CELLS: usize = 4;
/// Minimum width of the column with the unread counts, in cells.
const COUNT_CELLS_MIN: usize = 2;
/// Width of the marks that show the problem and the pace of a feed, in cells.
const MARK_CELLS: usize = 2;
/// Minimum width of the pane, in columns.
const COLUMNS_MIN: usize = 24;
/// Maximum width of the pane as a percentage of the screen width. Up to this width, the pane can make the reader narrower than the
/// full text width. The first value is for three panes side by side, the second for fewer panes.
const SHARE: (usize, usize) = (37, 38);
/// Maximum width as in [`SHARE`], for a pane that also shows the time until the next poll of each feed.
const SHARE_WITH_TIME: (usize, usize) = (30, 34);
/// Minimum width of the entries and the reader together if there are three panes side by side, in columns.
const OTHERS_COLUMNS: usize = 88;
/// Preferred width of the entries pane beside a reader with the full text width, in columns.
const ENTRIES_COLUMNS: usize = 46;
/// Number of columns around the text in the reader pane: borders and margins.
const TEXT_EDGES: usize = 4;

/// Returns the width of the subscriptions pane beside other panes: as wide as the feed names need, as far as the screen allows.
pub(in crate::view) fn columns(app: &App, screen: u16) -> u16 {
    let width = usize::from(screen);
    let percent = |share: usize| width.saturating_mul(share) / 100;
    let columns = if let Some(own) = app.ui.settings.feeds_width {
        usize::from(own).min(width / 2)
    } else {
        let names = app.ui.feeds.name_cells.saturating_add(2);
        let counts = count_cells(app);
        let least = names.saturating_add(fixed_cells(counts, false));
        let roomy = names.saturating_add(fixed_cells(counts, true));
        let (most, with_time) = match app.ui.usual_arrangement() {
            // As long as the reader keeps the full text width, the pane is as wide as the names need. Beyond this, it is limited to
            // the percentage in [`SHARE`].
            Arrangement::Wide => {
                let text = usize::from(app.ui.settings.text_width).saturating_add(TEXT_EDGES);
                let spare = width.saturating_sub(text).saturating_sub(ENTRIES_COLUMNS);
                let beside = |columns: usize| width.saturating_sub(columns);
                let most = percent(SHARE.0).min(beside(OTHERS_COLUMNS));
                let with_time = percent(SHARE_WITH_TIME.0).min(beside(OTHERS_COLUMNS));
                (spare.max(most), spare.max(with_time))
            }
            Arrangement::Medium | Arrangement::Stacked | Arrangement::Narrow => {
                (percent(SHARE.1), percent(SHARE_WITH_TIME.1))
            }
        };
        if roomy <= with_time { roomy } else { least.min(most) }
    };
    u16::try_from(columns.max(COLUMNS_MIN)).unwrap_or(u16::MAX)
}

/// Returns the width of everything to the right of a feed's name. `counts` is the width of the column with the unread counts.
fn fixed_cells(counts: usize, with_time: bool) -> usize {
    let time = if with_time { WHEN_CELLS.saturating_add(1) } else { 0 };
    MARK_CELLS.saturating_add(counts).saturating_add(time).saturating_add(3)
}

/// The width that is available for a row of the pane.
#[derive(Debug, Clone, Copy)]
struct RowRoom {
    /// Width of the row, in cells.
    width: usize,
    /// Width of the column with the unread counts, in cells.
    counts: usize,
}

/// Returns the width of the column with the unread counts. This function adds up the counts of all feeds, so it is called once per
/// frame instead of once per row.
fn count_cells(app: &App) -> usize {
    app.engine.unread().max(app.engine.starred()).to_string().len().max(COUNT_CELLS_MIN)
}

/// Draws the subscriptions pane. Returns the area of its rows.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) -> Rect {
    let focused = app.ui.focus == Pane::Feeds;
    let title = match app.ui.feeds.order {
        SortOrder::Title => "Feeds",
        SortOrder::Unread => "Feeds ─ by unread",
        SortOrder::NextPoll => "Feeds ─ by next poll",
    };
    let inside = pane::bordered(frame, area, title, focused);
    let list = &app.ui.feeds;
    let width = usize::from(inside.width);
    let room = RowRoom { width, counts: count_cells(app) };
    let rows = (0_usize..).zip(&list.rows).skip(list.top).take(usize::from(inside.height));
    let lines: Vec<Line<'_>> = rows
        .map(|(place, row)| {
            let line = if app.ui.appearance.plain {
                let words = feeds_in_words::row_words(app, row, now);
                Line::styled(cells::fit(&words, width), theme::TEXT)
            } else {
                row_line(app, row, room, now)
            };
            match (place == list.selected, focused) {
                (true, true) => line.patch_style(theme::SELECTED),
                (true, false) => line.patch_style(theme::SELECTED_ELSEWHERE),
                (false, _) => line,
            }
        })
        .collect();
    pane::put(frame, &lines, inside);
    inside
}

fn row_line(app: &App, row: &FeedsRow, room: RowRoom, now: DateTime<Utc>) -> Line<'static> {
    let unread = feeds_pane::count_unread(app, row);
    let weight = if unread > 0 { theme::UNREAD } else { theme::TEXT };
    let (sign, name, count, style) = match row {
        FeedsRow::AllUnread => ("●", "All unread", unread, weight),
        FeedsRow::Today => (" ", "Today", unread, weight),
        FeedsRow::Starred => ("★", "Starred", unread, weight),
        FeedsRow::Gaps => ("┄", "Gaps", gap_rows::count(&app.engine, now), theme::TEXT),
        FeedsRow::Attention => match trouble::count(&app.engine, now) {
            0 => ("!", "Attention", 0, theme::TEXT),
            count => ("!", "Attention", count, theme::UNREAD),
        },
        FeedsRow::Search(id) => {
            let name = list_query::find_search(app, *id).map_or("", |search| search.name.as_str());
            ("⌕", name, unread, weight)
        }
        FeedsRow::Tag(tag, _) => {
            let sign = if tag_folds::is_folded(app, row) { "▸" } else { "▾" };
            let indent = " ".repeat(tag_tree::depth(tag).saturating_mul(INDENT_CELLS));
            let name = tag.rsplit('/').next().unwrap_or_default();
            let left = format!(" {indent}{sign} {name}");
            return counted_line(&left, unread, room.width, theme::HEADING);
        }
        FeedsRow::Feed(key, below) => {
            let Some(feed) = app.engine.feeds.get(key) else { return Line::default() };
            let indent = " ".repeat(feeds_pane::name_column(*below));
            return feed_line(app, feed, &indent, room, now);
        }
    };
    counted_line(&format!(" {sign} {name}"), count, room.width, style)
}

/// Returns a line with a name on the left, and a count at the right edge unless the count is 0.
fn counted_line(left: &str, count: u32, width: usize, style: Style) -> Line<'static> {
    let count = if count == 0 { String::new() } else { format!("{count} ") };
    Line::styled(cells::ends(left, &count, width), style)
}

/// Returns the line of a feed: its name, a mark for problems, its pace, the time until the next poll if there is room, and its
/// unread count.
fn feed_line(
    app: &App,
    feed: &Subscription,
    indent: &str,
    RowRoom { width, counts }: RowRoom,
    now: DateTime<Utc>,
) -> Line<'static> {
    let unread = feed.counters.unread;
    let style = match (feed.is_gone(), unread) {
        (true, _) => theme::DIM,
        (false, 0) => theme::TEXT,
        (false, _) => theme::UNREAD,
    };
    let marked = app.ui.marked.feeds.contains(&feed.key);
    let indent = if marked { indent.replacen(' ', MARKED_SIGN, 1) } else { indent.to_owned() };
    let left = format!("{indent}{}", feed.record.shown_title());
    let mark = trouble::mark(&app.engine, feed, now);
    let mark_style = if matches!(mark, "┄" | "…") { theme::GAP } else { theme::TROUBLE };
    let fixed = fixed_cells(counts, false);
    let has_time = cells::width(&left).saturating_add(fixed_cells(counts, true)) <= width;
    let time = if has_time {
        let next = next_poll(app, feed, now);
        let pad = " ".repeat(WHEN_CELLS.saturating_sub(cells::width(&next)));
        format!(" {pad}{next}")
    } else {
        String::new()
    };
    let room = width.saturating_sub(fixed).saturating_sub(cells::width(&time));
    let count = if unread == 0 { String::new() } else { unread.to_string() };
    let pad = " ".repeat(counts.saturating_sub(count.len()));
    Line::from(vec![
        Span::styled(format!("{} ", cells::fit(&left, room)), style),
        Span::styled(cells::fit(mark, 1), mark_style),
        Span::styled(cells::fit(plan::pace_sign(feed), 1), theme::KEY),
        Span::styled(time, theme::DIM),
        Span::styled(format!(" {pad}{count} "), style),
    ])
}

/// Formats the time until the next poll of a feed. While the feed is being polled, a symbol is shown instead.
fn next_poll(app: &App, feed: &Subscription, now: DateTime<Utc>) -> String {
    if app.engine.polls.contains_key(&feed.key) {
        return "⟳".to_owned();
    }
    let due = feed.plan.next_poll;
    due.map_or_else(
        || "–".into(),
        |at| when::span_words(at.signed_duration_since(now).num_seconds()),
    )
}
