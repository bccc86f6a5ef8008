//! The history record of a feed (everything except its entries and archives), and the status shown to the user. The deletions that
//! the publisher announced (RFC 6721) are part of it, because an entry may arrive after its tombstone.
//!
//! The chain of archives: where it ends, and that every link in it leads to something that is known (SPEC C.9).

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::gap::{Edge, Gap, GapKey, GapKind, GapState, Newer, Reason};
use super::kind::DocumentKind;
use super::node::{End, NodeState, Nodes};
use super::proof::{Doubt, Proof};
use super::walk::adaptor::Adapted;
use super::walk::policy::{FRONTIERS_MAX, OVERRUNS_MAX};
use super::windows::Windows;
use crate::feed::FeedDocument;
use crate::feed::identity::identity_hash;

/// The state of a feed's history. The record is small and stays in memory for every feed. It is written in the same batch as
/// the entries that changed it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a stored fact of its own")]
pub struct HistoryRecord {
    /// Kind of the last subscription document received.
    pub kind: DocumentKind,
    /// Whether the feed ever had archives.
    pub archived: bool,
    /// Canonical addresses under which the subscription document is known.
    pub own: Vec<String>,
    /// Link from the last subscription document to the newest archive.
    pub head: Option<Edge>,
    /// Canonical address of the newest archive once it is fetched.
    pub settled: Option<String>,
    /// Oldest date in the last subscription document that was received as a whole (200).
    pub bottom: Option<DateTime<Utc>>,
    /// Number of archives fetched for this feed.
    pub archives: u32,
    /// Oldest date among the entries of the fetched archives.
    pub reaches: Option<DateTime<Utc>>,
    /// Number of archive walks that started at the subscription document.
    pub epoch: u32,
    /// Archives to fetch next; the last one is fetched first.
    pub frontiers: Vec<Frontier>,
    /// Missing parts of the history.
    pub gaps: BTreeMap<GapKey, Gap>,
    /// The current run of archive requests, or the last one if none is under way.
    pub run: WalkRun,
    /// Number of archive requests made today.
    pub day: DayUsage,
    /// Whether the user agreed to fetch archives of this feed, or no agreement was needed.
    pub walked: bool,
    /// Whether the user confirmed the old form of history (SPEC C.2 rule 5).
    pub old_form_confirmed: bool,
    /// Identities of the entries in the last subscription documents, used to detect missed entries (SPEC C.8.1).
    pub windows: Windows,
    /// Deletions announced by the publisher, including deletions of entries that are not known yet (RFC 6721).
    #[serde(rename = "graves")]
    pub tombstones: Tombstones,
    /// Sequence numbers of the entries that the last document of a complete feed withdrew, kept for undo (SPEC C.6).
    pub withdrawn: Vec<u32>,
    /// Link from the last subscription document to the next page of a paged feed (SPEC C.7).
    pub pages_from: Option<Edge>,
    /// Addresses of the pages fetched in this run.
    pub pages_seen: Vec<String>,
    /// Address from which the last subscription document was received, and its oldest date.
    pub heard: Option<Newer>,
    /// State of the feed's adaptor, if the user chose one.
    pub adapted: Adapted,
    /// The copies that other readers published, as far as the user chose some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CopyWalk>,
    /// Reasons to doubt that the history is complete.
    pub doubts: BTreeSet<Doubt>,
    /// Whether entries of this feed moved to another host, as a whole and without dates (SPEC C.5).
    pub moves: bool,
    /// Whether the feed was complete after its archives were fetched, so that their records are no longer valid.
    pub nodes_outdated: bool,
    /// The proof that the history is complete, as far as there is one; `None` if the record was stored without one.
    pub proof: Option<Box<Proof>>,
    /// Link to the newest archive before the last poll.
    #[serde(skip)]
    pub former: Option<Box<Edge>>,
    /// Canonical address of the archive that was requested and has not arrived. Not stored, so the archive is requested
    /// again after a restart.
    #[serde(skip)]
    pub asking: Option<String>,
}

