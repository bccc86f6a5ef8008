//! Overruns: entries that were missed because they entered and left the feed's document between two polls (SPEC C.8.1).

use super::{Windows, window_ids};
use crate::feed::FeedDocument;
use crate::history::gap::{Edge, Gap, GapKey, Newer, Reason};
use crate::history::kind::DocumentKind;
use crate::history::merge::{span, window_bottom};
use crate::history::polled::Polled;
use crate::history::record::{Frontier, HistoryRecord};

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
            self.windows.add_delta(document);
            return OverrunVerdict::Fine;
        }
        if !self.is_overrun(document) {
            self.windows.remember(document, polled.fetched_at);
            return OverrunVerdict::Fine;
        }
        if conditional {
            return OverrunVerdict::Verify;
        }
        let key = self.open_overrun(polled);
        self.windows.remember(document, polled.fetched_at);
        OverrunVerdict::Missed(key)
    }

    /// Forgets the contents of all earlier documents. Called when the feed is read from another address than before, because
    /// the next document cannot be compared with them.
    pub fn forget_windows(&mut self) {
        self.windows = Windows::default();
    }

    /// Checks whether entries were probably missed since the last document, by the conditions of SPEC C.8.1.
    fn is_overrun(&self, document: &FeedDocument) -> bool {
        let windows = &self.windows;
        let now = window_ids(document);
        let Some(before) = windows.past.last() else { return false };
        // 1 - there are two documents with entries to compare, and the feed is not complete
        let comparable =
            self.kind != DocumentKind::Complete && !now.is_empty() && !before.is_empty();
        // 2 - there is no new archive: entries that a walk through the archives does not reach have their own gap
        let walked = self.head.as_ref().map(|head| &head.key) != self.head_before.as_ref();
        // 3 - the documents share only sticky entries
        let sticky = windows.sticky();
        let apart = now.iter().all(|id| sticky.contains(id) || !before.contains(id));
        // 4 - the document has its usual size (a smaller one was limited by age or for this request), or the feed has
        // archives
        let full = document.entries.len() >= windows.usual() || self.head.is_some();
        // 5 - no entry of the last document is in this document under a new id
        comparable && !walked && apart && full && !windows.has_renamed(document, &sticky)
    }

    /// Queues the newest archive to be fetched again, once for each overrun. The publisher may have added the missed entries
    /// to it since it was fetched.
    fn look_into_newest_archive(&mut self) {
        let here = self.head.clone().filter(|head| self.settled.as_ref() == Some(&head.key));
        if let Some(edge) = here {
            self.begin_run();
            self.push(Frontier { edge, again: true, ..Frontier::default() });
        }
    }

    fn open_overrun(&mut self, polled: &Polled<'_>) -> GapKey {
        let newest = self.head.as_ref().map(|head| head.key.clone()).unwrap_or_default();
        let (key, gap) = self.hole(polled, newest);
        self.open(key, gap);
        self.look_into_newest_archive();
        key
    }

    /// Returns the gap between the newest known entry and a new document. `newest` is the canonical address of the newest
    /// archive before the overrun.
    pub(in crate::history) fn hole(&self, polled: &Polled<'_>, newest: String) -> (GapKey, Gap) {
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
        let edge = Edge { key: newest, newer, ..Edge::default() };
        let reason = Reason::Overrun { window, per_day };
        let key = GapKey::overrun(id);
        (key, Gap { older: Some(date), ..Gap::new(edge, reason, polled.fetched_at) })
    }
}
