//! What a sync with the server of an account brings for a feed, and how the accounts are.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use backissue_core::accounts::marks::AgreedLabel;
use backissue_core::accounts::subscriptions::AgreedFeed;
use backissue_core::accounts::{ItemId, Marks};
use backissue_core::feed::Entry;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{Counters, FeedKey};

/// What a sync brings for a feed. It is written as a whole, and merged with the marks that the entries have at that moment.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedSync {
    /// The feed.
    pub feed: FeedKey,
    /// Time of the sync.
    pub at: DateTime<Utc>,
    /// The subscription as both sides have it from now on; `None` changes nothing of it.
    pub agreed: Option<AgreedFeed>,
    /// Entries with their texts that this side does not have yet.
    pub arrived: Vec<(ItemId, Entry)>,
    /// Marks of entries on the server.
    pub marks: BTreeMap<ItemId, Marks>,
    /// Entries that are no longer on the server. They stay here.
    pub gone: BTreeSet<ItemId>,
    /// Marks that are about to be sent.
    pub sending: BTreeMap<ItemId, Marks>,
    /// The user's answer about marks that wait for it: `true` to send them, `false` to take those of the server.
    pub answer: Option<bool>,
    /// Labels as both sides have them from now on; others do not change.
    pub labels: BTreeMap<String, AgreedLabel>,
}

impl FeedSync {
    /// Creates a sync of a feed that brings nothing.
    pub const fn new(feed: FeedKey, at: DateTime<Utc>) -> Self {
        Self {
            feed,
            at,
            agreed: None,
            arrived: Vec::new(),
            marks: BTreeMap::new(),
            gone: BTreeSet::new(),
            sending: BTreeMap::new(),
            answer: None,
            labels: BTreeMap::new(),
        }
    }
}

/// What the store did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeedSynced {
    /// Number of entries that were added.
    pub new: u32,
    /// Number of entries that were edited on the server.
    pub edited: u32,
    /// Number of entries whose marks changed here.
    pub marked: u32,
    /// Counters of the feed afterwards.
    pub counters: Counters,
}

/// How far the sync of an account is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncProgress {
    /// Name of the account.
    pub account: String,
    /// What is done.
    pub what: String,
    /// Number that is done.
    pub done: usize,
    /// Number of all.
    pub all: usize,
}

/// An account, as the reader lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountStatus {
    /// Name of the account.
    pub name: String,
    /// The user and the server.
    pub place: String,
    /// Time and result of the last sync, if there was one.
    pub last: Option<(DateTime<Utc>, String)>,
    /// Why the last sync failed, a sentence; `None` if it did not.
    pub failure: Option<String>,
    /// What waits for the user's answer.
    pub waits: WaitingMarks,
}

/// What an account does not change on its server until the user answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingMarks {
    /// Feeds that were removed here.
    pub feeds: Vec<FeedKey>,
    /// Number of marks of a restored backup.
    pub marks: usize,
    /// Number of other marks that could not be sent so far; no question is asked about them.
    pub unsent: usize,
}

impl WaitingMarks {
    /// Describes what a yes would do; `None` if nothing waits.
    pub fn words(&self) -> Option<String> {
        let feeds = counted_words(self.feeds.len(), "feed", "feeds");
        let marks = counted_words(self.marks, "mark", "marks");
        match (self.feeds.len(), self.marks) {
            (0, 0) => None,
            (0, _) => Some(format!("send {marks} of the restored backup")),
            (_, 0) => Some(format!("remove {feeds} there, too")),
            _ => {
                Some(format!("remove {feeds} there, too, and send {marks} of the restored backup"))
            }
        }
    }
}
