//! The single entry point of the screen: a function that takes an input, which is anything that can happen on a screen, and the
//! current time, and returns effects.
//!
//! If a key is typed before the screen shows what an earlier key opened, it waits, so that it acts on what the user expects. This
//! also applies if several keys arrive at once over a slow connection. When the configuration file has changed, the new settings
//! are applied.

use backissue_core::InputFlaw;
use backissue_core::feed::dates::calendar::{day_of, day_start};
use chrono::{DateTime, TimeDelta, Utc};

use super::actions::{feeds, history_lists, run_own};
use super::app::{App, Cx, Ui};
use super::come_back;
use super::effect::{RenderedEntry, ScreenEffect};
use super::keys::command_table::Command;
use super::keys::key::Key;
use super::keys::key_bindings::Meaning;
use super::keys::key_input::{self, run_command};
use super::keys::mouse;
use super::keys::mouse::Mouse;
use super::overlays::{accounts, filter_dialog, hour_selection, list_panel, plan_pane, table};
use super::panes::{feeds_pane, load_rows, search_pane, tour};
use super::reader::{count_reading, lay_out, open_entry, open_pages, reading_position};
use super::settings::ScreenSettings;
use super::state::feeds_pane::FeedsRow;
use super::state::layout::{Pane, Viewport};
use super::state::pending::{ImportedList, Typed};
use super::state::reader::PictureAnswer;
use super::theme::choose_theme;
use super::theme::colours::Appearance;
use super::theme::graphics::Graphics;
use crate::engine::entries::filter_work::FilterPreview;
use crate::engine::external_run::RunPurpose;
use crate::engine::request::{Input, Request};
use crate::engine::settings::Settings;
use crate::engine::store_work::{Answer, JobSubject, Stored};

/// Updates the screen and the engine for an input, and for the keys that waited for it. Returns the effects to perform.
pub fn update(app: &mut App, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
    let first = keep(app, now, input);
    Cx::run(app, now, |cx| take_all(cx, first))
}

/// Handles an input, and then the inputs that waited for it.
fn take_all(cx: &mut Cx<'_>, first: Option<ScreenInput>) {
    let mut next = first;
    while let Some(input) = next {
        // The number of rows of a pane is only known after the pane has been drawn in its current arrangement.
        let arranged = |app: &App| {
            let ui = &app.ui;
            let is_open = ui.shown_reader().is_some();
            let searches = (ui.search.is_some(), ui.find.is_some());
            (ui.zoomed, ui.layout, ui.list_share, ui.size, ui.focus, is_open, searches)
        };
        let before = arranged(cx.app);
        update_once(cx, input);
        cx.app.ui.typed.is_unmeasured |= before != arranged(cx.app);
        if cx.out.contains(&ScreenEffect::Quit) {
            break;
        }
        next = next_typed(cx.app, cx.now);
    }
}

fn update_once(cx: &mut Cx<'_>, input: ScreenInput) {
    let open = reading_position::find_open(cx.app);
    let begun = cx.out.len();
    take_input(cx, input);
    let left = reading_position::save_left(cx.app, open, cx.out.get(begun..).unwrap_or_default());
    // The reading position is saved first, because no effect is performed after the one that ends the program.
    cx.out.splice(begun..begun, left);
    reading_position::follow_reading(cx);
    load_rows::follow_gaps(cx);
    lay_out::follow_pictures(cx);
    if let Some(request) = count_reading::follow(cx.app) {
        cx.ask(request);
    }
    tour::follow_tour(cx.app);
    list_panel::follow_addition(cx.app);
    plan_pane::refresh_page(cx);
    hour_selection::refresh_selection(cx.app);
    hour_selection::sum_up(cx);
    feeds_pane::resort_rows(cx);
    cx.app.register(cx.out.get_mut(begun..).unwrap_or_default());
}

