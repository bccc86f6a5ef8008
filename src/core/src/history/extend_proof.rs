//! Extends the proof that a history is complete by each window and each archive (SPEC C.8).

use std::cmp::Ordering;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::gap::{Edge, GapKey, GapKind, GapState};
use super::node::{End, Nodes};
use super::polled::Polled;
use super::proof::{Attempts, Doubt, HistoryEnd, Parted, Proof};
use super::record::{Frontier, HistoryRecord};
use super::walk::adaptor::FoundBy;
use super::walk::archive_walk::Arrival;
use super::windows::{bottom, order, ordinary_dates, pinned, times, times_of};
use crate::feed::identity::identity_hash;
use crate::feed::{Entry, FeedDocument};

/// Archives kept to be read again, at most. With more, only reading the whole history again closes the seam.
const STALE_MAX: usize = 8;
/// Number of intervals between entries, on each side of a seam, with which the interval across the seam is compared.
const SIDE_INTERVALS: usize = 3;

impl HistoryRecord {
    /// Returns the proof, and creates it for a record that was stored without one.
    pub(super) fn prove(&mut self) -> &mut Proof {
        let first = self.proof.is_none().then(|| Box::new(Proof::first(self.heard.is_some())));
        self.proof.get_or_insert_with(|| first.unwrap_or_default())
    }

    /// Checks whether nothing can be missing between the last window and this document.
    pub(super) fn adjoins(&self, document: &FeedDocument) -> bool {
        let proof = self.proof.as_deref();
        let (times, falls) = proof.map_or((&[][..], false), |it| (&it.times, it.falls));
        self.windows.join(document, times, falls)
    }

    /// Extends the proof by a window with entries. Returns whether it adjoins the last one.
    pub(super) fn extend_proof(&mut self, polled: &Polled<'_>) -> bool {
        let (document, now) = (polled.document, polled.fetched_at);
        let proof = self.proof.as_deref();
        let falls = proof.is_some_and(|proof| proof.falls);
        let joins = self.adjoins(document);
        if joins {
            self.note_left(document);
        } else {
            self.part(now);
            // A pinned entry is in the window whatever was published meanwhile: it need not be found, but proves nothing.
            self.find_sought(document, &pinned(document, falls));
        }
        let proof = self.prove();
        proof.times = times(document, falls);
        proof.is_elsewhere = false;
        proof.falls = match order(document) {
            Ordering::Greater => true,
            Ordering::Equal => falls,
            Ordering::Less => false,
        };
        (proof.at, proof.as_of) = (Some(now), Some(now));
        if !joins && let Some(parted) = &mut proof.parted {
            let (id, date) = bottom(document, falls).unwrap_or_default();
            parted.bottom = id;
            // The interval to a pinned entry says nothing about how often the feed publishes.
            let dates = ordinary_dates(document, falls);
            parted.above = date.map(|date| (date, longest_interval(dates.iter())));
        }
        joins
    }

    /// Opens the seam below the next window: nothing shows yet that it adjoins the last one.
    fn part(&mut self, now: DateTime<Utc>) {
        if self.windows.past.last().is_none_or(Vec::is_empty) {
            return;
        }
        let times = self.proof.as_ref().map_or(&[][..], |proof| &proof.times);
        let gone = self.windows.ordinary(times);
        let below = self.windows.newest.map(|(date, _)| date);
        let vanished = self.prove().vanished.clone();
        let newest = self.former.as_deref().or(vanished.as_ref()).or(self.head.as_ref()).cloned();
        let before = self.prove().parted.take();
        let again = before.is_some();
        let mut parted =
            before.unwrap_or_else(|| Parted { since: now, below, ..Parted::default() });
        parted.sought.extend(gone);
        (parted.again, parted.likely, parted.left) = (again, false, false);
        // An archive that was never read may hold what is sought, so it stays the one to read.
        let has_gap = |key: &String| self.gaps.contains_key(&GapKey::archive(key));
        parted.unread = parted.unread.filter(has_gap);
        if let Some(newest) = newest.filter(|newest| !parted.is_below(&newest.key)) {
            if has_gap(&newest.key) {
                parted.unread.get_or_insert(newest.key);
            } else if parted.stale.len() >= STALE_MAX {
                parted.is_lost = true;
            } else {
                parted.stale.push(newest);
            }
        }
        parted.attempts = Attempts::default();
        self.prove().parted = Some(parted);
    }

