//! Mouse input: what a click or a wheel step does at a position. The position is looked up in the areas that were measured when the
//! screen was last drawn.

use super::command_table::Command;
use super::key::{Code, Key};
use super::key_input::{self, run_command};
use crate::engine::feeds::trouble;
use crate::ui::app::{App, Cx};
use crate::ui::overlays::list_panel::ClickOutcome;
use crate::ui::overlays::table::{self, ClickOutside, WHEEL_LINES, Wheel};
use crate::ui::panes::feeds_pane::{self, INDENT_CELLS};
use crate::ui::panes::{attention, load_rows};
use crate::ui::reader::{find_in_text, open_entry};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::{Area, Pane};
use crate::ui::theme::choose_theme;

/// Number of cells by which one wheel step scrolls wide content sideways.
const WHEEL_CELLS: usize = 6;
/// Number of cells before the name of a top-level tag: a space and the fold symbol.
const SIGN_CELLS: usize = 2;
/// Number of cells at the right end of the bottom line in which a click opens the help.
const HELP_CELLS: u16 = 8;

/// A mouse event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// What the user did with the mouse.
    pub gesture: Gesture,
    /// Column of the cell under the pointer, from 0.
    pub column: u16,
    /// Row of the cell under the pointer, from 0.
    pub row: u16,
}

/// What the user did with the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// The primary button was pressed.
    Click,
    /// The pointer moved while the primary button was pressed.
    Drag,
    /// The wheel was turned towards the user.
    WheelDown,
    /// The wheel was turned away from the user.
    WheelUp,
    /// The wheel was turned left, or away from the user with Shift.
    WheelLeft,
    /// The wheel was turned right, or towards the user with Shift.
    WheelRight,
}

/// Handles a mouse event.
pub fn use_mouse(cx: &mut Cx<'_>, mouse: Mouse) {
    if !cx.app.ui.settings.mouse {
        return;
    }
    if mouse.gesture == Gesture::Click {
        // A click cancels an unfinished key sequence.
        cx.app.ui.begun.clear();
        let at_border = choose_theme::is_border(cx.app, mouse.column, mouse.row);
        cx.app.ui.is_border_held = at_border && cx.app.ui.overlay.is_none();
    }
    match (mouse.gesture, cx.app.ui.overlay.is_some()) {
        (Gesture::WheelDown, true) => roll_overlay(cx, mouse, true),
        (Gesture::WheelUp, true) => roll_overlay(cx, mouse, false),
        (Gesture::WheelDown, false) => roll_panes(cx, mouse, true),
        (Gesture::WheelUp, false) => roll_panes(cx, mouse, false),
        (Gesture::WheelLeft, false) => roll_sideways(cx, mouse, false),
        (Gesture::WheelRight, false) => roll_sideways(cx, mouse, true),
        (Gesture::Drag, false) if cx.app.ui.is_border_held => {
            choose_theme::move_border(cx.app, mouse.column, mouse.row);
        }
        (Gesture::Drag, _) | (Gesture::WheelLeft | Gesture::WheelRight, true) => {}
        (Gesture::Click, true) => click_overlay(cx, mouse),
        (Gesture::Click, false) => click_panes(cx, mouse),
    }
}

/// Scrolls the open overlay with the wheel, or moves its selection. While a search query is typed, the wheel scrolls the panes with
/// the results.
fn roll_overlay(cx: &mut Cx<'_>, mouse: Mouse, down: bool) {
    let Some(row) = table::open_row(cx.app) else { return };
    match row.wheel {
        Wheel::Panes => roll_panes(cx, mouse, down),
        Wheel::Arrows => {
            let key = Key::code(if down { Code::Down } else { Code::Up });
            key_input::press_key(cx, key);
        }
        Wheel::Lines(lines) => {
            (0..lines).for_each(|_| key_input::move_by(cx, down, Distance::One));
        }
    }
}

