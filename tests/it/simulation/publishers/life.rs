//! A publisher's faults and their times.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

/// A temporary fault of a publisher.
#[derive(Debug, Clone)]
pub struct Episode {
    pub from: DateTime<Utc>,
    /// End of the fault (exclusive).
    pub until: DateTime<Utc>,
    pub fault: Fault,
}

/// A way in which a publisher's answer goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An error status; the number is the seconds of its `Retry-After` header.
    Status(u16, Option<i64>),
    /// The host's name cannot be resolved.
    Name,
    /// The connection is refused.
    Refused,
    /// No answer arrives.
    Silence,
    /// The answer takes more than a minute.
    Slow,
    /// The body ends too early.
    Cut,
    /// The body is larger than allowed.
    TooLarge,
    /// The body is meaningless bytes.
    Nonsense,
    /// The body is a web page.
    Page,
    /// The body is empty.
    Empty,
    /// The document has no entries.
    NoEntries,
    /// The address redirects temporarily to another one.
    Elsewhere,
    /// Entries have different ids from the start of the fault on, permanently.
    OtherIds,
}

/// Kinds of faults and events; each can be removed from a scenario to see whether it still fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Error statuses, except 410.
    Refusals,
    /// Missing answers, and answers without a usable document.
    Silences,
    /// The publisher ends the feed with a 410.
    Deaths,
    /// The feed's address changes.
    Moves,
    /// Publishers send wrong validators, and their entries change or vanish.
    Liars,
    /// Archives are missing, permanently or for a while.
    LostArchives,
    /// There is no network for a while.
    Away,
    /// The machine sleeps.
    Sleep,
    /// The wall clock is set.
    Clock,
    /// The program is killed or the power fails.
    Crashes,
    /// The program ends in an orderly way and starts again.
    Restarts,
    /// The disk is full for a while.
    FullDisk,
    /// A person presses keys.
    Keys,
    /// A person and other processes send requests.
    Requests,
    /// Changes are undone, and the result is checked.
    Undo,
}

impl FaultKind {
    pub const ALL: [Self; 15] = [
        Self::Refusals,
        Self::Silences,
        Self::Deaths,
        Self::Moves,
        Self::Liars,
        Self::LostArchives,
        Self::Away,
        Self::Sleep,
        Self::Clock,
        Self::Crashes,
        Self::Restarts,
        Self::FullDisk,
        Self::Keys,
        Self::Requests,
        Self::Undo,
    ];

    pub fn all() -> BTreeSet<Self> {
        Self::ALL.into_iter().collect()
    }
}

impl Fault {
    /// Returns the kind to which a fault belongs.
    pub const fn kind(self) -> FaultKind {
        match self {
            Self::Status(410, _) => FaultKind::Deaths,
            Self::Status(..) => FaultKind::Refusals,
            Self::Elsewhere => FaultKind::Moves,
            Self::OtherIds => FaultKind::Liars,
            Self::Name
            | Self::Refused
            | Self::Silence
            | Self::Slow
            | Self::Cut
            | Self::TooLarge
            | Self::Nonsense
            | Self::Page
            | Self::Empty
            | Self::NoEntries => FaultKind::Silences,
        }
    }
}
