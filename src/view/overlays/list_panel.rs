//! The lists over the panes: their borders, which show the keys, and their rows. The module also draws the lists above the input
//! line from which the user picks an item or a command.
//!
//! The timeline of a feed: a row for each year.
//!
//! ```text
//!       Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec
//!  2014 ▂▂A ██A ▅▅A ┄┄┄┄    ▁▁A ...                      120
//! A archives   ┄ missing
//! ```

use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use backissue_core::history::timeline::{EntrySource, MonthCell};
use backissue_core::simulate::MONTHS;
use backissue_core::words;
use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::form;
use crate::engine::backfill::elsewhere::sources;
use crate::engine::backfill::history_requests;
use crate::engine::downloads::progress::state_words;
use crate::engine::entries::account_state::AccountStatus;
use crate::engine::entries::account_sync::feeds_of;
use crate::engine::feeds::addition::FeedPreview;
use crate::engine::feeds::feed_preview::TITLES;
use crate::engine::feeds::unsubscribe::recently_removed;
use crate::ui::actions::history_lists::timeline_of;
use crate::ui::app::App;
use crate::ui::overlays::accounts::STATE_LINES;
use crate::ui::overlays::help_pane::works_elsewhere;
use crate::ui::overlays::list_panel::{ListKind, found};
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::overlay::{ListOf, OpenList, PickItem, PickList, PickTarget};
use crate::view::{cells, pane, theme};

