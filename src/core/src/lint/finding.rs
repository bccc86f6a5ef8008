//! A single finding about a document, and the list that collects findings.

use std::fmt::Display;

use super::table::Rule;
use crate::feed::text::counted_words;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Feed readers lose something: the document, an entry, or the link to older entries.
    Error,
    /// Feed readers drop or guess something, or behave differently from each other.
    Warning,
    /// Information on how feed readers interpret the document.
    Note,
}

impl Level {
    /// Returns the name used in text and JSON output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The subject of a finding. Findings are listed in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// How the server delivers the document. Only if the document was fetched from an address.
    Delivery,
    /// Format, encoding, size and repairs of the document.
    Document,
    /// Polling hints in the document or from the server.
    Hints,
    /// The polls that result from the polling hints.
    Polls,
    /// Archives, pages, and completeness of the feed.
    History,
    /// The archives in the feed's chain. Only if the document was fetched from an address.
    Archives,
    /// Ids and texts of entries.
    Entries,
    /// Dates of the feed and of its entries.
    Dates,
}

impl Topic {
    /// Returns the name used in headings and JSON output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Delivery => "delivery",
            Self::Document => "document",
            Self::Hints => "hints",
            Self::Polls => "polls",
            Self::History => "history",
            Self::Archives => "archives",
            Self::Entries => "entries",
            Self::Dates => "dates",
        }
    }
}

/// A finding about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// Severity of the finding.
    pub level: Level,
    /// Subject of the finding.
    pub topic: Topic,
    /// Address of the document that the finding is about; `None` if only one document was checked and its address is
    /// unknown.
    pub place: Option<String>,
    /// Name of the element, attribute, header or other part of the document that the finding is about.
    pub element: String,
    /// Text of the document that the finding is about, cut to one line; empty if there is none.
    pub text: String,
    /// One sentence that explains how feed readers interpret the element and its text.
    pub message: String,
}

/// Collects the findings about a document.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<LintFinding>);

impl Findings {
    /// Adds a finding: a rule, the text of the document that it is about, and the parts of its message.
    pub(super) fn say(&mut self, rule: Rule<'_>, text: &str, parts: &[&dyn Display]) {
        let Rule { level, topic, element, message } = rule;
        let (element, text, message) =
            (element.to_owned(), text.to_owned(), filled(message, parts));
        self.0.push(LintFinding { level, topic, place: None, element, text, message });
    }

    pub(super) fn put(&mut self, finding: LintFinding) {
        self.0.push(finding);
    }

    /// Returns the findings sorted by topic. Findings of the same topic are in the order in which they were added.
    pub(super) fn into_list(mut self) -> Vec<LintFinding> {
        self.0.sort_by_key(|finding| finding.topic);
        self.0
    }
}

/// Puts the parts into the places of a message (see [`Rule`]).
fn filled(message: &str, parts: &[&dyn Display]) -> String {
    let mut pieces = message.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for (place, rest) in pieces.filter_map(|piece| piece.split_once('}')) {
        let (number, words) = place.split_once('|').unwrap_or((place, ""));
        let part = number.parse().ok().and_then(|number: usize| parts.get(number));
        let part = part.map(ToString::to_string).unwrap_or_default();
        match words.split_once('|') {
            Some((one, many)) => text.push_str(&counted_words(part, one, many)),
            None => text.push_str(&part),
        }
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_filled_in_and_counted() {
        let (one, brace): (&dyn Display, &dyn Display) = (&1, &"{0}");
        assert_eq!(filled("{0|text|texts} in {1}: {1}!", &[one, brace]), "1 text in {0}: {0}!");
        assert_eq!(filled("{0|text|texts}{1}", &[&2, &""]), "2 texts");
    }
}
