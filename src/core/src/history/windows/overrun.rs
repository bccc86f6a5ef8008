//! Overruns: entries that were missed because they entered and left the feed's document between two polls (SPEC C.8.1).

use std::collections::{BTreeMap, BTreeSet};

use super::{times, window_ids};
use crate::feed::FeedDocument;
use crate::history::gap::{Edge, Gap, GapKey, Newer, Reason};
use crate::history::kind::DocumentKind;
use crate::history::merge::{span, window_bottom};
use crate::history::polled::Polled;
use crate::history::record::HistoryRecord;

/// The result of comparing a new document with the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverrunVerdict {
    /// No overrun was detected.
    Fine,
    /// Entries may have been missed, or the server adapted the response to the validators of the request. Poll once more
    /// without validators and without `A-IM`, and compare that response. Until then, no gap is recorded.
    Verify,
    /// Entries may have been missed; a gap was opened.
    Missed(GapKey),
}

impl HistoryRecord {
    /// Compares a subscription document with the last ones, and remembers it. `conditional` must be true if the request had
    /// validators or `A-IM`. Called after [`HistoryRecord::apply_poll`].
    pub fn compare_windows(&mut self, polled: &Polled<'_>, conditional: bool) -> OverrunVerdict {
        let document = polled.document;
        if !polled.whole {
            if conditional && !self.takes_delta(polled) {
                return OverrunVerdict::Verify;
            }
            self.add_delta(polled);
            return OverrunVerdict::Fine;
        }
        if document.entries.is_empty() {
            return OverrunVerdict::Fine;
        }
        let is_overrun = !self.prove().is_elsewhere && self.is_overrun(document);
        if is_overrun && conditional {
            return OverrunVerdict::Verify;
        }
        let missed = is_overrun.then(|| self.hole(polled));
        self.verify_delta(polled);
        if !self.extend_proof(polled)
            && let Some((key, gap)) = missed.clone()
        {
            self.open(key, gap);
        }
        self.windows.remember(document, polled.fetched_at);
        missed.map_or(OverrunVerdict::Fine, |(key, _)| OverrunVerdict::Missed(key))
    }

    /// Handles that the feed is read from another address than before: if the next document shares nothing with the last one,
    /// this is no evidence of an overrun.
    pub fn read_elsewhere(&mut self) {
        self.prove().is_elsewhere = true;
    }

    /// Puts the entries of a delta above those of the last window.
    fn add_delta(&mut self, polled: &Polled<'_>) {
        let last = self.windows.past.last().map_or(&[][..], Vec::as_slice);
        let before = self.proof.as_ref().map_or(&[][..], |proof| &proof.times);
        let mut known: BTreeMap<u64, u32> =
            last.iter().copied().zip(before.iter().copied()).collect();
        known.extend(window_ids(polled.document).into_iter().zip(times(polled.document, true)));
        self.windows.add_delta(polled.document);
        let last = self.windows.past.last().map_or(&[][..], Vec::as_slice);
        let times = last.iter().map(|id| known.get(id).copied().unwrap_or_default()).collect();
        let now = Some(polled.fetched_at);
        let proof = self.prove();
        (proof.times, proof.at, proof.as_of) = (times, now, now);
    }

    /// Checks whether a delta may be used without a plain request: a larger one was verified after a pause as long as this one
    /// (SPEC D.7).
    fn takes_delta(&self, polled: &Polled<'_>) -> bool {
        let Some(proof) = &self.proof else { return false };
        let (entries, pause) = proof.delta;
        polled.document.entries.len() < usize::try_from(entries).unwrap_or(usize::MAX)
            && self.pause_before(polled) <= pause
    }

    fn pause_before(&self, polled: &Polled<'_>) -> i64 {
        let at = self.proof.as_ref().and_then(|proof| proof.at).unwrap_or(polled.fetched_at);
        polled.fetched_at.signed_duration_since(at).num_seconds()
    }

    /// Notes the size of a delta that this document verifies: the window has no more unknown entries than the delta had.
    fn verify_delta(&mut self, polled: &Polled<'_>) {
        let Some(entries) = polled.verifies else { return };
        let before: BTreeSet<u64> =
            self.windows.past.last().into_iter().flatten().copied().collect();
        let unknown = window_ids(polled.document).iter().filter(|id| !before.contains(id)).count();
        let whole = usize::try_from(entries).unwrap_or(usize::MAX) >= unknown;
        if whole && self.adjoins(polled.document) {
            let pause = self.pause_before(polled);
            let delta = &mut self.prove().delta;
            *delta = (delta.0.max(entries), delta.1.max(pause));
        }
    }

    /// Checks whether entries were probably missed since the last document, by the conditions of SPEC C.8.1.
    fn is_overrun(&self, document: &FeedDocument) -> bool {
        let windows = &self.windows;
        let now = window_ids(document);
        let Some(before) = windows.past.last() else { return false };
        // 1 - there are two documents with entries to compare, and the feed is not complete
        let comparable =
            self.kind != DocumentKind::Complete && !now.is_empty() && !before.is_empty();
        // 2 - there is no new archive: what a walk through the archives does not reach has its own gap
        let head = |edge: Option<&Edge>| edge.map(|edge| edge.key.clone());
        let walked = head(self.head.as_ref()) != head(self.former.as_deref());
        // 3 - the documents share only sticky entries
        let sticky = windows.sticky();
        let last: BTreeSet<&u64> = before.iter().collect();
        let apart = now.iter().all(|id| sticky.contains(id) || !last.contains(id));
        // 4 - the document has its usual size (a smaller one was limited by age or for this request), or the feed has
        // archives
        let full = document.entries.len() >= windows.usual() || self.head.is_some();
        // 5 - no entry of the last document is in this document under a new id
        comparable && !walked && apart && full && !windows.has_renamed(document, &sticky)
    }

    /// Returns the gap between the newest known entry and a new document. Its key is the address of the newest archive.
    fn hole(&self, polled: &Polled<'_>) -> (GapKey, Gap) {
        let document = polled.document;
        let dates = span(document, polled.fetched_at, None);
        let (date, id) = self.windows.newest.unwrap_or((polled.fetched_at, 0));
        let window = u32::try_from(document.entries.len()).unwrap_or(u32::MAX);
        let per_day = dates.filter(|(newest, oldest)| newest > oldest).map(|(newest, oldest)| {
            let seconds = newest.signed_duration_since(oldest).num_seconds().max(1);
            // Dates span one interval less than there are entries.
            let intervals = i64::from(window.saturating_sub(1));
            let per_day = intervals.saturating_mul(86_400).saturating_add(seconds - 1);
            u32::try_from(per_day / seconds).unwrap_or(u32::MAX)
        });
        let newer = Newer {
            archive: None,
            url: polled.answered.to_owned(),
            public: polled.public,
            oldest: window_bottom(document, polled.fetched_at),
        };
        let key = self.head.as_ref().map(|head| head.key.clone()).unwrap_or_default();
        let edge = Edge { key, newer, ..Edge::default() };
        let reason = Reason::Overrun { window, per_day };
        let key = GapKey::overrun(id);
        (key, Gap { older: Some(date), ..Gap::new(edge, reason, polled.fetched_at) })
    }
}
