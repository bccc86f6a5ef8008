//! Renames tags of feeds.

use crate::engine::change::feed_change::{FeedChange, FeedParts};
use crate::engine::change::list_change::ListChange;
use crate::engine::change::step::Step;
use crate::engine::change::{self, Change};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::state::Engine;
use backissue_core::feed::opml::subscription_list::normal_tags;
use backissue_core::feed::text::counted_words;
use backissue_core::filters::{EntryFilter, FilterScope};
use backissue_core::history::FeedKey;

/// Tags of feeds.
type FeedTags = Vec<(FeedKey, Vec<String>)>;

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

/// Undoes or redoes the renaming of a tag. Tags and filters that something else changed since then stay.
pub fn take_back(
    engine: &mut Engine,
    tags: FeedTags,
    filters: Vec<EntryFilter>,
    (tags_after, filters_after): (FeedTags, Vec<EntryFilter>),
) -> (Vec<Effect>, Step) {
    if tags_after.is_empty() {
        // An earlier version did not note what the change made.
        return put(engine, tags, filters, false);
    }
    let mut back = FeedTags::new();
    for ((feed, before), (_, after)) in tags.into_iter().zip(&tags_after) {
        if let Some(known) = engine.feeds.get(&feed) {
            back.push((feed, without_change(&known.record.tags, &before, after)));
        }
    }
    let mut list = engine.filters.list.clone();
    ListChange::new(filters, &filters_after).revert(&mut list);
    put(engine, back, list, false)
}

/// Returns the present tags of a feed without a change of the user.
pub fn without_change(present: &[String], before: &[String], after: &[String]) -> Vec<String> {
    if present == after {
        return before.to_vec();
    }
    let is_kept = |tag: &&String| before.contains(tag) || !after.contains(tag);
    let kept = present.iter().filter(is_kept);
    let back = before.iter().filter(|tag| !after.contains(tag) && !present.contains(tag));
    kept.chain(back).cloned().collect()
}

/// Sets the tags of feeds and replaces the filters. Returns the step that undoes this; `undoable` adds it to the undo steps.
pub fn put(
    engine: &mut Engine,
    tags: FeedTags,
    filters: Vec<EntryFilter>,
    undoable: bool,
) -> (Vec<Effect>, Step) {
    let (mut before, mut after, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    for (key, tags) in tags {
        let Some(feed) = engine.feeds.get_mut(&key) else { continue };
        let parts = FeedParts::of(feed);
        after.push((key, tags.clone()));
        before.push((key, std::mem::replace(&mut feed.record.tags, tags)));
        changes.push((key, FeedChange::since(&parts, feed)));
    }
    let former = std::mem::replace(&mut engine.filters.list, filters);
    let filters = ListChange::new(former.clone(), &engine.filters.list);
    let inverse = Step::Retagged {
        tags: before,
        filters: former,
        after: (after, engine.filters.list.clone()),
    };
    let step = undoable.then(|| engine.undo.push(inverse.clone())).flatten();
    let mut effects = vec![change::write(engine, Change::Feeds(changes), step)];
    if !filters.is_empty() {
        effects.push(change::write(engine, Change::Filters(filters), step));
    }
    engine.tell(Event::FeedsChanged);
    engine.tell(Event::ListsChanged);
    (effects, inverse)
}
