//! The overlay table: how each overlay handles keys, pasted text, commands, scrolling and the mouse.
//!
//! A new overlay needs a variant of [`Overlay`], a row in this table, its own file, and code in the view that draws it.

use chrono::{DateTime, Utc};

use super::accounts::{account_list, add_dialog};
use super::outcome::{ClickOutcome, KeyOutcome};
use super::{
    edit_dialog, feed_choice, filter_dialog, filter_list, help_pane, hour_selection, palette,
    plan_pane, prompt_input, timetable_pane,
};
use crate::ui::actions::{downloads, jump, removed_feeds, share_menu, unsubscribe};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::reader::link_hints;
use crate::ui::scroll_list::Distance;
use crate::ui::state::overlay::Overlay;

/// Number of rows or lines that one wheel step scrolls.
pub const WHEEL_LINES: usize = 3;

/// How an overlay handles each kind of input. If a function returns `None` or `Passed`, the panes handle the input.
#[derive(Debug)]
pub struct OverlayRow {
    /// Handles a key before the key bindings are consulted.
    pub key: fn(&mut App, DateTime<Utc>, Key) -> KeyOutcome,
    /// Handles pasted text.
    pub paste: fn(&mut App, DateTime<Utc>, &str) -> Option<Vec<ScreenEffect>>,
    /// Handles a command before [`run_command`](crate::ui::keys::run_command) carries it out.
    pub command: fn(&mut App, DateTime<Utc>, Command) -> Option<Vec<ScreenEffect>>,
    /// Scrolls the overlay or moves its selection, down (`true`) or up. Returns `false` if the pane below should scroll instead.
    pub scroll: fn(&mut App, bool, Distance) -> bool,
    /// What the mouse wheel does over the overlay.
    pub wheel: Wheel,
    /// Handles a click on a line of the overlay, counted from the first visible line.
    pub click: fn(&mut App, DateTime<Utc>, usize) -> ClickOutcome,
    /// What a click outside the overlay does.
    pub beside: ClickOutside,
}

/// What the mouse wheel does over an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wheel {
    /// Each wheel step scrolls the overlay by this number of lines.
    Lines(usize),
    /// Each wheel step acts like an arrow key.
    Arrows,
    /// The wheel scrolls the pane under the pointer.
    Panes,
}

/// What a click outside an overlay does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickOutside {
    /// Nothing.
    Nothing,
    /// Closes the overlay.
    Closes,
    /// Closes the overlay and passes the click to the panes.
    ClosesAndClicks,
    /// Ends the search that is being typed and passes the click to the panes.
    EndsSearch,
}

/// Default row of the table: the overlay leaves most input to the panes.
const PLAIN: OverlayRow = OverlayRow {
    key: |_, _, _| KeyOutcome::Passed,
    paste: |_, _, _| None,
    command: |_, _, _| None,
    scroll: |_, _, _| false,
    wheel: Wheel::Lines(1),
    click: |_, _, _| ClickOutcome::Done(Vec::new()),
    beside: ClickOutside::Nothing,
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
    beside: ClickOutside::Closes,
};

static PROMPT: OverlayRow = OverlayRow {
    key: |app, now, key| KeyOutcome::Done(prompt_input::press_key(app, now, key)),
    paste: |app, now, text| Some(prompt_input::paste_text(app, now, text)),
    wheel: Wheel::Panes,
    beside: ClickOutside::EndsSearch,
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
    beside: ClickOutside::Closes,
    ..PLAIN
};

static PALETTE: OverlayRow = OverlayRow {
    key: palette::press_key,
    paste: |app, _, text| Some(palette::paste_text(app, text)),
    wheel: Wheel::Arrows,
    click: palette::click_line,
    beside: ClickOutside::Closes,
    ..PLAIN
};

static HINTS: OverlayRow =
    OverlayRow { key: link_hints::press_key, beside: ClickOutside::ClosesAndClicks, ..PLAIN };

