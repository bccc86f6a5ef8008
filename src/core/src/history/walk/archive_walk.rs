//! The walk from archive to archive, newest first (SPEC C.9, C.10).
//!
//! Rule 1: this file does not fetch documents and does not wait. It returns the next request and accepts the result.
//!
//! Rule 2: each result is stored in the record before the next request is returned. A link to be followed is a [`Frontier`],
//! and remains one until its archive has been recorded as a node, or a gap explains why the archive is missing. The record
//! can therefore be dropped and read again between any two steps, and nothing is fetched twice or lost.
//!
//! Archives need not be merged oldest first, because the result of merging does not depend on the order (SPEC C.5). The
//! entries of an archive are written in the same batch as its node.

use chrono::{DateTime, Utc};

use super::adaptor::FoundBy;
use super::policy::{ArchiveFailure, GAPS_MAX, Mode, NODES_MAX, WalkPolicy};
use super::robots::robots_address;
use crate::feed::FeedDocument;
use crate::feed::identity::identity_hash;
use crate::history::address::{canonical, host, refusal, same_origin};
use crate::history::gap::{Edge, GapKey, Limit, Newer};
use crate::history::kept::Position;
use crate::history::kind::{Reached, is_page, older_link, states_missing};
use crate::history::merge::{DocumentPlace, Merging, span, stated_span};
use crate::history::node::{ArchiveNode, NodeState, Nodes, fingerprint};
use crate::history::proof::Doubt;
use crate::history::record::{DayUsage, Frontier, HistoryRecord};

/// A walk through a feed's history: its record, its archives and its limits.
#[derive(Debug)]
pub struct ArchiveWalk<'a> {
    pub record: &'a mut HistoryRecord,
    /// Archives already fetched.
    pub nodes: &'a mut Nodes,
    /// Limits of the walk.
    pub policy: &'a WalkPolicy,
}

/// The next step of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Request this archive without validators and without `A-IM`, at least `archive_spacing` after the last archive
    /// request.
    Fetch(ArchiveRequest),
    /// A request is already in progress; its result must be passed in first.
    Busy,
    /// The walk ends, possibly with a notice for the user.
    Rest(Option<WalkNotice>),
}

/// An archive to request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveRequest {
    /// Address of the archive.
    pub url: String,
    /// Address of the document that contains the link (SPEC D.6, class "supplied").
    pub by: String,
    /// Whether the document that contains the link came from a public address.
    pub by_public: bool,
    /// Whether the archive has another origin than the document that contains the link.
    pub cross_origin: bool,
    /// What is expected there.
    pub content: ArchiveContent,
}

/// What a request of a walk is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ArchiveContent {
    /// A feed document.
    #[default]
    Feed,
    /// The listing of captures.
    Listing,
    /// The robots.txt of the site of a numbered page, which is requested next. Pass it to [`ArchiveWalk::robots_arrived`].
    Robots,
}

/// A notice shown to the user once at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkNotice {
    /// Gaps were closed, and this number of entries was recovered.
    Recovered(u32),
}

impl WalkNotice {
    /// Returns the notice as a message.
    pub fn text(self) -> String {
        let Self::Recovered(entries) = self;
        let noun = if entries == 1 { "entry" } else { "entries" };
        format!("{entries} {noun} recovered")
    }
}

/// An archive that was received.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'d> {
    /// Address from which the archive was received.
    pub url: &'d str,
    /// Whether the address in `url` is public.
    pub public: bool,
    /// Time of the request.
    pub fetched_at: DateTime<Utc>,
    /// Size of the body as transferred, in bytes.
    pub wire_bytes: u64,
    /// The parsed document.
    pub document: &'d FeedDocument,
}

