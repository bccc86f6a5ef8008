//! Restores the list and the entry that were open when the program was last closed.

use super::app::{App, Cx, OnRowsLoaded};
use super::effect::ask_store;
use super::panes::entry_list::WINDOW_ROWS;
use super::panes::{feeds_pane, load_rows};
use super::state::feeds_pane::{FeedsRow, PlaceList, ScreenPlace};
use super::state::layout::Pane;
use crate::engine::entries::rows::{RowKey, RowsWanted};
use crate::engine::store_work::Job;
use backissue_core::history::EntryKey;

/// Returns the current list, entry and layout, to be restored at the next start.
pub fn place_of(app: &App) -> ScreenPlace {
    let ui = &app.ui;
    let before = ui.search.as_ref().map(|search| &search.before);
    let (list, focus) = match before {
        // A search is not restored at the next start, so the list that was open before the search is saved instead.
        Some(before) => (&before.list, before.focus),
        None => (&ui.list, ui.focus),
    };
    let entry = list.selected_row().and_then(|row| row.key.entry());
    let read = match before {
        Some(before) => before.reader.as_ref(),
        None => ui.shown_reader(),
    };
    ScreenPlace {
        list: ui.feeds.selected_row().map(PlaceList::of).unwrap_or_default(),
        entry,
        is_open: read.is_some_and(|reader| Some(reader.entry.key) == entry),
        focus,
        order: ui.feeds.order,
        show: ui.show,
        layout: ui.layout,
        list_share: ui.list_share,
        orders: ui.orders.clone(),
        hides_read_feeds: ui.hides_read_feeds,
        theme: ui.theme.clone(),
        is_zoomed: ui.zoomed,
    }
}

/// Opens the saved list and entry. A list or entry that no longer exists is skipped.
pub fn come_back(cx: &mut Cx<'_>, place: ScreenPlace) {
    let ScreenPlace { list, entry, is_open, focus, order, show, layout, .. } = place;
    (cx.app.ui.orders, cx.app.ui.hides_read_feeds) = (place.orders, place.hides_read_feeds);
    cx.app.ui.list_share = place.list_share;
    let (theme, is_zoomed) = (place.theme, place.is_zoomed);
    // A theme whose file is gone is ignored.
    cx.app.ui.theme = theme.filter(|name| cx.app.ui.appearance.choose(name).is_ok());
    (cx.app.ui.show, cx.app.ui.layout, cx.app.ui.zoomed) = (show, layout, is_zoomed);
    cx.app.ui.feeds.order = order;
    feeds_pane::rebuild_rows(cx.app);
    let found = cx.app.ui.feeds.rows.iter().position(|row| PlaceList::of(row) == list);
    let Some(found) = found else { return load_rows::open_list(cx) };
    cx.app.ui.feeds.selected = found;
    let begun = cx.out.len();
    load_rows::open_list(cx);
    let is_listed = !matches!(cx.app.ui.feeds.selected_row(), Some(FeedsRow::Attention));
    let Some(entry) = entry else {
        cx.app.ui.focus = if is_listed { Pane::Feeds } else { list_pane(focus) };
        return;
    };
    let pane = if is_open { focus } else { list_pane(focus) };
    // The first rows of the list are not needed.
    cx.out.truncate(begun);
    cx.app.ui.then = Some(OnRowsLoaded::ComeBack { entry, is_open, pane });
    open_around(cx, entry);
}

/// Returns the list pane to focus if no entry is open in the reader.
const fn list_pane(focus: Pane) -> Pane {
    match focus {
        Pane::Feeds => Pane::Feeds,
        Pane::Entries | Pane::Reader => Pane::Entries,
    }
}

/// Requests the rows of the open list around `entry`. The entry stays in the list even if it has been read.
fn open_around(cx: &mut Cx<'_>, entry: EntryKey) {
    cx.app.ui.list.keep.insert(entry);
    let query = load_rows::build_query(cx.app, cx.now);
    cx.read_rows(RowsWanted {
        rebuild: Some(query),
        around: Some(RowKey::Entry(entry)),
        asked: Some(0),
        ..RowsWanted::at(cx.app.ui.list.number, 0, WINDOW_ROWS)
    });
}

/// Selects the saved entry if it is among the loaded rows, and opens its text if the text was open.
pub fn show_entry(cx: &mut Cx<'_>, entry: EntryKey, is_open: bool, pane: Pane) {
    let is_here = cx.app.ui.list.selected_row().is_some_and(|row| row.key == RowKey::Entry(entry));
    if !is_here {
        return;
    }
    cx.app.ui.focus = pane;
    if !is_open {
        return;
    }
    cx.app.ui.opening = Some(entry);
    cx.out.push(ask_store(Job::ReadEntry(entry)));
}
