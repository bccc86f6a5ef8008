//! A run of an external command: its purpose and its input, and why it failed.

use thiserror::Error;

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

/// The reason that a program failed. The message is a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunFailure {
    /// There is no program of this name.
    #[error("there is no program '{0}'")]
    Missing(String),
    /// The system refused to start the program, for this reason.
    #[error("{0} cannot be started: {1}")]
    NotStarted(String, String),
    /// The program could not get its input, for this reason.
    #[error("{0} got no standard input: {1}")]
    NoInput(String, String),
    /// The end of the program is unknown, for this reason.
    #[error("waiting for {0} failed: {1}")]
    Unknown(String, String),
    /// The program exceeded this number of seconds.
    #[error("{0} was stopped after {1} s")]
    TooSlow(String, u64),
    /// The program ended with this status, or by a signal if there is none, after this error message.
    #[error("{0} {how}{why}", how = how(*.1), why = reason(.2.as_deref()))]
    Failed(String, Option<i32>, Option<String>),
    /// The downloaded file that was to be played no longer exists.
    #[error("{0} is gone: download it again")]
    FileGone(String),
    /// No browser can open this address.
    #[error("no browser could be started; set the variable BROWSER to one. The address is {0}")]
    NoBrowser(String),
    /// The address could be mistaken for an option or a file (SPEC G.52).
    #[error("only http and https addresses can be opened, not '{0}'")]
    NotWeb(String),
    /// None of the programs opened the address; the last one failed for this reason.
    #[error("{0}. The address is {1}")]
    NotOpened(Box<Self>, String),
    /// The program of the configuration failed to open an address, for this reason.
    #[error("[commands] open in your configuration failed: {0}")]
    OwnCommand(Box<Self>),
}

fn how(status: Option<i32>) -> String {
    status.map_or_else(
        || "was killed by a signal".to_owned(),
        |status| format!("exited with status {status}"),
    )
}

fn reason(complaint: Option<&str>) -> String {
    complaint.map(|line| format!(": {line}")).unwrap_or_default()
}
