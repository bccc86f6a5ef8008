//! How lists, the command line and messages describe the gaps of a history (SPEC C.8).

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::address::host;
use super::gap::{Gap, GapKind, Limit, Reason};
use super::record::HistoryRecord;
use super::walk::adaptor::{FoundBy, capture_name};
use crate::words::day_and_time;

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
