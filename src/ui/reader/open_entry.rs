//! Opens entries in the reader, moves to the next or previous unread entry, and opens links of the text.
//!
//! Entries that the user is likely to open next are read from the store in advance, so that they appear as soon as a key is
//! pressed.

use backissue_core::feed::Enclosure;
use backissue_core::history::EntryKey;
use backissue_core::words::clock_words;

use super::lay_out::ask_lines;
use super::lines::INSIDE_FIRST;
use super::{full_text, reading_position};
use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::entries::rows::{
    Row, RowKey, RowOrder, RowsLoaded, RowsWanted, Seek, SeekTarget, Show,
};
use crate::engine::request::Request;
use crate::engine::start_external::split_media_time;
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx, OnRowsLoaded};
use crate::ui::come_back;
use crate::ui::effect::ask_store;
use crate::ui::panes::entry_list::rows_around;
use crate::ui::panes::{browsing, feeds_pane, load_rows, navigation};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::{Arrangement, Pane};
use crate::ui::state::reader::{AheadEntry, Reader, TextSource};

/// Opens the selected entry and marks it as read. At a gap, requests the missing entries instead.
pub fn open_selected(cx: &mut Cx<'_>) {
    let Some(row) = cx.app.ui.list.selected_row() else { return };
    let key = match row.key {
        RowKey::Entry(key) => key,
        RowKey::Gap(feed, gap) => return cx.ask(Request::MoreHistory(feed, Some(gap))),
    };
    open_entry(cx, key);
}

/// Opens an entry of the open list, and marks it as read according to the settings.
fn open_entry(cx: &mut Cx<'_>, key: EntryKey) {
    let row = cx.app.ui.list.rows.iter().find(|row| row.key == RowKey::Entry(key));
    let unread = row.is_some_and(|row| row.flags.is_unread());
    let unopened = row.is_some_and(|row| !row.flags.was_opened());
    cx.app.ui.focus = Pane::Reader;
    cx.app.ui.find = None;
    cx.app.ui.opening = Some(key);
    match cx.app.ui.ahead.take(key) {
        AheadEntry::Here(entry) => show_entry(cx, *entry),
        AheadEntry::OnItsWay => {}
        AheadEntry::Unknown => cx.out.push(ask_store(Job::ReadEntry(key))),
    }
    if unopened && cx.app.ui.list.order == RowOrder::FromBeginning {
        browsing::mark_opened(cx, key);
    } else if unread {
        reading_position::mark_opened(cx, key);
    }
}

