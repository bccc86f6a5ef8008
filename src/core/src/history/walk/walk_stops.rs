//! The places where a chain of archives ends during a walk: at known archives, gaps, limits and failures (SPEC C.8, C.9); and
//! archives that it skips because no document of the chain links to them as older. Those are found through `next-archive` links and
//! requested once. Their own links are not followed.

use chrono::{DateTime, Utc};

use super::adaptor::FoundBy;
use super::archive_walk::ArchiveWalk;
use super::policy::{ArchiveFailure, FRONTIERS_MAX, GAPS_MAX};
use crate::feed::FeedDocument;
use crate::history::address::{canonical, same_origin, without_fragment};
use crate::history::gap::{Edge, Gap, GapKey, GapState, Limit, Newer, Reason};
use crate::history::kind::states_missing;
use crate::history::node::End;
use crate::history::record::Frontier;

impl ArchiveWalk<'_> {
    /// Ends a chain at an archive that is already known. The older part of the chain was recorded before and has its own
    /// end, unless it leads back to here and forms a loop.
    pub(in crate::history) fn end_at_known(&mut self, frontier: &Frontier, now: DateTime<Utc>) {
        let edge = &frontier.edge;
        self.take_frontier(&edge.key, frontier.again);
        let newer = edge.newer.archive.as_deref();
        // An archive that was subscribed to by mistake has an address of the subscription document but also counts as an
        // archive.
        let is_own = self.record.is_own(&edge.key) && self.nodes.find(&edge.key).is_none();
        let loops = is_own || self.leads_back(newer, &edge.key, now);
        if loops && !edge.side {
            self.open_loop(frontier, now);
            return;
        }
        if newer.is_none() && edge.epoch == self.record.epoch {
            self.record.settled = Some(edge.key.clone());
        }
        self.close_gap(frontier);
        self.drop_unlinked(edge);
        if !edge.side {
            self.record.read_apart_again(edge, self.nodes, now);
        }
    }

    /// Checks whether the chain below a link leads back to the archive that contains the link. If the chain has a loop
    /// further down, a gap is opened at that loop. Such a loop can form when two addresses turn out to belong to the same
    /// archive.
    fn leads_back(&mut self, newer: Option<&str>, link: &str, now: DateTime<Utc>) -> bool {
        loop {
            let (at, from, link) = match self.nodes.chain_end(self.record, newer, link) {
                End::Loop { at, from, link } => (at, from, link),
                End::NoLink | End::Gap | End::Frontier | End::Dangling(_) => return false,
            };
            if newer == Some(at.as_str()) {
                return true;
            }
            let url = self.nodes.find(&link).map(|(_, node)| node.url.clone());
            let oldest = self.nodes.find(&from).and_then(|(_, node)| node.span).map(|span| span.1);
            let key = GapKey::broken_link(&from, &link);
            let newer = Newer { archive: Some(from), oldest, ..Newer::default() };
            let url = url.unwrap_or_default();
            let edge = Edge { url, key: link, newer, ..Edge::default() };
            self.record.open(key, Gap::new(edge, Reason::Loop, now));
        }
    }

    /// Opens a gap for a link that leads back to a known archive.
    fn open_loop(&mut self, frontier: &Frontier, now: DateTime<Utc>) {
        let edge = frontier.edge.clone();
        self.close_gap(frontier);
        let newer = edge.newer.archive.clone().unwrap_or_default();
        let key = GapKey::broken_link(&newer, &edge.key);
        self.record.open(key, Gap::new(edge.clone(), Reason::Loop, now));
        self.drop_unlinked(&edge);
    }

    /// Handles a server that sends the subscription document instead of an archive. For a `next-archive` link, this is not a
    /// failure, because the subscription document is the next newer document after the newest archive.
    pub(in crate::history) fn answered_with_current(
        &mut self,
        frontier: Frontier,
        now: DateTime<Utc>,
    ) {
        if frontier.edge.side {
            self.close_gap(&frontier);
            return;
        }
        let why = "the server sends the current document instead";
        self.failed_at(frontier, &ArchiveFailure::Unreadable(why.to_owned()), now);
    }

    /// Returns the known gap at the archive that a frontier leads to, and whether a retry is due.
    pub(in crate::history) fn gap_at(
        &self,
        frontier: &Frontier,
        now: DateTime<Utc>,
    ) -> Option<(GapKey, bool)> {
        if frontier.gap.is_some() || frontier.again {
            return None;
        }
        let key = GapKey::archive(&frontier.edge.key);
        let gap = self.record.gaps.get(&key)?;
        let due = gap.retry_at.is_some_and(|at| at <= now) || frontier.asked;
        Some((key, due))
    }

    /// Ends a chain at a known gap. From now on, the gap is listed below the document with this link.
    pub(in crate::history) fn end_at_gap(&mut self, frontier: &Frontier) {
        self.take_frontier(&frontier.edge.key, frontier.again);
        self.record.relink(&frontier.edge);
        self.drop_unlinked(&frontier.edge);
    }

    /// Ends the walk at a frontier because of a limit.
    pub(in crate::history) fn stop_at(
        &mut self,
        frontier: Frontier,
        limit: Limit,
        now: DateTime<Utc>,
    ) {
        self.take_frontier(&frontier.edge.key, frontier.again);
        let known = frontier.gap.and_then(|key| self.record.gaps.get(&key));
        if frontier.again || known.is_some_and(|gap| !matches!(gap.reason, Reason::Limit { .. })) {
            // A gap of an archive that failed before keeps its reason and its retry time.
            self.reopen(frontier.gap);
            return;
        }
        let fetched = self.record.run.fetched;
        let reason = Reason::Limit { limit, fetched };
        self.open_gap(frontier, reason, now, |gap| gap);
    }

    fn reopen(&mut self, gap: Option<GapKey>) {
        if let Some(gap) = gap.and_then(|key| self.record.gaps.get_mut(&key)) {
            gap.state = GapState::Open;
        }
    }

    pub(in crate::history) fn failed_at(
        &mut self,
        frontier: Frontier,
        failure: &ArchiveFailure,
        now: DateTime<Utc>,
    ) {
        self.take_frontier(&frontier.edge.key, frontier.again);
        if frontier.again {
            self.reopen(frontier.gap);
            self.record.note_unread(&frontier.edge.key, now);
            return;
        }
        if frontier.edge.via != FoundBy::Link {
            if self.adapted_failed(&frontier, failure, now) {
                return;
            }
            self.skip_missing_copy(&frontier, failure);
        }
        // If the link to a skipped archive leads nowhere, it is usually just out of date. This does not apply to a link in
        // the newest archive, because it concerns new entries, or if the publisher states that the archive is missing.
        let out_of_date = matches!(failure, ArchiveFailure::Status { status: 404 | 410, .. })
            && frontier.edge.newer.archive != self.record.settled
            && !frontier.edge.stated_missing;
        if frontier.edge.side && out_of_date {
            return;
        }
        let key = GapKey::archive(&frontier.edge.key);
        let tries = self.record.gaps.get(&key).map_or(0, |gap| gap.tries).saturating_add(1);
        let retry_at = failure.retry_at(tries, now);
        let chain = frontier.edge.clone();
        let headless = chain.newer.archive.is_none();
        self.open_gap(frontier, Reason::from_failure(failure), now, |gap| Gap {
            last_try: Some(now),
            tries,
            retry_at,
            ..gap
        });
        if !headless {
            self.drop_unlinked(&chain);
        }
    }

    fn open_gap(
        &mut self,
        frontier: Frontier,
        reason: Reason,
        now: DateTime<Utc>,
        fill: impl Fn(Gap) -> Gap,
    ) {
        if frontier.edge.newer.archive.is_none() && frontier.gap.is_none() {
            return self.open_at_head(frontier, reason, now, fill);
        }
        let key = GapKey::archive(&frontier.edge.key);
        self.record.open(key, fill(Gap::new(frontier.edge, reason, now)));
    }

    /// Opens a gap directly below the subscription document. If the last two subscription documents share entries, the new
    /// gap replaces the gaps below older subscription documents, because nothing is missing between the two documents.
    fn open_at_head(
        &mut self,
        frontier: Frontier,
        reason: Reason,
        now: DateTime<Utc>,
        fill: impl Fn(Gap) -> Gap,
    ) {
        let mut edge = frontier.edge;
        if frontier.contiguous || self.record.gaps.len() >= GAPS_MAX {
            let older = self.record.take_unlinked(edge.epoch, &edge.key);
            let oldest = older.iter().filter_map(|gap| gap.edge.newer.oldest).min();
            edge.newer.oldest = oldest.into_iter().chain(edge.newer.oldest).min();
        }
        let key = GapKey::archive(&edge.key);
        self.record.open(key, fill(Gap::new(edge, reason, now)));
    }

    /// Removes the gap of the archive that a frontier leads to, and the gap that the frontier was to close.
    pub(in crate::history) fn close_gap(&mut self, frontier: &Frontier) {
        self.record.gaps.remove(&GapKey::archive(&frontier.edge.key));
        if let Some(key) = frontier.gap {
            self.record.gaps.remove(&key);
            self.record.run.recovering = true;
        }
    }

    /// Removes gaps and frontiers of older subscription documents when the chain from the last subscription document ends.
    /// No document links to an archive that this chain did not reach.
    pub(in crate::history) fn drop_unlinked(&mut self, edge: &Edge) {
        let from_head = edge.epoch == self.record.epoch && !edge.side;
        let head = self.record.head.as_ref().map(|head| head.key.clone());
        if let Some(head) = head.filter(|_| from_head)
            && self.nodes.find(&head).is_some()
        {
            self.record.take_unlinked(edge.epoch, &head);
            let epoch = edge.epoch;
            self.record.frontiers.retain(|next| {
                let old = next.edge.newer.archive.is_none() && next.edge.epoch < epoch;
                !old || next.gap.is_some() || next.again
            });
        }
    }
}

