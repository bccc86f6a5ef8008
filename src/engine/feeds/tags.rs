//! Renames tags of feeds.

use crate::engine::change::feed_change::{FeedChange, FeedParts};
use crate::engine::change::list_change::ListChange;
use crate::engine::change::undo_stack::Step;
use crate::engine::change::{self, Change};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::state::Engine;
use backissue_core::feed::opml::subscription_list::normal_tags;
use backissue_core::feed::text::counted_words;
use backissue_core::filters::{EntryFilter, FilterScope};
use backissue_core::history::FeedKey;

/// Returns the new name of `tag` if the tag `from` is renamed to `to`. Returns `None` if `tag` is neither `from` nor nested in it.
pub fn renamed(tag: &str, from: &str, to: &str) -> Option<String> {
    let rest = tag.strip_prefix(from)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
}

/// Renames a tag and its nested tags in all feeds and filters.
pub fn rename(engine: &mut Engine, from: &str, to: &str) -> Vec<Effect> {
    let moved = |tag: &str| renamed(tag, from, to);
    let mut tags = Vec::new();
    for feed in engine.feeds.values() {
        if feed.record.tags.iter().any(|other| moved(other).is_some()) {
            let names =
                feed.record.tags.iter().map(|tag| moved(tag).unwrap_or_else(|| tag.clone()));
            let names: Vec<String> = names.collect();
            tags.push((feed.key, normal_tags(names.iter().map(String::as_str))));
        }
    }
    let mut filters = engine.filters.list.clone();
    for filter in &mut filters {
        if let FilterScope::Tag(reached) = &mut filter.scope
            && let Some(renamed) = moved(reached)
        {
            *reached = renamed;
        }
    }
    let text = format!("'{from}' is now '{to}' for {}", counted_words(tags.len(), "feed", "feeds"));
    let (effects, _) = put(engine, tags, filters, true);
    engine.say_undoable(text);
    effects
}

/// Sets the tags of feeds and replaces the filters. Returns the step that undoes this; `undoable` adds it to the undo steps.
pub fn put(
    engine: &mut Engine,
    tags: Vec<(FeedKey, Vec<String>)>,
    filters: Vec<EntryFilter>,
    undoable: bool,
) -> (Vec<Effect>, Step) {
    let (mut before, mut changes) = (Vec::new(), Vec::new());
    for (key, tags) in tags {
        let Some(feed) = engine.feeds.get_mut(&key) else { continue };
        let parts = FeedParts::of(feed);
        before.push((key, std::mem::replace(&mut feed.record.tags, tags)));
        changes.push((key, FeedChange::since(&parts, feed)));
    }
    let former = std::mem::replace(&mut engine.filters.list, filters);
    let filters = ListChange::new(former.clone(), &engine.filters.list);
    let inverse = Step::Retagged { tags: before, filters: former };
    let step = undoable.then(|| engine.undo.push(inverse.clone()));
    let mut effects = vec![change::write(engine, Change::Feeds(changes), step)];
    if !filters.is_empty() {
        effects.push(change::write(engine, Change::Filters(filters), step));
    }
    engine.tell(Event::FeedsChanged);
    engine.tell(Event::ListsChanged);
    (effects, inverse)
}
