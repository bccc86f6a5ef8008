//! A publisher's faults and their times.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

/// A temporary fault.
#[derive(Debug, Clone)]
pub struct Episode {
    pub from: DateTime<Utc>,
    /// End of the fault (exclusive).
    pub until: DateTime<Utc>,
    pub fault: Fault,
}

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A status, with the seconds of its `Retry-After`.
    Status(u16, Option<i64>),
    /// The name is unknown.
    Name,
    /// The connection is refused.
    Refused,
    /// There is no answer.
    Silence,
    /// The answer takes more than a minute.
    Slow,
    /// The body breaks off.
    Cut,
    /// The body is larger than allowed.
    TooLarge,
    /// The body is garbage.
    Nonsense,
    /// The body is a web page.
    Page,
    /// The body is empty.
    Empty,
    /// The document has no entries.
    NoEntries,
    /// The address redirects elsewhere temporarily.
    Elsewhere,
    /// Entries have different ids from the start of the fault on.
    OtherIds,
}

/// Kinds of faults that can be removed from a scenario to see whether it still fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Statuses other than 200 and 304.
    Refusals,
    /// Other answers without a document, and missing answers.
    Silences,
    /// 410.
    Deaths,
    /// Addresses that change.
    Moves,
    /// Wrong validators, and entries that change or vanish.
    Liars,
    /// Missing archives.
    LostArchives,
    /// Times without a network.
    Away,
    /// The machine sleeps.
    Sleep,
    /// The wall clock is set.
    Clock,
    /// The program is killed, and the power fails.
    Crashes,
    /// The program ends and starts in an orderly way.
    Restarts,
    /// The disk is full for a while.
    FullDisk,
    /// A person presses keys.
    Keys,
    /// A person and other processes send requests.
    Requests,
    /// Changes are undone.
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
    /// Returns the kind of the fault.
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
