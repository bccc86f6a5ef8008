//! Gaps: known missing parts of a logical feed, the reason, and the time of the next retry (SPEC C.8).

use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::walk::adaptor::FoundBy;
use super::walk::retry::ArchiveFailure;
use crate::feed::text::one_line;

/// Maximum number of characters kept of an error message, which may contain text from the server.
const WHY_CHARS: usize = 200;

/// Hash keys of [`GapKey`]. Stored keys depend on them, so they never change.
const KEYS: (u64, u64) = (0x6761_7073_206f_6620, 0x6120_6665_6564_2121);

/// Identifies a gap within its feed. A gap at the same address keeps its key whatever the reason, so that finding it
/// again updates it.
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

    /// Returns the key of a missing archive (G1 to G3).
    pub fn archive(canonical: &str) -> Self {
        Self::hash_of("archive", canonical)
    }

    /// Returns the key of a link from one document back to an archive already fetched (G4).
    pub(crate) fn broken_link(newer: &str, canonical: &str) -> Self {
        Self::hash_of(newer, canonical)
    }

    /// Returns the key of an overrun after this entry (G5), given the hash of the entry's id.
    pub fn overrun(newest_known: u64) -> Self {
        Self::hash_of("overrun", &newest_known.to_string())
    }

    /// Returns the key of the older pages of a paged feed (G6).
    pub fn pages() -> Self {
        Self::hash_of("pages", "")
    }
}

/// A link from a newer document to an older one. Archive walks follow edges, and each gap stores one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edge {
    /// Address of the older document, as requested.
    pub url: String,
    /// Address of the older document in canonical form.
    pub key: String,
    /// The document that holds the link.
    pub newer: Newer,
    /// Number of the archive walk that found the link, counted from the subscription document; later walks are newer.
    pub epoch: u32,
    /// Number of archives between the link and the subscription document in that walk.
    pub depth: u32,
    /// True for a skipped archive found through `next-archive`; its own links are not followed.
    pub side: bool,
    /// True if SPEC C.2 rule 5 found the link.
    pub by_previous: bool,
    /// How the link was found: in a document, or by an adaptor.
    pub via: FoundBy,
}

/// The document that holds a link to an older one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Newer {
    /// Canonical address of the archive; `None` for the subscription document.
    pub archive: Option<String>,
    /// Address that served the document and so decides what its link may request (SPEC D.6).
    pub url: String,
    /// Whether that address is public.
    pub public: bool,
    /// Oldest date among the document's entries. A gap below the document is listed at this date.
    pub oldest: Option<DateTime<Utc>>,
}

/// A missing part of a feed's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The link that could not be followed. For G5 it has no address, and its key is the newest archive known before
    /// the overrun. For G6 it has no address if there is no further page.
    pub edge: Edge,
    /// Reason why the part is missing.
    pub reason: Reason,
    /// Newest known date below the gap; `None` if the gap is open-ended.
    #[serde(default)]
    pub older: Option<DateTime<Utc>>,
    /// Time at which the gap was first noticed.
    pub first_seen: DateTime<Utc>,
    /// Time of the last attempt.
    #[serde(default)]
    pub last_try: Option<DateTime<Utc>>,
    /// Number of consecutive failures.
    #[serde(default)]
    pub tries: u32,
    /// Earliest time of the next automatic retry, which follows a successful poll; `None` if only the user can retry.
    #[serde(default)]
    pub retry_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub state: GapState,
}

/// The state of a gap. A filled gap is removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GapState {
    /// Shown in lists.
    #[default]
    Open,
    /// Being requested again.
    Retrying,
    /// Hidden by the user.
    Dismissed,
}

/// The seven kinds of gaps in SPEC C.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapKind {
    /// An archive could not be fetched.
    Unavailable,
    /// An archive could not be parsed.
    Unreadable,
    /// A limit or the user ended the archive walk.
    Limit,
    /// The chain of archives loops.
    Loop,
    /// The feed may have published more than one window of entries between two polls.
    Overrun,
    /// The feed is paged and may have older pages.
    Paged,
    /// The walk was interrupted and continues automatically.
    Interrupted,
}

