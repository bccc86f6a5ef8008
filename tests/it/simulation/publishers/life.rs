//! What goes wrong with a publisher, and when.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

/// Something that goes wrong for a while.
#[derive(Debug, Clone)]
pub struct Episode {
    pub from: DateTime<Utc>,
    /// Not any more at this instant.
    pub until: DateTime<Utc>,
    pub fault: Fault,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A status, with the seconds of its `Retry-After`.
    Status(u16, Option<i64>),
    /// The name is not known.
    Name,
    /// The connection is refused.
    Refused,
    /// Nobody answers.
    Silence,
    /// It takes a minute and more.
    Slow,
    /// The body breaks off.
    Cut,
    /// The body is larger than allowed.
    TooLarge,
    /// The body is nothing that can be read.
    Nonsense,
    /// The body is a page.
    Page,
    /// There is no body.
    Empty,
    /// The document has no entries.
    NoEntries,
    /// It leads to another address for now.
    Elsewhere,
    /// Entries have other identities from then on.
    OtherIds,
}

/// What can be left out of a story, to see whether it ends the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Statuses other than 200 and 304.
    Refusals,
    /// Other answers that are no documents, and none at all.
    Silences,
    /// 410.
    Deaths,
    /// Addresses that change.
    Moves,
    /// Validators that lie, entries that change or vanish.
    Liars,
    /// Archives that cannot be had.
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
    /// A person and other processes ask for things.
    Requests,
    /// Changes are taken back.
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
    /// What kind it is of.
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
