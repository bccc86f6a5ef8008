//! The subscriptions pane: smart lists, tags, and feeds with their marks and unread counts; in words for the plain screen.

use backissue_core::schedule::Pace;
use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::entry_row::MARKED_SIGN;
use crate::engine::backfill::history_requests;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::trouble;
use crate::ui::app::App;
use crate::ui::panes::feeds_pane::{self, INDENT_CELLS};
use crate::ui::panes::load_rows;
use crate::ui::settings::CountStyle;
use crate::ui::state::feeds_pane::{FeedsRow, SortOrder};
use crate::ui::state::layout::Pane;
use crate::view::overlays::plan;
use crate::view::{cells, pane, theme};

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
    let rows = (0_usize..).zip(&list.rows).skip(list.top).take(usize::from(inside.height));
    let lines: Vec<Line<'_>> = rows
        .map(|(place, row)| {
            let line = if app.ui.appearance.plain {
                let words = row_words(app, row, width, now);
                Line::styled(cells::fit(&words, width), theme::TEXT)
            } else {
                row_line(app, row, width, now)
            };
            match (place == list.selected, focused) {
                (true, true) => line.patch_style(theme::SELECTED),
                (true, false) => theme::selected_elsewhere(line),
                (false, _) => line,
            }
        })
        .collect();
    pane::put(frame, &lines, inside);
    inside
}

fn row_line(app: &App, row: &FeedsRow, width: usize, now: DateTime<Utc>) -> Line<'static> {
    let unread = feeds_pane::count_unread(app, row);
    let weight = if unread > 0 { theme::UNREAD } else { theme::TEXT };
    let (sign, name, count, style) = match row {
        FeedsRow::AllUnread => ("●", "All unread", unread, weight),
        FeedsRow::Today => (" ", "Today", unread, weight),
        FeedsRow::Starred => ("★", "Starred", unread, weight),
        FeedsRow::Reading => ("◷", "Today's reading", unread, weight),
        FeedsRow::Ended => ("○", "Ended this week", app.engine.ended_this_week, theme::TEXT),
        FeedsRow::Gaps => ("┄", "Gaps", history_requests::count(&app.engine, now), theme::TEXT),
        FeedsRow::Attention => match trouble::count(&app.engine, now) {
            0 => ("!", "Attention", 0, theme::TEXT),
            count => ("!", "Attention", count, theme::UNREAD),
        },
        FeedsRow::Search(id) => {
            let name = load_rows::find_search(app, *id).map_or("", |search| search.name.as_str());
            ("⌕", name, unread, weight)
        }
        FeedsRow::Tag(tag, feeds) => {
            let is_marked = feeds.iter().all(|feed| app.ui.marked.feeds.contains(feed));
            let mark = if is_marked { MARKED_SIGN } else { " " };
            let sign = if feeds_pane::is_folded(app, row) { "▸" } else { "▾" };
            let indent = " ".repeat(feeds_pane::depth(tag).saturating_mul(INDENT_CELLS));
            let name = tag.rsplit('/').next().unwrap_or_default();
            let left = format!("{mark}{indent}{sign} {name}");
            return counted_line(&left, &count_text(app, unread), width, theme::HEADING);
        }
        FeedsRow::Feed(key, below) => {
            let Some(feed) = app.engine.feeds.get(key) else { return Line::default() };
            let indent = " ".repeat(feeds_pane::name_column(*below));
            return feed_line(app, feed, &indent, width, now);
        }
    };
    counted_line(&format!(" {sign} {name}"), &count_text(app, count), width, style)
}

/// Formats a number of entries according to the settings. Returns an empty text for 0.
fn count_text(app: &App, count: u32) -> String {
    match (count, app.ui.settings.counts) {
        (0, _) | (_, CountStyle::None) => String::new(),
        (_, CountStyle::Number) => count.to_string(),
        (_, CountStyle::Dot) => "•".to_owned(),
    }
}

/// Returns a line with a name on the left, and a count at the right edge unless the count is 0.
fn counted_line(left: &str, count: &str, width: usize, style: Style) -> Line<'static> {
    Line::styled(cells::ends(left, &format!("{count} "), width), style)
}

