//! Opens entries in the reader, moves to the next or previous unread entry, and opens links of the text.
//!
//! Entries that the user is likely to open next are read from the store before, so that they appear as soon as a key is pressed.

use backissue_core::feed::Enclosure;
use backissue_core::history::EntryKey;
use backissue_core::words::clock_words;
use chrono::{DateTime, Utc};

use super::lay_out::ask_lines;
use super::lines::INSIDE_FIRST;
use super::{full_text, reading_position};
use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::entries::rows::{
    RowKey, RowOrder, RowsLoaded, RowsWanted, Seek, SeekTarget, Show,
};
use crate::engine::external::run_external::split_media_time;
use crate::engine::request::{Request, ScreenRequest};
use crate::ui::app::{App, OnRowsLoaded};
use crate::ui::come_back;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::panes::entry_list::rows_around;
use crate::ui::panes::{browsing, feeds_pane, load_rows, navigation};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::{Arrangement, Pane};
use crate::ui::state::reader::{AheadEntry, Reader, TextSource};

/// Opens the selected entry and marks it as read. At a gap, requests the missing entries instead.
pub fn open_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(row) = app.ui.list.selected_row() else { return Vec::new() };
    let key = match row.key {
        RowKey::Entry(key) => key,
        RowKey::Gap(feed, gap) => return app.ask(now, Request::MoreHistory(feed, Some(gap))),
    };
    open_entry(app, now, key)
}

/// Opens an entry of the open list, and marks it as read as the settings say.
fn open_entry(app: &mut App, now: DateTime<Utc>, key: EntryKey) -> Vec<ScreenEffect> {
    let row = app.ui.list.rows.iter().find(|row| row.key == RowKey::Entry(key));
    let unread = row.is_some_and(|row| row.flags.is_unread());
    let unopened = row.is_some_and(|row| !row.flags.was_opened());
    app.ui.focus = Pane::Reader;
    app.ui.find = None;
    app.ui.opening = Some(key);
    let mut effects = match app.ui.ahead.take(key) {
        AheadEntry::Here(entry) => show_entry(app, now, *entry),
        AheadEntry::OnItsWay => Vec::new(),
        AheadEntry::Unknown => vec![ask_store(ScreenRequest::Entry(key))],
    };
    if unopened && app.ui.list.order == RowOrder::FromBeginning {
        effects.extend(browsing::mark_opened(app, now, key));
    } else if unread {
        effects.extend(reading_position::mark_opened(app, now, key));
    }
    effects
}

/// Shows an entry that was read from the store, if the user still waits for it, and requests the layout of its text.
pub fn show_entry(app: &mut App, now: DateTime<Utc>, entry: LoadedEntry) -> Vec<ScreenEffect> {
    if app.ui.opening != Some(entry.key) {
        app.ui.ahead.keep(entry);
        return Vec::new();
    }
    app.ui.opening = None;
    let row = app.ui.list.rows.iter().find(|row| row.key == RowKey::Entry(entry.key));
    let flags = row.map_or(entry.flags, |row| row.flags);
    let left = app.ui.left.filter(|(left, _)| *left == entry.key);
    let place = left.map_or(entry.place, |(_, place)| place);
    let entry = LoadedEntry { flags, place, ..entry };
    app.ui.reader = Some(Reader {
        entry,
        source: TextSource::Feed,
        changes: String::new(),
        rendered: None,
        width: 0,
        lines_width: 0,
        scroll: 0,
        sideways: 0,
        minutes: 0,
        starts: Vec::new(),
        digits: String::new(),
        came_from: None,
        pictures: Vec::new(),
    });
    let mut effects = full_text::show_if_wanted(app, now);
    effects.extend(ask_lines(app));
    effects.extend(ask_ahead(app, sought_kind(app)));
    effects
}

/// Stops waiting for an entry that could not be read from the store.
pub fn give_up_entry(app: &mut App, key: EntryKey) {
    app.ui.ahead.give_up(key);
    if app.ui.opening == Some(key) {
        app.ui.opening = None;
        app.ui.reader = None;
        app.ui.focus = Pane::Entries;
    }
}

/// Stops waiting for rows of a list that could not be read from the store.
pub fn give_up_rows(app: &mut App, list: u64) {
    if app.ui.list.number == list {
        let list = &mut app.ui.list;
        (list.waiting, list.fresh, list.is_due) = (false, false, false);
        app.ui.then = None;
    }
}

