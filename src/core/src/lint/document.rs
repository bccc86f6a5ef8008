//! Checks of a document: its format, role and size, the identity, texts and dates of its entries, the flaws that the parser dropped
//! or repaired, and constructs that other readers may read differently.

use std::collections::BTreeMap;
use std::fmt::Display;

use chrono::{DateTime, Duration, Utc};

use super::table::{
    self, FAR_FUTURE, FLAW, Findings, LintInput, NEAR_FUTURE, NO_FEED_UPDATED, NO_UPDATED, Rule,
    Topic, UNDATED,
};
use crate::feed::flaws::{NO_END_TAG, NO_SWITCH, NOT_A_DATE};
use crate::feed::identity::is_made_up;
use crate::feed::text::counted_words;
use crate::feed::{Breach, BreachKind, DocumentRole, Flaw, Kind, NewLocation, OddityKind};

/// Size in bytes at which a document is considered too large to be fetched at every poll.
const HEAVY_BYTES: usize = 1 << 20;
/// Largest reasonable number of entries in a subscription document.
const MANY_ENTRIES: usize = 500;

/// Checks the format, role and size of a document.
pub(super) fn check(input: &LintInput<'_>, findings: &mut Findings) {
    let document = input.document;
    match document.kind {
        Kind::Redirect => redirect(input, findings),
        Kind::None => findings.say(table::NOT_A_FEED.of("document"), "", &[]),
        Kind::Atom | Kind::Rss | Kind::Rdf | Kind::Json | Kind::Opml => {
            let (format, role) = (format_words(document.kind), role_words(document.role));
            let parts: [&dyn Display; 4] = [&format, &role, &document.entries.len(), &input.size];
            findings.say(table::FORMAT.of("document"), "", &parts);
            size(input, findings);
            check_oddities(input, Topic::Document, findings);
            identity(input, findings);
        }
    }
    if document.is_truncated() {
        findings.say(table::CUT_OFF.of("document"), "", &[]);
    }
}

fn redirect(input: &LintInput<'_>, findings: &mut Findings) {
    match &input.document.new_location {
        Some(NewLocation::At(address)) => findings.say(table::REDIRECT, address, &[]),
        Some(NewLocation::Gone) | None => findings.say(table::REDIRECT_NOWHERE, "", &[]),
    }
}

