//! The single entry point of the screen: a function that takes an input and the current time, and returns effects.
//!
//! Keys that are typed before the screen shows what an earlier key opened wait for it, so that they act on what the user expects,
//! also if several keys arrive at once over a slow connection. A configuration file that was changed is applied.

use backissue_core::feed::dates::calendar::{day_of, day_start};
use chrono::{DateTime, TimeDelta, Utc};

use super::actions::{feeds, run_own};
use super::app::{App, Ui};
use super::come_back;
use super::effect::ScreenEffect;
use super::input::{Reconfigured, ScreenInput};
use super::keys::commands::Command;
use super::keys::key_bindings::Meaning;
use super::keys::key_input::{self, run_command};
use super::keys::mouse;
use super::overlays::{accounts, filter_dialog, hour_selection, list_panel, plan_pane, table};
use super::panes::{feeds_pane, load_rows, search_pane, tour};
use super::reader::{count_reading, lay_out, open_entry, open_pages, reading_position};
use super::state::layout::{Pane, Viewport};
use super::state::pending::Typed;
use super::theme::choose_theme;
use crate::engine::external::external_run::RunPurpose;
use crate::engine::request::Input;
use crate::engine::store_work::{Answer, JobSubject, Stored};

/// Updates the screen and the engine for an input, and for the keys that waited for it. Returns the effects to perform.
pub fn update(app: &mut App, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
    let first = keep(app, now, input);
    take_all(app, now, first)
}

/// Handles an input, and those that waited for it.
fn take_all(app: &mut App, now: DateTime<Utc>, first: Option<ScreenInput>) -> Vec<ScreenEffect> {
    let (mut effects, mut next) = (Vec::new(), first);
    while let Some(input) = next {
        // How many rows a pane has is known when it was drawn as it is now.
        let arranged = |app: &App| {
            let ui = &app.ui;
            let is_open = ui.shown_reader().is_some();
            let searches = (ui.search.is_some(), ui.find.is_some());
            (ui.zoomed, ui.layout, ui.list_share, ui.size, ui.focus, is_open, searches)
        };
        let before = arranged(app);
        effects.extend(update_once(app, now, input));
        app.ui.typed.is_unmeasured |= before != arranged(app);
        if effects.contains(&ScreenEffect::Quit) {
            break;
        }
        next = next_typed(app, now);
    }
    effects
}

fn update_once(app: &mut App, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
    let open = reading_position::find_open(app);
    let mut effects = take_input(app, now, input);
    let left = reading_position::save_left(app, open, &effects);
    // The reading position is saved first, because no effect is performed after the one that ends the program.
    effects.splice(0..0, left);
    effects.extend(reading_position::follow_reading(app, now));
    effects.extend(load_rows::follow_gaps(app, now));
    effects.extend(lay_out::follow_pictures(app, now));
    count_reading::follow(app, now);
    tour::follow_tour(app);
    list_panel::follow_addition(app);
    plan_pane::refresh_page(app, now);
    hour_selection::refresh_selection(app);
    hour_selection::sum_up(app, now);
    feeds_pane::resort_rows(app, now);
    app.register(&mut effects);
    effects
}

