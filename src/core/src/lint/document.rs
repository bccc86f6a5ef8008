//! Checks of a document's format, role and size.

use std::fmt::Display;

use super::finding::Topic;
use super::lint_input::LintInput;
use super::table::Findings;
use super::{oddities, table};
use crate::feed::{DocumentRole, Kind, NewLocation};

/// Size in bytes at which a document is considered too large to be fetched at every poll.
const HEAVY_BYTES: usize = 1 << 20;
/// Largest reasonable number of entries in a subscription document.
const MANY_ENTRIES: usize = 500;

/// Checks the format, role and size of a document.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    match document.kind {
        Kind::Redirect => redirect(exhibit, findings),
        Kind::None => findings.say(table::NOT_A_FEED.of("document"), "", &[]),
        Kind::Atom | Kind::Rss | Kind::Rdf | Kind::Json | Kind::Opml => {
            let (format, role) = (format_words(document.kind), role_words(document.role));
            let parts: [&dyn Display; 4] = [&format, &role, &document.entries.len(), &exhibit.size];
            findings.say(table::FORMAT.of("document"), "", &parts);
            size(exhibit, findings);
            oddities::check(exhibit, Topic::Document, findings);
            identity(exhibit, findings);
        }
    }
    if document.is_truncated() {
        findings.say(table::CUT_OFF.of("document"), "", &[]);
    }
}

fn redirect(exhibit: &LintInput<'_>, findings: &mut Findings) {
    match &exhibit.document.new_location {
        Some(NewLocation::At(address)) => findings.say(table::REDIRECT, address, &[]),
        Some(NewLocation::Gone) | None => findings.say(table::REDIRECT_NOWHERE, "", &[]),
    }
}

/// Reports what readers need to follow a feed that moves (SPEC D.3, G.65).
fn identity(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    if document.kind == Kind::Atom && document.head.id.is_none() {
        findings.say(table::NO_FEED_ID, "", &[]);
    }
    if let Some(NewLocation::At(address)) = &document.new_location {
        findings.say(table::NAMED_ADDRESS, address, &[]);
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
        findings.say(table::HEAVY.of("document"), "", &[]);
    }
}
