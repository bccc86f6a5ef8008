//! Queue of new entries that await notification.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::{DateTime, Utc};

use backissue_core::history::FeedKey;

/// New entries that await notification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notifications {
    /// Ranges of entry numbers by feed, in order of arrival.
    pub(super) waiting: Vec<(FeedKey, Range<u32>)>,
    /// Time at which the first waiting entry arrived, or at which the last batch of entries was sent.
    pub(super) since: Option<DateTime<Utc>>,
    /// `true` while entries are being loaded from the store or the user's command is running.
    pub(super) under_way: bool,
    /// Error of the last run of the user's command.
    pub failure: Option<String>,
    /// Number of new entries by feed for the next desktop notification. `last_title` is the title of the newest of these entries.
    pub(super) noted: BTreeMap<FeedKey, u32>,
    pub(super) last_title: String,
    /// Time of the last desktop notification.
    pub(super) noted_at: Option<DateTime<Utc>>,
}

impl Notifications {
    /// Returns `true` if no entry waits for the user's command and the command is not running.
    pub const fn is_at_rest(&self) -> bool {
        self.waiting.is_empty() && !self.under_way
    }
}
