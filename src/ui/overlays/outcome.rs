//! What an overlay did with a key or a click. Work that the overlay cannot do itself is returned as a value.

use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;

/// What an overlay did with a key.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyOutcome {
    /// The overlay handled the key. These effects must be performed.
    Done(Vec<ScreenEffect>),
    /// The overlay did not handle the key, so the panes must handle it.
    Passed,
    /// The overlay did not handle the key itself, but this command must run.
    Run(Command),
    /// As [`KeyOutcome::Run`], for the command with this name and the text that was typed after it.
    RunWith(&'static str, String),
}

impl From<Option<Vec<ScreenEffect>>> for KeyOutcome {
    fn from(taken: Option<Vec<ScreenEffect>>) -> Self {
        taken.map_or(Self::Passed, Self::Done)
    }
}

/// What an overlay did with a click.
#[derive(Debug, Clone, PartialEq)]
pub enum ClickOutcome {
    /// The overlay handled the click. These effects must be performed.
    Done(Vec<ScreenEffect>),
    /// The clicked item must be opened, as if the user had pressed Enter.
    Enter,
}
