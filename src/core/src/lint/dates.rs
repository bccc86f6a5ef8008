//! Checks of the dates of a feed and its entries.

use chrono::{DateTime, Duration, Utc};

use super::finding::Topic;
use super::lint_input::LintInput;
use super::oddities;
use super::table::Findings;
use super::table::{FAR_FUTURE, NEAR_FUTURE, NO_FEED_UPDATED, NO_UPDATED, UNDATED};
use crate::feed::Kind;

/// Maximum number of hours by which a date may be in the future because of a fast clock or a wrong time zone (SPEC C.5).
const TOLERANCE_HOURS: i64 = 24;

/// Checks the dates of a document.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    oddities::check(exhibit, Topic::Dates, findings);
    future(exhibit, findings);
    missing(exhibit, findings);
}

fn future(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    let of_entries = document.entries.iter().flat_map(|entry| [entry.published, entry.updated]);
    let of_head = [document.head.published, document.head.updated];
    let mut ahead: Vec<DateTime<Utc>> =
        of_entries.chain(of_head).flatten().filter(|at| *at > exhibit.now).collect();
    ahead.sort_unstable();
    let limit = exhibit.now + Duration::hours(TOLERANCE_HOURS);
    let far = ahead.iter().filter(|at| **at > limit).count();
    let Some(latest) = ahead.last() else { return };
    let latest = latest.format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let (rule, count) = if far > 0 { (FAR_FUTURE, far) } else { (NEAR_FUTURE, ahead.len()) };
    findings.say(rule, &latest, &[&count]);
}

fn missing(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    let is_atom = document.kind == Kind::Atom;
    let undated = document
        .entries
        .iter()
        .filter(|entry| entry.updated.is_none() && (is_atom || entry.published.is_none()));
    let undated = undated.count();
    let rule = match document.kind {
        Kind::Atom => NO_UPDATED,
        Kind::Json => UNDATED.of("date_published"),
        Kind::Rdf => UNDATED.of("dc:date"),
        Kind::Rss | Kind::Opml | Kind::Redirect | Kind::None => UNDATED.of("pubDate"),
    };
    if undated > 0 {
        findings.say(rule, "", &[&undated]);
    }
    if is_atom && document.head.updated.is_none() {
        findings.say(NO_FEED_UPDATED, "", &[]);
    }
}
