//! What the user does with the open text: finding words, choosing a link, and when the entry counts as read.

use chrono::{DateTime, Utc};

use backissue_core::history::EntryKey;

/// The text that is being found, and where the user is in the open text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Find {
    /// The wanted text, as typed.
    pub wanted: String,
    /// Line of the selected hit, and the byte in this line at which it begins. `None` before there is one.
    pub hit: Option<(usize, usize)>,
    /// First visible line when the search began, which is shown again if the search is cancelled.
    pub(in crate::ui) from: usize,
}

/// An open entry that is marked as read later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLater {
    /// The entry.
    pub key: EntryKey,
    /// Time when it was opened.
    pub since: DateTime<Utc>,
}

/// The state of the hints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkHints {
    /// The letters typed so far.
    pub typed: String,
    /// What happens to the chosen link.
    pub does: HintAction,
}

/// What happens to the link that the user chooses by its hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HintAction {
    /// It is opened.
    #[default]
    Open,
    /// It is copied.
    Copy,
    /// It is passed to a command.
    Pipe,
}
