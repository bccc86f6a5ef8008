//! The entries pane: rows under day headings, with unread entries in bold and stars marked.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::engine::backfill::gap_rows;
use crate::engine::entries::entry_filters;
use crate::engine::entries::rows::{Row, RowKey, RowOrder, Show};
use crate::ui::app::App;
use crate::ui::panes::{browsing, list_query};
use crate::ui::settings::EntryColumn;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::search::Search;
use crate::view::{cells, pane, theme, when};
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{FeedKey, GapKey, GapLines};

/// Maximum width of the column with the feed names in a list of several feeds, in cells.
const NAME_CELLS_MAX: usize = 28;

/// Minimum width of the list in cells, so that a list of several feeds shows the feed names.
const ROOMY_CELLS: usize = 56;

/// Symbol of feeds and entries that the user marked so that one action applies to all of them.
pub(in crate::view) const MARKED_SIGN: &str = "✓";
/// Width of the mark before an entry, which shows that the entry is unread, in cells.
const MARK_CELLS: usize = 2;
/// Width of a star, in cells.
const STAR_CELLS: usize = 2;
/// Width of a time of day, in cells.
const TIME_CELLS: usize = 6;
/// Width of a date, in cells.
const DATE_CELLS: usize = 11;
/// Minimum width of the column with title and star, in cells. If the column would be narrower, the time is left out.
const TITLE_COLUMN_MIN: usize = 32;

/// Preferred width of the feed title in the border, in cells. If there is less room, the history status beside it is shortened.
const TITLE_CELLS_WANTED: usize = 24;
/// Minimum width of the feed title in the border beside the history status, in cells.
const TITLE_CELLS_MIN: usize = 4;

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
    let mut lines = Vec::new();
    let mut day = None;
    let mut place = list.top;
    while lines.len() < usize::from(inside.height) && place < list.total {
        let Some(row) = list.row(place) else { break };
        let this = day_of(row.listed, app.engine.zone);
        if day != Some(this) && list.order != RowOrder::BestFirst {
            lines.push(Line::styled(when::day(row.listed, now, app.engine.zone), theme::HEADING));
            day = Some(this);
        }
        let width = usize::from(inside.width);
        let drawn = match row.key {
            RowKey::Entry(key) => vec![row_line(app, row, key.feed, width)],
            RowKey::Gap(feed, gap) => gap_lines(app, feed, gap, now, width),
        };
        let marked = |line: Line<'static>| match (place == list.selected, focused) {
            (true, true) => line.patch_style(theme::SELECTED),
            (true, false) => line.patch_style(theme::SELECTED_ELSEWHERE),
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
    let is_listed = is_of_one_feed(app) || RowColumns::new(app, width).feed > 0;
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

/// Draws the mark on the right border that shows which part of a long list is visible. It is drawn after all panes, because
/// adjacent panes share a border.
pub(in crate::view) fn draw_mark(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let list = &app.ui.list;
    let rows = usize::from(area.height.saturating_sub(2));
    if list.total <= rows || rows == 0 {
        return;
    }
    let end = list.total.saturating_sub(1).max(1);
    let row = list.selected.saturating_mul(rows.saturating_sub(1)).checked_div(end).unwrap_or(0);
    let row = u16::try_from(row).unwrap_or(0).saturating_add(1).saturating_add(area.y);
    let column = area.right().saturating_sub(1);
    frame.buffer_mut().set_string(column, row, "┃", theme::HEADING);
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
            let trouble = feed.and_then(|feed| feed.state.trouble.clone());
            let said =
                |part: Option<String>| part.map(|part| format!(" ─ {part}")).unwrap_or_default();
            let title = feed.map_or("", |feed| feed.record.shown_title());
            let standing = said(feed.and_then(|feed| gap_rows::standing(&app.engine, feed)));
            let brief = said(feed.and_then(|feed| gap_rows::brief_standing(&app.engine, feed)));
            // The filter and the history status take precedence over the name of the feed. The problem of the feed comes last,
            // because the status line shows it too.
            let room = room.saturating_sub(cells::width(shown));
            let wanted = cells::width(title).min(TITLE_CELLS_WANTED);
            let fits = cells::width(&standing).saturating_add(wanted) <= room;
            let standing = if fits { standing } else { brief };
            let left = room.saturating_sub(cells::width(&standing)).max(TITLE_CELLS_MIN);
            return format!("{}{standing}{shown}{}", cells::cut(title, left), said(trouble));
        }
    };
    format!("{name}{shown}")
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
        let next = feed.plan.next_poll.map(|at| format!(" Next try {}.", when::relative(at, now)));
        return format!(
            "The feed could not be read yet: {why}.{} r tries now.",
            next.unwrap_or_default()
        );
    }
    match (app.ui.feeds.selected_row(), app.ui.show) {
        (None | Some(FeedsRow::AllUnread), _) => "Everything is read.",
        (Some(FeedsRow::Starred), _) => "Nothing is starred: s stars an entry.",
        (Some(FeedsRow::Today), _) => "Nothing new today.",
        (Some(FeedsRow::Gaps), _) => "Nothing is missing: all requested archives are here.",
        (Some(FeedsRow::Attention), _) => "Nothing needs attention.",
        (Some(FeedsRow::Search(_)), _) => "No entries match this search.",
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::All) => "No entries yet.",
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::Unread) => {
            "Everything here is read: press f until the list shows all entries."
        }
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::Starred) => {
            "Nothing is starred here: press f until the list shows all entries."
        }
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::Hidden) => {
            "No filter hides anything here: f shows all entries."
        }
    }
    .to_owned()
}

