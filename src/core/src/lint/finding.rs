//! One thing a publisher should know of a document, and the list that collects them.

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Readers lose something: the document, an entry, the way to older ones.
    Error,
    /// Something is dropped or guessed, or readers will differ.
    Warning,
    /// What is understood, and what follows from it.
    Note,
}

impl Level {
    /// The word in lines and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// What a finding is about. Findings are listed in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// How the server hands the documents out; only where an address was asked.
    Delivery,
    /// Format, encoding, size, and what was repaired.
    Document,
    /// What is asked of pollers.
    Hints,
    /// What that leads to.
    Polls,
    /// Archives, pages, completeness.
    History,
    /// The archives as they were found; only where an address was asked.
    Archives,
    /// Identity and texts of entries.
    Entries,
    /// Dates of the feed and of entries.
    Dates,
}

impl Topic {
    /// The word in headings and JSON.
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

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// How much it matters.
    pub level: Level,
    /// What it is about.
    pub topic: Topic,
    /// Address of the document it was found in; `None` for a document that came from a file.
    pub place: Option<String>,
    /// The element, attribute or layer concerned.
    pub element: String,
    /// What the document says there, cut to a line; empty where it says nothing.
    pub text: String,
    /// One sentence: what readers make of it.
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

    /// By topic; within one in the order of arising.
    pub(super) fn into_list(mut self) -> Vec<LintFinding> {
        self.0.sort_by_key(|finding| finding.topic);
        self.0
    }
}
