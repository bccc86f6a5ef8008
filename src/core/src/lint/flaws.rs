//! Reports the flaws of a document that the parser dropped or repaired. Each kind of flaw is reported once, with the number
//! of its occurrences.

use super::finding::Topic;
use super::table::{FLAW, Findings, Rule};
use crate::feed::Flaw;
use crate::feed::flaws::{NO_END_TAG, NO_SWITCH, NOT_A_DATE};
use crate::feed::text::counted_words;

/// Elements that are polling hints, besides those of `sy`.
const HINTS: [&str; 5] = ["ttl", "skipHours", "skipDays", "refreshRate", "interval"];

/// Adds findings for the flaws of a document.
pub(super) fn check(flaws: &[Flaw], findings: &mut Findings) {
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
