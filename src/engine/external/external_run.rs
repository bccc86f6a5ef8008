//! A run of an external command: its purpose and its input.

use super::external_command::ExternalCommand;
use crate::engine::entries::loaded_entry::LoadedEntry;

/// A command to start.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalRun {
    /// Purpose of the run.
    pub purpose: RunPurpose,
    /// Command to start.
    pub command: ExternalCommand,
    /// Standard input of the command.
    pub input: RunInput,
}

/// Purpose of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPurpose {
    /// Show an address. The command may run indefinitely.
    Show,
    /// Pass an entry to the command and show the first line it prints.
    Pipe,
    /// Notify the command of new entries.
    News,
}

/// Standard input of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum RunInput {
    /// No input.
    Nothing,
    /// An entry, as text or as JSON.
    Entry(Box<HandedEntry>),
    /// New entries, as one JSON document.
    News(Vec<HandedEntry>),
    /// End of the log.
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
