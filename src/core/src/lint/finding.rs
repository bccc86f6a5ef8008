//! A single finding about a document, and the list that collects findings.

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Readers lose something: the document, an entry, or the link to older ones.
    Error,
    /// Something is dropped or guessed, or readers differ in their behaviour.
    Warning,
    /// Information on how the document is interpreted.
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
    /// Delivery by the server; only if the document was fetched from an address.
    Delivery,
    /// Format, encoding, size, and repairs.
    Document,
    /// Hints for pollers.
    Hints,
    /// Polls that result from the hints.
    Polls,
    /// Archives, pages, completeness.
    History,
    /// Archives in the chain; only if the document was fetched from an address.
    Archives,
    /// Identity and texts of entries.
    Entries,
    /// Dates of the feed and of entries.
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
    /// Text of the document at this place, shortened to one line; empty if there is none.
    pub place: Option<String>,
    /// The element, attribute or layer concerned.
    pub element: String,
    /// Text of the document at this place, cut to one line; empty if there is none.
    pub text: String,
    /// One sentence that explains how readers interpret this.
    pub message: String,
}

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<LintFinding>);

impl Findings {
    pub(super) fn add(
        &mut self,
        level: Level,
        topic: Topic,
        element: &str,
        text: &str,
        message: impl Into<String>,
    ) {
        let (element, text, message) = (element.to_owned(), text.to_owned(), message.into());
        self.0.push(LintFinding { level, topic, place: None, element, text, message });
    }

    pub(super) fn note(&mut self, topic: Topic, element: &str, message: impl Into<String>) {
        self.add(Level::Note, topic, element, "", message);
    }

    pub(super) fn warn(
        &mut self,
        topic: Topic,
        element: &str,
        text: &str,
        message: impl Into<String>,
    ) {
        self.add(Level::Warning, topic, element, text, message);
    }

    pub(super) fn put(&mut self, finding: LintFinding) {
        self.0.push(finding);
    }

    /// Returns the findings by topic, and within a topic in the order in which they were added.
    pub(super) fn into_list(mut self) -> Vec<LintFinding> {
        self.0.sort_by_key(|finding| finding.topic);
        self.0
    }
}