fn take_input(cx: &mut Cx<'_>, input: ScreenInput) {
    match input {
        ScreenInput::Engine(Input::Tick) => take_tick(cx, Input::Tick),
        ScreenInput::Engine(Input::Woke) => take_tick(cx, Input::Woke),
        ScreenInput::Engine(Input::Stored(answer)) => take_answer(cx, *answer),
        ScreenInput::Engine(Input::Learned(feed, plan)) => {
            plan_pane::show_learned(cx.app, feed, plan.as_ref());
            cx.tell_engine(Input::Learned(feed, plan));
        }
        ScreenInput::Engine(Input::Ran(RunPurpose::Step(id), ended)) => {
            run_own::program_ended(cx, id, ended, run_command);
        }
        ScreenInput::Engine(input) => cx.tell_engine(input),
        ScreenInput::PathCompleted { typed, completed } => {
            table::complete_path(cx.app, &typed, &completed);
        }
        ScreenInput::Told(said) => {
            cx.answer(said);
        }
        ScreenInput::AccountAdded(result) => accounts::take_result(cx, result),
        ScreenInput::Serving(address, told) => feeds::show_serving(cx, address, told),
        ScreenInput::ListRead(list) => feeds::import_list(cx, *list),
        ScreenInput::Key(key) => key_input::press_key(cx, key),
        ScreenInput::Pasted(text) => key_input::paste_text(cx, &text),
        ScreenInput::Mouse(mouse) => mouse::use_mouse(cx, mouse),
        ScreenInput::Resized(columns, rows) => {
            cx.app.ui.size = (columns, rows);
        }
        ScreenInput::Focused(focused) => {
            cx.app.ui.unfocused = !focused;
        }
        ScreenInput::Ground(is_light) => {
            cx.app.ui.is_light = Some(is_light);
            choose_theme::follow_ground(cx.app);
        }
        ScreenInput::Suspend => cx.out.push(ScreenEffect::Suspend),
        ScreenInput::Continued(columns, rows) => {
            cx.app.ui.size = (columns, rows);
            take_tick(cx, Input::Woke);
        }
        ScreenInput::NoShell => cx.say("there is no shell to return to: {back} quits"),
        ScreenInput::Rendered(made) => {
            lay_out::show_lines(cx.app, *made);
        }
        ScreenInput::Picture(answer) => lay_out::take_answer(cx, *answer),
        ScreenInput::Graphics(graphics) => {
            lay_out::set_graphics(cx.app, graphics);
        }
        ScreenInput::FilterPreviewed(number, preview) => {
            filter_dialog::show_preview(cx.app, number, &preview);
        }
        ScreenInput::Reconfigured(read) => take_settings(cx, *read),
    }
}

