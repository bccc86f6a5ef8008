//! Runs own commands step by step. A step that runs a program waits until the program ends. If the program fails, the following
//! steps are skipped.
//!
//! The programs in `[share]`, which receive the selected entry, have a menu.

use std::collections::VecDeque;

use backissue_core::feed::text::one_line;
use backissue_core::history::EntryKey;

use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::external_command::ExternalCommand;
use crate::engine::external_run::{RunFailure, RunPurpose};
use crate::engine::start_external::is_web_address;
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ask_store;
use crate::ui::keys::command_table::{Command, KeyStep, OwnCommand};
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::reader::open_pages::{start_command, take_waiting};
use crate::ui::state::overlay::ListOf;
use crate::ui::state::pending::{RunningSequence, WaitingRun};

/// Maximum number of characters of a program's output in a message.
const TOLD_CHARS_MAX: usize = 300;

/// A function that runs a command of the program. The command table refers to this file, so this file cannot refer to the table,
/// and its callers pass the function as an argument.
type CommandRunner = fn(&mut Cx<'_>, Command);

/// Starts an own command.
pub fn start(cx: &mut Cx<'_>, number: usize, run: CommandRunner) {
    let command = cx.app.ui.settings.keys.own_commands().get(number).cloned();
    if let Some(OwnCommand { name, steps }) = command {
        go_on(cx, &name, steps.into(), run);
    }
}

/// Runs the steps up to the first one that runs a program. This program starts when the entry has been read from the store.
fn go_on(cx: &mut Cx<'_>, name: &str, mut rest: VecDeque<KeyStep>, run: CommandRunner) {
    while let Some(step) = rest.pop_front() {
        match step {
            KeyStep::Command(command, _) => run(cx, command),
            KeyStep::Run(command) => {
                run_program(cx, name, command, rest);
                return;
            }
        }
    }
}

/// Runs a program on the selected entry, which is first read from the store. The following steps run after the program has ended.
pub fn run_program(cx: &mut Cx<'_>, name: &str, command: ExternalCommand, rest: VecDeque<KeyStep>) {
    let Some(key) = selected_entry(cx.app) else {
        return cx.complain(format!("'{name}' needs an entry: select one first"));
    };
    cx.app.ui.sequences_begun = cx.app.ui.sequences_begun.wrapping_add(1);
    let id = cx.app.ui.sequences_begun;
    cx.app.ui.sequences.push(RunningSequence { id, name: name.to_owned(), entry: key, rest });
    let purpose = RunPurpose::Step(id);
    cx.app.ui.pipes.push(WaitingRun { key, command, link: None, purpose });
    cx.out.push(ask_store(Job::ReadEntry(key)));
}

fn selected_entry(app: &App) -> Option<EntryKey> {
    app.ui.list.selected_row()?.key.entry()
}

/// Starts the program that waits for an entry. Returns `false` if none is started.
pub fn start_waiting(cx: &mut Cx<'_>, entry: &LoadedEntry) -> bool {
    let Some(WaitingRun { command, link, purpose, .. }) = take_waiting(cx.app, entry.key) else {
        return false;
    };
    if let RunPurpose::Step(id) = purpose {
        return start_program(cx, entry, &command, id);
    }
    let mut entry = entry.clone();
    entry.kept.link = link.or(entry.kept.link);
    cx.out.push(start_command(cx.app, entry, command, purpose));
    true
}

/// Starts the program of a step after its entry has been read. Stops the sequence if the program needs an address and the entry
/// has none.
fn start_program(cx: &mut Cx<'_>, entry: &LoadedEntry, command: &ExternalCommand, id: u32) -> bool {
    let link = entry.kept.link.as_deref().filter(|link| is_web_address(link));
    if link.is_none() && command.needs_link() {
        let name = stopped(cx.app, id).map(|running| running.name).unwrap_or_default();
        cx.complain(format!("'{name}' stopped: this entry has no web address"));
        return false;
    }
    let title = one_line(entry.kept.shown_title(), TOLD_CHARS_MAX);
    let feed = cx.app.engine.feeds.get(&entry.key.feed);
    let feed = feed.map(|feed| feed.record.outgoing_title()).unwrap_or_default();
    let command = command.with_values(link.unwrap_or_default(), &title, &feed);
    cx.out.push(start_command(cx.app, entry.clone(), command, RunPurpose::Step(id)));
    true
}

/// Removes a sequence from the list of running sequences, and returns it.
fn stopped(app: &mut App, id: u32) -> Option<RunningSequence> {
    let place = app.ui.sequences.iter().position(|running| running.id == id)?;
    Some(app.ui.sequences.remove(place))
}

/// Continues a sequence after its program has ended, or stops the sequence if the program failed.
pub fn program_ended(
    cx: &mut Cx<'_>,
    id: u32,
    ended: Result<Option<String>, RunFailure>,
    run: CommandRunner,
) {
    let Some(RunningSequence { name, entry, rest, .. }) = stopped(cx.app, id) else {
        return;
    };
    match ended {
        Err(why) => {
            let why = one_line(&why.to_string(), TOLD_CHARS_MAX);
            return cx.complain(format!("'{name}' stopped: {why}"));
        }
        Ok(line) => {
            let done =
                line.map_or_else(|| "done".to_owned(), |line| one_line(&line, TOLD_CHARS_MAX));
            cx.say(format!("{name}: {done}"));
        }
    }
    // A command acts on the selected entry, so the entry that the program received must still be selected.
    if rest.front().is_some_and(|step| matches!(step, KeyStep::Command(..)))
        && selected_entry(cx.app) != Some(entry)
    {
        let left = OwnCommand { name: name.clone(), steps: rest.into() }.about();
        return cx.complain(format!("'{name}' stopped before {left}: another entry is selected"));
    }
    go_on(cx, &name, rest, run);
}

/// The menu.
pub static LIST: ListKind = ListKind {
    title: "Share",
    empty: "nothing to share with: name programs in [share] of the configuration",
    toggles: &[Command::Share],
    count: |app, _, _| app.engine.settings.commands.share.len(),
    actions: &[action(&[Command::Enter], "shares", |cx, open| {
        let (name, _) = cx.app.engine.settings.commands.share.get(open.list.selected)?.clone();
        cx.app.ui.uncover();
        share_with(cx, &name);
        Some(())
    })],
    ..ListKind::PLAIN
};

/// Opens or closes the menu.
pub fn toggle_menu(cx: &mut Cx<'_>) {
    let is_entry = cx.app.ui.list.selected_row().is_some_and(|row| row.key.entry().is_some());
    if !is_entry && !cx.app.engine.settings.commands.share.is_empty() {
        return cx.say("select an entry first, then share it");
    }
    list_panel::toggle(cx, ListOf::Share, &LIST);
}

/// Shares the selected entry with a program by its name.
pub fn share_with(cx: &mut Cx<'_>, name: &str) {
    let share = &cx.app.engine.settings.commands.share;
    let Some((name, command)) = share.iter().find(|(known, _)| known == name).cloned() else {
        return cx.complain(format!("[share] has no '{name}'"));
    };
    cx.say(format!("sharing with {name} …"));
    run_program(cx, &name, command, VecDeque::new());
}
