//! What is proved about a history, folded to what the next document extends: where the archives end, the last window, and the
//! seam that is open (SPEC C.8).

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::gap::Edge;

/// Days between two attempts to close an open seam by reading an archive again. After the last one, only a new archive or a new
/// window closes it.
const RETRY_DAYS: [i64; 5] = [1, 1, 3, 7, 7];

/// What is proved about a history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Proof {
    /// Time of the last check that the proof covers.
    pub as_of: Option<DateTime<Utc>>,
    /// What the history ends with.
    pub end: HistoryEnd,
    /// The seam between the window and what was known before it, if it is open.
    pub parted: Option<Parted>,
    /// An archive that was read but is not known to be whole, and how often it was read again.
    pub flawed: Option<(Edge, Attempts)>,
    /// Hash of the times of each entry in the last window, with a bit for pinned ones.
    pub times: Vec<u32>,
    /// Whether the last window listed its newest entries first.
    pub falls: bool,
    /// Time of the last window.
    pub at: Option<DateTime<Utc>>,
    /// Whether the next window may come from another address than the last one.
    pub is_elsewhere: bool,
    /// Link to the newest archive in the last document that had one, if a later document has none.
    pub vanished: Option<Edge>,
    /// Number of entries of the largest delta that a plain request verified, and the seconds before it.
    pub delta: (u32, i64),
    /// Hash of the ID that the feed states.
    pub feed: Option<u64>,
}

/// What proves that there is nothing older than the oldest known entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HistoryEnd {
    /// Nothing proves it.
    #[default]
    Unknown,
    /// An archive without a link to an older one.
    Archive,
    /// The history was complete when the program began to keep proofs.
    Earlier,
}

/// An open seam: entries that were in the last window and have left, while no document since then shows what followed them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a stored fact of its own")]
pub struct Parted {
    /// The entries of the earlier window that no document contains that was read since then, each with the hash of its times.
    pub sought: BTreeMap<u64, u32>,
    /// Whether a document that was read since then contains one of those entries.
    pub found: bool,
    /// The oldest entry of the window above the seam.
    pub bottom: u64,
    /// Date of that entry, and the longest interval in seconds between it and the next ones.
    pub above: Option<(DateTime<Utc>, i64)>,
    /// Newest date that was known below the seam.
    pub below: Option<DateTime<Utc>>,
    /// Links to the archives that were the newest ones below the seam when a window did not adjoin the last one. All of them
    /// must be read again; the oldest is the first.
    pub stale: Vec<Edge>,
    /// Whether there were more archives to read again than are kept.
    pub is_lost: bool,
    /// Canonical address of the archive below the seam that was never read, so that its gap shows the seam.
    pub unread: Option<String>,
    /// Whether the publisher changed all ids since then, so that times tell the entries.
    pub renamed: bool,
    /// Whether the dates on both sides make it likely that nothing is missing.
    pub likely: bool,
    /// Whether the archives must be read again whatever the newer ones contain.
    pub again: bool,
    /// Whether the oldest entry above the seam has left the window, so that an archive must hold it.
    pub left: bool,
    /// Time at which the seam opened.
    pub since: DateTime<Utc>,
    pub attempts: Attempts,
}

/// How often an archive was read again, and the earliest time of the next attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attempts {
    pub count: usize,
    pub next: Option<DateTime<Utc>>,
}

impl Parted {
    /// Checks whether the archive at a canonical address must be read, or read again, to close the seam.
    pub(super) fn is_below(&self, key: &str) -> bool {
        self.stale.iter().any(|edge| edge.key == key) || self.unread.as_deref() == Some(key)
    }
}

impl Attempts {
    pub(super) fn is_due(self, now: DateTime<Utc>) -> bool {
        self.count <= RETRY_DAYS.len() && self.next.is_none_or(|next| next <= now)
    }

    /// Counts an attempt, together with all others of the same check.
    pub(super) fn note(&mut self, now: DateTime<Utc>) {
        if !self.is_due(now) {
            return;
        }
        let days = RETRY_DAYS.get(self.count).copied().unwrap_or_default();
        self.count = self.count.saturating_add(1);
        self.next = now.checked_add_signed(TimeDelta::days(days));
    }
}

impl Proof {
    /// Returns the proof of a record that has none yet. `was_heard` is whether the feed was read before.
    pub(super) fn first(was_heard: bool) -> Self {
        let end = if was_heard { HistoryEnd::Earlier } else { HistoryEnd::Unknown };
        Self { end, ..Self::default() }
    }
}

/// A seam that is open, so that nothing proves that a history is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Doubt {
    /// The subscription document contains a link to a newer document.
    Newer,
    /// The `previous` links led to pages instead of archives.
    Pages,
    /// The address may now redirect to another feed, so its document is not read (SPEC D.3).
    NotRead,
    /// The links between the archives form a loop, so no archive can be recognized as the oldest.
    Circle,
    /// The document was received through a redirect, and it could not be verified that the redirect leads to the same feed
    /// (SPEC D.3).
    Unproven,
    /// The subscription document has a link to archives and further pages, which are not read.
    Mixed,
    /// The subscription document was not read whole.
    Cut,
    /// An archive has further pages, which are not read.
    MorePages,
    /// An archive states the ID of another feed.
    Foreign,
    /// No document shows what was published between the last two windows.
    Parted,
    /// No archive is known to be the oldest.
    NoEnd,
}

impl Doubt {
    /// The seams that documents and archives open, in the order in which the header names them.
    pub(super) const IN_ORDER: [Self; 8] = [
        Self::NotRead,
        Self::Unproven,
        Self::Newer,
        Self::Mixed,
        Self::Cut,
        Self::Pages,
        Self::MorePages,
        Self::Foreign,
    ];

    /// Checks whether an archive opens the seam, so that it stays open until that archive is read again.
    pub(super) const fn is_of_archive(self) -> bool {
        matches!(self, Self::Pages | Self::MorePages | Self::Foreign)
    }

    /// Returns the text that describes the doubt in the header line of the entry list.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Newer => "may be incomplete: there is a newer document",
            Self::Pages => "paged: may be incomplete",
            Self::NotRead => "may be incomplete: it may redirect to another feed",
            Self::Circle => "may be incomplete: its archives form a loop",
            Self::Unproven => "may be incomplete: read through an unverified redirect",
            Self::Mixed => "may be incomplete: its document has further pages",
            Self::Cut => "may be incomplete: its document was not read whole",
            Self::MorePages => "may be incomplete: an archive has further pages",
            Self::Foreign => "may be incomplete: an archive states another feed's ID",
            Self::Parted => "may be incomplete: entries may have been missed between two polls",
            Self::NoEnd => "may be incomplete: its oldest archive is not known",
        }
    }
}
