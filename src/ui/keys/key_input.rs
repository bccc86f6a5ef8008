//! What a key or a pasted text means where the reader is: a line being typed, a choice, or a command.

use chrono::{DateTime, Utc};

use super::commands::Command;
use super::key::{Code, Key};
use super::key_bindings::Meaning;
use super::key_names::shown;
use super::run_command::obey;
use crate::engine::feeds::subscribe::{self, Subscribe};
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose, Typed};
use crate::ui::overlays::{
    edit_dialog, feed_choice, filter_dialog, filter_list, help_pane, hour_selection, palette,
    plan_pane, tag_dialog,
};
use crate::ui::panes::{browsing, saved_searches, search_pane};
use crate::ui::reader::{open_entry, pipe};
use crate::ui::screen::Overlay;

/// Text was pasted.
pub fn pasted(app: &mut App, now: DateTime<Utc>, text: &str) -> Vec<ScreenEffect> {
    app.ui.begun.clear();
    if let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay {
        prompt.insert(text);
        return search_pane::typed(app, now);
    }
    if let Some(Overlay::Edit(form)) = &mut app.ui.overlay {
        if let Some(prompt) = form.line_mut() {
            prompt.insert(text);
        }
        return Vec::new();
    }
    if let Some(Overlay::FilterDialog(_)) = &app.ui.overlay {
        return filter_dialog::pasted(app, now, text);
    }
    if let Some(Overlay::Help(help)) = &mut app.ui.overlay
        && help.typing
    {
        help.filter.insert(text);
        return Vec::new();
    }
    if let Some(Overlay::Palette(open)) = &mut app.ui.overlay {
        palette::pasted(open, text);
        return Vec::new();
    }
    // An address pasted anywhere is meant to be subscribed to.
    if subscribe::address_of(text).is_ok() && (text.contains('.') || text.contains("://")) {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        prompt.insert(text.trim());
        app.ui.lay_over(Overlay::Prompt(prompt));
    } else {
        app.ui.say(now, "paste the address of a site or feed to subscribe to it");
    }
    Vec::new()
}

/// A key was pressed.
pub fn pressed(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    app.ui.notice = app.ui.notice.take().filter(|notice| notice.trouble && notice.at == now);
    // Whoever wants back to the shell is in the midst of something.
    let meaning = app.ui.settings.keys.meaning(&[key], app.ui.focus);
    if key.ctrl && meaning == Meaning::Command(Command::Suspend) {
        return obey(app, now, Command::Suspend);
    }
    if let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay {
        let purpose = prompt.purpose;
        if let Some(effects) = own_meaning(app, now, purpose, key) {
            return effects;
        }
        let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay else { return Vec::new() };
        let typed = prompt.key(key);
        return match typed {
            Typed::More => search_pane::typed(app, now),
            Typed::Cancelled => {
                app.ui.uncover();
                Vec::new()
            }
            Typed::Done => finished(app, now),
        };
    }
    if let Some(Overlay::Edit(_)) = app.ui.overlay {
        return edit_dialog::pressed(app, now, key);
    }
    if let Some(Overlay::FilterDialog(_)) = app.ui.overlay {
        return filter_dialog::pressed(app, now, key);
    }
    if let Some(Overlay::FilterList(list)) = app.ui.overlay {
        return filter_list::pressed(app, now, list, key);
    }
    if let Some(Overlay::Help(help)) = &mut app.ui.overlay
        && help_pane::pressed(help, key)
    {
        return Vec::new();
    }
    if let Some(Overlay::Palette(_)) = app.ui.overlay {
        return palette::pressed(app, now, key);
    }
    if matches!(&app.ui.overlay, Some(Overlay::Plan(pane)) if pane.outline.is_some()) {
        return hour_selection::pressed(app, now, key);
    }
    if let Some(Overlay::Choice(choice)) = app.ui.overlay {
        return feed_choice::pressed(app, now, choice, key);
    }
    if app.engine.feeds.is_empty()
        && let Some(effects) = welcomed(app, key)
    {
        return effects;
    }
    let Some(command) = typed_command(app, now, key) else { return Vec::new() };
    if help_pane::commanded(&mut app.ui, command) {
        return Vec::new();
    }
    let pending_link = app.ui.reader.as_ref().is_some_and(|reader| !reader.digits.is_empty());
    if pending_link && !matches!(command, Command::Digit(_)) {
        if key == Key::code(Code::Enter) {
            return open_entry::follow(app, now);
        }
        if let Some(reader) = &mut app.ui.reader {
            reader.digits.clear();
        }
    }
    commanded(app, now, command)
}

