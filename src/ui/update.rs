//! The single entry point of the screen: a function that takes an input and the current time, and returns effects.

use chrono::{DateTime, Utc};

use super::actions::{lists, run_own};
use super::app::App;
use super::come_back;
use super::effect::ScreenEffect;
use super::input::ScreenInput;
use super::keys::run_command::run_command;
use super::keys::{key_input, mouse};
use super::overlays::accounts::add_dialog;
use super::overlays::{feed_choice, filter_dialog, plan_pane, prompt_input, timetable_pane};
use super::panes::{counts, feeds_pane, gap_list, load_rows, tour};
use super::reader::{lay_out, marking_read, open_entry, pictures, pipe, reading_position};
use super::reconfigure;
use super::state::layout::Viewport;
use super::theme::choose_theme;
use super::typed_ahead;
use crate::engine::external::external_run::RunPurpose;
use crate::engine::input::Input;
use crate::engine::store_work::{Answer, JobSubject, Stored};
use backissue_core::feed::dates::calendar::{day_of, day_start};

/// Updates the screen and the engine for an input, and for the keys that waited for it. Returns the effects to perform.
pub fn update(app: &mut App, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
    let first = typed_ahead::keep(app, now, input);
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
            (ui.zoomed, ui.layout, ui.list_share, ui.size, ui.focus, is_open)
        };
        let before = arranged(app);
        effects.extend(update_once(app, now, input));
        app.ui.typed.is_unmeasured |= before != arranged(app);
        if effects.contains(&ScreenEffect::Quit) {
            break;
        }
        next = typed_ahead::next(app, now);
    }
    effects
}

fn update_once(app: &mut App, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
    let open = reading_position::find_open(app);
    let mut effects = take_input(app, now, input);
    let left = reading_position::save_left(app, open, &effects);
    // The reading position is saved first, because no effect is performed after the one that ends the program.
    effects.splice(0..0, left);
    effects.extend(marking_read::follow_reading(app, now));
    effects.extend(gap_list::follow_gaps(app, now));
    effects.extend(pictures::follow_pictures(app, now));
    tour::follow_tour(app);
    feed_choice::follow_addition(app);
    plan_pane::refresh_page(app, now);
    timetable_pane::refresh_selection(app);
    timetable_pane::sum_up(app, now);
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
            prompt_input::complete_path(app, &typed, &completed);
            Vec::new()
        }
        ScreenInput::Told(said) => {
            app.ui.answer(now, said);
            Vec::new()
        }
        ScreenInput::AccountAdded(result) => add_dialog::take_result(app, now, result),
        ScreenInput::ListRead(list) => lists::import_list(app, now, *list),
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
        ScreenInput::Picture(answer) => pictures::take_answer(app, now, *answer),
        ScreenInput::Graphics(graphics) => {
            pictures::set_graphics(app, graphics);
            Vec::new()
        }
        ScreenInput::FilterPreviewed(number, preview) => {
            filter_dialog::show_preview(app, number, &preview);
            Vec::new()
        }
        ScreenInput::Reconfigured(read) => reconfigure::take_settings(app, now, *read),
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
                pipe::give_up_entry(app, key);
                open_entry::give_up_entry(app, key);
            }
            JobSubject::Display => counts::stop_waiting(app),
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
        Ok(Answer::TodayCounted(count)) => counts::take_today_count(app, now, count),
        Ok(Answer::SearchesCounted(unread)) => counts::take_search_counts(app, now, unread),
        _ => app.tell_engine(now, Input::Stored(Box::new(stored))),
    }
}

/// Handles a timer tick. When a new day has begun, refreshes the lists and counts that depend on the date.
fn take_tick(app: &mut App, now: DateTime<Utc>, input: Input) -> Vec<ScreenEffect> {
    let mut effects = app.tell_engine(now, input);
    let today = Some(day_start(day_of(now, app.engine.zone), app.engine.zone));
    if app.ui.today_since != today {
        app.ui.today_since = today;
        effects.extend(counts::count_today(app, now));
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
    effects.extend(counts::count_all(app, now));
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
        timetable_pane::refresh_selection(app);
        effects.extend(load_rows::load_visible_rows(app));
        effects.extend(pictures::follow_pictures(app, now));
    }
    app.register(&mut effects);
    if std::mem::take(&mut app.ui.typed.is_unmeasured) {
        let next = typed_ahead::next(app, now);
        effects.extend(take_all(app, now, next));
    }
    effects
}
