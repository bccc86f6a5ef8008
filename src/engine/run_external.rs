//! Commands of the reader's own: what they are started with, and what is told of how they ended.

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::entries::full_text::Source;
use super::external_command::CommandLine;
use super::model::Model;
use super::msg::LoadedEntry;
use super::notifications;
use crate::feed::text::one_line;
use crate::history::{EntryBody, EntryKey};
use crate::ui::overlays::prompt::Prompt;
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::screen::Overlay;

/// Characters of a command's word in the bottom line.
const TOLD_CHARS_MAX: usize = 300;

/// A command to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Errand {
    /// What it is for.
    pub purpose: ErrandPurpose,
    /// The command.
    pub command: CommandLine,
    /// What it reads on its standard input.
    pub input: ErrandInput,
}

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrandPurpose {
    /// It shows an address: it may stay as long as it likes.
    Show,
    /// It takes an entry, and says something about it.
    Pipe,
    /// It is told of new entries.
    News,
}

/// What a command reads on its standard input.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrandInput {
    /// Nothing.
    Nothing,
    /// An entry, as text or as JSON.
    Entry(Box<ToldEntry>),
    /// New entries, as one JSON document.
    News(Vec<ToldEntry>),
}

/// An entry as commands are told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldEntry {
    /// The entry.
    pub entry: LoadedEntry,
    /// What its feed is called.
    pub feed_title: String,
    /// The address of its feed.
    pub feed_url: String,
}

/// An entry with the name of its feed.
pub fn told(model: &Model, entry: LoadedEntry) -> ToldEntry {
    let record = model.feeds.get(&entry.key.feed).map(|feed| &feed.record);
    let feed_title = record.map(|record| record.shown_title().to_owned()).unwrap_or_default();
    let feed_url = record.map(|record| record.url.clone()).unwrap_or_default();
    ToldEntry { entry, feed_title, feed_url }
}

/// What opens an address: the configured command, else the browser.
pub fn show(model: &Model, link: String) -> Effect {
    started(model.settings.commands.open.as_ref(), link)
}

/// What opens an attached file: its own command, else that for addresses, else the browser.
pub fn play(model: &Model, link: String) -> Effect {
    let commands = &model.settings.commands;
    started(commands.enclosure.as_ref().or(commands.open.as_ref()), link)
}

fn started(command: Option<&CommandLine>, link: String) -> Effect {
    // Only addresses that cannot be taken for an option or a file (SPEC G.52).
    let allowed = ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme));
    match command.filter(|_| allowed) {
        Some(command) => Effect::Run(Box::new(Errand {
            purpose: ErrandPurpose::Show,
            command: command.with_link(&link),
            input: ErrandInput::Nothing,
        })),
        None => Effect::Open(link),
    }
}

/// Asks for the command that the selected entry is piped to; the last one stands there already.
pub fn ask_pipe(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if piped_entry(model).is_none() {
        model.screen.say(now, "select an entry first: | hands it to a command");
        return Vec::new();
    }
    let last = model.screen.piped.clone().or_else(|| model.settings.commands.pipe.clone());
    let prompt = Prompt::filled(PromptPurpose::Pipe, last.unwrap_or_default());
    model.screen.lay_over(Overlay::Prompt(prompt));
    Vec::new()
}

/// The entry that `|` is about.
fn piped_entry(model: &Model) -> Option<EntryKey> {
    model.screen.list.selected_row()?.key.entry()
}

/// The command was typed: the entry is read for it.
pub fn pipe(model: &mut Model, now: DateTime<Utc>, text: &str) -> Vec<Effect> {
    let Some(key) = piped_entry(model) else { return Vec::new() };
    match CommandLine::typed(text) {
        Ok(command) => {
            model.screen.piped = Some(text.trim().to_owned());
            model.screen.say(now, format!("handing the entry to {}", command.program()));
            vec![Effect::ReadForPipe(key, command)]
        }
        Err(why) => {
            model.screen.complain(now, why);
            Vec::new()
        }
    }
}

/// The entry has been read: the command is started.
pub fn piped(model: &Model, mut entry: LoadedEntry, command: CommandLine) -> Vec<Effect> {
    // What the reader sees is what is handed over.
    if let Some(open) = &model.screen.reader
        && open.entry.key == entry.key
        && open.source == Source::Page
    {
        entry.body = Some(EntryBody { summary: None, content: Some(open.markup().0.to_owned()) });
    }
    let input = ErrandInput::Entry(Box::new(told(model, entry)));
    vec![Effect::Run(Box::new(Errand { purpose: ErrandPurpose::Pipe, command, input }))]
}

/// A command ended: with the first line it said, or with a sentence about what went wrong.
pub fn ran(
    model: &mut Model,
    now: DateTime<Utc>,
    purpose: ErrandPurpose,
    ended: Result<Option<String>, String>,
) -> Vec<Effect> {
    match (purpose, ended) {
        (_, Err(why)) => model.screen.complain(now, one_line(&why, TOLD_CHARS_MAX)),
        (ErrandPurpose::Pipe, Ok(Some(line))) => {
            model.screen.say(now, one_line(&line, TOLD_CHARS_MAX));
        }
        (ErrandPurpose::Pipe, Ok(None)) => model.screen.say(now, "the command is done"),
        (ErrandPurpose::Show | ErrandPurpose::News, Ok(_)) => {}
    }
    if purpose == ErrandPurpose::News { notifications::told(model, now) } else { Vec::new() }
}
