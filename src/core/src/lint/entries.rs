//! Checks of the identity and texts of entries.

use std::collections::BTreeMap;

use super::finding::Topic;
use super::lint_input::LintInput;
use super::table::Findings;
use super::{oddities, table};

/// Checks the entries of a document.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    oddities::check(exhibit, Topic::Entries, findings);
    doubles(exhibit, findings);
    texts(exhibit, findings);
    deleted(exhibit, findings);
}

/// Reports entries that the same document contains and lists as deleted, if readers hide them (RFC 6721, SPEC C.9).
fn deleted(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    let hidden = document.tombstones.iter().filter(|tombstone| {
        let mut same = document.entries.iter().filter(|entry| entry.id == tombstone.id);
        same.any(|entry| entry.updated.is_none_or(|updated| updated <= tombstone.when))
    });
    let ids: Vec<&str> = hidden.map(|tombstone| tombstone.id.as_str()).collect();
    if let Some(first) = ids.first() {
        findings.say(table::PRESENT_AND_DELETED, first, &[&ids.len()]);
    }
}

/// Reports entries with the same id, because feed readers keep only one of them (SPEC G.41).
fn doubles(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &exhibit.document.entries {
        *counts.entry(&entry.id).or_default() += 1;
    }
    let lost: usize = counts.values().map(|count| count - 1).sum();
    let first =
        exhibit.document.entries.iter().find(|entry| counts.get(entry.id.as_str()) > Some(&1));
    let Some(first) = first else { return };
    findings.say(table::SAME_ID.of("id"), &first.id, &[&lost]);
}

fn texts(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let entries = &exhibit.document.entries;
    let blank =
        entries.iter().filter(|entry| entry.title.is_none() && entry.body().is_none()).count();
    if blank > 0 {
        findings.say(table::BLANK_ENTRIES, "", &[&blank]);
    }
    let unlinked = entries.iter().filter(|entry| entry.link.is_none()).count();
    if unlinked > 0 {
        findings.say(table::NO_LINK.of("link"), "", &[&unlinked]);
    }
    if exhibit.document.head.title.is_none() {
        findings.say(table::NO_FEED_TITLE, "", &[]);
    }
}
