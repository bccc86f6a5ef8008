//! What a sync with the server of an account changes in a feed, and the state of the accounts.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use backissue_core::accounts::marks::AgreedLabel;
use backissue_core::accounts::subscriptions::AgreedFeed;
use backissue_core::accounts::{ItemId, Marks};
use backissue_core::feed::Entry;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;

/// The result of a sync for a feed. All of it is written or nothing. Its marks are merged with the marks that the entries have when
/// it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedSync {
    /// The feed.
    pub feed: FeedKey,
    /// Time of the sync.
    pub at: DateTime<Utc>,
    /// The subscription on which both sides now agree; `None` if it does not change.
    pub agreed: Option<AgreedFeed>,
    /// Entries that are new here, with their texts. They may include entries that were edited on the server.
    pub arrived: Vec<(ItemId, Entry)>,
    /// Marks of entries on the server.
    pub marks: BTreeMap<ItemId, Marks>,
    /// Entries that are no longer on the server. They stay here.
    pub gone: BTreeSet<ItemId>,
    /// Marks that are about to be sent.
    pub sending: BTreeMap<ItemId, Marks>,
    /// The user's answer about marks that were held back: `true` to send them, `false` to take the marks of the server.
    pub answer: Option<bool>,
    /// Labels on which both sides now agree. Labels that are not listed do not change.
    pub labels: BTreeMap<String, AgreedLabel>,
}

impl FeedSync {
    /// Creates the result of a sync that changes nothing.
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

/// What the store changed for a [`FeedSync`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeedSynced {
    /// Number of entries that were added.
    pub new: u32,
    /// Number of entries that were edited on the server.
    pub edited: u32,
    /// Number of entries whose marks changed here.
    pub marked: u32,
}

/// Progress of the sync of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncProgress {
    /// Name of the account.
    pub account: String,
    /// Description of the work.
    pub what: String,
    /// Number of finished items.
    pub done: usize,
    /// Number of all items.
    pub all: usize,
}

/// An account, as the program lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountStatus {
    /// Name of the account.
    pub name: String,
    /// The user and the server.
    pub place: String,
    /// Time and result of the last sync, if there was one.
    pub last: Option<(DateTime<Utc>, String)>,
    /// Why the last sync failed, as a sentence; `None` if it did not fail.
    pub failure: Option<String>,
    /// Changes that wait for the user's answer.
    pub waits: WaitingMarks,
}

/// Changes that an account does not make on its server until the user answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingMarks {
    /// Feeds that were removed here.
    pub feeds: Vec<FeedKey>,
    /// Number of held-back marks from a restored backup.
    pub marks: usize,
    /// Number of other marks that were not sent yet. The user is not asked about them.
    pub unsent: usize,
}

impl WaitingMarks {
    /// Describes what happens if the user answers yes; `None` if nothing waits.
    pub fn words(&self) -> Option<String> {
        let feeds = counted_words(self.feeds.len(), "feed", "feeds");
        let marks = counted_words(self.marks, "mark", "marks");
        match (self.feeds.len(), self.marks) {
            (0, 0) => None,
            (0, _) => Some(format!("send {marks} of the restored backup")),
            (_, 0) => Some(format!("also remove {feeds} from the server")),
            _ => Some(format!(
                "also remove {feeds} from the server, and send {marks} of the restored backup"
            )),
        }
    }
}