    /// Notes that the window moved on: once the oldest entry above an open seam has left it, an archive must hold that entry.
    fn note_left(&mut self, document: &FeedDocument) {
        let renamed = !self.windows.knows(document);
        let falls = self.proof.as_ref().is_some_and(|proof| proof.falls);
        let (head, former) = (self.head.as_ref().map(|head| &head.key), self.former.as_deref());
        let follows = former.is_some_and(|former| head != Some(&former.key));
        let settled = former.filter(|former| self.settled.as_ref() == Some(&former.key)).cloned();
        let Some(parted) = self.proof.as_mut().and_then(|proof| proof.parted.as_mut()) else {
            return;
        };
        parted.again |= follows;
        parted.renamed |= renamed;
        if parted.stale.is_empty() && parted.unread.is_none() {
            parted.stale.extend(settled);
        }
        let is_here = document.entries.iter().any(|it| identity_hash(&it.id) == parted.bottom);
        if (is_here || renamed)
            && let Some((id, _)) = bottom(document, falls)
        {
            // A pinned entry does not leave, and one with a new id is not found; the next one is.
            parted.bottom = id;
        }
        if !parted.left && (follows || !is_here) {
            (parted.left, parted.attempts) = (true, Attempts::default());
        }
    }

    /// Takes the entries of a document from those that are sought. Those that are `pinned` there do not count as found.
    fn find_sought(&mut self, document: &FeedDocument, pinned: &BTreeSet<u64>) {
        let Some(parted) = self.proof.as_mut().and_then(|proof| proof.parted.as_mut()) else {
            return;
        };
        let times: BTreeSet<u32> = if parted.renamed {
            // Entries without dates all have the same.
            document.entries.iter().map(times_of).filter(|times| *times != 0).collect()
        } else {
            BTreeSet::new()
        };
        let ids: BTreeSet<u64> =
            document.entries.iter().map(|entry| identity_hash(&entry.id)).collect();
        parted.sought.retain(|id, time| {
            let is_here = ids.contains(id) || times.contains(time);
            parted.found |= is_here && !pinned.contains(id);
            !is_here && self.tombstones.deleted_at(*id).is_none()
        });
    }

    /// Applies an archive that was read, to the open seam.
    pub(super) fn mend_seam(&mut self, edge: &Edge, arrival: &Arrival<'_>, nodes: &Nodes) {
        let key = edge.key.as_str();
        let (document, now) = (arrival.document, arrival.fetched_at);
        self.find_sought(document, &BTreeSet::new());
        let is_final = self.head.as_ref().is_some_and(|head| head.key != key);
        let Some(parted) = self.proof.as_mut().and_then(|proof| proof.parted.as_mut()) else {
            return;
        };
        let date = parted.above.map(|(date, _)| date);
        let holds = document.entries.iter().any(|it| {
            let dated = date.is_some() && it.published.or(it.updated) == date;
            dated || identity_hash(&it.id) == parted.bottom
        });
        if !parted.is_below(key) {
            return;
        }
        parted.attempts.note(now);
        if parted.unread.as_deref() == Some(key) {
            parted.unread = None;
            parted.stale.push(edge.clone());
        }
        let has_gap = |key: &String| self.gaps.contains_key(&GapKey::archive(key));
        parted.unread = parted.unread.take().filter(has_gap);
        let others = parted.stale.iter().filter(|edge| edge.key != key).count();
        if others > 0 || parted.unread.is_some() || parted.is_lost {
            parted.stale.retain(|edge| edge.key != key || !(is_final || holds));
            return;
        }
        // What was in an archive before need not be in this one, for example an old entry that was edited.
        parted.sought.retain(|id, _| !nodes.hold(*id));
        let reaches = parted.sought.is_empty();
        if reaches && (holds || is_final) {
            self.close_seam();
            return;
        }
        parted.likely = reaches && !parted.left && adjoins(document, parted.above);
        if reaches && !parted.left {
            // Only when the oldest entry above the seam has left the window, the archive must hold it.
            parted.attempts.next = Some(DateTime::<Utc>::MAX_UTC);
        }
        if reaches {
            // The entries that left the window are in the archive, so nothing suggests a loss any more.
            let since = parted.since;
            self.close_overruns_since(since);
        }
    }

    /// Checks whether an archive is the newest one and shares no entry with the last window: then it does not show what lies
    /// between the two.
    pub(super) fn is_apart(&self, edge: &Edge, document: &FeedDocument) -> bool {
        let times = self.proof.as_ref().map_or(&[][..], |proof| &proof.times);
        let window = self.windows.ordinary(times);
        let is_newest = self.head.as_ref().is_some_and(|head| head.key == edge.key);
        // An old entry that was edited is in the window with other times.
        let is_shared =
            |it: &Entry| window.get(&identity_hash(&it.id)).is_some_and(|at| *at == times_of(it));
        let is_linked = edge.via == FoundBy::Link;
        is_newest && is_linked && !window.is_empty() && !document.entries.iter().any(is_shared)
    }

