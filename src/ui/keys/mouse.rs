//! The mouse: what a click or the wheel means where it happens. The places are those that were measured when the
//! screen was drawn.

use chrono::{DateTime, Utc};

use super::command::Command;
use super::key::Code;
use super::key::Key;
use super::key_input;
use super::run_command::obey;
use crate::engine::effect::Effect;
use crate::engine::model::Model;
use crate::ui::overlays::feed_preview;
use crate::ui::overlays::filter_list::RULE_LINES;
use crate::ui::overlays::prompt::Prompt;
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::overlays::timetable_pane;
use crate::ui::panes::attention;
use crate::ui::panes::entry_list;
use crate::ui::panes::entry_list::Row;
use crate::ui::panes::entry_list::RowOrder;
use crate::ui::panes::feeds_pane::FeedsRow;
use crate::ui::panes::navigation;
use crate::ui::panes::tag_tree;
use crate::ui::panes::tag_tree::INDENT_CELLS;
use crate::ui::reader::open_entry;
use crate::ui::reader::sideways;
use crate::ui::screen::Area;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;

/// Rows or lines that one step of the wheel scrolls.
const WHEEL_ROWS: usize = 3;
/// Cells that one step moves what is wider than the pane.
const WHEEL_CELLS: usize = 6;
/// Cells before the name of a tag at the top of the tree: a blank and its sign.
const SIGN_CELLS: usize = 2;
/// Cells at the right end of the bottom line that name the help.
const HELP_CELLS: u16 = 8;

/// Something done with the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// What.
    pub gesture: Gesture,
    /// Column of the cell, from 0.
    pub column: u16,
    /// Row of the cell, from 0.
    pub row: u16,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// The first button went down.
    Click,
    /// The wheel was turned towards the reader.
    WheelDown,
    /// The wheel was turned away.
    WheelUp,
    /// It was turned to the left, or with Shift away from the reader.
    WheelLeft,
    /// It was turned to the right, or with Shift towards the reader.
    WheelRight,
}

/// Something was done with the mouse.
pub fn pointed(model: &mut Model, now: DateTime<Utc>, mouse: Mouse) -> Vec<Effect> {
    if !model.settings.ui.mouse {
        return Vec::new();
    }
    if mouse.gesture == Gesture::Click {
        // Keys pressed before it and behind it are no sequence.
        model.screen.begun.clear();
    }
    match (mouse.gesture, model.screen.overlay.is_some()) {
        (Gesture::WheelDown, true) => rolled_over_panes(model, now, mouse, true),
        (Gesture::WheelUp, true) => rolled_over_panes(model, now, mouse, false),
        (Gesture::WheelDown, false) => rolled(model, mouse, true),
        (Gesture::WheelUp, false) => rolled(model, mouse, false),
        (Gesture::WheelLeft, false) => rolled_sideways(model, mouse, false),
        (Gesture::WheelRight, false) => rolled_sideways(model, mouse, true),
        (Gesture::WheelLeft | Gesture::WheelRight, true) => Vec::new(),
        (Gesture::Click, true) => clicked_over_panes(model, now, mouse),
        (Gesture::Click, false) => clicked(model, now, mouse),
    }
}

/// The wheel over what lies over the panes: as the keys do it. What a search has found is in the panes.
fn rolled_over_panes(
    model: &mut Model,
    now: DateTime<Utc>,
    mouse: Mouse,
    down: bool,
) -> Vec<Effect> {
    let steps = match &model.screen.overlay {
        Some(Overlay::Help(_) | Overlay::Plan(_)) => WHEEL_ROWS,
        Some(
            Overlay::Timetable(_)
            | Overlay::Choice(_)
            | Overlay::Palette(_)
            | Overlay::Edit(_)
            | Overlay::Mute(_)
            | Overlay::Rules(_),
        ) => 1,
        Some(Overlay::Prompt(_)) => return rolled(model, mouse, down),
        None => 0,
    };
    if matches!(
        model.screen.overlay,
        Some(Overlay::Choice(_) | Overlay::Palette(_) | Overlay::Edit(_))
    ) {
        let key = Key::code(if down { Code::Down } else { Code::Up });
        return key_input::pressed(model, now, key);
    }
    (0..steps).flat_map(|_| navigation::go(model, now, down, navigation::Distance::One)).collect()
}

