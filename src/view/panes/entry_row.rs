//! One row of the entry list: an entry with its title, date, feed, labels and star.

use chrono::{DateTime, Utc};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::engine::downloads::progress;
use crate::engine::entries::rows::Row;
use crate::ui::app::App;
use crate::ui::panes::entry_list::Headings;
use crate::ui::settings::EntryColumn;
use crate::view::{cells, theme};
use backissue_core::feed::text::short_authors;
use backissue_core::history::FeedKey;
use backissue_core::search::{EntryTexts, Subject};
use backissue_core::words;

/// Symbol of feeds and entries that the user marked so that one action applies to all of them.
pub(in crate::view) const MARKED_SIGN: &str = "✓";
/// Symbol of an entry that its publisher edited.
const EDITED_SIGN: &str = "±";
/// Width of the margin before an entry, which shows such symbols, in cells.
const MARGIN_CELLS: usize = 2;
/// Width of the number of further feeds with the same article, in cells.
const JOINED_CELLS: usize = 3;
/// Width of a star, in cells.
const STAR_CELLS: usize = 2;
/// Minimum width of a list in which dates always include the day, in cells.
const LONG_DATES_FROM: usize = 56;
/// Minimum width of the column with title and star, in cells. If the column would be narrower, the time is left out, because the
/// list has day headings.
const TITLE_COLUMN_MIN: usize = 32;
/// Minimum width of a list that has a column with feed names, in cells.
const NAMES_FROM: usize = 64;

/// Returns the lines of an entry in a list with the given columns.
pub(super) fn row_lines(
    app: &App,
    row: &Row,
    feed: FeedKey,
    columns: RowColumns,
    now: DateTime<Utc>,
) -> Vec<Line<'static>> {
    let width = columns.width;
    if app.ui.appearance.plain {
        return vec![row_words(app, row, feed, width)];
    }
    let style = match (coloured(app, row, feed, now), row.flags.is_unread()) {
        (Some(place), is_unread) => theme::own(place, is_unread),
        (None, true) => theme::UNREAD,
        (None, false) => theme::DIM,
    };
    let chosen = row.key.entry().is_some_and(|key| app.ui.marked.entries.contains(&key));
    let margin = if chosen { MARKED_SIGN } else { "" };
    let margin = Span::styled(cells::fit(margin, MARGIN_CELLS), theme::KEY);
    if app.ui.row_shape().lines > 1 {
        return two_lines(app, row, feed, width, now, (margin, style));
    }
    let mut spans = vec![margin];
    for column in &app.ui.settings.columns {
        match column {
            EntryColumn::Date if columns.date > 0 => {
                let date = dated(app, row, width, now);
                spans.push(Span::styled(cells::fit(&date, columns.date), theme::DIM));
            }
            EntryColumn::Title => {
                spans.extend(titled(app, row, columns.title, style, &labels(app, row)));
            }
            EntryColumn::Feed if columns.feed > 0 => {
                let name = feed_names(app, row, feed, columns.feed.saturating_sub(1));
                spans.push(Span::styled(format!(" {name}"), theme::DIM));
            }
            EntryColumn::Date | EntryColumn::Feed => {}
        }
    }
    vec![Line::from(spans)]
}

/// Returns the index of the first colour in the configuration whose query matches this entry.
fn coloured(app: &App, row: &Row, feed: FeedKey, now: DateTime<Utc>) -> Option<usize> {
    let rules = &app.ui.settings.colours;
    let feed = app.engine.feeds.get(&feed).filter(|_| !rules.is_empty())?;
    let subject = Subject {
        feed: feed.queried(),
        flags: row.flags,
        listed: row.listed.timestamp(),
        labels: &app.engine.filters.labels(&row.ruled),
        texts: &EntryTexts::of_row(&row.title, row.author.as_deref(), row.link.as_deref()),
        now,
    };
    rules.iter().position(|rule| rule.query.holds(&subject))
}