/// Why part of the history is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The server answered with this status (G1).
    Status(u16),
    /// The server did not answer (G1).
    Unanswered(String),
    /// The address may not be requested (G1).
    Blocked(String),
    /// The archive is too large (G1).
    TooLarge(String),
    /// The document is not a feed that can be parsed completely (G2).
    Unreadable(String),
    /// A limit or the user ended the walk (G3).
    Limit {
        /// The limit that was reached.
        limit: Limit,
        /// Archives fetched in the run that ended here.
        fetched: u32,
    },
    /// The chain loops (G4).
    Loop,
    /// The window was overrun (G5).
    Overrun {
        /// Number of entries in one window.
        window: u32,
        /// Entries that the feed publishes per day, rounded up; `None` if the dates of its entries do not reveal it.
        per_day: Option<u32>,
    },
    /// The feed is paged (G6).
    Paged,
    /// The walk is paused (G7).
    Interrupted,
}

/// What ended a walk early (SPEC C.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Maximum number of archives in one run.
    Documents,
    /// Maximum number of entries in one run.
    Entries,
    /// Maximum number of bytes in one run.
    Bytes,
    /// Maximum number of archives in one day.
    Day,
    /// Three consecutive archives contained nothing new.
    NothingNew,
    /// Maximum number of archives or gaps kept for one feed.
    Kept,
    /// The user's consent is required first.
    Consent,
    /// The feed uses an old form of history, which the user must confirm once (SPEC C.2 rule 5).
    OldForm,
    /// History is switched off for the feed.
    Off,
    /// The user stopped the walk.
    Stopped,
    /// Only a `next-archive` link from outside the chain leads to the archive (SPEC C.9).
    Aside,
}

impl Reason {
    /// Converts a failed archive request into a reason.
    pub(crate) fn from_failure(failure: &ArchiveFailure) -> Self {
        match failure {
            ArchiveFailure::Status { status, .. } => Self::Status(*status),
            ArchiveFailure::Unanswered(why) => Self::Unanswered(one_line(why, WHY_CHARS)),
            ArchiveFailure::Blocked(why) => Self::Blocked(one_line(why, WHY_CHARS)),
            ArchiveFailure::TooLarge(why) => Self::TooLarge(one_line(why, WHY_CHARS)),
            ArchiveFailure::Unreadable(why) => Self::Unreadable(one_line(why, WHY_CHARS)),
            ArchiveFailure::Offline => Self::Interrupted,
        }
    }

    /// Checks whether a user who dismissed the gap would regard both reasons as the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Limit { limit, .. }, Self::Limit { limit: other, .. }) => limit == other,
            (Self::Overrun { .. }, Self::Overrun { .. }) => true,
            (reason, other) => reason == other,
        }
    }
}

impl Gap {
    /// Creates a gap first noticed now.
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

    /// Returns the date under which the gap is listed, after all entries of that date. If the newer document has no
    /// date, this is the time at which the gap was noticed.
    pub fn listed(&self) -> DateTime<Utc> {
        self.edge.newer.oldest.unwrap_or(self.first_seen)
    }

    /// Checks whether lists show the gap.
    pub fn is_shown(&self) -> bool {
        self.state != GapState::Dismissed
    }

    /// Checks whether the gap is a missing archive that can be requested (G1 to G3).
    pub(crate) const fn is_of_archive(&self) -> bool {
        matches!(self.kind(), GapKind::Unavailable | GapKind::Unreadable | GapKind::Limit)
    }

    /// Checks whether only a link from outside the chain leads to the missing archive (SPEC C.9).
    pub(crate) const fn is_aside(&self) -> bool {
        matches!(self.reason, Reason::Limit { limit: Limit::Aside, .. })
    }

    /// Checks whether something is known to be missing. In a paged feed, or if the archives form a loop, something may be
    /// missing, but this is not certain.
    pub fn counts(&self) -> bool {
        !matches!(self.kind(), GapKind::Paged | GapKind::Loop)
    }
}