/// Scrolls down one page in the reader. At the end of the text, opens the next unread entry.
pub fn read_on(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.focus != Pane::Reader {
        return open_next_unread(app, now);
    }
    if app.ui.explains_gap() {
        return open_next_unread(app, now);
    }
    let laid_out = app.ui.reader.as_ref().is_some_and(|reader| reader.rendered.is_some());
    if app.ui.opening.is_some() || !laid_out {
        // The text is not visible yet. Ignore the key, so that the user does not skip an entry without having seen it.
        return Vec::new();
    }
    let rows = usize::from(app.ui.viewport.reader_rows);
    let more = app.ui.reader.as_ref().is_some_and(|reader| {
        let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
        reader.scroll.saturating_add(rows) < lines
    });
    if more {
        navigation::move_in_pane(app, now, true, Distance::Page)
    } else {
        open_next_unread(app, now)
    }
}

/// Opens the next unread entry of the open list: the selected one, if its text is not open yet. If there is none, continues with the
/// next feed that has unread entries.
pub fn open_next_unread(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let list = &app.ui.list;
    let selected = list.selected_row().and_then(|row| row.key.entry());
    let open = app.ui.opening.or_else(|| app.ui.reader.as_ref().map(|reader| reader.entry.key));
    let is_open = selected.is_none() || selected == open;
    let from = if is_open { list.selected.saturating_add(1) } else { list.selected };
    seek_entry(app, now, Seek { from, down: true, what: sought_kind(app) })
}

/// Opens the previous unread entry of the list.
pub fn open_previous_unread(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    match app.ui.list.selected.checked_sub(1) {
        Some(from) => seek_entry(app, now, Seek { from, down: false, what: sought_kind(app) }),
        None => say_nothing_above(app, now),
    }
}

/// Returns the kind of entry to look for: an unopened entry if a feed is read from the beginning, or else an unread entry.
const fn sought_kind(app: &App) -> SeekTarget {
    match app.ui.list.order {
        RowOrder::FromBeginning => SeekTarget::Unopened,
        RowOrder::NewestFirst
        | RowOrder::OldestFirst
        | RowOrder::ByTitle
        | RowOrder::ByFeed
        | RowOrder::ByReceived
        | RowOrder::RareFirst
        | RowOrder::BestFirst => SeekTarget::Unread,
    }
}

/// Looks for an entry among the rows in memory and, if it is not among them, in the store.
fn seek_entry(app: &mut App, now: DateTime<Utc>, seek: Seek) -> Vec<ScreenEffect> {
    let list = &app.ui.list;
    if list.fresh {
        app.ui.then = Some(OnRowsLoaded::OpenFirstUnread);
        return Vec::new();
    }
    let mut place = seek.from;
    while let Some(row) = list.row(place) {
        if row.key.entry().is_some() && seek.what.takes(row.flags) {
            return open_place(app, now, place);
        }
        match if seek.down { place.checked_add(1) } else { place.checked_sub(1) } {
            Some(next) => place = next,
            None => return say_nothing_above(app, now),
        }
    }
    if place >= list.total {
        return open_next_feed(app, now);
    }
    app.ui.then = Some(OnRowsLoaded::Open);
    seek_row(app, Seek { from: place, ..seek })
}

/// Requests the index of the next matching entry in the open list from the store.
fn seek_row(app: &mut App, seek: Seek) -> Vec<ScreenEffect> {
    app.ui.list.waiting = true;
    let rows = rows_around(app.ui.viewport.entries_rows.into());
    let at = RowsWanted::at(app.ui.list.number, seek.from, rows);
    vec![ask_store(ScreenRequest::Rows(RowsWanted { seek: Some(seek), ..at }))]
}

fn open_place(app: &mut App, now: DateTime<Utc>, place: usize) -> Vec<ScreenEffect> {
    app.ui.list.selected = place;
    let mut effects = load_rows::load_visible_rows(app);
    // If the row is a gap, nothing needs to be read from the store; the reader pane explains the gap.
    if let Some(key) = app.ui.list.selected_row().and_then(|row| row.key.entry()) {
        effects.extend(open_entry(app, now, key));
    }
    effects
}

fn say_nothing_above(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    app.ui.say_only(now, "nothing unread above")
}

fn say_nothing_here(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    app.ui.say_only(now, "nothing unread here")
}

/// Opens the next feed that has unread entries. After the last feed, the search for a feed continues with the first one.
fn open_next_feed(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Reading)) && app.ui.search.is_none() {
        let here = app.ui.list.rows.iter().filter(|row| row.flags.is_unread()).count();
        let wait = app.engine.unread().saturating_sub(here as u64);
        return app.ui.say_only(now, format!("that was today's: {wait} more wait"));
    }
    if app.ui.show == Show::Starred || app.ui.search.is_some() {
        return say_nothing_here(app, now);
    }
    let pane = &app.ui.feeds;
    let behind = (pane.selected.saturating_add(1)..pane.rows.len()).chain(0..pane.selected);
    let has_unread = |place: &usize| {
        let row = pane.rows.get(*place);
        row.is_some_and(|row| {
            let holds = matches!(row, FeedsRow::Feed(..)) || feeds_pane::is_folded(app, row);
            holds && feeds_pane::count_unread(app, row) > 0
        })
    };
    let Some(place) = behind.into_iter().find(has_unread) else {
        return app.ui.say_only(now, "nothing unread");
    };
    app.ui.feeds.selected = place;
    let effects = load_rows::open_list(app, now);
    app.ui.then = Some(OnRowsLoaded::OpenFirstUnread);
    effects
}

