//! Applies a successful poll of the subscription document to a feed's history, without reading the records of its archives.
//! Called when the response is evaluated. The changed record is written in the same batch as the entries, because the next
//! poll may be a 304 without a document.
//!
//! Also decides whether the document of a poll belongs to the feed, and whether redirects may change the address (SPEC D.3).

use chrono::{DateTime, Utc};

use super::address::{canonical, same_origin, without_fragment};
use super::gap::{Edge, Gap, GapKey, GapState, Newer, Reason};
use super::kind::{
    DocumentKind, Reached, document_kind, names_newer, older_link, same_host, states_missing,
};
use super::merge::{span, window_bottom};
use super::node::Nodes;
use super::proof::{Doubt, HistoryEnd};
use super::record::{Frontier, HistoryRecord};
use super::walk::adaptor::FoundBy;
use super::walk::policy::Mode;
use super::windows::Windows;
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

/// What is known of a feed before a poll.
#[derive(Debug, Clone, Copy)]
pub struct KnownFeed<'f> {
    /// Stored address.
    pub url: &'f str,
    /// Address of the last successful answer; empty if there is none.
    pub answered: &'f str,
    /// ID that the feed states.
    pub id: Option<&'f str>,
    /// Entries of the last documents.
    pub windows: &'f Windows,
    /// Whether a document of the feed was read before.
    pub is_read: bool,
}

/// The redirects that led to a document.
#[derive(Debug, Clone, Copy)]
pub struct Route<'f> {
    /// Address that answered.
    pub answered: &'f str,
    /// Whether there was any redirect.
    pub is_redirected: bool,
    /// Target of the leading permanent redirects, if it is another address than the stored one.
    pub permanent: Option<&'f str>,
}

/// Verdict on a document that was received directly or after redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Belonging {
    /// What to do about the address that the redirects lead to.
    pub moving: RouteMove,
    /// Whether the document may be read.
    pub is_read: bool,
    /// Whether what the document claims about the history counts.
    pub is_proven: bool,
}

/// What to do about the address that redirects lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteMove {
    /// Nothing.
    Stay,
    /// The target of the permanent redirects replaces the stored address.
    Replace,
    /// The target of the permanent redirects is proposed to the user.
    ProposeTarget,
    /// The address that answered is proposed to the user.
    ProposeAnswered,
}

/// Decides what to do with redirects, and whether the document at their end belongs to the feed.
pub fn judge_route(feed: &KnownFeed<'_>, route: &Route<'_>, document: &FeedDocument) -> Belonging {
    let is_near = [feed.url, feed.answered].iter().any(|known| same_host(known, route.answered));
    let holds_something = !document.entries.is_empty() || document.history.complete;
    let shares = feed.windows.shares(document);
    let contradicts = contradicts(feed.id, document.head.id.as_deref(), shares);
    let same_id = !contradicts && feed.id.is_some() && document.head.id.is_some();
    // Until something was read, there is nothing that another feed could spoil.
    let is_new_near = !feed.is_read && is_near;
    let is_known_place = feed.answered == route.answered;
    let is_same =
        holds_something && !contradicts && (same_id || shares || is_known_place || is_new_near);
    let is_empty_near = !holds_something && !contradicts && route.permanent.is_none() && is_near;
    let is_shared = is_same && (shares || is_new_near);
    let is_read = !route.is_redirected
        || !feed.is_read
        || is_same
        || is_empty_near
        || (contradicts && shares);
    let is_proven = !route.is_redirected
        || is_empty_near
        || (is_same && (is_shared || !document.history.complete));
    let moving = match route.permanent {
        Some(_) if is_shared => RouteMove::Replace,
        Some(_) => RouteMove::ProposeTarget,
        None if is_read && (is_proven || is_known_place || !feed.is_read) => RouteMove::Stay,
        None => RouteMove::ProposeAnswered,
    };
    Belonging { moving, is_read, is_proven }
}

/// Checks whether a document states another ID than the feed. With a shared entry, http and https make no difference.
fn contradicts(known: Option<&str>, stated: Option<&str>, shares: bool) -> bool {
    let (Some(known), Some(stated)) = (known, stated) else { return false };
    let plain = |id: &str| id.replacen("https://", "http://", 1);
    known != stated && !(shares && plain(known) == plain(stated))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::feed::Entry;

    fn document(id: Option<&str>, entries: &[&str], complete: bool) -> FeedDocument {
        let entry = |id: &&str| Entry { id: (*id).to_owned(), ..Entry::default() };
        let mut document = FeedDocument {
            entries: entries.iter().map(entry).collect(),
            ..FeedDocument::default()
        };
        document.head.id = id.map(str::to_owned);
        document.history.complete = complete;
        document
    }

    /// Where it leads, whether for good, ID, entries, complete: what happens, is it read, is it proven.
    type Case<'c> = (&'c str, bool, Option<&'c str>, &'c [&'c str], bool, RouteMove, bool, bool);

    #[test]
    fn redirect_needs_a_shared_entry_and_no_other_id() {
        use RouteMove::{ProposeAnswered, ProposeTarget, Replace, Stay};
        let mut windows = Windows::default();
        windows.remember(&document(None, &["1"], false), DateTime::UNIX_EPOCH);
        let (near, far) = ("https://a.example/b", "https://b.example/b");
        let cases: [Case<'_>; 14] = [
            (near, true, Some("i"), &["1"], true, Replace, true, true),
            (near, true, Some("o"), &["9"], true, ProposeTarget, false, false),
            (near, true, Some("o"), &["1"], true, ProposeTarget, true, false),
            (near, true, None, &["9"], true, ProposeTarget, false, false),
            (near, false, None, &["9"], true, ProposeAnswered, false, false),
            (near, false, Some("o"), &["9"], false, ProposeAnswered, false, false),
            (near, false, Some("i"), &["9"], true, ProposeAnswered, true, false),
            (near, false, Some("i"), &["9"], false, Stay, true, true),
            (near, false, None, &["1"], true, Stay, true, true),
            (near, false, None, &[], false, Stay, true, true),
            (far, false, None, &["1"], true, Stay, true, true),
            (far, false, None, &["9"], false, ProposeAnswered, false, false),
            (far, true, Some("i"), &["1"], false, Replace, true, true),
            (far, true, None, &[], false, ProposeTarget, false, false),
        ];
        for case in cases {
            let (answered, for_good, id, entries, complete, moving, is_read, is_proven) = case;
            let feed = KnownFeed {
                url: "https://a.example/a",
                answered: "https://a.example/a",
                id: Some("i"),
                windows: &windows,
                is_read: true,
            };
            let permanent = for_good.then_some(answered);
            let route = Route { answered, is_redirected: true, permanent };
            let found = judge_route(&feed, &route, &document(id, entries, complete));
            assert_eq!(found, Belonging { moving, is_read, is_proven }, "{case:?}");
        }
    }
}
