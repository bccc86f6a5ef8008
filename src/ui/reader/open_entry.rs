//! Reading: opening an entry, walking from unread to unread, following links.

use chrono::{DateTime, Utc};

use super::picture_places;
use super::pictures;
use super::read_ahead;
use super::read_ahead::Taken;
use super::reading_position;
use crate::engine::backfill::history_actions;
use crate::engine::effect::Effect;
use crate::engine::effect::RenderWanted;
use crate::engine::effect::RenderedEntry;
use crate::engine::entries::full_text;
use crate::engine::entries::full_text::Source;
use crate::engine::entries::marks;
use crate::engine::model::Model;
use crate::engine::msg::LoadedEntry;
use crate::engine::run_external;
use crate::history::{EntryKey, Flag};
use crate::ui::panes::browsing;
use crate::ui::panes::entry_list::RowKey;
use crate::ui::panes::entry_list::RowOrder;
use crate::ui::panes::entry_list::RowsLoaded;
use crate::ui::panes::entry_list::RowsWanted;
use crate::ui::panes::entry_list::Seek;
use crate::ui::panes::entry_list::Show;
use crate::ui::panes::entry_list::Sought;
use crate::ui::panes::entry_list::rows_around;
use crate::ui::panes::feeds_pane;
use crate::ui::panes::feeds_pane::FeedsRow;
use crate::ui::panes::navigation;
use crate::ui::panes::navigation::Distance;
use crate::ui::panes::tag_tree;
use crate::ui::screen::Pane;
use crate::ui::screen::Reader;
use crate::ui::screen::Then;

/// Opens the selected entry and marks it read.
pub fn open_selected(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(row) = model.screen.list.selected_row() else { return Vec::new() };
    let key = match row.key {
        RowKey::Entry(key) => key,
        RowKey::Gap(feed, gap) => return history_actions::wish(model, now, feed, Some(gap)),
    };
    open(model, now, key)
}

/// Opens an entry of the open list and marks it read.
fn open(model: &mut Model, now: DateTime<Utc>, key: EntryKey) -> Vec<Effect> {
    let row = model.screen.list.rows.iter().find(|row| row.key == RowKey::Entry(key));
    let unread = row.is_some_and(|row| row.flags.is_unread());
    let unopened = row.is_some_and(|row| !row.flags.was_opened());
    model.screen.focus = Pane::Reader;
    model.screen.opening = Some(key);
    let mut effects = match model.screen.ahead.take(key) {
        Taken::Here(entry) => loaded(model, now, *entry),
        Taken::OnItsWay => Vec::new(),
        Taken::Unknown => vec![Effect::LoadEntry(key)],
    };
    if unopened && model.screen.list.order == RowOrder::OldestFirst {
        effects.extend(browsing::opened(model, key));
    } else if unread {
        effects.extend(marks::set(model, key, Flag::Read, true));
    }
    effects
}

/// An entry has been read from the store: it is shown, and its text is made into lines.
pub fn loaded(model: &mut Model, now: DateTime<Utc>, entry: LoadedEntry) -> Vec<Effect> {
    if model.screen.opening != Some(entry.key) {
        model.screen.ahead.keep(entry);
        return Vec::new();
    }
    model.screen.opening = None;
    let row = model.screen.list.rows.iter().find(|row| row.key == RowKey::Entry(entry.key));
    let flags = row.map_or(entry.flags, |row| row.flags);
    let left = model.screen.left.filter(|(left, _)| *left == entry.key);
    let place = left.map_or(entry.place, |(_, place)| place);
    let entry = LoadedEntry { flags, place, ..entry };
    model.screen.reader = Some(Reader {
        entry,
        source: Source::Feed,
        rendered: None,
        width: 0,
        scroll: 0,
        sideways: 0,
        starts: Vec::new(),
        digits: String::new(),
        pictures: Vec::new(),
    });
    let mut effects = full_text::opened(model, now);
    effects.extend(render(model));
    effects.extend(read_ahead::ask(model, sought(model)));
    effects
}

/// An entry could not be read: nothing stands in its place.
pub fn not_loaded(model: &mut Model, key: EntryKey) {
    model.screen.ahead.give_up(key);
    if model.screen.opening == Some(key) {
        model.screen.opening = None;
        model.screen.reader = None;
        model.screen.focus = Pane::Entries;
    }
}

