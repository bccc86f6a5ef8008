//! Whether a history is complete, and how lists, the command line and messages describe its gaps (SPEC C.8). It is complete only by
//! a proof, that is, if every seam is closed.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::address::host;
use super::gap::{Gap, GapKind, Limit, Reason};
use super::kind::DocumentKind;
use super::proof::Doubt;
use super::record::HistoryRecord;
use super::walk::adaptor::{Adaptor, FoundBy, capture_name};
use crate::feed::text::counted_words;
use crate::words::day_and_time;

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

/// The texts of a list row that shows a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapLines {
    /// Description of the missing part.
    pub what: &'static str,
    pub why: String,
    /// Description of what happens next, such as the time of the next retry.
    pub next: String,
    /// What pressing Enter on the row does; empty if it does nothing.
    pub enter: &'static str,
    /// Whether the missing part has an address that the user can open in another program.
    pub has_address: bool,
}

impl GapLines {
    pub fn new(gap: &Gap, now: DateTime<Utc>, zone: Tz) -> Self {
        let (next, enter) = next_step(gap, now, zone);
        let has_address = !gap.edge.url.is_empty();
        Self { what: gap.what(), why: gap.why(), next, enter, has_address }
    }

    /// Returns the text shown instead of a gap while its archive is being fetched.
    pub fn being_fetched() -> Self {
        let (why, next) = ("its archive is being fetched".to_owned(), String::new());
        Self { what: "older entries", why, next, enter: "", has_address: false }
    }
}

impl HistoryRecord {
    /// Explains why the part that was requested last is still missing. Called after an archive walk that fetched nothing.
    pub fn still_missing(&self) -> Option<String> {
        let gaps = self.gaps.values().filter(|gap| gap.counts());
        let last = gaps.max_by_key(|gap| gap.last_try)?;
        Some(format!("nothing fetched: {}", last.why()))
    }
}

impl Gap {
    /// Returns a full line that describes the gap in command-line output, with dates in UTC.
    pub fn text(&self) -> String {
        let document = self.document(&self.edge.url);
        let missing = self.edge.newer.oldest.map_or_else(
            || "older entries missing".to_owned(),
            |date| format!("entries before {} missing", day(date)),
        );
        let (what, why) = (self.what(), self.cause(&document));
        match &self.reason {
            Reason::Status(_)
            | Reason::Unanswered(_)
            | Reason::Blocked(_)
            | Reason::TooLarge(_)
            | Reason::Unreadable(_) => format!("{missing}: {why}"),
            Reason::Loop => format!("{what}: archive chain loops at {}", self.edge.url),
            Reason::Limit { limit, fetched } => match limit {
                Limit::Documents
                | Limit::Entries
                | Limit::Bytes
                | Limit::NothingNew
                | Limit::Stopped => format!("{what} ({why}). Continue?"),
                Limit::Day => format!("{what} ({why}). Continue tomorrow?"),
                Limit::Kept => format!("{what}, but {why}"),
                Limit::Consent => match fetched {
                    0 => format!("{what} {why}. Fetch them?"),
                    1 => format!("{what} {why} (1 archive fetched). Continue?"),
                    many => format!("{what} {why} ({many} archives fetched). Continue?"),
                },
                Limit::OldForm => format!("{what}: {why}. Fetch them?"),
                Limit::Off => format!("{what}; {why}"),
                Limit::Aside => format!(
                    "{missing}: {document} is linked only from outside the chain. Fetch it?"
                ),
            },
            Reason::Overrun { .. } => format!("{what} {why}"),
            Reason::Paged => format!("{what}; {why}"),
            Reason::Interrupted => what.to_owned(),
        }
    }

