//! The entries pane: its title, its rows under day headings, gaps, and what an empty list says.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::entry_row::{self, RowColumns};
use crate::engine::backfill::gap_rows;
use crate::engine::entries::rows::{RowKey, Show};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::state::Engine;
use crate::ui::app::App;
use crate::ui::panes::{browsing, list_query};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::search::Search;
use crate::view::{cells, pane, theme};
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{FeedKey, GapKey, GapLines, HistoryStatus};
use backissue_core::words;

/// Number of cells around a title in the border.
const MARGINS: usize = 2;

/// Draws the entries pane. Returns the area of its rows.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) -> Rect {
    let focused = app.ui.focus == Pane::Entries;
    let list = &app.ui.list;
    let room = usize::from(area.width).saturating_sub(4);
    let place = if list.total == 0 { String::new() } else { place(app, room) };
    let inside = pane::counted(frame, area, &title(app, room), &place, focused);
    if list.total == 0 {
        let text = if list.fresh { String::new() } else { nothing(app, now) };
        frame.render_widget(
            Paragraph::new(text).style(theme::DIM).wrap(ratatui::widgets::Wrap { trim: true }),
            inside,
        );
        return inside;
    }
    let shape = app.ui.row_shape();
    let width = usize::from(inside.width);
    let columns = RowColumns::new(app, width, usize::from(inside.height), now);
    let mut lines = Vec::new();
    let mut day = None;
    let mut place = list.top;
    while lines.len() < usize::from(inside.height) && place < list.total {
        let Some(row) = list.row(place) else { break };
        let this = day_of(row.listed, app.engine.zone);
        if day != Some(this) && shape.has_headings {
            lines.push(Line::styled(words::day(row.listed, now, app.engine.zone), theme::DIM));
            day = Some(this);
        }
        let drawn = match row.key {
            RowKey::Entry(key) => entry_row::row_lines(app, row, key.feed, columns, now),
            RowKey::Gap(feed, gap) => gap_lines(app, feed, gap, now, width),
        };
        let marked = |line: Line<'static>| match (place == list.selected, focused) {
            (true, true) => line.patch_style(theme::SELECTED),
            (true, false) => theme::selected_elsewhere(line),
            (false, _) => line,
        };
        lines.extend(drawn.into_iter().map(marked));
        place = place.saturating_add(1);
    }
    pane::put(frame, &lines, inside);
    inside
}

/// Returns the feed of the selected entry if the list is too narrow for a column with feed names. Returns `None` otherwise.
fn unlisted_name(app: &App, width: usize) -> Option<&str> {
    let is_listed = app.ui.is_list_of_one_feed() || entry_row::has_names(app, width);
    let feed = app.ui.list.selected_row().and_then(|row| match row.key {
        RowKey::Entry(key) => app.engine.feeds.get(&key.feed),
        RowKey::Gap(..) => None,
    });
    let feed = feed.filter(|_| !is_listed && !app.ui.appearance.plain);
    feed.map(|feed| feed.record.shown_title())
}

/// Formats the position in the list for the border, as far as there is room: the feed of the selected entry if the list does not
/// show feed names, the month in a list longer than the screen, the progress if a feed is read from the beginning, and the row
/// number.
fn place(app: &App, room: usize) -> String {
    let list = &app.ui.list;
    let long = list.total > usize::from(app.ui.viewport.entries_rows);
    let month = list
        .selected_row()
        .filter(|_| long)
        .map(|row| row.listed.with_timezone(&app.engine.zone).format("%b %Y").to_string());
    let place = format!("{}/{}", list.selected.saturating_add(1), list.total);
    let name = unlisted_name(app, room.saturating_add(2)).map(str::to_owned);
    let read = browsing::describe_progress(app);
    let wholes = [
        vec![name.clone(), month, read, Some(place.clone())],
        vec![name.clone(), Some(place.clone())],
        vec![name],
    ];
    let joined = |parts: &Vec<Option<String>>| {
        parts.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" · ")
    };
    let fits = |text: &String| !text.is_empty() && cells::width(text) <= room;
    wholes.iter().map(joined).find(fits).unwrap_or(place)
}

