//! The input for the checks of one document.

use chrono::{DateTime, Utc};

use crate::feed::{Breach, FeedDocument, Oddity};
use crate::schedule::CacheState;

/// A parsed document with the observations made while parsing it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LintInput<'a> {
    pub(super) document: &'a FeedDocument,
    pub(super) sightings: &'a [Oddity],
    pub(super) breaches: &'a [Breach],
    /// Size of the document in bytes.
    pub(super) size: usize,
    /// Address of the document, if known.
    pub(super) url: Option<&'a str>,
    /// Cache lifetime stated by the server; `None` if the document did not come from a server.
    pub(super) cache: Option<CacheState>,
    pub(super) now: DateTime<Utc>,
}
