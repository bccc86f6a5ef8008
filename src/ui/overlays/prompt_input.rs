//! Handles keys and pasted text in the input line, and processes the text of a finished line.

use chrono::{DateTime, Utc};

use super::prompt::{Prompt, PromptPurpose, TypedText};
use super::{feed_choice, hour_selection, tag_dialog};
use crate::ui::actions::{change_marked, lists, save_entries};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::panes::{browsing, saved_searches, search_pane};
use crate::ui::reader::{find_in_text, pipe};
use crate::ui::state::overlay::Overlay;

/// Inserts pasted text into the input line.
pub fn paste_text(app: &mut App, now: DateTime<Utc>, text: &str) -> Vec<ScreenEffect> {
    if let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay {
        if prompt.purpose == PromptPurpose::Search {
            prompt.insert(&text.trim_matches(['\r', '\n']).replace(['\r', '\n', '\t'], " "));
        } else {
            prompt.insert(text);
        }
    }
    find_in_text::follow_line(app);
    search_pane::follow_line(app, now)
}

/// Checks whether pasted text is the address of a subscription.
pub fn takes_address(app: &App) -> bool {
    match &app.ui.overlay {
        Some(Overlay::Prompt(prompt)) => prompt.purpose == PromptPurpose::Add,
        Some(_) => false,
        None => true,
    }
}

/// Checks whether the user is typing a search query.
pub fn is_search_typed(app: &App) -> bool {
    let Some(Overlay::Prompt(prompt)) = &app.ui.overlay else { return false };
    prompt.purpose == PromptPurpose::Search
}

/// Handles a key in the input line.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    let Some(Overlay::Prompt(prompt)) = &app.ui.overlay else { return Vec::new() };
    let purpose = prompt.purpose;
    if let Some(effects) = press_own_key(app, now, purpose, key) {
        return effects;
    }
    let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay else { return Vec::new() };
    match prompt.key(key) {
        TypedText::More => {
            find_in_text::follow_line(app);
            search_pane::follow_line(app, now)
        }
        TypedText::Cancelled => {
            app.ui.uncover();
            if purpose == PromptPurpose::Find {
                find_in_text::end(app, true);
            }
            Vec::new()
        }
        TypedText::Done => finish_line(app, now),
    }
}

/// Handles a key that has a special meaning for the purpose of the input line. Returns `None` for other keys.
fn press_own_key(
    app: &mut App,
    now: DateTime<Utc>,
    purpose: PromptPurpose,
    key: Key,
) -> Option<Vec<ScreenEffect>> {
    if purpose == PromptPurpose::Search {
        return search_pane::press_key(app, now, key);
    }
    if purpose == PromptPurpose::Pipe && key == Key::code(Code::Up) {
        pipe::take_last(app);
        return Some(Vec::new());
    }
    let is_path = is_path(purpose);
    if is_path && key == Key::code(Code::Tab) {
        let Some(Overlay::Prompt(prompt)) = &app.ui.overlay else { return None };
        return Some(vec![ScreenEffect::CompletePath(prompt.text.clone())]);
    }
    let is_tags = matches!(purpose, PromptPurpose::Tags(_) | PromptPurpose::MarkedTags);
    let completes = is_tags && key == Key::code(Code::Tab);
    completes.then(|| {
        tag_dialog::complete_tag(app);
        Vec::new()
    })
}

/// Checks whether the line is the path of a file.
const fn is_path(purpose: PromptPurpose) -> bool {
    matches!(purpose, PromptPurpose::Import | PromptPurpose::Export | PromptPurpose::Save)
}

/// Replaces the path in the input line by its completion, if the path is still as it was when the completion was requested.
pub fn complete_path(app: &mut App, typed: &str, completed: &str) {
    if let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay
        && is_path(prompt.purpose)
        && prompt.text == typed
    {
        *prompt = Prompt::filled(prompt.purpose, completed.to_owned());
    }
}

/// Closes the input line and processes its text.
fn finish_line(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::Prompt(prompt)) = app.ui.overlay.take() else { return Vec::new() };
    app.ui.uncover();
    if let PromptPurpose::Rule { feed, replaces } = prompt.purpose {
        return hour_selection::set_rule(app, now, (feed, replaces), &prompt.text);
    }
    if let PromptPurpose::Tags(feed) = prompt.purpose {
        return tag_dialog::set_tags(app, now, feed, &prompt.text);
    }
    if prompt.purpose == PromptPurpose::Find {
        return find_in_text::finish(app, now);
    }
    if prompt.text.trim().is_empty() {
        return Vec::new();
    }
    match prompt.purpose {
        PromptPurpose::Add => feed_choice::subscribe_to(app, now, prompt.text),
        PromptPurpose::Import => lists::import_file(app, now, &prompt.text),
        PromptPurpose::Export => lists::export_list(app, &prompt.text),
        PromptPurpose::Save => save_entries::save(app, now, &prompt.text),
        PromptPurpose::Rename(id) => saved_searches::rename_search(app, now, id, &prompt.text),
        PromptPurpose::MarkedTags => change_marked::change_tags(app, now, &prompt.text),
        PromptPurpose::RenameTag => tag_dialog::rename_tag(app, now, &prompt.text),
        PromptPurpose::GoTo => browsing::go_to(app, now, &prompt.text),
        PromptPurpose::Pipe => pipe::take_command(app, now, &prompt.text),
        // The edit dialog, the palette, the help and the search handle their own lines. Lines for rules and tags were handled
        // above.
        PromptPurpose::Field(_)
        | PromptPurpose::Password
        | PromptPurpose::Tags(_)
        | PromptPurpose::Condition
        | PromptPurpose::Command
        | PromptPurpose::Find
        | PromptPurpose::Jump
        | PromptPurpose::Label
        | PromptPurpose::Search
        | PromptPurpose::Help
        | PromptPurpose::Rule { .. } => Vec::new(),
    }
}
