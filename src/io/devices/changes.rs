//! Carries out the changes that a device requests. Each change becomes a step in the log of the device, so that it can be undone.
//! The step is written before the change, except for a new subscription, whose number is known only afterwards. The steps are not
//! part of the user's undo stack.

use backissue_core::accounts::served::{self, ServedCall, Stream, StreamWanted, TagEdit};
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use chrono::{DateTime, TimeDelta, Utc};
use url::Url;

use super::replies::{ReplyFault, wanted_here};
use crate::engine::change::MarkChange;
use crate::engine::feeds::addition::Subscribe;
use crate::engine::feeds::addresses::{by_address, comparable, subscribed_as};
use crate::engine::feeds::setting_row::Chosen;
use crate::engine::feeds::subscription::GivenBy;
use crate::engine::feeds::unsubscribe;
use crate::engine::request::Request;
use crate::engine::settings::Join;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_handle::{ArrivalFault, LoopHandle};
use crate::io::store::{DeviceChange, DeviceStep};

/// Maximum number of subscriptions that a device adds in an hour.
const ADDED_MAX: usize = 20;
/// Maximum number of feeds that a device removes in a day without asking the user.
const REMOVED_MAX: usize = 5;
/// Maximum length of an address, in bytes.
const URL_MAX: usize = 2_048;
/// The answer to a change that was carried out.
const OK: &str = "OK";

/// Carries out a change.
pub(super) fn carry_out(
    handle: &LoopHandle,
    device: &str,
    asked: ServedCall,
) -> Result<String, ReplyFault> {
    match asked {
        ServedCall::Edit { edits, ids } => {
            let entries = handle.look(move |store| store.numbered(&ids))?;
            let keys: Vec<EntryKey> = entries.into_iter().map(|(_, key)| key).collect();
            for edit in edits {
                self::edit(handle, device, edit, keys.clone())?;
            }
        }
        ServedCall::MarkAll { stream, until } => mark_all(handle, device, stream, until)?,
        ServedCall::Subscribe { url, title, folder, is_quick } => {
            let added = subscribe(handle, device, &url, title, folder);
            if is_quick {
                return match added {
                    Ok(feed) => Ok(served::write_quick_add(Ok(feed.0))),
                    Err(ReplyFault::Refused(reply)) => {
                        Ok(served::write_quick_add(Err(&reply.text)))
                    }
                    Err(ended) => Err(ended),
                };
            }
            added?;
        }
        ServedCall::Unsubscribe(stream) => unsubscribe(handle, device, stream)?,
        ServedCall::Rearrange { feed, title, into, from } => {
            let key = handle.visit(move |host| named_feed(host.engine(), &feed))?;
            let key = key.ok_or_else(unknown_feed)?;
            arrange(handle, device, move |of, chosen| {
                of == key && {
                    chosen.own_title = title.clone().or(chosen.own_title.take());
                    move_tags(&mut chosen.tags, &into, &from);
                    true
                }
            })?;
        }
        ServedCall::RenameFolder { from, to } => arrange(handle, device, move |_, chosen| {
            let place = chosen.tags.iter().position(|tag| *tag == from);
            place.is_some_and(|place| {
                chosen.tags.retain(|tag| *tag != from && *tag != to);
                chosen.tags.insert(place.min(chosen.tags.len()), to.clone());
                true
            })
        })?,
        ServedCall::RemoveFolder(name) => arrange(handle, device, move |_, chosen| {
            let before = chosen.tags.len();
            chosen.tags.retain(|tag| *tag != name);
            chosen.tags.len() < before
        })?,
        ServedCall::Tags
        | ServedCall::Subscriptions
        | ServedCall::Counts
        | ServedCall::Ids(_)
        | ServedCall::Contents(_)
        | ServedCall::Atom(_)
        | ServedCall::Items(_) => {}
    }
    Ok(OK.to_owned())
}

/// Adds a step to the log of a device. Returns the time by which the step is known.
fn note(
    handle: &LoopHandle,
    device: &str,
    changes: Vec<DeviceChange>,
) -> Result<DateTime<Utc>, ReplyFault> {
    let (device, at) = (device.to_owned(), clock::precise_now());
    handle.look(move |store| {
        store.change_device(&device, at, |record| {
            record.steps.push(DeviceStep { at, changes });
            Some(())
        })
    })?;
    Ok(at)
}

/// Removes a step from the log of a device.
fn forget(handle: &LoopHandle, device: &str, at: DateTime<Utc>) -> Result<(), ReplyFault> {
    let device = device.to_owned();
    handle.look(move |store| {
        store.change_device(&device, clock::now(), |record| {
            record.steps.retain(|step| step.at != at);
            Some(())
        })
    })?;
    Ok(())
}

