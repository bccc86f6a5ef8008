//! What the division of a history needs to know: an outline of each entry, and the gaps.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::history::rank::Position;
use crate::history::{EntryBody, Gap, HistoryRecord, HistoryStatus, IndexRow, KeptEntry};

/// The parts of an entry that determine its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// The caller's number of the entry.
    pub key: u32,
    /// Date under which the entry is listed.
    pub listed: DateTime<Utc>,
    /// Size of its texts, in bytes.
    pub bytes: usize,
    /// Time at which its publisher edited or deleted the entry, as far as known.
    pub changed: Option<DateTime<Utc>>,
    /// Time at which a poll of the feed found it first; `None` if it is known only from an archive of the publisher.
    pub polled: Option<DateTime<Utc>>,
    /// Whether its publisher deleted the entry. Only its id is published then (RFC 6721).
    pub is_deleted: bool,
}

/// What is known of a feed's history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryOutline {
    /// All entries that are part of the logical feed, and those that its publisher deleted.
    pub entries: Vec<Outline>,
    /// For each gap the date of the oldest entry above it. Entries of the same date are above the gap.
    pub gaps: BTreeSet<DateTime<Utc>>,
    /// Whether it is known that there are no entries older than the oldest one.
    pub has_beginning: bool,
}

impl Outline {
    /// Creates the outline of an entry; `None` if the entry is not part of its feed, because a complete document left it out.
    pub fn of(
        key: u32,
        row: &IndexRow,
        kept: &KeptEntry,
        body: Option<&EntryBody>,
    ) -> Option<Self> {
        let is_deleted = row.flags.is_deleted();
        if row.flags.is_withdrawn() && !is_deleted {
            return None;
        }
        let previous = body.and_then(|body| body.previous.as_ref());
        let edited = previous.map(|previous| previous.at);
        let texts = body.map_or(0, |body| {
            [&body.summary, &body.content].into_iter().flatten().map(String::len).sum()
        });
        Some(Self {
            key,
            listed: kept.listed(),
            bytes: if is_deleted { 0 } else { texts },
            changed: if is_deleted { kept.deleted } else { edited },
            polled: (kept.rank.position == Position::Subscription).then_some(kept.first_seen),
            is_deleted,
        })
    }
}

impl HistoryOutline {
    /// Returns what a feed's record tells of its history, without entries. A history has a beginning only if the walk through its
    /// archives reached their end, or if a complete document contained it.
    pub fn of_record(record: &HistoryRecord) -> Self {
        let gaps = record.gaps.values().filter(|gap| gap.counts()).map(Gap::listed);
        let unread = record.frontiers.iter().filter(|next| next.gap.is_none() && !next.again);
        let unread = unread.filter_map(|next| next.edge.newer.oldest);
        let has_beginning = match record.status() {
            HistoryStatus::Complete(_) | HistoryStatus::CompleteExcept(_) => true,
            HistoryStatus::Partial { .. } => record.frontiers.is_empty(),
            HistoryStatus::OnlyAnArchive
            | HistoryStatus::NotOffered
            | HistoryStatus::Paged
            | HistoryStatus::Adapted(..)
            | HistoryStatus::Doubtful(..) => false,
        };
        Self { entries: Vec::new(), gaps: gaps.chain(unread).collect(), has_beginning }
    }
}
