//! The entries pane: its title, its rows under headings, gaps, and the text that is shown instead of an empty list. The same area
//! shows the Attention list, with some lines for each feed with problems, and the welcome pane for users without subscriptions.

use backissue_core::feed::text::counted_words;
use backissue_core::history::{FeedKey, GapKey, GapLines, HistoryStatus};
use backissue_core::words;
use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::entry_row::{self, MARKED_SIGN, RowColumns};
use crate::engine::backfill::elsewhere::has_unread_pages;
use crate::engine::backfill::history_requests;
use crate::engine::entries::rows::{RowKey, Show};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::trouble::{self, Concern, Remedy};
use crate::engine::feeds::unsubscribe::recently_removed;
use crate::engine::state::Engine;
use crate::ui::app::App;
use crate::ui::panes::attention::ROW_LINES;
use crate::ui::panes::entry_list::Heading;
use crate::ui::panes::{browsing, load_rows};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::reader::Search;
use crate::view::{cells, pane, theme};

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
            Paragraph::new(text).style(theme::DIM).wrap(Wrap { trim: true }),
            inside,
        );
        return inside;
    }
    let shape = app.ui.row_shape();
    let width = usize::from(inside.width);
    let columns = RowColumns::new(app, width, usize::from(inside.height), now);
    let mut lines = Vec::new();
    let mut heading = None;
    let mut place = list.top;
    while lines.len() < usize::from(inside.height) && place < list.total {
        let Some(row) = list.row(place) else { break };
        let this = shape.heading(row, app.engine.zone);
        if let Some(heading) = this.filter(|_| this != heading) {
            let words = match heading {
                Heading::Day(_) => words::day(row.listed, now, app.engine.zone),
                Heading::Frequency(words) => words.to_owned(),
            };
            lines.push(Line::styled(words, theme::DIM));
        }
        heading = this;
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
/// show feed names, the month in a list longer than the screen, the progress if a feed is read from the beginning, how many entries
/// have no row of their own, and the row number.
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
    let sharing = (list.sharing > 0).then(|| format!("{} in shared rows", list.sharing));
    let wholes = [
        vec![name.clone(), month.clone(), read.clone(), sharing, Some(place.clone())],
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
        Some(FeedsRow::Reading) => {
            let (list, wait) = (&app.ui.list, app.engine.unread());
            let done = list.total > 0 && !list.rows.iter().any(|row| row.flags.is_unread());
            let done = done.then(|| format!(" ─ that was today's: {wait} more wait"));
            return format!("Today's reading{}", done.unwrap_or_default());
        }
        Some(FeedsRow::Ended) => return "Ended this week".to_owned(),
        Some(FeedsRow::Gaps) => return "Gaps".to_owned(),
        Some(FeedsRow::Attention) => return "Attention".to_owned(),
        Some(FeedsRow::Search(id)) => load_rows::find_search(app, *id)
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

/// Returns the title of a feed's list: its name and, as far as there is room, which entries are shown, the state of its history,
/// and its problem, which the bottom line also shows.
fn feed_title(app: &App, feed: &Subscription, shown: &str, room: usize) -> String {
    let said = |part: Option<String>| part.map(|part| format!(" ─ {part}")).unwrap_or_default();
    let mut title = feed.record.shown_title().to_owned();
    // Most feeds offer no history, so the title does not mention this.
    let offered = feed.history.status() != HistoryStatus::NotOffered;
    let history = |text: fn(&Engine, &Subscription) -> Option<String>| {
        said(text(&app.engine, feed).filter(|_| offered))
    };
    let (whole, brief) =
        (history(history_requests::standing), history(history_requests::brief_standing));
    let trouble = said(feed.state.trouble.clone());
    let fits = |title: &str, part: &str| {
        cells::width(title).saturating_add(cells::width(part)).saturating_add(MARGINS) <= room
    };
    let pages = "older entries at WordPress' pages: {history}";
    let pages = Some(app.ui.words(pages)).filter(|_| has_unread_pages(&app.engine, feed));
    let pages = said(pages);
    for choices in [[shown, shown], [&whole, &brief], [&trouble, &trouble], [&pages, &pages]] {
        if let Some(part) = choices.into_iter().find(|part| fits(&title, part)) {
            title.push_str(part);
        }
    }
    title
}

/// Describes which entries a list shows: all, unread or starred ones.
const fn shown_words(show: Show) -> &'static str {
    match show {
        Show::All | Show::Ended => "",
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
    let has_none = || app.engine.feeds.values().all(|feed| feed.counters.total == 0);
    let of_row = match app.ui.feeds.selected_row() {
        Some(FeedsRow::Tag(_, feeds)) => feeds,
        Some(FeedsRow::Feed(feed, _)) => std::slice::from_ref(feed),
        _ => &[],
    };
    let mut of_row = of_row.iter().filter_map(|key| app.engine.feeds.get(key));
    let holds_hidden = of_row.any(|feed| feed.counters.total > 0);
    let is_put_away = |feed: &Subscription| feed.history.gaps.values().any(|gap| !gap.is_shown());
    app.ui.words(match (app.ui.feeds.selected_row(), app.ui.show) {
        (None | Some(FeedsRow::AllUnread), _) if has_none() => "No entries yet.",
        (None | Some(FeedsRow::AllUnread), _) => "Everything is read.",
        (Some(FeedsRow::Starred), _) => "Nothing is starred: {star} stars an entry.",
        (Some(FeedsRow::Today), _) => "Nothing new today.",
        (Some(FeedsRow::Reading), _) => "Nothing is unread, so nothing was chosen for today.",
        (Some(FeedsRow::Ended), _) => "No entry was unread for too long.",
        (Some(FeedsRow::Gaps), _) if app.engine.feeds.values().any(is_put_away) => {
            "Nothing is missing besides the gaps that you hid: 'backissue history' names them."
        }
        (Some(FeedsRow::Gaps), _) => "Nothing is missing: all requested archives are here.",
        (Some(FeedsRow::Attention), _) => "Nothing needs attention.",
        (Some(FeedsRow::Search(_)), _) => "No entries match this search.",
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::All) if holds_hidden => {
            "Your filters hide all entries here: press {show} until the list shows them."
        }
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::All | Show::Ended) => {
            "No entries yet."
        }
        (Some(FeedsRow::Tag(..) | FeedsRow::Feed(..)), Show::Unread) => {
            "Nothing here is unread: press {show} until the list shows all entries."
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
    let in_part = if search.is_answered_in_part() { " ─ {open} searches all texts" } else { "" };
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
            app.ui.words("Nothing found in the newest entries. {open} searches all texts.")
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
    let said = history_requests::shown(&app.engine, feed, gap, now)
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

/// Returns the symbol or name of the key that opens an entry: the symbol of the Enter key, or the name on the plain screen or if
/// another key opens entries.
fn enter_sign(app: &App) -> String {
    match app.ui.words("{open}").as_str() {
        "Enter" if !app.ui.appearance.plain => "⏎".to_owned(),
        key if app.ui.appearance.plain => format!("{key}:"),
        key => key.to_owned(),
    }
}

/// Minimum width of the list in cells, so that it shows an additional key for each feed.
const ROOMY_CELLS: usize = 52;

/// Maximum number of lines for the reason of the selected problem.
const REASON_LINES_MAX: usize = 12;

/// The visible part of the Attention list.
pub(in crate::view) struct VisibleProblems {
    /// Area of the rows.
    pub(in crate::view) rows: Rect,
    /// Index of the first visible problem.
    pub(in crate::view) top: u16,
    /// Number of additional lines for the reason of the selected problem.
    pub(in crate::view) extra: u16,
}

/// Draws the Attention list in the entries pane. The reason of the selected problem is shown whole.
pub(in crate::view) fn draw_attention(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) -> VisibleProblems {
    let focused = app.ui.focus == Pane::Entries;
    let concerns = trouble::concerns(&app.engine, now);
    let place = app.ui.attention.selected.min(concerns.len().saturating_sub(1));
    let counted = if concerns.is_empty() {
        String::new()
    } else {
        format!("{}/{}", place.saturating_add(1), concerns.len())
    };
    let inside = pane::counted(frame, area, "Attention", &counted, focused);
    if concerns.is_empty() {
        let text = "Nothing needs attention: every feed answers.";
        frame.render_widget(Paragraph::new(text).style(theme::DIM), inside);
        return VisibleProblems { rows: inside, top: 0, extra: 0 };
    }
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    // Number of lines that the selected problem takes in addition to those of other problems: the rest of its reason, and the
    // remedy.
    let extra = concerns.get(place).map_or(0, |concern| reason_lines(concern, width, true).len());
    let fits = |top: usize, end: usize| {
        end.saturating_sub(top).saturating_mul(ROW_LINES).saturating_add(extra) <= height
    };
    // No line stays blank while rows above are hidden. Rows are only scrolled away if the reason of the selected problem needs
    // their lines.
    let full = (0..place).find(|top| fits(*top, concerns.len())).unwrap_or(place);
    let first = app.ui.attention.top.min(full);
    let top = (first..place).find(|top| fits(*top, place.saturating_add(1))).unwrap_or(place);
    let shown = height.div_ceil(ROW_LINES);
    let rows = concerns.iter().enumerate().skip(top).take(shown);
    let mut lines = Vec::new();
    for (number, concern) in rows {
        let selected = (number == place).then_some(focused);
        lines.extend(row(app, concern, width, selected));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    VisibleProblems { rows: inside, top: short(top), extra: short(extra) }
}

/// Returns the lines of the reason of a problem: one line or, if the problem is selected, as many as the reason needs.
fn reason_lines(concern: &Concern, width: usize, selected: bool) -> Vec<String> {
    let most = if selected { REASON_LINES_MAX } else { 1 };
    cells::wrap(&concern.sentence, width.saturating_sub(3), most)
}

/// Returns the lines for one feed with a problem. `selected` is `None` if the feed is not selected; if it is selected, the value is
/// `true` if the pane has the focus.
fn row(app: &App, concern: &Concern, width: usize, selected: Option<bool>) -> Vec<Line<'static>> {
    let of_store = concern.feed == trouble::STORE;
    let feed = app.engine.feeds.get(&concern.feed);
    let who = if concern.remedy == Remedy::AnswerDevice { "Device" } else { "Account" };
    let account = concern.account.as_ref().map(|name| format!("{who} '{name}'"));
    let title = match &account {
        Some(account) => account,
        None if of_store => "The store",
        None => feed.map_or("", |feed| feed.record.shown_title()),
    };
    let sign = if app.ui.marked.feeds.contains(&concern.feed) { MARKED_SIGN } else { " " };
    let head = cells::ends(&format!("{sign}{title}"), &format!("{} ", concern.state), width);
    let head = match selected {
        Some(true) => Line::styled(head, theme::HEADING).patch_style(theme::SELECTED),
        Some(false) => Line::styled(head, theme::HEADING).patch_style(theme::SELECTED_ELSEWHERE),
        None => Line::styled(head, theme::HEADING),
    };
    let reason = reason_lines(concern, width, selected.is_some());
    let reason = reason.into_iter().map(|line| Line::styled(format!("   {line}"), theme::TEXT));
    let remedy = selected.map(|_| {
        let (does, notes) = (concern.remedy.words(), concern.remedy.noting());
        let enter = enter_sign(app);
        let ended = concern.remedy == Remedy::Resume && width >= ROOMY_CELLS;
        let all = if ended { " · {unsubscribe-ended} all ended feeds" } else { "" };
        let key = |name| app.ui.settings.keys.key_of(name);
        if of_store {
            format!("   {enter} {does}")
        } else {
            let (dismiss, unsubscribe) = (key("toggle-read"), key("unsubscribe"));
            let all = app.ui.words(all);
            format!("   {enter} {does} · {dismiss} {notes} · {unsubscribe} unsubscribe{all}")
        }
    });
    let remedy = remedy.map(|remedy| Line::styled(cells::cut(&remedy, width), theme::DIM));
    std::iter::once(head).chain(reason).chain(remedy).collect()
}

/// Draws the welcome pane.
pub(in crate::view) fn draw_welcome(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) {
    let inside = pane::bordered(frame, area, "backissue", true);
    let mut lines = vec![
        Line::default(),
        Line::styled("  Welcome. Nothing to read yet:", theme::UNREAD),
        Line::default(),
        choice(&app.ui.words("{add}"), "paste the address of any site"),
    ];
    for (number, reader) in (1..10).zip(&app.ui.found_readers) {
        let text = format!("move in from {reader}, with your marks");
        lines.push(choice(&number.to_string(), text));
    }
    lines.extend([
        choice("i", "import a list of feeds: OPML, or newsboat's urls"),
        choice(&app.ui.words("{account-add}"), "sync with FreshRSS, Miniflux or a similar server"),
        choice("d", "look around in a demo"),
        Line::default(),
    ]);
    lines.extend(removed_lines(app, now));
    lines.push(Line::styled(app.ui.words("  {back} quits, {help} shows the keys"), theme::DIM));
    let shell = "  In a shell: 'backissue import' for other readers, 'backissue man guide'";
    lines.push(Line::styled(shell, theme::DIM));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inside);
}

fn choice(key: &str, text: impl Into<Span<'static>>) -> Line<'static> {
    Line::from(vec![
        Span::raw("   "),
        Span::styled(key.to_owned(), theme::KEY),
        Span::raw("  "),
        text.into(),
    ])
}

/// Explains how to restore feeds that were removed within the last week. Returns no lines if there are no such feeds.
fn removed_lines(app: &App, now: DateTime<Utc>) -> Vec<Line<'static>> {
    let removed = recently_removed(&app.engine, now).len();
    if removed == 0 {
        return Vec::new();
    }
    let text =
        format!("  You removed {} in the last week:", counted_words(removed, "feed", "feeds"));
    let mut lines = vec![Line::styled(text, theme::UNREAD)];
    let key = app.ui.settings.keys.key("undo").filter(|_| app.engine.undo.can_undo());
    lines.extend(key.map(|key| choice(&key, "undo the last change")));
    lines.push(choice(&app.ui.words("{removed}"), app.ui.words("lists them; {open} restores one")));
    lines.push(Line::default());
    lines
}