/// Adds a step to the log of a device and carries it out. A refused change leaves no step.
fn take_step(
    handle: &LoopHandle,
    device: &str,
    changes: Vec<DeviceChange>,
    request: Request,
) -> Result<(), ReplyFault> {
    let at = note(handle, device, changes)?;
    let done = handle.arrive(request);
    // After a failed write it is not known whether this change is among those written, so its step stays.
    if let Err(ArrivalFault::Refused(_)) = done {
        forget(handle, device, at)?;
    }
    Ok(done?)
}

fn edit(
    handle: &LoopHandle,
    device: &str,
    edit: TagEdit,
    keys: Vec<EntryKey>,
) -> Result<(), ReplyFault> {
    match edit {
        TagEdit::Read(value) => mark(handle, device, Flag::Read, value, keys),
        TagEdit::Starred(value) => mark(handle, device, Flag::Starred, value, keys),
        TagEdit::Label(name, set) => {
            let wanted = name.clone();
            let (ids, is_folder) = handle.visit(move |host| {
                let engine = host.engine();
                let named = engine.filters.list.iter();
                let named = named.filter(|filter| filter.action.label() == Some(wanted.as_str()));
                let is_folder =
                    engine.feeds.values().any(|feed| feed.record.tags.contains(&wanted));
                (named.map(|filter| filter.id).collect::<Vec<_>>(), is_folder)
            })?;
            if is_folder {
                // An entry cannot get a label with the name of a folder, because lists would mix both.
                return Ok(());
            }
            let keys = handle.look(move |store| {
                let has = |key: &EntryKey| {
                    store.filters_that_hit(*key).iter().any(|filter| ids.contains(filter))
                };
                Ok(keys.into_iter().filter(|key| has(key) != set).collect::<Vec<_>>())
            })?;
            if keys.is_empty() {
                return Ok(());
            }
            let change = DeviceChange::Labelled { name: name.clone(), keys: keys.clone(), set };
            take_step(handle, device, vec![change], Request::SyncLabel { name, keys, set })
        }
    }
}

/// Sets or removes a mark, as the keys in the reader do.
pub(super) fn mark(
    handle: &LoopHandle,
    device: &str,
    flag: Flag,
    value: bool,
    keys: Vec<EntryKey>,
) -> Result<(), ReplyFault> {
    let joins = handle.visit(|host| host.engine().settings.join != Join::Never)?;
    let plan = handle.look(move |store| store.plan_mark(&keys, (flag, value, joins)))?;
    if plan.changing.is_empty() {
        return Ok(());
    }
    let is_old = flag == Flag::Read && !value && plan.all_from_history;
    let flag = if is_old { Flag::FromHistory } else { flag };
    let change = MarkChange { flag, value, keys: plan.changing };
    take_step(handle, device, vec![DeviceChange::Marked(change.clone())], Request::Mark(change))
}

fn mark_all(
    handle: &LoopHandle,
    device: &str,
    stream: Stream,
    until: u64,
) -> Result<(), ReplyFault> {
    let wanted = handle.visit(move |host| {
        let unread = StreamWanted {
            stream,
            within: Vec::new(),
            without: vec![Stream::Read],
            since: None,
            until: None,
            // Entries that arrived later were not on the screen of the device.
            after: until.checked_add(1),
            oldest_first: false,
            count: usize::MAX,
        };
        wanted_here(host.engine(), &unread)
    })?;
    let found = handle.look(move |store| store.numbered_entries(&wanted))?;
    let keys = found.entries.into_iter().map(|(_, key)| key).collect();
    mark(handle, device, Flag::Read, true, keys)
}

fn unknown_feed() -> ReplyFault {
    ReplyFault::refused(400, "there is no such feed")
}

fn named_feed(engine: &Engine, stream: &Stream) -> Option<FeedKey> {
    let key = match stream {
        Stream::Feed(number) => FeedKey(*number),
        Stream::Address(url) => subscribed_as(engine, url)?,
        Stream::All | Stream::Read | Stream::Starred | Stream::Label(_) | Stream::Unknown => {
            return None;
        }
    };
    engine.feeds.contains_key(&key).then_some(key)
}

/// Counts the changes of a kind that a device has made since a time.
fn done_since(
    handle: &LoopHandle,
    device: &str,
    since: DateTime<Utc>,
    is_kind: fn(&DeviceChange) -> bool,
) -> Result<usize, ReplyFault> {
    let device = device.to_owned();
    let records = handle.look(|store| store.device_records())?;
    Ok(records.get(&device).map_or(0, |record| record.count(since, is_kind)))
}

