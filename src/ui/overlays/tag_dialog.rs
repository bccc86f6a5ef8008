//! Edits the tags of feeds in an input line with completion, and renames a tag in all feeds.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::prompt::{Prompt, PromptPurpose};
use crate::engine::feeds::tags;
use crate::engine::request::{Request, ScreenRequest};
use crate::ui::actions::marking;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::panes::{load_rows, selected_feed};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use backissue_core::feed::opml::subscription_list::{
    normal_tag, read_tags, split_tags, write_tags,
};
use backissue_core::history::FeedKey;

/// Maximum number of tags that are suggested while the user types.
const OFFERED_MAX: usize = 8;

/// Opens the input line for the tags of the marked feeds, a new name of the selected tag, or the tags of the selected feed.
pub fn open_line(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let over = app.ui.overlay.is_some();
    if !over && !marking::marked_feeds(app).is_empty() {
        app.ui.open_prompt(Prompt::new(PromptPurpose::MarkedTags));
        return Vec::new();
    }
    if let Some(FeedsRow::Tag(tag, _)) = app.ui.feeds.selected_row()
        && app.ui.focus == Pane::Feeds
        && !over
    {
        let line = Prompt::filled(PromptPurpose::RenameTag, tag.clone());
        app.ui.open_prompt(line);
        return Vec::new();
    }
    let Some((feed, subscription)) = selected_feed::selected_subscription(app, now) else {
        return app.ui.say_only(now, "select a feed or a tag first");
    };
    let mut text = write_tags(&subscription.record.tags);
    if !text.is_empty() {
        text.push_str(", ");
    }
    let line = Prompt::filled(PromptPurpose::Tags(feed), text);
    app.ui.open_prompt(line);
    Vec::new()
}

/// Returns the tags of all feeds, sorted.
fn list_tags(app: &App) -> BTreeSet<&str> {
    app.engine.feeds.values().flat_map(|feed| &feed.record.tags).map(String::as_str).collect()
}

/// Returns the tag at the cursor, as typed so far, and its byte offset in the line.
fn find_typed_part(line: &Prompt) -> Option<(usize, &str)> {
    let before = line.text.get(..line.cursor)?;
    let from = before.rfind(',').map_or(0, |at| at.saturating_add(1));
    let typed = before.get(from..)?;
    let blanks = typed.len().saturating_sub(typed.trim_start().len());
    Some((from.saturating_add(blanks), typed.trim_start()))
}

/// Returns the tags that complete the tag at the cursor and that the line does not contain yet.
pub fn offer_tags<'m>(app: &'m App, line: &Prompt) -> Vec<&'m str> {
    if !matches!(line.purpose, PromptPurpose::Tags(_) | PromptPurpose::MarkedTags) {
        return Vec::new();
    }
    let Some((_, typed)) = find_typed_part(line) else { return Vec::new() };
    let typed = typed.to_lowercase();
    let has = split_tags(&line.text);
    let fits = |tag: &&str| {
        tag.to_lowercase().starts_with(&typed) && !has.iter().any(|other| other == tag)
    };
    list_tags(app).into_iter().filter(fits).take(OFFERED_MAX).collect()
}

/// Completes the tag at the cursor, up to the longest common prefix of the suggested tags.
pub fn complete_tag(app: &mut App) {
    let Some(Overlay::Prompt(line)) = &app.ui.overlay else { return };
    let offered = offer_tags(app, line);
    let Some((from, typed)) = find_typed_part(line) else { return };
    let Some(first) = offered.first() else { return };
    let agreed = offered.iter().fold((*first).to_owned(), |agreed, other| {
        let same = agreed.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(char, _)| char).collect()
    });
    let (agreed, ends) = match offered.len() {
        1 => (write_tags(&[agreed]), ", "),
        _ => (agreed, ""),
    };
    let longer = agreed.chars().count() >= typed.chars().count();
    let to = from.saturating_add(typed.len());
    if !longer {
        return;
    }
    if let Some(Overlay::Prompt(line)) = &mut app.ui.overlay {
        line.text.replace_range(from..to, "");
        line.cursor = from;
        line.insert(&format!("{agreed}{ends}"));
    }
}

/// Replaces the tags of a feed by the typed ones. An empty line removes all tags.
pub fn set_tags(
    app: &mut App,
    now: DateTime<Utc>,
    feed: FeedKey,
    typed: &str,
) -> Vec<ScreenEffect> {
    let Some(subscription) = app.engine.feeds.get(&feed) else { return Vec::new() };
    let before = &subscription.record.tags;
    let tags = read_tags(typed);
    let mut chosen = subscription.record.chosen();
    let title = subscription.record.shown_title().to_owned();
    let text = match tags.as_slice() {
        _ if tags == *before => "nothing was changed".to_owned(),
        [] => format!("'{title}' has no tags now{}", app.ui.settings.keys.undo_hint()),
        tags => format!("'{title}': {}{}", tags.join(", "), app.ui.settings.keys.undo_hint()),
    };
    chosen.tags = tags;
    let effects = app.ask(now, Request::Set(feed, Box::new(chosen)));
    app.ui.say(now, text);
    effects
}

/// Renames the selected tag and its descendants in every feed that has one of them.
pub fn rename_tag(app: &mut App, now: DateTime<Utc>, typed: &str) -> Vec<ScreenEffect> {
    let Some(FeedsRow::Tag(tag, _)) = app.ui.feeds.selected_row() else { return Vec::new() };
    let tag = tag.clone();
    let Some(name) = normal_tag(typed).filter(|name| *name != tag) else {
        return app.ui.say_only(now, "nothing was changed");
    };
    let folded = &mut app.ui.feeds.folded;
    let renamed = folded
        .iter()
        .map(|other| tags::renamed(other, &tag, &name).unwrap_or_else(|| other.clone()));
    *folded = renamed.collect();
    let folded = folded.clone();
    let mut effects = app.ask(now, Request::RenameTag { tag, name: name.clone() });
    effects.push(ask_store(ScreenRequest::SaveFolded(folded)));
    select_tag(app, &name);
    effects.extend(load_rows::open_list(app, now));
    effects
}

fn select_tag(app: &mut App, tag: &str) {
    let is_it = |row: &FeedsRow| matches!(row, FeedsRow::Tag(other, _) if other == tag);
    if let Some(place) = app.ui.feeds.rows.iter().position(is_it) {
        app.ui.feeds.selected = place;
    }
}
