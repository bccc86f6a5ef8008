//! Gaps: known missing parts of a logical feed, the reason, and the time of the next retry (SPEC C.8).

use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::walk::adaptor::FoundBy;
use super::walk::policy::ArchiveFailure;
use crate::feed::hints::is_default;
use crate::feed::text::one_line;

/// Maximum length of a stored error message in characters. The message may contain text from the server.
const WHY_CHARS: usize = 200;

/// Keys of the hash function that computes [`GapKey`]. Keys of gaps are stored, so these values must never change.
const KEYS: (u64, u64) = (0x6761_7073_206f_6620, 0x6120_6665_6564_2121);

/// Identifies a gap within its feed. The key depends on the address of the missing archive but not on the reason, so finding
/// the same gap again updates the stored one.
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

    /// Returns the key of an overrun (G5). `newest_known` is the identity hash of the newest entry known before the overrun.
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
    /// Number of the archive walk that found the link. Walks from the subscription document are numbered; a later walk has a
    /// larger number.
    pub epoch: u32,
    /// Number of archives between the link and the subscription document in that walk.
    pub depth: u32,
    /// True if the older document was found through a `next-archive` link because the chain skips it. Its own links are not
    /// followed.
    pub side: bool,
    /// True if the link is a `previous` link that counts as an archive link (SPEC C.2 rule 5).
    pub by_previous: bool,
    /// True if the document that holds the link states that the older document is missing (SPEC H.11).
    #[serde(skip_serializing_if = "is_default")]
    pub stated_missing: bool,
    /// How the link was found: in a document, or by an adaptor.
    pub via: FoundBy,
}

/// The document that holds a link to an older one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Newer {
    /// Canonical address of the archive that holds the link; `None` if the subscription document holds it.
    pub archive: Option<String>,
    /// Address from which the document was received. It decides which addresses the document's links may lead to (SPEC D.6).
    pub url: String,
    /// Whether the address in `url` is public.
    pub public: bool,
    /// Oldest date among the document's entries. A gap that begins below this document is listed at this date.
    pub oldest: Option<DateTime<Utc>>,
}

/// A missing part of a feed's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The link that could not be followed. For an overrun (G5), it has no address, and its key is the newest archive known
    /// before the overrun. For a paged feed (G6), it has no address if there is no further page.
    pub edge: Edge,
    /// Reason why the part is missing.
    pub reason: Reason,
    /// Newest known date below the gap, at which the gap ends; `None` if the end of the gap is unknown.
    #[serde(default)]
    pub older: Option<DateTime<Utc>>,
    /// Time at which the gap was first noticed.
    pub first_seen: DateTime<Utc>,
    /// Time of the last attempt to fetch the missing part.
    #[serde(default)]
    pub last_try: Option<DateTime<Utc>>,
    /// Number of consecutive failed attempts.
    #[serde(default)]
    pub tries: u32,
    /// Earliest time of the next automatic retry, which is made after a successful poll; `None` if only the user can start a
    /// retry.
    #[serde(default)]
    pub retry_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub state: GapState,
}

/// The state of a gap. A filled gap is removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GapState {
    /// Lists show the gap.
    #[default]
    Open,
    /// The missing part is being requested again.
    Retrying,
    /// The user dismissed the gap, so lists do not show it.
    Dismissed,
}

/// The seven kinds of gaps in SPEC C.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapKind {
    /// An archive could not be fetched.
    Unavailable,
    /// An archive could not be parsed.
    Unreadable,
    /// The archive walk ended at a limit, or the user stopped it.
    Limit,
    /// The links from archive to archive form a loop.
    Loop,
    /// The feed may have published more than one window of entries between two polls.
    Overrun,
    /// The feed is paged and may have older pages.
    Paged,
    /// The archive walk was interrupted and will continue automatically.
    Interrupted,
}

/// Why part of the history is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The server answered with this HTTP status (G1).
    Status(u16),
    /// The server did not answer (G1).
    Unanswered(String),
    /// The address may not be requested, for this reason (G1).
    Blocked(String),
    /// The archive exceeds a size limit (G1).
    TooLarge(String),
    /// The document is not a feed that can be parsed completely (G2).
    Unreadable(String),
    /// The archive walk ended at a limit, or the user stopped it (G3).
    Limit {
        /// The limit that was reached.
        limit: Limit,
        /// Number of archives fetched in the run that ended at this gap.
        fetched: u32,
    },
    /// The links from archive to archive form a loop (G4).
    Loop,
    /// The feed may have published more than one window of entries between two polls (G5).
    Overrun {
        /// Number of entries that the feed's document contains at a time.
        window: u32,
        /// Number of entries that the feed publishes per day, rounded up; `None` if it cannot be computed from the dates of
        /// the entries.
        per_day: Option<u32>,
    },
    /// The feed is paged and may have older pages (G6).
    Paged,
    /// The archive walk is paused (G7).
    Interrupted,
}

/// Why an archive walk ended early (SPEC C.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The maximum number of archives in one run was reached.
    Documents,
    /// The maximum number of entries in one run was reached.
    Entries,
    /// The maximum number of bytes in one run was reached.
    Bytes,
    /// The maximum number of archives in one day was reached.
    Day,
    /// Three consecutive archives contained nothing new.
    NothingNew,
    /// The maximum number of archives or gaps kept for one feed was reached.
    Kept,
    /// The user must agree before archives of this feed are fetched.
    Consent,
    /// The feed uses an old form of history, which the user must confirm once (SPEC C.2 rule 5).
    OldForm,
    /// History is switched off for the feed.
    Off,
    /// The user stopped the walk.
    Stopped,
    /// The archive is not part of the chain: only a `next-archive` link, or an archive found through one, leads to it (SPEC C.9).
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

    /// Checks whether two reasons are the same from the user's point of view, so that a gap dismissed for one also stays
    /// hidden for the other.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Limit { limit, .. }, Self::Limit { limit: other, .. }) => limit == other,
            (Self::Overrun { .. }, Self::Overrun { .. }) => true,
            (reason, other) => reason == other,
        }
    }
}

impl Gap {
    /// Creates an open gap that is first noticed at the time `now`.
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

    /// Returns the date at which the gap is listed, below all entries of that date. If the document above the gap has no
    /// date, this is the time at which the gap was first noticed.
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

    /// Checks whether the missing archive is not part of the chain, so that only a `next-archive` link, or an archive found
    /// through one, leads to it (SPEC C.9).
    pub(crate) const fn is_aside(&self) -> bool {
        matches!(self.reason, Reason::Limit { limit: Limit::Aside, .. })
    }

    /// Checks whether the gap counts as a missing part of the history. The gap of a paged feed and the gap of a loop do not
    /// count, because nothing is known to be missing there.
    pub fn counts(&self) -> bool {
        !matches!(self.kind(), GapKind::Paged | GapKind::Loop)
    }
}
