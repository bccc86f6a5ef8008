//! Moving about: between rows, between panes, between pages.

use chrono::{DateTime, Utc};

use super::attention;
use super::entry_list::Listing;
use super::entry_list::RowsWanted;
use super::entry_list::WINDOW_ROWS;
use super::entry_list::sight_rows;
use super::feeds_pane;
use super::search_pane;
use crate::engine::effect::Effect;
use crate::engine::model::Model;
use crate::ui::overlays::timetable_pane;
use crate::ui::screen::Arrangement;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;

/// How far a movement goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// One row or line.
    One,
    /// Half a page.
    Half,
    /// A page.
    Page,
    /// To the end.
    All,
}

/// Moves down (`true`) or up in what has the keys.
pub fn go(model: &mut Model, now: DateTime<Utc>, down: bool, distance: Distance) -> Vec<Effect> {
    let viewport = model.screen.viewport;
    if let Some(Overlay::Help(help)) = &mut model.screen.overlay {
        let last = usize::from(viewport.help_lines).saturating_sub(1);
        help.top = moved(help.top, last.saturating_add(1), down, steps(distance, 10));
        return Vec::new();
    }
    let rows = viewport.overlay_rows;
    match &mut model.screen.overlay {
        Some(Overlay::Plan(pane)) => {
            let last = usize::from(viewport.plan_lines.saturating_sub(rows));
            pane.top = moved(pane.top, last.saturating_add(1), down, steps(distance, rows));
            return Vec::new();
        }
        Some(Overlay::Timetable(pane)) => {
            let count = model.timetable.len();
            let place = moved(pane.selected, count, down, steps(distance, rows));
            timetable_pane::select(model, place);
            return Vec::new();
        }
        Some(
            Overlay::Help(_)
            | Overlay::Prompt(_)
            | Overlay::Choice(_)
            | Overlay::Palette(_)
            | Overlay::Edit(_)
            | Overlay::Mute(_)
            | Overlay::Rules(_),
        )
        | None => {}
    }
    match model.screen.focus {
        Pane::Feeds => {
            let pane = &mut model.screen.feeds;
            let before = pane.selected;
            let steps = steps(distance, viewport.feeds_rows);
            pane.selected = moved(pane.selected, pane.rows.len(), down, steps);
            if pane.selected == before { Vec::new() } else { open_list(model, now) }
        }
        Pane::Entries if attention::is_open(model) => {
            let count = attention::concerns(model, now).len();
            let page = usize::from(viewport.entries_rows) / attention::ROW_LINES;
            let place = &mut model.screen.attention;
            let rows = u16::try_from(page).unwrap_or(u16::MAX);
            place.selected = moved(place.selected, count, down, steps(distance, rows));
            let first = place.selected.saturating_sub(page.saturating_sub(1));
            place.top = place.top.clamp(first, place.selected);
            Vec::new()
        }
        Pane::Entries => go_in_list(model, down, distance),
        Pane::Reader => {
            if let Some(reader) = model.screen.shown_reader_mut() {
                let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
                let last = lines.saturating_sub(usize::from(viewport.reader_rows));
                reader.scroll = moved(
                    reader.scroll,
                    last.saturating_add(1),
                    down,
                    steps(distance, viewport.reader_rows),
                );
            }
            Vec::new()
        }
    }
}

/// Moves down (`true`) or up in the entry list.
pub fn go_in_list(model: &mut Model, down: bool, distance: Distance) -> Vec<Effect> {
    let steps = steps(distance, model.screen.viewport.entries_rows);
    let list = &mut model.screen.list;
    list.selected = moved(list.selected, list.total, down, steps);
    settle(model)
}

const fn steps(distance: Distance, rows: u16) -> usize {
    match distance {
        Distance::One => 1,
        Distance::Half => {
            if rows > 2 {
                rows as usize / 2
            } else {
                1
            }
        }
        Distance::Page => {
            if rows > 1 {
                rows as usize - 1
            } else {
                1
            }
        }
        Distance::All => usize::MAX,
    }
}

fn moved(place: usize, count: usize, down: bool, steps: usize) -> usize {
    if down {
        place.saturating_add(steps).min(count.saturating_sub(1))
    } else {
        place.saturating_sub(steps)
    }
}

/// After the selection moved: the row is brought into sight, rows near the edge are asked for.
pub fn settle(model: &mut Model) -> Vec<Effect> {
    let height = usize::from(model.screen.viewport.entries_rows);
    model.screen.list.keep_in_sight(height.max(1), model.zone);
    let Some(wanted) = model.screen.list.wanted(height) else { return Vec::new() };
    model.screen.list.waiting = true;
    vec![Effect::LoadRows(wanted)]
}

/// Opens the list of the selected row of the subscriptions, from its beginning.
pub fn open_list(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let number = model.screen.list.number.saturating_add(1);
    model.screen.list = Listing { number, waiting: true, fresh: true, ..Listing::default() };
    model.screen.then = None;
    search_pane::forget(model);
    // What was open belongs to the list that was left.
    (model.screen.reader, model.screen.opening) = (None, None);
    let query = feeds_pane::query(model, now);
    model.screen.list.gaps.clone_from(&query.gaps);
    let height = usize::from(model.screen.viewport.feeds_rows);
    model.screen.feeds.keep_in_sight(height);
    let rows = sight_rows(model.screen.viewport.entries_rows.into());
    vec![Effect::LoadRows(RowsWanted { rebuild: Some(query), ..RowsWanted::at(number, 0, rows) })]
}

/// Builds the open list anew; the selection stays on its entry.
pub fn refresh_list(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let around = model.screen.list.selected_row().map(|row| row.key);
    // At the top the reader wants to see what arrives; elsewhere the screen stays still.
    let around =
        around.filter(|_| model.screen.list.selected > 0 || model.screen.focus != Pane::Feeds);
    let query = feeds_pane::query(model, now);
    let list = &mut model.screen.list;
    list.waiting = true;
    list.gaps.clone_from(&query.gaps);
    vec![Effect::LoadRows(RowsWanted {
        rebuild: Some(query),
        around,
        asked: around.map(|_| list.selected),
        ..RowsWanted::at(list.number, list.offset, WINDOW_ROWS)
    })]
}

/// To the pane on the right; opens nothing that is not open.
pub fn right(model: &mut Model) {
    // The reader pane explains a gap that is selected.
    let has_reader = model.screen.reader.is_some() || model.screen.explains_gap();
    model.screen.focus = match model.screen.focus {
        Pane::Entries | Pane::Reader if has_reader => Pane::Reader,
        Pane::Feeds | Pane::Entries | Pane::Reader => Pane::Entries,
    };
}

/// To the pane on the left.
pub const fn left(model: &mut Model) {
    model.screen.focus = match model.screen.focus {
        Pane::Feeds | Pane::Entries => Pane::Feeds,
        Pane::Reader => Pane::Entries,
    };
}

/// Back: closes what is open, then goes left, then ends the program.
pub fn back(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if model.screen.overlay.is_some() {
        model.screen.uncover();
        return Vec::new();
    }
    match model.screen.focus {
        Pane::Feeds | Pane::Entries if model.screen.search.is_some() => {
            search_pane::leave(model, now)
        }
        Pane::Reader => {
            model.screen.focus = Pane::Entries;
            if model.screen.usual_arrangement() != Arrangement::Wide {
                model.screen.reader = None;
            }
            Vec::new()
        }
        Pane::Entries => {
            model.screen.focus = Pane::Feeds;
            Vec::new()
        }
        Pane::Feeds => vec![Effect::Quit],
    }
}
