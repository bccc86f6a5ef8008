//! Tags: those of a feed as one line with completion, and another name for a tag of many feeds.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::edit_dialog;
use super::prompt::Prompt;
use super::prompt::PromptPurpose;
use crate::engine::effect::Effect;
use crate::engine::feeds::feed_settings;
use crate::engine::model::Model;
use crate::engine::undo::Step;
use crate::feed::opml::subscription_list::normal_tag;
use crate::filters::{EntryFilter, FilterScope};
use crate::history::FeedKey;
use crate::ui::panes::feeds_pane;
use crate::ui::panes::feeds_pane::FeedsRow;
use crate::ui::panes::navigation;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;

/// Tags that are offered at once.
const OFFERED_MAX: usize = 8;

/// Opens the line: on a tag its name, elsewhere the tags of the selected feed.
pub fn open(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let over = model.screen.overlay.is_some();
    if let Some(FeedsRow::Tag(tag, _)) = model.screen.feeds.selected_row()
        && model.screen.focus == Pane::Feeds
        && !over
    {
        let line = Prompt::filled(PromptPurpose::RenameTag, tag.clone());
        model.screen.lay_over(Overlay::Prompt(line));
        return Vec::new();
    }
    let selected = feeds_pane::selected_feed(model, now);
    let Some((feed, subscription)) = selected.and_then(|key| Some((key, model.feeds.get(&key)?)))
    else {
        model.screen.say(now, "select a feed or a tag first");
        return Vec::new();
    };
    let mut text = subscription.record.tags.join(", ");
    if !text.is_empty() {
        text.push_str(", ");
    }
    let line = Prompt::filled(PromptPurpose::Tags(feed), text);
    model.screen.lay_over(Overlay::Prompt(line));
    Vec::new()
}

/// All tags there are, in their order.
fn known(model: &Model) -> BTreeSet<&str> {
    model.feeds.values().flat_map(|feed| &feed.record.tags).map(String::as_str).collect()
}

/// The part of the line that is being typed: where it begins, and what it is.
fn part(line: &Prompt) -> Option<(usize, &str)> {
    let before = line.text.get(..line.cursor)?;
    let from = before.rfind(',').map_or(0, |at| at.saturating_add(1));
    let typed = before.get(from..)?;
    let blanks = typed.len().saturating_sub(typed.trim_start().len());
    Some((from.saturating_add(blanks), typed.trim_start()))
}

/// The tags that what is being typed may become, and that the line does not have.
pub fn offered<'m>(model: &'m Model, line: &Prompt) -> Vec<&'m str> {
    if !matches!(line.purpose, PromptPurpose::Tags(_)) {
        return Vec::new();
    }
    let Some((_, typed)) = part(line) else { return Vec::new() };
    let typed = typed.to_lowercase();
    let has: Vec<&str> = line.text.split(',').map(str::trim).collect();
    let fits = |tag: &&str| tag.to_lowercase().starts_with(&typed) && !has.contains(tag);
    known(model).into_iter().filter(fits).take(OFFERED_MAX).collect()
}

/// Completes the tag that is being typed, as far as those offered agree.
pub fn complete(model: &mut Model) {
    let Some(Overlay::Prompt(line)) = &model.screen.overlay else { return };
    let offered = offered(model, line);
    let Some((from, typed)) = part(line) else { return };
    let Some(first) = offered.first() else { return };
    let agreed = offered.iter().fold((*first).to_owned(), |agreed, other| {
        let same = agreed.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(char, _)| char).collect()
    });
    let ends = if offered.len() == 1 { ", " } else { "" };
    let longer = agreed.chars().count() >= typed.chars().count();
    let to = from.saturating_add(typed.len());
    if !longer {
        return;
    }
    if let Some(Overlay::Prompt(line)) = &mut model.screen.overlay {
        line.text.replace_range(from..to, "");
        line.cursor = from;
        line.insert(&format!("{agreed}{ends}"));
    }
}

