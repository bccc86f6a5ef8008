//! Whether a history is complete (SPEC C.8). It is complete only by a proof, that is, if every seam is closed.

use chrono::{DateTime, Utc};

use super::gap::{Gap, GapKind};
use super::kind::DocumentKind;
use super::proof::Doubt;
use super::record::HistoryRecord;
use super::walk::adaptor::Adaptor;
use crate::feed::text::counted_words;

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

/// The state of a feed's history: one of the four states of SPEC C.8, or the state of a history supplied by an adaptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryStatus {
    /// Nothing is missing: every seam is closed.
    Complete(Proved),
    /// Nothing is missing except at this number of gaps, which are not retried automatically.
    CompleteExcept(usize),
    /// Some archives are still to be requested.
    Partial {
        /// Number of archives fetched.
        archives: u32,
        /// Number of gaps whose archives could not be fetched.
        gaps: usize,
    },
    /// The address belongs to an archive document, not to the feed.
    OnlyAnArchive,
    /// The feed has no archives.
    NotOffered,
    /// The feed is paged.
    Paged,
    /// An adaptor supplies the history, with this number of gaps.
    Adapted(Adaptor, usize),
    /// The history may be incomplete for this reason, and has this number of gaps.
    Doubtful(Doubt, usize),
}

impl HistoryStatus {
    /// Returns a short form of the header line. The short form always includes the number of gaps.
    pub fn brief(self) -> String {
        match self {
            Self::NotOffered => "no older entries".to_owned(),
            Self::Paged => "paged".to_owned(),
            Self::Partial { archives: 0, gaps } => format!("none read yet{}", counted_gaps(gaps)),
            Self::Partial { archives, gaps } => {
                format!("{archives} read so far{}", counted_gaps(gaps))
            }
            Self::Complete(_)
            | Self::CompleteExcept(_)
            | Self::OnlyAnArchive
            | Self::Doubtful(..)
            | Self::Adapted(..) => self.text(),
        }
    }

    /// Returns the header line of the feed's entry list.
    pub fn text(self) -> String {
        match self {
            Self::Complete(_) => "complete history".to_owned(),
            Self::CompleteExcept(1) => "history complete except 1 gap".to_owned(),
            Self::CompleteExcept(gaps) => format!("history complete except {gaps} gaps"),
            Self::Partial { archives, gaps } => {
                let read = match archives {
                    0 => "no archives read yet".to_owned(),
                    some => {
                        format!("{} read so far", counted_words(some, "archive", "archives"))
                    }
                };
                format!("{read}{}", counted_gaps(gaps))
            }
            Self::OnlyAnArchive => "an archive, not the feed itself".to_owned(),
            Self::NotOffered => "this feed offers no older entries".to_owned(),
            Self::Paged => "paged: may be incomplete".to_owned(),
            Self::Doubtful(doubt, gaps) => format!("{}{}", doubt.text(), counted_gaps(gaps)),
            Self::Adapted(adaptor, missing) => {
                let gaps = counted_gaps(missing);
                format!("history {}: may be incomplete{gaps}", adaptor.origin())
            }
        }
    }
}

/// Formats `, 2 gaps`, or an empty string if there are none.
fn counted_gaps(gaps: usize) -> String {
    match gaps {
        0 => String::new(),
        1 => ", 1 gap".to_owned(),
        gaps => format!(", {gaps} gaps"),
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
