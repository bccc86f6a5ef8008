//! Commands of the user's own: sequences of commands and programs, bound to keys or names in `[keys]`.

use super::commands::Command;
use crate::engine::external::external_command::ExternalCommand;

/// A sequence of commands and programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommand {
    /// Name in the palette and in messages: the user's name for it, or its keys.
    pub name: String,
    /// What it does, one step after the other.
    pub steps: Vec<KeyStep>,
}

/// A step of an own command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStep {
    /// Runs a command of the command table, given with its name.
    Command(Command, &'static str),
    /// Passes the selected entry to a program, and waits until the program ends.
    Run(ExternalCommand),
}

impl OwnCommand {
    /// Describes the steps, such as `wallabag-add, then toggle-read`.
    pub fn about(&self) -> String {
        let steps = self.steps.iter().map(|step| match step {
            KeyStep::Command(_, name) => (*name).to_owned(),
            KeyStep::Run(command) => command.program().to_owned(),
        });
        steps.collect::<Vec<_>>().join(", then ")
    }
}