/// The tags of a feed were typed; none takes them all away.
pub fn tagged(model: &mut Model, now: DateTime<Utc>, feed: FeedKey, typed: &str) -> Vec<Effect> {
    let Some(subscription) = model.feeds.get(&feed) else { return Vec::new() };
    let before = &subscription.record.tags;
    // A tag that holds a comma is only kept where nothing was typed.
    let unchanged = typed.trim().trim_end_matches(',') == before.join(", ");
    let tags = if unchanged { before.clone() } else { edit_dialog::tags(typed.split(',')) };
    let mut chosen = subscription.record.chosen();
    let title = subscription.record.shown_title().to_owned();
    let text = match tags.as_slice() {
        _ if tags == *before => "nothing was changed".to_owned(),
        [] => format!("'{title}' has no tags now · u undo"),
        tags => format!("'{title}': {} · u undo", tags.join(", ")),
    };
    chosen.tags = tags;
    // Bounds that clash were there before; tags do not make them worse.
    let effects = feed_settings::change(model, now, feed, chosen).unwrap_or_default();
    model.screen.say(now, text);
    effects
}

/// Another name for the selected tag was typed: every feed that has it, or one below it, has the new one.
pub fn renamed(model: &mut Model, now: DateTime<Utc>, typed: &str) -> Vec<Effect> {
    let Some(FeedsRow::Tag(tag, _)) = model.screen.feeds.selected_row() else { return Vec::new() };
    let tag = tag.clone();
    let Some(name) = normal_tag(typed).filter(|name| *name != tag) else {
        model.screen.say(now, "nothing was changed");
        return Vec::new();
    };
    let moved = |other: &str| -> Option<String> {
        let rest = other.strip_prefix(tag.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{name}{rest}"))
    };
    let mut tags = Vec::new();
    for feed in model.feeds.values() {
        if feed.record.tags.iter().any(|other| moved(other).is_some()) {
            let names =
                feed.record.tags.iter().map(|tag| moved(tag).unwrap_or_else(|| tag.clone()));
            let names: Vec<String> = names.collect();
            tags.push((feed.key, edit_dialog::tags(names.iter().map(String::as_str))));
        }
    }
    let mut rules = model.rules.list.clone();
    for rule in &mut rules {
        if let FilterScope::Tag(reached) = &mut rule.scope
            && let Some(renamed) = moved(reached)
        {
            *reached = renamed;
        }
    }
    let text = format!("'{tag}' is now '{name}' for {} feeds · u undo", tags.len());
    let folded = &mut model.screen.feeds.folded;
    let renamed = folded.iter().map(|tag| moved(tag).unwrap_or_else(|| tag.clone())).collect();
    *folded = renamed;
    let folded = Effect::SaveFolded(folded.clone());
    let (mut effects, step) = put(model, now, tags, rules);
    model.undo.push(step);
    effects.push(folded);
    select(model, &name);
    effects.extend(navigation::open_list(model, now));
    model.screen.say(now, text);
    effects
}

fn select(model: &mut Model, tag: &str) {
    let is_it = |row: &FeedsRow| matches!(row, FeedsRow::Tag(other, _) if other == tag);
    if let Some(place) = model.screen.feeds.rows.iter().position(is_it) {
        model.screen.feeds.selected = place;
    }
}

/// Gives feeds these tags and puts these rules in place of those there are; answers with the step that takes it back.
pub fn put(
    model: &mut Model,
    now: DateTime<Utc>,
    tags: Vec<(FeedKey, Vec<String>)>,
    rules: Vec<EntryFilter>,
) -> (Vec<Effect>, Step) {
    let (mut before, mut records) = (Vec::new(), Vec::new());
    for (key, tags) in tags {
        let Some(feed) = model.feeds.get_mut(&key) else { continue };
        before.push((key, std::mem::replace(&mut feed.record.tags, tags)));
        records.push((key, feed.record.clone()));
    }
    let named_in_rules = model.rules.list != rules;
    let step =
        Step::Retagged { tags: before, rules: std::mem::replace(&mut model.rules.list, rules) };
    model.unsaved = model.unsaved.saturating_add(1);
    let mut effects = vec![Effect::SaveRecords(records)];
    effects.extend(named_in_rules.then(|| Effect::SaveRules(model.rules.list.clone())));
    feeds_pane::rebuild(model);
    effects.extend(navigation::refresh_list(model, now));
    (effects, step)
}