/// Returns the title for the results of a search.
fn search_title(app: &App, search: &Search) -> String {
    let behind = match app.ui.unindexed {
        0 => String::new(),
        missing => format!(" ─ {} not indexed yet", counted_words(missing, "entry", "entries")),
    };
    match &search.flaw {
        _ if search.matching.is_none() => "Search all entries".to_owned(),
        Some(_) => "Search".to_owned(),
        None => format!("Search: {}{behind}", search.text.trim()),
    }
}

/// Returns the text to show if a search has no results.
fn nothing_found(app: &App, search: &Search) -> String {
    match (&search.flaw, app.ui.unindexed) {
        (Some(flaw), _) => flaw.clone(),
        (None, 0) => "Nothing found. All words must match; word* matches longer words; -word, \"a phrase\", feed: tag: title: author: is: after: before: narrow the search."
            .to_owned(),
        (None, 1) => "Nothing found yet: 1 entry is not indexed yet.".to_owned(),
        (None, missing) => format!("Nothing found yet: {missing} entries are not indexed yet."),
    }
}

/// Checks whether all entries of the list belong to one feed, so that the rows need not show its name.
fn is_of_one_feed(app: &App) -> bool {
    app.ui.search.is_none() && matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Feed(..)))
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
    let one_feed = is_of_one_feed(app);
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
    let elsewhere = if said.has_address { " · o browser · W Internet Archive" } else { "" };
    let fits = cells::width(&next).saturating_add(cells::width(elsewhere)) <= width;
    let next = if fits { format!("{next}{elsewhere}") } else { next };
    vec![
        Line::styled(format!("{head}{rule}"), theme::GAP),
        Line::styled(cells::fit(&format!("   {}", said.why), width), theme::TEXT),
        Line::styled(cells::fit(&next, width), theme::DIM),
    ]
}

/// Returns the symbol of the Enter key or, on the plain screen, its name.
pub(in crate::view) const fn enter_sign(app: &App) -> &'static str {
    if app.ui.appearance.plain { "Enter:" } else { "⏎" }
}

/// Describes an entry in words for the plain screen: its marks, its title and, in a list of several feeds, its feed.
fn row_words(app: &App, row: &Row, feed: FeedKey, width: usize) -> Line<'static> {
    let title = if row.title.is_empty() { "no title" } else { &row.title };
    let feed = app.engine.feeds.get(&feed).filter(|_| !is_of_one_feed(app));
    let chosen = row.key.entry().is_some_and(|key| app.ui.marked.entries.contains(&key));
    let parts = [
        chosen.then_some("marked"),
        row.flags.is_unread().then_some("unread"),
        row.flags.is_starred().then_some("starred"),
        Some(title),
        feed.map(|feed| feed.record.shown_title()),
    ];
    let words = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Line::from(theme::with_hits(&cells::fit(&words, width), theme::TEXT, &app.ui.marks))
}

