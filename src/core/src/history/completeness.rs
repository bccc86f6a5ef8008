//! Completeness: a history is complete if no gap is known and no doubt remains (SPEC C.8).

use serde::{Deserialize, Serialize};

use super::gap::{Gap, GapKind};
use super::kind::DocumentKind;
use super::record::{HistoryRecord, HistoryStatus};

/// A reason to doubt that a history is complete although no gap is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Doubt {
    /// The subscription document contains a link to a newer document.
    Newer,
    /// The `previous` links led to pages instead of archives.
    Pages,
    /// The address may now redirect to another feed, so its document is not read (SPEC D.3).
    NotRead,
    /// The links between the archives form a loop, so no archive can be recognized as the oldest.
    Circle,
    /// The document was received through a redirect, and it could not be verified that the redirect leads to the same feed
    /// (SPEC D.3).
    Unproven,
}

impl HistoryRecord {
    /// Returns the state of the feed's history: the first matching case of a fixed list. Archives that are still to be
    /// fetched count as missing, and so do dismissed gaps.
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

    /// Records that the address may lead to another feed, so that its document is not read and its current entries are
    /// unknown.
    pub fn not_read(&mut self) {
        self.doubts.insert(Doubt::NotRead);
    }
}

impl Doubt {
    /// Returns the text that describes the doubt in the header line of the entry list.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Newer => "may be incomplete: there is a newer document",
            Self::Pages => "paged: may be incomplete",
            Self::NotRead => "may be incomplete: it may redirect to another feed",
            Self::Circle => "may be incomplete: its archives form a loop",
            Self::Unproven => "may be incomplete: read through an unverified redirect",
        }
    }
}
