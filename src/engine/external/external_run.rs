//! A command to start: what it is for, and what it reads.

use super::external_command::ExternalCommand;
use crate::engine::entries::loaded_entry::LoadedEntry;

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
    /// The end of the log.
    Log,
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
