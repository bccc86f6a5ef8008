//! What a sync with the server of an account changes in a feed.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::texts_ahead;
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::feed_settings;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::request::Request;
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

/// An account, as the reader lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountStatus {
    /// Name of the account.
    pub name: String,
    /// The user and the server.
    pub place: String,
    /// Time and result of the last sync, if there was one.
    pub last: Option<(DateTime<Utc>, String)>,
    /// `true` if the last sync failed.
    pub is_failing: bool,
}

/// Returns the feeds of an account.
pub fn feeds_of<'e>(engine: &'e Engine, name: &'e str) -> impl Iterator<Item = &'e Subscription> {
    let feeds = engine.feeds.values();
    feeds.filter(move |feed| feed.record.feed_settings.account.as_deref() == Some(name))
}

/// Returns the requests that make the feeds of an account local ones: they are polled here, and no sync concerns them. Unless they are
/// `kept`, they are unsubscribed afterwards, so that an undo restores feeds that are polled.
pub fn leave(engine: &Engine, name: &str, kept: bool, at: DateTime<Utc>) -> Vec<Request> {
    let feeds: Vec<&Subscription> = feeds_of(engine, name).collect();
    let set = feeds.iter().map(|feed| Request::Set(feed.key, Box::new(without_account(feed))));
    let disconnected = feeds.iter().map(|feed| disconnected(feed.key, at));
    let mut requests =
        vec![Request::Together(set.collect()), Request::Sync(disconnected.collect())];
    if !kept {
        let removed = feeds.iter().map(|feed| Request::Unsubscribe(feed.key));
        requests.push(Request::Together(removed.collect()));
    }
    requests
}

fn without_account(feed: &Subscription) -> Chosen {
    let mut chosen = feed.record.chosen();
    (chosen.feed_settings.account, chosen.feed_settings.polled_here) = (None, false);
    chosen
}

fn disconnected(feed: FeedKey, at: DateTime<Utc>) -> FeedSync {
    FeedSync { agreed: Some(AgreedFeed::default()), ..FeedSync::new(feed, at) }
}

/// Returns the feeds of accounts that do not exist.
pub fn lost_feeds<'e>(
    engine: &'e Engine,
    accounts: &'e [AccountStatus],
) -> impl Iterator<Item = &'e Subscription> {
    engine.feeds.values().filter(|feed| {
        let account = feed.record.feed_settings.account.as_ref();
        account.is_some_and(|name| accounts.iter().all(|account| account.name != *name))
    })
}

/// Takes over which accounts there are. Feeds of others become local ones, because nobody would poll them: a sync or an undo can bring
/// feeds of an account that was removed meanwhile.
pub fn accounts_seen(
    engine: &mut Engine,
    now: DateTime<Utc>,
    accounts: Vec<AccountStatus>,
) -> Vec<Effect> {
    let lost = lost_feeds(engine, &accounts).map(|feed| (feed.key, without_account(feed)));
    let lost: Vec<(FeedKey, Chosen)> = lost.collect();
    engine.accounts = accounts;
    let mut effects =
        write(engine, lost.iter().map(|(feed, _)| disconnected(*feed, now)).collect());
    for (feed, chosen) in lost {
        effects.extend(feed_settings::replace(engine, now, feed, chosen, None));
    }
    effects
}

/// Hands what a sync brings to the store. Feeds that were unsubscribed meanwhile are left out.
pub fn write(engine: &Engine, syncs: Vec<FeedSync>) -> Vec<Effect> {
    let known = syncs.into_iter().filter(|sync| {
        engine.feeds.contains_key(&sync.feed) || engine.ended.contains_key(&sync.feed)
    });
    known.map(|sync| Effect::store(Job::Sync(Box::new(sync)))).collect()
}

/// Handles the answer of the store. New entries may have pages and pictures to fetch ahead.
pub fn written(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    synced: FeedSynced,
) -> Option<Effect> {
    engine.synced.new = engine.synced.new.saturating_add(synced.new);
    engine.synced.marked = engine.synced.marked.saturating_add(synced.marked);
    if engine.feeds.contains_key(&feed) {
        engine.set_counters(feed, synced.counters);
        if synced.new > 0 || synced.marked > 0 {
            engine.tell(Event::Updated { feed, entries: true, poll: false });
        }
    }
    (synced.new > 0).then(|| texts_ahead::look(engine, now, feed)).flatten()
}