fn take_input(app: &mut App, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
    match input {
        ScreenInput::Engine(Input::Tick) => take_tick(app, now, Input::Tick),
        ScreenInput::Engine(Input::Woke) => take_tick(app, now, Input::Woke),
        ScreenInput::Engine(Input::Stored(answer)) => take_answer(app, now, *answer),
        ScreenInput::Engine(Input::Learned(feed, plan)) => {
            plan_pane::show_learned(app, feed, plan.as_ref());
            app.tell_engine(now, Input::Learned(feed, plan))
        }
        ScreenInput::Engine(Input::Ran(RunPurpose::Step(id), ended)) => {
            run_own::program_ended(app, now, id, ended, run_command)
        }
        ScreenInput::Engine(input) => app.tell_engine(now, input),
        ScreenInput::PathCompleted { typed, completed } => {
            table::complete_path(app, &typed, &completed);
            Vec::new()
        }
        ScreenInput::Told(said) => {
            app.ui.answer(now, said);
            Vec::new()
        }
        ScreenInput::AccountAdded(result) => accounts::take_result(app, now, result),
        ScreenInput::ListRead(list) => feeds::import_list(app, now, *list),
        ScreenInput::Key(key) => key_input::press_key(app, now, key),
        ScreenInput::Pasted(text) => key_input::paste_text(app, now, &text),
        ScreenInput::Mouse(mouse) => mouse::use_mouse(app, now, mouse),
        ScreenInput::Resized(columns, rows) => {
            app.ui.size = (columns, rows);
            Vec::new()
        }
        ScreenInput::Focused(focused) => {
            app.ui.unfocused = !focused;
            Vec::new()
        }
        ScreenInput::Ground(is_light) => {
            app.ui.is_light = Some(is_light);
            choose_theme::follow_ground(app);
            Vec::new()
        }
        ScreenInput::Suspend => vec![ScreenEffect::Suspend],
        ScreenInput::Continued(columns, rows) => {
            app.ui.size = (columns, rows);
            take_tick(app, now, Input::Woke)
        }
        ScreenInput::NoShell => {
            app.ui.say_only(now, "there is no shell to return to: {back} quits")
        }
        ScreenInput::Rendered(made) => {
            lay_out::show_lines(app, *made);
            Vec::new()
        }
        ScreenInput::Picture(answer) => lay_out::take_answer(app, now, *answer),
        ScreenInput::Graphics(graphics) => {
            lay_out::set_graphics(app, graphics);
            Vec::new()
        }
        ScreenInput::FilterPreviewed(number, preview) => {
            filter_dialog::show_preview(app, number, &preview);
            Vec::new()
        }
        ScreenInput::Reconfigured(read) => take_settings(app, now, *read),
    }
}

/// Handles a response from the store: shows data that the screen requested, and passes everything else to the engine.
fn take_answer(app: &mut App, now: DateTime<Utc>, stored: Stored) -> Vec<ScreenEffect> {
    match &stored.result {
        Ok(Answer::Publications(feed, publications)) => {
            plan_pane::show_publications(app, *feed, publications);
        }
        Err(_) => match stored.subject {
            JobSubject::Rows(list) => open_entry::give_up_rows(app, list),
            JobSubject::Entry(key) => {
                open_pages::give_up_entry(app, key);
                open_entry::give_up_entry(app, key);
            }
            JobSubject::Display => search_pane::stop_waiting(app),
            JobSubject::Poll(_)
            | JobSubject::History(_)
            | JobSubject::Records
            | JobSubject::Publications(_)
            | JobSubject::NewEntries
            | JobSubject::Attached
            | JobSubject::ListMark
            | JobSubject::Filter(_)
            | JobSubject::Change
            | JobSubject::Keeping => {}
        },
        Ok(_) => {}
    }
    match stored.result {
        Ok(Answer::Rows(rows)) => open_entry::show_rows(app, now, rows),
        Ok(Answer::Entry(entry)) => {
            let mut effects: Vec<ScreenEffect> =
                run_own::start_waiting(app, now, &entry).into_iter().collect();
            // If an external command was waiting for the entry, the reader pane may be waiting for it too.
            if effects.is_empty() || app.ui.opening == Some(entry.key) {
                effects.extend(open_entry::show_entry(app, now, *entry));
            }
            effects
        }
        Ok(Answer::Polls(feed, polls)) => {
            plan_pane::show_polls(app, feed, polls);
            Vec::new()
        }
        Ok(Answer::TodayCounted(count)) => search_pane::take_today_count(app, now, count),
        Ok(Answer::SearchesCounted(unread)) => search_pane::take_search_counts(app, now, unread),
        _ => app.tell_engine(now, Input::Stored(Box::new(stored))),
    }
}

/// Handles a timer tick. When a new day has begun, refreshes the lists and counts that depend on the date.
fn take_tick(app: &mut App, now: DateTime<Utc>, input: Input) -> Vec<ScreenEffect> {
    let mut effects = app.tell_engine(now, input);
    let today = Some(day_start(day_of(now, app.engine.zone), app.engine.zone));
    if app.ui.today_since != today {
        app.ui.today_since = today;
        effects.extend(search_pane::count_today(app, now));
        effects.extend(load_rows::refresh_list(app, now));
    }
    effects
}

