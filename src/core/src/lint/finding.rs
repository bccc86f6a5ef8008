//! A single finding about a document.

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
