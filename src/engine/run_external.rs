//! Commands of the reader's own: what they are started with, and what is told of how they ended.

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::entries::loaded_entry::LoadedEntry;
use super::entries::notifications;
use super::external_command::ExternalCommand;
use crate::engine::state::Engine;
use crate::feed::text::one_line;

/// Characters of a command's word in the bottom line.
const TOLD_CHARS_MAX: usize = 300;

/// A command to start.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalRun {
    /// What it is for.
    pub purpose: RunPurpose,
    /// The command.
    pub command: ExternalCommand,
    /// What it reads on its standard input.
    pub input: RunInput,
}

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPurpose {
    /// It shows an address: it may stay as long as it likes.
    Show,
    /// It takes an entry, and says something about it.
    Pipe,
    /// It is told of new entries.
    News,
}

/// What a command reads on its standard input.
#[derive(Debug, Clone, PartialEq)]
pub enum RunInput {
    /// Nothing.
    Nothing,
    /// An entry, as text or as JSON.
    Entry(Box<HandedEntry>),
    /// New entries, as one JSON document.
    News(Vec<HandedEntry>),
}

/// An entry as commands are told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedEntry {
    /// The entry.
    pub entry: LoadedEntry,
    /// What its feed is called.
    pub feed_title: String,
    /// The address of its feed.
    pub feed_url: String,
}

/// An entry with the name of its feed.
pub fn handed_entry(engine: &Engine, entry: LoadedEntry) -> HandedEntry {
    let record = engine.feeds.get(&entry.key.feed).map(|feed| &feed.record);
    let feed_title = record.map(|record| record.shown_title().to_owned()).unwrap_or_default();
    let feed_url = record.map(|record| record.url.clone()).unwrap_or_default();
    HandedEntry { entry, feed_title, feed_url }
}

/// What starts a command for an entry.
pub fn pipe(engine: &Engine, entry: LoadedEntry, command: ExternalCommand) -> Effect {
    let input = RunInput::Entry(Box::new(handed_entry(engine, entry)));
    Effect::Run(Box::new(ExternalRun { purpose: RunPurpose::Pipe, command, input }))
}

/// What opens an address: the configured command, else the browser.
pub fn show(engine: &Engine, link: String) -> Effect {
    started(engine.settings.commands.open.as_ref(), link)
}

/// What opens an attached file: its own command, else that for addresses, else the browser.
pub fn play(engine: &Engine, link: String) -> Effect {
    let commands = &engine.settings.commands;
    started(commands.enclosure.as_ref().or(commands.open.as_ref()), link)
}

fn started(command: Option<&ExternalCommand>, link: String) -> Effect {
    // Only addresses that cannot be taken for an option or a file (SPEC G.52).
    let allowed = ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme));
    match command.filter(|_| allowed) {
        Some(command) => Effect::Run(Box::new(ExternalRun {
            purpose: RunPurpose::Show,
            command: command.with_link(&link),
            input: RunInput::Nothing,
        })),
        None => Effect::Open(link),
    }
}

/// A command ended: with the first line it said, or with a sentence about what went wrong.
pub fn ran(
    engine: &mut Engine,
    now: DateTime<Utc>,
    purpose: RunPurpose,
    ended: Result<Option<String>, String>,
) -> Vec<Effect> {
    match (purpose, ended) {
        (_, Err(why)) => engine.complain(one_line(&why, TOLD_CHARS_MAX)),
        (RunPurpose::Pipe, Ok(Some(line))) => {
            engine.say(one_line(&line, TOLD_CHARS_MAX));
        }
        (RunPurpose::Pipe, Ok(None)) => engine.say("the command is done"),
        (RunPurpose::Show | RunPurpose::News, Ok(_)) => {}
    }
    if purpose == RunPurpose::News { notifications::command_ended(engine, now) } else { Vec::new() }
}