/// An archive to be fetched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frontier {
    /// Link that leads to the archive.
    pub edge: Edge,
    /// Key of the gap to close when the archive arrives; `None` if the archive has no gap.
    pub gap: Option<GapKey>,
    /// Whether the user requested the archive.
    pub asked: bool,
    /// Whether the archive is fetched once more although it was fetched before.
    pub again: bool,
    /// Whether the subscription document that holds the link shares entries with the one before it.
    pub contiguous: bool,
}

/// The walk through a copy, and what it brought.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CopyWalk {
    /// Address of the newest document, as typed.
    pub url: String,
    /// State of the walk.
    pub record: HistoryRecord,
    /// The documents that were read.
    pub nodes: Nodes,
    /// Numbers of the entries that came from the copy: the first and the last of each range.
    pub brought: Vec<(u32, u32)>,
}

/// What one run of archive requests has used (SPEC C.10).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WalkRun {
    /// Number of archive requests, including redirects.
    pub documents: u32,
    /// Number of archives fetched successfully.
    pub fetched: u32,
    /// Number of entries in the fetched archives.
    pub entries: u32,
    /// Number of bytes transferred.
    pub bytes: u64,
    /// Number of consecutive archives without new entries.
    pub barren: u32,
    /// Number of entries that were never seen before.
    pub new: u32,
    /// Whether the user agreed to this run.
    pub consented: bool,
    /// Whether a gap was closed in this run. If so, the user is notified when the run ends.
    pub recovering: bool,
    /// Whether the user asked to read the whole history again. The run then continues even if archives contain no new
    /// entries.
    pub rereading: bool,
}

/// The number of archive requests made in one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DayUsage {
    /// Day number since 1970-01-01, UTC.
    pub number: i64,
    /// Number of archive requests, including redirects.
    pub documents: u32,
}

impl Frontier {
    /// Checks whether the archive is to be fetched for the first time and has no gap.
    const fn is_unread(&self) -> bool {
        self.gap.is_none() && !self.again
    }
}

impl WalkRun {
    /// Adds a fetched archive and its number of entries to the counts of the run.
    pub(super) const fn add_archive(&mut self, entries: u32) {
        self.fetched = self.fetched.saturating_add(1);
        self.entries = self.entries.saturating_add(entries);
    }
}

impl HistoryRecord {
    /// Checks whether known archives remain that were neither fetched nor permanently refused. This is the case if a walk is
    /// paused, if a limit or the user stopped it, or if a retry is scheduled.
    pub(super) fn is_to_go_on(&self) -> bool {
        let waits = |gap: &Gap| gap.kind() == GapKind::Limit || gap.retry_at.is_some();
        self.frontiers.iter().any(|next| !next.again || next.gap.is_some())
            || self.gaps.values().any(waits)
    }

    /// Returns the number of missing parts: gaps that count as missing, and archives still to be fetched.
    pub fn missing(&self) -> usize {
        let gaps = self.gaps.values().filter(|gap| gap.counts()).count();
        gaps.saturating_add(self.frontiers.iter().filter(|next| next.is_unread()).count())
    }

    /// Returns the gaps shown in a list, newest first. A paused walk appears as a gap where it will continue (G7); the progress
    /// of a running walk is shown elsewhere.
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

    /// Checks whether archives are to be fetched after the next poll.
    pub fn has_work(&self) -> bool {
        !self.frontiers.is_empty()
    }

    /// Checks whether another archive can be queued.
    pub(super) const fn has_room(&self) -> bool {
        self.frontiers.len() < FRONTIERS_MAX
    }

    /// Checks whether an address is one of the addresses of the subscription document.
    pub fn is_own(&self, key: &str) -> bool {
        self.own.iter().any(|own| own == key)
    }

    /// Adds the redirects of the last archive request to the number of requests, because the limits count every request.
    pub fn count_redirects(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.run.documents = self.run.documents.saturating_add(count);
        self.day.documents = self.day.documents.saturating_add(count);
    }

    /// Starts a new run unless one is under way.
    pub(super) fn begin_run(&mut self) {
        if self.frontiers.is_empty() {
            self.run = WalkRun::default();
        }
    }

