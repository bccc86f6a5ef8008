//! Parses search queries and looks up the names in a query among the present subscriptions and labels.

use chrono::{DateTime, Utc};

use super::feeds::subscription::Subscription;
use super::state::Engine;
use backissue_core::search::{KnownNames, Matching, QueryFlaw, parse};

/// Parses a search query and looks up its names. `typing` is `true` if the user may still be typing the last word.
pub fn resolve(
    engine: &Engine,
    now: DateTime<Utc>,
    text: &str,
    typing: bool,
) -> Result<Matching, QueryFlaw> {
    let query = parse(text, typing, engine.zone)?;
    let feeds: Vec<_> = engine.feeds.values().map(|feed| feed.record.names(feed.key)).collect();
    let labels = engine.filters.list.iter().filter_map(|filter| filter.action.label());
    let labels: Vec<String> = labels.map(str::to_owned).collect();
    Matching::new(query, KnownNames { feeds: &feeds, labels: &labels }, now)
}

/// Checks whether a feed has the tag `wanted` (in lower case) or a tag nested in it.
pub fn is_tagged(feed: &Subscription, wanted: &str) -> bool {
    let below = |tag: &str| tag.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'));
    let tags = feed.record.tags.iter().map(|tag| tag.to_lowercase());
    tags.into_iter().any(|tag| tag == wanted || below(&tag))
}
