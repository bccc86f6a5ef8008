//! What is kept of a feed's history beside its entries and its archives, and what the reader is told of it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::completeness::Doubt;
use super::gap::{Edge, Gap, GapKey, GapKind, GapState, Newer, Reason};
use super::kind::DocumentKind;
use super::tombstones::Tombstones;
use super::walk::adaptor::{Adapted, Adaptor};
use super::walk::policy::{FRONTIERS_MAX, OVERRUNS_MAX};
use super::windows::Windows;
use crate::feed::FeedDocument;
use crate::feed::identity::identity_hash;

/// What is kept of a feed's history. Small: it stays in memory for every feed. Written in the same batch as
/// the entries that brought it about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryRecord {
    /// What the last subscription document was.
    pub kind: DocumentKind,
    /// It has had archives.
    pub archived: bool,
    /// Canonical addresses of the subscription document.
    pub own: Vec<String>,
    /// The link of the last subscription document to the newest archive.
    pub head: Option<Edge>,
    /// Canonical address of the newest archive once it is here.
    pub settled: Option<String>,
    /// Oldest date in the last whole subscription document.
    pub bottom: Option<DateTime<Utc>>,
    /// Archives that are here.
    pub archives: u32,
    /// Oldest date in them.
    pub reaches: Option<DateTime<Utc>>,
    /// Walks that began at the subscription document.
    pub epoch: u32,
    /// Where walks go on; the last one first.
    pub frontiers: Vec<Frontier>,
    /// What is missing.
    pub gaps: BTreeMap<GapKey, Gap>,
    /// The run under way, or the last one.
    pub run: WalkRun,
    /// Archives asked for today.
    pub day: DayUsage,
    /// The reader agreed to fetch archives of this feed, or never had to.
    pub walked: bool,
    /// The reader confirmed the old form of history (SPEC C.2 rule 5).
    pub old_form_confirmed: bool,
    /// What the last documents showed (SPEC C.8.1).
    pub windows: Windows,
    /// Entries deleted by the publisher that were not here (RFC 6721).
    #[serde(rename = "graves")]
    pub tombstones: Tombstones,
    /// Entries withdrawn by the last change of a complete feed, for undo (SPEC C.6).
    pub withdrawn: Vec<u32>,
    /// The link of the last subscription document to its next page (SPEC C.7).
    pub pages_from: Option<Edge>,
    /// Pages fetched in this run.
    pub pages_seen: Vec<String>,
    /// Whose word the last subscription document is, and how far back it reached.
    pub heard: Option<Newer>,
    /// What the reader's adaptor for it has found out.
    pub adapted: Adapted,
    /// What speaks against a complete history.
    pub doubts: BTreeSet<Doubt>,
    /// Canonical address of the newest archive in the document before the last one.
    pub head_before: Option<String>,
    /// The archive that was asked for and has not come; not kept, so that a restart asks again.
    #[serde(skip)]
    pub asking: Option<String>,
}

/// An archive to be fetched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frontier {
    /// The link that leads to it.
    pub edge: Edge,
    /// The gap that is closed if it comes.
    pub gap: Option<GapKey>,
    /// The reader asked for it.
    pub asked: bool,
    /// It was fetched before and is to be fetched again, because the reader asked.
    pub again: bool,
    /// The document that holds the link had entries in common with the one before.
    pub contiguous: bool,
}

/// What one run of archive requests used up (SPEC C.10).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WalkRun {
    /// Requests for archives, with those that redirects led to.
    pub documents: u32,
    /// Archives fetched.
    pub fetched: u32,
    /// Entries read.
    pub entries: u32,
    /// Bytes over the wire.
    pub bytes: u64,
    /// Archives in a row that brought nothing new.
    pub barren: u32,
    /// Entries never seen before.
    pub new: u32,
    /// The reader agreed to this run.
    pub consented: bool,
    /// It closes gaps: its end is told to the reader.
    pub recovering: bool,
    /// Everything is read again: nothing new is no reason to stop.
    pub rereading: bool,
}

/// Archives asked for in one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DayUsage {
    /// Days since 1970, UTC.
    pub number: i64,
    /// Requests for archives, with those that redirects led to.
    pub documents: u32,
}

/// One of the four states of a feed's history (SPEC C.8), or that of a history that is not the publisher's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryStatus {
    /// Nothing is missing.
    Complete,
    /// Nothing but so many gaps, which are not asked for again by themselves.
    CompleteExcept(usize),
    /// Some archives are still to be asked for.
    Partial {
        /// Archives that are here.
        archives: u32,
        /// Gaps among them that were asked for and could not be had.
        gaps: usize,
    },
    /// The address is that of an archive document, not that of the feed.
    OnlyAnArchive,
    /// The feed has no archives.
    NotOffered,
    /// The feed is paged.
    Paged,
    /// It comes by an adaptor, with so many gaps.
    Adapted(Adaptor, usize),
    /// The history may be incomplete for this reason, besides this number of gaps.
    Doubtful(Doubt, usize),
}

