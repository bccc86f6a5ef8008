//! The part of an archive walk that handles what is no chain of archives: documents supplied by an adaptor (numbered pages,
//! listings of captures, captures), and older pages of a paged feed, loaded one at a time at the user's request (SPEC C.7).
//!
//! Entries move from page to page. Therefore no page is ever recorded as fetched, and the history of a paged feed is never called
//! complete.

use chrono::{DateTime, Utc};
use url::Url;

use super::adaptor::{ActiveAdaptor, Adapted, Adaptor, FoundBy, taken_at};
use super::archive_walk::{ArchiveContent, ArchiveRequest, ArchiveWalk, Arrival};
use super::policy::{ArchiveFailure, WalkPolicy};
use super::robots::Robots;
use crate::feed::FeedDocument;
use crate::history::address::{canonical, is_nearby, refusal, same_origin, without_fragment};
use crate::history::gap::{Edge, Gap, GapKey, GapKind, Limit, Newer};
use crate::history::kept::Position;
use crate::history::kind::DocumentKind;
use crate::history::merge::{DocumentPlace, Merging, span};
use crate::history::node::{ArchiveNode, NodeState, fingerprint};
use crate::history::record::{Frontier, HistoryRecord};

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

    /// Applies the text of a received robots.txt. The page that it was requested for is next.
    pub fn robots_arrived(&mut self, text: &str, now: DateTime<Utc>) {
        let asking = self.record.asking.take();
        let wanted =
            self.record.frontiers.iter().find(|next| Some(&next.edge.key) == asking.as_ref());
        let Some(address) = wanted.map(|wanted| wanted.edge.url.clone()) else { return };
        self.record.adapted.robots = Some(Robots::read(text, &address, now));
    }

    /// Handles a robots.txt that was not received (RFC 9309 section 2.3.1): if there is none, everything is permitted, and if the
    /// server fails, nothing is.
    pub(super) fn robots_failed(
        &mut self,
        frontier: Frontier,
        failure: &ArchiveFailure,
        now: DateTime<Utc>,
    ) {
        match failure {
            ArchiveFailure::Status { status: 429, .. } => self.failed_at(frontier, failure, now),
            ArchiveFailure::Status { status: 400..500, .. } => {
                self.record.adapted.robots = Some(Robots::read("", &frontier.edge.url, now));
                self.record.frontiers.push(frontier);
            }
            ArchiveFailure::Status { .. }
            | ArchiveFailure::Unanswered(_)
            | ArchiveFailure::Blocked(_)
            | ArchiveFailure::TooLarge(_)
            | ArchiveFailure::Unreadable(_)
            | ArchiveFailure::Offline => {
                let why = format!("its robots.txt is needed first, and {failure}");
                self.failed_at(frontier, &ArchiveFailure::Unanswered(why), now);
            }
        }
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

impl ActiveAdaptor {
    /// Returns the document that counts as the origin of the adaptor's links: it decides which addresses may be requested
    /// (SPEC D.6).
    fn speaker(&self, heard: &Newer) -> Newer {
        match self.adaptor {
            Adaptor::WordPress => heard.clone(),
            Adaptor::InternetArchive => Newer {
                url: format!("{}/", self.base),
                public: !Url::parse(&self.base).is_ok_and(|base| is_nearby(&base)),
                ..heard.clone()
            },
        }
    }
}

impl HistoryRecord {
    /// Enables an adaptor for the feed or removes the current one. After the removal, nothing more is requested through the
    /// adaptor. Called after every successful poll of the subscription document and when the user changes the setting.
    pub fn adapt(&mut self, way: Option<&ActiveAdaptor>) {
        if self.adapted.way.as_ref() != way {
            self.forget_adaptor();
            self.adapted = Adapted { way: way.cloned(), ..Adapted::default() };
        }
        let Some(way) = way else { return };
        // If the publisher offers archives, they are used instead of the adaptor.
        let offered = self.head.as_ref().is_some_and(|head| head.via == FoundBy::Link);
        if offered || self.kind == DocumentKind::Complete {
            return;
        }
        let heard =
            Newer { url: way.url.clone(), public: true, oldest: self.bottom, archive: None };
        let heard = self.heard.clone().unwrap_or(heard);
        let url = way.address(way.first());
        let edge = Edge {
            key: canonical(&url),
            url,
            newer: way.speaker(&heard),
            epoch: self.epoch,
            via: way.first(),
            ..Edge::default()
        };
        self.begin_at(edge);
    }

    fn begin_at(&mut self, mut edge: Edge) {
        let known = self.settled.as_ref() == Some(&edge.key)
            || self.frontiers.iter().any(|next| next.edge.key == edge.key)
            || self.gaps.contains_key(&GapKey::archive(&edge.key));
        if !known {
            self.begin_run();
            self.epoch = self.epoch.saturating_add(1);
            edge.epoch = self.epoch;
            self.push(Frontier { edge: edge.clone(), ..Frontier::default() });
        }
        self.head = Some(edge);
    }

    fn forget_adaptor(&mut self) {
        let adapted = |edge: &Edge| edge.via != FoundBy::Link;
        self.frontiers.retain(|next| !adapted(&next.edge));
        self.gaps.retain(|_, gap| gap.kind() == GapKind::Paged || !adapted(&gap.edge));
        if self.head.as_ref().is_some_and(adapted) {
            (self.head, self.settled) = (None, None);
        }
        self.asking = None;
    }

    /// Returns a link to the document that the adaptor requests after the one at `edge`; `None` if there is no further
    /// document.
    pub(in crate::history) fn link_after(&self, edge: &Edge) -> Option<Edge> {
        let way = self.adapted.way.as_ref()?;
        let captures = &self.adapted.captures;
        let via = match edge.via {
            FoundBy::Link => return None,
            FoundBy::Page(number) => FoundBy::Page(number.saturating_add(1)),
            FoundBy::Listing => FoundBy::Capture(*captures.first()?),
            FoundBy::Capture(taken) => {
                let place = captures.partition_point(|capture| *capture <= taken);
                FoundBy::Capture(*captures.get(place)?)
            }
        };
        let oldest = match via {
            // The missing entries were published before this capture was made.
            FoundBy::Capture(taken) => taken_at(taken),
            FoundBy::Link | FoundBy::Page(_) | FoundBy::Listing => edge.newer.oldest,
        };
        let url = way.address(via);
        Some(Edge {
            key: canonical(&url),
            url,
            newer: Newer { archive: Some(edge.key.clone()), oldest, ..edge.newer.clone() },
            depth: edge.depth.saturating_add(1),
            via,
            ..edge.clone()
        })
    }

    /// Returns the adaptor that supplies this feed's history, if one is enabled and the publisher offers no history.
    pub fn adaptor(&self) -> Option<Adaptor> {
        let offered = self.head.as_ref().is_some_and(|head| head.via == FoundBy::Link);
        let way = self.adapted.way.as_ref()?;
        (!offered && !self.archived && self.kind != DocumentKind::Complete).then_some(way.adaptor)
    }
}

/// The result of receiving a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTaken {
    /// How to merge the page's entries; `None` if the page is not a feed.
    pub merging: Option<Merging>,
    /// Whether there is another page to request.
    pub more: bool,
}