/// Scrolls the pane under the pointer.
fn roll_panes(cx: &mut Cx<'_>, mouse: Mouse, down: bool) {
    let moved = |place: usize| {
        if down { place.saturating_add(WHEEL_LINES) } else { place.saturating_sub(WHEEL_LINES) }
    };
    match pane_at(cx.app, mouse) {
        Some(Pane::Feeds) => {
            let rows = usize::from(cx.app.ui.viewport.feeds_rows);
            let pane = &mut cx.app.ui.feeds;
            pane.top = moved(pane.top).min(pane.rows.len().saturating_sub(rows));
        }
        Some(Pane::Entries) if attention::is_open(cx.app) => {}
        Some(Pane::Entries) => scroll_entries(cx, moved(cx.app.ui.list.top), down),
        Some(Pane::Reader) => {
            let rows = usize::from(cx.app.ui.viewport.reader_rows);
            if let Some(reader) = cx.app.ui.shown_reader_mut() {
                let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
                reader.scroll = moved(reader.scroll).min(lines.saturating_sub(rows));
            }
        }
        None => {}
    }
}

/// Scrolls wide content sideways if the pointer is over the reader.
fn roll_sideways(cx: &mut Cx<'_>, mouse: Mouse, right: bool) {
    if pane_at(cx.app, mouse) == Some(Pane::Reader) {
        find_in_text::move_by_cells(cx.app, right, WHEEL_CELLS);
    }
}

/// Scrolls the entry list so that the row at index `top` is the first visible one. The selected row stays selected if it is still
/// visible.
fn scroll_entries(cx: &mut Cx<'_>, top: usize, down: bool) {
    let height = usize::from(cx.app.ui.viewport.entries_rows);
    let list = &mut cx.app.ui.list;
    let last_row = list.total.saturating_sub(1);
    // The heights of rows that are not in memory are unknown, so the selection is moved to `top` instead.
    let top = top.min(last_row);
    if list.row(top).is_none() {
        return load_rows::move_in_list(cx, down, Distance::Half);
    }
    list.top = top;
    let bottom = rows_in_sight(cx.app, height).map(|(place, _)| place).last().unwrap_or(top);
    let list = &mut cx.app.ui.list;
    list.selected = list.selected.clamp(list.top, bottom);
    load_rows::load_visible_rows(cx);
}

/// Returns the rows that are completely visible in a pane of `height` lines, each with the number of its first line.
fn rows_in_sight(app: &App, height: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let list = &app.ui.list;
    let shape = app.ui.row_shape();
    let (mut line, mut heading) = (0_usize, None);
    (list.top..list.total).map_while(move |place| {
        let row = list.row(place)?;
        let this = shape.heading(row, app.engine.zone);
        if this.is_some() && this != heading {
            line = line.saturating_add(1);
        }
        heading = this;
        let first = line;
        line = line.saturating_add(shape.height(row));
        (line <= height).then_some((place, first))
    })
}

/// Returns the pane under the pointer.
fn pane_at(app: &App, mouse: Mouse) -> Option<Pane> {
    let viewport = app.ui.viewport;
    let panes = [
        (viewport.feeds, Pane::Feeds),
        (viewport.entries, Pane::Entries),
        (viewport.reader, Pane::Reader),
    ];
    let hit = panes.into_iter().find(|(area, _)| area.line_at(mouse.column, mouse.row).is_some());
    hit.map(|(_, pane)| pane)
}

/// Handles a click in the panes: it focuses the pane and selects the row under the pointer. A click on the selected row opens it.
fn click_panes(cx: &mut Cx<'_>, mouse: Mouse) {
    let (columns, rows) = cx.app.ui.size;
    if mouse.row.saturating_add(1) == rows && mouse.column.saturating_add(HELP_CELLS) >= columns {
        return run_command(cx, Command::Help);
    }
    let viewport = cx.app.ui.viewport;
    let line_in = |area: Area| area.line_at(mouse.column, mouse.row).unwrap_or(0);
    match pane_at(cx.app, mouse) {
        Some(Pane::Feeds) => {
            let column = mouse.column.saturating_sub(viewport.feeds.column);
            click_feeds(cx, line_in(viewport.feeds), usize::from(column));
        }
        Some(Pane::Entries) if attention::is_open(cx.app) => {
            click_attention(cx, line_in(viewport.entries));
        }
        Some(Pane::Entries) => click_entries(cx, line_in(viewport.entries)),
        Some(Pane::Reader) => {
            let column = mouse.column.saturating_sub(viewport.reader.column);
            click_reader(cx, line_in(viewport.reader), usize::from(column));
        }
        None => {}
    }
}