impl HistoryStatus {
    /// The header line where there is little room; a number of gaps is never left out.
    pub fn brief(self) -> String {
        match self {
            Self::NotOffered => "history not offered".to_owned(),
            Self::Paged => "paged".to_owned(),
            Self::Partial { archives: 0, gaps } => format!("none read{}", counted_gaps(gaps)),
            Self::Partial { archives, gaps } => {
                format!("{archives} of more read{}", counted_gaps(gaps))
            }
            Self::Complete
            | Self::CompleteExcept(_)
            | Self::OnlyAnArchive
            | Self::Doubtful(..)
            | Self::Adapted(..) => self.text(),
        }
    }

    /// The header line.
    pub fn text(self) -> String {
        match self {
            Self::Complete => "complete history".to_owned(),
            Self::CompleteExcept(1) => "history complete except 1 gap".to_owned(),
            Self::CompleteExcept(gaps) => format!("history complete except {gaps} gaps"),
            Self::Partial { archives, gaps } => {
                let read = match archives {
                    0 => "none of its archives read".to_owned(),
                    some => format!("{some} of more archives read"),
                };
                format!("{read}{}", counted_gaps(gaps))
            }
            Self::OnlyAnArchive => "an archive, not the feed itself".to_owned(),
            Self::NotOffered => "history not offered by this feed".to_owned(),
            Self::Paged => "paged: may be incomplete".to_owned(),
            Self::Doubtful(doubt, gaps) => format!("{}{}", doubt.text(), counted_gaps(gaps)),
            Self::Adapted(adaptor, missing) => {
                let gaps = counted_gaps(missing);
                format!("history {}: may be incomplete{gaps}", adaptor.origin())
            }
        }
    }
}

/// `, 2 gaps`; nothing for none.
fn counted_gaps(gaps: usize) -> String {
    match gaps {
        0 => String::new(),
        1 => ", 1 gap".to_owned(),
        gaps => format!(", {gaps} gaps"),
    }
}

impl Frontier {
    /// Whether it stands for an archive that was never here and that no gap speaks of.
    const fn is_unread(&self) -> bool {
        self.gap.is_none() && !self.again
    }
}

impl WalkRun {
    /// Counts an archive that was fetched, and its entries.
    pub(super) const fn add_archive(&mut self, entries: u32) {
        self.fetched = self.fetched.saturating_add(1);
        self.entries = self.entries.saturating_add(entries);
    }
}

impl HistoryRecord {
    /// Whether archives are known that were neither fetched nor refused for good: a walk rests, a limit or the reader stands
    /// before them, or they are asked for again by themselves.
    pub(super) fn is_to_go_on(&self) -> bool {
        let waits = |gap: &Gap| gap.kind() == GapKind::Limit || gap.retry_at.is_some();
        self.frontiers.iter().any(|next| !next.again || next.gap.is_some())
            || self.gaps.values().any(waits)
    }

    /// Stretches that are missing.
    pub fn missing(&self) -> usize {
        let gaps = self.gaps.values().filter(|gap| gap.counts()).count();
        gaps.saturating_add(self.frontiers.iter().filter(|next| next.is_unread()).count())
    }

    /// The gaps a list shows, newest first. A walk that rests shows where it goes on (G7); one under way shows
    /// its progress elsewhere.
    pub fn shown_gaps(&self, walking: bool, now: DateTime<Utc>) -> Vec<(GapKey, Gap)> {
        let kept = self.gaps.iter().filter(|(_, gap)| gap.is_shown());
        let mut shown: Vec<(GapKey, Gap)> = kept.map(|(key, gap)| (*key, gap.clone())).collect();
        let rests = self.frontiers.iter().filter(|next| !walking && next.is_unread());
        shown.extend(rests.map(|next| {
            let gap = Gap::new(next.edge.clone(), Reason::Interrupted, now);
            (GapKey::archive(&next.edge.key), gap)
        }));
        shown.sort_by(|a, b| b.1.listed().cmp(&a.1.listed()).then(a.0.cmp(&b.0)));
        shown
    }

    /// Whether something is to be fetched once the feed was checked.
    pub fn has_work(&self) -> bool {
        !self.frontiers.is_empty()
    }

    /// Whether an address is one of the subscription document's.
    pub fn is_own(&self, key: &str) -> bool {
        self.own.iter().any(|own| own == key)
    }

