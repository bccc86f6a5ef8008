//! What an overlay did with a key or a click. What it cannot do itself, it asks for by a value.

use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;

/// What an overlay did with a key.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyOutcome {
    /// It took the key; this is asked of the world.
    Done(Vec<ScreenEffect>),
    /// The key means what it means in the panes.
    Passed,
    /// This command is to be run.
    Run(Command),
}

impl From<Option<Vec<ScreenEffect>>> for KeyOutcome {
    fn from(taken: Option<Vec<ScreenEffect>>) -> Self {
        taken.map_or(Self::Passed, Self::Done)
    }
}

/// What an overlay did with a click.
#[derive(Debug, Clone, PartialEq)]
pub enum ClickOutcome {
    /// It took the click; this is asked of the world.
    Done(Vec<ScreenEffect>),
    /// What was clicked is to be opened, as by Enter.
    Enter,
}
