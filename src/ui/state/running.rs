//! External commands that wait for their entry, and own commands that wait for the end of a program.

use std::collections::VecDeque;

use crate::engine::external::external_command::ExternalCommand;
use crate::engine::external::external_run::RunPurpose;
use crate::ui::keys::own_commands::KeyStep;
use backissue_core::history::EntryKey;

/// An own command whose program is running, or waits for its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningSequence {
    /// Number by which the end of the program finds the sequence.
    pub(in crate::ui) id: u32,
    /// Name of the own command.
    pub(in crate::ui) name: String,
    /// The entry for which the program runs.
    pub(in crate::ui) entry: EntryKey,
    /// The steps after it.
    pub(in crate::ui) rest: VecDeque<KeyStep>,
}

/// An external command that starts when an entry has been read from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingRun {
    /// Entry to read.
    pub(in crate::ui) key: EntryKey,
    /// Command that receives the entry.
    pub(in crate::ui) command: ExternalCommand,
    /// Link of its text that the command receives instead of the entry's own.
    pub(in crate::ui) link: Option<String>,
    /// Purpose of the run.
    pub(in crate::ui) purpose: RunPurpose,
}
