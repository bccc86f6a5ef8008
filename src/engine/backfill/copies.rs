//! Copies of a feed's history that another reader published: they are read at the user's request, one document after the other like
//! archives, and can be forgotten (SPEC C.11).

use std::sync::Arc;

use backissue_core::InputFlaw;
use backissue_core::feed::FeedDocument;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::feed::text::counted_words;
use backissue_core::history::address::{carries_login_or_query, host};
use backissue_core::history::record::CopyWalk;
use backissue_core::history::walk::copy::{COPIES_MAX, entries_only};
use backissue_core::history::{
    ArchiveFailure, ArchiveRequest, Arrival, FeedKey, HistoryRecord, Merging, Mode, WalkPolicy,
};
use chrono::{DateTime, Utc};

use super::archive_response::{Archive, policy};
use super::brought::write_record;
use super::walk_stage::Backfill;

use crate::engine::change::undo_stack::Step;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::request::{Event, NoticeOffer};
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, Showing};

/// Prepares the walk through a copy at a typed address, or its continuation.
pub(super) fn begin(engine: &mut Engine, feed: FeedKey, url: &str) -> Result<(), InputFlaw> {
    let url = url.trim();
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    if engine.offline {
        return Err("backissue was started with --offline".into());
    }
    if !is_web || host(url).is_none() || carries_login_or_query(url) {
        let why = format!(
            "'{url}' is not the address of a published history: type it with https://, without a login and a query"
        );
        return Err(why.into());
    }
    if engine.backfills.contains_key(&feed) {
        return Err("older entries of this feed are being fetched already".into());
    }
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Ok(()) };
    if FeedSource::of(&subscription.record.url) != FeedSource::Web {
        return Err("only feeds from the web have copies".into());
    }
    let copies = &mut Arc::make_mut(&mut subscription.history).copies;
    if let Some(copy) = copies.iter_mut().find(|copy| copy.url == url) {
        copy.go_on();
    } else if copies.len() < COPIES_MAX {
        copies.push(CopyWalk::new(url));
    } else {
        return Err(format!("a feed has at most {COPIES_MAX} copies: forget one first").into());
    }
    engine.say(format!("requesting older entries from {}", host(url).unwrap_or_default()));
    engine.host_queue.not_before = None;
    engine.backfills.insert(feed, Backfill::of_copy(url.to_owned()));
    Ok(())
}

/// The limits of a walk through a copy: the user asked for it, so no further consent is needed.
fn limits(engine: &Engine, feed: FeedKey) -> WalkPolicy {
    WalkPolicy { mode: Mode::Auto, allow_insecure: false, ..policy(engine, feed) }
}

/// Runs something on the copy that is being read, with the record of the feed itself.
fn with_copy<T>(
    engine: &mut Engine,
    feed: FeedKey,
    run: impl FnOnce(&mut CopyWalk, &HistoryRecord, &WalkPolicy) -> T,
) -> Option<T> {
    let policy = limits(engine, feed);
    let url = engine.backfills.get(&feed)?.copy.clone()?;
    let history = Arc::make_mut(&mut engine.feeds.get_mut(&feed)?.history);
    let place = history.copies.iter().position(|copy| copy.url == url)?;
    let mut copy = std::mem::take(history.copies.get_mut(place)?);
    let result = run(&mut copy, history, &policy);
    *history.copies.get_mut(place)? = copy;
    Some(result)
}

/// Returns the next request for the copy. Returns `None` if nothing more of it is read.
pub(super) fn next(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
) -> Option<ArchiveRequest> {
    with_copy(engine, feed, |copy, _, policy| copy.next(policy, now)).flatten()
}

/// Applies an answer. Returns the entries to merge; `None` if there are none.
pub(super) fn answered(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    judged: Result<Archive, ArchiveFailure>,
    (started, wire_bytes): (DateTime<Utc>, u64),
) -> Option<(Box<FeedDocument>, Merging)> {
    with_copy(engine, feed, |copy, own, policy| match judged {
        Ok(Archive { url, public, mut document, .. }) => {
            let names_feed = entries_only(&mut document, own);
            let arrival =
                Arrival { url: &url, public, fetched_at: started, wire_bytes, document: &document };
            let merging = copy.arrived(own, (&arrival, names_feed), policy)?;
            Some((document, merging))
        }
        Err(failure) => {
            copy.failed(&failure, policy, now);
            None
        }
    })
    .flatten()
}

/// Records which entries were merged.
pub(super) fn merged(engine: &mut Engine, feed: FeedKey, new: std::ops::Range<u32>) {
    with_copy(engine, feed, |copy, _, policy| copy.merged(new, policy));
}

/// Says why nothing more of the copy is read, for a walk that ended.
pub(super) fn still_missing(feed: &Subscription, url: &str) -> Option<String> {
    known(feed, url)?.record.still_missing()
}

/// Returns a copy of a feed that was read, by its address or its name.
fn known<'f>(feed: &'f Subscription, name: &str) -> Option<&'f CopyWalk> {
    let is_it = |copy: &&CopyWalk| copy.url == name || host(&copy.url).as_deref() == Some(name);
    feed.history.copies.iter().find(is_it)
}

/// Forgets a copy: hides the entries that it brought, except those that the publisher has listed since. The entries can be shown
/// again with an undo.
pub fn forget(engine: &mut Engine, feed: FeedKey, name: &str) -> Result<(), InputFlaw> {
    let Some(subscription) = engine.feeds.get(&feed) else { return Ok(()) };
    let Some(copy) = known(subscription, name).cloned() else {
        return Err(format!("no copy at '{name}' was read").into());
    };
    if engine.backfills.get(&feed).is_some_and(|backfill| backfill.copy.is_some()) {
        return Err("it is being read".into());
    }
    let (entries, title) = (copy.entries(), subscription.record.shown_title().to_owned());
    let count = counted_words(entries.len(), "entry", "entries");
    let text = format!("{title}: forgot {}, which brought {count}", copy.name());
    if let Some(subscription) = engine.feeds.get_mut(&feed) {
        let history = Arc::make_mut(&mut subscription.history);
        history.copies.retain(|known| known.url != copy.url);
    }
    engine.undo.push_stored(
        Step::Brought { feed, entries: entries.clone(), again: true, of_copy: true },
        None,
    );
    engine.tell(Event::offering(text, NoticeOffer::Undo));
    write_record(engine, feed);
    engine.store(Job::Restore { feed, entries, showing: Showing::HidesCopies });
    Ok(())
}
