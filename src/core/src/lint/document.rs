//! Checks of a document's format, role and size.

use super::finding::{Findings, Level, Topic};
use super::lint_input::LintInput;
use crate::feed::text::counted_words;
use crate::feed::{DocumentRole, Kind, NewLocation, OddityKind};

/// Size in bytes at which a document is considered too large to be fetched at every poll.
const HEAVY_BYTES: usize = 1 << 20;
/// Largest reasonable number of entries in a subscription document.
const MANY_ENTRIES: usize = 500;

/// Checks the format, role and size of a document.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    match document.kind {
        Kind::Redirect => redirect(exhibit, findings),
        Kind::None => {
            let message = "this is not a feed: readers cannot use it";
            findings.add(Level::Error, Topic::Document, "document", "", message);
        }
        Kind::Atom | Kind::Rss | Kind::Rdf | Kind::Json | Kind::Opml => {
            let message = format!(
                "{}, {}; {}, {}",
                format_words(document.kind),
                role_words(document.role),
                counted_words(document.entries.len(), "entry", "entries"),
                counted_words(exhibit.size, "byte", "bytes"),
            );
            findings.note(Topic::Document, "document", message);
            size(exhibit, findings);
            versions(exhibit, findings);
            identity(exhibit, findings);
        }
    }
    if document.is_truncated() {
        let message = "the document is cut off: readers ignore it and try again later";
        findings.add(Level::Error, Topic::Document, "document", "", message);
    }
}

fn redirect(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let (text, message) = match &exhibit.document.new_location {
        Some(NewLocation::At(address)) => {
            (address.as_str(), "a redirect document: readers switch to the new address")
        }
        Some(NewLocation::Gone) | None => {
            ("", "a redirect without an address: readers stop polling, as after 410")
        }
    };
    findings.add(Level::Note, Topic::Document, "newLocation", text, message);
}

/// Reports what readers need to follow a feed that moves (SPEC D.3, G.65).
fn identity(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    if document.kind == Kind::Atom && document.head.id.is_none() {
        let message = "the feed has no id: readers cannot tell whether it is still the same feed if its address changes";
        findings.warn(Topic::Document, "id", "", message);
    }
    if let Some(NewLocation::At(address)) = &document.new_location {
        let message = "the document names a new address: readers ask the user, because no redirect confirms it";
        findings.warn(Topic::Document, "newLocation", address, message);
    }
}

const fn format_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Atom => "an Atom feed",
        Kind::Rss => "an RSS feed",
        Kind::Rdf => "an RSS feed in RDF",
        Kind::Json => "a JSON Feed",
        Kind::Opml => "a list of feeds in OPML",
        Kind::Redirect => "a redirect",
        Kind::None => "not a feed",
    }
}

const fn role_words(role: DocumentRole) -> &'static str {
    match role {
        DocumentRole::Subscription => "the document to subscribe to, with archives",
        DocumentRole::Archive => "an archive document",
        DocumentRole::Complete => "the whole feed in one document",
        DocumentRole::Paged => "a page of a paged feed",
        DocumentRole::Plain => "without archives or pages",
    }
}

fn size(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let count = exhibit.document.entries.len();
    let is_polled = exhibit.document.role != DocumentRole::Archive;
    if is_polled && (exhibit.size > HEAVY_BYTES || count > MANY_ENTRIES) {
        let message = "every poll that finds new entries transfers all of this: older entries could move to \
                       archive documents (RFC 5005)";
        findings.warn(Topic::Document, "document", "", message);
    }
}

fn versions(exhibit: &LintInput<'_>, findings: &mut Findings) {
    for seen in exhibit.sightings {
        let message = match seen.kind {
            OddityKind::OldNamespace => {
                "not the namespace of Atom 1.0: read here, but many readers show no entries"
            }
            OddityKind::OldVersion => {
                "not RSS 2.0: read as RSS 2.0 here, but some readers refuse it"
            }
            OddityKind::NoId
            | OddityKind::NotPermanent
            | OddityKind::NumericId
            | OddityKind::NoZone
            | OddityKind::NoTime
            | OddityKind::OddForm
            | OddityKind::Hour24
            | OddityKind::SecondTtl
            | OddityKind::Misplaced => continue,
        };
        let level = if seen.kind == OddityKind::OldVersion { Level::Note } else { Level::Warning };
        findings.add(level, Topic::Document, &seen.element, &seen.text, message);
    }
}