    /// Adds an archive to fetch next, unless its address is already in the list. Returns `false` if the list is full.
    pub(super) fn push(&mut self, frontier: Frontier) -> bool {
        let is_same =
            |other: &Frontier| other.edge.key == frontier.edge.key && other.again == frontier.again;
        if self.frontiers.iter().any(is_same) {
            if !frontier.again {
                self.relink(&frontier.edge);
            }
            return true;
        }
        let room = self.has_room();
        if room {
            self.frontiers.push(frontier);
        }
        room
    }

    /// Records another link to an archive that is pending or missing. If several links lead to the archive, a link from an
    /// archive in the chain takes precedence, because it stays valid whatever happens to older subscription documents.
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

    /// Adds a gap, or updates the stored gap with the same key. A dismissed gap stays hidden unless the reason has changed.
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

    /// Removes and returns the gaps that begin at subscription documents older than the one of walk number `epoch`, except
    /// the gap of the archive `except`.
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

    /// Removes a suspected overrun once an archive or a page contains the last entry before it, because the missed entries
    /// are then known. Pages lead back to that entry without a break. So do archives if the feed has a newer archive than at
    /// the time of the overrun. If the newest archive is still the same, it may not have changed since, so it must also
    /// contain an entry from inside or after the overrun.
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
        let parted = self.proof.as_ref().and_then(|proof| proof.parted.as_ref());
        let is_of_seam = |gap: &Gap| parted.is_some_and(|parted| gap.first_seen >= parted.since);
        let closes = |gap: &Gap| {
            is_page || (!is_of_seam(gap) && (gap.edge.key != newest || reaches || is_within(gap)))
        };
        self.gaps.retain(|key, gap| {
            gap.kind() != GapKind::Overrun || !found.contains(key) || !closes(gap)
        });
    }

    /// Removes the oldest suspected overrun if too many are stored, because nothing can be requested for an overrun. Gaps of
    /// archives are never removed to make room.
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

/// Maximum number of tombstones kept for one feed. The oldest ones are dropped first.
const TOMBSTONES_MAX: usize = 1_000;

/// Deletion times of entries, by the hash of the entry's id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tombstones(BTreeMap<u64, DateTime<Utc>>);

impl Tombstones {
    /// Adds the tombstones of a document. Returns whether anything changed.
    pub(crate) fn add_from(&mut self, document: &FeedDocument) -> bool {
        let mut changed = false;
        for tombstone in &document.tombstones {
            let when = self.0.entry(identity_hash(&tombstone.id)).or_insert(DateTime::UNIX_EPOCH);
            changed |= *when < tombstone.when;
            *when = tombstone.when.max(*when);
        }
        while self.0.len() > TOMBSTONES_MAX {
            let oldest = self.0.iter().min_by_key(|(_, when)| **when).map(|(id, _)| *id);
            oldest.map(|id| self.0.remove(&id));
        }
        changed
    }

    /// Returns the time at which the entry with this identity hash was deleted.
    pub(crate) fn deleted_at(&self, identity: u64) -> Option<DateTime<Utc>> {
        self.0.get(&identity).copied()
    }
}

impl Nodes {
    /// Returns where the chain from the newest archive ends, and the first archive in it that has a flaw.
    pub(super) fn fold(
        &self,
        record: &HistoryRecord,
        head: &str,
    ) -> (End, Option<(String, Doubt)>) {
        let end = self.chain_end(record, None, head);
        let (mut link, mut left) = (head, self.kept.len());
        while let Some((key, node)) = self.find(link).filter(|_| left > 0) {
            if let Some(flaw) = node.flaw {
                return (end, Some((key.to_owned(), flaw)));
            }
            let Some(prev) = node.prev.as_deref() else { break };
            (link, left) = (prev, left.saturating_sub(1));
        }
        (end, None)
    }