    /// Counts the redirects of the last request for an archive: the limits are of requests.
    pub fn count_redirects(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.run.documents = self.run.documents.saturating_add(count);
        self.day.documents = self.day.documents.saturating_add(count);
    }

    /// Begins a run unless one is under way.
    pub(super) fn begin_run(&mut self) {
        if self.frontiers.is_empty() {
            self.run = WalkRun::default();
        }
    }

    /// Adds a place where a walk goes on; it goes first. There is one for each address. Says whether there was room.
    pub(super) fn push(&mut self, frontier: Frontier) -> bool {
        let is_same =
            |other: &Frontier| other.edge.key == frontier.edge.key && other.again == frontier.again;
        if self.frontiers.iter().any(is_same) {
            if !frontier.again {
                self.relink(&frontier.edge);
            }
            return true;
        }
        let room = self.frontiers.len() < FRONTIERS_MAX;
        if room {
            self.frontiers.push(frontier);
        }
        room
    }

    /// One more link leads to an archive that is waited for or missing. Of several links to it that of an archive in
    /// the chain counts most: what it leads to stays, whatever becomes of older subscription documents.
    pub(super) fn relink(&mut self, edge: &Edge) {
        let waiting =
            self.frontiers.iter_mut().filter(|next| !next.again).map(|next| &mut next.edge);
        let missing = self.gaps.get_mut(&GapKey::archive(&edge.key)).map(|gap| &mut gap.edge);
        for known in waiting.chain(missing).filter(|known| known.key == edge.key) {
            if known.side && !edge.side {
                known.clone_from(edge);
            } else if edge.newer.archive.is_some() && !edge.side {
                known.newer.clone_from(&edge.newer);
            }
        }
    }

    /// Opens a gap, or updates it if it is known: one the reader dismissed stays hidden unless the reason changes.
    pub(super) fn open(&mut self, key: GapKey, gap: Gap) {
        let known = self.gaps.get(&key);
        let state = match known {
            Some(known)
                if known.state == GapState::Dismissed && known.reason.is_like(&gap.reason) =>
            {
                GapState::Dismissed
            }
            Some(_) | None => GapState::Open,
        };
        let first_seen = known.map_or(gap.first_seen, |known| known.first_seen);
        if known.is_none() && gap.kind() == GapKind::Overrun {
            self.make_room_for_overrun();
        }
        self.gaps.insert(key, Gap { first_seen, state, ..gap });
    }

    /// Takes out the gaps below older subscription documents than that of walk `epoch`, but not the one at `except`.
    pub(super) fn take_unlinked(&mut self, epoch: u32, except: &str) -> Vec<Gap> {
        let unlinked = |gap: &Gap| {
            gap.is_of_archive()
                && gap.edge.newer.archive.is_none()
                && gap.edge.epoch < epoch
                && gap.edge.key != except
        };
        let keys: Vec<GapKey> =
            self.gaps.iter().filter(|(_, gap)| unlinked(gap)).map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| self.gaps.remove(key)).collect()
    }

    /// An archive or a page brought the entry after which an overrun was suspected: what was missed is known now. Pages lead
    /// to it without a break, and so do archives if the feed has a newer one than then. Else the archive may not hold more
    /// than it did: it has to reach the entries behind the hole, or into it.
    pub(super) fn close_overruns(&mut self, document: &FeedDocument, is_page: bool) {
        let ids: Vec<u64> = document.entries.iter().map(|entry| identity_hash(&entry.id)).collect();
        let found: Vec<GapKey> = ids.iter().map(|id| GapKey::overrun(*id)).collect();
        let windows = &self.windows.past;
        let reaches = ids.iter().any(|id| windows.last().is_some_and(|last| last.contains(id)));
        let is_within = |gap: &Gap| {
            document.entries.iter().zip(&ids).any(|(entry, id)| {
                entry.published.or(entry.updated) > gap.older
                    && !windows.iter().flatten().any(|known| known == id)
            })
        };
        let newest = self.head.as_ref().map(|head| head.key.as_str()).unwrap_or_default();
        let closes = |gap: &Gap| is_page || gap.edge.key != newest || reaches || is_within(gap);
        self.gaps.retain(|key, gap| {
            gap.kind() != GapKind::Overrun || !found.contains(key) || !closes(gap)
        });
    }

    /// Of many suspected overruns the oldest goes: nothing can be asked for there. Gaps of archives never go.
    fn make_room_for_overrun(&mut self) {
        let overruns = || self.gaps.iter().filter(|(_, gap)| gap.kind() == GapKind::Overrun);
        let oldest = overruns().min_by_key(|(_, gap)| gap.first_seen).map(|(key, _)| *key);
        if let Some(oldest) = oldest
            && overruns().count() >= OVERRUNS_MAX
        {
            self.gaps.remove(&oldest);
        }
    }
}
