//! A run of an external command: its purpose and its input.

use super::external_command::ExternalCommand;
use crate::engine::entries::loaded_entry::LoadedEntry;

/// An external command to start, with its purpose and input.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalRun {
    /// Purpose of the run.
    pub purpose: RunPurpose,
    /// Command to start.
    pub command: ExternalCommand,
    /// Standard input of the command.
    pub input: RunInput,
}

/// Purpose of running an external command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPurpose {
    /// Open an address or show the log. The command may run indefinitely.
    Show,
    /// Pass an entry to the command and show the first line it prints.
    Pipe,
    /// Run the program of an own command, which has this number.
    Step(u32),
    /// Notify the command of new entries.
    News,
    /// Play the download with this number.
    Play(u32),
}

/// Standard input of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum RunInput {
    /// No input.
    Nothing,
    /// An entry, as text or as JSON.
    Entry(Box<HandedEntry>),
    /// Several new entries, as one JSON document.
    News(Vec<HandedEntry>),
    /// The last part of backissue's log.
    Log,
}

/// An entry as passed to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedEntry {
    /// Entry to pass.
    pub entry: LoadedEntry,
    /// Title of its feed.
    pub feed_title: String,
    /// Address of its feed.
    pub feed_url: String,
}