/// Rows could not be read: they are not waited for any longer.
pub fn rows_failed(model: &mut Model, list: u64) {
    if model.screen.list.number == list {
        (model.screen.list.waiting, model.screen.list.fresh) = (false, false);
        model.screen.then = None;
    }
}

/// Asks for the lines of the entry being read, if they are not of the pane's width.
pub fn render(model: &mut Model) -> Vec<Effect> {
    let columns = model.screen.viewport.reader_columns;
    let width = columns.min(model.settings.ui.text_width);
    let Some(reader) = &mut model.screen.reader else { return Vec::new() };
    if reader.width == width || width == 0 {
        return Vec::new();
    }
    reader.width = width;
    let (html, base) = reader.markup();
    let site = model.feeds.get(&reader.entry.key.feed).and_then(|feed| feed.record.site.clone());
    let (html, base) = (html.to_owned(), base.map(str::to_owned).or(site));
    let (key, source) = (reader.entry.key, reader.source);
    let enclosures = reader.entry.kept.enclosures.clone();
    // Who has the screen read out cannot look sideways.
    let slides = !model.screen.appearance.plain;
    vec![Effect::Render(RenderWanted { key, source, html, base, enclosures, width, slides })]
}

/// Lines have been made. Another width shows the same place of the text; an entry that was left is where it was.
pub fn rendered(model: &mut Model, made: RenderedEntry) {
    let rows = usize::from(model.screen.viewport.reader_rows);
    let Some(reader) = &mut model.screen.reader else { return };
    let of_page = |source| source == Source::Page;
    let other = reader.entry.key != made.key || of_page(reader.source) != of_page(made.source);
    if other || reader.width != made.width {
        return;
    }
    let place = if reader.rendered.is_some() { reader.place() } else { reader.entry.place };
    let at_top = reader.rendered.as_ref().and_then(|_| picture_places::at_top(reader));
    reader.starts = reading_position::starts(&made.rendered);
    let line = place.map_or(0, |place| reading_position::line_at(&reader.starts, place));
    reader.scroll = line.min(made.rendered.lines.len().saturating_sub(rows));
    reader.pictures = picture_places::found(&made.rendered);
    reader.rendered = Some(made.rendered);
    let shown = pictures::are_shown(model);
    picture_places::arrange(model, shown);
    if let (Some(reader), Some(picture)) = (&mut model.screen.reader, at_top) {
        picture_places::put_at_top(reader, picture);
    }
}

/// A page down; at the end of the text the next unread entry.
pub fn space(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if model.screen.focus != Pane::Reader {
        return next_unread(model, now);
    }
    if model.screen.explains_gap() {
        return next_unread(model, now);
    }
    let laid_out = model.screen.reader.as_ref().is_some_and(|reader| reader.rendered.is_some());
    if model.screen.opening.is_some() || !laid_out {
        // What has not been on the screen cannot have been read.
        return Vec::new();
    }
    let rows = usize::from(model.screen.viewport.reader_rows);
    let more = model.screen.reader.as_ref().is_some_and(|reader| {
        let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
        reader.scroll.saturating_add(rows) < lines
    });
    if more { navigation::go(model, now, true, Distance::Page) } else { next_unread(model, now) }
}

/// Opens the next unread entry of the list, else of the next feed that has one.
pub fn next_unread(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let list = &model.screen.list;
    let from = if model.screen.focus == Pane::Feeds {
        list.selected
    } else {
        list.selected.saturating_add(1)
    };
    seek(model, now, Seek { from, down: true, what: sought(model) })
}

/// Opens the previous unread entry of the list.
pub fn previous_unread(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    match model.screen.list.selected.checked_sub(1) {
        Some(from) => seek(model, now, Seek { from, down: false, what: sought(model) }),
        None => nothing_above(model, now),
    }
}

/// What the next entry is: where a feed is read from its beginning, the next that was not opened.
const fn sought(model: &Model) -> Sought {
    match model.screen.list.order {
        RowOrder::OldestFirst => Sought::Unopened,
        RowOrder::NewestFirst | RowOrder::BestFirst => Sought::Unread,
    }
}