    /// Describes the missing part in a few words.
    pub(super) const fn what(&self) -> &'static str {
        match self.kind() {
            GapKind::Unavailable | GapKind::Unreadable => "older entries missing",
            GapKind::Loop => "older archives may exist",
            GapKind::Limit => "older archives exist",
            GapKind::Overrun => "entries may have been missed",
            GapKind::Paged => "older pages may exist",
            GapKind::Interrupted => "history fetch paused",
        }
    }

    /// Explains why the part is missing. The text names the archive by the last segment of its address.
    fn why(&self) -> String {
        self.cause(&self.document(last_part(&self.edge.url)))
    }

    /// Names the missing document. What the publisher links to is an archive with this name.
    fn document(&self, name: &str) -> String {
        match self.edge.via {
            FoundBy::Link => format!("archive {name}"),
            FoundBy::Page(number) => {
                format!("page {number} at {}", host(&self.edge.url).unwrap_or_default())
            }
            FoundBy::Listing => "the Internet Archive's list of copies".to_owned(),
            FoundBy::Capture(taken) => capture_name(taken),
        }
    }

    /// Explains why the part is missing; `archive` names the document in the text.
    fn cause(&self, archive: &str) -> String {
        match &self.reason {
            Reason::Status(status) => format!("{archive} answered {status}"),
            Reason::Unanswered(why) => format!("{archive} did not answer: {why}"),
            Reason::Blocked(why) => format!("{archive} was not requested: {why}"),
            Reason::TooLarge(why) => format!("{archive} is too large: {why}"),
            Reason::Unreadable(why) => format!("{archive} could not be read: {why}"),
            Reason::Loop => {
                format!("the chain of archives loops at {}", last_part(&self.edge.url))
            }
            Reason::Limit { limit, fetched } => match limit {
                Limit::Documents | Limit::Entries | Limit::Bytes => format!("{fetched} fetched"),
                Limit::Day => format!("{fetched} fetched; daily limit reached"),
                Limit::NothingNew => {
                    format!("{fetched} fetched; the last three brought nothing new")
                }
                Limit::Kept => "backissue keeps no more archives of this feed".to_owned(),
                Limit::Consent => {
                    let url = &self.edge.url;
                    format!("at {}", host(url).unwrap_or_else(|| url.clone()))
                }
                Limit::OldForm => "this feed uses an old form of archive links".to_owned(),
                Limit::Off => "history is off for this feed".to_owned(),
                Limit::Stopped => format!("{fetched} fetched; stopped"),
                Limit::Aside => {
                    format!("{archive} is linked only from outside the chain")
                }
            },
            Reason::Overrun { .. } => {
                match (self.older.map(day), self.edge.newer.oldest.map(day)) {
                    (Some(from), Some(until)) => format!("between {from} and {until}"),
                    (None, Some(until)) => format!("before {until}"),
                    (_, None) => "here".to_owned(),
                }
            }
            Reason::Paged => "the list may be incomplete".to_owned(),
            Reason::Interrupted => format!("{archive} is next"),
        }
    }

    /// Returns advice on how to avoid further overruns such as the suspected one (SPEC C.8.1); `None` if there is no advice.
    pub fn advice(&self) -> Option<String> {
        let Reason::Overrun { window, per_day } = self.reason else { return None };
        let pace = per_day.map(|count| format!(", about {count} a day")).unwrap_or_default();
        Some(format!("the feed shows {window} entries at a time{pace}: poll it more often"))
    }
}

/// Describes what happens next at a gap and what pressing Enter does.
fn next_step(gap: &Gap, now: DateTime<Utc>, zone: Tz) -> (String, &'static str) {
    let needs_consent = matches!(
        gap.reason,
        Reason::Limit { limit: Limit::Consent | Limit::OldForm | Limit::Off | Limit::Aside, .. }
    );
    let (next, enter) = match (gap.kind(), gap.retry_at) {
        (GapKind::Unavailable | GapKind::Unreadable, Some(at)) => {
            return (format!("retry {}", day_and_time(at, now, zone)), "retries");
        }
        (GapKind::Unavailable | GapKind::Unreadable, None) => ("no automatic retry", "retries"),
        (GapKind::Limit, _) if needs_consent => ("only on request", "fetches them"),
        (GapKind::Limit, _) => ("continues only on request", "continues"),
        (GapKind::Loop, _) => ("a mistake by the publisher", "reads it again"),
        (GapKind::Overrun, _) => {
            return (gap.advice().unwrap_or_else(|| "it cannot be requested".to_owned()), "");
        }
        (GapKind::Paged, _) if gap.edge.url.is_empty() => ("none known", "checks again"),
        (GapKind::Paged, _) => ("one at a time", "loads one"),
        (GapKind::Interrupted, _) => ("after the next poll", "continues now"),
    };
    (next.to_owned(), enter)
}

/// Returns the last segment of an address, which distinguishes the archives of one feed.
fn last_part(url: &str) -> &str {
    let end = url.trim_end_matches('/');
    end.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(end)
}

pub(super) fn day(date: DateTime<Utc>) -> String {
    date.format("%Y-%m-%d").to_string()
}

#[cfg(test)]
#[path = "gap_wording_tests.rs"]
mod tests;