fn row_line(app: &App, row: &Row, feed: FeedKey, width: usize) -> Line<'static> {
    if app.ui.appearance.plain {
        return row_words(app, row, feed, width);
    }
    let is_unread = row.flags.is_unread();
    let style = if is_unread { theme::UNREAD } else { theme::DIM };
    let is_marked = is_unread && !app.ui.appearance.is_unread_bold();
    let mark = if is_marked { "●" } else { " " };
    let key = row.key.entry();
    let chosen = key.is_some_and(|key| app.ui.marked.entries.contains(&key));
    let mark = format!("{mark}{}", if chosen { MARKED_SIGN } else { " " });
    let columns = RowColumns::new(app, width);
    let mut spans = vec![Span::styled(mark, style)];
    for column in &app.ui.settings.columns {
        match column {
            EntryColumn::Date if columns.date > 0 => {
                let date = dated(app, row);
                spans.push(Span::styled(cells::fit(&date, columns.date), theme::DIM));
            }
            EntryColumn::Title => spans.extend(titled(app, row, columns.title, style)),
            EntryColumn::Feed if columns.feed > 0 => {
                let feed = app.engine.feeds.get(&feed);
                let name = feed.map_or("", |feed| feed.record.shown_title());
                let name = format!(" {}", cells::fit(name, columns.feed.saturating_sub(1)));
                spans.push(Span::styled(name, theme::DIM));
            }
            EntryColumn::Date | EntryColumn::Feed => {}
        }
    }
    Line::from(spans)
}

/// Returns the title of an entry with its labels, followed by a star if the entry is starred.
fn titled(app: &App, row: &Row, room: usize, style: Style) -> Vec<Span<'static>> {
    let title = if row.title.is_empty() { "(no title)" } else { &row.title };
    let labels = entry_filters::labels(&app.engine, &row.ruled).flat_map(|label| [" #", label]);
    let labels = cells::cut(&labels.collect::<String>(), room / 3);
    let star = if row.flags.is_starred() { "★" } else { " " };
    let room = room.saturating_sub(STAR_CELLS).saturating_sub(cells::width(&labels));
    let mut spans = theme::with_hits(&cells::fit(title, room), style, &app.ui.marks);
    spans.push(Span::styled(labels, theme::KEY));
    spans.push(Span::styled(format!(" {star}"), theme::STAR));
    spans
}

/// Formats the publication time of an entry: only the time of day in lists with day headings, or else the date.
fn dated(app: &App, row: &Row) -> String {
    let form = match app.ui.list.order {
        RowOrder::BestFirst => "%Y-%m-%d",
        RowOrder::NewestFirst | RowOrder::OldestFirst => "%H:%M",
    };
    row.listed.with_timezone(&app.engine.zone).format(form).to_string()
}

/// Returns the width of the column with the feed names, for a list of the given width. Returns 0 if the titles need all the room;
/// the border then shows the feed of the selected entry.
fn name_cells(width: usize) -> usize {
    let share = width.saturating_mul(3) / 10;
    if width < ROOMY_CELLS { 0 } else { share.min(NAME_CELLS_MAX).saturating_add(1) }
}

/// The widths of a row's columns in cells, each including the gap beside it. A column with a width of 0 is not shown.
struct RowColumns {
    date: usize,
    title: usize,
    feed: usize,
}

impl RowColumns {
    /// Computes the widths of the columns. The title gets the room that the other columns leave. If this is too little, the column
    /// with the times is left out, provided that the list has day headings.
    fn new(app: &App, width: usize) -> Self {
        let wanted = |column| app.ui.settings.columns.contains(&column);
        let one_feed = is_of_one_feed(app) || !wanted(EntryColumn::Feed);
        let feed = if one_feed { 0 } else { name_cells(width) };
        let rest = width.saturating_sub(MARK_CELLS).saturating_sub(feed);
        let ranked = app.ui.list.order == RowOrder::BestFirst;
        let date = if ranked { DATE_CELLS } else { TIME_CELLS };
        let fits = ranked || rest.saturating_sub(date) >= TITLE_COLUMN_MIN;
        let date = if wanted(EntryColumn::Date) && fits { date } else { 0 };
        Self { date, title: rest.saturating_sub(date), feed }
    }
}
