//! Parses search queries, and looks up the names in a query among the present subscriptions and labels. Adds saved searches,
//! replaces their list, and restores an earlier list.

use backissue_core::search::{KnownNames, Matching, QueryFlaw, parse};
use chrono::{DateTime, Utc};

use super::change::undo_stack::Step;
use super::change::value::{ChangeId, ListChange, SavedSearch};
use super::change::{self, Change};
use super::feeds::subscription::Subscription;
use super::request::Event;
use super::state::Engine;

/// Parses a search query and looks up its names. `typing` is `true` if the user may still be typing the last word.
pub fn resolve(
    engine: &Engine,
    now: DateTime<Utc>,
    text: &str,
    typing: bool,
) -> Result<Matching, QueryFlaw> {
    let query = parse(text, typing, engine.zone)?;
    let feeds: Vec<_> = engine.feeds.values().map(|feed| feed.queried()).collect();
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

/// Maximum number of saved searches.
pub const SEARCHES_MAX: usize = 100;
/// Maximum length of the name of a saved search, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Returns a list of searches with new ones added, each given by its name and query. A query that is in the list is not added again.
pub fn with_new(
    list: &[SavedSearch],
    new: impl IntoIterator<Item = (String, String)>,
) -> Vec<SavedSearch> {
    let mut list = list.to_vec();
    for (name, text) in new {
        if list.len() < SEARCHES_MAX && !list.iter().any(|search| search.text == text) {
            let id = list.iter().map(|search| search.id).max().unwrap_or(0).saturating_add(1);
            list.push(SavedSearch { id, name: short_name(&name), text });
        }
    }
    list
}

/// Returns a name as it is saved.
pub fn short_name(name: &str) -> String {
    name.trim().chars().take(NAME_CHARS_MAX).collect()
}

/// Replaces the list of saved searches and adds an undo step.
pub fn save(engine: &mut Engine, list: Vec<SavedSearch>) {
    let step = engine.undo.push(Step::Searches { before: engine.saved_searches.clone() });
    write(engine, list, step);
    engine.tell(Event::FeedsChanged);
}

/// Restores an earlier list of saved searches, for an undo or a redo.
pub fn put(engine: &mut Engine, list: Vec<SavedSearch>) {
    write(engine, list, None);
    engine.tell(Event::SearchesPutBack);
}

fn write(engine: &mut Engine, list: Vec<SavedSearch>, step: Option<ChangeId>) {
    let before = std::mem::replace(&mut engine.saved_searches, list);
    let change = ListChange::new(before, &engine.saved_searches);
    change::write(engine, Change::Searches(change), step);
}