/// Looks among the rows in memory first; only where they end is the store asked.
fn seek(model: &mut Model, now: DateTime<Utc>, seek: Seek) -> Vec<Effect> {
    let list = &model.screen.list;
    if list.fresh {
        model.screen.then = Some(Then::OpenFirstUnread);
        return Vec::new();
    }
    let mut place = seek.from;
    while let Some(row) = list.row(place) {
        if row.key.entry().is_some() && seek.what.takes(row.flags) {
            return open_at(model, now, place);
        }
        match if seek.down { place.checked_add(1) } else { place.checked_sub(1) } {
            Some(next) => place = next,
            None => return nothing_above(model, now),
        }
    }
    if place >= list.total {
        return next_feed(model, now);
    }
    model.screen.then = Some(Then::Open);
    ask_for(model, Seek { from: place, ..seek })
}

/// Asks the store where the next entry of a kind stands.
fn ask_for(model: &mut Model, seek: Seek) -> Vec<Effect> {
    model.screen.list.waiting = true;
    let rows = rows_around(model.screen.viewport.entries_rows.into());
    let at = RowsWanted::at(model.screen.list.number, seek.from, rows);
    vec![Effect::LoadRows(RowsWanted { seek: Some(seek), ..at })]
}

fn open_at(model: &mut Model, now: DateTime<Utc>, place: usize) -> Vec<Effect> {
    model.screen.list.selected = place;
    let mut effects = navigation::settle(model);
    // Coming by a gap asks for nothing: the reader pane explains it.
    if let Some(key) = model.screen.list.selected_row().and_then(|row| row.key.entry()) {
        effects.extend(open(model, now, key));
    }
    effects
}

fn nothing_above(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    model.screen.say(now, "nothing unread above");
    Vec::new()
}

fn nothing(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    model.screen.say(now, "nothing unread here");
    Vec::new()
}

/// Goes on to the next feed with unread entries, around the end once.
fn next_feed(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if model.screen.show == Show::Starred || model.screen.search.is_some() {
        return nothing(model, now);
    }
    let pane = &model.screen.feeds;
    let behind = (pane.selected.saturating_add(1)..pane.rows.len()).chain(0..pane.selected);
    let has_unread = |place: &usize| {
        let row = pane.rows.get(*place);
        row.is_some_and(|row| {
            let holds = matches!(row, FeedsRow::Feed(..)) || tag_tree::is_folded(model, row);
            holds && feeds_pane::unread(model, row) > 0
        })
    };
    let Some(place) = behind.into_iter().find(has_unread) else {
        model.screen.say(now, "nothing unread");
        return Vec::new();
    };
    model.screen.feeds.selected = place;
    let effects = navigation::open_list(model, now);
    model.screen.then = Some(Then::OpenFirstUnread);
    effects
}

/// Rows have come: they are shown, and what waited for them is done.
pub fn rows_loaded(model: &mut Model, now: DateTime<Utc>, loaded: RowsLoaded) -> Vec<Effect> {
    if loaded.list != model.screen.list.number {
        return Vec::new();
    }
    let (found, is_seek) = (loaded.found, loaded.seek);
    model.screen.list.take(loaded);
    // An answer to something else leaves what waits for the seek waiting.
    let due = match model.screen.then {
        Some(Then::Open | Then::OpenHere) => is_seek,
        Some(Then::OpenFirstUnread) | None => true,
    };
    let then = if due { model.screen.then.take() } else { None };
    let mut effects = navigation::settle(model);
    if model.screen.list.stale && !model.screen.list.waiting {
        model.screen.list.stale = false;
        effects.extend(navigation::refresh_list(model, now));
    }
    effects.extend(match (then, found) {
        (Some(Then::Open | Then::OpenHere), Some(place)) => open_at(model, now, place),
        (Some(Then::Open), None) => next_feed(model, now),
        (Some(Then::OpenHere), None) => nothing(model, now),
        (Some(Then::OpenFirstUnread), _) => open_first_unread(model, now),
        (None, _) => Vec::new(),
    });
    effects
}

/// The first unread entry of a list whose beginning has come.
fn open_first_unread(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    model.screen.focus = Pane::Entries;
    let list = &model.screen.list;
    let end = list.offset.saturating_add(list.rows.len());
    match list.rows.iter().position(|row| row.flags.is_unread()) {
        Some(place) => open_at(model, now, place.saturating_add(model.screen.list.offset)),
        None if end >= list.total => nothing(model, now),
        None => {
            model.screen.then = Some(Then::OpenHere);
            ask_for(model, Seek { from: end, down: true, what: Sought::Unread })
        }
    }
}

