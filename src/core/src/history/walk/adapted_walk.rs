//! The part of an archive walk that handles documents supplied by an adaptor: numbered pages, listings of captures,
//! captures.

use chrono::{DateTime, Utc};

use super::adaptor::{FoundBy, taken_at};
use super::archive_walk::{ArchiveWalk, Arrival};
use super::retry::ArchiveFailure;
use crate::feed::FeedDocument;
use crate::history::address::canonical;
use crate::history::gap::GapKey;
use crate::history::merge::Merging;
use crate::history::node::{ArchiveNode, NodeState, fingerprint};
use crate::history::rank::Position;
use crate::history::record::Frontier;

impl ArchiveWalk<'_> {
    /// Applies a received listing of captures. Then write the record and call [`Self::next`].
    pub fn listed(&mut self, captures: Vec<u64>, now: DateTime<Utc>) {
        let Some(frontier) = self.take_answered() else { return };
        if frontier.edge.via == FoundBy::Listing {
            self.record.adapted.captures = captures;
            self.skip_document(&frontier, now);
        } else {
            self.failed_at(
                frontier,
                &ArchiveFailure::Unreadable("it is not a feed".to_owned()),
                now,
            );
        }
        self.assert_sound();
    }

    /// Applies a received document whose address was supplied by an adaptor.
    pub(in crate::history) fn keep_adapted(
        &mut self,
        frontier: &Frontier,
        arrival: &Arrival<'_>,
    ) -> Option<Merging> {
        let (edge, document, now) = (&frontier.edge, arrival.document, arrival.fetched_at);
        let answered = canonical(arrival.url);
        let known = answered != edge.key && self.nodes.find(&answered).is_some();
        let is_page = matches!(edge.via, FoundBy::Page(_));
        let stale = known || self.record.is_own(&answered);
        if is_page && (stale || document.entries.is_empty() || self.repeats(document)) {
            self.end_pages(frontier, now);
            return None;
        }
        if stale {
            self.skip_document(frontier, now);
            return None;
        }
        let next = self.record.link_after(edge);
        let prev = next.as_ref().map(|next| next.key.clone());
        let (mut merging, oldest) = self.keep_document(frontier, arrival, prev);
        if let Some(mut next) = next {
            if is_page {
                next.newer.oldest = Some(oldest);
            }
            self.record.push(Frontier { edge: next, ..Frontier::default() });
        }
        if let FoundBy::Capture(taken) = edge.via {
            let taken = taken_at(taken).map_or(0, |at| at.timestamp());
            merging.place.position = Position::Capture { taken };
        }
        Some(merging)
    }

    /// Handles a failed request for a document whose address was supplied by an adaptor. Returns `true` if nothing else has
    /// to be done about the failure.
    pub(in crate::history) fn adapted_failed(
        &mut self,
        frontier: &Frontier,
        failure: &ArchiveFailure,
        now: DateTime<Utc>,
    ) -> bool {
        let missing = matches!(failure, ArchiveFailure::Status { status: 404 | 410, .. });
        let ends = missing && matches!(frontier.edge.via, FoundBy::Page(_));
        if ends {
            self.end_pages(frontier, now);
        }
        ends
    }

    /// Continues with the next capture if this one is missing or unusable. If the Internet Archive does not answer or
    /// refuses the request, requests nothing more from it.
    pub(in crate::history) fn skip_missing_copy(
        &mut self,
        frontier: &Frontier,
        failure: &ArchiveFailure,
    ) {
        let gone = matches!(
            failure,
            ArchiveFailure::Status { status: 404 | 410, .. }
                | ArchiveFailure::Unreadable(_)
                | ArchiveFailure::TooLarge(_)
        );
        let is_copy = matches!(frontier.edge.via, FoundBy::Capture(_));
        if gone
            && is_copy
            && let Some(next) = self.record.link_after(&frontier.edge)
            && self.nodes.find(&next.key).is_none()
            && !self.record.gaps.contains_key(&GapKey::archive(&next.key))
        {
            self.record.push(Frontier { edge: next, ..Frontier::default() });
        }
    }

    /// Checks whether all entries of a page are already in the subscription document, or the page equals another page.
    fn repeats(&self, document: &FeedDocument) -> bool {
        let print = fingerprint(document);
        let applied = |node: &ArchiveNode| node.state == NodeState::Applied;
        self.record.windows.holds(document)
            || self.nodes.iter().any(|(_, node)| applied(node) && node.fingerprint == print)
    }

    /// Ends the walk over numbered pages, because there are no further pages.
    fn end_pages(&mut self, frontier: &Frontier, now: DateTime<Utc>) {
        self.keep_empty(frontier, None, now);
        self.drop_unlinked(&frontier.edge);
    }

    /// Skips this document and continues with the next one.
    fn skip_document(&mut self, frontier: &Frontier, now: DateTime<Utc>) {
        let next = self.record.link_after(&frontier.edge);
        let Some(next) = next else {
            self.end_pages(frontier, now);
            return;
        };
        self.keep_empty(frontier, Some(next.key.clone()), now);
        self.record.push(Frontier { edge: next, ..Frontier::default() });
    }

    /// Records a fetched document whose entries are not merged.
    fn keep_empty(&mut self, frontier: &Frontier, prev: Option<String>, now: DateTime<Utc>) {
        let node = ArchiveNode {
            state: NodeState::Empty,
            url: frontier.edge.url.clone(),
            prev,
            epoch: frontier.edge.epoch,
            depth: frontier.edge.depth,
            fetched_at: now,
            ..ArchiveNode::default()
        };
        self.keep_node(frontier, node);
    }
}
