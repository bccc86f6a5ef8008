//! Applies a successful poll of the subscription document to a feed's history, without reading the records of its archives.
//! Called when the response is evaluated. The changed record is written in the same batch as the entries, because the next
//! poll may be a 304 without a document.

use chrono::{DateTime, Utc};

use super::address::{canonical, same_origin, without_fragment};
use super::gap::{Edge, Gap, GapKey, GapState, Newer, Reason};
use super::kind::{DocumentKind, Reached, document_kind, names_newer, older_link, states_missing};
use super::merge::{span, window_bottom};
use super::node::Nodes;
use super::proof::{Doubt, HistoryEnd};
use super::record::{Frontier, HistoryRecord};
use super::walk::adaptor::FoundBy;
use super::walk::policy::Mode;
use crate::feed::FeedDocument;
use crate::feed::identity::identity_hash;

/// A subscription document that was received and parsed.
#[derive(Debug, Clone, Copy)]
pub struct Polled<'d> {
    /// Address that was requested.
    pub requested: &'d str,
    /// Address that answered.
    pub answered: &'d str,
    /// Whether the address in `answered` is public.
    pub public: bool,
    /// Time of the request.
    pub fetched_at: DateTime<Utc>,
    /// Whether this is the whole document (200) rather than only the new entries (226).
    pub whole: bool,
    /// Whether the document is accepted as this feed's own (SPEC D.3).
    pub proven: bool,
    /// Number of entries of the delta that this document verifies (SPEC D.7).
    pub verifies: Option<u32>,
    /// The parsed document.
    pub document: &'d FeedDocument,
}

impl HistoryRecord {
    /// Updates the record from the history links and marks of a subscription document. Must be called before
    /// [`HistoryRecord::compare_windows`] sees the same document.
    pub fn apply_poll(&mut self, polled: &Polled<'_>) {
        let document = polled.document;
        self.tombstones.add_from(document);
        self.take_own(polled);
        self.former = self.head.clone().map(Box::new);
        let id = document.head.id.as_deref().map(identity_hash);
        let proof = self.prove();
        proof.feed = id.or(proof.feed);
        let dates = span(document, polled.fetched_at, None);
        if polled.whole {
            self.bottom = window_bottom(document, polled.fetched_at);
            self.kind = document_kind(document, Reached::Subscribed, &self.own);
            let is_cut = document.is_cut_short() || document.lacks_end();
            if (!polled.proven || is_cut) && self.kind == DocumentKind::Complete {
                // A document that was not read whole, or through an unverified redirect, must not withdraw entries.
                self.kind = DocumentKind::Plain;
            }
            let links = older_link(document, Reached::Subscribed).is_some();
            let next = document.history.next.as_deref().map(canonical);
            let is_mixed = links && next.is_some_and(|next| !self.is_own(&next));
            for (holds, doubt) in [
                (names_newer(document, &self.own), Doubt::Newer),
                (is_mixed, Doubt::Mixed),
                (is_cut, Doubt::Cut),
            ] {
                self.doubts.remove(&doubt);
                self.doubts.extend(holds.then_some(doubt));
            }
        }
        self.doubts.retain(|doubt| !matches!(doubt, Doubt::NotRead | Doubt::Unproven));
        let claims =
            document.history.complete || older_link(document, Reached::Subscribed).is_some();
        self.doubts.extend((claims && !polled.proven).then_some(Doubt::Unproven));
        self.heard = Some(Newer {
            archive: None,
            url: polled.answered.to_owned(),
            public: polled.public,
            oldest: self.bottom,
        });
        if self.kind == DocumentKind::Complete {
            // A complete feed has no gaps, and nothing else needs to be fetched (SPEC C.6).
            (self.head, self.settled) = (None, None);
            // Archives above a gap lead nowhere without it. If the feed has archives again, they are all fetched again.
            self.nodes_outdated |= self.archives > 0;
            self.frontiers.clear();
            self.gaps.clear();
            let proof = self.prove();
            (proof.parted, proof.flawed) = (None, None);
            proof.end = HistoryEnd::Unknown;
            return;
        }
        match older_link(document, Reached::Subscribed) {
            Some((link, by_previous)) => self.take_head(polled, link, by_previous),
            // A response with only the new entries (226) need not repeat the feed's links.
            None if polled.whole => {
                if let Some(head) = self.head.take() {
                    self.prove().vanished = Some(head);
                }
            }
            None => {}
        }
        let way = self.adapted.way.clone();
        self.adapt(way.as_ref());
        if polled.whole && self.kind == DocumentKind::Paged {
            self.offer_pages(polled, dates.map(|(_, oldest)| oldest));
        } else if polled.whole {
            self.gaps.remove(&GapKey::pages());
        }
    }