/// Returns an entry as two lines: the title, and below it the feed, the date and the labels.
fn two_lines(
    app: &App,
    row: &Row,
    feed: FeedKey,
    width: usize,
    now: DateTime<Utc>,
    (margin, style): (Span<'static>, Style),
) -> Vec<Line<'static>> {
    let mut title = vec![margin];
    title.extend(titled(app, row, width.saturating_sub(MARGIN_CELLS), style, ""));
    let wanted = |column| app.ui.settings.columns.contains(&column);
    let date = Some(dated(app, row, width, now)).filter(|_| wanted(EntryColumn::Date));
    let one_feed = app.ui.is_list_of_one_feed();
    let author = row.author.as_deref().map(short_authors);
    let from = if one_feed { author.as_deref() } else { Some(feed_name(app, feed)) };
    let from = from.filter(|_| one_feed || wanted(EntryColumn::Feed));
    let labels = labels(app, row);
    // The date is never cut. It comes first in a list of one feed, where the other part is less important.
    let rest = date.as_ref().map_or(0, |date| cells::width(date).saturating_add(3));
    let room = width.saturating_sub(MARGIN_CELLS).saturating_sub(rest);
    let room = room.saturating_sub(cells::width(&labels));
    let from = from.map(|from| match others(row) {
        0 => cells::cut(from, room),
        more => format!("{} +{more}", cells::cut(from, room.saturating_sub(JOINED_CELLS))),
    });
    let parts = if one_feed { [date, from] } else { [from, date] };
    let below = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let below = format!("{}{below}", " ".repeat(MARGIN_CELLS));
    let room = width.saturating_sub(cells::width(&below));
    let below = Line::from(vec![
        Span::styled(below, theme::DIM),
        Span::styled(cells::fit(&labels, room), theme::KEY),
    ]);
    vec![Line::from(title), below]
}

/// Lists the names of the other feeds that have the article of a row. Returns `None` if there are none.
pub(super) fn same_articles(app: &App, row: &Row) -> Option<String> {
    let names = row.also.iter().map(|(key, _)| key).chain(&row.inside.entries);
    let names = names.map(|key| feed_name(app, key.feed)).collect::<Vec<_>>();
    let also = if row.inside.entries.is_empty() { "also in" } else { "the same link in" };
    (!names.is_empty()).then(|| format!("{also} {}", names.join(", ")))
}

/// Explains a row that shows several entries because their texts link to the same page.
fn same_link_inside(row: &Row) -> Option<String> {
    let feeds = row.inside.entries.len().saturating_add(1);
    (feeds > 1).then(|| format!("{feeds} feeds, same link inside"))
}

/// Returns the number of other entries that share the row.
const fn others(row: &Row) -> usize {
    row.also.len().saturating_add(row.inside.entries.len())
}

/// Returns the name of the feed of an entry.
fn feed_name(app: &App, feed: FeedKey) -> &str {
    app.engine.feeds.get(&feed).map_or("", |feed| feed.record.shown_title())
}

/// Returns the name of the feed of a row and the number of other feeds with the same article, in exactly `room` cells.
fn feed_names(app: &App, row: &Row, feed: FeedKey, room: usize) -> String {
    let name = feed_name(app, feed);
    match others(row) {
        0 => cells::fit(name, room),
        more => {
            let name = cells::cut(name, room.saturating_sub(JOINED_CELLS));
            cells::fit(&format!("{name} +{more}"), room)
        }
    }
}

/// Describes an entry in words for the plain screen: its marks, its title and, in a list of several feeds, its feed.
fn row_words(app: &App, row: &Row, feed: FeedKey, width: usize) -> Line<'static> {
    let title = if row.title.is_empty() { "no title" } else { &row.title };
    let feed = Some(feed_name(app, feed)).filter(|_| !app.ui.is_list_of_one_feed());
    let also = same_articles(app, row);
    let chosen = row.key.entry().is_some_and(|key| app.ui.marked.entries.contains(&key));
    let labels = app.engine.filters.labels(&row.ruled);
    let episode = episode(app, row);
    let labels = (!labels.is_empty()).then(|| format!("labelled {}", labels.join(" ")));
    let parts = [
        chosen.then_some("marked"),
        row.flags.is_unread().then_some("unread"),
        row.flags.is_starred().then_some("starred"),
        row.flags.is_edited().then_some("edited"),
        labels.as_deref(),
        episode.as_deref(),
        Some(title),
        feed,
        also.as_deref(),
    ];
    let words = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Line::from(theme::with_hits(&cells::fit(&words, width), theme::TEXT, &app.ui.marks))
}

/// Returns the symbol of an edited entry, the state of its attached file, and its labels, each with a space before it.
fn labels(app: &App, row: &Row) -> String {
    let edited = [EDITED_SIGN].into_iter().filter(|_| row.flags.is_edited());
    let labels = app.engine.filters.labels(&row.ruled);
    let labels = labels.iter().map(|label| [" #", label]);
    let episode = episode(app, row).map(|state| format!(" ▶ {state}")).unwrap_or_default();
    let labels: String = edited.map(|sign| [" ", sign]).chain(labels).flatten().collect();
    let why = same_link_inside(row).map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{why}{episode}{labels}")
}

