//! Edits feeds: their settings in a form, and their tags in an input line with completion. A tag can be renamed in all feeds.

use std::collections::BTreeSet;

use backissue_core::feed::opml::subscription_list::{
    normal_tag, read_tags, split_tags, write_tags,
};
use backissue_core::history::FeedKey;

use super::form::{EditForm, FormOutcome};
use super::list_panel;
use super::prompt::{Prompt, PromptPurpose};
use crate::engine::feeds::change_settings;
use crate::engine::feeds::setting_row::FeedSettingRow;
use crate::engine::feeds::setting_table::form_lines;
use crate::engine::poll::learn;
use crate::engine::request::Request;
use crate::engine::store_work::Job;
use crate::ui::actions::marking;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ask_store;
use crate::ui::keys::key::Key;
use crate::ui::panes::{attention, load_rows};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;

/// Opens the edit form for the selected feed.
pub fn open_form(cx: &mut Cx<'_>) {
    let Some((feed, subscription)) = attention::selected_subscription(cx.app, cx.now) else {
        return cx.say("select a feed first: {edit} edits one feed");
    };
    let edited = EditForm::new(
        feed,
        &subscription.record,
        &cx.app.engine.settings,
        learn::zone_of(cx.app.engine.zone),
    );
    cx.app.ui.lay_over(Overlay::Edit(Box::new(edited)));
}

/// Handles a key in the edit form.
pub fn press_key(cx: &mut Cx<'_>, key: Key) {
    let Some(Overlay::Edit(edited)) = &mut cx.app.ui.overlay else { return };
    match edited.form.press(key) {
        FormOutcome::Open => {}
        FormOutcome::GiveUp => cx.app.ui.uncover(),
        FormOutcome::Save => save_form(cx),
    }
}

/// Inserts pasted text into the edit form.
pub fn paste_text(cx: &mut Cx<'_>, text: &str) {
    if let Some(Overlay::Edit(edited)) = &mut cx.app.ui.overlay {
        edited.form.paste(text);
    }
}

/// Selects the clicked input line.
pub fn click_line(cx: &mut Cx<'_>, line: usize) {
    let place = usize::from(cx.app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Edit(edited)) = &mut cx.app.ui.overlay {
        edited.form.click(place);
    }
}

/// Saves the edited settings, unless an input line contains an invalid value. A new address is requested before it is used.
fn save_form(cx: &mut Cx<'_>) {
    let Some(Overlay::Edit(edited)) = &cx.app.ui.overlay else { return };
    let (feed, chosen) = (edited.feed, edited.chosen());
    let address = edited.new_address().map(str::to_owned);
    let unchanged = chosen.as_ref().is_ok_and(|chosen| *chosen == edited.before);
    let changed = match chosen {
        Err(wrong) => Err(wrong),
        Ok(chosen) => {
            let is_min = |(setting, _): &(&FeedSettingRow, _)| setting.name == "min";
            let place =
                form_lines().iter().position(is_min).map_or(0, |line| line.saturating_add(1));
            cx.try_ask(Request::Set(feed, Box::new(chosen))).map_err(|why| (place, why.into()))
        }
    };
    match changed {
        Ok(_effects) => {
            cx.app.ui.uncover();
            if let Some(address) = address {
                list_panel::move_to(cx, feed, address);
                return;
            }
            let title = cx.app.engine.feeds.get(&feed).map_or("", |feed| feed.record.shown_title());
            let text = if unchanged {
                "nothing was changed".to_owned()
            } else {
                format!("'{title}' was changed{}", cx.app.ui.settings.keys.undo_hint())
            };
            cx.say(text);
        }
        Err((place, why)) => {
            if let Some(Overlay::Edit(edited)) = &mut cx.app.ui.overlay {
                (edited.form.selected, edited.form.problem) = (place, Some(why));
            }
        }
    }
}

/// Maximum number of tags that are suggested while the user types.
const OFFERED_MAX: usize = 8;

/// Opens the input line for the tags of the marked feeds, a new name of the selected tag, or the tags of the selected feed.
pub fn open_line(cx: &mut Cx<'_>) {
    let over = cx.app.ui.overlay.is_some();
    if !over && !marking::marked_feeds(cx.app).is_empty() {
        cx.app.ui.open_prompt(Prompt::new(PromptPurpose::MarkedTags));
        return;
    }
    if let Some(FeedsRow::Tag(tag, _)) = cx.app.ui.feeds.selected_row()
        && cx.app.ui.focus == Pane::Feeds
        && !over
    {
        let line = Prompt::filled(PromptPurpose::RenameTag, tag.clone());
        cx.app.ui.open_prompt(line);
        return;
    }
    let Some((feed, subscription)) = attention::selected_subscription(cx.app, cx.now) else {
        return cx.say("select a feed or a tag first");
    };
    let mut text = write_tags(&subscription.record.tags);
    if !text.is_empty() {
        text.push_str(", ");
    }
    let line = Prompt::filled(PromptPurpose::Tags(feed), text);
    cx.app.ui.open_prompt(line);
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
pub fn set_tags(cx: &mut Cx<'_>, feed: FeedKey, typed: &str) {
    let Some(subscription) = cx.app.engine.feeds.get(&feed) else { return };
    let before = &subscription.record.tags;
    let tags = read_tags(typed);
    let mut chosen = subscription.record.chosen();
    let title = subscription.record.shown_title().to_owned();
    let text = match tags.as_slice() {
        _ if tags == *before => "nothing was changed".to_owned(),
        [] => format!("'{title}' has no tags now{}", cx.app.ui.settings.keys.undo_hint()),
        tags => format!("'{title}': {}{}", tags.join(", "), cx.app.ui.settings.keys.undo_hint()),
    };
    chosen.tags = tags;
    cx.ask(Request::Set(feed, Box::new(chosen)));
    cx.say(text);
}

/// Renames the selected tag and its descendants in every feed that has one of them.
pub fn rename_tag(cx: &mut Cx<'_>, typed: &str) {
    let Some(FeedsRow::Tag(tag, _)) = cx.app.ui.feeds.selected_row() else { return };
    let tag = tag.clone();
    let Some(name) = normal_tag(typed).filter(|name| *name != tag) else {
        return cx.say("nothing was changed");
    };
    let folded = &mut cx.app.ui.feeds.folded;
    let renamed = folded
        .iter()
        .map(|other| change_settings::renamed(other, &tag, &name).unwrap_or_else(|| other.clone()));
    *folded = renamed.collect();
    let folded = folded.clone();
    cx.ask(Request::RenameTag { tag, name: name.clone() });
    cx.out.push(ask_store(Job::SaveFolded(folded)));
    select_tag(cx.app, &name);
    load_rows::open_list(cx);
}

fn select_tag(app: &mut App, tag: &str) {
    let is_it = |row: &FeedsRow| matches!(row, FeedsRow::Tag(other, _) if other == tag);
    if let Some(place) = app.ui.feeds.rows.iter().position(is_it) {
        app.ui.feeds.selected = place;
    }
}