static PICK: OverlayRow = OverlayRow {
    key: jump::press_key,
    paste: |app, _, text| Some(jump::paste_text(app, text)),
    wheel: Wheel::Arrows,
    click: jump::click_line,
    beside: ClickOutside::Closes,
    ..PLAIN
};

static PLAN: OverlayRow = OverlayRow {
    key: |app, now, key| hour_selection::press_key(app, now, key).into(),
    command: plan_pane::refuse_command,
    scroll: plan_pane::scroll_plan,
    wheel: Wheel::Lines(WHEEL_LINES),
    beside: ClickOutside::ClosesAndClicks,
    ..PLAIN
};

static TIMETABLE: OverlayRow = OverlayRow {
    command: plan_pane::refuse_command,
    scroll: timetable_pane::scroll_timetable,
    click: |app, now, line| ClickOutcome::Done(timetable_pane::click_line(app, now, line)),
    beside: ClickOutside::ClosesAndClicks,
    ..PLAIN
};

static EDIT: OverlayRow = OverlayRow {
    key: |app, now, key| KeyOutcome::Done(edit_dialog::press_key(app, now, key)),
    paste: |app, _, text| Some(edit_dialog::paste_text(app, text)),
    wheel: Wheel::Arrows,
    click: |app, _, line| ClickOutcome::Done(edit_dialog::click_line(app, line)),
    ..PLAIN
};

static ACCOUNT: OverlayRow = OverlayRow {
    key: |app, _, key| KeyOutcome::Done(add_dialog::press_key(app, key)),
    paste: |app, _, text| Some(add_dialog::paste_text(app, text)),
    wheel: Wheel::Arrows,
    click: |app, _, line| ClickOutcome::Done(add_dialog::click_line(app, line)),
    ..PLAIN
};

static ACCOUNTS: OverlayRow = OverlayRow {
    key: account_list::press_key,
    wheel: Wheel::Arrows,
    click: account_list::click_line,
    beside: ClickOutside::Closes,
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
    beside: ClickOutside::ClosesAndClicks,
    ..PLAIN
};

static DOWNLOADS: OverlayRow = OverlayRow {
    key: downloads::press_key,
    wheel: Wheel::Arrows,
    click: downloads::click_line,
    beside: ClickOutside::Closes,
    ..PLAIN
};

static SHARE: OverlayRow = OverlayRow {
    key: share_menu::press_key,
    wheel: Wheel::Arrows,
    click: share_menu::click_line,
    beside: ClickOutside::Closes,
    ..PLAIN
};

impl Overlay {
    /// Returns the row of the overlay table for this overlay.
    pub const fn row(&self) -> &'static OverlayRow {
        match self {
            Self::Help(_) => &HELP,
            Self::Prompt(_) => &PROMPT,
            Self::Choice(_) => &CHOICE,
            Self::Looking(_) => &LOOKING,
            Self::Question(_) => &QUESTION,
            Self::Palette(_) => &PALETTE,
            Self::Hints(_) => &HINTS,
            Self::Pick(_) => &PICK,
            Self::Plan(_) => &PLAN,
            Self::Timetable(_) => &TIMETABLE,
            Self::Edit(_) => &EDIT,
            Self::Account(_) => &ACCOUNT,
            Self::Accounts(_) => &ACCOUNTS,
            Self::FilterDialog(_) => &FILTER_DIALOG,
            Self::FilterList(_) => &FILTER_LIST,
            Self::Removed(_) => &REMOVED,
            Self::Share(_) => &SHARE,
            Self::Downloads(_) => &DOWNLOADS,
        }
    }
}

/// Returns the row of the overlay table for the topmost overlay. Returns `None` if no overlay is open.
pub fn open_row(app: &App) -> Option<&'static OverlayRow> {
    app.ui.overlay.as_ref().map(Overlay::row)
}

/// Scrolls the topmost overlay or moves its selection, down (`true`) or up. Returns `false` if the pane below should scroll
/// instead.
pub fn scroll_open(app: &mut App, down: bool, distance: Distance) -> bool {
    open_row(app).is_some_and(|row| (row.scroll)(app, down, distance))
}
