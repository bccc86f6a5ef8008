//! Reports the rules of RSS 2.0, Atom (RFC 4287), RFC 5005 and JSON Feed 1.1 that a document breaks.

use std::collections::BTreeMap;

use crate::feed::text::counted_words;
use crate::feed::{Breach, BreachKind, Kind};
use crate::lint::finding::{Findings, Topic};
use crate::lint::lint_input::LintInput;

/// Relations of which a document has one link (RFC 5005). Readers follow the first.
const SINGLE_LINKS: [&str; 8] =
    ["self", "current", "prev-archive", "next-archive", "first", "previous", "next", "last"];

/// Checks the rules of a document's format.
pub(in crate::lint) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    for breach in exhibit.breaches {
        report(breach, findings);
    }
    repeated_links(exhibit, findings);
    let document = exhibit.document;
    if matches!(document.kind, Kind::Rss | Kind::Rdf) && document.head.link.is_none() {
        let message =
            "the channel has no link: readers cannot open the website, and RSS requires it";
        findings.warn(Topic::Document, "link", "", message);
    }
}

fn report(breach: &Breach, findings: &mut Findings) {
    let (topic, name) = match breach.kind {
        BreachKind::RelativeText | BreachKind::RelativeAddress => {
            (Topic::Entries, "relative address")
        }
        BreachKind::BareAttachment | BreachKind::NoContent => {
            (Topic::Entries, breach.element.as_str())
        }
        BreachKind::SecondAlternate => (Topic::Entries, "alternate"),
        BreachKind::Repeated => (Topic::Document, "repeated element"),
        BreachKind::UntypedMarkup | BreachKind::UnknownType => (Topic::Document, "type"),
        BreachKind::NoDiv => (Topic::Document, "xhtml"),
        BreachKind::OtherVersion => (Topic::Document, "version"),
    };
    findings.warn(topic, name, &breach.text, message(breach));
}

fn message(breach: &Breach) -> String {
    let Breach { kind, element, count, .. } = breach;
    let (one, many, what) = match kind {
        BreachKind::RelativeText => (
            "text",
            "texts",
            format!(
                "in {element} with a relative address: this format has no base, so readers guess or show dead links"
            ),
        ),
        BreachKind::RelativeAddress => (
            "relative address",
            "relative addresses",
            format!("in {element}: this format has no base, so readers guess or ignore it"),
        ),
        BreachKind::BareAttachment => (
            "attached file",
            "attached files",
            "without a required part: some readers skip the file or cannot show what it is".into(),
        ),
        BreachKind::Repeated => (
            "element",
            "elements",
            format!(
                "named {element} too many: the format allows one, and readers show different ones"
            ),
        ),
        BreachKind::UntypedMarkup => (
            "text",
            "texts",
            format!(
                "in {element} with markup but without a type: it is plain text, so readers show the tags and references"
            ),
        ),
        BreachKind::UnknownType => (
            "type",
            "types",
            format!("in {element}: not 'text', 'html' or 'xhtml', so readers guess how to show it"),
        ),
        BreachKind::NoDiv => (
            "text",
            "texts",
            format!("in {element}: XHTML must be a single div, so some readers show nothing"),
        ),
        BreachKind::SecondAlternate => (
            "alternate link",
            "alternate links",
            "of the same type and language beside another: readers open different pages".into(),
        ),
        BreachKind::NoContent => (
            "item",
            "items",
            "with neither content_html nor content_text: some readers drop it".into(),
        ),
        BreachKind::OtherVersion => {
            return "not an address of a version of JSON Feed: some readers refuse it".into();
        }
    };
    format!("{} {what}", counted_words(*count, one, many))
}

/// Reports relations with links to several addresses.
fn repeated_links(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for link in &exhibit.document.links {
        let targets = targets.entry(link.rel.as_str()).or_default();
        if !targets.contains(&link.href.as_str()) {
            targets.push(&link.href);
        }
    }
    for rel in SINGLE_LINKS {
        if let Some([_, second, ..]) = targets.get(rel).map(Vec::as_slice) {
            let message = format!("a second {rel} link: readers follow only one of them");
            findings.warn(Topic::History, "repeated link", second, message);
        }
    }
}