/// Handles a click in the subscriptions pane. A click on the fold symbol of a tag folds or unfolds the tag.
fn click_feeds(cx: &mut Cx<'_>, line: usize, column: usize) {
    let had_keys = cx.app.ui.focus == Pane::Feeds;
    cx.app.ui.focus = Pane::Feeds;
    let pane = &mut cx.app.ui.feeds;
    let place = pane.top.saturating_add(line);
    let Some(row) = pane.rows.get(place) else { return };
    if let FeedsRow::Tag(tag, _) = row
        && column <= SIGN_CELLS.saturating_add(feeds_pane::depth(tag).saturating_mul(INDENT_CELLS))
    {
        let (tag, folded) = (tag.clone(), pane.folded.contains(tag));
        return feeds_pane::set_folded(cx, &tag, !folded);
    }
    if pane.selected == place {
        return if had_keys {
            run_command(cx, Command::Enter);
        };
    }
    pane.selected = place;
    load_rows::open_list(cx);
}

fn click_entries(cx: &mut Cx<'_>, line: usize) {
    let had_keys = cx.app.ui.focus == Pane::Entries;
    cx.app.ui.focus = Pane::Entries;
    let height = usize::from(u16::MAX);
    let place = rows_in_sight(cx.app, height).take_while(|(_, first)| *first <= line).last();
    let Some((place, first)) = place else { return };
    let shape = cx.app.ui.row_shape();
    let rows = cx.app.ui.list.row(place).map_or(0, |row| shape.height(row));
    if line >= first.saturating_add(rows) {
        // The line is a day heading, or is below the last row.
        return;
    }
    if cx.app.ui.list.selected == place {
        return if had_keys {
            run_command(cx, Command::Enter);
        };
    }
    cx.app.ui.list.selected = place;
    load_rows::load_visible_rows(cx);
}

/// Handles a click in the Attention list: it selects a feed. A click on the selected feed applies the suggested remedy.
fn click_attention(cx: &mut Cx<'_>, line: usize) {
    let had_keys = cx.app.ui.focus == Pane::Entries;
    cx.app.ui.focus = Pane::Entries;
    let count = trouble::concerns(&cx.app.engine, cx.now).len();
    let (place, on_remedy) = attention::problem_at(cx.app, line);
    if place >= count {
        return;
    }
    if cx.app.ui.attention.click(place, count) && on_remedy && had_keys {
        run_command(cx, Command::Enter);
    }
}

/// Handles a click in the reader. A click on a link opens it.
fn click_reader(cx: &mut Cx<'_>, line: usize, column: usize) {
    let columns = usize::from(cx.app.ui.viewport.reader.columns);
    cx.app.ui.focus = Pane::Reader;
    let Some(reader) = cx.app.ui.shown_reader() else { return };
    let text = reader.rendered.as_ref();
    let shown = text.and_then(|text| text.lines.get(reader.scroll.saturating_add(line)));
    let shown = shown.map(|shown| shown.window(reader.sideways, columns));
    let Some(number) = shown.and_then(|shown| shown.link_at(column)) else { return };
    open_entry::follow_link(cx, number);
}

/// Handles a click while an overlay is open. A click inside the overlay selects a line. A click outside closes the overlay if
/// nothing is edited in it.
fn click_overlay(cx: &mut Cx<'_>, mouse: Mouse) {
    let Some(row) = table::open_row(cx.app) else { return };
    let line = cx.app.ui.viewport.overlay.line_at(mouse.column, mouse.row);
    match (row.beside, line) {
        (ClickOutside::EndsSearch, _) => {
            if !table::is_search_typed(cx.app) {
                return;
            }
            key_input::press_key(cx, Key::code(Code::Enter));
            click_panes(cx, mouse);
        }
        (_, Some(line)) => match table::click(cx, line) {
            ClickOutcome::Done => {}
            ClickOutcome::Enter => key_input::press_key(cx, Key::code(Code::Enter)),
        },
        (ClickOutside::Nothing, None) => {}
        (ClickOutside::Closes, None) => {
            cx.app.ui.uncover();
        }
        (ClickOutside::ClosesAndClicks, None) => {
            cx.app.ui.uncover();
            use_mouse(cx, mouse);
        }
    }
}