/// Describes the downloaded file of an entry, and the position up to which it was played.
fn episode(app: &App, row: &Row) -> Option<String> {
    progress::episode_words(&app.engine.downloads, row.key.entry()?)
}

/// Returns the title of an entry with its labels, followed by a star if the entry is starred.
fn titled(app: &App, row: &Row, room: usize, style: Style, labels: &str) -> Vec<Span<'static>> {
    let title = if row.title.is_empty() { "(no title)" } else { &row.title };
    let labels = cells::cut(labels, room / 2);
    let star = if row.flags.is_starred() { " ★" } else { "" };
    let room = room.saturating_sub(cells::width(star)).saturating_sub(cells::width(&labels));
    let mut spans = theme::with_hits(&cells::fit(title, room), style, &app.ui.marks);
    spans.push(Span::styled(labels, theme::KEY));
    spans.push(Span::styled(star, theme::STAR));
    spans
}

/// Formats the publication time of an entry: the time of day in lists with day headings, or else the date.
fn dated(app: &App, row: &Row, width: usize, now: DateTime<Utc>) -> String {
    let zone = app.engine.zone;
    if app.ui.row_shape().headings == Headings::Days {
        return row.listed.with_timezone(&zone).format("%H:%M").to_string();
    }
    words::date(row.listed, now, zone, has_long_dates(app, width))
}

/// Checks whether dates in the list include the day even if they are in another year.
fn has_long_dates(app: &App, width: usize) -> bool {
    width >= LONG_DATES_FROM || app.ui.row_shape().lines > 1
}

/// Checks whether the rows of a list of the given width in cells show the names of the feeds. If they do not, the border shows the
/// feed of the selected entry.
pub(super) fn has_names(app: &App, width: usize) -> bool {
    let wanted = app.ui.settings.columns.contains(&EntryColumn::Feed);
    wanted && (app.ui.row_shape().lines > 1 || width >= NAMES_FROM)
}

/// The widths of the columns of a list in cells, each including the gap beside it. A column with a width of 0 is not shown.
#[derive(Clone, Copy)]
pub(super) struct RowColumns {
    width: usize,
    date: usize,
    title: usize,
    feed: usize,
}

impl RowColumns {
    /// Computes the widths of the columns from the contents of the visible rows. The column with feed names gets the width that
    /// the titles do not need, and at least the width that the layout specifies. If too little width is left for the titles, the
    /// column with the times is left out, provided that the list has day headings.
    pub(super) fn new(app: &App, width: usize, height: usize, now: DateTime<Utc>) -> Self {
        let list = &app.ui.list;
        let shown = || (list.top..list.total).take(height).map_while(|place| list.row(place));
        let longest = |cells: &dyn Fn(&Row) -> usize| shown().map(cells).max().unwrap_or(0);
        let wanted = |column| app.ui.settings.columns.contains(&column);
        let room = width.saturating_sub(MARGIN_CELLS);
        let named = wanted(EntryColumn::Feed) && !app.ui.is_list_of_one_feed();
        let named = named && width >= NAMES_FROM && app.ui.row_shape().lines == 1;
        let usual = if named { usize::from(app.ui.pane_layout().names) } else { 0 };
        let has_headings = app.ui.row_shape().headings == Headings::Days;
        let date = longest(&|row| cells::width(&dated(app, row, width, now)).saturating_add(1));
        let rest = room.saturating_sub(date).saturating_sub(usual);
        let fits = !has_headings || rest >= TITLE_COLUMN_MIN;
        let date = if wanted(EntryColumn::Date) && fits { date } else { 0 };
        if usual == 0 {
            return Self { width, date, title: room.saturating_sub(date), feed: 0 };
        }
        let name = |row: &Row| {
            let own = row.key.entry().map_or(0, |key| cells::width(feed_name(app, key.feed)));
            if others(row) == 0 { own } else { own.saturating_add(JOINED_CELLS) }
        };
        let title = longest(&|row| {
            let star = if row.flags.is_starred() { STAR_CELLS } else { 0 };
            cells::width(&row.title).saturating_add(cells::width(&labels(app, row)) + star)
        });
        let room = room.saturating_sub(date);
        let left = room.saturating_sub(title).max(usual);
        let feed = longest(&name).min(left).saturating_add(1);
        Self { width, date, title: room.saturating_sub(feed), feed }
    }
}