/// A key that means something of its own in a line that is being typed.
fn own_meaning(
    app: &mut App,
    now: DateTime<Utc>,
    purpose: PromptPurpose,
    key: Key,
) -> Option<Vec<ScreenEffect>> {
    if purpose == PromptPurpose::Search {
        return search_pane::pressed(app, now, key);
    }
    let completes = matches!(purpose, PromptPurpose::Tags(_)) && key == Key::code(Code::Tab);
    completes.then(|| {
        tag_dialog::complete(app);
        Vec::new()
    })
}

/// The command that a key ends, if it ends one; the beginning of a sequence is kept.
fn typed_command(app: &mut App, now: DateTime<Utc>, key: Key) -> Option<Command> {
    let mut typed = std::mem::take(&mut app.ui.begun);
    if !typed.is_empty() && key == Key::code(Code::Esc) {
        return None;
    }
    typed.push(key);
    match app.ui.settings.keys.meaning(&typed, app.ui.focus) {
        Meaning::Command(command) => return Some(command),
        Meaning::Begun => app.ui.begun = typed,
        Meaning::Nothing => {
            let text = format!("{} does nothing here · ? shows the keys", shown(&typed));
            app.ui.say(now, text);
        }
    }
    None
}

/// Does what a command says, if it works where the reader is.
pub fn commanded(app: &mut App, now: DateTime<Utc>, command: Command) -> Vec<ScreenEffect> {
    let over = matches!(app.ui.overlay, Some(Overlay::Plan(_) | Overlay::Timetable(_)));
    if over && !plan_pane::works_over_panes(command) {
        app.ui.say(now, "that works in the panes below: q closes this one");
        return Vec::new();
    }
    obey(app, now, command)
}

/// The keys of the welcome pane (UX 1).
fn welcomed(app: &mut App, key: Key) -> Option<Vec<ScreenEffect>> {
    match key {
        Key { code: Code::Char('i'), ctrl: false } => {
            app.ui.lay_over(Overlay::Prompt(Prompt::new(PromptPurpose::Import)));
            Some(Vec::new())
        }
        Key { code: Code::Char('d'), ctrl: false } => Some(vec![ScreenEffect::OpenDemo]),
        _ => None,
    }
}

/// A typed line is finished.
fn finished(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::Prompt(prompt)) = app.ui.overlay.take() else { return Vec::new() };
    app.ui.uncover();
    if let PromptPurpose::Rule { feed, replaces } = prompt.purpose {
        return hour_selection::typed(app, now, (feed, replaces), &prompt.text);
    }
    if let PromptPurpose::Tags(feed) = prompt.purpose {
        return tag_dialog::tagged(app, now, feed, &prompt.text);
    }
    if prompt.text.trim().is_empty() {
        return Vec::new();
    }
    match prompt.purpose {
        PromptPurpose::Add => {
            let id = app.engine.next_addition();
            let subscribe =
                Subscribe { id, address: prompt.text, choose: true, ..Subscribe::default() };
            app.ask(now, Request::Subscribe(Box::new(subscribe)))
        }
        PromptPurpose::Import => app.ask(now, Request::ImportFile(prompt.text.trim().to_owned())),
        PromptPurpose::Rename(id) => saved_searches::renamed(app, now, id, &prompt.text),
        PromptPurpose::RenameTag => tag_dialog::renamed(app, now, &prompt.text),
        PromptPurpose::GoTo => browsing::go_to(app, now, &prompt.text),
        PromptPurpose::Pipe => pipe::typed(app, now, &prompt.text),
        // The edit dialog, the palette, the help and the search have the keys themselves; a rule and tags were dealt with.
        PromptPurpose::Field(_)
        | PromptPurpose::Tags(_)
        | PromptPurpose::Condition
        | PromptPurpose::Command
        | PromptPurpose::Search
        | PromptPurpose::Help
        | PromptPurpose::Rule { .. } => Vec::new(),
    }
}