    /// Opens a seam above an archive to which the chain from a newer one leads, if nothing shows that the archive was whole when
    /// it was read. A walk in progress reads it again.
    pub(super) fn read_apart_again(&mut self, edge: &Edge, nodes: &Nodes, now: DateTime<Utc>) {
        let Some((key, node)) = nodes.find(&edge.key).filter(|(_, node)| node.is_apart) else {
            return;
        };
        if self.head.as_ref().is_some_and(|head| head.key == key) {
            return;
        }
        let edge = Edge { key: key.to_owned(), url: node.url.clone(), ..edge.clone() };
        let below = node.span.map(|(newest, _)| newest);
        let parted = self.prove().parted.get_or_insert_with(|| Parted {
            since: now,
            below,
            left: true,
            ..Parted::default()
        });
        parted.again = true;
        if !parted.is_below(key) {
            if parted.stale.len() >= STALE_MAX {
                parted.is_lost = true;
            } else {
                parted.stale.push(edge.clone());
            }
        }
        let waits = self.frontiers.iter().any(|next| next.edge.key == key);
        if !waits && self.has_room() {
            self.frontiers.push(Frontier { edge, again: true, ..Frontier::default() });
        }
    }

    /// Returns the date above which entries of archives are unread: the newest one that was known when the seam opened, unless
    /// the user reads the whole history again. Entries without dates are unread as long as something is sought.
    pub(super) fn unread_above(&self) -> Option<(DateTime<Utc>, bool)> {
        let parted = self.proof.as_ref()?.parted.as_ref().filter(|_| !self.run.rereading)?;
        Some((parted.below?, !parted.sought.is_empty()))
    }

    /// Closes the open seam: nothing is missing there, and the gaps that it opened are closed.
    pub(super) fn close_seam(&mut self) {
        let Some(parted) = self.prove().parted.take() else { return };
        self.close_overruns_since(parted.since);
    }

    fn close_overruns_since(&mut self, since: DateTime<Utc>) {
        self.gaps.retain(|_, gap| gap.kind() != GapKind::Overrun || gap.first_seen < since);
    }

    /// Queues what closes open seams: the archive that was the newest one below the window, and an archive that was not whole.
    pub(super) fn look_into_seams(&mut self, now: DateTime<Utc>) {
        let Some(proof) = &mut self.proof else { return };
        let mut again: Vec<Edge> = Vec::new();
        if let Some(parted) = proof.parted.as_mut().filter(|parted| parted.attempts.is_due(now)) {
            // If no document links to the missing archive any more, it has no gap, and the newest one is read instead.
            let has_gap = |key: &String| self.gaps.contains_key(&GapKey::archive(key));
            let is_missing = parted.unread.as_ref().is_some_and(has_gap);
            let known = self.head.as_ref().filter(|head| self.settled.as_ref() == Some(&head.key));
            if parted.stale.is_empty() && !is_missing {
                parted.stale.extend(known.cloned());
            }
            // If nothing is requested, nothing is written, so the record stays as it is stored.
            if !is_missing && !parted.stale.is_empty() {
                parted.unread = None;
            }
            again.extend_from_slice(&parted.stale);
        }
        if let Some((edge, attempts)) = &mut proof.flawed
            && attempts.is_due(now)
        {
            attempts.note(now);
            again.push(edge.clone());
        }
        for edge in again {
            let waits = self.frontiers.iter().any(|next| next.edge.key == edge.key)
                || self.gaps.contains_key(&GapKey::archive(&edge.key));
            if !waits && self.has_room() {
                self.begin_run();
                // New archives are read first: they may show that nothing is missing.
                self.frontiers.insert(0, Frontier { edge, again: true, ..Frontier::default() });
            }
        }
    }

    /// Checks whether an archive that is to be read again need not be: the new archives hold what was sought, and it held the rest
    /// before.
    pub(super) fn is_spared(&mut self, frontier: &Frontier, nodes: &Nodes) -> bool {
        let head = self.head.as_ref().map(|head| &head.key);
        let Some(proof) = self.proof.as_deref().filter(|_| frontier.again) else { return false };
        let parted = proof.parted.as_ref();
        let Some(parted) = parted.filter(|parted| parted.is_below(&frontier.edge.key)) else {
            return false;
        };
        let is_spared = parted.found
            && parted.sought.keys().all(|id| nodes.hold(*id))
            && !(parted.again || parted.is_lost)
            && head != Some(&frontier.edge.key);
        if is_spared {
            self.close_seam();
        }
        is_spared
    }