/// Shows an entry that was read from the store, if the user still waits for it, and requests the layout of its text.
pub fn show_entry(cx: &mut Cx<'_>, entry: LoadedEntry) {
    if cx.app.ui.opening != Some(entry.key) {
        cx.app.ui.ahead.keep(entry);
        return;
    }
    cx.app.ui.opening = None;
    let row = cx.app.ui.list.rows.iter().find(|row| row.key == RowKey::Entry(entry.key));
    let flags = row.map_or(entry.flags, |row| row.flags);
    let left = cx.app.ui.left.filter(|(left, _)| *left == entry.key);
    let place = left.map_or(entry.place, |(_, place)| place);
    let entry = LoadedEntry { flags, place, ..entry };
    cx.app.ui.reader = Some(Reader {
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
    full_text::show_if_wanted(cx);
    ask_lines(cx);
    ask_ahead(cx, sought_kind(cx.app));
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
pub fn read_on(cx: &mut Cx<'_>) {
    if cx.app.ui.focus != Pane::Reader {
        return open_next_unread(cx);
    }
    if cx.app.ui.explains_gap() {
        return open_next_unread(cx);
    }
    let laid_out = cx.app.ui.reader.as_ref().is_some_and(|reader| reader.rendered.is_some());
    if cx.app.ui.opening.is_some() || !laid_out {
        // The text is not visible yet. Ignore the key, so that the user does not skip an entry without having seen it.
        return;
    }
    let rows = usize::from(cx.app.ui.viewport.reader_rows);
    let more = cx.app.ui.reader.as_ref().is_some_and(|reader| {
        let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
        reader.scroll.saturating_add(rows) < lines
    });
    if more { navigation::move_in_pane(cx, true, Distance::Page) } else { open_next_unread(cx) }
}

/// Opens the next unread entry of the open list. This is the selected entry if its text is not open yet. If there is no next
/// entry, continues with the next feed that has unread entries.
pub fn open_next_unread(cx: &mut Cx<'_>) {
    let list = &cx.app.ui.list;
    let selected = list.selected_row().and_then(|row| row.key.entry());
    let is_open = selected.is_none() || selected == cx.app.ui.read_entry();
    let from = if is_open { list.selected.saturating_add(1) } else { list.selected };
    seek_entry(cx, Seek { from, down: true, what: sought_kind(cx.app) });
}

/// Opens the previous unread entry of the list.
pub fn open_previous_unread(cx: &mut Cx<'_>) {
    match cx.app.ui.list.selected.checked_sub(1) {
        Some(from) => seek_entry(cx, Seek { from, down: false, what: sought_kind(cx.app) }),
        None => say_nothing_above(cx),
    }
}

/// Returns the kind of entry to look for: an unopened entry if a feed is read from the beginning, and an unread entry otherwise.
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
fn seek_entry(cx: &mut Cx<'_>, seek: Seek) {
    let list = &cx.app.ui.list;
    if list.fresh {
        cx.app.ui.then = Some(OnRowsLoaded::OpenFirstUnread);
        return;
    }
    let mut place = seek.from;
    while let Some(row) = list.row(place) {
        if row.key.entry().is_some() && seek.what.takes(row.flags) {
            return open_place(cx, place);
        }
        match if seek.down { place.checked_add(1) } else { place.checked_sub(1) } {
            Some(next) => place = next,
            None => return say_nothing_above(cx),
        }
    }
    if place >= list.total {
        return open_next_feed(cx);
    }
    cx.app.ui.then = Some(OnRowsLoaded::Open);
    seek_row(cx, Seek { from: place, ..seek });
}

/// Requests the index of the next matching entry in the open list from the store.
fn seek_row(cx: &mut Cx<'_>, seek: Seek) {
    cx.app.ui.list.waiting = true;
    let rows = rows_around(cx.app.ui.viewport.entries_rows.into());
    let at = RowsWanted::at(cx.app.ui.list.number, seek.from, rows);
    cx.read_rows(RowsWanted { seek: Some(seek), ..at });
}

fn open_place(cx: &mut Cx<'_>, place: usize) {
    cx.app.ui.list.selected = place;
    load_rows::load_visible_rows(cx);
    // If the row is a gap, nothing needs to be read from the store; the reader pane explains the gap.
    if let Some(key) = cx.app.ui.list.selected_row().and_then(|row| row.key.entry()) {
        open_entry(cx, key);
    }
}

fn say_nothing_above(cx: &mut Cx<'_>) {
    cx.say("nothing unread above");
}

fn say_nothing_here(cx: &mut Cx<'_>) {
    cx.say("nothing unread here");
}

/// Opens the next feed that has unread entries. After the last feed, the search for a feed continues with the first one.
fn open_next_feed(cx: &mut Cx<'_>) {
    if matches!(cx.app.ui.feeds.selected_row(), Some(FeedsRow::Reading))
        && cx.app.ui.search.is_none()
    {
        let here = cx.app.ui.list.rows.iter().filter(|row| row.flags.is_unread()).count();
        let wait = cx.app.engine.unread().saturating_sub(here as u64);
        return cx.say(format!("that was today's: {wait} more wait"));
    }
    if cx.app.ui.show == Show::Starred || cx.app.ui.search.is_some() {
        return say_nothing_here(cx);
    }
    let pane = &cx.app.ui.feeds;
    let behind = (pane.selected.saturating_add(1)..pane.rows.len()).chain(0..pane.selected);
    let has_unread = |place: &usize| {
        let row = pane.rows.get(*place);
        row.is_some_and(|row| {
            let holds = matches!(row, FeedsRow::Feed(..)) || feeds_pane::is_folded(cx.app, row);
            holds && feeds_pane::count_unread(cx.app, row) > 0
        })
    };
    let Some(place) = behind.into_iter().find(has_unread) else {
        return cx.say("nothing unread");
    };
    cx.app.ui.feeds.selected = place;
    load_rows::open_list(cx);
    cx.app.ui.then = Some(OnRowsLoaded::OpenFirstUnread);
}

/// Stores rows that arrived for the open list, and runs the action that waited for them.
pub fn show_rows(cx: &mut Cx<'_>, loaded: RowsLoaded) {
    if loaded.list != cx.app.ui.list.number {
        return;
    }
    let (found, is_seek) = (loaded.found, loaded.seek);
    cx.app.ui.list.take(loaded);
    if !is_seek {
        close_if_gone(cx.app);
    }
    // An action that waits for the result of a seek is not triggered by rows from another request.
    let due = match cx.app.ui.then {
        Some(OnRowsLoaded::Open | OnRowsLoaded::OpenHere) => is_seek,
        Some(OnRowsLoaded::OpenFirstUnread | OnRowsLoaded::ComeBack { .. }) | None => true,
    };
    let then = if due { cx.app.ui.then.take() } else { None };
    load_rows::load_visible_rows(cx);
    if cx.app.ui.list.stale && !cx.app.ui.list.waiting {
        cx.app.ui.list.stale = false;
        load_rows::refresh_list(cx);
    }
    match (then, found) {
        (Some(OnRowsLoaded::Open | OnRowsLoaded::OpenHere), Some(place)) => open_place(cx, place),
        (Some(OnRowsLoaded::Open), None) => open_next_feed(cx),
        (Some(OnRowsLoaded::OpenHere), None) => say_nothing_here(cx),
        (Some(OnRowsLoaded::OpenFirstUnread), _) => open_first_unread(cx),
        (Some(OnRowsLoaded::ComeBack { entry, is_open, pane }), _) => {
            come_back::show_entry(cx, entry, is_open, pane);
        }
        (None, _) => {}
    }
}

/// Closes the text that has the focus if the list no longer contains its entry, for example because its feed was removed: keys would
/// act on another one.
fn close_if_gone(app: &mut App) {
    let read = app.ui.read_entry();
    let is_read = |row: &Row| {
        let shares = row.also.iter().map(|(key, _)| key).chain(&row.inside.entries);
        row.key.entry().is_none()
            || row.key.entry() == read
            || shares.copied().any(|key| Some(key) == read)
    };
    let is_there = app.ui.list.selected_row().map_or(app.ui.list.total > 0, is_read);
    if app.ui.focus == Pane::Reader && read.is_some() && !is_there {
        (app.ui.reader, app.ui.opening) = (None, None);
        app.ui.focus = Pane::Entries;
    }
}

/// Opens the first unread entry of a newly opened list after its first rows have arrived.
fn open_first_unread(cx: &mut Cx<'_>) {
    cx.app.ui.focus = Pane::Entries;
    let list = &cx.app.ui.list;
    let end = list.offset.saturating_add(list.rows.len());
    match list.rows.iter().position(|row| row.flags.is_unread()) {
        Some(place) => open_place(cx, place.saturating_add(cx.app.ui.list.offset)),
        None if end >= list.total => say_nothing_here(cx),
        None => {
            cx.app.ui.then = Some(OnRowsLoaded::OpenHere);
            seek_row(cx, Seek { from: end, down: true, what: SeekTarget::Unread });
        }
    }
}

/// Opens the next or previous entry of the list, even if it has been read.
pub fn open_neighbour(cx: &mut Cx<'_>, down: bool) {
    let list = &cx.app.ui.list;
    let place = if down { list.selected.checked_add(1) } else { list.selected.checked_sub(1) };
    if let Some(place) = place.filter(|&place| list.row(place).is_some()) {
        open_place(cx, place);
    }
}

/// Switches between the reader pane alone and all panes.
pub fn toggle_zoom(cx: &mut Cx<'_>) {
    let alone = cx.app.ui.usual_arrangement() == Arrangement::Narrow;
    if alone && cx.app.ui.focus == Pane::Reader {
        return cx.say("the text already fills the screen: only one pane fits");
    }
    cx.app.ui.zoomed = cx.app.ui.focus != Pane::Reader || !cx.app.ui.zoomed;
    match cx.app.ui.focus {
        Pane::Entries if cx.app.ui.reader.is_none() && !cx.app.ui.explains_gap() => {
            open_selected(cx);
        }
        Pane::Feeds | Pane::Entries => {
            navigation::go_right(cx.app);
        }
        Pane::Reader => {}
    }
}

/// Adds a digit to the link number that the user is typing. The link opens as soon as no longer number could exist.
pub fn type_digit(cx: &mut Cx<'_>, digit: char) {
    let Some(reader) = cx.app.ui.shown_reader_mut() else { return };
    if digit == '0' && reader.digits.is_empty() {
        return;
    }
    reader.digits.push(digit);
    let links = reader.rendered.as_ref().map_or(0, |text| text.links.len());
    let number = reader.digits.parse::<usize>().unwrap_or(usize::MAX);
    if number.saturating_mul(10) > links {
        return follow_typed(cx);
    }
    let number = u16::try_from(number).unwrap_or(u16::MAX);
    let target = reader.rendered.as_ref().and_then(|text| text.target(number));
    let target = target.map_or("", |link| link.url.as_str());
    let hint = format!("link {number}: Enter opens {target}, or type another digit");
    cx.say(hint);
}

/// Opens the link whose number was typed.
pub fn follow_typed(cx: &mut Cx<'_>) {
    let Some(reader) = cx.app.ui.shown_reader_mut() else { return };
    let digits = std::mem::take(&mut reader.digits);
    match digits.parse() {
        Ok(number) if number < INSIDE_FIRST => follow_link(cx, number),
        Ok(_) | Err(_) => cx.say(format!("this entry has no link {digits}")),
    }
}

/// Opens the link with a number. If it leads to a place within the text, scrolls to this place.
pub fn follow_link(cx: &mut Cx<'_>, number: u16) {
    let rows = usize::from(cx.app.ui.viewport.reader_rows);
    let Some(reader) = cx.app.ui.shown_reader_mut() else { return };
    let text = reader.rendered.as_ref();
    if let Some((text, line)) = text.and_then(|text| Some((text, text.line_of(number)?))) {
        let to = line.min(text.lines.len().saturating_sub(rows));
        reader.came_from = Some((reader.scroll, to));
        reader.scroll = to;
        return cx.say("{back} returns to the previous place");
    }
    // In an entry without an address, a link to a place without text leads nowhere.
    let url = text.and_then(|text| text.target(number)).map(|link| link.url.clone());
    let Some(url) = url.filter(|url| !url.starts_with("about:")) else {
        let why = if number < INSIDE_FIRST {
            format!("this entry has no link {number}")
        } else {
            "the text does not show the place that this link leads to".to_owned()
        };
        return cx.say(why);
    };
    let attached = text.is_some_and(|text| text.enclosures.contains(&number));
    let (file, from) = split_media_time(&url);
    let timed = from.and_then(|from| Some((attached_file(cx.app, file)?, from)));
    if let Some((file, from)) = timed {
        let attached = Some(file.media_type.clone().unwrap_or_default());
        cx.say(format!("playing from {}", clock_words(from)));
        return cx.ask(Request::Open { link: url, attached });
    }
    cx.say(format!("opening {url}"));
    let attached = attached.then(|| media_type(cx.app, &url));
    cx.ask(Request::Open { link: url, attached });
}

/// Returns the file at an address that is attached to the open entry.
fn attached_file<'a>(app: &'a App, link: &str) -> Option<&'a Enclosure> {
    let reader = app.ui.shown_reader()?;
    reader.entry.kept.enclosures.iter().find(|file| file.url == link)
}

/// Returns the media type of a file that is attached to the open entry. Returns an empty string if the publisher specified none.
fn media_type(app: &App, link: &str) -> String {
    attached_file(app, link).and_then(|file| file.media_type.clone()).unwrap_or_default()
}

/// Opens the first file attached to the open entry.
pub fn open_enclosure(cx: &mut Cx<'_>) {
    let Some(text) = cx.app.ui.shown_reader().and_then(|reader| reader.rendered.as_ref()) else {
        return cx.say("open the entry first, then its attached file");
    };
    let place = text.enclosures.first().and_then(|number| usize::from(*number).checked_sub(1));
    let Some(link) = place.and_then(|place| text.links.get(place)).map(|link| link.url.clone())
    else {
        return cx.say("no file is attached to this entry");
    };
    let more = text.enclosures.len().saturating_sub(1);
    let others = if more > 0 { format!(" · open {more} more by number") } else { String::new() };
    cx.say(format!("opening {link}{others}"));
    let attached = Some(media_type(cx.app, &link));
    cx.ask(Request::Open { link, attached });
}

/// Requests the entries that the user is likely to open after the open one, and drops all other entries read in advance.
pub fn ask_ahead(cx: &mut Cx<'_>, sought: SeekTarget) {
    let list = &cx.app.ui.list;
    let rows = || {
        let behind = list.selected.saturating_add(1)..;
        behind.map_while(|place| list.row(place)).filter_map(|row| Some((row.key.entry()?, row)))
    };
    let unread = rows().find(|(_, row)| sought.takes(row.flags));
    let mut wanted: Vec<EntryKey> =
        rows().next().into_iter().chain(unread).map(|(key, _)| key).collect();
    wanted.dedup();
    let ahead = &mut cx.app.ui.ahead.entries;
    ahead.retain(|(key, _)| wanted.contains(key));
    wanted.retain(|wanted| ahead.iter().all(|(key, _)| key != wanted));
    ahead.extend(wanted.iter().map(|key| (*key, None)));
    cx.out.extend(wanted.into_iter().map(|key| ask_store(Job::ReadEntry(key))));
}