/// Returns the line of a feed: a mark for a problem or a gap in the left margin, its name, its pace, and its unread count.
fn feed_line(
    app: &App,
    feed: &Subscription,
    indent: &str,
    width: usize,
    now: DateTime<Utc>,
) -> Line<'static> {
    let unread = feed.counters.unread;
    let style = match (feed.is_gone(), unread) {
        (true, _) => theme::DIM,
        (false, 0) => theme::TEXT,
        (false, _) => theme::UNREAD,
    };
    let (mark, mark_style) = margin_mark(app, feed, now);
    let indent = indent.get(1..).unwrap_or_default();
    let left = format!("{indent}{}", feed.record.shown_title());
    let pace = plan::pace_sign(feed).trim();
    let pace = if pace.is_empty() { String::new() } else { format!(" {pace}") };
    let count = count_text(app, unread);
    let count = if count.is_empty() { count } else { format!(" {count}") };
    // Width of the margin, and of the space after the count.
    let fixed = cells::width(&count).saturating_add(2).saturating_add(cells::width(&pace));
    Line::from(vec![
        Span::styled(cells::fit(mark, 1), mark_style),
        Span::styled(cells::fit(&left, width.saturating_sub(fixed)), style),
        Span::styled(pace, theme::KEY),
        Span::styled(format!("{count} "), style),
    ])
}

/// Returns the mark in the left margin of a feed. It shows whether the user marked the feed, whether the feed is being polled,
/// its problem, or its gaps.
fn margin_mark(app: &App, feed: &Subscription, now: DateTime<Utc>) -> (&'static str, Style) {
    if app.ui.marked.feeds.contains(&feed.key) {
        return (MARKED_SIGN, theme::KEY);
    }
    if app.engine.polls.contains_key(&feed.key) {
        return ("⟳", theme::DIM);
    }
    let mark = trouble::mark(&app.engine, feed, now);
    let style = match mark {
        "┄" | "…" => theme::GAP,
        "" | " " => theme::TEXT,
        _ => theme::TROUBLE,
    };
    (mark, style)
}

/// Describes a row of the subscriptions pane in words: its name, its contents, and its problems. A long name is cut, so that the
/// description fits into a row of the given width in cells.
pub(in crate::view) fn row_words(
    app: &App,
    row: &FeedsRow,
    width: usize,
    now: DateTime<Utc>,
) -> String {
    let name = width / 2;
    let unread = match feeds_pane::count_unread(app, row) {
        0 => None,
        unread => Some(format!("{unread} unread")),
    };
    let counted = |name: &str, count: u32| match count {
        0 => vec![Some(name.to_owned())],
        count => vec![Some(name.to_owned()), Some(count.to_string())],
    };
    let parts = match row {
        FeedsRow::AllUnread => counted("All unread", feeds_pane::count_unread(app, row)),
        FeedsRow::Today => vec![Some("Today".to_owned()), unread],
        FeedsRow::Starred => counted("Starred", feeds_pane::count_unread(app, row)),
        FeedsRow::Reading => vec![Some("Today's reading".to_owned()), unread],
        FeedsRow::Ended => counted("Ended this week", app.engine.ended_this_week),
        FeedsRow::Gaps => counted("Gaps", history_requests::count(&app.engine, now)),
        FeedsRow::Attention => counted("Attention", trouble::count(&app.engine, now)),
        FeedsRow::Search(id) => {
            let name = load_rows::find_search(app, *id).map_or("", |search| search.name.as_str());
            vec![Some(format!("Search {name}")), unread]
        }
        FeedsRow::Tag(tag, _) => {
            let folded = feeds_pane::is_folded(app, row).then(|| "folded".to_owned());
            vec![Some(format!("Tag {tag}")), folded, unread]
        }
        FeedsRow::Feed(key, _) => {
            let Some(feed) = app.engine.feeds.get(key) else { return String::new() };
            let is_polled = app.engine.polls.contains_key(key);
            vec![
                app.ui.marked.feeds.contains(key).then(|| "marked".to_owned()),
                Some(cells::cut(feed.record.shown_title(), name)),
                unread,
                trouble_words(app, feed, now).map(str::to_owned),
                is_polled.then(|| "being polled".to_owned()),
                pace_words(feed).map(str::to_owned),
            ]
        }
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn trouble_words(app: &App, feed: &Subscription, now: DateTime<Utc>) -> Option<&'static str> {
    match trouble::mark(&app.engine, feed, now) {
        "†" => Some("ended"),
        "!" => Some("needs attention"),
        "→" => Some("moved"),
        "·" => Some("failed"),
        "┄" => Some("entries missing"),
        "…" => Some("paged"),
        _ => None,
    }
}

const fn pace_words(feed: &Subscription) -> Option<&'static str> {
    match feed.record.feed_settings.pace {
        Some(Pace::More) => Some("more often"),
        Some(Pace::Less) => Some("less often"),
        Some(Pace::Normal) | None => None,
    }
}
