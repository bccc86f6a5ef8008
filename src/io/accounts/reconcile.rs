//! Compares the subscriptions of an account with those on the server, and changes them on either side.

use std::collections::BTreeMap;

use super::server::{FailureKind, SyncFailure};
use super::session::Session;
use crate::engine::entries::account_state::FeedSync;
use crate::engine::entries::account_sync::{is_brought, leave_feed};
use crate::engine::feeds::addition::Subscribe;
use crate::engine::feeds::addresses::{address_of, comparable, split_login, subscribed_as};
use crate::engine::feeds::setting_row::{Chosen, FeedSettings};
use crate::engine::feeds::subscription::{GivenBy, Subscription};
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::loop_handle::Host;
use backissue_core::accounts::HistoryThere;
use backissue_core::accounts::answers::RemoteFeed;
use backissue_core::accounts::api_call::SubscriptionEdit;
use backissue_core::accounts::subscriptions::{
    AgreedFeed, FeedStep, LocalFeed, compare, folder_of,
};
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::FeedKey;

fn form_of(address: &str) -> String {
    let address = address_of(address).unwrap_or_else(|_| address.to_owned());
    comparable(&split_login(&address).map_or(address, |split| split.address))
}

/// Returns the title that the server should have: the user's own title, or the title that the server gave the feed first.
fn own_title(feed: &Subscription) -> Option<String> {
    let record = &feed.record;
    let is_remote = record.given_by == Some(GivenBy::Account);
    let first = record.title.as_ref().filter(|_| is_remote && !record.feed_settings.polled_here);
    record.own_title.as_ref().or(first).cloned()
}

/// Reads the local subscriptions with the state on which both sides last agreed, and notes the feed of each stream. Includes
/// feeds without an account, because the server may have them too.
fn local_feeds(session: &mut Session<'_>) -> Result<Vec<LocalFeed<FeedKey>>, SyncFailure> {
    let name = session.name.clone();
    let mut feeds = session.handle.visit(move |host| {
        let engine: &Engine = host.engine();
        let local = |feed: &Subscription, is_ended| {
            let account = feed.record.feed_settings.account.as_ref();
            let in_account = account == Some(&name);
            // A server cannot read the files of this machine or run its programs.
            let is_web = FeedSource::of(&feed.record.url) == FeedSource::Web;
            (is_web && (in_account || account.is_none())).then(|| LocalFeed {
                key: feed.key,
                address: form_of(&feed.record.url),
                own_title: own_title(feed),
                folder: feed.record.tags.first().cloned(),
                is_ended,
                leaving: feed.record.leaving,
                in_account,
                agreed: AgreedFeed::default(),
            })
        };
        let active = engine.feeds.values().filter_map(|feed| local(feed, false));
        let ended = engine.ended.values().filter_map(|feed| local(feed, true));
        active.chain(ended).collect::<Vec<LocalFeed<FeedKey>>>()
    })?;
    let keys: Vec<FeedKey> =
        feeds.iter().filter(|feed| feed.in_account).map(|feed| feed.key).collect();
    let mut agreed: BTreeMap<FeedKey, AgreedFeed> = session.handle.look(move |store| {
        keys.into_iter().map(|feed| Ok((feed, store.synced(feed)?.0))).collect()
    })?;
    for feed in &mut feeds {
        feed.agreed = agreed.remove(&feed.key).unwrap_or_default();
    }
    let is_held = |key: &FeedKey| feeds.iter().any(|feed| feed.key == *key && feed.is_ended);
    session.state.held.retain(is_held);
    let streams = feeds.iter().filter(|feed| !feed.is_ended && !feed.agreed.stream.is_empty());
    session.streams = streams.map(|feed| (feed.agreed.stream.clone(), feed.key)).collect();
    Ok(feeds)
}

