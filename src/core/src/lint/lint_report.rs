//! The whole answer to a publisher, and its form for programs.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::finding::Level;
use super::finding::LintFinding;
use super::polls::Polls;
use crate::feed::{DocumentRole, Kind};

/// What readers will make of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct LintReport {
    /// Its format.
    pub kind: Kind,
    /// Its place in the logical feed.
    pub role: DocumentRole,
    /// The title of the feed.
    pub title: Option<String>,
    /// The number of entries that are read.
    pub entries: usize,
    /// The address it was read from, if told.
    pub url: Option<String>,
    /// Its archives, where they were asked for.
    pub chain: Option<Chain>,
    /// What it leads to in a reader with default settings; `None` for what is no feed.
    pub polls: Option<Polls>,
    /// By topic, then in a fixed order.
    pub findings: Vec<LintFinding>,
}

/// The archives of a feed as they were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Archives that could be read.
    pub archives: u32,
    /// Entries in them.
    pub entries: u32,
    /// The oldest date among those.
    pub oldest: Option<DateTime<Utc>>,
    /// The oldest archive was reached: nothing is missing.
    pub is_whole: bool,
}

impl LintReport {
    /// The number of findings of a level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// A verdict for programs: times are UTC in RFC 3339, what is absent is null.
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
    })
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
