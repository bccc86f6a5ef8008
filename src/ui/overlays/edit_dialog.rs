//! Edits feeds: their settings in a form, and their tags in an input line with completion. A tag can be renamed in all feeds.

use std::collections::BTreeSet;

use backissue_core::feed::opml::subscription_list::{
    normal_tag, read_tags, split_tags, write_tags,
};
use backissue_core::history::FeedKey;
use chrono::{DateTime, Utc};

use super::form::{EditForm, FormOutcome};
use super::list_panel;
use super::prompt::{Prompt, PromptPurpose};
use crate::engine::feeds::feed_settings;
use crate::engine::feeds::setting_row::FeedSettingRow;
use crate::engine::feeds::setting_table::form_lines;
use crate::engine::poll::learn;
use crate::engine::request::{Request, ScreenRequest};
use crate::ui::actions::marking;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::key::Key;
use crate::ui::panes::{attention, load_rows};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;

/// Opens the edit form for the selected feed.
pub fn open_form(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some((feed, subscription)) = attention::selected_subscription(app, now) else {
        return app.ui.say_only(now, "select a feed first: {edit} edits one feed");
    };
    let edited = EditForm::new(
        feed,
        &subscription.record,
        &app.engine.settings,
        learn::zone_of(app.engine.zone),
    );
    app.ui.lay_over(Overlay::Edit(Box::new(edited)));
    Vec::new()
}

/// Handles a key in the edit form.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    let Some(Overlay::Edit(edited)) = &mut app.ui.overlay else { return Vec::new() };
    match edited.form.press(key) {
        FormOutcome::Open => {}
        FormOutcome::GiveUp => app.ui.uncover(),
        FormOutcome::Save => return save_form(app, now),
    }
    Vec::new()
}

/// Inserts pasted text into the edit form.
pub fn paste_text(app: &mut App, text: &str) -> Vec<ScreenEffect> {
    if let Some(Overlay::Edit(edited)) = &mut app.ui.overlay {
        edited.form.paste(text);
    }
    Vec::new()
}

/// Selects the clicked input line.
pub fn click_line(app: &mut App, line: usize) -> Vec<ScreenEffect> {
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Edit(edited)) = &mut app.ui.overlay {
        edited.form.click(place);
    }
    Vec::new()
}

/// Saves the edited settings, unless an input line contains an invalid value. A new address is requested before it is used.
fn save_form(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::Edit(edited)) = &app.ui.overlay else { return Vec::new() };
    let (feed, chosen) = (edited.feed, edited.chosen());
    let address = edited.new_address().map(str::to_owned);
    let unchanged = chosen.as_ref().is_ok_and(|chosen| *chosen == edited.before);
    let changed = match chosen {
        Err(wrong) => Err(wrong),
        Ok(chosen) => {
            let is_min = |(setting, _): &(&FeedSettingRow, _)| setting.name == "min";
            let place =
                form_lines().iter().position(is_min).map_or(0, |line| line.saturating_add(1));
            app.try_ask(now, Request::Set(feed, Box::new(chosen)))
                .map_err(|why| (place, why.into()))
        }
    };
    match changed {
        Ok(mut effects) => {
            app.ui.uncover();
            if let Some(address) = address {
                effects.extend(list_panel::move_to(app, now, feed, address));
                return effects;
            }
            let title = app.engine.feeds.get(&feed).map_or("", |feed| feed.record.shown_title());
            let text = if unchanged {
                "nothing was changed".to_owned()
            } else {
                format!("'{title}' was changed{}", app.ui.settings.keys.undo_hint())
            };
            app.ui.say(now, text);
            effects
        }
        Err((place, why)) => {
            if let Some(Overlay::Edit(edited)) = &mut app.ui.overlay {
                (edited.form.selected, edited.form.problem) = (place, Some(why));
            }
            Vec::new()
        }
    }
}

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
    let Some((feed, subscription)) = attention::selected_subscription(app, now) else {
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
        .map(|other| feed_settings::renamed(other, &tag, &name).unwrap_or_else(|| other.clone()));
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