/// Draws the mark on the right border that shows which part of a long list is visible.
pub(in crate::view) fn draw_mark(frame: &mut Frame<'_>, area: Rect, app: &App) {
    pane::position_mark(frame, area, app.ui.list.selected, app.ui.list.total);
}

/// Returns the title in the border of the pane, for the given width in cells.
fn title(app: &App, room: usize) -> String {
    if let Some(search) = &app.ui.search {
        return search_title(app, search);
    }
    let shown = shown_words(app.ui.show);
    let name = match app.ui.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread) => return "All unread".to_owned(),
        Some(FeedsRow::Today) => "Today".to_owned(),
        Some(FeedsRow::Starred) => return "Starred".to_owned(),
        Some(FeedsRow::Gaps) => return "Gaps".to_owned(),
        Some(FeedsRow::Attention) => return "Attention".to_owned(),
        Some(FeedsRow::Search(id)) => list_query::find_search(app, *id)
            .map(|search| format!("{} ─ {}", search.name, search.text))
            .unwrap_or_default(),
        Some(FeedsRow::Tag(tag, _)) => tag.clone(),
        Some(FeedsRow::Feed(key, _)) => {
            let feed = app.engine.feeds.get(key);
            return feed.map(|feed| feed_title(app, feed, shown, room)).unwrap_or_default();
        }
    };
    format!("{name}{shown}")
}

/// Returns the title of a feed's list: its name, and after it, as far as there is room, which entries are shown, the state of its
/// history and its problem, which the bottom line shows too.
fn feed_title(app: &App, feed: &Subscription, shown: &str, room: usize) -> String {
    let said = |part: Option<String>| part.map(|part| format!(" ─ {part}")).unwrap_or_default();
    let mut title = feed.record.shown_title().to_owned();
    // Most feeds offer no history, so this is not worth a title.
    let offered = feed.history.status() != HistoryStatus::NotOffered;
    let history = |text: fn(&Engine, &Subscription) -> Option<String>| {
        said(text(&app.engine, feed).filter(|_| offered))
    };
    let (whole, brief) = (history(gap_rows::standing), history(gap_rows::brief_standing));
    let trouble = said(feed.state.trouble.clone());
    let fits = |title: &str, part: &str| {
        cells::width(title).saturating_add(cells::width(part)).saturating_add(MARGINS) <= room
    };
    for choices in [[shown, shown], [&whole, &brief], [&trouble, &trouble]] {
        if let Some(part) = choices.into_iter().find(|part| fits(&title, part)) {
            title.push_str(part);
        }
    }
    title
}

/// Describes which entries a list shows: all, unread or starred ones.
const fn shown_words(show: Show) -> &'static str {
    match show {
        Show::All => "",
        Show::Unread => " ─ unread only",
        Show::Starred => " ─ starred only",
        Show::Hidden => " ─ hidden by filters",
    }
}

/// Returns the text to show instead of an empty list.
fn nothing(app: &App, now: DateTime<Utc>) -> String {
    if let Some(search) = &app.ui.search {
        return nothing_found(app, search);
    }
    if let Some(FeedsRow::Feed(key, _)) = app.ui.feeds.selected_row()
        && let Some(feed) = app.engine.feeds.get(key)
        && feed.counters.total == 0
        && let Some(why) = &feed.state.trouble
    {
        let next = feed.plan.next_poll.map(|at| format!(" Next try {}.", words::coming(at, now)));
        return format!(
            "The feed could not be read yet: {why}.{} {}",
            next.unwrap_or_default(),
            app.ui.words("{poll} tries now.")
        );
    }
    app.ui.words(match (app.ui.feeds.selected_row(), app.ui.show) {
        (None | Some(FeedsRow::AllUnread), _) => "Everything is read.",
        (Some(FeedsRow::Starred), _) => "Nothing is starred: {star} stars an entry.",
        (Some(FeedsRow::Today), _) => "Nothing new today.",
        (Some(FeedsRow::Gaps), _) => "Nothing is missing: all requested archives are here.",
        (Some(FeedsRow::Attention), _) => "Nothing needs attention.",
        (Some(FeedsRow::Search(_)), _) => "No entries match this search.",
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::All) => "No entries yet.",
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::Unread) => {
            "Everything here is read: press {show} until the list shows all entries."
        }
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::Starred) => {
            "Nothing is starred here: press {show} until the list shows all entries."
        }
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::Hidden) => {
            "No filter hides anything here: {show} shows all entries."
        }
    })
}