/// Notes the feed of each stream. Returns whether subscriptions were changed here since they were last compared.
pub(super) fn read_streams(session: &mut Session<'_>) -> Result<bool, SyncFailure> {
    let feeds = local_feeds(session)?;
    let is_changed = |feed: &LocalFeed<FeedKey>| {
        let agreed = &feed.agreed;
        match (agreed.stream.is_empty(), feed.is_ended) {
            (is_unknown_there, true) => !is_unknown_there,
            (true, false) => true,
            (false, false) => {
                let title = feed.own_title.as_ref();
                title.is_some_and(|title| *title != agreed.title) || feed.folder != agreed.folder
            }
        }
    };
    Ok(feeds.iter().any(|feed| feed.in_account && is_changed(feed)))
}

/// Compares the subscriptions of both sides, and makes the changes on each side.
pub(super) fn compare_feeds(session: &mut Session<'_>) -> Result<(), SyncFailure> {
    let remote = session.server.subscriptions()?;
    if !session.file.has(&session.name) {
        // The user removed the account while the server answered.
        return Err(SyncFailure::cancelled());
    }
    // A change that is not durable here must not change the server.
    session.handle.wait_until_durable()?;
    let local = local_feeds(session)?;
    let account = session.name.clone();
    let steps = compare(&local, &remote, form_of)
        .map_err(|why| SyncFailure::other(format!("the list of account '{account}' {why}")))?;
    let added: Vec<RemoteFeed> = steps
        .iter()
        .filter_map(
            |step| if let FeedStep::AddHere(feed) = step { Some(feed.clone()) } else { None },
        )
        .collect();
    let changes = steps.iter().filter(|step| !matches!(step, FeedStep::Hold(_))).count();
    session.line.feeds = u32::try_from(changes).unwrap_or(u32::MAX);
    session.state.held.clear();
    add_here(session, added)?;
    let mut refused = None;
    let mut added_there = BTreeMap::new();
    for step in steps {
        if let FeedStep::AddThere(key) = step {
            match add_there(session, key) {
                Ok(stream) => added_there.insert(key, stream),
                Err(failure)
                    if failure.kind == FailureKind::Other || failure.kind.is_too_much() =>
                {
                    refused = Some(failure);
                    None
                }
                Err(failure) => return Err(failure),
            };
            continue;
        }
        match take_step(session, step) {
            Err(failure) if failure.kind == FailureKind::Other || failure.kind.is_too_much() => {
                refused = Some(failure);
            }
            taken => taken?,
        }
    }
    if !added_there.is_empty() {
        let remote = session.server.subscriptions()?;
        // The server may have followed a redirect. Then only the stream that it returned identifies the feed.
        for (key, stream) in added_there {
            let there = remote.iter().find(|feed| stream.as_ref() == Some(&feed.stream));
            if let Some(there) = there {
                connect(session, key, there, true)?;
            }
        }
        let local = local_feeds(session)?;
        for step in compare(&local, &remote, form_of).unwrap_or_default() {
            if matches!(step, FeedStep::Connect(..)) {
                take_step(session, step)?;
            }
        }
    }
    follow_addresses(session, &remote)?;
    // A failed change of one subscription must not stop the sync of entries and marks. It is tried again when everything is
    // compared next.
    if let Some(failure) = refused {
        tracing::warn!("account '{account}': {}", failure.text);
        session.line.refused = Some(failure.text);
    }
    Ok(())
}

/// Changes the addresses of feeds that have another address on the server now, and notes what the server reports about their
/// histories.
fn follow_addresses(session: &mut Session<'_>, remote: &[RemoteFeed]) -> Result<(), SyncFailure> {
    let local = local_feeds(session)?;
    let by_stream: BTreeMap<&str, &RemoteFeed> =
        remote.iter().map(|feed| (feed.stream.as_str(), feed)).collect();
    for feed in local.iter().filter(|feed| feed.in_account && !feed.is_ended) {
        let there = by_stream.get(feed.agreed.stream.as_str()).map(|there| form_of(&there.url));
        if let Some(to) = there.filter(|to| *to != feed.address) {
            session.ask(Request::FollowAccount(feed.key, to))?;
        }
    }
    // This program cannot check what the server reports, so name the server as its source.
    let host = session.server.host();
    let histories = local.iter().filter(|feed| feed.in_account && !feed.is_ended);
    let histories = histories.filter_map(|feed| {
        let HistoryThere { text, gaps } =
            by_stream.get(feed.agreed.stream.as_str())?.history.clone()?;
        Some((feed.key, HistoryThere { text: format!("{text}, as {host} says"), gaps }))
    });
    let histories: Vec<(FeedKey, HistoryThere)> = histories.collect();
    if histories.is_empty() { Ok(()) } else { session.ask(Request::HistoryThere(histories)) }
}