/// Reports what readers need to follow a feed that moves (SPEC D.3, G.65).
fn identity(input: &LintInput<'_>, findings: &mut Findings) {
    let document = input.document;
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

fn size(input: &LintInput<'_>, findings: &mut Findings) {
    let count = input.document.entries.len();
    let is_polled = input.document.role != DocumentRole::Archive;
    if is_polled && (input.size > HEAVY_BYTES || count > MANY_ENTRIES) {
        findings.say(table::HEAVY.of("document"), "", &[]);
    }
}

/// Checks the entries of a document.
pub(super) fn check_entries(input: &LintInput<'_>, findings: &mut Findings) {
    check_oddities(input, Topic::Entries, findings);
    doubles(input, findings);
    texts(input, findings);
    deleted(input, findings);
}

/// Reports entries that the same document contains and lists as deleted, if readers hide them (RFC 6721, SPEC C.9).
fn deleted(input: &LintInput<'_>, findings: &mut Findings) {
    let document = input.document;
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
fn doubles(input: &LintInput<'_>, findings: &mut Findings) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &input.document.entries {
        *counts.entry(&entry.id).or_default() += 1;
    }
    let lost: usize = counts.values().map(|count| count - 1).sum();
    let first =
        input.document.entries.iter().find(|entry| counts.get(entry.id.as_str()) > Some(&1));
    let Some(first) = first else { return };
    findings.say(table::SAME_ID.of("id"), &first.id, &[&lost]);
}

fn texts(input: &LintInput<'_>, findings: &mut Findings) {
    let entries = &input.document.entries;
    let blank =
        entries.iter().filter(|entry| entry.title.is_none() && entry.body().is_none()).count();
    if blank > 0 {
        findings.say(table::BLANK_ENTRIES, "", &[&blank]);
    }
    let unlinked = entries.iter().filter(|entry| entry.link.is_none()).count();
    if unlinked > 0 {
        findings.say(table::NO_LINK.of("link"), "", &[&unlinked]);
    }
    if input.document.head.title.is_none() {
        findings.say(table::NO_FEED_TITLE, "", &[]);
    }
}

/// Maximum number of hours by which a date may be in the future because of a fast clock or a wrong time zone (SPEC C.5).
const TOLERANCE_HOURS: i64 = 24;

/// Checks the dates of a document.
pub(super) fn check_dates(input: &LintInput<'_>, findings: &mut Findings) {
    check_oddities(input, Topic::Dates, findings);
    future(input, findings);
    missing(input, findings);
}

fn future(input: &LintInput<'_>, findings: &mut Findings) {
    let document = input.document;
    let of_entries = document.entries.iter().flat_map(|entry| [entry.published, entry.updated]);
    let of_head = [document.head.published, document.head.updated];
    let mut ahead: Vec<DateTime<Utc>> =
        of_entries.chain(of_head).flatten().filter(|at| *at > input.now).collect();
    ahead.sort_unstable();
    let limit = input.now + Duration::hours(TOLERANCE_HOURS);
    let far = ahead.iter().filter(|at| **at > limit).count();
    let Some(latest) = ahead.last() else { return };
    let latest = latest.format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let (rule, count) = if far > 0 { (FAR_FUTURE, far) } else { (NEAR_FUTURE, ahead.len()) };
    findings.say(rule, &latest, &[&count]);
}

fn missing(input: &LintInput<'_>, findings: &mut Findings) {
    let document = input.document;
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

/// Elements that are polling hints, besides those of `sy`.
const HINTS: [&str; 5] = ["ttl", "skipHours", "skipDays", "refreshRate", "interval"];

/// Adds findings for the flaws of a document.
pub(super) fn check_flaws(flaws: &[Flaw], findings: &mut Findings) {
    for (at, flaw) in flaws.iter().enumerate() {
        let alike = |other: &&Flaw| other.element == flaw.element && other.reason == flaw.reason;
        if flaws.iter().take(at).any(|other| alike(&other)) {
            continue;
        }
        let count = flaws.iter().filter(alike).count();
        let times = if count > 1 {
            format!(" ({})", counted_words(count, "time", "times"))
        } else {
            String::new()
        };
        let rule = Rule { topic: topic(flaw), element: &flaw.element, ..FLAW };
        findings.say(rule, &flaw.text, &[&flaw.reason, &times]);
    }
}

fn topic(flaw: &Flaw) -> Topic {
    match (flaw.reason.as_str(), flaw.element.as_str()) {
        (NO_END_TAG, _) => Topic::Document,
        (NOT_A_DATE, _) => Topic::Dates,
        (NO_SWITCH, _) | (_, "complete") => Topic::History,
        (_, element) if element.starts_with("sy:") || HINTS.contains(&element) => Topic::Hints,
        (_, "item" | "items" | "at:deleted-entry") => Topic::Entries,
        (_, _) => FLAW.topic,
    }
}

/// Relations of which a document has one link (RFC 5005). Readers follow the first.
const SINGLE_LINKS: [&str; 8] =
    ["self", "current", "prev-archive", "next-archive", "first", "previous", "next", "last"];

/// Reports the oddities of a document that concern a topic.
pub(super) fn check_oddities(input: &LintInput<'_>, topic: Topic, findings: &mut Findings) {
    for seen in input.sightings {
        let rule = odd(seen.kind).of(&seen.element);
        if rule.topic == topic {
            let misplaced = seen.kind == OddityKind::Misplaced;
            let text = if misplaced { "" } else { &seen.text };
            let is_rss = input.document.kind == Kind::Rss;
            let detail = if seen.kind == OddityKind::NoId {
                no_id(input)
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
fn no_id(input: &LintInput<'_>) -> String {
    let made_up = || input.document.entries.iter().filter(|entry| is_made_up(&entry.id));
    let sharing = made_up().filter(|entry| entry.link.is_some()).count();
    let made_up = made_up().count();
    let name = match input.document.kind {
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
pub(super) fn check_format(input: &LintInput<'_>, findings: &mut Findings) {
    for breach in input.breaches {
        findings.say(broken(breach), &breach.text, &[&breach.count, &breach.element]);
    }
    repeated_links(input, findings);
    let document = input.document;
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
fn repeated_links(input: &LintInput<'_>, findings: &mut Findings) {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for link in &input.document.links {
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
