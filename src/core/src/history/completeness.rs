//! Completeness: a history is complete only by a proof, that is, if every seam of SPEC C.8 is closed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::gap::{Gap, GapKind};
use super::kind::DocumentKind;
use super::record::{HistoryRecord, HistoryStatus};

/// A seam that is open, so that nothing proves that a history is complete.
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
    /// The subscription document has a link to archives and further pages, which are not read.
    Mixed,
    /// The subscription document was not read whole.
    Cut,
    /// An archive has further pages, which are not read.
    MorePages,
    /// An archive states the ID of another feed.
    Foreign,
    /// No document shows what was published between the last two windows.
    Parted,
    /// No archive is known to be the oldest.
    NoEnd,
}

/// The proof of a complete history. Only [`HistoryRecord::status`] can create it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proved {
    /// Time of the last check that the proof covers; `None` if the history was complete before proofs were kept.
    as_of: Option<DateTime<Utc>>,
}

impl Proved {
    pub const fn as_of(self) -> Option<DateTime<Utc>> {
        self.as_of
    }
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
        let partial = HistoryStatus::Partial { archives: self.archives, gaps };
        let by_adaptor = adaptor.map(|adaptor| HistoryStatus::Adapted(adaptor, missing));
        let proved = Proved { as_of: self.proof.as_ref().and_then(|proof| proof.as_of) };
        let is_complete = self.kind == DocumentKind::Complete;
        let doubtful = |doubt| HistoryStatus::Doubtful(doubt, missing);
        let cases = [
            (adaptor.is_some(), by_adaptor.unwrap_or(partial)),
            (self.kind == DocumentKind::Archive, HistoryStatus::OnlyAnArchive),
            (is_complete && !doubts(Doubt::NotRead), HistoryStatus::Complete(proved)),
            (
                self.kind == DocumentKind::Paged && !offered && !doubts(Doubt::Newer),
                HistoryStatus::Paged,
            ),
            (
                self.kind == DocumentKind::Plain && !offered && !doubts(Doubt::Unproven),
                HistoryStatus::NotOffered,
            ),
            (self.is_to_go_on(), partial),
            (doubts(Doubt::Pages) && missing == 0, HistoryStatus::Paged),
        ];
        let first = cases.into_iter().find_map(|(holds, status)| holds.then_some(status));
        first.unwrap_or_else(|| match self.open_seam() {
            Some(doubt) => doubtful(doubt),
            None if missing > 0 => HistoryStatus::CompleteExcept(missing),
            None => HistoryStatus::Complete(proved),
        })
    }

    /// Returns the first seam that is open and that no gap shows; `None` if there is none.
    fn open_seam(&self) -> Option<Doubt> {
        let has = |kind| self.gaps.values().any(|gap: &Gap| gap.kind() == kind);
        let is_broken = self.gaps.values().any(Gap::is_of_archive);
        let loops = has(GapKind::Loop).then_some(Doubt::Circle);
        let unshown = |doubt: &Doubt| {
            (*doubt != Doubt::Parted || !has(GapKind::Overrun))
                && (*doubt != Doubt::NoEnd || !is_broken)
        };
        let stated = Doubt::IN_ORDER.into_iter().filter(|doubt| self.doubts.contains(doubt));
        stated.chain(loops).chain(self.unproved()).find(unshown)
    }

    /// Records that the address may lead to another feed, so that its document is not read and its current entries are
    /// unknown.
    pub fn not_read(&mut self) {
        self.doubts.insert(Doubt::NotRead);
    }

    /// Records that the current document cannot be read, so that only the document that names it is read.
    pub fn current_not_read(&mut self) {
        self.doubts.insert(Doubt::Newer);
    }
}

impl Doubt {
    /// The seams that documents and archives open, in the order in which the header names them.
    const IN_ORDER: [Self; 8] = [
        Self::NotRead,
        Self::Unproven,
        Self::Newer,
        Self::Mixed,
        Self::Cut,
        Self::Pages,
        Self::MorePages,
        Self::Foreign,
    ];

    /// Checks whether an archive opens the seam, so that it stays open until that archive is read again.
    pub(super) const fn is_of_archive(self) -> bool {
        matches!(self, Self::Pages | Self::MorePages | Self::Foreign)
    }

    /// Returns the text that describes the doubt in the header line of the entry list.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Newer => "may be incomplete: there is a newer document",
            Self::Pages => "paged: may be incomplete",
            Self::NotRead => "may be incomplete: it may redirect to another feed",
            Self::Circle => "may be incomplete: its archives form a loop",
            Self::Unproven => "may be incomplete: read through an unverified redirect",
            Self::Mixed => "may be incomplete: its document has further pages",
            Self::Cut => "may be incomplete: its document was not read whole",
            Self::MorePages => "may be incomplete: an archive has further pages",
            Self::Foreign => "may be incomplete: an archive states another feed's ID",
            Self::Parted => "may be incomplete: entries may have been missed between two polls",
            Self::NoEnd => "may be incomplete: its oldest archive is not known",
        }
    }
}