/// Maximum widths in columns: of a list, of the menu of programs, and of the choice between feeds.
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
    let (columns, above, below) = match open.of {
        ListOf::Choice(_) => (wide, 0, BELOW_LINES),
        ListOf::Share => (narrow, 0, 0),
        ListOf::Timeline(_) => (usual, 2, 0),
        ListOf::Accounts
        | ListOf::Filters
        | ListOf::Removed
        | ListOf::Downloads
        | ListOf::Older(_) => (usual, 0, 0),
    };
    let count = (kind.count)(app, now, open.of);
    let lines = count.max(1).saturating_mul(usize::from(kind.lines));
    let most = if below > 0 { area.height.saturating_sub(2) / 2 } else { u16::MAX };
    let lines = u16::try_from(lines).unwrap_or(u16::MAX).min(most);
    let height = lines.saturating_add(below).saturating_add(above).saturating_add(2);
    let place = pane::centred(frame, area, columns, height);
    let selected = open.list.selected.min(count.saturating_sub(1));
    let at = if count == 0 { String::new() } else { format!("{}/{count}", selected + 1) };
    let keys = &app.ui.settings.keys;
    let title = format!("{} ─ {}", kind.title, kind.hint(keys));
    let inside = pane::counted(frame, place, &title, &at, true);
    let parts = if below > 0 {
        [Constraint::Length(above), Constraint::Length(lines), Constraint::Fill(1)]
    } else {
        [Constraint::Length(above), Constraint::Fill(1), Constraint::Length(0)]
    };
    let [heading, inside, offer] = Layout::vertical(parts).areas(inside);
    draw_head(frame, heading, app, open.of, now);
    let width = usize::from(inside.width);
    let room = usize::from(inside.height.checked_div(kind.lines).unwrap_or(1).max(1));
    let top = ScrollList { selected, ..open.list }.top_in(count, room);
    let rows = (top..count.min(top.saturating_add(room))).flat_map(|place| {
        let mut lines = row(app, open.of, place, width, now).unwrap_or_default();
        if let Some(head) = lines.first_mut().filter(|_| place == selected) {
            if matches!(open.of, ListOf::Timeline(_)) {
                mark_selected(head);
            } else {
                head.style = theme::SELECTED;
            }
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
        draw_offer(frame, offer, app, open);
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
        ListOf::Choice(_) => choice_row(app, of, place, width),
        ListOf::Accounts => account_row(app, place, width, now),
        ListOf::Filters => form::row(app, place, width, now),
        ListOf::Removed => removed(app, place, width, now),
        ListOf::Downloads => download(app, place, width, now),
        ListOf::Older(feed) => older(app, feed, place, width),
        ListOf::Timeline(feed) => timeline_row(app, (feed, place), width, now),
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

/// Returns the lines for a source of older entries: its name and its cost.
fn older(app: &App, feed: FeedKey, place: usize, width: usize) -> Option<Vec<Line<'static>>> {
    let sources = sources(&app.engine, app.engine.feeds.get(&feed)?);
    let source = sources.get(place)?;
    let mut lines = ends(&format!(" {}", source.name), "", width);
    let cost = cells::cut(&format!("   {}", source.cost), width);
    lines.push(Line::styled(cost, theme::DIM));
    Some(lines)
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
    let state = state_words(downloads, download, now);
    lines.push(Line::styled(cells::cut(&format!("   {state}"), width), theme::DIM));
    Some(lines)
}

/// Returns the lines of an account.
pub(super) fn account_row(
    app: &App,
    place: usize,
    width: usize,
    now: DateTime<Utc>,
) -> Option<Vec<Line<'static>>> {
    let account = app.engine.accounts.get(place)?;
    let feeds = feeds_of(&app.engine, &account.name).count();
    let feeds = format!("{} ", counted_words(feeds, "feed", "feeds"));
    let head = cells::ends(&format!(" {}  {}", account.name, account.place), &feeds, width);
    let told = if account.failure.is_some() { theme::TROUBLE } else { theme::DIM };
    let state =
        cells::wrap(&last_sync(app, account, now), width.saturating_sub(3), STATE_LINES.into());
    let state = state.into_iter().map(|line| Line::styled(format!("   {line}"), told));
    Some(std::iter::once(Line::styled(head, theme::TEXT)).chain(state).collect())
}

fn last_sync(app: &App, account: &AccountStatus, now: DateTime<Utc>) -> String {
    let running = app.engine.sync_progress.as_ref().filter(|it| it.account == account.name);
    if let Some(progress) = running {
        return format!("{}: {} of {}", progress.what, progress.done, progress.all);
    }
    match &account.last {
        Some((at, told)) => format!("{}: {told}", words::relative(*at, now)),
        None => "never synced".to_owned(),
    }
}

/// Maximum number of lines for the description of a feed, above the titles of its entries.
const OFFER_LINES: usize = 2;
/// Number of lines for the preview below the list.
#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
const BELOW_LINES: u16 = (OFFER_LINES + TITLES + 1) as u16;

/// Returns the line of a feed in the choice.
pub(super) fn choice_row(
    app: &App,
    of: ListOf,
    place: usize,
    width: usize,
) -> Option<Vec<Line<'static>>> {
    let candidate = found(app, of)?.found.get(place)?;
    let title = candidate.title.as_deref().unwrap_or("(no title)");
    let line = cells::ends(&format!(" {title}"), &format!("{} ", candidate.url), width);
    Some(vec![Line::styled(line, theme::TEXT)])
}

/// Draws the preview of the selected feed.
fn draw_offer(frame: &mut Frame<'_>, area: Rect, app: &App, open: OpenList) {
    let width = usize::from(area.width);
    let known = found(app, open.of)
        .and_then(|addition| addition.previews.of(&addition.found.get(open.list.selected)?.url));
    let lines = match known {
        None => vec![Line::default(), Line::styled(" reading the feed …", theme::DIM)],
        Some(Err(why)) => {
            let text = cells::cut(&format!(" it cannot be read: {why}"), width);
            vec![Line::default(), Line::styled(text, theme::TROUBLE)]
        }
        Some(Ok(preview)) => offer_lines(app, preview, width),
    };
    frame.render_widget(Paragraph::new(lines), area);
}

/// Returns the description of a feed and the titles of its newest entries.
fn offer_lines(app: &App, preview: &FeedPreview, width: usize) -> Vec<Line<'static>> {
    let title = preview.title.as_deref().unwrap_or("(no title)");
    let said = format!("{title}: {}", preview.words());
    let said = cells::wrap(&said, width.saturating_sub(2), OFFER_LINES);
    let said = said.into_iter().map(|line| Line::styled(format!(" {line}"), theme::HEADING));
    let titles = preview.newest.iter().map(|(at, title)| {
        let date = at.map_or_else(
            || "no date   ".to_owned(),
            |at| at.with_timezone(&app.engine.zone).format("%Y-%m-%d").to_string(),
        );
        Line::styled(cells::cut(&format!(" {date}  {title}"), width), theme::TEXT)
    });
    std::iter::once(Line::default()).chain(said).chain(titles).collect()
}

