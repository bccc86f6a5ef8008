//! Loads rows of the entry list: opens and rebuilds lists, and requests rows before they become visible.

use chrono::{DateTime, Utc};

use super::entry_list::{Listing, WINDOW_ROWS, sight_rows};
use super::list_query;
use crate::engine::entries::rows::RowsWanted;
use crate::engine::request::ScreenRequest;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::scroll_list::{Distance, moved};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;

/// Moves the selection down (`true`) or up in the entry list.
pub fn move_in_list(app: &mut App, down: bool, distance: Distance) -> Vec<ScreenEffect> {
    let lines = u16::try_from(app.ui.row_shape().lines).unwrap_or(1).max(1);
    let steps = distance.steps(app.ui.viewport.entries_rows / lines);
    let list = &mut app.ui.list;
    list.selected = moved(list.selected, list.total, down, steps);
    load_visible_rows(app)
}

/// Scrolls so that the selected row is visible, and requests more rows if the selection is near the edge of the rows in memory.
pub fn load_visible_rows(app: &mut App) -> Vec<ScreenEffect> {
    let height = usize::from(app.ui.viewport.entries_rows);
    let shape = app.ui.row_shape();
    app.ui.list.keep_in_sight(height.max(1), shape, app.engine.zone);
    let Some(wanted) = app.ui.list.wanted(height) else { return Vec::new() };
    app.ui.list.waiting = true;
    vec![ask_store(ScreenRequest::Rows(wanted))]
}

/// Opens the entry list of the selected row in the subscriptions pane, with its first row selected.
pub fn open_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let number = app.ui.list.number.saturating_add(1);
    let order = app.ui.chosen_order();
    app.ui.list = Listing { number, order, waiting: true, fresh: true, ..Listing::default() };
    app.ui.then = None;
    app.ui.marked.entries.clear();
    forget_search(app);
    // The entry in the reader pane belongs to the previous list.
    (app.ui.reader, app.ui.opening) = (None, None);
    let query = list_query::build_query(app, now);
    app.ui.list.gaps.clone_from(&query.gaps);
    let height = usize::from(app.ui.viewport.feeds_rows);
    app.ui.feeds.keep_in_sight(height);
    let rows = sight_rows(app.ui.viewport.entries_rows.into());
    let wanted = RowsWanted { rebuild: Some(query), ..RowsWanted::at(number, 0, rows) };
    let mut effects = vec![ask_store(ScreenRequest::Rows(wanted))];
    if matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Search(_))) {
        effects.push(ScreenEffect::HurryIndex);
    }
    effects
}

/// Rebuilds the open list. The selected entry stays selected.
pub fn refresh_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let around = app.ui.list.selected_row().map(|row| row.key);
    // If the first row is selected in an unfocused list, new entries appear above it. Otherwise, the visible rows stay in place.
    let around = around.filter(|_| app.ui.list.selected > 0 || app.ui.focus != Pane::Feeds);
    let query = list_query::build_query(app, now);
    let list = &mut app.ui.list;
    list.waiting = true;
    list.gaps.clone_from(&query.gaps);
    vec![ask_store(ScreenRequest::Rows(RowsWanted {
        rebuild: Some(query),
        around,
        asked: around.map(|_| list.selected),
        ..RowsWanted::at(list.number, list.offset, WINDOW_ROWS)
    }))]
}

/// Closes the search because another list is opened.
pub fn forget_search(app: &mut App) {
    (app.ui.search, app.ui.marks) = (None, list_query::find_marks(app));
}