/// Requests the data for the first screen: the rows of the list that was open when the program was last closed, or of the first
/// list.
pub fn begin(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let place = app.ui.returns_to.take().filter(|_| app.ui.settings.restore);
    let mut effects = match place {
        Some(place) => come_back::come_back(app, now, *place),
        None => load_rows::open_list(app, now),
    };
    app.ui.today_since = Some(day_start(day_of(now, app.engine.zone), app.engine.zone));
    effects.extend(search_pane::count_all(app, now));
    app.register(&mut effects);
    effects
}

/// Stores the sizes measured at the last draw, scrolls so that selected rows are visible, and requests a new layout of the open
/// text if its width has changed.
pub fn measured(app: &mut App, now: DateTime<Utc>, viewport: Viewport) -> Vec<ScreenEffect> {
    let before = std::mem::replace(&mut app.ui.viewport, viewport);
    let mut effects = lay_out::ask_lines(app);
    if before != viewport {
        app.ui.feeds.keep_in_sight(usize::from(viewport.feeds_rows));
        hour_selection::refresh_selection(app);
        effects.extend(load_rows::load_visible_rows(app));
        effects.extend(lay_out::follow_pictures(app, now));
    }
    app.register(&mut effects);
    if std::mem::take(&mut app.ui.typed.is_unmeasured) {
        let next = next_typed(app, now);
        effects.extend(take_all(app, now, next));
    }
    effects
}

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
pub(super) fn next_typed(app: &mut App, now: DateTime<Utc>) -> Option<ScreenInput> {
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
    // Which feeds have unread entries is counted when the marks are written.
    let seeks =
        matches!(command, Some(Command::NextUnread | Command::PreviousUnread | Command::Space));
    let list = &ui.list;
    let lacks_row = list.fresh || (list.total > 0 && list.selected_row().is_none());
    let is_loading = list.waiting && (lacks_row || list.is_due);
    let lacks_rows = is_loading || lacks_step || engine.filters.is_any_pending();
    // In the feed list one moves on without waiting for the entries of each feed.
    let needs_rows = ui.focus != Pane::Feeds || !command.is_some_and(moves_in_feeds);
    let lacks_text = ui
        .shown_reader()
        .is_some_and(|reader| reader.rendered.is_none() || reader.lines_width != reader.width);
    ui.opening.is_some()
        || ui.then.is_some()
        || ui.typed.is_unmeasured
        || (undoes && lacks_step)
        || (seeks && engine.has_unwritten_marks())
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

/// Applies new settings. If the configuration file is invalid, the old settings remain in force.
pub fn take_settings(app: &mut App, now: DateTime<Utc>, read: Reconfigured) -> Vec<ScreenEffect> {
    let (settings, screen, appearance, notes) = match read {
        Reconfigured::Wrong(why) => {
            return app
                .ui
                .complain_only(now, format!("{why}; the previous configuration stays in use"));
        }
        Reconfigured::Read { settings, screen, appearance, notes } => {
            (settings, *screen, *appearance, notes)
        }
    };
    let laid_out = |app: &App| (app.ui.appearance.plain, app.ui.settings.text_width);
    let was_laid_out = laid_out(app);
    let before = std::mem::replace(&mut app.ui.settings, screen);
    let themed = before.theme != app.ui.settings.theme;
    app.ui.appearance.take(appearance, themed);
    if themed {
        app.ui.theme = None;
        choose_theme::follow_ground(app);
    }
    let mut effects = Vec::new();
    if was_laid_out != laid_out(app)
        && let Some(reader) = &mut app.ui.reader
    {
        // The plain screen wraps wide content.
        reader.width = 0;
        effects.extend(lay_out::ask_lines(app));
    }
    effects.extend(app.tell_engine(now, Input::Reconfigured(settings)));
    if before.images != app.ui.settings.images {
        effects.extend(lay_out::switch_pictures(app, now, app.ui.settings.images));
    }
    if before.keys != app.ui.settings.keys {
        app.ui.begun.clear();
    }
    tell_notes(app, now, "the configuration was reloaded", &notes);
    effects
}

/// Shows the warnings about the configuration file in the status line. If there are none, shows the message `read`.
pub fn tell_notes(app: &mut App, now: DateTime<Utc>, read: &str, notes: &[String]) {
    match notes {
        [] => app.ui.say(now, read.to_owned()),
        [note] => app.ui.complain(now, format!("configuration: {note}")),
        [note, rest @ ..] => {
            let text =
                format!("configuration: {note} · 'backissue doctor' lists {} more", rest.len());
            app.ui.complain(now, text);
        }
    }
}