impl ArchiveWalk<'_> {
    /// Follows the `next-archive` link of an archive once, unless the link leads to the archive from which the walk came or
    /// to another known document. If the archive was itself found through `next-archive`, or if the link leads to another
    /// origin, opens a gap instead.
    pub(super) fn look_for_skipped(
        &mut self,
        edge: &Edge,
        newer: &Newer,
        document: &FeedDocument,
        now: DateTime<Utc>,
    ) {
        let Some(link) = document.history.next_archive.as_deref() else { return };
        let key = canonical(link);
        let current = document.history.current.as_deref().map(canonical);
        // An archive that was subscribed to by mistake is fetched before the chain reaches it. The archives between it and
        // the subscription document are therefore still to come, not skipped.
        let is_below_unread = edge.newer.archive.is_none() && edge.epoch != self.record.epoch;
        if is_below_unread
            || edge.newer.archive.as_deref() == Some(key.as_str())
            || current.as_ref() == Some(&key)
            || self.is_expected(edge, &key)
        {
            return;
        }
        let newer = Newer { oldest: edge.newer.oldest, ..newer.clone() };
        let url = without_fragment(link).to_owned();
        let stated_missing = states_missing(document, &key);
        let by_previous = false;
        let skipped =
            Edge { url, key, newer, side: true, by_previous, stated_missing, ..edge.clone() };
        let is_followed = !edge.side
            && same_origin(link, &skipped.newer.url)
            && self.record.frontiers.len() < FRONTIERS_MAX / 2;
        if is_followed {
            self.record.push(Frontier { edge: skipped, ..Frontier::default() });
        } else {
            self.note_aside(skipped, now);
        }
    }

    /// Opens a gap if an archive found through `next-archive` links to an unknown older one, because that link is not followed.
    pub(super) fn note_older_of_skipped(
        &mut self,
        edge: &Edge,
        newer: &Newer,
        older: Option<(&str, bool)>,
        now: DateTime<Utc>,
    ) {
        let Some((link, _)) = older else { return };
        let key = canonical(link);
        if !self.is_expected(edge, &key) {
            let url = without_fragment(link).to_owned();
            let newer = newer.clone();
            let (by_previous, stated_missing) = (false, false);
            self.note_aside(
                Edge { url, key, newer, by_previous, stated_missing, ..edge.clone() },
                now,
            );
        }
    }

    /// Removes the gap of an archive outside the chain once an archive in the chain links to it.
    pub(super) fn overtake_aside(&mut self, edge: &Edge) {
        let key = GapKey::archive(&edge.key);
        if !edge.side && self.record.gaps.get(&key).is_some_and(Gap::is_aside) {
            self.record.gaps.remove(&key);
        }
    }

    /// Checks whether an address needs no further request: it is the archive's own address, or is known, pending or missing.
    fn is_expected(&self, edge: &Edge, key: &str) -> bool {
        *key == edge.key
            || self.record.is_own(key)
            || self.nodes.find(key).is_some()
            || self.record.gaps.contains_key(&GapKey::archive(key))
            || self.record.frontiers.iter().any(|next| next.edge.key == key)
    }

    fn note_aside(&mut self, edge: Edge, now: DateTime<Utc>) {
        if self.record.gaps.len() < GAPS_MAX {
            let reason = Reason::Limit { limit: Limit::Aside, fetched: self.record.run.fetched };
            let key = GapKey::archive(&edge.key);
            self.record.open(key, Gap::new(edge, reason, now));
        }
    }
}