/// Stores rows that arrived for the open list, and runs the action that waited for them.
pub fn show_rows(app: &mut App, now: DateTime<Utc>, loaded: RowsLoaded) -> Vec<ScreenEffect> {
    if loaded.list != app.ui.list.number {
        return Vec::new();
    }
    let (found, is_seek) = (loaded.found, loaded.seek);
    app.ui.list.take(loaded);
    // An action that waits for the result of a seek is not triggered by rows from another request.
    let due = match app.ui.then {
        Some(OnRowsLoaded::Open | OnRowsLoaded::OpenHere) => is_seek,
        Some(OnRowsLoaded::OpenFirstUnread | OnRowsLoaded::ComeBack { .. }) | None => true,
    };
    let then = if due { app.ui.then.take() } else { None };
    let mut effects = load_rows::load_visible_rows(app);
    if app.ui.list.stale && !app.ui.list.waiting {
        app.ui.list.stale = false;
        effects.extend(load_rows::refresh_list(app, now));
    }
    effects.extend(match (then, found) {
        (Some(OnRowsLoaded::Open | OnRowsLoaded::OpenHere), Some(place)) => {
            open_place(app, now, place)
        }
        (Some(OnRowsLoaded::Open), None) => open_next_feed(app, now),
        (Some(OnRowsLoaded::OpenHere), None) => say_nothing_here(app, now),
        (Some(OnRowsLoaded::OpenFirstUnread), _) => open_first_unread(app, now),
        (Some(OnRowsLoaded::ComeBack { entry, is_open, pane }), _) => {
            come_back::show_entry(app, entry, is_open, pane)
        }
        (None, _) => Vec::new(),
    });
    effects
}

/// Opens the first unread entry of a newly opened list after its first rows have arrived.
fn open_first_unread(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    app.ui.focus = Pane::Entries;
    let list = &app.ui.list;
    let end = list.offset.saturating_add(list.rows.len());
    match list.rows.iter().position(|row| row.flags.is_unread()) {
        Some(place) => open_place(app, now, place.saturating_add(app.ui.list.offset)),
        None if end >= list.total => say_nothing_here(app, now),
        None => {
            app.ui.then = Some(OnRowsLoaded::OpenHere);
            seek_row(app, Seek { from: end, down: true, what: SeekTarget::Unread })
        }
    }
}

/// Opens the next or previous entry of the list, even if it has been read.
pub fn open_neighbour(app: &mut App, now: DateTime<Utc>, down: bool) -> Vec<ScreenEffect> {
    let list = &app.ui.list;
    let place = if down { list.selected.checked_add(1) } else { list.selected.checked_sub(1) };
    match place.filter(|&place| list.row(place).is_some()) {
        Some(place) => open_place(app, now, place),
        None => Vec::new(),
    }
}

/// Switches between the reader pane alone and all panes.
pub fn toggle_zoom(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let alone = app.ui.usual_arrangement() == Arrangement::Narrow;
    if alone && app.ui.focus == Pane::Reader {
        return app.ui.say_only(now, "the text already fills the screen: only one pane fits");
    }
    app.ui.zoomed = app.ui.focus != Pane::Reader || !app.ui.zoomed;
    match app.ui.focus {
        Pane::Entries if app.ui.reader.is_none() && !app.ui.explains_gap() => {
            open_selected(app, now)
        }
        Pane::Feeds | Pane::Entries => {
            navigation::go_right(app);
            Vec::new()
        }
        Pane::Reader => Vec::new(),
    }
}

/// Adds a digit to the link number that the user is typing. The link opens as soon as no longer number could exist.
pub fn type_digit(app: &mut App, now: DateTime<Utc>, digit: char) -> Vec<ScreenEffect> {
    let Some(reader) = app.ui.shown_reader_mut() else { return Vec::new() };
    if digit == '0' && reader.digits.is_empty() {
        return Vec::new();
    }
    reader.digits.push(digit);
    let links = reader.rendered.as_ref().map_or(0, |text| text.links.len());
    let number = reader.digits.parse::<usize>().unwrap_or(usize::MAX);
    if number.saturating_mul(10) > links {
        return follow_typed(app, now);
    }
    let number = u16::try_from(number).unwrap_or(u16::MAX);
    let target = reader.rendered.as_ref().and_then(|text| text.target(number));
    let target = target.map_or("", |link| link.url.as_str());
    let hint = format!("link {number}: Enter opens {target}, or type another digit");
    app.ui.say_only(now, hint)
}

