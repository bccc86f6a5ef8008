//! Whether entries were missed between two polls because the window moved on (SPEC C.8.1).

use super::{Windows, window_ids};
use crate::feed::FeedDocument;
use crate::history::gap::{Edge, Gap, GapKey, Newer, Reason};
use crate::history::kind::DocumentKind;
use crate::history::merge::{span, window_bottom};
use crate::history::polled::Polled;
use crate::history::record::{Frontier, HistoryRecord};

/// What a new document says of the time since the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverrunVerdict {
    /// Nothing was missed, as far as can be told.
    Fine,
    /// Entries may have been missed. The answer was made for us, perhaps: ask once more without validators and
    /// without `A-IM`, and judge that answer. Nothing is noted until then.
    Verify,
    /// Entries may have been missed; a gap was opened.
    Missed(GapKey),
}

impl HistoryRecord {
    /// Compares a subscription document with the last ones and remembers it. `conditional`: validators or `A-IM`
    /// were sent with its request. Called after [`HistoryRecord::apply_poll`].
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

    /// The reader gave the feed another address: the next document has nothing to be compared with.
    pub fn forget_windows(&mut self) {
        self.windows = Windows::default();
    }

    /// The conditions of SPEC C.8.1.
    fn is_overrun(&self, document: &FeedDocument) -> bool {
        let windows = &self.windows;
        let now = window_ids(document);
        let Some(before) = windows.past.last() else { return false };
        // 1 - two documents to compare, and not the whole feed
        let comparable =
            self.kind != DocumentKind::Complete && !now.is_empty() && !before.is_empty();
        // 2 - no new archive: what a walk does not reach has its own gap
        let walked = self.head.as_ref().map(|head| &head.key) != self.head_before.as_ref();
        // 3 - nothing in common but what always stands there
        let sticky = windows.sticky();
        let apart = now.iter().all(|id| sticky.contains(id) || !before.contains(id));
        // 4 - a full window: one that shrank was cut by age, or for us; what left it would be in an archive
        let full = document.entries.len() >= windows.usual() || self.head.is_some();
        // 5 - also under other ids nothing stands in both
        comparable && !walked && apart && full && !windows.has_renamed(document, &sticky)
    }

    /// The newest archive may have grown at its address, and hold what fell between: it is read again, once for each overrun.
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

    /// What may have been missed between the newest entry known and a document. `newest`: the newest archive of the time
    /// before.
    pub(in crate::history) fn hole(&self, polled: &Polled<'_>, newest: String) -> (GapKey, Gap) {
        let document = polled.document;
        let dates = span(document, polled.fetched_at, None);
        let (date, id) = self.windows.newest.unwrap_or((polled.fetched_at, 0));
        let window = u32::try_from(document.entries.len()).unwrap_or(u32::MAX);
        let per_day = dates.filter(|(newest, oldest)| newest > oldest).map(|(newest, oldest)| {
            let seconds = newest.signed_duration_since(oldest).num_seconds().max(1);
            let per_day = i64::from(window).saturating_mul(86_400).saturating_add(seconds - 1);
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
