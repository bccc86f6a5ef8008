//! Copies of a feed's history that another reader published (SPEC C.11). A copy is walked with a record of its own, so that nothing in
//! it can prove that the history of the feed is complete, fill a gap, or change anything else. Only its entries are taken.

use chrono::{DateTime, Utc};

use super::archive_walk::{ArchiveRequest, ArchiveWalk, Arrival, Next};
use super::policy::{ArchiveFailure, WalkPolicy};
use crate::feed::FeedDocument;
use crate::feed::document::HistoryLinks;
use crate::feed::hints::Hints;
use crate::feed::identity::identity_hash;
use crate::history::address::{canonical, host, same_origin};
use crate::history::gap::{Edge, Gap, GapKind, Newer};
use crate::history::kept::Position;
use crate::history::merge::Merging;
use crate::history::node::Nodes;
use crate::history::record::{CopyWalk, Frontier, HistoryRecord};

/// Maximum number of copies of one feed.
pub const COPIES_MAX: usize = 8;

impl CopyWalk {
    /// Creates a walk that begins at the newest document.
    pub fn new(url: &str) -> Self {
        // The address was typed. Like a document that was typed, a copy in the reader's own network leads only to its own host.
        let newer = Newer { url: url.to_owned(), ..Newer::default() };
        let edge = Edge { url: url.to_owned(), key: canonical(url), newer, ..Edge::default() };
        let mut record = HistoryRecord::default();
        record.run.consented = true;
        record.push(Frontier { edge, ..Frontier::default() });
        Self { url: url.to_owned(), record, ..Self::default() }
    }

    /// Names the copy, for sentences.
    pub fn name(&self) -> String {
        format!("{}'s copy", host(&self.url).unwrap_or_default())
    }

    /// Continues the walk at the user's request. A walk that ended begins again, because the copy may have grown.
    pub fn go_on(&mut self) {
        if self.is_paused() {
            self.record.go_on_everywhere(&self.nodes);
        } else {
            *self = Self { brought: std::mem::take(&mut self.brought), ..Self::new(&self.url) };
        }
    }

    /// Checks whether a limit, the user or the end of the program stopped the walk.
    fn is_paused(&self) -> bool {
        let is_limit = |gap: &Gap| gap.kind() == GapKind::Limit;
        self.record.has_work() || self.record.gaps.values().any(is_limit)
    }

    /// Returns the next request. All documents of a copy come from the origin of its address.
    pub fn next(&mut self, policy: &WalkPolicy, now: DateTime<Utc>) -> Option<ArchiveRequest> {
        loop {
            let mut walk = self.walk(policy);
            let Next::Fetch(request) = walk.next(now) else {
                if !self.is_paused() {
                    // Nothing needs them any more, and the record is written at each poll.
                    self.nodes = Nodes::default();
                }
                return None;
            };
            if same_origin(&request.url, &self.url) {
                return Some(request);
            }
            self.walk(policy).failed(&elsewhere(), now);
        }
    }

    /// Applies a received document, of which only the entries are left ([`entries_only`]). `feed` is the record of the feed itself:
    /// the newest document must be of this feed. Returns how to merge the entries.
    pub fn arrived(
        &mut self,
        feed: &HistoryRecord,
        (arrival, names_feed): (&Arrival<'_>, bool),
        policy: &WalkPolicy,
    ) -> Option<Merging> {
        let now = arrival.fetched_at;
        if !same_origin(arrival.url, &self.url) {
            self.walk(policy).failed(&elsewhere(), now);
            return None;
        }
        if self.nodes.is_empty() && !names_feed && !shares_entry(feed, arrival.document) {
            let why = "it neither names this feed nor has one of its entries";
            self.walk(policy).failed(&ArchiveFailure::Unreadable(why.to_owned()), now);
            return None;
        }
        let mut merging = self.walk(policy).arrived(arrival)?;
        merging.place.position = Position::Copy;
        merging.unread_above = None;
        self.nodes.drop_ids();
        Some(merging)
    }

    /// Handles a failed request.
    pub fn failed(&mut self, failure: &ArchiveFailure, policy: &WalkPolicy, now: DateTime<Utc>) {
        self.walk(policy).failed(failure, now);
    }

    /// Records that the entries of a document were merged; those with these numbers are new.
    pub fn merged(&mut self, new: std::ops::Range<u32>, policy: &WalkPolicy) {
        let count = new.end.saturating_sub(new.start);
        self.walk(policy).merged(count);
        match self.brought.last_mut().filter(|(_, last)| last.saturating_add(1) == new.start) {
            _ if count == 0 => {}
            Some((_, last)) => *last = new.end.saturating_sub(1),
            None => self.brought.push((new.start, new.end.saturating_sub(1))),
        }
    }

    /// Returns the numbers of the entries that came from the copy.
    pub fn entries(&self) -> Vec<u32> {
        self.brought.iter().flat_map(|&(first, last)| first..=last).collect()
    }

    fn walk<'a>(&'a mut self, policy: &'a WalkPolicy) -> ArchiveWalk<'a> {
        ArchiveWalk { record: &mut self.record, nodes: &mut self.nodes, policy }
    }
}

fn elsewhere() -> ArchiveFailure {
    ArchiveFailure::Blocked("it is at another host than the copy".to_owned())
}

/// Checks whether a document has an entry that the last documents of the feed had. If none is known, every document may.
fn shares_entry(feed: &HistoryRecord, document: &FeedDocument) -> bool {
    let past = &feed.windows.past;
    let is_known = |id: u64| past.iter().flatten().any(|known| *known == id);
    past.iter().all(Vec::is_empty)
        || document.entries.iter().any(|entry| is_known(identity_hash(&entry.id)))
}

/// Leaves only the entries of a document of a copy, and its link to the next one: a copy states nothing about the feed. Returns
/// whether the document says that it is of the feed with this record.
pub fn entries_only(document: &mut FeedDocument, feed: &HistoryRecord) -> bool {
    let states = |link: &&crate::feed::document::Link| link.rel == "via";
    let mut sources = document.links.iter().filter(states);
    let names = sources.any(|link| feed.is_own(&canonical(&link.href)));
    let id = document.head.id.as_deref().map(identity_hash);
    let is_same = id.is_some() && feed.proof.as_ref().is_some_and(|proof| proof.feed == id);
    let links = std::mem::take(&mut document.history);
    document.history = HistoryLinks {
        archive: links.archive,
        prev_archive: links.prev_archive,
        ..HistoryLinks::default()
    };
    document.tombstones.clear();
    document.hints = Hints::default();
    document.head.updated = None;
    document.head.published = None;
    names || is_same
}