/// Maximum width of the list in cells, and the number of its rows with the border.
const SIZE_MAX: (u16, u16) = (64, 16);
/// Maximum size of the palette, measured in the same way.
const PALETTE_SIZE_MAX: (u16, u16) = (90, u16::MAX);
/// Width of the column with the command names, in cells.
const NAME_CELLS: usize = 17;
/// Minimum width of a command's description, in cells. If there is less room, only the name of the command is shown.
const HELP_CELLS_MIN: usize = 12;

/// Draws the list at the bottom of the panes. Returns the area of its rows and the index of the first visible row.
pub(in crate::view) fn draw_pick_list(
    frame: &mut Frame<'_>,
    area: Rect,
    picks: &PickList,
    app: &App,
) -> (Rect, u16) {
    let keys = &app.ui.settings.keys;
    let is_palette = picks.line.purpose == PromptPurpose::Command;
    let (columns, most) = if is_palette { PALETTE_SIZE_MAX } else { SIZE_MAX };
    let (title, none) = if is_palette {
        ("Commands ─ type to find one, Enter runs it", " no command that works here matches")
    } else if picks.line.purpose == PromptPurpose::Label {
        ("Type to find or make a label, Enter sets it", " no labels yet: type a word for one")
    } else {
        ("Type to find one, Enter opens it", " nothing matches this")
    };
    let rows = u16::try_from(picks.found.len().max(1)).unwrap_or(u16::MAX).saturating_add(2);
    let [place] = Layout::vertical([Constraint::Max(rows.min(most))]).flex(Flex::End).areas(area);
    let [place] = Layout::horizontal([Constraint::Max(columns)]).flex(Flex::Start).areas(place);
    frame.render_widget(Clear, place);
    let elsewhere = works_elsewhere(picks, app.ui.focus).filter(|_| is_palette);
    let inside = pane::bordered(frame, place, elsewhere.as_deref().unwrap_or(title), true);
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    let first = picks.list.top_in(picks.found.len(), height);
    let shown = (0_usize..).zip(&picks.found).skip(first).take(height);
    let mut lines: Vec<Line<'_>> = shown
        .filter_map(|(place, at)| {
            let (item, selected) = (picks.items.get(*at)?, place == picks.list.selected);
            Some(match item.target {
                PickTarget::Command(at) => command_row(item, &keys.keys_of(at), selected, width),
                PickTarget::Row(_) | PickTarget::Label(_) => pick_row(item, selected, width),
            })
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::styled(none, theme::DIM));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    (inside, u16::try_from(first).unwrap_or(u16::MAX))
}

fn command_row(item: &PickItem, keys: &str, selected: bool, width: usize) -> Line<'static> {
    let keys = format!("{keys} ");
    let named = format!(" {} ", cells::fit(&item.name, NAME_CELLS));
    let room = width.saturating_sub(cells::width(&named)).saturating_sub(cells::width(&keys) + 1);
    let help = if room < HELP_CELLS_MIN { String::new() } else { cells::cut(&item.detail, room) };
    if selected {
        return Line::styled(cells::ends(&format!("{named}{help}"), &keys, width), theme::SELECTED);
    }
    let gap = room.saturating_sub(cells::width(&help)).saturating_add(1);
    Line::from(vec![
        Span::styled(named, theme::TEXT),
        Span::styled(help, theme::DIM),
        Span::raw(" ".repeat(gap)),
        Span::styled(keys, theme::KEY),
    ])
}

