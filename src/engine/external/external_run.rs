//! A run of an external command: its purpose and its input.

use super::external_command::ExternalCommand;
use crate::engine::entries::entry_view::EntryView;

/// An external command to start, with its purpose and input.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalRun {
    /// Purpose of the run.
    pub purpose: RunPurpose,
    /// Command to start.
    pub command: ExternalCommand,
    /// Standard input of the command.
    pub input: RunInput,
    /// Commands to try, in this order, if the command fails at once.
    pub others: Vec<ExternalCommand>,
}

impl ExternalRun {
    /// Creates a run of a command that is the only one to try.
    pub const fn new(purpose: RunPurpose, command: ExternalCommand, input: RunInput) -> Self {
        Self { purpose, command, input, others: Vec::new() }
    }

    /// Creates a run that shows something with the first of these commands that works; `None` if there are none.
    pub fn showing(mut commands: Vec<ExternalCommand>, input: RunInput) -> Option<Self> {
        let command = (!commands.is_empty()).then(|| commands.remove(0))?;
        Some(Self { purpose: RunPurpose::Show, command, input, others: commands })
    }

    /// Returns the run to try if this one fails.
    pub fn next(&self) -> Option<Self> {
        Self::showing(self.others.clone(), self.input.clone())
    }
}

/// Purpose of running an external command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPurpose {
    /// Open an address or show the log. The command may run indefinitely.
    Show,
    /// Pass an entry to the command and show what it prints.
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
    Entry(Box<EntryView>),
    /// Several new entries, as one JSON document.
    News(Vec<EntryView>),
    /// The last part of backissue's log.
    Log,
    /// What another command printed.
    Text(String),
}