fn add_here(session: &mut Session<'_>, feeds: Vec<RemoteFeed>) -> Result<(), SyncFailure> {
    if feeds.is_empty() {
        return Ok(());
    }
    let subscribe = |feed: &RemoteFeed| Subscribe {
        address: feed.url.clone(),
        title: Some(feed.title.clone()).filter(|title| !title.is_empty()),
        site: feed.site.clone(),
        tags: folder_of(feed).map(str::to_owned).into_iter().collect(),
        feed_settings: FeedSettings {
            account: Some(session.name.clone()),
            ..FeedSettings::default()
        },
        given_by: GivenBy::Account,
        ..Subscribe::default()
    };
    session.ask(Request::Import(feeds.iter().map(subscribe).collect()))?;
    let wanted: BTreeMap<String, RemoteFeed> =
        feeds.into_iter().map(|feed| (form_of(&feed.url), feed)).collect();
    let (name, at) = (session.name.clone(), session.at);
    let syncs = session.handle.visit(move |host| {
        let feeds = host.engine().feeds.values();
        let mine = feeds.filter(|feed| feed.record.feed_settings.account.as_ref() == Some(&name));
        let found = mine.filter_map(|feed| {
            let agreed = AgreedFeed {
                title: feed.record.own_title.clone().unwrap_or_default(),
                folder: feed.record.tags.first().cloned(),
                ..AgreedFeed::of(wanted.get(&form_of(&feed.record.url))?)
            };
            Some(FeedSync { agreed: Some(agreed), ..FeedSync::new(feed.key, at) })
        });
        found.collect::<Vec<FeedSync>>()
    })?;
    session.write(syncs)
}

/// Changes what the user chose for a feed.
fn choose(
    session: &Session<'_>,
    key: FeedKey,
    change: impl FnOnce(&mut Chosen) + Send + 'static,
) -> Result<(), SyncFailure> {
    let chosen = session.handle.visit(move |host| {
        let feed = host.engine().feeds.get(&key)?;
        let mut chosen = feed.record.chosen();
        change(&mut chosen);
        Some(chosen)
    })?;
    match chosen {
        Some(chosen) => session.ask(Request::Set(key, Box::new(chosen))),
        None => Ok(()),
    }
}

fn agree(session: &mut Session<'_>, key: FeedKey, agreed: AgreedFeed) -> Result<(), SyncFailure> {
    let sync = FeedSync { agreed: Some(agreed), ..FeedSync::new(key, session.at) };
    session.write(vec![sync])
}

/// Subscribes to a feed on the server. Returns the stream if the server names it.
fn add_there(session: &mut Session<'_>, key: FeedKey) -> Result<Option<String>, SyncFailure> {
    let url = session
        .handle
        .visit(move |host| host.engine().feeds.get(&key).map(|feed| feed.record.url.clone()))?;
    match url {
        Some(url) => session.server.edit("", &SubscriptionEdit::Add(&url)),
        None => Ok(None),
    }
}