impl HistoryRecord {
    /// Returns the request for the next older page; `None` if there is none. The error is the limit that prevents the
    /// request. Called when the user asks for older entries.
    pub fn next_page(&mut self, policy: &WalkPolicy) -> Result<Option<ArchiveRequest>, Limit> {
        let Some(gap) = self.gaps.get(&GapKey::pages()) else { return Ok(None) };
        let edge = gap.edge.clone();
        let refused = refusal(&edge.url, &edge.newer.url, policy.allow_insecure).is_some();
        if edge.url.is_empty() || refused || self.pages_seen.contains(&edge.key) {
            return Ok(None);
        }
        if self.pages_seen.len() >= usize::try_from(policy.run_documents).unwrap_or(usize::MAX) {
            return Err(Limit::Documents);
        }
        self.pages_seen.push(edge.key.clone());
        Ok(Some(ArchiveRequest {
            cross_origin: !same_origin(&edge.url, &edge.newer.url),
            url: edge.url,
            by: edge.newer.url,
            by_public: edge.newer.public,
            content: ArchiveContent::Feed,
        }))
    }

    /// Starts a new run of loading pages. Pages that were fetched before may be requested again, because entries move from
    /// page to page. If the last page was reached, the run starts again at the page that the subscription document links to.
    pub fn begin_paging(&mut self) {
        self.pages_seen.clear();
        if let (Some(gap), Some(from)) = (self.gaps.get_mut(&GapKey::pages()), &self.pages_from)
            && gap.edge.url.is_empty()
        {
            gap.edge = Edge { newer: gap.edge.newer.clone(), ..from.clone() };
        }
    }

