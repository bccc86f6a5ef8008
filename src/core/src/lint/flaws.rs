//! Reports the flaws of a document that the parser dropped or repaired. Each kind of flaw is reported once, with the number
//! of its occurrences.

use super::finding::{Findings, Level, Topic};
use crate::feed::Flaw;
use crate::feed::text::counted_words;

/// Elements whose flaws have a specific topic. Flaws in all other elements have the topic [`Topic::Document`].
const TOPICS: [(&str, Topic); 12] = [
    ("ttl", Topic::Hints),
    ("skipHours", Topic::Hints),
    ("skipDays", Topic::Hints),
    ("refreshRate", Topic::Hints),
    ("interval", Topic::Hints),
    ("sy:updatePeriod", Topic::Hints),
    ("sy:updateFrequency", Topic::Hints),
    ("sy:updateBase", Topic::Hints),
    ("complete", Topic::History),
    ("item", Topic::Entries),
    ("items", Topic::Entries),
    ("at:deleted-entry", Topic::Entries),
];

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
        findings.add(
            Level::Warning,
            topic(flaw),
            &flaw.element,
            &flaw.text,
            format!("{}{times}", flaw.reason),
        );
    }
}

fn topic(flaw: &Flaw) -> Topic {
    if flaw.reason.starts_with("not a date") && !flaw.element.starts_with("sy:") {
        return Topic::Dates;
    }
    if flaw.reason.starts_with("its end tag") {
        return Topic::Document;
    }
    if flaw.reason.starts_with("neither true nor false") {
        return Topic::History;
    }
    TOPICS
        .iter()
        .find(|(element, _)| *element == flaw.element)
        .map_or(Topic::Document, |(_, topic)| *topic)
}
