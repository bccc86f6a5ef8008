//! Searching: a query read and resolved against the subscriptions.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::model::Model;
use super::subscription::Subscription;
use crate::history::FeedKey;
use crate::search::{Matching, Named, Query, QueryFlaw, parse};

/// Reads a query and resolves its names. `typing`: its last word may go on.
pub fn read(
    model: &Model,
    now: DateTime<Utc>,
    text: &str,
    typing: bool,
) -> Result<Matching, QueryFlaw> {
    let query = parse(text, typing, now, model.zone)?;
    let feeds = feeds(model, &query)?;
    let seconds = |at: DateTime<Utc>| at.timestamp();
    Ok(Matching {
        feeds,
        after: query.after.map(seconds),
        before: query.before.map(seconds),
        terms: query.terms,
        states: query.states,
    })
}

/// The feeds that are searched: one of those named, none of those excluded, and so with tags.
fn feeds(model: &Model, query: &Query) -> Result<BTreeSet<FeedKey>, QueryFlaw> {
    let mut feeds: BTreeSet<FeedKey> = model.feeds.keys().copied().collect();
    narrow(model, &mut feeds, &query.feeds, is_called, QueryFlaw::NoFeed)?;
    narrow(model, &mut feeds, &query.tags, is_tagged, QueryFlaw::NoTag)?;
    Ok(feeds)
}

/// Keeps the feeds that fit one of the names and none of those excluded; a name that no feed fits is told.
fn narrow(
    model: &Model,
    feeds: &mut BTreeSet<FeedKey>,
    names: &[Named],
    fits: fn(&Subscription, &str) -> bool,
    flaw: fn(String) -> QueryFlaw,
) -> Result<(), QueryFlaw> {
    let mut wanted: Option<BTreeSet<FeedKey>> = None;
    for named in names {
        let name = named.name.to_lowercase();
        let fitting = model.feeds.values().filter(|feed| fits(feed, &name)).map(|feed| feed.key);
        let fitting: BTreeSet<FeedKey> = fitting.collect();
        if fitting.is_empty() && !model.feeds.is_empty() {
            return Err(flaw(named.name.clone()));
        }
        if named.excluded {
            feeds.retain(|feed| !fitting.contains(feed));
        } else {
            wanted.get_or_insert_default().extend(fitting);
        }
    }
    if let Some(wanted) = wanted {
        feeds.retain(|feed| wanted.contains(feed));
    }
    Ok(())
}

/// Whether a feed is meant by a part of its title or address, or by its number.
fn is_called(feed: &Subscription, wanted: &str) -> bool {
    feed.record.shown_title().to_lowercase().contains(wanted)
        || feed.record.url.to_lowercase().contains(wanted)
        || wanted.parse() == Ok(feed.key.0)
}

/// Whether a feed has a tag, or one below it.
fn is_tagged(feed: &Subscription, wanted: &str) -> bool {
    let below = |tag: &str| tag.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'));
    let tags = feed.record.tags.iter().map(|tag| tag.to_lowercase());
    tags.into_iter().any(|tag| tag == wanted || below(&tag))
}

/// The index holds more than before.
pub fn indexed(model: &mut Model, _now: DateTime<Utc>, missing: u32) -> Vec<Effect> {
    model.screen.unindexed = missing;
    Vec::new()
}