    /// Queues the retries that are due after a successful poll (200, 226 or 304). A retry never replaces a poll (SPEC C.8).
    pub fn apply_check(&mut self, mode: Mode, now: DateTime<Utc>) {
        self.begin_run();
        // A failed check is not followed by this call, so the address answered as this feed again.
        self.doubts.remove(&Doubt::NotRead);
        // Only the comparison of windows needs it, and it is not stored.
        self.former = None;
        if mode == Mode::Off {
            return;
        }
        let is_due = |gap: &Gap| {
            gap.is_of_archive()
                && gap.state == GapState::Open
                && gap.retry_at.is_some_and(|at| at <= now)
        };
        let due: Vec<(GapKey, Edge)> = self
            .gaps
            .iter()
            .filter(|(_, gap)| is_due(gap))
            .map(|(key, gap)| (*key, gap.edge.clone()))
            .collect();
        for (key, edge) in due {
            self.retry(key, edge, false);
        }
        self.look_into_seams(now);
    }

    /// Queues the archive of a gap for fetching.
    pub(super) fn retry(&mut self, key: GapKey, edge: Edge, asked: bool) {
        let waits = self.frontiers.iter().any(|next| next.edge.key == edge.key);
        if waits || !self.push(Frontier { edge, gap: Some(key), asked, ..Frontier::default() }) {
            return;
        }
        if let Some(gap) = self.gaps.get_mut(&key) {
            gap.state = GapState::Retrying;
        }
    }

    /// Registers an archive that was read as the subscription document before it was recognized as an archive. The archive
    /// is treated as if it had been requested by a link from the subscription document in walk number `epoch`. Returns
    /// `false` if the archive is already known, a request is pending, or there is no room for it.
    pub fn expect_read(&mut self, nodes: &Nodes, url: &str, epoch: u32, by_previous: bool) -> bool {
        let key = canonical(url);
        if self.asking.is_some() || self.is_own(&key) || nodes.find(&key).is_some() {
            return false;
        }
        let newer = self.heard.clone().unwrap_or_default();
        let url = without_fragment(url).to_owned();
        let edge = Edge { url, key: key.clone(), newer, epoch, by_previous, ..Edge::default() };
        let room = self.push(Frontier { edge, ..Frontier::default() });
        if room {
            self.asking = Some(key);
        }
        room
    }

    /// Sets the addresses of the subscription document: the one requested, the one that answered, and its own `self` link.
    fn take_own(&mut self, polled: &Polled<'_>) {
        let this = polled.document.history.this.as_deref();
        let this = this.filter(|this| same_origin(this, polled.answered));
        let names = [Some(polled.requested), Some(polled.answered), this];
        self.own = names.into_iter().flatten().map(canonical).collect();
        self.own.sort_unstable();
        self.own.dedup();
    }

    /// Applies the link to the newest archive, and queues the archive if it is new.
    fn take_head(&mut self, polled: &Polled<'_>, link: &str, by_previous: bool) {
        self.archived = true;
        let key = canonical(link);
        if self.is_own(&key) {
            // A link that leads to the document itself is ignored (SPEC C.4).
            self.head = None;
            return;
        }
        let known = self.settled.as_deref() == Some(key.as_str())
            || self.gaps.get(&GapKey::archive(&key)).is_some_and(|gap| !gap.is_aside())
            || self.frontiers.iter().any(|next| next.edge.key == key && !next.edge.side);
        let newer = Newer {
            archive: None,
            url: polled.answered.to_owned(),
            public: polled.public,
            oldest: self.bottom,
        };
        let epoch = if known { self.epoch } else { self.epoch.saturating_add(1) };
        let url = without_fragment(link).to_owned();
        let stated_missing = states_missing(polled.document, &key);
        let via = FoundBy::Link;
        let head =
            Edge { url, key, newer, epoch, by_previous, stated_missing, via, ..Edge::default() };
        self.head = Some(head.clone());
        if known {
            self.relink(&head);
            return;
        }
        self.begin_run();
        self.epoch = epoch;
        // Pending links of older subscription documents are dropped: the walk finds their archives again through the new
        // link.
        let asking = self.asking.clone();
        self.frontiers.retain(|next| {
            let old = next.edge.newer.archive.is_none() && next.gap.is_none() && !next.again;
            !old || asking.as_deref() == Some(next.edge.key.as_str())
        });
        let contiguous = self.adjoins(polled.document);
        self.push(Frontier { edge: head, contiguous, ..Frontier::default() });
    }

    /// Adds the gap of a paged feed below all loaded entries (G6). If the gap already exists, its place does not change,
    /// because loading pages moves it.
    fn offer_pages(&mut self, polled: &Polled<'_>, oldest: Option<DateTime<Utc>>) {
        let next = polled.document.history.next.as_deref();
        let next = next.filter(|next| !self.is_own(&canonical(next)));
        let edge = Edge {
            url: next.map(|next| without_fragment(next).to_owned()).unwrap_or_default(),
            key: next.map(canonical).unwrap_or_default(),
            newer: Newer {
                archive: None,
                url: polled.answered.to_owned(),
                public: polled.public,
                oldest,
            },
            ..Edge::default()
        };
        self.pages_from = next.map(|_| edge.clone());
        self.gaps
            .entry(GapKey::pages())
            .or_insert_with(|| Gap::new(edge, Reason::Paged, polled.fetched_at));
    }
}
