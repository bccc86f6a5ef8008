//! Gaps: what we know is missing of a logical feed, why, and when it is asked for again (SPEC C.8).

use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::walk::adaptor::Via;
use super::walk::retry::ArchiveFailure;
use crate::feed::text::one_line;

/// Characters kept of what went wrong: servers write some of these words.
const WHY_CHARS: usize = 200;

/// Keys of [`GapKey`]. They are part of what is stored and never change.
const KEYS: (u64, u64) = (0x6761_7073_206f_6620, 0x6120_6665_6564_2121);

/// Names a gap within its feed. What is missing at one address keeps its name whatever the reason, so that
/// finding it again updates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GapKey(pub u64);

impl GapKey {
    fn hash_of(kind: &str, anchor: &str) -> Self {
        let mut hasher = SipHasher13::new_with_keys(KEYS.0, KEYS.1);
        hasher.write(kind.as_bytes());
        hasher.write_u8(0x1f);
        hasher.write(anchor.as_bytes());
        Self(hasher.finish())
    }

    /// An archive that is not here (G1 to G3).
    pub fn archive(canonical: &str) -> Self {
        Self::hash_of("archive", canonical)
    }

    /// A link of one document back to an archive that is here (G4).
    pub fn broken_link(newer: &str, canonical: &str) -> Self {
        Self::hash_of(newer, canonical)
    }

    /// An overrun of the window after this entry (G5); the hash of its id.
    pub fn overrun(newest_known: u64) -> Self {
        Self::hash_of("overrun", &newest_known.to_string())
    }

    /// The older pages of a paged feed (G6).
    pub fn pages() -> Self {
        Self::hash_of("pages", "")
    }
}

/// A link from a newer document to an older one: what a walk follows, and what a gap stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edge {
    /// The older document's address as it is asked for.
    pub url: String,
    /// The same in canonical form.
    pub key: String,
    /// The document that holds the link.
    pub newer: Newer,
    /// Number of the walk from the subscription document that found it; a later one is newer.
    pub epoch: u32,
    /// Archives between it and the subscription document in that walk.
    pub depth: u32,
    /// It is a skipped archive found through `next-archive`: nothing is followed from there.
    pub side: bool,
    /// It was found by SPEC C.2 rule 5.
    pub by_previous: bool,
    /// How it was found: by a link of the publisher's, or by an adaptor.
    pub via: Via,
}

/// The document that holds a link to something older.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Newer {
    /// Canonical address of the archive; `None`: the subscription document.
    pub archive: Option<String>,
    /// Address it answered from: whose word the link is (SPEC D.6).
    pub url: String,
    /// It answered from a public address.
    pub public: bool,
    /// The oldest date among its own copies: where a gap below it stands.
    pub oldest: Option<DateTime<Utc>>,
}

/// Something missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The link that could not be followed. Without an address for G5, whose key is the newest archive of the time before it,
    /// and for G6 without another page.
    pub edge: Edge,
    /// Why.
    pub reason: Reason,
    /// Newest date known below it; `None`: open end.
    #[serde(default)]
    pub older: Option<DateTime<Utc>>,
    /// When it was first noticed.
    pub first_seen: DateTime<Utc>,
    /// When it was last tried.
    #[serde(default)]
    pub last_try: Option<DateTime<Utc>>,
    /// Failures in a row.
    #[serde(default)]
    pub tries: u32,
    /// When it is tried again by itself, after a good check; `None`: only by hand.
    #[serde(default)]
    pub retry_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub state: GapState,
}

/// What has become of a gap. One that is filled is removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GapState {
    /// Shown.
    #[default]
    Open,
    /// Being asked for again.
    Retrying,
    /// Hidden by the reader.
    Dismissed,
}

/// The seven kinds of SPEC C.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapKind {
    /// An archive could not be had.
    Unavailable,
    /// An archive could not be read.
    Unreadable,
    /// A limit, or the reader, ended the walk.
    Limit,
    /// The chain leads back to where it came from.
    Loop,
    /// The window moved on between two polls.
    Overrun,
    /// Older pages of a paged feed.
    Paged,
    /// The walk was interrupted and goes on by itself.
    Interrupted,
}

