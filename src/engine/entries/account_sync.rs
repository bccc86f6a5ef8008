//! What a sync with the server of an account changes in a feed.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::accounts::labels::AgreedLabel;
use backissue_core::accounts::subscriptions::AgreedFeed;
use backissue_core::accounts::{ItemId, Marks};
use backissue_core::feed::Entry;
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
            labels: BTreeMap::new(),
        }
    }
}

/// What the store did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeedSynced {
    /// Number of entries that were added.
    pub new: u32,
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

/// Hands what a sync brings to the store. Feeds that were unsubscribed meanwhile are left out.
pub fn write(engine: &Engine, syncs: Vec<FeedSync>) -> Vec<Effect> {
    let known = syncs.into_iter().filter(|sync| {
        engine.feeds.contains_key(&sync.feed) || engine.ended.contains_key(&sync.feed)
    });
    known.map(|sync| Effect::store(Job::Sync(Box::new(sync)))).collect()
}

/// Handles the answer of the store.
pub fn written(engine: &mut Engine, feed: FeedKey, synced: FeedSynced) {
    engine.synced.new = engine.synced.new.saturating_add(synced.new);
    engine.synced.marked = engine.synced.marked.saturating_add(synced.marked);
    if engine.feeds.contains_key(&feed) {
        engine.set_counters(feed, synced.counters);
        if synced.new > 0 || synced.marked > 0 {
            engine.tell(Event::Updated { feed, entries: true, poll: false });
        }
    }
}
