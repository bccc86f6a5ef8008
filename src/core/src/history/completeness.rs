//! When a history is called complete: nothing is known to be missing, and nothing speaks against it (SPEC C.8).

use serde::{Deserialize, Serialize};

use super::gap::{Gap, GapKind};
use super::kind::DocumentKind;
use super::record::{HistoryRecord, HistoryStatus};

/// What speaks against a complete history although nothing is known to be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Doubt {
    /// The document that is subscribed to says itself that there is a newer one.
    Newer,
    /// Links by `previous` led to pages, not to archives.
    Pages,
    /// The address leads to what may be another feed, which is not read (SPEC D.3).
    NotRead,
    /// The archives link in a circle: the oldest one does not say that it is.
    Circle,
    /// What was read came through a redirect that nothing proves to lead to the same feed (SPEC D.3).
    Unproven,
}

impl HistoryRecord {
    /// The state of the feed's history: the first case that holds. What is still to be fetched counts as missing, and so does
    /// what the reader chose not to see.
    pub fn status(&self) -> HistoryStatus {
        let (missing, adaptor) = (self.missing(), self.adaptor());
        let doubts = |doubt| self.doubts.contains(&doubt);
        let offered = self.archived
            || matches!(self.kind, DocumentKind::Archived | DocumentKind::ArchivedByPrevious);
        let tried = |gap: &&Gap| gap.counts() && gap.kind() != GapKind::Limit;
        let gaps = self.gaps.values().filter(tried).count();
        let loops = self.gaps.values().any(|gap| gap.kind() == GapKind::Loop);
        let partial = HistoryStatus::Partial { archives: self.archives, gaps };
        let by_adaptor = adaptor.map(|adaptor| HistoryStatus::Adapted(adaptor, missing));
        let is_complete = self.kind == DocumentKind::Complete;
        let doubtful = |holds, doubt| (holds, HistoryStatus::Doubtful(doubt, missing));
        let cases = [
            (adaptor.is_some(), by_adaptor.unwrap_or(partial)),
            (self.kind == DocumentKind::Archive, HistoryStatus::OnlyAnArchive),
            (is_complete && !doubts(Doubt::NotRead), HistoryStatus::Complete),
            (
                self.kind == DocumentKind::Paged && !offered && !doubts(Doubt::Newer),
                HistoryStatus::Paged,
            ),
            (
                self.kind == DocumentKind::Plain && !offered && !doubts(Doubt::Unproven),
                HistoryStatus::NotOffered,
            ),
            (self.is_to_go_on(), partial),
            doubtful(doubts(Doubt::NotRead), Doubt::NotRead),
            doubtful(doubts(Doubt::Unproven), Doubt::Unproven),
            doubtful(doubts(Doubt::Newer), Doubt::Newer),
            (doubts(Doubt::Pages) && missing == 0, HistoryStatus::Paged),
            doubtful(doubts(Doubt::Pages), Doubt::Pages),
            doubtful(loops, Doubt::Circle),
            (missing > 0, HistoryStatus::CompleteExcept(missing)),
        ];
        let first = cases.into_iter().find_map(|(holds, status)| holds.then_some(status));
        first.unwrap_or(HistoryStatus::Complete)
    }

    /// The address leads to what may be another feed: what is published now is not known.
    pub fn not_read(&mut self) {
        self.doubts.insert(Doubt::NotRead);
    }
}

impl Doubt {
    /// What it says of the history.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Newer => "may be incomplete: there is a newer document",
            Self::Pages => "paged: may be incomplete",
            Self::NotRead => "may be incomplete: where its address leads is not read",
            Self::Circle => "may be incomplete: its archives link in a circle",
            Self::Unproven => "may be incomplete: read through an unproven redirect",
        }
    }
}