/// Subscribes to a web address. The device does not learn what the address answers.
fn subscribe(
    handle: &LoopHandle,
    device: &str,
    url: &str,
    title: String,
    folder: Option<String>,
) -> Result<FeedKey, ReplyFault> {
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    let address = Url::parse(url.trim()).ok().filter(is_web).filter(|_| url.len() <= URL_MAX);
    let without_login = address.and_then(|mut url| {
        url.set_username("").and_then(|()| url.set_password(None)).ok().map(|()| url)
    });
    let Some(address) = without_login else {
        return Err(ReplyFault::refused(400, "only addresses with http or https can be added"));
    };
    let address = address.to_string();
    let wanted = comparable(&address);
    if handle.visit(move |host| by_address(host.engine()).contains_key(&wanted))? {
        return Err(ReplyFault::refused(400, "already subscribed to this address"));
    }
    let hour_ago = clock::now() - TimeDelta::hours(1);
    let is_added = |change: &DeviceChange| matches!(change, DeviceChange::Subscribed(_));
    if done_since(handle, device, hour_ago, is_added)? >= ADDED_MAX {
        return Err(ReplyFault::refused(
            429,
            format!("a device can add {ADDED_MAX} feeds in an hour: try again later"),
        ));
    }
    let subscribe = Subscribe {
        address: address.clone(),
        title: Some(title).filter(|title| !title.is_empty()),
        tags: folder.into_iter().collect(),
        given_by: GivenBy::Device,
        ..Subscribe::default()
    };
    // The number of the feed is known only afterwards.
    handle.arrive(Request::Import(vec![subscribe]))?;
    let feed = handle.visit(move |host| subscribed_as(host.engine(), &address))?;
    let feed = feed.ok_or_else(|| ReplyFault::refused(400, "this address cannot be added"))?;
    note(handle, device, vec![DeviceChange::Subscribed(feed)])?;
    Ok(feed)
}

fn unsubscribe(handle: &LoopHandle, device: &str, stream: Stream) -> Result<(), ReplyFault> {
    let found = handle.visit(move |host| {
        let key = named_feed(host.engine(), &stream)?;
        let record = &host.engine().feeds.get(&key)?.record;
        let title = record.shown_title().to_owned();
        Some((key, title, record.feed_settings.account.is_some()))
    })?;
    let (feed, title, is_of_account) = found.ok_or_else(unknown_feed)?;
    let day_ago = clock::now() - TimeDelta::days(1);
    let is_removed = |change: &DeviceChange| matches!(change, DeviceChange::Unsubscribed(_));
    let is_much = done_since(handle, device, day_ago, is_removed)? >= REMOVED_MAX;
    if is_much || is_of_account {
        let why = if is_of_account { "it is one of an account" } else { "it removed many today" };
        let text = format!(
            "the device '{device}' asks to unsubscribe from '{title}' ({why}): answer in Attention, or with 'backissue device allow {device}'"
        );
        handle.arrive(Request::HoldRemoval(device.to_owned(), feed))?;
        handle.do_later(move |host| host.complain(text));
        return Err(ReplyFault::refused(403, "this waits for an answer in the reader"));
    }
    let change = DeviceChange::Unsubscribed(feed);
    take_step(handle, device, vec![change], Request::Unsubscribe(feed))
}

/// Moves a feed between folders. In `FreshRSS`, a feed has one folder, so a new folder without an old one replaces the first tag.
fn move_tags(tags: &mut Vec<String>, into: &[String], from: &[String]) {
    if from.is_empty() && !into.is_empty() && !tags.is_empty() {
        tags.remove(0);
    }
    tags.retain(|tag| !from.contains(tag) && !into.contains(tag));
    tags.splice(0..0, into.iter().cloned());
}

/// Changes titles and tags of feeds in one step. `change` returns whether to change the feed.
fn arrange(
    handle: &LoopHandle,
    device: &str,
    change: impl Fn(FeedKey, &mut Chosen) -> bool + Send + 'static,
) -> Result<(), ReplyFault> {
    let planned = handle.visit(move |host| {
        let feeds = host.engine().feeds.values();
        let planned = feeds.filter_map(|feed| {
            let before = feed.record.chosen();
            let mut after = before.clone();
            (change(feed.key, &mut after) && after != before).then_some((feed.key, before, after))
        });
        planned.collect::<Vec<_>>()
    })?;
    if planned.is_empty() {
        return Ok(());
    }
    let before = |(key, before, _): &(FeedKey, Chosen, Chosen)| {
        DeviceChange::Arranged(*key, Box::new(before.clone()))
    };
    let changes = planned.iter().map(before).collect();
    let requests = planned.into_iter().map(|(key, _, after)| Request::Set(key, Box::new(after)));
    take_step(handle, device, changes, Request::Together(requests.collect()))
}

