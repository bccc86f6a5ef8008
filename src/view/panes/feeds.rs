//! The subscriptions pane: smart lists, tags, feeds with their unread entries and the time to the next poll.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::feeds_in_words;
use crate::engine::backfill::gap_rows;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::trouble;
use crate::ui::app::App;
use crate::ui::panes::tag_tree::{self, INDENT_CELLS};
use crate::ui::panes::{feeds_pane, list_query, tag_folds};
use crate::ui::state::feeds_pane::{FeedsRow, SortOrder};
use crate::ui::state::layout::Pane;
use crate::view::overlays::plan;
use crate::view::{cells, pane, theme, when};

/// Cells of the time to the next poll, with the mark of the reader's pace.
const WHEN_CELLS: usize = 4;

/// Draws the pane; answers with the place of its rows.
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
    let rows = (0_usize..).zip(&list.rows).skip(list.top).take(usize::from(inside.height));
    let lines: Vec<Line<'_>> = rows
        .map(|(place, row)| {
            let (text, style) = if app.ui.appearance.plain {
                let words = feeds_in_words::row_words(app, row, now);
                (cells::fit(&words, usize::from(inside.width)), theme::TEXT)
            } else {
                row_text(app, row, usize::from(inside.width), now)
            };
            let marked = match (place == list.selected, focused) {
                (true, true) => style.patch(theme::SELECTED),
                (true, false) => style.patch(theme::SELECTED_ELSEWHERE),
                (false, _) => style,
            };
            Line::styled(text, marked)
        })
        .collect();
    pane::put(frame, &lines, inside);
    inside
}

fn row_text(app: &App, row: &FeedsRow, width: usize, now: DateTime<Utc>) -> (String, Style) {
    let unread = feeds_pane::count_unread(app, row);
    let count = if unread == 0 { String::new() } else { unread.to_string() };
    let weight = if unread > 0 { theme::UNREAD } else { theme::TEXT };
    let smart =
        |name: &str| (cells::ends(&format!(" {name}"), &format!("{count} "), width), weight);
    match row {
        FeedsRow::AllUnread => smart("● All unread"),
        FeedsRow::Today => smart("  Today"),
        FeedsRow::Starred => smart("★ Starred"),
        FeedsRow::Gaps => {
            let count = match gap_rows::count(&app.engine, now) {
                0 => String::new(),
                count => format!("{count} "),
            };
            (cells::ends(" ┄ Gaps", &count, width), theme::TEXT)
        }
        FeedsRow::Attention => {
            let count = trouble::count(&app.engine, now);
            let (count, style) = if count == 0 {
                (String::new(), theme::TEXT)
            } else {
                (count.to_string(), theme::UNREAD)
            };
            (cells::ends(" ! Attention", &format!("{count} "), width), style)
        }
        FeedsRow::Search(id) => {
            let name = list_query::find_search(app, *id).map_or("", |search| search.name.as_str());
            (cells::ends(&format!(" ⌕ {name}"), &format!("{count} "), width), weight)
        }
        FeedsRow::Tag(tag, _) => {
            let sign = if tag_folds::is_folded(app, row) { "▸" } else { "▾" };
            let indent = " ".repeat(tag_tree::depth(tag).saturating_mul(INDENT_CELLS));
            let name = tag.rsplit('/').next().unwrap_or_default();
            let left = format!(" {indent}{sign} {name}");
            (cells::ends(&left, &format!("{count} "), width), theme::HEADING)
        }
        FeedsRow::Feed(key, below) => {
            let Some(feed) = app.engine.feeds.get(key) else { return (String::new(), theme::TEXT) };
            let indent = " ".repeat(below.saturating_mul(INDENT_CELLS));
            let left = format!(" {indent}{}", feed.record.shown_title());
            let style = if feed.is_gone() { theme::DIM } else { weight };
            (cells::ends(&left, &format!("{count} {}", right_end(app, feed, now)), width), style)
        }
    }
}

/// Trouble, time to the next poll, the reader's pace: always of one width, so that columns align.
fn right_end(app: &App, feed: &Subscription, now: DateTime<Utc>) -> String {
    let pace = cells::fit(plan::pace_sign(feed), 1);
    let trouble = trouble::mark(&app.engine, feed, now);
    let next = if app.engine.polls.contains_key(&feed.key) {
        "⟳".to_owned()
    } else {
        let due = feed.plan.next_poll;
        due.map_or_else(
            || "–".into(),
            |at| when::span_words(at.signed_duration_since(now).num_seconds()),
        )
    };
    let pad = " ".repeat(WHEN_CELLS.saturating_sub(cells::width(&next)));
    format!("{trouble}{pad}{next}{pace}")
}
