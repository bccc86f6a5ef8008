//! The subscriptions pane: smart lists, tags, feeds with their unread entries and the time to the next poll.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::feeds_in_words;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::model::Model;
use crate::ui::panes::attention;
use crate::ui::panes::feeds_pane;
use crate::ui::panes::feeds_pane::FeedsRow;
use crate::ui::panes::feeds_pane::SortOrder;
use crate::ui::panes::gap_rows;
use crate::ui::panes::tag_tree;
use crate::ui::panes::tag_tree::INDENT_CELLS;
use crate::ui::screen::Pane;
use crate::view::cells;
use crate::view::overlays::plan;
use crate::view::pane;
use crate::view::theme;
use crate::view::when;

/// Cells of the time to the next poll, with the mark of the reader's pace.
const WHEN_CELLS: usize = 4;

/// Draws the pane; answers with the place of its rows.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    now: DateTime<Utc>,
) -> Rect {
    let focused = model.screen.focus == Pane::Feeds;
    let title = match model.screen.feeds.order {
        SortOrder::Title => "Feeds",
        SortOrder::Unread => "Feeds ─ by unread",
        SortOrder::NextPoll => "Feeds ─ by next poll",
    };
    let inside = pane::bordered(frame, area, title, focused);
    let list = &model.screen.feeds;
    let rows = (0_usize..).zip(&list.rows).skip(list.top).take(usize::from(inside.height));
    let lines: Vec<Line<'_>> = rows
        .map(|(place, row)| {
            let (text, style) = if model.screen.appearance.plain {
                let words = feeds_in_words::row_words(model, row, now);
                (cells::fit(&words, usize::from(inside.width)), theme::TEXT)
            } else {
                row_text(model, row, usize::from(inside.width), now)
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

fn row_text(model: &Model, row: &FeedsRow, width: usize, now: DateTime<Utc>) -> (String, Style) {
    let unread = feeds_pane::unread(model, row);
    let count = if unread == 0 { String::new() } else { unread.to_string() };
    let weight = if unread > 0 { theme::UNREAD } else { theme::TEXT };
    let smart =
        |name: &str| (cells::ends(&format!(" {name}"), &format!("{count} "), width), weight);
    match row {
        FeedsRow::AllUnread => smart("● All unread"),
        FeedsRow::Today => smart("  Today"),
        FeedsRow::Starred => smart("★ Starred"),
        FeedsRow::Gaps => {
            let count = match gap_rows::count(model, now) {
                0 => String::new(),
                count => format!("{count} "),
            };
            (cells::ends(" ┄ Gaps", &count, width), theme::TEXT)
        }
        FeedsRow::Attention => {
            let count = attention::count(model, now);
            let (count, style) = if count == 0 {
                (String::new(), theme::TEXT)
            } else {
                (count.to_string(), theme::UNREAD)
            };
            (cells::ends(" ! Attention", &format!("{count} "), width), style)
        }
        FeedsRow::Search(id) => {
            let name = model.searches.get(*id).map_or("", |search| search.name.as_str());
            (cells::ends(&format!(" ⌕ {name}"), &format!("{count} "), width), weight)
        }
        FeedsRow::Tag(tag, _) => {
            let sign = if tag_tree::is_folded(model, row) { "▸" } else { "▾" };
            let indent = " ".repeat(tag_tree::depth(tag).saturating_mul(INDENT_CELLS));
            let name = tag.rsplit('/').next().unwrap_or_default();
            let left = format!(" {indent}{sign} {name}");
            (cells::ends(&left, &format!("{count} "), width), theme::HEADING)
        }
        FeedsRow::Feed(key, below) => {
            let Some(feed) = model.feeds.get(key) else { return (String::new(), theme::TEXT) };
            let indent = " ".repeat(below.saturating_mul(INDENT_CELLS));
            let left = format!(" {indent}{}", feed.record.shown_title());
            let style = if feed.is_gone() { theme::DIM } else { weight };
            (cells::ends(&left, &format!("{count} {}", right_end(model, feed, now)), width), style)
        }
    }
}

/// Trouble, time to the next poll, the reader's pace: always of one width, so that columns align.
fn right_end(model: &Model, feed: &Subscription, now: DateTime<Utc>) -> String {
    let pace = cells::fit(plan::pace_sign(feed), 1);
    let trouble = attention::mark(model, feed, now);
    let next = if model.busy.contains_key(&feed.key) {
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