fn take_step(session: &mut Session<'_>, step: FeedStep<FeedKey>) -> Result<(), SyncFailure> {
    match step {
        // These steps were already made.
        FeedStep::AddHere(_) | FeedStep::AddThere(_) => Ok(()),
        FeedStep::Connect(key, there) => connect(session, key, &there, true),
        FeedStep::Restore(key, there) => {
            let is_free = session.handle.visit(move |host| {
                let engine: &Engine = host.engine();
                let url = engine.ended.get(&key).map(|feed| feed.record.url.as_str());
                url.is_some_and(|url| subscribed_as(engine, url).is_none())
            })?;
            if !is_free {
                // The feed belongs to another account.
                return Ok(());
            }
            session.ask(Request::SubscribeAgain(key))?;
            connect(session, key, &there, false)
        }
        FeedStep::RemoveHere(key) => remove_here(session, key),
        FeedStep::Hold(key) => {
            session.state.held.push(key);
            Ok(())
        }
        FeedStep::Forget(key) => agree(session, key, AgreedFeed::default()),
        FeedStep::RemoveThere(key, stream) => {
            let is_ended = move |host: &mut dyn Host| host.engine().ended.contains_key(&key);
            if !session.handle.visit(is_ended)? {
                // The user has restored the feed while the server answered.
                return Ok(());
            }
            session.server.edit(&stream, &SubscriptionEdit::Remove)?;
            agree(session, key, AgreedFeed::default())
        }
        FeedStep::RenameHere(key, there) => {
            let title = there.title.clone();
            choose(session, key, move |chosen| {
                chosen.own_title = Some(title).filter(|title| !title.is_empty());
            })?;
            change_agreed(session, key, move |agreed| agreed.title = there.title)
        }
        FeedStep::RenameThere(key, there, title) => {
            session.server.edit(&there.stream, &SubscriptionEdit::Rename(&title))?;
            change_agreed(session, key, move |agreed| agreed.title = title)
        }
        FeedStep::MoveHere(key, there) => {
            let to = folder_of(&there).map(str::to_owned);
            let folder = to.clone();
            choose(session, key, move |chosen| {
                if !chosen.tags.is_empty() {
                    chosen.tags.remove(0);
                }
                chosen.tags.retain(|tag| Some(tag) != folder.as_ref());
                chosen.tags.splice(0..0, folder);
            })?;
            change_agreed(session, key, move |agreed| agreed.folder = to)
        }
        FeedStep::MoveThere(key, there, to) => {
            let edit = SubscriptionEdit::Move(folder_of(&there), to.as_deref());
            session.server.edit(&there.stream, &edit)?;
            change_agreed(session, key, move |agreed| agreed.folder = to)
        }
    }
}

/// Unsubscribes here, because the feed was unsubscribed on the server. A feed that did not come from the account is kept.
fn remove_here(session: &mut Session<'_>, key: FeedKey) -> Result<(), SyncFailure> {
    let at = session.at;
    let found = session.handle.visit(move |host| {
        let feed = host.engine().feeds.get(&key)?;
        let own = (!is_brought(feed)).then(|| leave_feed(feed, at));
        Some((feed.record.shown_title().to_owned(), own))
    })?;
    let Some((title, own)) = found else { return Ok(()) };
    if let Some(requests) = own {
        session.line.kept.push(title);
        return requests.into_iter().try_for_each(|request| session.ask(request));
    }
    session.ask(Request::Unsubscribe(key))?;
    session.line.unsubscribed.push(title);
    agree(session, key, AgreedFeed::default())
}

/// Adds a feed to the account. If `is_polled` is set and the feed had no account, it is still polled here.
fn connect(
    session: &mut Session<'_>,
    key: FeedKey,
    there: &RemoteFeed,
    is_polled: bool,
) -> Result<(), SyncFailure> {
    let (name, agreed) = (session.name.clone(), AgreedFeed::of(there));
    let folder = agreed.folder.clone();
    // A feed that was never polled here has no title yet.
    let is_untitled = session.handle.visit(move |host| {
        host.engine().feeds.get(&key).is_some_and(|feed| feed.record.title.is_none())
    })?;
    let title = Some(there.title.clone()).filter(|title| is_untitled && !title.is_empty());
    choose(session, key, move |chosen| {
        chosen.own_title = chosen.own_title.take().or(title);
        let settings = &mut chosen.feed_settings;
        settings.polled_here |= is_polled && settings.account.is_none();
        settings.account = Some(name);
        if let Some(folder) = folder {
            chosen.tags.retain(|tag| *tag != folder);
            chosen.tags.insert(0, folder);
        }
    })?;
    agree(session, key, agreed)
}

fn change_agreed(
    session: &mut Session<'_>,
    key: FeedKey,
    change: impl FnOnce(&mut AgreedFeed),
) -> Result<(), SyncFailure> {
    let (mut agreed, _) = session.handle.look(move |store| store.synced(key))?;
    change(&mut agreed);
    agree(session, key, agreed)
}
