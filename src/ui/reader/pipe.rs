//! Pipes the selected entry to an external command: asks for the command, reads the entry from the store, and starts the command.

use chrono::{DateTime, Utc};

use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::engine::external::external_command::ExternalCommand;
use crate::engine::external::external_run::RunPurpose;
use crate::engine::external::run_external;
use crate::engine::request::ScreenRequest;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::state::overlay::Overlay;
use crate::ui::state::reader::TextSource;
use crate::ui::state::running::WaitingRun;
use backissue_core::history::{EntryBody, EntryKey};

/// Opens the input line for an external command that receives the selected entry. The line is empty;
/// Up puts the last command into it, or else the configured one.
pub fn ask_command(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    ask_command_for(app, now, None)
}

/// Opens the input line as [`ask_command`] does. If a link of the text is given, the command receives it in place of the entry's own.
pub fn ask_command_for(
    app: &mut App,
    now: DateTime<Utc>,
    link: Option<String>,
) -> Vec<ScreenEffect> {
    app.ui.piped_link = link;
    if selected_entry(app).is_none() {
        return app.ui.say_only(now, "select an entry first: {pipe} passes it to a command");
    }
    app.ui.open_prompt(Prompt::new(PromptPurpose::Pipe));
    Vec::new()
}

/// Puts the last command into the input line, or else the configured one.
pub fn take_last(app: &mut App) {
    let last = app.ui.piped.clone().or_else(|| app.engine.settings.commands.pipe.clone());
    if let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay {
        *prompt = Prompt::filled(PromptPurpose::Pipe, last.unwrap_or_default());
    }
}

/// Returns the entry that the `|` key pipes to a command. Returns `None` if no entry is selected.
fn selected_entry(app: &App) -> Option<EntryKey> {
    app.ui.list.selected_row()?.key.entry()
}

/// Parses the typed command, and requests the selected entry for it from the store.
pub fn take_command(app: &mut App, now: DateTime<Utc>, text: &str) -> Vec<ScreenEffect> {
    let Some(key) = selected_entry(app) else { return Vec::new() };
    match ExternalCommand::typed_at_prompt(text) {
        Ok(command) => {
            app.ui.piped = Some(text.trim().to_owned());
            app.ui.say(now, format!("passing the entry to {}", command.program()));
            let link = app.ui.piped_link.take();
            app.ui.pipes.push(WaitingRun { key, command, link, purpose: RunPurpose::Pipe });
            vec![ask_store(ScreenRequest::Entry(key))]
        }
        Err(why) => app.ui.complain_only(now, why.to_string()),
    }
}

/// Removes the external command that waits for an entry. Returns `None` if no command waits for it.
pub fn take_waiting(app: &mut App, entry: EntryKey) -> Option<WaitingRun> {
    let place = app.ui.pipes.iter().position(|waiting| waiting.key == entry)?;
    Some(app.ui.pipes.remove(place))
}

/// Drops the commands that wait for an entry that could not be read. If they were kept, opening the entry later would start them.
pub fn give_up_entry(app: &mut App, key: EntryKey) {
    app.ui.pipes.retain(|waiting| waiting.key != key);
    app.ui.sequences.retain(|running| running.entry != key);
}

/// Starts an external command with an entry as its input.
pub fn start_command(
    app: &App,
    mut entry: LoadedEntry,
    command: ExternalCommand,
    purpose: RunPurpose,
) -> ScreenEffect {
    // If the entry is open, the command receives the text that the user sees: the feed's text or the page.
    if let Some(open) = &app.ui.reader
        && open.entry.key == entry.key
        && open.source == TextSource::Page
    {
        entry.body =
            Some(EntryBody { content: Some(open.markup().0.to_owned()), ..EntryBody::default() });
    }
    run_external::pipe(&app.engine, entry, command, purpose).into()
}
