//! Checks of the identity and texts of entries.

use std::collections::BTreeMap;

use super::finding::{Findings, Level, Topic};
use super::lint_input::LintInput;
use crate::feed::identity::is_made_up;
use crate::feed::text::counted_words;
use crate::feed::{Kind, Oddity, OddityKind};

/// Checks the entries of a document.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    for seen in exhibit.sightings {
        sighting(exhibit, seen, findings);
    }
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
        let message = format!(
            "{} both present and deleted: readers hide them",
            counted_words(ids.len(), "entry is", "entries are")
        );
        findings.warn(Topic::Entries, "at:deleted-entry", first, message.as_str());
    }
}

fn sighting(exhibit: &LintInput<'_>, seen: &Oddity, findings: &mut Findings) {
    let entries = counted_words(seen.count, "entry", "entries");
    let (level, message) = match seen.kind {
        OddityKind::NoId => (Level::Warning, no_id(exhibit, seen)),
        OddityKind::NotPermanent => (
            Level::Warning,
            format!(
                "{entries}: guid is not an address, but isPermaLink is not false: readers do not open it"
            ),
        ),
        OddityKind::NumericId => (
            Level::Note,
            format!("{entries}: the id is a number: read as text here, but some readers refuse it"),
        ),
        OddityKind::NoZone
        | OddityKind::NoTime
        | OddityKind::OddForm
        | OddityKind::Hour24
        | OddityKind::SecondTtl
        | OddityKind::Misplaced
        | OddityKind::OldNamespace
        | OddityKind::OldVersion => return,
    };
    findings.add(level, Topic::Entries, &seen.element, &seen.text, message);
}

fn no_id(exhibit: &LintInput<'_>, seen: &Oddity) -> String {
    let made_up = || exhibit.document.entries.iter().filter(|entry| is_made_up(&entry.id));
    let sharing = made_up().filter(|entry| entry.link.is_some()).count();
    let made_up = made_up().count();
    let name = match exhibit.document.kind {
        Kind::Atom => "atom:id",
        Kind::Rdf => "rdf:about",
        Kind::Opml => "xmlUrl",
        Kind::Rss | Kind::Json | Kind::Redirect | Kind::None => "guid",
    };
    let instead = if made_up == 0 {
        "the link is the identity, so a changed link creates a new entry".to_owned()
    } else if sharing > 0 {
        let share = if sharing == 1 { "shares" } else { "share" };
        format!(
            "{sharing} of them {share} a link with another entry, so a changed title creates a new entry"
        )
    } else {
        let have = if made_up == 1 { "has" } else { "have" };
        format!(
            "{made_up} of them {have} no link either, so a changed title or text creates a new entry"
        )
    };
    format!("{} without {name}: {instead}", counted_words(seen.count, "entry", "entries"))
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
    let message = format!(
        "{} an id that is already used in this document: readers keep only one of each",
        if lost == 1 { "1 entry has".to_owned() } else { format!("{lost} entries have") }
    );
    findings.add(Level::Error, Topic::Entries, "id", &first.id, message);
}

fn texts(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let entries = &exhibit.document.entries;
    let blank =
        entries.iter().filter(|entry| entry.title.is_none() && entry.body().is_none()).count();
    if blank > 0 {
        let message =
            format!("{} with neither title nor text", counted_words(blank, "entry", "entries"));
        findings.warn(Topic::Entries, "title", "", message);
    }
    let unlinked = entries.iter().filter(|entry| entry.link.is_none()).count();
    if unlinked > 0 {
        let message =
            format!("{} without a page to open", counted_words(unlinked, "entry", "entries"));
        findings.note(Topic::Entries, "link", message);
    }
    if exhibit.document.head.title.is_none() {
        findings.warn(
            Topic::Entries,
            "title",
            "",
            "the feed has no title: readers show its address",
        );
    }
}
