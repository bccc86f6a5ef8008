//! The results that an overlay returns for a key or a click. Work that the overlay cannot do itself is returned as a value.

use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;

/// The result of a key in an overlay.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyOutcome {
    /// The overlay handled the key. These effects are to be performed.
    Done(Vec<ScreenEffect>),
    /// The overlay ignores the key, so the panes handle it.
    Passed,
    /// This command should run.
    Run(Command),
}

impl From<Option<Vec<ScreenEffect>>> for KeyOutcome {
    fn from(taken: Option<Vec<ScreenEffect>>) -> Self {
        taken.map_or(Self::Passed, Self::Done)
    }
}

/// The result of a click in an overlay.
#[derive(Debug, Clone, PartialEq)]
pub enum ClickOutcome {
    /// The overlay handled the click. These effects are to be performed.
    Done(Vec<ScreenEffect>),
    /// The clicked item should open, as with Enter.
    Enter,
}
