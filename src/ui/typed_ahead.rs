//! Keys that are typed before the screen shows what an earlier key opened. They wait for it, so that they act on what the user
//! expects, also if several keys arrive at once over a slow connection.

use chrono::{DateTime, TimeDelta, Utc};

use super::input::ScreenInput;
use super::screen::Ui;
use super::state::layout::Pane;
use super::state::typed_ahead::Typed;

/// Maximum time that keys wait. If the store does not answer, they act on what is shown.
const PATIENCE: TimeDelta = TimeDelta::seconds(3);
/// Maximum number of keys that wait.
const WAITING_MAX: usize = 1000;

/// Keeps an input of the user until the screen shows what it is meant for. Returns the input to handle now.
pub(super) fn keep(ui: &mut Ui, now: DateTime<Utc>, input: ScreenInput) -> Option<ScreenInput> {
    let typed = if let ScreenInput::Key(key) = input {
        Typed::Key(key)
    } else if let ScreenInput::Pasted(text) = input {
        Typed::Pasted(text)
    } else {
        return Some(input);
    };
    ui.typed.inputs.push_back(typed);
    if waits(ui, now) && ui.typed.inputs.len() < WAITING_MAX {
        ui.typed.since.get_or_insert(now);
        return None;
    }
    first(ui)
}

fn first(ui: &mut Ui) -> Option<ScreenInput> {
    ui.typed.inputs.pop_front().map(|typed| match typed {
        Typed::Key(key) => ScreenInput::Key(key),
        Typed::Pasted(text) => ScreenInput::Pasted(text),
    })
}

/// Returns the next input that has waited, once it need not wait any longer.
pub(super) fn next(ui: &mut Ui, now: DateTime<Utc>) -> Option<ScreenInput> {
    if waits(ui, now) { None } else { first(ui) }
}

fn waits(ui: &mut Ui, now: DateTime<Utc>) -> bool {
    let list = &ui.list;
    let lacks_row = list.fresh || (list.total > 0 && list.selected_row().is_none());
    let is_opening = ui.opening.is_some() || ui.then.is_some();
    let is_loading = ui.focus != Pane::Feeds && list.waiting && lacks_row;
    let lacks_text = ui.shown_reader().is_some_and(|reader| reader.rendered.is_none());
    if !(is_opening || is_loading || (ui.focus == Pane::Reader && lacks_text)) {
        ui.typed.since = None;
        return false;
    }
    let waited = ui.typed.since.map(|since| now.signed_duration_since(since));
    let is_patient = waited.is_none_or(|waited| (TimeDelta::zero()..PATIENCE).contains(&waited));
    ui.overlay.is_none() && is_patient
}