/// Returns the title for the results of a search.
fn search_title(app: &App, search: &Search) -> String {
    let behind = match app.ui.unindexed {
        0 => String::new(),
        missing => format!(" ─ {} not indexed yet", counted_words(missing, "entry", "entries")),
    };
    let in_part = if search.is_answered_in_part() { " ─ {open} reads all texts" } else { "" };
    let in_part = app.ui.words(in_part);
    match &search.flaw {
        _ if search.matching.is_none() => "Search all entries".to_owned(),
        Some(_) => "Search".to_owned(),
        None => format!("Search: {}{in_part}{behind}", search.text.trim()),
    }
}

/// Returns the text to show if a search has no results.
fn nothing_found(app: &App, search: &Search) -> String {
    match (&search.flaw, app.ui.unindexed) {
        (Some(flaw), _) => flaw.clone(),
        (None, _) if search.is_answered_in_part() => {
            app.ui.words("Nothing found in the newest entries. {open} reads all texts.")
        }
        (None, 0) => "Nothing found. All words must match; word* matches longer words; -word, \"a phrase\", feed: tag: title: author: is: after: before: narrow the search."
            .to_owned(),
        (None, 1) => "Nothing found yet: 1 entry is not indexed yet.".to_owned(),
        (None, missing) => format!("Nothing found yet: {missing} entries are not indexed yet."),
    }
}

/// Returns the lines that describe a gap. In a list of several feeds, the first line names the feed.
fn gap_lines(
    app: &App,
    feed: FeedKey,
    gap: GapKey,
    now: DateTime<Utc>,
    width: usize,
) -> Vec<Line<'static>> {
    let said = gap_rows::shown(&app.engine, feed, gap, now)
        .map_or_else(GapLines::being_fetched, |gap| GapLines::new(&gap, now, app.engine.zone));
    let one_feed = app.ui.is_list_of_one_feed();
    let named = app.engine.feeds.get(&feed).filter(|_| !one_feed);
    let of = named.map(|feed| format!(": {}", feed.record.shown_title())).unwrap_or_default();
    let head = cells::cut(&format!("┄┄ {}{of} ", said.what), width);
    let rule = "┄".repeat(width.saturating_sub(cells::width(&head)));
    let enter = if said.enter.is_empty() {
        String::new()
    } else {
        format!(" · {} {}", enter_sign(app), said.enter)
    };
    let next = format!("   {}{enter}", said.next);
    // The other keys that work on the gap are listed only if there is room. The reader pane always lists them.
    let elsewhere = if said.has_address {
        app.ui.words(" · {open-in-browser} browser · {open-copies} Internet Archive")
    } else {
        String::new()
    };
    let fits = cells::width(&next).saturating_add(cells::width(&elsewhere)) <= width;
    let next = if fits { format!("{next}{elsewhere}") } else { next };
    vec![
        Line::styled(format!("{head}{rule}"), theme::GAP),
        Line::styled(cells::fit(&format!("   {}", said.why), width), theme::TEXT),
        Line::styled(cells::fit(&next, width), theme::DIM),
    ]
}

/// Returns the key that opens: the symbol of the Enter key or, on the plain screen and for another key, its name.
pub(in crate::view) fn enter_sign(app: &App) -> String {
    match app.ui.words("{open}").as_str() {
        "Enter" if !app.ui.appearance.plain => "⏎".to_owned(),
        key if app.ui.appearance.plain => format!("{key}:"),
        key => key.to_owned(),
    }
}
