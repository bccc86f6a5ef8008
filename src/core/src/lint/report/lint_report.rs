//! The report for a publisher, and its JSON form.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::mending::{mending, rule};
use crate::feed::{DocumentRole, Kind};
use crate::lint::finding::Level;
use crate::lint::finding::LintFinding;
use crate::lint::polls::Polls;

/// A report on how readers will interpret a document.
#[derive(Debug, Clone, PartialEq)]
pub struct LintReport {
    /// Format of the document.
    pub kind: Kind,
    /// Role of the document in the logical feed.
    pub role: DocumentRole,
    /// Title of the feed.
    pub title: Option<String>,
    /// Number of entries that were read.
    pub entries: usize,
    /// Address of the document, if known.
    pub url: Option<String>,
    /// Archives of the feed; `None` if they were not requested.
    pub chain: Option<Chain>,
    /// Polls by a reader with default settings; `None` if the document is not a feed.
    pub polls: Option<Polls>,
    /// Findings sorted by topic, in a fixed order within each topic.
    pub findings: Vec<LintFinding>,
}

/// Statistics of the archives that were found for a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Number of readable archives.
    pub archives: u32,
    /// Number of entries in the readable archives.
    pub entries: u32,
    /// Oldest date among the entries of the readable archives.
    pub oldest: Option<DateTime<Utc>>,
    /// Whether the oldest archive was reached without any gap, so that the whole history is available.
    pub is_whole: bool,
}

impl LintReport {
    /// Returns the number of findings with a given level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// Converts a report to JSON. Times are in UTC in the format of RFC 3339. Missing values are null.
pub fn report_json(verdict: &LintReport) -> Value {
    json!({
        "kind": verdict.kind.word(),
        "role": verdict.role.word(),
        "title": verdict.title,
        "url": verdict.url,
        "entries": verdict.entries,
        "errors": verdict.count(Level::Error),
        "warnings": verdict.count(Level::Warning),
        "notes": verdict.count(Level::Note),
        "chain": verdict.chain.as_ref().map(chain),
        "polls": verdict.polls.as_ref().map(polls),
        "findings": verdict.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn polls(polls: &Polls) -> Value {
    json!({
        "last_ok": time(polls.last_ok),
        "settled_by": polls.settled_by.word(),
        "next_polls": polls.next.iter().copied().map(time).collect::<Vec<_>>(),
        "polls_a_week": polls.a_week,
    })
}

fn chain(chain: &Chain) -> Value {
    json!({
        "archives": chain.archives,
        "entries": chain.entries,
        "oldest": chain.oldest.map(time),
        "whole": chain.is_whole,
    })
}

fn finding(finding: &LintFinding) -> Value {
    json!({
        "level": finding.level.word(),
        "topic": finding.topic.word(),
        "url": finding.place,
        "element": finding.element,
        "text": finding.text,
        "message": finding.message,
        "rule": rule(finding),
        "mend": mending(finding),
    })
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
