//! New entries that wait to be told of.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::{DateTime, Utc};

use backissue_core::history::FeedKey;

/// New entries that somebody is to be told of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notifications {
    /// Their numbers, feed by feed, as they came.
    pub(super) waiting: Vec<(FeedKey, Range<u32>)>,
    /// When the first of them came.
    pub(super) since: Option<DateTime<Utc>>,
    /// They are being read from the store, or the command is at work.
    pub(super) under_way: bool,
    /// Why the command last failed.
    pub failure: Option<String>,
    /// For the desktop: how many of which feeds, and the title of the last one.
    pub(super) noted: BTreeMap<FeedKey, u32>,
    pub(super) last_title: String,
    /// When the desktop was told last.
    pub(super) noted_at: Option<DateTime<Utc>>,
}

impl Notifications {
    /// Nothing waits and no command is at work.
    pub const fn is_at_rest(&self) -> bool {
        self.waiting.is_empty() && !self.under_way
    }
}