    /// Notes that an archive could not be read again.
    pub(super) fn note_unread(&mut self, key: &str, now: DateTime<Utc>) {
        if let Some(parted) = self.proof.as_mut().and_then(|proof| proof.parted.as_mut())
            && parted.is_below(key)
        {
            parted.attempts.note(now);
        }
    }

    /// Folds the chain of archives into the proof, when a walk ends: its end, and the first archive that is not known to be
    /// whole.
    pub(super) fn fold(&mut self, nodes: &Nodes) {
        for gap in self.gaps.values_mut().filter(|gap| gap.kind() == GapKind::Overrun) {
            if gap.state == GapState::Retrying {
                gap.state = GapState::Open;
            }
        }
        self.archives = nodes.count();
        let newest_is_read =
            self.head.as_ref().is_some_and(|head| self.settled.as_ref() == Some(&head.key));
        let parted = self.proof.as_ref().and_then(|proof| proof.parted.as_ref());
        let is_held = |parted: &Parted| {
            parted.stale.is_empty()
                && parted.unread.is_none()
                && !parted.is_lost
                && parted.sought.keys().all(|id| nodes.hold(*id))
        };
        if newest_is_read && parted.is_some_and(is_held) {
            self.close_seam();
        }
        let Some(head) = self.head.clone() else { return };
        let (end, flaw) = nodes.fold(self, &head.key);
        self.doubts.retain(|doubt| !doubt.is_of_archive());
        self.doubts.extend(flaw.as_ref().map(|(_, doubt)| *doubt));
        let newer = self.heard.clone().unwrap_or_default();
        let edge = flaw.and_then(|(key, _)| {
            let (_, node) = nodes.find(&key)?;
            let (url, epoch, depth) = (node.url.clone(), node.epoch, node.depth);
            Some(Edge { url, key, newer, epoch, depth, ..Edge::default() })
        });
        let proof = self.prove();
        if end != End::Gap && end != End::Frontier {
            proof.end = if end == End::NoLink { HistoryEnd::Archive } else { HistoryEnd::Unknown };
        }
        let same = |(known, _): &(Edge, Attempts), edge: &Edge| known.key == edge.key;
        proof.flawed = edge.map(|edge| match proof.flawed.take() {
            Some(known) if same(&known, &edge) => known,
            Some(_) | None => (edge, Attempts::default()),
        });
    }

    /// Returns the seams that the proof leaves open.
    pub(super) fn unproved(&self) -> impl Iterator<Item = Doubt> {
        let (end, parted) = match &self.proof {
            Some(proof) => (proof.end, proof.parted.as_ref()),
            None => (Proof::first(self.heard.is_some()).end, None),
        };
        // While the archives below the seam are missing themselves, their gaps say so.
        let has_gap = |edge: &Edge| self.gaps.contains_key(&GapKey::archive(&edge.key));
        let is_missing = |parted: &Parted| {
            let unread = parted.unread.as_ref().map(|key| GapKey::archive(key));
            let has_unread = unread.is_some_and(|key| self.gaps.contains_key(&key));
            (has_unread || !parted.stale.is_empty()) && parted.stale.iter().all(has_gap)
        };
        let is_parted = parted.is_some_and(|parted| !parted.likely && !is_missing(parted));
        let ends = end != HistoryEnd::Unknown;
        let open = [(is_parted, Doubt::Parted), (!ends, Doubt::NoEnd)];
        open.into_iter().filter_map(|(is_open, doubt)| is_open.then_some(doubt))
    }
}

/// Checks whether the newest date of an archive and the oldest one above it are no further apart than entries on either side.
fn adjoins(document: &FeedDocument, above: Option<(DateTime<Utc>, i64)>) -> bool {
    let dates = document.entry_dates();
    let (Some((above, interval)), Some(newest)) = (above, dates.last()) else { return false };
    let across = above.signed_duration_since(*newest).num_seconds();
    across <= interval.max(longest_interval(dates.iter().rev()))
}

/// Returns the longest interval in seconds between the first of these dates.
fn longest_interval<'a>(dates: impl Iterator<Item = &'a DateTime<Utc>> + Clone) -> i64 {
    let pairs = dates.clone().zip(dates.skip(1)).take(SIDE_INTERVALS);
    pairs.map(|(a, b)| b.signed_duration_since(*a).num_seconds().abs()).max().unwrap_or_default()
}
