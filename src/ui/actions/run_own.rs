//! Runs own commands step by step. A step that runs a program waits until the program ends; if it fails, the steps after it are left out.
//!
//! The programs in `[share]`, which receive the selected entry, have a menu.

use std::collections::VecDeque;

use backissue_core::feed::text::one_line;
use backissue_core::history::EntryKey;
use chrono::{DateTime, Utc};

use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::external::external_command::ExternalCommand;
use crate::engine::external::external_run::{RunFailure, RunPurpose};
use crate::engine::external::run_external::is_web_address;
use crate::engine::request::ScreenRequest;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::commands::{Command, KeyStep, OwnCommand};
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::reader::open_pages::{start_command, take_waiting};
use crate::ui::state::overlay::ListOf;
use crate::ui::state::pending::{RunningSequence, WaitingRun};

/// Maximum number of characters of a program's output in a message.
const TOLD_CHARS_MAX: usize = 300;

/// Carries out a command of the program. The table of all commands names this file, so it is handed in.
type CommandRunner = fn(&mut App, DateTime<Utc>, Command) -> Vec<ScreenEffect>;

/// Starts an own command.
pub fn start(
    app: &mut App,
    now: DateTime<Utc>,
    number: usize,
    run: CommandRunner,
) -> Vec<ScreenEffect> {
    let command = app.ui.settings.keys.own_commands().get(number).cloned();
    command
        .map(|OwnCommand { name, steps }| go_on(app, now, &name, steps.into(), run))
        .unwrap_or_default()
}

/// Runs steps up to the first program, which is started when its entry is read.
fn go_on(
    app: &mut App,
    now: DateTime<Utc>,
    name: &str,
    mut rest: VecDeque<KeyStep>,
    run: CommandRunner,
) -> Vec<ScreenEffect> {
    let mut effects = Vec::new();
    while let Some(step) = rest.pop_front() {
        match step {
            KeyStep::Command(command, _) => effects.extend(run(app, now, command)),
            KeyStep::Run(command) => {
                effects.extend(run_program(app, now, name, command, rest));
                return effects;
            }
        }
    }
    effects
}

/// Runs a program on the selected entry, which is first read from the store. The steps after it wait for its end.
pub fn run_program(
    app: &mut App,
    now: DateTime<Utc>,
    name: &str,
    command: ExternalCommand,
    rest: VecDeque<KeyStep>,
) -> Vec<ScreenEffect> {
    let Some(key) = selected_entry(app) else {
        return app.ui.complain_only(now, format!("'{name}' needs an entry: select one first"));
    };
    app.ui.sequences_begun = app.ui.sequences_begun.wrapping_add(1);
    let id = app.ui.sequences_begun;
    app.ui.sequences.push(RunningSequence { id, name: name.to_owned(), entry: key, rest });
    let purpose = RunPurpose::Step(id);
    app.ui.pipes.push(WaitingRun { key, command, link: None, purpose });
    vec![ask_store(ScreenRequest::Entry(key))]
}

fn selected_entry(app: &App) -> Option<EntryKey> {
    app.ui.list.selected_row()?.key.entry()
}

/// Starts the program that waits for an entry. Returns `None` if none waits for it.
pub fn start_waiting(
    app: &mut App,
    now: DateTime<Utc>,
    entry: &LoadedEntry,
) -> Option<ScreenEffect> {
    let WaitingRun { command, link, purpose, .. } = take_waiting(app, entry.key)?;
    if let RunPurpose::Step(id) = purpose {
        return start_program(app, now, entry, &command, id);
    }
    let mut entry = entry.clone();
    entry.kept.link = link.or(entry.kept.link);
    Some(start_command(app, entry, command, purpose))
}

/// Starts the program of a step, now that its entry is read. Stops the sequence if the program needs an address that the entry lacks.
fn start_program(
    app: &mut App,
    now: DateTime<Utc>,
    entry: &LoadedEntry,
    command: &ExternalCommand,
    id: u32,
) -> Option<ScreenEffect> {
    let link = entry.kept.link.as_deref().filter(|link| is_web_address(link));
    if link.is_none() && command.needs_link() {
        let name = stopped(app, id).map(|running| running.name).unwrap_or_default();
        app.ui.complain(now, format!("'{name}' stopped: this entry has no web address"));
        return None;
    }
    let title = one_line(entry.kept.shown_title(), TOLD_CHARS_MAX);
    let command = command.with_values(link.unwrap_or_default(), &title);
    Some(start_command(app, entry.clone(), command, RunPurpose::Step(id)))
}

/// Removes a sequence that does not go on.
fn stopped(app: &mut App, id: u32) -> Option<RunningSequence> {
    let place = app.ui.sequences.iter().position(|running| running.id == id)?;
    Some(app.ui.sequences.remove(place))
}

/// Goes on with a sequence after its program ended, or stops it if the program failed.
pub fn program_ended(
    app: &mut App,
    now: DateTime<Utc>,
    id: u32,
    ended: Result<Option<String>, RunFailure>,
    run: CommandRunner,
) -> Vec<ScreenEffect> {
    let Some(RunningSequence { name, entry, rest, .. }) = stopped(app, id) else {
        return Vec::new();
    };
    match ended {
        Err(why) => {
            let why = one_line(&why.to_string(), TOLD_CHARS_MAX);
            return app.ui.complain_only(now, format!("'{name}' stopped: {why}"));
        }
        Ok(line) => {
            let done =
                line.map_or_else(|| "done".to_owned(), |line| one_line(&line, TOLD_CHARS_MAX));
            app.ui.say(now, format!("{name}: {done}"));
        }
    }
    // A command acts on the selected entry: it must still be the one that the program got.
    if rest.front().is_some_and(|step| matches!(step, KeyStep::Command(..)))
        && selected_entry(app) != Some(entry)
    {
        let left = OwnCommand { name: name.clone(), steps: rest.into() }.about();
        return app.ui.complain_only(
            now,
            format!("'{name}' stopped before {left}: another entry is selected"),
        );
    }
    go_on(app, now, &name, rest, run)
}

/// The menu.
pub static LIST: ListKind = ListKind {
    title: "Share",
    empty: "nothing to share with: name programs in [share] of the configuration",
    toggles: &[Command::Share],
    count: |app, _, _| app.engine.settings.commands.share.len(),
    actions: &[action(&[Command::Enter], "shares", |app, now, open| {
        let (name, _) = app.engine.settings.commands.share.get(open.list.selected)?.clone();
        app.ui.uncover();
        Some(share_with(app, now, &name))
    })],
    ..ListKind::PLAIN
};

/// Opens or closes the menu.
pub fn toggle_menu(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let is_entry = app.ui.list.selected_row().is_some_and(|row| row.key.entry().is_some());
    if !is_entry && !app.engine.settings.commands.share.is_empty() {
        return app.ui.say_only(now, "select an entry first, then share it");
    }
    list_panel::toggle(app, now, ListOf::Share, &LIST)
}

/// Shares the selected entry with a program by its name.
pub fn share_with(app: &mut App, now: DateTime<Utc>, name: &str) -> Vec<ScreenEffect> {
    let share = &app.engine.settings.commands.share;
    let Some((name, command)) = share.iter().find(|(known, _)| known == name).cloned() else {
        return app.ui.complain_only(now, format!("[share] has no '{name}'"));
    };
    app.ui.say(now, format!("sharing with {name} …"));
    run_program(app, now, &name, command, VecDeque::new())
}
