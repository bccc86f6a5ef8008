//! Older pages of a paged feed, loaded one at a time at the user's request (SPEC C.7).
//!
//! Entries move from page to page. Therefore no page is ever recorded as fetched, and the history of a paged feed is never
//! called complete.

use chrono::{DateTime, Utc};

use super::archive_walk::{ArchiveRequest, Arrival};
use super::policy::WalkPolicy;
use crate::history::address::{canonical, refusal, same_origin, without_fragment};
use crate::history::gap::{Edge, Gap, GapKey, Limit, Newer};
use crate::history::merge::{DocumentPlace, Merging, span};
use crate::history::rank::Position;
use crate::history::record::HistoryRecord;

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
            listing: false,
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