    /// Applies a received page.
    pub fn page_arrived(&mut self, arrival: &Arrival<'_>) -> PageTaken {
        let (document, now) = (arrival.document, arrival.fetched_at);
        let none = PageTaken { merging: None, more: false };
        let Some(gap) = self.gaps.get(&GapKey::pages()).cloned() else { return none };
        if !document.kind.is_feed() || document.is_truncated() {
            return none;
        }
        let placed = gap.edge.newer.oldest.unwrap_or(now).min(now);
        let oldest = span(document, now, Some(placed)).map_or(placed, |(_, oldest)| oldest);
        let next = document.history.next.as_deref().filter(|next| {
            let key = canonical(next);
            !self.pages_seen.contains(&key) && !self.is_own(&key)
        });
        let more = next.is_some();
        let edge = Edge {
            url: next.map(|next| without_fragment(next).to_owned()).unwrap_or_default(),
            key: next.map(canonical).unwrap_or_default(),
            newer: Newer {
                archive: None,
                url: arrival.url.to_owned(),
                public: arrival.public,
                oldest: Some(oldest.min(placed)),
            },
            ..Edge::default()
        };
        self.gaps.insert(GapKey::pages(), Gap { edge, last_try: Some(now), ..gap });
        self.close_overruns(document, true);
        let place = DocumentPlace { position: Position::Page, fetched_at: now };
        PageTaken { merging: Some(Merging { placed: Some(placed), ..Merging::at(place) }), more }
    }

    /// Records that a page was merged; `new` of its entries were never seen before. Returns whether the next page should be
    /// requested. A page without new entries ends the run.
    pub fn page_merged(&mut self, new: u32, more: bool) -> bool {
        if new == 0 {
            self.end_pages();
        }
        more && new > 0
    }

    /// Ends paging because there are no further new entries. The gap of the paged feed remains, without an address.
    fn end_pages(&mut self) {
        if let Some(gap) = self.gaps.get_mut(&GapKey::pages()) {
            (gap.edge.url, gap.edge.key) = (String::new(), String::new());
        }
    }

    /// Handles a failed page request. The page may be requested again.
    pub fn page_failed(&mut self, now: DateTime<Utc>) {
        self.pages_seen.pop();
        if let Some(gap) = self.gaps.get_mut(&GapKey::pages()) {
            gap.last_try = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::walk::adaptor::INTERNET_ARCHIVE;

    fn way(adaptor: Adaptor) -> ActiveAdaptor {
        let url = "https://a.example/feed?x=1".to_owned();
        ActiveAdaptor { adaptor, base: INTERNET_ARCHIVE.to_owned(), url }
    }

    #[test]
    fn adaptor_starts_once_and_leaves_nothing_when_removed() {
        let mut record = HistoryRecord::default();
        record.adapt(Some(&way(Adaptor::WordPress)));
        record.adapt(Some(&way(Adaptor::WordPress)));
        assert_eq!(record.frontiers.len(), 1);
        assert_eq!(record.adaptor(), Some(Adaptor::WordPress));
        record.adapt(Some(&way(Adaptor::InternetArchive)));
        assert_eq!(record.frontiers.len(), 1);
        assert_eq!(record.frontiers[0].edge.via, FoundBy::Listing);
        record.adapt(None);
        assert_eq!((record.frontiers.len(), &record.head, record.adaptor()), (0, &None, None));
    }

    #[test]
    fn publisher_archives_take_precedence() {
        let offered = Edge { key: "https://a.example/1".into(), ..Edge::default() };
        let mut record = HistoryRecord { head: Some(offered.clone()), ..HistoryRecord::default() };
        record.adapt(Some(&way(Adaptor::WordPress)));
        assert_eq!((&record.head, record.frontiers.len()), (&Some(offered), 0));
        let mut whole = HistoryRecord { kind: DocumentKind::Complete, ..HistoryRecord::default() };
        whole.adapt(Some(&way(Adaptor::InternetArchive)));
        assert!(!whole.has_work());
    }
}
