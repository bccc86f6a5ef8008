//! What a walk does with documents that an adaptor named: pages by number, listings, copies.

use chrono::{DateTime, Utc};

use super::adaptor::{Via, taken_at};
use super::archive_walk::{ArchiveWalk, Arrival};
use super::retry::ArchiveFailure;
use crate::feed::FeedDocument;
use crate::history::address::canonical;
use crate::history::gap::{GapKey, Newer};
use crate::history::merge::{DocumentPlace, Merging, span};
use crate::history::node::{ArchiveNode, NodeState, fingerprint};
use crate::history::rank::Position;
use crate::history::record::Frontier;

impl ArchiveWalk<'_> {
    /// The listing of copies came. The record is to be written, then [`Self::next`] is called.
    pub fn listed(&mut self, captures: Vec<u64>, now: DateTime<Utc>) {
        let Some(frontier) = self.take_answered() else { return };
        if frontier.edge.via == Via::Listing {
            self.record.adapted.captures = captures;
            self.skip_document(&frontier, now);
        } else {
            self.failed_at(frontier, &ArchiveFailure::Unreadable("it is no feed".to_owned()), now);
        }
        self.assert_sound();
    }

    /// A document that an adaptor named came.
    pub(in crate::history) fn keep_adapted(
        &mut self,
        frontier: &Frontier,
        arrival: &Arrival<'_>,
    ) -> Option<Merging> {
        let (edge, document, now) = (&frontier.edge, arrival.document, arrival.fetched_at);
        let answered = canonical(arrival.url);
        let known = answered != edge.key && self.nodes.find(&answered).is_some();
        let is_page = matches!(edge.via, Via::Page(_));
        let stale = known || self.record.is_own(&answered);
        if is_page && (stale || document.entries.is_empty() || self.repeats(document)) {
            self.end_pages(frontier, now);
            return None;
        }
        if stale {
            self.skip_document(frontier, now);
            return None;
        }
        let placed = edge.newer.oldest.unwrap_or(now).min(now);
        let dates = span(document, now, Some(placed));
        let entries = u32::try_from(document.entries.len()).unwrap_or(u32::MAX);
        let newer = Newer {
            archive: Some(edge.key.clone()),
            oldest: Some(dates.map_or(placed, |(_, oldest)| oldest)),
            ..edge.newer.clone()
        };
        let next = self.record.link_after(edge).map(|mut next| {
            if is_page {
                next.newer = newer;
            }
            next
        });
        let node = ArchiveNode {
            state: NodeState::Applied,
            url: edge.url.clone(),
            prev: next.as_ref().map(|next| next.key.clone()),
            epoch: edge.epoch,
            depth: edge.depth,
            fetched_at: now,
            document_time: document.head.updated.or(document.head.published),
            entries,
            span: dates,
            fingerprint: fingerprint(document),
        };
        self.record.run.add_archive(entries);
        self.record.archives = self.record.archives.saturating_add(1);
        if let Some((_, oldest)) = dates {
            let before = self.record.reaches.unwrap_or(oldest);
            self.record.reaches = Some(oldest.min(before));
        }
        self.record.close_overruns(document);
        self.keep_node(frontier, node);
        if let Some(next) = next {
            self.record.push(Frontier { edge: next, ..Frontier::default() });
        }
        let position = match edge.via {
            Via::Capture(taken) => {
                Position::Capture { taken: taken_at(taken).map_or(0, |at| at.timestamp()) }
            }
            Via::Link | Via::Page(_) | Via::Listing => {
                let depth = i32::try_from(edge.depth).unwrap_or(i32::MAX).saturating_neg();
                Position::Archive { epoch: edge.epoch, depth }
            }
        };
        Some(Merging {
            placed: Some(placed),
            ..Merging::at(DocumentPlace { position, fetched_at: now })
        })
    }

    /// A document that an adaptor named could not be had. Says whether that is settled here.
    pub(in crate::history) fn adapted_failed(
        &mut self,
        frontier: &Frontier,
        failure: &ArchiveFailure,
        now: DateTime<Utc>,
    ) -> bool {
        let missing = matches!(failure, ArchiveFailure::Status { status: 404 | 410, .. });
        let ends = missing && matches!(frontier.edge.via, Via::Page(_));
        if ends {
            self.end_pages(frontier, now);
        }
        ends
    }

    /// One copy that is not there does not hide the next; a service that is in trouble, or refuses, is left alone.
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
        let is_copy = matches!(frontier.edge.via, Via::Capture(_));
        if gone
            && is_copy
            && let Some(next) = self.record.link_after(&frontier.edge)
            && self.nodes.find(&next.key).is_none()
            && !self.record.gaps.contains_key(&GapKey::archive(&next.key))
        {
            self.record.push(Frontier { edge: next, ..Frontier::default() });
        }
    }

    /// Whether a page holds nothing that the subscription document or another page does not hold.
    fn repeats(&self, document: &FeedDocument) -> bool {
        let print = fingerprint(document);
        let applied = |node: &ArchiveNode| node.state == NodeState::Applied;
        self.record.windows.holds(document)
            || self.nodes.iter().any(|(_, node)| applied(node) && node.fingerprint == print)
    }

    /// There are no more pages.
    fn end_pages(&mut self, frontier: &Frontier, now: DateTime<Utc>) {
        let node = ArchiveNode {
            state: NodeState::Empty,
            url: frontier.edge.url.clone(),
            epoch: frontier.edge.epoch,
            depth: frontier.edge.depth,
            fetched_at: now,
            ..ArchiveNode::default()
        };
        self.keep_node(frontier, node);
        self.drop_unlinked(&frontier.edge);
    }

    /// Nothing is taken from this document; the next one follows.
    fn skip_document(&mut self, frontier: &Frontier, now: DateTime<Utc>) {
        let next = self.record.link_after(&frontier.edge);
        let Some(next) = next else {
            self.end_pages(frontier, now);
            return;
        };
        let node = ArchiveNode {
            state: NodeState::Empty,
            url: frontier.edge.url.clone(),
            prev: Some(next.key.clone()),
            epoch: frontier.edge.epoch,
            depth: frontier.edge.depth,
            fetched_at: now,
            ..ArchiveNode::default()
        };
        self.keep_node(frontier, node);
        self.record.push(Frontier { edge: next, ..Frontier::default() });
    }

    fn keep_node(&mut self, frontier: &Frontier, node: ArchiveNode) {
        let edge = &frontier.edge;
        self.close_gap(frontier);
        self.nodes.insert(edge.key.clone(), node);
        if edge.newer.archive.is_none() && edge.epoch == self.record.epoch {
            self.record.settled = Some(edge.key.clone());
        }
    }
}
