//! Moving about: between rows, between panes, between pages.

use chrono::{DateTime, Utc};

use super::entry_list::{Listing, WINDOW_ROWS, sight_rows};
use super::{attention, feeds_pane, search_pane};
use crate::engine::entries::rows::RowsWanted;
use crate::engine::feeds::trouble::concerns;
use crate::engine::store_work::Job;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, store};
use crate::ui::overlays::table;
use crate::ui::scroll_list::{Distance, moved};
use crate::ui::state::layout::{Arrangement, Pane};

/// Moves down (`true`) or up in what has the keys.
pub fn go(app: &mut App, now: DateTime<Utc>, down: bool, distance: Distance) -> Vec<ScreenEffect> {
    if table::open_row(app).is_some_and(|row| (row.scroll)(app, down, distance)) {
        return Vec::new();
    }
    let viewport = app.ui.viewport;
    match app.ui.focus {
        Pane::Feeds => {
            let pane = &mut app.ui.feeds;
            let before = pane.selected;
            let steps = distance.steps(viewport.feeds_rows);
            pane.selected = moved(pane.selected, pane.rows.len(), down, steps);
            if pane.selected == before { Vec::new() } else { open_list(app, now) }
        }
        Pane::Entries if attention::is_open(app) => {
            let count = concerns(&app.engine, now).len();
            let page = usize::from(viewport.entries_rows) / attention::ROW_LINES;
            let place = &mut app.ui.attention;
            let rows = u16::try_from(page).unwrap_or(u16::MAX);
            place.step(down, distance.steps(rows), count);
            place.keep_in_sight(count, page.max(1));
            Vec::new()
        }
        Pane::Entries => go_in_list(app, down, distance),
        Pane::Reader => {
            if let Some(reader) = app.ui.shown_reader_mut() {
                let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
                let last = lines.saturating_sub(usize::from(viewport.reader_rows));
                reader.scroll = moved(
                    reader.scroll,
                    last.saturating_add(1),
                    down,
                    distance.steps(viewport.reader_rows),
                );
            }
            Vec::new()
        }
    }
}

/// Moves down (`true`) or up in the entry list.
pub fn go_in_list(app: &mut App, down: bool, distance: Distance) -> Vec<ScreenEffect> {
    let steps = distance.steps(app.ui.viewport.entries_rows);
    let list = &mut app.ui.list;
    list.selected = moved(list.selected, list.total, down, steps);
    load_visible_rows(app)
}

/// After the selection moved: the row is brought into sight, rows near the edge are asked for.
pub fn load_visible_rows(app: &mut App) -> Vec<ScreenEffect> {
    let height = usize::from(app.ui.viewport.entries_rows);
    app.ui.list.keep_in_sight(height.max(1), app.engine.zone);
    let Some(wanted) = app.ui.list.wanted(height) else { return Vec::new() };
    app.ui.list.waiting = true;
    vec![store(Job::ReadRows(wanted))]
}

/// Opens the list of the selected row of the subscriptions, from its beginning.
pub fn open_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let number = app.ui.list.number.saturating_add(1);
    app.ui.list = Listing { number, waiting: true, fresh: true, ..Listing::default() };
    app.ui.then = None;
    search_pane::forget(app);
    // What was open belongs to the list that was left.
    (app.ui.reader, app.ui.opening) = (None, None);
    let query = feeds_pane::query(app, now);
    app.ui.list.gaps.clone_from(&query.gaps);
    let height = usize::from(app.ui.viewport.feeds_rows);
    app.ui.feeds.keep_in_sight(height);
    let rows = sight_rows(app.ui.viewport.entries_rows.into());
    vec![store(Job::ReadRows(RowsWanted {
        rebuild: Some(query),
        ..RowsWanted::at(number, 0, rows)
    }))]
}

/// Builds the open list anew; the selection stays on its entry.
pub fn refresh_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let around = app.ui.list.selected_row().map(|row| row.key);
    // At the top the reader wants to see what arrives; elsewhere the screen stays still.
    let around = around.filter(|_| app.ui.list.selected > 0 || app.ui.focus != Pane::Feeds);
    let query = feeds_pane::query(app, now);
    let list = &mut app.ui.list;
    list.waiting = true;
    list.gaps.clone_from(&query.gaps);
    vec![store(Job::ReadRows(RowsWanted {
        rebuild: Some(query),
        around,
        asked: around.map(|_| list.selected),
        ..RowsWanted::at(list.number, list.offset, WINDOW_ROWS)
    }))]
}

/// To the pane on the right; opens nothing that is not open.
pub fn right(app: &mut App) {
    // The reader pane explains a gap that is selected.
    let has_reader = app.ui.reader.is_some() || app.ui.explains_gap();
    app.ui.focus = match app.ui.focus {
        Pane::Entries | Pane::Reader if has_reader => Pane::Reader,
        Pane::Feeds | Pane::Entries | Pane::Reader => Pane::Entries,
    };
}

/// To the pane on the left.
pub const fn left(app: &mut App) {
    app.ui.focus = match app.ui.focus {
        Pane::Feeds | Pane::Entries => Pane::Feeds,
        Pane::Reader => Pane::Entries,
    };
}

/// Back: closes what is open, then goes left, then ends the program.
pub fn back(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.overlay.is_some() {
        app.ui.uncover();
        return Vec::new();
    }
    match app.ui.focus {
        Pane::Feeds | Pane::Entries if app.ui.search.is_some() => search_pane::leave(app, now),
        Pane::Reader => {
            app.ui.focus = Pane::Entries;
            if app.ui.usual_arrangement() != Arrangement::Wide {
                app.ui.reader = None;
            }
            Vec::new()
        }
        Pane::Entries => {
            app.ui.focus = Pane::Feeds;
            Vec::new()
        }
        Pane::Feeds => vec![ScreenEffect::Quit],
    }
}
