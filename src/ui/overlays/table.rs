//! The table of overlays: what each one does with keys, pasted text, commands, movements and the mouse.
//!
//! A new overlay needs a variant of [`Overlay`], a row here, its own file and its view.

use chrono::{DateTime, Utc};

use super::outcome::{ClickOutcome, KeyOutcome};
use super::{
    edit_dialog, feed_choice, filter_dialog, filter_list, help_pane, hour_selection, palette,
    plan_pane, prompt_input, timetable_pane,
};
use crate::ui::actions::{removed_feeds, unsubscribe};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::scroll_list::Distance;
use crate::ui::state::overlay::Overlay;

/// Rows or lines that one step of the wheel scrolls.
pub const WHEEL_LINES: usize = 3;

/// What an overlay does. Where a function answers `None` or `Passed`, the input means what it means in the panes.
#[derive(Debug)]
pub struct OverlayRow {
    /// Takes a key before it is looked up among the commands.
    pub key: fn(&mut App, DateTime<Utc>, Key) -> KeyOutcome,
    /// Takes pasted text.
    pub paste: fn(&mut App, DateTime<Utc>, &str) -> Option<Vec<ScreenEffect>>,
    /// Takes a command before it is carried out.
    pub command: fn(&mut App, DateTime<Utc>, Command) -> Option<Vec<ScreenEffect>>,
    /// Scrolls down (`true`) or up, or moves the selection; `false`: the pane below moves.
    pub scroll: fn(&mut App, bool, Distance) -> bool,
    /// What the wheel does.
    pub wheel: Wheel,
    /// A click on a line of it, counted from the first line shown.
    pub click: fn(&mut App, DateTime<Utc>, usize) -> ClickOutcome,
    /// What a click beside it does.
    pub beside: Beside,
}

/// What the wheel does over an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wheel {
    /// It scrolls by so many lines.
    Lines(usize),
    /// It does what the arrow keys do.
    Arrows,
    /// It scrolls the pane under it.
    Panes,
}

/// What a click beside an overlay does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// It closes the overlay.
    Closes,
    /// It closes the overlay and then means what it means below.
    ClosesAndClicks,
    /// It ends the search that is being typed and then means what it means in the panes.
    EndsSearch,
}

/// What overlays do that do nothing of their own.
const PLAIN: OverlayRow = OverlayRow {
    key: |_, _, _| KeyOutcome::Passed,
    paste: |_, _, _| None,
    command: |_, _, _| None,
    scroll: |_, _, _| false,
    wheel: Wheel::Lines(1),
    click: |_, _, _| ClickOutcome::Done(Vec::new()),
    beside: Beside::Nothing,
};

static HELP: OverlayRow = OverlayRow {
    key: |app, _, key| help_pane::press_key(app, key).into(),
    paste: |app, _, text| help_pane::paste_text(app, text),
    command: |app, _, command| help_pane::take_command(app, command),
    scroll: help_pane::scroll_help,
    wheel: Wheel::Lines(WHEEL_LINES),
    click: |app, _, _| {
        app.ui.uncover();
        ClickOutcome::Done(Vec::new())
    },
    beside: Beside::Closes,
};

static PROMPT: OverlayRow = OverlayRow {
    key: |app, now, key| KeyOutcome::Done(prompt_input::press_key(app, now, key)),
    paste: |app, now, text| Some(prompt_input::paste_text(app, now, text)),
    wheel: Wheel::Panes,
    beside: Beside::EndsSearch,
    ..PLAIN
};

static CHOICE: OverlayRow = OverlayRow {
    key: |app, now, key| KeyOutcome::Done(feed_choice::press_key(app, now, key)),
    wheel: Wheel::Arrows,
    click: feed_choice::click_line,
    ..PLAIN
};

static LOOKING: OverlayRow = OverlayRow { key: feed_choice::press_waiting_key, ..PLAIN };

static QUESTION: OverlayRow = OverlayRow { key: unsubscribe::press_key, ..PLAIN };

static REMOVED: OverlayRow = OverlayRow {
    key: removed_feeds::press_key,
    wheel: Wheel::Arrows,
    click: removed_feeds::click_line,
    beside: Beside::Closes,
    ..PLAIN
};

static PALETTE: OverlayRow = OverlayRow {
    key: palette::press_key,
    paste: |app, _, text| Some(palette::paste_text(app, text)),
    wheel: Wheel::Arrows,
    click: palette::click_line,
    beside: Beside::Closes,
    ..PLAIN
};

static PLAN: OverlayRow = OverlayRow {
    key: |app, now, key| hour_selection::press_key(app, now, key).into(),
    command: plan_pane::refuse_command,
    scroll: plan_pane::scroll_plan,
    wheel: Wheel::Lines(WHEEL_LINES),
    beside: Beside::ClosesAndClicks,
    ..PLAIN
};

static TIMETABLE: OverlayRow = OverlayRow {
    command: plan_pane::refuse_command,
    scroll: timetable_pane::scroll_timetable,
    click: |app, now, line| ClickOutcome::Done(timetable_pane::click_line(app, now, line)),
    beside: Beside::ClosesAndClicks,
    ..PLAIN
};

static EDIT: OverlayRow = OverlayRow {
    key: |app, now, key| KeyOutcome::Done(edit_dialog::press_key(app, now, key)),
    paste: |app, _, text| Some(edit_dialog::paste_text(app, text)),
    wheel: Wheel::Arrows,
    click: |app, _, line| ClickOutcome::Done(edit_dialog::click_line(app, line)),
    ..PLAIN
};

static FILTER_DIALOG: OverlayRow = OverlayRow {
    key: |app, now, key| KeyOutcome::Done(filter_dialog::press_key(app, now, key)),
    paste: |app, now, text| Some(filter_dialog::paste_text(app, now, text)),
    wheel: Wheel::Arrows,
    click: |app, _, line| ClickOutcome::Done(filter_dialog::click_line(app, line)),
    ..PLAIN
};

static FILTER_LIST: OverlayRow = OverlayRow {
    key: filter_list::press_key,
    wheel: Wheel::Arrows,
    click: filter_list::click_line,
    beside: Beside::ClosesAndClicks,
    ..PLAIN
};

impl Overlay {
    /// What this overlay does.
    pub const fn row(&self) -> &'static OverlayRow {
        match self {
            Self::Help(_) => &HELP,
            Self::Prompt(_) => &PROMPT,
            Self::Choice(_) => &CHOICE,
            Self::Looking(_) => &LOOKING,
            Self::Question(_) => &QUESTION,
            Self::Palette(_) => &PALETTE,
            Self::Plan(_) => &PLAN,
            Self::Timetable(_) => &TIMETABLE,
            Self::Edit(_) => &EDIT,
            Self::FilterDialog(_) => &FILTER_DIALOG,
            Self::FilterList(_) => &FILTER_LIST,
            Self::Removed(_) => &REMOVED,
        }
    }
}

/// What the overlay does that lies over everything.
pub fn open_row(app: &App) -> Option<&'static OverlayRow> {
    app.ui.overlay.as_ref().map(Overlay::row)
}

/// Scrolls what lies over everything down (`true`) or up, or moves its selection; `false`: the pane below moves.
pub fn scroll_open(app: &mut App, down: bool, distance: Distance) -> bool {
    open_row(app).is_some_and(|row| (row.scroll)(app, down, distance))
}
