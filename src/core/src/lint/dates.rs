//! Checks of the dates of a feed and its entries.

use chrono::{DateTime, Duration, Utc};

use super::finding::{Findings, Level, Topic};
use super::lint_input::LintInput;
use crate::feed::text::counted_words;
use crate::feed::{Kind, OddityKind};

/// Maximum number of hours by which a date may be in the future because of a fast clock or a wrong time zone (SPEC C.5).
const TOLERANCE_HOURS: i64 = 24;

/// Checks the dates of a document.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    sightings(exhibit, findings);
    future(exhibit, findings);
    missing(exhibit, findings);
}

fn sightings(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let form = if exhibit.document.kind == Kind::Rss { "RFC 822" } else { "RFC 3339" };
    for seen in exhibit.sightings {
        let (level, what) = match seen.kind {
            OddityKind::NoZone => (Level::Warning, "without a time zone: read as UTC".to_owned()),
            OddityKind::NoTime => {
                (Level::Warning, "without a time of day: read as midnight UTC".to_owned())
            }
            OddityKind::OddForm => (
                Level::Warning,
                format!("not in {form} format: read here, but some readers ignore it"),
            ),
            OddityKind::NoId
            | OddityKind::NotPermanent
            | OddityKind::NumericId
            | OddityKind::Hour24
            | OddityKind::SecondTtl
            | OddityKind::Misplaced
            | OddityKind::OldNamespace
            | OddityKind::OldVersion => continue,
        };
        let message = format!("{} {what}", counted_words(seen.count, "date", "dates"));
        findings.add(level, Topic::Dates, &seen.element, &seen.text, message);
    }
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
    if far > 0 {
        let dates = counted_words(far, "date", "dates");
        let message = format!("{dates} more than a day in the future: treated as missing");
        findings.warn(Topic::Dates, "date", &latest, message);
    } else {
        let dates = counted_words(ahead.len(), "date", "dates");
        let message = format!("{dates} less than a day in the future: wrong time zone?");
        findings.warn(Topic::Dates, "date", &latest, message);
    }
}

fn missing(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    let entries = |count| counted_words(count, "entry", "entries");
    if document.kind == Kind::Atom {
        let undated = document.entries.iter().filter(|entry| entry.updated.is_none()).count();
        if undated > 0 {
            let message = format!(
                "{} without a readable updated: readers cannot tell a newer copy from an older one",
                entries(undated)
            );
            findings.warn(Topic::Dates, "updated", "", message);
        }
        if document.head.updated.is_none() {
            findings.warn(Topic::Dates, "updated", "", "the feed itself has no readable updated");
        }
        return;
    }
    let undated = document
        .entries
        .iter()
        .filter(|entry| entry.published.is_none() && entry.updated.is_none())
        .count();
    if undated > 0 {
        let message =
            format!("{} without a date: sorted by when a reader first saw them", entries(undated));
        let element = match document.kind {
            Kind::Json => "date_published",
            Kind::Rdf => "dc:date",
            Kind::Atom | Kind::Rss | Kind::Opml | Kind::Redirect | Kind::None => "pubDate",
        };
        findings.note(Topic::Dates, element, message);
    }
}
