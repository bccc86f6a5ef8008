//! What a sync with the server of an account changes in a feed.

use chrono::{DateTime, Utc};

use super::account_state::{AccountStatus, FeedSync, FeedSynced, SyncProgress};
use super::{marks, page_fetches};
use crate::engine::change::MarkChange;
use crate::engine::feeds::change_settings;
use crate::engine::feeds::setting_row::Chosen;
use crate::engine::feeds::subscription::{GivenBy, Subscription, SubscriptionRecord};
use crate::engine::request::{Effect, Event, MarkedBy, Request};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::accounts::HistoryThere;
use backissue_core::accounts::subscriptions::{AgreedFeed, Leaving};
use backissue_core::history::FeedKey;

/// Notes how far a sync is.
pub fn progress(engine: &mut Engine, progress: Option<SyncProgress>) {
    engine.sync_progress = progress;
}

/// Lets all accounts be synced.
pub const fn ask(engine: &mut Engine) {
    engine.syncs_asked = engine.syncs_asked.wrapping_add(1);
}

/// Returns the feeds of an account.
pub fn feeds_of<'e>(engine: &'e Engine, name: &'e str) -> impl Iterator<Item = &'e Subscription> {
    let feeds = engine.feeds.values();
    feeds.filter(move |feed| feed.record.feed_settings.account.as_deref() == Some(name))
}

/// Checks whether the server of an account added a feed. An account does not remove other feeds, which existed before or were added
/// by the user.
pub fn is_brought(feed: &Subscription) -> bool {
    feed.record.given_by == Some(GivenBy::Account)
}

/// Returns the requests that disconnect the feeds of an account: the feeds are then polled here, and no sync changes them. Unless
/// `kept` is set, the feeds that the server added are then unsubscribed. If that is undone, they are polled here.
pub fn leave(engine: &Engine, name: &str, kept: bool, at: DateTime<Utc>) -> Vec<Request> {
    let feeds: Vec<&Subscription> = feeds_of(engine, name).collect();
    let set = feeds.iter().map(|feed| Request::Set(feed.key, Box::new(without_account(feed))));
    let disconnected = feeds.iter().map(|feed| disconnected(feed.key, at));
    let mut requests =
        vec![Request::Together(set.collect()), Request::Sync(disconnected.collect())];
    if !kept {
        let removed = feeds.iter().filter(|feed| is_brought(feed));
        let removed = removed.map(|feed| Request::Unsubscribe(feed.key));
        requests.push(Request::Together(removed.collect()));
    }
    requests
}

/// Returns the requests that disconnect a feed that the server no longer has but that stays here, because it existed before.
pub fn leave_feed(feed: &Subscription, at: DateTime<Utc>) -> [Request; 2] {
    let set = Request::Set(feed.key, Box::new(without_account(feed)));
    [set, Request::Sync(vec![disconnected(feed.key, at)])]
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

/// Sets the list of accounts. Feeds of unknown accounts are disconnected, because nobody would poll them. Such feeds exist if a
/// sync or an undo brings feeds of an account that was removed in the meantime.
pub fn accounts_seen(engine: &mut Engine, now: DateTime<Utc>, accounts: Vec<AccountStatus>) {
    let lost = lost_feeds(engine, &accounts).map(|feed| (feed.key, without_account(feed)));
    let lost: Vec<(FeedKey, Chosen)> = lost.collect();
    engine.accounts = accounts;
    write(engine, lost.iter().map(|(feed, _)| disconnected(*feed, now)).collect());
    for (feed, chosen) in lost {
        change_settings::replace(engine, now, feed, chosen, None);
    }
}

/// Passes the results of a sync to the store, except for feeds that no longer exist.
pub fn write(engine: &mut Engine, syncs: Vec<FeedSync>) {
    let mut records = Vec::new();
    for sync in syncs.iter().filter(|sync| sync.agreed == Some(AgreedFeed::default())) {
        // The server no longer has the feed, so its removal there is finished.
        let left = engine.ended.get_mut(&sync.feed);
        if let Some(left) = left.filter(|left| left.record.leaving != Leaving::Stays) {
            left.record.leaving = Leaving::Stays;
            records.push((sync.feed, left.record.clone()));
        }
    }
    save(engine, records);
    let known = syncs.into_iter().filter(|sync| {
        engine.feeds.contains_key(&sync.feed) || engine.ended.contains_key(&sync.feed)
    });
    engine.effects.extend(known.map(|sync| Effect::store(Job::Sync(Box::new(sync)))));
}

/// Notes what the servers of accounts say of the histories of feeds.
pub fn note_histories(engine: &mut Engine, histories: Vec<(FeedKey, HistoryThere)>) {
    for (key, history) in histories {
        let Some(feed) = engine.feeds.get_mut(&key) else { continue };
        if feed.state.history_there.as_deref() != Some(&history) {
            feed.state.history_there = Some(Box::new(history));
            engine.save_state(key);
        }
    }
}

/// Returns the requests that carry out the user's answer about changes that an account held back: yes changes the server, no takes
/// the state of the server.
pub fn answer(
    engine: &Engine,
    name: &str,
    held: Vec<FeedKey>,
    at: DateTime<Utc>,
    yes: bool,
) -> Vec<Request> {
    let marks = |feed: &Subscription| FeedSync { answer: Some(yes), ..FeedSync::new(feed.key, at) };
    let marks = Request::Sync(feeds_of(engine, name).map(marks).collect());
    let feeds = if yes {
        Request::LetLeave(held)
    } else {
        Request::Together(held.into_iter().map(Request::SubscribeAgain).collect())
    };
    vec![marks, feeds, Request::SyncAccounts]
}

/// Lets the servers remove subscriptions that were removed here, because the user answered yes.
pub fn let_leave(engine: &mut Engine, feeds: &[FeedKey]) {
    let mut records = Vec::new();
    for feed in feeds {
        if let Some(ended) = engine.ended.get_mut(feed) {
            ended.record.leaving = Leaving::Answered;
            records.push((*feed, ended.record.clone()));
        }
    }
    save(engine, records);
}

fn save(engine: &mut Engine, records: Vec<(FeedKey, SubscriptionRecord)>) {
    if !records.is_empty() {
        engine.unsaved = engine.unsaved.saturating_add(1);
        engine.store(Job::SaveRecords(records));
    }
}

/// Handles the answer of the store. New entries may have pages and pictures to fetch ahead.
pub fn written(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    (synced, marks): (FeedSynced, Vec<MarkChange>),
) {
    engine.synced.new = engine.synced.new.saturating_add(synced.new);
    engine.synced.edited = engine.synced.edited.saturating_add(synced.edited);
    engine.synced.marked = engine.synced.marked.saturating_add(synced.marked);
    if engine.feeds.contains_key(&feed) {
        for mark in marks {
            marks::show(engine, mark, MarkedBy::Server);
        }
        if synced.new > 0 || synced.edited > 0 {
            engine.tell(Event::Updated { feed, entries: true, poll: false });
        } else if synced.marked > 0 {
            engine.tell(Event::CountersChanged);
        }
    }
    if synced.new > 0 {
        page_fetches::look_for_texts(engine, now, feed);
    }
}