/// The next or previous entry, read or not, while reading.
pub fn neighbour(model: &mut Model, now: DateTime<Utc>, down: bool) -> Vec<Effect> {
    let list = &model.screen.list;
    let place = if down { list.selected.checked_add(1) } else { list.selected.checked_sub(1) };
    match place.filter(|&place| list.row(place).is_some()) {
        Some(place) => open_at(model, now, place),
        None => Vec::new(),
    }
}

/// Opens the entry's page in the browser and marks the entry read.
pub fn open_page(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(row) = model.screen.list.selected_row() else { return Vec::new() };
    let (key, link, unread) = (row.key.entry(), row.link.clone(), row.flags.is_unread());
    let (Some(key), Some(link)) = (key, link) else {
        model.screen.say(now, "this entry has no link");
        return Vec::new();
    };
    model.screen.say(now, format!("opening {link}"));
    let mut effects = vec![run_external::show(model, link)];
    if unread {
        effects.extend(marks::set(model, key, Flag::Read, true));
    }
    effects
}

/// The reader pane alone on the screen, or beside the others again.
pub fn zoom(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    model.screen.zoomed = model.screen.focus != Pane::Reader || !model.screen.zoomed;
    match model.screen.focus {
        Pane::Entries if model.screen.reader.is_none() && !model.screen.explains_gap() => {
            open_selected(model, now)
        }
        Pane::Feeds | Pane::Entries => {
            navigation::right(model);
            Vec::new()
        }
        Pane::Reader => Vec::new(),
    }
}

/// A digit of a link's number. The link is opened as soon as no longer number can be meant.
pub fn digit(model: &mut Model, now: DateTime<Utc>, digit: char) -> Vec<Effect> {
    let Some(reader) = model.screen.shown_reader_mut() else { return Vec::new() };
    if digit == '0' && reader.digits.is_empty() {
        return Vec::new();
    }
    reader.digits.push(digit);
    let links = reader.rendered.as_ref().map_or(0, |text| text.links.len());
    let number = reader.digits.parse::<usize>().unwrap_or(usize::MAX);
    if number.saturating_mul(10) > links {
        return follow(model, now);
    }
    let place = number.checked_sub(1);
    let target = place.and_then(|place| reader.rendered.as_ref()?.links.get(place));
    let target = target.map_or("", |link| link.url.as_str());
    let hint = format!("link {number}: Enter opens {target}, or another digit");
    model.screen.say(now, hint);
    Vec::new()
}

/// Opens the link whose number was typed.
pub fn follow(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(reader) = model.screen.shown_reader_mut() else { return Vec::new() };
    let digits = std::mem::take(&mut reader.digits);
    let place = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let link = place.and_then(|place| reader.rendered.as_ref()?.links.get(place));
    let attached = place.and_then(|place| u16::try_from(place.saturating_add(1)).ok());
    let attached = attached.is_some_and(|number| {
        reader.rendered.as_ref().is_some_and(|text| text.enclosures.contains(&number))
    });
    let Some(url) = link.map(|link| link.url.clone()) else {
        model.screen.say(now, format!("this entry has no link {digits}"));
        return Vec::new();
    };
    model.screen.say(now, format!("opening {url}"));
    vec![if attached { run_external::play(model, url) } else { run_external::show(model, url) }]
}

/// Opens the first file attached to the entry being read.
pub fn play(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(text) = model.screen.shown_reader().and_then(|reader| reader.rendered.as_ref()) else {
        model.screen.say(now, "open the entry first: E opens a file that is attached to it");
        return Vec::new();
    };
    let place = text.enclosures.first().and_then(|number| usize::from(*number).checked_sub(1));
    let Some(link) = place.and_then(|place| text.links.get(place)).map(|link| link.url.clone())
    else {
        model.screen.say(now, "no file is attached to this entry");
        return Vec::new();
    };
    let more = text.enclosures.len().saturating_sub(1);
    let others = if more > 0 { format!(" · {more} more by their numbers") } else { String::new() };
    model.screen.say(now, format!("opening {link}{others}"));
    vec![run_external::play(model, link)]
}