/// The wheel scrolls the pane under it.
fn rolled(model: &mut Model, mouse: Mouse, down: bool) -> Vec<Effect> {
    let moved = |place: usize| {
        if down { place.saturating_add(WHEEL_ROWS) } else { place.saturating_sub(WHEEL_ROWS) }
    };
    match pane_at(model, mouse) {
        Some(Pane::Feeds) => {
            let rows = usize::from(model.screen.viewport.feeds_rows);
            let pane = &mut model.screen.feeds;
            pane.top = moved(pane.top).min(pane.rows.len().saturating_sub(rows));
            Vec::new()
        }
        Some(Pane::Entries) if attention::is_open(model) => Vec::new(),
        Some(Pane::Entries) => scroll_entries(model, moved(model.screen.list.top), down),
        Some(Pane::Reader) => {
            let rows = usize::from(model.screen.viewport.reader_rows);
            if let Some(reader) = model.screen.shown_reader_mut() {
                let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
                reader.scroll = moved(reader.scroll).min(lines.saturating_sub(rows));
            }
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// The wheel moves what is wider than the reader sideways.
fn rolled_sideways(model: &mut Model, mouse: Mouse, right: bool) -> Vec<Effect> {
    if pane_at(model, mouse) == Some(Pane::Reader) {
        sideways::by(model, right, WHEEL_CELLS);
    }
    Vec::new()
}

/// Scrolls the entry list so that a row comes first; the selected row stays where it is as long as it is in sight.
fn scroll_entries(model: &mut Model, top: usize, down: bool) -> Vec<Effect> {
    let height = usize::from(model.screen.viewport.entries_rows);
    let list = &mut model.screen.list;
    let last_row = list.total.saturating_sub(1);
    // Rows that are not in memory cannot be measured: the selection leads there.
    let top = top.min(last_row);
    if list.row(top).is_none() {
        return navigation::go_in_list(model, down, navigation::Distance::Half);
    }
    list.top = top;
    let bottom = rows_in_sight(model, height).map(|(place, _)| place).last().unwrap_or(top);
    let list = &mut model.screen.list;
    list.selected = list.selected.clamp(list.top, bottom);
    navigation::settle(model)
}

/// The rows of the list that are whole on a screen of so many lines, with the first line of each.
fn rows_in_sight(model: &Model, height: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let list = &model.screen.list;
    let (mut line, mut day) = (0_usize, None);
    (list.top..list.total).map_while(move |place| {
        let row = list.row(place)?;
        let this = entry_list::day_of(row.listed, model.zone);
        if day != Some(this) && list.order != RowOrder::BestFirst {
            line = line.saturating_add(1);
            day = Some(this);
        }
        let first = line;
        line = line.saturating_add(row.height());
        (line <= height).then_some((place, first))
    })
}

/// The pane at a cell.
fn pane_at(model: &Model, mouse: Mouse) -> Option<Pane> {
    let viewport = model.screen.viewport;
    let panes = [
        (viewport.feeds, Pane::Feeds),
        (viewport.entries, Pane::Entries),
        (viewport.reader, Pane::Reader),
    ];
    let hit = panes.into_iter().find(|(area, _)| area.line_at(mouse.column, mouse.row).is_some());
    hit.map(|(_, pane)| pane)
}

/// A click in the panes: the row is selected and its pane gets the keys; a second click opens it.
fn clicked(model: &mut Model, now: DateTime<Utc>, mouse: Mouse) -> Vec<Effect> {
    let (columns, rows) = model.screen.size;
    if mouse.row.saturating_add(1) == rows && mouse.column.saturating_add(HELP_CELLS) >= columns {
        return obey(model, now, Command::Help);
    }
    let viewport = model.screen.viewport;
    let line_in = |area: Area| area.line_at(mouse.column, mouse.row).unwrap_or(0);
    match pane_at(model, mouse) {
        Some(Pane::Feeds) => {
            let column = mouse.column.saturating_sub(viewport.feeds.column);
            clicked_feeds(model, now, line_in(viewport.feeds), usize::from(column))
        }
        Some(Pane::Entries) if attention::is_open(model) => {
            clicked_attention(model, now, line_in(viewport.entries))
        }
        Some(Pane::Entries) => clicked_entries(model, now, line_in(viewport.entries)),
        Some(Pane::Reader) => {
            let column = mouse.column.saturating_sub(viewport.reader.column);
            clicked_reader(model, now, line_in(viewport.reader), usize::from(column))
        }
        None => Vec::new(),
    }
}

/// A click on the sign of a tag folds it, or unfolds it.
fn clicked_feeds(model: &mut Model, now: DateTime<Utc>, line: usize, column: usize) -> Vec<Effect> {
    let had_keys = model.screen.focus == Pane::Feeds;
    model.screen.focus = Pane::Feeds;
    let pane = &mut model.screen.feeds;
    let place = pane.top.saturating_add(line);
    let Some(row) = pane.rows.get(place) else { return Vec::new() };
    if let FeedsRow::Tag(tag, _) = row
        && column <= SIGN_CELLS.saturating_add(tag_tree::depth(tag).saturating_mul(INDENT_CELLS))
    {
        let (tag, folded) = (tag.clone(), pane.folded.contains(tag));
        return tag_tree::set(model, &tag, !folded);
    }
    if pane.selected == place {
        return if had_keys { obey(model, now, Command::Enter) } else { Vec::new() };
    }
    pane.selected = place;
    navigation::open_list(model, now)
}

fn clicked_entries(model: &mut Model, now: DateTime<Utc>, line: usize) -> Vec<Effect> {
    let had_keys = model.screen.focus == Pane::Entries;
    model.screen.focus = Pane::Entries;
    let height = usize::from(u16::MAX);
    let place = rows_in_sight(model, height).take_while(|(_, first)| *first <= line).last();
    let Some((place, first)) = place else { return Vec::new() };
    let rows = model.screen.list.row(place).map_or(0, Row::height);
    if line >= first.saturating_add(rows) {
        // A day heading, or the room below the last row.
        return Vec::new();
    }
    if model.screen.list.selected == place {
        return if had_keys { obey(model, now, Command::Enter) } else { Vec::new() };
    }
    model.screen.list.selected = place;
    navigation::settle(model)
}

/// In the Attention list a click selects; on the remedy of the selected feed it does it.
fn clicked_attention(model: &mut Model, now: DateTime<Utc>, line: usize) -> Vec<Effect> {
    let had_keys = model.screen.focus == Pane::Entries;
    model.screen.focus = Pane::Entries;
    let count = attention::concerns(model, now).len();
    let place = model.screen.attention.top.saturating_add(line / attention::ROW_LINES);
    if place >= count {
        return Vec::new();
    }
    let on_remedy = line % attention::ROW_LINES == attention::ROW_LINES.saturating_sub(1);
    if model.screen.attention.selected == place && on_remedy && had_keys {
        return obey(model, now, Command::Enter);
    }
    model.screen.attention.selected = place;
    Vec::new()
}

/// A click on a link opens it.
fn clicked_reader(
    model: &mut Model,
    now: DateTime<Utc>,
    line: usize,
    column: usize,
) -> Vec<Effect> {
    let columns = usize::from(model.screen.viewport.reader.columns);
    model.screen.focus = Pane::Reader;
    let Some(reader) = model.screen.shown_reader_mut() else { return Vec::new() };
    let text = reader.rendered.as_ref();
    let shown = text.and_then(|text| text.lines.get(reader.scroll.saturating_add(line)));
    let shown = shown.map(|shown| shown.window(reader.sideways, columns));
    let Some(number) = shown.and_then(|shown| shown.link_at(column)) else { return Vec::new() };
    reader.digits = number.to_string();
    open_entry::follow(model, now)
}

/// A click over what lies over the panes: it chooses there; beside it, it closes what only shows something.
fn clicked_over_panes(model: &mut Model, now: DateTime<Utc>, mouse: Mouse) -> Vec<Effect> {
    let line = model.screen.viewport.overlay.line_at(mouse.column, mouse.row);
    match (&mut model.screen.overlay, line) {
        (Some(Overlay::Help(_)), _) | (Some(Overlay::Palette(_)), None) => {
            model.screen.uncover();
            Vec::new()
        }
        (Some(Overlay::Plan(_) | Overlay::Timetable(_) | Overlay::Rules(_)), None) => {
            model.screen.uncover();
            pointed(model, now, mouse)
        }
        (Some(Overlay::Palette(palette)), Some(line)) => {
            let place = usize::from(model.screen.viewport.overlay_top).saturating_add(line);
            if place < palette.found.len() {
                palette.selected = place;
                return key_input::pressed(model, now, Key::code(Code::Enter));
            }
            Vec::new()
        }
        (Some(Overlay::Timetable(pane)), Some(line)) => {
            let place = pane.top.saturating_add(line);
            if place == pane.selected {
                return timetable_pane::enter(model, now);
            }
            if place < model.timetable.len() {
                timetable_pane::select(model, place);
            }
            Vec::new()
        }
        (Some(Overlay::Choice(choice)), Some(line)) => {
            let top = model.screen.viewport.overlay_top;
            let place = usize::from(top).saturating_add(line);
            if place == choice.selected {
                return key_input::pressed(model, now, Key::code(Code::Enter));
            }
            let found = model.additions.get(&choice.addition).map_or(0, |found| found.found.len());
            if place < found {
                choice.selected = place;
            }
            feed_preview::look(model, now)
        }
        (Some(Overlay::Edit(form)), Some(line)) => {
            let top = model.screen.viewport.overlay_top;
            let place = usize::from(top).saturating_add(line).checked_sub(1);
            if let Some(place) = place.filter(|&place| place < form.rows.len()) {
                form.selected = place;
            }
            Vec::new()
        }
        (Some(Overlay::Mute(_) | Overlay::Rules(_)), Some(line)) => clicked_rules(model, now, line),
        (Some(Overlay::Prompt(Prompt { purpose: PromptPurpose::Search, .. })), _) => {
            let mut effects = key_input::pressed(model, now, Key::code(Code::Enter));
            effects.extend(clicked(model, now, mouse));
            effects
        }
        (Some(Overlay::Plan(_)), Some(_))
        | (Some(Overlay::Choice(_) | Overlay::Edit(_) | Overlay::Mute(_)), None)
        | (Some(Overlay::Prompt(_)) | None, _) => Vec::new(),
    }
}

/// A click on a line of a rule's dialog, or on one of the rules.
fn clicked_rules(model: &mut Model, now: DateTime<Utc>, line: usize) -> Vec<Effect> {
    let top = usize::from(model.screen.viewport.overlay_top);
    if let Some(Overlay::Mute(form)) = &mut model.screen.overlay {
        let place = top.saturating_add(line);
        if place < form.rows.len() {
            form.selected = place;
        }
    }
    let Some(Overlay::Rules(list)) = &mut model.screen.overlay else { return Vec::new() };
    let place = top.saturating_add(line.checked_div(RULE_LINES).unwrap_or(0));
    if place == list.selected {
        return key_input::pressed(model, now, Key::code(Code::Enter));
    }
    if place < model.rules.list.len() {
        list.selected = place;
    }
    Vec::new()
}
