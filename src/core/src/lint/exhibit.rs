//! What the checks of one document are given to look at.

use chrono::{DateTime, Utc};

use crate::feed::{FeedDocument, Oddity};
use crate::schedule::CacheState;

/// A document, and what was noticed while reading it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exhibit<'a> {
    pub(super) document: &'a FeedDocument,
    pub(super) sightings: &'a [Oddity],
    /// Size of the document in bytes.
    pub(super) size: usize,
    /// Where it came from, if told.
    pub(super) url: Option<&'a str>,
    /// The lifetime that its server states, if it was asked.
    pub(super) cache: Option<CacheState>,
    pub(super) now: DateTime<Utc>,
}
