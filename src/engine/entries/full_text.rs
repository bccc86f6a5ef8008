//! Full text of an entry, extracted from the page it links to and shown instead of the feed's text.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::poll::fetch::Validators;

/// Stored text of the page that an entry links to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FullText {
    /// Address of the page.
    pub url: String,
    /// Text of the page, with markup.
    pub html: String,
    /// Time of the last request for the page.
    pub asked: DateTime<Utc>,
    /// Validators of the page.
    pub validators: Validators,
    /// Reason that the page has no text, as a sentence.
    pub failed: Option<String>,
}