fn pick_row(item: &PickItem, selected: bool, width: usize) -> Line<'static> {
    let name = format!(" {} ", cells::cut(&item.name, width.saturating_sub(2)));
    let room = width.saturating_sub(cells::width(&name)).saturating_sub(1);
    let detail = cells::cut(&item.detail, room);
    if selected {
        return Line::styled(cells::ends(&name, &format!("{detail} "), width), theme::SELECTED);
    }
    let gap = room.saturating_sub(cells::width(&detail));
    Line::from(vec![
        Span::styled(name, theme::TEXT),
        Span::raw(" ".repeat(gap)),
        Span::styled(detail, theme::DIM),
    ])
}

/// Bars, lowest first.
const BARS: [&str; 8] = ["▁▁", "▂▂", "▃▃", "▄▄", "▅▅", "▆▆", "▇▇", "██"];
const HOLE: &str = "┄";
const MONTHS_A_YEAR: usize = 12;

/// Draws the lines above the years: the title of the feed, the meanings of the letters, and the names of the months.
pub(super) fn draw_head(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    of: ListOf,
    now: DateTime<Utc>,
) {
    let ListOf::Timeline(feed) = of else { return };
    let width = usize::from(area.width);
    let legend = timeline_of(app, now, of).map(|timeline| timeline.legend(HOLE));
    let title = app.engine.feeds.get(&feed).map_or("", |feed| feed.record.shown_title());
    let legend = format!("{} ", legend.unwrap_or_default());
    let title = cells::ends(&format!(" {title}"), &legend, width);
    let lines = [title, format!("      {MONTHS} entries")];
    let lines = lines.into_iter().map(|line| Line::styled(line, theme::DIM));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}

/// Returns the line of a year. Below the last year, returns a line about older entries.
pub(super) fn timeline_row(
    app: &App,
    (feed, place): (FeedKey, usize),
    width: usize,
    now: DateTime<Utc>,
) -> Option<Vec<Line<'static>>> {
    let timeline = timeline_of(app, now, ListOf::Timeline(feed))?;
    let Some(year) = timeline.years.get(place) else {
        let standing = history_requests::standing(&app.engine, app.engine.feeds.get(&feed)?);
        let (text, style) = match timeline.before {
            Some(before) => (before, theme::GAP),
            None => (standing.unwrap_or_default(), theme::DIM),
        };
        return Some(vec![Line::styled(cells::cut(&format!(" {text}"), width), style)]);
    };
    let mut spans = vec![Span::styled(format!(" {:>4} ", year.year), theme::HEADING)];
    spans.extend(year.months.iter().flat_map(month));
    spans.push(Span::styled(format!("{:>8}", year.entries), theme::DIM));
    spans.push(Span::raw(" ".repeat(width)));
    Some(vec![Line::from(spans)])
}

/// Marks a row as selected, except its bars, which would look like gaps if their colours were reversed.
pub(super) fn mark_selected(line: &mut Line<'_>) {
    let (bars, spans) = (1..=2 * MONTHS_A_YEAR, line.spans.iter_mut().enumerate());
    for (_, span) in spans.filter(|(place, _)| !bars.contains(place)) {
        span.style = theme::SELECTED;
    }
}

/// Draws a month in four cells: its bar, the letter of its source, and a symbol if entries are missing.
fn month(month: &MonthCell) -> [Span<'static>; 2] {
    let hole = Span::styled(if month.is_hole { HOLE } else { " " }, theme::GAP);
    let Some(source) = month.source else {
        let empty = if month.is_hole { HOLE.repeat(3) } else { " · ".to_owned() };
        return [Span::styled(empty, if month.is_hole { theme::GAP } else { theme::DIM }), hole];
    };
    let place = usize::try_from(month.level).unwrap_or_default().saturating_sub(1);
    let bar = BARS.get(place).copied().unwrap_or_default();
    [Span::styled(format!("{bar}{}", source.letter()), style(source)), hole]
}

const fn style(source: EntrySource) -> Style {
    let [blue, green, yellow, red] = theme::HEAT;
    match source {
        EntrySource::Feed => blue,
        EntrySource::Archive => green,
        EntrySource::Page => yellow,
        EntrySource::Copy => red,
        EntrySource::InternetArchive => theme::TEXT,
    }
}