/// Why something is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The server answered with this status (G1).
    Status(u16),
    /// No answer (G1).
    Unanswered(String),
    /// The address may not be asked (G1).
    Blocked(String),
    /// Too large (G1).
    TooLarge(String),
    /// No feed that can be read whole (G2).
    Unreadable(String),
    /// A cap, or the reader (G3).
    Limit {
        /// Which.
        limit: Limit,
        /// Archives fetched in the run that ended here.
        fetched: u32,
    },
    /// The chain loops (G4).
    Loop,
    /// The window was overrun (G5).
    Overrun {
        /// Entries of one window.
        window: u32,
        /// Entries the feed publishes in a day, rounded up, if its dates tell.
        per_day: Option<u32>,
    },
    /// A paged feed (G6).
    Paged,
    /// The walk rests (G7).
    Interrupted,
}

/// What ended a walk before its end (SPEC C.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Archives of one run.
    Documents,
    /// Entries of one run.
    Entries,
    /// Bytes of one run.
    Bytes,
    /// Archives of one day.
    Day,
    /// Three archives in a row brought nothing new.
    NothingNew,
    /// More archives or gaps than are kept of one feed.
    Kept,
    /// The reader is asked first.
    Consent,
    /// The feed uses an old form of history: the reader confirms it once (SPEC C.2 rule 5).
    OldForm,
    /// History is switched off for the feed.
    Off,
    /// The reader stopped it.
    Stopped,
    /// It is linked to from beside the chain only, through `next-archive` (SPEC C.9).
    Aside,
}

impl Reason {
    /// Why an archive is missing, by what became of its request.
    pub fn from_failure(failure: &ArchiveFailure) -> Self {
        match failure {
            ArchiveFailure::Status { status, .. } => Self::Status(*status),
            ArchiveFailure::Unanswered(why) => Self::Unanswered(one_line(why, WHY_CHARS)),
            ArchiveFailure::Blocked(why) => Self::Blocked(one_line(why, WHY_CHARS)),
            ArchiveFailure::TooLarge(why) => Self::TooLarge(one_line(why, WHY_CHARS)),
            ArchiveFailure::Unreadable(why) => Self::Unreadable(one_line(why, WHY_CHARS)),
            ArchiveFailure::Offline => Self::Interrupted,
        }
    }

    /// Whether two reasons say the same to a reader who chose not to see the gap.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Limit { limit, .. }, Self::Limit { limit: other, .. }) => limit == other,
            (Self::Overrun { .. }, Self::Overrun { .. }) => true,
            (reason, other) => reason == other,
        }
    }
}

impl Gap {
    /// A gap noticed now.
    pub fn new(edge: Edge, reason: Reason, now: DateTime<Utc>) -> Self {
        Self {
            edge,
            reason,
            older: None,
            first_seen: now,
            last_try: None,
            tries: 0,
            retry_at: None,
            state: GapState::Open,
        }
    }

    pub const fn kind(&self) -> GapKind {
        match self.reason {
            Reason::Status(_)
            | Reason::Unanswered(_)
            | Reason::Blocked(_)
            | Reason::TooLarge(_) => GapKind::Unavailable,
            Reason::Unreadable(_) => GapKind::Unreadable,
            Reason::Limit { .. } => GapKind::Limit,
            Reason::Loop => GapKind::Loop,
            Reason::Overrun { .. } => GapKind::Overrun,
            Reason::Paged => GapKind::Paged,
            Reason::Interrupted => GapKind::Interrupted,
        }
    }

    /// The date it is listed under: it stands after all entries of that date. Without any date of the newer
    /// document, when it was noticed.
    pub fn listed(&self) -> DateTime<Utc> {
        self.edge.newer.oldest.unwrap_or(self.first_seen)
    }

    /// Whether a list shows it.
    pub fn is_shown(&self) -> bool {
        self.state != GapState::Dismissed
    }

    /// Whether an archive is missing here that can be asked for (G1 to G3).
    pub const fn is_of_archive(&self) -> bool {
        matches!(self.kind(), GapKind::Unavailable | GapKind::Unreadable | GapKind::Limit)
    }

    /// Whether only a link from beside the chain leads to what is missing (SPEC C.9).
    pub const fn is_aside(&self) -> bool {
        matches!(self.reason, Reason::Limit { limit: Limit::Aside, .. })
    }

    /// Whether something is known to be missing here. For a paged feed, and for archives that link in a circle, there only may
    /// be more.
    pub fn counts(&self) -> bool {
        !matches!(self.kind(), GapKind::Paged | GapKind::Loop)
    }
}