/// Undoes the last step of a device, or cancels a removal that waits for the user. Returns a description of what was undone, or
/// `None` if there is nothing to undo.
pub(super) fn undo(handle: &LoopHandle, device: &str) -> Result<Option<String>, ReplyFault> {
    let name = device.to_owned();
    let asked = handle.visit(move |host| unsubscribe::removals_held(host.engine(), &name))?;
    if let Some(what) = asked {
        handle.arrive(Request::AnswerDevice(device.to_owned(), false))?;
        return Ok(Some(format!("the request to {what}")));
    }
    undo_step(handle, device, None)
}

/// Undoes the last step of a device. If `of` is a time, does this only if the step has that time. Returns a description of the
/// step.
pub(super) fn undo_step(
    handle: &LoopHandle,
    device: &str,
    of: Option<String>,
) -> Result<Option<String>, ReplyFault> {
    let is_meant = |step: &DeviceStep| of.is_none_or(|of| of == step.at.to_rfc3339());
    let Some(step) = last(handle, device)?.filter(is_meant) else { return Ok(None) };
    let (words, at) = (step_words(&step), step.at);
    let mut refused = None;
    for change in step.changes.into_iter().rev() {
        let request = match change {
            DeviceChange::Marked(change) => Request::Mark(change.reversed()),
            DeviceChange::Labelled { name, keys, set } => {
                Request::SyncLabel { name, keys, set: !set }
            }
            DeviceChange::Subscribed(feed) => Request::Unsubscribe(feed),
            DeviceChange::Unsubscribed(feed) => Request::SubscribeAgain(feed),
            DeviceChange::Arranged(feed, before) => Request::Set(feed, before),
        };
        match handle.arrive(request) {
            // Something changed since, so this can never be taken back.
            Err(ArrivalFault::Refused(why)) => refused = Some(why),
            done => done?,
        }
    }
    // Only now: a step that could not be taken back because of a full disk or a kill can be tried again.
    forget(handle, device, at)?;
    if let Some(why) = refused {
        return Err(ReplyFault::refused(400, why));
    }
    Ok(Some(format!("{words}, of {}", at.format("%Y-%m-%d %H:%M UTC"))))
}

fn last(handle: &LoopHandle, device: &str) -> Result<Option<DeviceStep>, ReplyFault> {
    let device = device.to_owned();
    let record = handle.look(move |store| Ok(store.device_records()?.remove(&device)))?;
    Ok(record.and_then(|mut record| record.steps.pop()))
}

/// Returns the time of the last step of a device, and its description.
pub(super) fn last_step(
    handle: &LoopHandle,
    device: &str,
) -> Result<Option<(String, String)>, ReplyFault> {
    let step = last(handle, device)?;
    Ok(step.map(|step| (step.at.to_rfc3339(), step_words(&step))))
}

fn step_words(step: &DeviceStep) -> String {
    let words = step.changes.first().map(words_of).unwrap_or_default();
    match step.changes.len().saturating_sub(1) {
        0 => words,
        more => format!("{words} and {more} more"),
    }
}

fn words_of(change: &DeviceChange) -> String {
    let entries = |count| counted_words(count, "entry", "entries");
    match change {
        DeviceChange::Marked(MarkChange { flag: Flag::Starred, value, keys }) => {
            format!("{} {}", entries(keys.len()), if *value { "starred" } else { "unstarred" })
        }
        DeviceChange::Marked(MarkChange { value, keys, .. }) => {
            format!("{} marked {}", entries(keys.len()), if *value { "read" } else { "unread" })
        }
        DeviceChange::Labelled { name, keys, set: true } => {
            format!("{} labelled '{name}'", entries(keys.len()))
        }
        DeviceChange::Labelled { name, keys, set: false } => {
            format!("{} no longer labelled '{name}'", entries(keys.len()))
        }
        DeviceChange::Subscribed(feed) => format!("subscribed to feed {feed}"),
        DeviceChange::Unsubscribed(feed) => format!("unsubscribed from feed {feed}"),
        DeviceChange::Arranged(feed, _) => format!("title or tags of feed {feed} changed"),
    }
}
