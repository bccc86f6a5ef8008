//! Archives that the chain skips because no document of the chain links to them as older. They are found through
//! `next-archive` links and requested once. Their own links are not followed (SPEC C.9).

use chrono::{DateTime, Utc};

use super::archive_walk::ArchiveWalk;
use super::policy::{FRONTIERS_MAX, GAPS_MAX};
use crate::feed::FeedDocument;
use crate::history::address::{canonical, same_origin, without_fragment};
use crate::history::gap::{Edge, Gap, GapKey, Limit, Newer, Reason};
use crate::history::kind::states_missing;
use crate::history::record::Frontier;

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