/// Opens the link whose number was typed.
pub fn follow_typed(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(reader) = app.ui.shown_reader_mut() else { return Vec::new() };
    let digits = std::mem::take(&mut reader.digits);
    match digits.parse() {
        Ok(number) if number < INSIDE_FIRST => follow_link(app, now, number),
        Ok(_) | Err(_) => app.ui.say_only(now, format!("this entry has no link {digits}")),
    }
}

/// Opens the link with a number, or goes to the place in the text that it leads to.
pub fn follow_link(app: &mut App, now: DateTime<Utc>, number: u16) -> Vec<ScreenEffect> {
    let rows = usize::from(app.ui.viewport.reader_rows);
    let Some(reader) = app.ui.shown_reader_mut() else { return Vec::new() };
    let text = reader.rendered.as_ref();
    if let Some((text, line)) = text.and_then(|text| Some((text, text.line_of(number)?))) {
        let to = line.min(text.lines.len().saturating_sub(rows));
        reader.came_from = Some((reader.scroll, to));
        reader.scroll = to;
        return app.ui.say_only(now, "{back} returns to the previous place");
    }
    // A link to a place that has no text, in an entry without an address, leads nowhere.
    let url = text.and_then(|text| text.target(number)).map(|link| link.url.clone());
    let Some(url) = url.filter(|url| !url.starts_with("about:")) else {
        let why = if number < INSIDE_FIRST {
            format!("this entry has no link {number}")
        } else {
            "the text does not show the place that this link leads to".to_owned()
        };
        return app.ui.say_only(now, why);
    };
    let attached = text.is_some_and(|text| text.enclosures.contains(&number));
    let (file, from) = split_media_time(&url);
    let timed = from.and_then(|from| Some((attached_file(app, file)?, from)));
    if let Some((file, from)) = timed {
        let attached = Some(file.media_type.clone().unwrap_or_default());
        app.ui.say(now, format!("playing from {}", clock_words(from)));
        return app.ask(now, Request::Open { link: url, attached });
    }
    app.ui.say(now, format!("opening {url}"));
    let attached = attached.then(|| media_type(app, &url));
    app.ask(now, Request::Open { link: url, attached })
}

/// Returns the file at an address that is attached to the open entry.
fn attached_file<'a>(app: &'a App, link: &str) -> Option<&'a Enclosure> {
    let reader = app.ui.shown_reader()?;
    reader.entry.kept.enclosures.iter().find(|file| file.url == link)
}

/// Returns the media type of a file that is attached to the open entry; an empty string if the publisher states none.
fn media_type(app: &App, link: &str) -> String {
    attached_file(app, link).and_then(|file| file.media_type.clone()).unwrap_or_default()
}

/// Opens the first file attached to the open entry.
pub fn open_enclosure(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(text) = app.ui.shown_reader().and_then(|reader| reader.rendered.as_ref()) else {
        return app.ui.say_only(now, "open the entry first, then its attached file");
    };
    let place = text.enclosures.first().and_then(|number| usize::from(*number).checked_sub(1));
    let Some(link) = place.and_then(|place| text.links.get(place)).map(|link| link.url.clone())
    else {
        return app.ui.say_only(now, "no file is attached to this entry");
    };
    let more = text.enclosures.len().saturating_sub(1);
    let others = if more > 0 { format!(" · open {more} more by number") } else { String::new() };
    app.ui.say(now, format!("opening {link}{others}"));
    let attached = Some(media_type(app, &link));
    app.ask(now, Request::Open { link, attached })
}

/// Requests the entries that the user is likely to open after the open one, and drops all other entries read in advance.
pub fn ask_ahead(app: &mut App, sought: SeekTarget) -> Vec<ScreenEffect> {
    let list = &app.ui.list;
    let rows = || {
        let behind = list.selected.saturating_add(1)..;
        behind.map_while(|place| list.row(place)).filter_map(|row| Some((row.key.entry()?, row)))
    };
    let unread = rows().find(|(_, row)| sought.takes(row.flags));
    let mut wanted: Vec<EntryKey> =
        rows().next().into_iter().chain(unread).map(|(key, _)| key).collect();
    wanted.dedup();
    let ahead = &mut app.ui.ahead.entries;
    ahead.retain(|(key, _)| wanted.contains(key));
    wanted.retain(|wanted| ahead.iter().all(|(key, _)| key != wanted));
    ahead.extend(wanted.iter().map(|key| (*key, None)));
    wanted.into_iter().map(|key| ask_store(ScreenRequest::Entry(key))).collect()
}