/// Handles a response from the store: shows data that the screen requested, and passes everything else to the engine.
fn take_answer(cx: &mut Cx<'_>, stored: Stored) {
    match &stored.result {
        Ok(Answer::Publications(feed, publications)) => {
            plan_pane::show_publications(cx.app, *feed, publications);
        }
        Err(_) => match stored.subject {
            JobSubject::Rows(list) => open_entry::give_up_rows(cx.app, list),
            JobSubject::Entry(key) => {
                open_pages::give_up_entry(cx.app, key);
                open_entry::give_up_entry(cx.app, key);
            }
            JobSubject::Display => search_pane::stop_waiting(cx.app),
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
        Ok(Answer::Rows(rows)) => {
            open_entry::show_rows(cx, rows);
            // The entries of the opened list may just have been chosen for today.
            if matches!(cx.app.ui.feeds.selected_row(), Some(FeedsRow::Reading)) {
                search_pane::count_today(cx);
            }
        }
        Ok(Answer::Entry(entry)) => {
            let is_taken = run_own::start_waiting(cx, &entry);
            // If an external command was waiting for the entry, the reader pane may be waiting for it too.
            if !is_taken || cx.app.ui.opening == Some(entry.key) {
                open_entry::show_entry(cx, *entry);
            }
        }
        Ok(Answer::Polls(feed, polls)) => {
            plan_pane::show_polls(cx.app, feed, polls);
        }
        Ok(Answer::MonthsCounted(feed, counts)) => {
            history_lists::show_timeline(cx.app, feed, *counts);
        }
        Ok(Answer::Counted(counts)) => search_pane::take_counts(cx, counts),
        _ => cx.tell_engine(Input::Stored(Box::new(stored))),
    }
}

/// Handles a timer tick. When a new day has begun, refreshes the lists and counts that depend on the date.
fn take_tick(cx: &mut Cx<'_>, input: Input) {
    cx.tell_engine(input);
    let today = Some(day_start(day_of(cx.now, cx.app.engine.zone), cx.app.engine.zone));
    if cx.app.ui.today_since != today {
        cx.app.ui.today_since = today;
        search_pane::count_today(cx);
        load_rows::refresh_list(cx);
    }
}

/// Requests the data for the first screen: the rows of the list that was open when the program was last closed, or of the first
/// list.
pub fn begin(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    Cx::run(app, now, |cx| {
        let place = cx.app.ui.returns_to.take().filter(|_| cx.app.ui.settings.restore);
        match place {
            Some(place) => come_back::come_back(cx, *place),
            None => load_rows::open_list(cx),
        }
        let zone = cx.app.engine.zone;
        cx.app.ui.today_since = Some(day_start(day_of(now, zone), zone));
        search_pane::count_all(cx);
        cx.app.register(&mut cx.out);
    })
}

/// Stores the sizes measured at the last draw, scrolls so that selected rows are visible, and requests a new layout of the open
/// text if its width has changed.
pub fn measured(app: &mut App, now: DateTime<Utc>, viewport: Viewport) -> Vec<ScreenEffect> {
    Cx::run(app, now, |cx| {
        let before = std::mem::replace(&mut cx.app.ui.viewport, viewport);
        lay_out::ask_lines(cx);
        if before != viewport {
            cx.app.ui.feeds.keep_in_sight(usize::from(viewport.feeds_rows));
            hour_selection::refresh_selection(cx.app);
            load_rows::load_visible_rows(cx);
            lay_out::follow_pictures(cx);
        }
        cx.app.register(&mut cx.out);
        if std::mem::take(&mut cx.app.ui.typed.is_unmeasured) {
            let next = next_typed(cx.app, now);
            take_all(cx, next);
        }
    })
}

/// Maximum time for which keys wait. If the store has not answered by then, the keys act on what is shown.
const PATIENCE: TimeDelta = TimeDelta::seconds(3);
/// Maximum number of keys that wait.
const WAITING_MAX: usize = 1000;

/// Stores a key or a pasted text until the screen shows what it applies to. Returns the input to handle now.
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

/// Returns the next waiting input, if it no longer has to wait.
pub(super) fn next_typed(app: &mut App, now: DateTime<Utc>) -> Option<ScreenInput> {
    if waits(app, now) { None } else { first(&mut app.ui) }
}

/// Checks whether the first input has to wait.
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

/// Checks whether something that a command applies to is still pending.
fn is_lacking(app: &App, command: Option<Command>) -> bool {
    let (ui, engine) = (&app.ui, &app.engine);
    // The step to undo, and the contents of a list, are only known after the previous change has been written.
    let undoes = matches!(command, Some(Command::Undo | Command::Redo));
    let lacks_step = engine.undo.under_way > 0;
    // The feeds that have unread entries are only known after the changed flags have been written.
    let seeks =
        matches!(command, Some(Command::NextUnread | Command::PreviousUnread | Command::Space));
    let list = &ui.list;
    let lacks_row = list.fresh || (list.total > 0 && list.selected_row().is_none());
    let is_loading = list.waiting && (lacks_row || list.is_due);
    let lacks_rows = is_loading || lacks_step || engine.filters.is_any_pending();
    // In the subscriptions pane, the user can move on before the entries of a feed have arrived.
    let needs_rows = ui.focus != Pane::Feeds || !command.is_some_and(moves_in_feeds);
    // On a screen that is too small for a text, no text is laid out.
    let lacks_text = ui.viewport.reader_columns > 0
        && ui
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

/// Checks whether a command in the subscriptions pane works without the entries of the feed.
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
pub fn take_settings(cx: &mut Cx<'_>, read: Reconfigured) {
    let (settings, screen, appearance, notes) = match read {
        Reconfigured::Wrong(why) => {
            return cx.complain(format!("{why}; the previous configuration stays in use"));
        }
        Reconfigured::Read { settings, screen, appearance, notes } => {
            (settings, *screen, *appearance, notes)
        }
    };
    let laid_out = |app: &App| (app.ui.appearance.plain, app.ui.settings.text_width);
    let was_laid_out = laid_out(cx.app);
    let before = std::mem::replace(&mut cx.app.ui.settings, screen);
    let themed = before.theme != cx.app.ui.settings.theme;
    cx.app.ui.appearance.take(appearance, themed);
    if themed {
        cx.app.ui.theme = None;
        choose_theme::follow_ground(cx.app);
    }
    if was_laid_out != laid_out(cx.app)
        && let Some(reader) = &mut cx.app.ui.reader
    {
        // The plain screen wraps wide content.
        reader.width = 0;
        lay_out::ask_lines(cx);
    }
    cx.tell_engine(Input::Reconfigured(settings));
    if before.images != cx.app.ui.settings.images {
        lay_out::switch_pictures(cx, cx.app.ui.settings.images);
    }
    if before.keys != cx.app.ui.settings.keys {
        cx.app.ui.begun.clear();
    }
    tell_notes(cx.app, cx.now, "the configuration was reloaded", &notes);
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

/// An input of the screen.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenInput {
    /// An input that is passed to the engine.
    Engine(Input),
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Pasted(String),
    /// The mouse was clicked or its wheel was turned.
    Mouse(Mouse),
    /// The terminal was resized to the given numbers of columns and rows.
    Resized(u16, u16),
    /// The terminal window gained (`true`) or lost the focus.
    Focused(bool),
    /// The terminal reported its background colour, which is light (`true`) or dark.
    Ground(bool),
    /// The user wants to suspend the program, as with Ctrl-z in a shell.
    Suspend,
    /// The program was resumed. The terminal now has the given numbers of columns and rows.
    Continued(u16, u16),
    /// The program cannot be suspended, because no shell started it and could resume it.
    NoShell,
    /// The text of an entry was laid out as lines.
    Rendered(Box<RenderedEntry>),
    /// A picture was looked up in the cache or drawn, or this failed.
    Picture(Box<PictureAnswer>),
    /// The protocol and cell size that the terminal uses for pictures were detected.
    Graphics(Graphics),
    /// The entries that a filter matches were found. The number identifies the preview that requested them.
    FilterPreviewed(u64, Box<FilterPreview>),
    /// A completion was found for a path that the user was typing.
    PathCompleted {
        /// The path as it was when the completion was requested. If it has changed since, the completion is ignored.
        typed: String,
        /// The completed path.
        completed: String,
    },
    /// A text was copied, or the list of subscriptions or entries were written to a file. The text is a message for the user.
    Told(String),
    /// An account was added, or could not be added. The value is the name of the account, or a sentence with the reason.
    AccountAdded(Result<String, InputFlaw>),
    /// The address at which devices are served has changed, or could not be changed. The values are the current address, and the
    /// result of the request as a sentence.
    Serving(Option<String>, Result<String, InputFlaw>),
    /// A list of subscriptions was read from a file and can be imported.
    ListRead(Box<ImportedList>),
    /// The configuration file was saved and read again.
    Reconfigured(Box<Reconfigured>),
}

impl From<Input> for ScreenInput {
    fn from(input: Input) -> Self {
        Self::Engine(input)
    }
}

impl From<Request> for ScreenInput {
    fn from(request: Request) -> Self {
        Self::Engine(Input::Request(request))
    }
}

/// The result of reading the configuration again.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconfigured {
    /// The configuration is valid and can be applied.
    Read {
        /// New settings of the engine.
        settings: Box<Settings>,
        /// New settings of the screen.
        screen: Box<ScreenSettings>,
        /// Theme, colours and other display properties that result from the new settings.
        appearance: Box<Appearance>,
        /// Warnings about harmless mistakes in the file, each as a sentence.
        notes: Vec<String>,
    },
    /// The configuration is invalid and is not applied. The text is a sentence that explains the error.
    Wrong(String),
}