    /// Follows the chain from a link to its end. `newer` is the archive that holds the link.
    pub(crate) fn chain_end(&self, record: &HistoryRecord, newer: Option<&str>, link: &str) -> End {
        let mut passed: BTreeSet<&str> = newer.into_iter().collect();
        let (mut newer, mut link) = (newer, link);
        loop {
            if let Some(end) = stop(record, newer, link) {
                return end;
            }
            let Some((key, node)) = self.find(link) else { return End::Dangling(link.to_owned()) };
            if !passed.insert(key) {
                let from = newer.unwrap_or_default().to_owned();
                return End::Loop { at: key.to_owned(), from, link: link.to_owned() };
            }
            match node.prev.as_deref() {
                Some(prev) => (newer, link) = (Some(key), prev),
                None => return End::NoLink,
            }
        }
    }

    /// Checks the invariant of SPEC C.9: from every archive, and from the subscription document, following the links
    /// ends at an archive without a link, a gap or a frontier. The error describes the violation.
    pub fn check_invariant(&self, record: &HistoryRecord) -> Result<(), String> {
        if record.nodes_outdated {
            return Ok(());
        }
        let mut sound: BTreeSet<&str> = BTreeSet::new();
        let head = record.head.as_ref().map(|edge| (None, edge.key.as_str()));
        let links = self.kept.iter().filter_map(|(key, node)| match node.state {
            NodeState::Applied | NodeState::Superseded | NodeState::Empty => {
                Some((Some(key.as_str()), node.prev.as_deref()?))
            }
            NodeState::AliasOf(_) => None,
        });
        for (from, link) in head.into_iter().chain(links) {
            let mut path: BTreeSet<&str> = from.into_iter().collect();
            let (mut newer, mut link) = (from, link);
            while stop(record, newer, link).is_none() {
                let Some((key, node)) = self.find(link) else {
                    return Err(format!("there is no record of {link}, which {newer:?} links to"));
                };
                if sound.contains(key) {
                    break;
                }
                if !path.insert(key) {
                    return Err(format!(
                        "the chain from {from:?} loops at {key}, but no gap records it"
                    ));
                }
                let Some(prev) = node.prev.as_deref() else { break };
                (newer, link) = (Some(key), prev);
            }
            sound.extend(path);
        }
        Ok(())
    }
}

/// Returns the gap or the pending archive (frontier) to which a link leads; `None` if the link leads to neither.
fn stop(record: &HistoryRecord, newer: Option<&str>, link: &str) -> Option<End> {
    if record.frontiers.iter().any(|frontier| frontier.edge.key == link && !frontier.again) {
        return Some(End::Frontier);
    }
    let ends = record.gaps.values().any(|gap| {
        gap.edge.key == link
            && (gap.reason != Reason::Loop || gap.edge.newer.archive.as_deref() == newer)
    });
    ends.then_some(End::Gap)
}

#[cfg(test)]
mod tests {
    use crate::feed::Tombstone;
    use crate::history::record::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    fn document(tombstones: impl Iterator<Item = i64>) -> FeedDocument {
        let tombstones = tombstones.map(|n| Tombstone { id: n.to_string(), when: at(n) }).collect();
        FeedDocument { tombstones, ..FeedDocument::default() }
    }

    #[test]
    fn latest_tombstone_counts_and_their_number_is_bounded() {
        let mut tombstones = Tombstones::default();
        assert!(tombstones.add_from(&document(0..1_500)));
        assert!(!tombstones.add_from(&document(1_499..1_500)));
        assert_eq!(tombstones.deleted_at(identity_hash("1499")), Some(at(1_499)));
        assert_eq!(tombstones.deleted_at(identity_hash("3")), None);
        assert_eq!(tombstones.0.len(), TOMBSTONES_MAX);
    }

    #[test]
    fn a_record_keeps_tombstones_under_the_name_they_were_stored_by() {
        let stored = r#"{"graves":{"7":"2026-01-01T00:00:00Z"}}"#;
        let record: HistoryRecord = serde_json::from_str(stored).unwrap();
        assert!(record.tombstones.deleted_at(7).is_some());
        assert!(serde_json::to_value(&record).unwrap().get("graves").is_some());
    }
}
