//! Parses search queries and resolves the names in a query to the present subscriptions and filters.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::feeds::subscription::Subscription;
use super::state::Engine;
use backissue_core::history::FeedKey;
use backissue_core::search::{Labels, Matching, Named, Query, QueryFlaw, parse};

/// Parses a search query and resolves its names. `typing` is `true` if the user may still be typing the last word.
pub fn resolve(
    engine: &Engine,
    now: DateTime<Utc>,
    text: &str,
    typing: bool,
) -> Result<Matching, QueryFlaw> {
    let query = parse(text, typing, now, engine.zone)?;
    let (feeds, labels) = feeds(engine, &query)?;
    let seconds = |at: DateTime<Utc>| at.timestamp();
    Ok(Matching {
        feeds,
        after: query.after.map(seconds),
        before: query.before.map(seconds),
        terms: query.terms,
        states: query.states,
        labels,
    })
}

/// Returns the feeds to search, which the feed names and tags in the query limit, and the conditions of the query on labels.
fn feeds(engine: &Engine, query: &Query) -> Result<(BTreeSet<FeedKey>, Labels), QueryFlaw> {
    let mut feeds: BTreeSet<FeedKey> = engine.feeds.keys().copied().collect();
    narrow(engine, &mut feeds, &query.feeds, is_called, QueryFlaw::NoFeed)?;
    let labels = labels(engine, &query.tags);
    if labels == Labels::default() {
        narrow(engine, &mut feeds, &query.tags, is_tagged, QueryFlaw::NoTag)?;
    }
    Ok((feeds, labels))
}

/// Returns conditions on labels if at least one tag in the query is a label that filters assign. Returns no conditions if all tags
/// are tags of feeds.
fn labels(engine: &Engine, tags: &[Named]) -> Labels {
    let rules = |name: &str| {
        let fits = |label: &str| label.to_lowercase() == name;
        let rules =
            engine.filters.list.iter().filter(move |rule| rule.action.label().is_some_and(fits));
        rules.map(|rule| rule.id).collect::<BTreeSet<u32>>()
    };
    if tags.iter().all(|tag| rules(&tag.name.to_lowercase()).is_empty()) {
        return Labels::default();
    }
    let mut labels = Labels::default();
    for tag in tags {
        let name = tag.name.to_lowercase();
        let tagged = engine.feeds.values().filter(|feed| is_tagged(feed, &name));
        let tagged: BTreeSet<FeedKey> = tagged.map(|feed| feed.key).collect();
        if tag.excluded {
            labels.excluded.extend(rules(&name));
            labels.barred.extend(tagged);
        } else {
            let wanted = labels.wanted.get_or_insert_default();
            wanted.0.extend(tagged);
            wanted.1.extend(rules(&name));
        }
    }
    labels
}

/// Keeps in `feeds` only the feeds that match at least one of the names and none of the excluded names. Returns an error for a name
/// that no feed matches.
fn narrow(
    engine: &Engine,
    feeds: &mut BTreeSet<FeedKey>,
    names: &[Named],
    fits: fn(&Subscription, &str) -> bool,
    flaw: fn(String) -> QueryFlaw,
) -> Result<(), QueryFlaw> {
    let mut wanted: Option<BTreeSet<FeedKey>> = None;
    for named in names {
        let name = named.name.to_lowercase();
        let fitting = engine.feeds.values().filter(|feed| fits(feed, &name)).map(|feed| feed.key);
        let fitting: BTreeSet<FeedKey> = fitting.collect();
        if fitting.is_empty() && !engine.feeds.is_empty() {
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

/// Checks whether `wanted` is a part of a feed's title or address, or the number of the feed.
fn is_called(feed: &Subscription, wanted: &str) -> bool {
    feed.record.shown_title().to_lowercase().contains(wanted)
        || feed.record.url.to_lowercase().contains(wanted)
        || wanted.parse() == Ok(feed.key.0)
}

/// Checks whether a feed has the tag `wanted` (in lower case) or a tag nested in it.
pub fn is_tagged(feed: &Subscription, wanted: &str) -> bool {
    let below = |tag: &str| tag.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'));
    let tags = feed.record.tags.iter().map(|tag| tag.to_lowercase());
    tags.into_iter().any(|tag| tag == wanted || below(&tag))
}
