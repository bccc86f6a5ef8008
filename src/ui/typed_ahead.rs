//! Keys that are typed before the screen shows what an earlier key opened. They wait for it, so that they act on what the user
//! expects, also if several keys arrive at once over a slow connection.

use chrono::{DateTime, TimeDelta, Utc};

use super::app::App;
use super::input::ScreenInput;
use super::keys::commands::Command;
use super::keys::key_bindings::Meaning;
use super::screen::Ui;
use super::state::layout::Pane;
use super::state::typed_ahead::Typed;

/// Maximum time that keys wait. If the store does not answer, they act on what is shown.
const PATIENCE: TimeDelta = TimeDelta::seconds(3);
/// Maximum number of keys that wait.
const WAITING_MAX: usize = 1000;

/// Keeps an input of the user until the screen shows what it is meant for. Returns the input to handle now.
pub(super) fn keep(app: &mut App, now: DateTime<Utc>, input: ScreenInput) -> Option<ScreenInput> {
    let typed = if let ScreenInput::Key(key) = input {
        Typed::Key(key)
    } else if let ScreenInput::Pasted(text) = input {
        Typed::Pasted(text)
    } else {
        return Some(input);
    };
    app.ui.typed.inputs.push_back(typed);
    if waits(app, now) && app.ui.typed.inputs.len() < WAITING_MAX {
        app.ui.typed.since.get_or_insert(now);
        return None;
    }
    first(&mut app.ui)
}

fn first(ui: &mut Ui) -> Option<ScreenInput> {
    ui.typed.inputs.pop_front().map(|typed| match typed {
        Typed::Key(key) => ScreenInput::Key(key),
        Typed::Pasted(text) => ScreenInput::Pasted(text),
    })
}

/// Returns the next input that has waited, once it need not wait any longer.
pub(super) fn next(app: &mut App, now: DateTime<Utc>) -> Option<ScreenInput> {
    if waits(app, now) { None } else { first(&mut app.ui) }
}

/// Checks whether the first input must wait.
fn waits(app: &mut App, now: DateTime<Utc>) -> bool {
    let command = match app.ui.typed.inputs.front() {
        Some(Typed::Key(key)) => match app.ui.settings.keys.meaning(&[*key], app.ui.focus) {
            Meaning::Command(command) => Some(command),
            Meaning::Begun | Meaning::Nothing => None,
        },
        Some(Typed::Pasted(_)) => None,
        None => return false,
    };
    let ends = matches!(command, Some(Command::Quit | Command::Suspend));
    if ends || !is_lacking(app, command) {
        app.ui.typed.since = None;
        return false;
    }
    let waited = app.ui.typed.since.map(|since| now.signed_duration_since(since));
    let is_patient = waited.is_none_or(|waited| (TimeDelta::zero()..PATIENCE).contains(&waited));
    app.ui.overlay.is_none() && is_patient
}

/// Checks whether something is on its way that a command is meant for.
fn is_lacking(app: &App, command: Option<Command>) -> bool {
    let (ui, engine) = (&app.ui, &app.engine);
    // Which step is the last one, and what a list holds, is known when the change before is written.
    let undoes = matches!(command, Some(Command::Undo | Command::Redo));
    let lacks_step = engine.undo.under_way > 0;
    let list = &ui.list;
    let lacks_row = list.fresh || (list.total > 0 && list.selected_row().is_none());
    let is_loading = list.waiting && (lacks_row || list.is_due);
    let lacks_rows = is_loading || lacks_step || engine.filters.is_any_pending();
    // In the feed list one moves on without waiting for the entries of each feed.
    let needs_rows = ui.focus != Pane::Feeds || !command.is_some_and(moves_in_feeds);
    let lacks_text = ui.shown_reader().is_some_and(|reader| reader.rendered.is_none());
    ui.opening.is_some()
        || ui.then.is_some()
        || ui.typed.is_unmeasured
        || (undoes && lacks_step)
        || (needs_rows && lacks_rows)
        || (ui.focus == Pane::Reader && lacks_text)
}

/// Checks whether a command in the feed list needs no entries.
const fn moves_in_feeds(command: Command) -> bool {
    use Command::{
        Back, Close, Down, First, HalfDown, HalfUp, Last, Left, PageDown, PageUp, Right, Up,
    };
    matches!(
        command,
        Down | Up
            | First
            | Last
            | HalfDown
            | HalfUp
            | PageDown
            | PageUp
            | Right
            | Left
            | Back
            | Close
    )
}