impl ArchiveWalk<'_> {
    /// Returns the next step of the walk. Called after a successful poll of the subscription document, after
    /// [`Self::merged`], after [`Self::failed`] and after a user action, but never while polls of the feed fail.
    pub fn next(&mut self, now: DateTime<Utc>) -> Next {
        if self.record.asking.is_some() {
            return Next::Busy;
        }
        if std::mem::take(&mut self.record.nodes_outdated) {
            self.nodes.clear();
            (self.record.archives, self.record.reaches) = (0, None);
        }
        while let Some(frontier) = self.record.frontiers.last().cloned() {
            if let Some(request) = self.request_or_end(frontier, now) {
                return Next::Fetch(request);
            }
            self.assert_sound();
        }
        self.record.fold(self.nodes);
        let run = &mut self.record.run;
        let recovered = run.recovering.then_some(WalkNotice::Recovered(run.new));
        run.recovering = false;
        Next::Rest(recovered)
    }

    /// Returns the request for the archive of a frontier, or resolves the frontier without a request and returns `None`.
    fn request_or_end(&mut self, frontier: Frontier, now: DateTime<Utc>) -> Option<ArchiveRequest> {
        self.overtake_aside(&frontier.edge);
        if self.record.is_spared(&frontier, self.nodes) {
            self.take_frontier(&frontier.edge.key, true);
            return None;
        }
        let edge = &frontier.edge;
        if let Some(why) = refusal(&edge.url, &edge.newer.url, self.policy.allow_insecure) {
            self.failed_at(frontier, &ArchiveFailure::Blocked(why.to_owned()), now);
        } else if !frontier.again && self.leads_to_known(edge) {
            self.end_at_known(&frontier, now);
        } else if let Some((key, due)) = self.gap_at(&frontier, now) {
            if !due {
                self.end_at_gap(&frontier);
                return None;
            }
            self.take_frontier(&frontier.edge.key, frontier.again);
            self.record.relink(&frontier.edge);
            let mut retried = Frontier { gap: Some(key), ..frontier };
            if (retried.edge.newer.archive.is_none() || retried.edge.side)
                && let Some(gap) = self.record.gaps.get(&key)
            {
                // A gap below an archive in the chain keeps its link even if other documents link to the same missing
                // archive.
                retried.edge = gap.edge.clone();
            }
            self.record.frontiers.push(retried);
        } else if let Some(limit) = self.limit_for(&frontier, now) {
            self.stop_at(frontier, limit, now);
        } else if self.record.adapted.permit(edge.via, &edge.url, now) == Some(false) {
            let why = "the robots.txt of the site does not permit it";
            self.failed_at(frontier, &ArchiveFailure::Blocked(why.to_owned()), now);
        } else {
            return Some(self.request_archive(&frontier, now));
        }
        None
    }

    fn request_archive(&mut self, frontier: &Frontier, now: DateTime<Utc>) -> ArchiveRequest {
        let edge = &frontier.edge;
        self.record.walked = true;
        self.record.asking = Some(edge.key.clone());
        let run = &mut self.record.run;
        run.documents = run.documents.saturating_add(1);
        let number = day_number(now);
        let before = Some(self.record.day).filter(|day| day.number == number);
        let documents = before.unwrap_or_default().documents.saturating_add(1);
        self.record.day = DayUsage { number, documents };
        let content = if self.record.adapted.permit(edge.via, &edge.url, now).is_none() {
            ArchiveContent::Robots
        } else if edge.via == FoundBy::Listing {
            ArchiveContent::Listing
        } else {
            ArchiveContent::Feed
        };
        let is_robots = content == ArchiveContent::Robots;
        ArchiveRequest {
            url: if is_robots {
                robots_address(&edge.url).unwrap_or_default()
            } else {
                edge.url.clone()
            },
            by: edge.newer.url.clone(),
            by_public: edge.newer.public,
            cross_origin: !same_origin(&edge.url, &edge.newer.url),
            content,
        }
    }

    /// Applies a received archive and returns how to merge its entries. Write the entries in one batch with the
    /// [`HistoryRecord`] and the nodes of [`Nodes::take_touched`], then call [`Self::merged`]. If the result is `None`,
    /// nothing is merged, but the record must still be written.
    pub fn arrived(&mut self, arrival: &Arrival<'_>) -> Option<Merging> {
        let frontier = self.take_answered()?;
        let now = arrival.fetched_at;
        let run = &mut self.record.run;
        run.bytes = run.bytes.saturating_add(arrival.wire_bytes);
        if let Some(why) = why_unreadable(arrival.document) {
            self.failed_at(frontier, &ArchiveFailure::Unreadable(why.to_owned()), now);
            self.assert_sound();
            return None;
        }
        if frontier.edge.via != FoundBy::Link {
            let merging = self.keep_adapted(&frontier, arrival);
            self.assert_sound();
            return merging;
        }
        let answered = canonical(arrival.url);
        if self.is_foreign(&frontier.edge, arrival) {
            let why = "it belongs to another feed";
            self.failed_at(frontier, &ArchiveFailure::Unreadable(why.to_owned()), now);
            self.assert_sound();
            return None;
        }
        if self.record.is_own(&answered) {
            self.answered_with_current(frontier, now);
            self.assert_sound();
            return None;
        }
        if answered != frontier.edge.key && !frontier.again && self.nodes.find(&answered).is_some()
        {
            // The archive is already known at another address, so the requested address is recorded as an alias.
            let alias = ArchiveNode {
                state: NodeState::AliasOf(answered),
                url: frontier.edge.url.clone(),
                fetched_at: now,
                ..ArchiveNode::default()
            };
            self.nodes.insert(frontier.edge.key.clone(), alias);
            self.close_gap(&frontier);
            self.end_at_known(&frontier, now);
            self.assert_sound();
            return None;
        }
        let merging = self.keep_archive(&frontier, &answered, arrival);
        self.assert_sound();
        Some(merging)
    }

    /// Records a received archive as a node, and its links as frontiers.
    fn keep_archive(
        &mut self,
        frontier: &Frontier,
        answered: &str,
        arrival: &Arrival<'_>,
    ) -> Merging {
        let (edge, document, now) = (&frontier.edge, arrival.document, arrival.fetched_at);
        let reached = if edge.by_previous { Reached::PreviousLink } else { Reached::ArchiveLink };
        let older = older_link(document, reached);
        // Links of a skipped archive are not followed, so its link to an older archive counts only if that archive is known.
        let here = |key: &String| !edge.side || self.nodes.find(key).is_some();
        let prev = older.map(|(link, _)| canonical(link)).filter(here);
        self.add_alias(&edge.key, answered, arrival);
        self.record.archived = true;
        let (merging, oldest) = self.keep_document(frontier, arrival, prev);
        let newer = Newer {
            archive: Some(edge.key.clone()),
            url: arrival.url.to_owned(),
            public: arrival.public,
            oldest: Some(oldest),
        };
        if edge.side {
            self.drop_unlinked(edge);
            self.note_older_of_skipped(edge, &newer, older, now);
        } else {
            self.follow_link(frontier, &newer, document, reached, now);
        }
        self.look_for_skipped(edge, &newer, document, now);
        merging
    }

    /// Records a received document whose entries are to be merged. Returns how to merge them, and the date below which older
    /// documents are listed.
    pub(super) fn keep_document(
        &mut self,
        frontier: &Frontier,
        arrival: &Arrival<'_>,
        prev: Option<String>,
    ) -> (Merging, DateTime<Utc>) {
        let (edge, document, now) = (&frontier.edge, arrival.document, arrival.fetched_at);
        // Entries without a date are listed together with their document, below the next newer document.
        let placed = edge.newer.oldest.unwrap_or(now).min(now);
        let dates = span(document, now, Some(placed));
        let stated = stated_span(document, now);
        let entries = u32::try_from(document.entries.len()).unwrap_or(u32::MAX);
        let node = ArchiveNode {
            state: NodeState::Applied,
            url: edge.url.clone(),
            prev,
            epoch: edge.epoch,
            depth: edge.depth,
            fetched_at: now,
            document_time: document.head.updated.or(document.head.published),
            entries,
            span: stated,
            fingerprint: fingerprint(document),
            ids: document.entries.iter().map(|entry| identity_hash(&entry.id)).collect(),
            flaw: self.flaw(edge, arrival),
            is_apart: self.record.is_apart(edge, document),
        };
        self.keep_node(frontier, node);
        self.record.run.add_archive(entries);
        if !frontier.again {
            self.record.archives = self.record.archives.saturating_add(1);
        }
        // An entry with a date in the future does not show how far back the history reaches.
        if let Some((_, oldest)) = stated.filter(|(_, oldest)| *oldest < now) {
            self.record.reaches = Some(self.record.reaches.unwrap_or(oldest).min(oldest));
        }
        let unread_above = self.record.unread_above();
        self.record.mend_seam(edge, arrival, self.nodes);
        self.record.close_overruns(document, false);
        let depth = i32::try_from(edge.depth).unwrap_or(i32::MAX).saturating_neg();
        let position = Position::Archive { epoch: edge.epoch, depth };
        let place = DocumentPlace { position, fetched_at: now };
        let oldest = dates.map_or(placed, |(_, oldest)| oldest);
        (Merging { placed: Some(placed), unread_above, ..Merging::at(place) }, oldest)
    }

    /// Stores the node of the archive that a frontier led to, and closes the frontier's gap.
    pub(super) fn keep_node(&mut self, frontier: &Frontier, node: ArchiveNode) {
        let edge = &frontier.edge;
        self.close_gap(frontier);
        self.nodes.insert(edge.key.clone(), node);
        if edge.newer.archive.is_none() && edge.epoch == self.record.epoch {
            self.record.settled = Some(edge.key.clone());
        }
    }

    /// Makes the link from a received archive to the next older one the next frontier.
    fn follow_link(
        &mut self,
        frontier: &Frontier,
        newer: &Newer,
        document: &FeedDocument,
        reached: Reached,
        now: DateTime<Utc>,
    ) {
        let edge = &frontier.edge;
        let Some((link, by_previous)) = older_link(document, reached) else {
            self.nodes.supersede(&edge.key, None);
            self.drop_unlinked(edge);
            return;
        };
        let prev = canonical(link);
        self.nodes.supersede(&edge.key, Some(&prev));
        let stated_missing = states_missing(document, &prev);
        let next = Edge {
            url: crate::history::address::without_fragment(link).to_owned(),
            key: prev,
            newer: newer.clone(),
            epoch: edge.epoch,
            depth: edge.depth.saturating_add(1),
            side: false,
            by_previous,
            stated_missing,
            via: FoundBy::Link,
        };
        let next = Frontier { edge: next, ..Frontier::default() };
        if !self.record.push(next.clone()) {
            self.stop_at(next, Limit::Kept, now);
        }
    }

    /// Records the address that answered as another name of the archive. `self` never names an archive, because some
    /// generators print the same one everywhere (SPEC C.4).
    fn add_alias(&mut self, key: &str, answered: &str, arrival: &Arrival<'_>) {
        if answered == key || self.nodes.find(answered).is_some() {
            return;
        }
        let alias = ArchiveNode {
            state: NodeState::AliasOf(key.to_owned()),
            url: answered.to_owned(),
            fetched_at: arrival.fetched_at,
            ..ArchiveNode::default()
        };
        self.record.gaps.remove(&GapKey::archive(answered));
        self.nodes.insert(answered.to_owned(), alias);
    }

    /// Checks whether a document is not the archive that a link promised: it is no archive, comes from another host and does
    /// not state the ID of the feed at the very address of the link; or after a redirect it states the ID of another feed.
    fn is_foreign(&self, edge: &Edge, arrival: &Arrival<'_>) -> bool {
        let document = arrival.document;
        let by = [&edge.newer.url, &edge.url].map(|url| host(url));
        let elsewhere = by.iter().any(|by| *by != host(arrival.url));
        let redirected = canonical(arrival.url) != edge.key;
        let is_marked = document.history.archive;
        let is_named = self.names_this_feed(document);
        let is_alike = !redirected && self.is_of_feed(document) == Some(true);
        (elsewhere && !is_marked && !is_named && !is_alike)
            || (self.states_other_id(document) && (redirected || !is_marked))
    }

    /// Checks whether a document states an ID that is not the ID of the feed.
    fn states_other_id(&self, document: &FeedDocument) -> bool {
        self.is_of_feed(document) == Some(false) && !self.names_this_feed(document)
    }

    /// Returns whether a document states the ID that the feed states; `None` if one of them states none.
    fn is_of_feed(&self, document: &FeedDocument) -> Option<bool> {
        let known = self.record.proof.as_ref().and_then(|proof| proof.feed)?;
        let stated = document.head.id.as_deref().map(identity_hash)?;
        Some(known == stated)
    }

    /// Checks whether a document names the subscription document as its current document.
    fn names_this_feed(&self, document: &FeedDocument) -> bool {
        document.history.current.as_deref().is_some_and(|it| self.record.is_own(&canonical(it)))
    }

    /// Returns why an archive does not prove that its part of the history is whole.
    fn flaw(&self, edge: &Edge, arrival: &Arrival<'_>) -> Option<Doubt> {
        let document = arrival.document;
        let answered = canonical(arrival.url);
        let own = [answered.as_str(), edge.key.as_str()];
        let next = document.history.next.as_deref().map(canonical);
        if edge.via != FoundBy::Link {
            None
        } else if edge.by_previous && is_page(document, &own) {
            Some(Doubt::Pages)
        } else if next.is_some_and(|next| !own.contains(&next.as_str())) {
            Some(Doubt::MorePages)
        } else {
            self.states_other_id(document).then_some(Doubt::Foreign)
        }
    }

    /// Records that the entries of the last archive were merged; `new` of them were never seen before.
    pub fn merged(&mut self, new: u32) {
        let run = &mut self.record.run;
        run.new = run.new.saturating_add(new);
        run.barren = if new == 0 { run.barren.saturating_add(1) } else { 0 };
    }

    /// Handles a failed archive request.
    pub fn failed(&mut self, failure: &ArchiveFailure, now: DateTime<Utc>) {
        if *failure == ArchiveFailure::Offline {
            self.record.asking = None;
        } else if let Some(frontier) = self.take_answered() {
            if self.record.adapted.permit(frontier.edge.via, &frontier.edge.url, now).is_none() {
                self.robots_failed(frontier, failure, now);
            } else {
                self.failed_at(frontier, failure, now);
            }
            self.assert_sound();
        }
    }

    /// Removes and returns the frontier whose archive was requested; `None` if no response is expected any more.
    pub(in crate::history) fn take_answered(&mut self) -> Option<Frontier> {
        let key = self.record.asking.take()?;
        self.take_frontier(&key, true).or_else(|| self.take_frontier(&key, false))
    }

    pub(in crate::history) fn take_frontier(&mut self, key: &str, again: bool) -> Option<Frontier> {
        let is_it = |next: &Frontier| next.edge.key == key && next.again == again;
        let place = self.record.frontiers.iter().position(is_it)?;
        Some(self.record.frontiers.remove(place))
    }

    /// Returns the limit that prevents the request for the archive of a frontier; `None` if the request is allowed.
    fn limit_for(&self, frontier: &Frontier, now: DateTime<Utc>) -> Option<Limit> {
        let (policy, run) = (self.policy, &self.record.run);
        let today =
            if self.record.day.number == day_number(now) { self.record.day.documents } else { 0 };
        let catch_up = if self.record.walked { policy.catch_up_documents } else { 0 };
        let kept = self.nodes.len() >= NODES_MAX || self.record.gaps.len() >= GAPS_MAX;
        let unasked = !run.consented;
        // The number of captures is limited by their listing, so captures without new entries are no reason to stop.
        let is_listed = matches!(frontier.edge.via, FoundBy::Capture(_));
        let old_form = frontier.edge.by_previous && !self.record.old_form_confirmed;
        [
            (kept && frontier.gap.is_none(), Limit::Kept),
            (today >= policy.day_documents, Limit::Day),
            (unasked && policy.mode == Mode::Off, Limit::Off),
            (unasked && old_form, Limit::OldForm),
            (unasked && policy.mode == Mode::Ask && run.documents >= catch_up, Limit::Consent),
            (run.documents >= policy.run_documents, Limit::Documents),
            (run.entries >= policy.run_entries, Limit::Entries),
            (run.bytes >= policy.run_bytes, Limit::Bytes),
            (
                !run.rereading && !is_listed && run.barren >= policy.barren_documents,
                Limit::NothingNew,
            ),
        ]
        .into_iter()
        .find_map(|(holds, limit)| holds.then_some(limit))
    }

    /// Checks whether a link leads to a known archive or to the subscription document.
    fn leads_to_known(&self, edge: &Edge) -> bool {
        self.record.is_own(&edge.key) || self.nodes.find(&edge.key).is_some()
    }

    pub(in crate::history) fn assert_sound(&self) {
        debug_assert_eq!(self.nodes.check_invariant(self.record), Ok(()));
    }
}

/// Returns the reason why a document cannot be used as an archive; `None` if it can.
fn why_unreadable(document: &FeedDocument) -> Option<&'static str> {
    if !document.kind.is_feed() {
        Some("it is not a feed")
    } else if document.is_truncated() || document.lacks_end() {
        Some("it is cut off")
    } else if document.is_cut_short() {
        Some("it has more than 10 000 entries")
    } else {
        None
    }
}

const fn day_number(now: DateTime<Utc>) -> i64 {
    now.timestamp().div_euclid(86_400)
}
