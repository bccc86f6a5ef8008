//! Reports constructs that this program reads but other readers may read differently, and the rules of RSS 2.0, Atom (RFC 4287),
//! RFC 5005 and JSON Feed 1.1 that a document breaks.

use std::collections::BTreeMap;

use super::finding::Topic;
use super::lint_input::LintInput;
use super::table::{self, Findings, Rule};
use crate::feed::identity::is_made_up;
use crate::feed::{Breach, BreachKind, Kind, OddityKind};

/// Relations of which a document has one link (RFC 5005). Readers follow the first.
const SINGLE_LINKS: [&str; 8] =
    ["self", "current", "prev-archive", "next-archive", "first", "previous", "next", "last"];

/// Reports the oddities of a document that concern a topic.
pub(super) fn check(exhibit: &LintInput<'_>, topic: Topic, findings: &mut Findings) {
    for seen in exhibit.sightings {
        let rule = odd(seen.kind).of(&seen.element);
        if rule.topic == topic {
            let misplaced = seen.kind == OddityKind::Misplaced;
            let text = if misplaced { "" } else { &seen.text };
            let is_rss = exhibit.document.kind == Kind::Rss;
            let detail = if seen.kind == OddityKind::NoId {
                no_id(exhibit)
            } else if misplaced {
                seen.text.clone()
            } else {
                if is_rss { "RFC 822" } else { "RFC 3339" }.to_owned()
            };
            findings.say(rule, text, &[&seen.count, &detail]);
        }
    }
}

const fn odd(kind: OddityKind) -> Rule<'static> {
    match kind {
        OddityKind::NoId => table::NO_ID,
        OddityKind::NotPermanent => table::NOT_PERMANENT,
        OddityKind::NumericId => table::NUMERIC_ID,
        OddityKind::NoZone => table::NO_ZONE,
        OddityKind::NoTime => table::NO_TIME,
        OddityKind::OddForm => table::ODD_FORM,
        OddityKind::Hour24 => table::HOUR_24,
        OddityKind::SecondTtl => table::SECOND_TTL,
        OddityKind::Misplaced => table::MISPLACED,
        OddityKind::OldNamespace => table::OLD_NAMESPACE,
        OddityKind::OldVersion => table::OLD_VERSION,
    }
}

/// Returns which part is missing from entries without an id, and what readers do instead.
fn no_id(exhibit: &LintInput<'_>) -> String {
    let made_up = || exhibit.document.entries.iter().filter(|entry| is_made_up(&entry.id));
    let sharing = made_up().filter(|entry| entry.link.is_some()).count();
    let made_up = made_up().count();
    let name = match exhibit.document.kind {
        Kind::Atom => "atom:id",
        Kind::Rdf => "rdf:about",
        Kind::Opml => "xmlUrl",
        Kind::Rss | Kind::Json | Kind::Redirect | Kind::None => "guid",
    };
    if made_up == 0 {
        format!("{name}: the link is the identity, so a changed link creates a new entry")
    } else if sharing > 0 {
        let share = if sharing == 1 { "shares" } else { "share" };
        format!(
            "{name}: {sharing} of them {share} a link with another entry, so a changed title creates a new entry"
        )
    } else {
        let have = if made_up == 1 { "has" } else { "have" };
        format!(
            "{name}: {made_up} of them {have} no link either, so a changed title or text creates a new entry"
        )
    }
}

/// Checks the rules of a document's format.
pub(super) fn check_format(exhibit: &LintInput<'_>, findings: &mut Findings) {
    for breach in exhibit.breaches {
        findings.say(broken(breach), &breach.text, &[&breach.count, &breach.element]);
    }
    repeated_links(exhibit, findings);
    let document = exhibit.document;
    if matches!(document.kind, Kind::Rss | Kind::Rdf) && document.head.link.is_none() {
        findings.say(table::NO_CHANNEL_LINK, "", &[]);
    }
}

fn broken(breach: &Breach) -> Rule<'_> {
    match breach.kind {
        BreachKind::RelativeText => table::RELATIVE_TEXT,
        BreachKind::RelativeAddress => table::RELATIVE_ADDRESS,
        BreachKind::BareAttachment => table::BARE_ATTACHMENT.of(&breach.element),
        BreachKind::NoContent => table::NO_CONTENT.of(&breach.element),
        BreachKind::SecondAlternate => table::SECOND_ALTERNATE,
        BreachKind::Repeated => table::REPEATED_ELEMENT,
        BreachKind::UntypedMarkup => table::UNTYPED_MARKUP,
        BreachKind::UnknownType => table::UNKNOWN_TYPE,
        BreachKind::NoDiv => table::NO_DIV,
        BreachKind::OtherVersion => table::OTHER_VERSION,
    }
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
            findings.say(table::SECOND_LINK, second, &[&rel]);
        }
    }
}
