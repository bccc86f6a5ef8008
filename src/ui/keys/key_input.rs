//! What a key or a pasted text means where the reader is: a line being typed, a choice, or a command.

use chrono::{DateTime, Utc};

use super::command::Command;
use super::key::Code;
use super::key::Key;
use super::key_bindings::Meaning;
use super::key_names::shown;
use super::run_command::obey;
use crate::engine::effect::Effect;
use crate::engine::feeds::subscribe;
use crate::engine::feeds::subscribe::Wanted;
use crate::engine::model::Model;
use crate::engine::run_external;
use crate::ui::overlays::edit_dialog;
use crate::ui::overlays::feed_preview;
use crate::ui::overlays::filter_dialog;
use crate::ui::overlays::filter_list;
use crate::ui::overlays::help_pane;
use crate::ui::overlays::hour_selection;
use crate::ui::overlays::palette;
use crate::ui::overlays::plan_pane;
use crate::ui::overlays::prompt::Prompt;
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::overlays::prompt::Typed;
use crate::ui::overlays::tag_dialog;
use crate::ui::panes::browsing;
use crate::ui::panes::saved_searches;
use crate::ui::panes::search_pane;
use crate::ui::reader::open_entry;
use crate::ui::screen::Choice;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;

/// Text was pasted.
pub fn pasted(model: &mut Model, now: DateTime<Utc>, text: &str) -> Vec<Effect> {
    model.screen.begun.clear();
    if let Some(Overlay::Prompt(prompt)) = &mut model.screen.overlay {
        prompt.insert(text);
        return search_pane::typed(model, now);
    }
    if let Some(Overlay::Edit(form)) = &mut model.screen.overlay {
        if let Some(prompt) = form.line_mut() {
            prompt.insert(text);
        }
        return Vec::new();
    }
    if let Some(Overlay::Mute(_)) = &model.screen.overlay {
        return filter_dialog::pasted(model, now, text);
    }
    if let Some(Overlay::Help(help)) = &mut model.screen.overlay
        && help.typing
    {
        help.filter.insert(text);
        return Vec::new();
    }
    if let Some(Overlay::Palette(open)) = &mut model.screen.overlay {
        palette::pasted(open, text);
        return Vec::new();
    }
    // An address pasted anywhere is meant to be subscribed to.
    if subscribe::address_of(text).is_ok() && (text.contains('.') || text.contains("://")) {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        prompt.insert(text.trim());
        model.screen.lay_over(Overlay::Prompt(prompt));
    } else {
        model.screen.say(now, "paste the address of a site or feed to subscribe to it");
    }
    Vec::new()
}

/// A key was pressed.
pub fn pressed(model: &mut Model, now: DateTime<Utc>, key: Key) -> Vec<Effect> {
    model.screen.notice =
        model.screen.notice.take().filter(|notice| notice.trouble && notice.at == now);
    // Whoever wants back to the shell is in the midst of something.
    let meaning = model.settings.keys.meaning(&[key], model.screen.focus);
    if key.ctrl && meaning == Meaning::Command(Command::Suspend) {
        return obey(model, now, Command::Suspend);
    }
    if let Some(Overlay::Prompt(prompt)) = &mut model.screen.overlay {
        let purpose = prompt.purpose;
        if let Some(effects) = own_meaning(model, now, purpose, key) {
            return effects;
        }
        let Some(Overlay::Prompt(prompt)) = &mut model.screen.overlay else { return Vec::new() };
        let typed = prompt.key(key);
        return match typed {
            Typed::More => search_pane::typed(model, now),
            Typed::Cancelled => {
                model.screen.uncover();
                Vec::new()
            }
            Typed::Done => finished(model, now),
        };
    }
    if let Some(Overlay::Edit(_)) = model.screen.overlay {
        return edit_dialog::pressed(model, now, key);
    }
    if let Some(Overlay::Mute(_)) = model.screen.overlay {
        return filter_dialog::pressed(model, now, key);
    }
    if let Some(Overlay::Rules(list)) = model.screen.overlay {
        return filter_list::pressed(model, now, list, key);
    }
    if let Some(Overlay::Help(help)) = &mut model.screen.overlay
        && help_pane::pressed(help, key)
    {
        return Vec::new();
    }
    if let Some(Overlay::Palette(_)) = model.screen.overlay {
        return palette::pressed(model, now, key);
    }
    if matches!(&model.screen.overlay, Some(Overlay::Plan(pane)) if pane.outline.is_some()) {
        return hour_selection::pressed(model, now, key);
    }
    if let Some(Overlay::Choice(choice)) = model.screen.overlay {
        return choosing(model, now, choice, key);
    }
    if model.feeds.is_empty()
        && let Some(effects) = welcomed(model, key)
    {
        return effects;
    }
    let Some(command) = typed_command(model, now, key) else { return Vec::new() };
    if help_pane::commanded(&mut model.screen, command) {
        return Vec::new();
    }
    let pending_link = model.screen.reader.as_ref().is_some_and(|reader| !reader.digits.is_empty());
    if pending_link && !matches!(command, Command::Digit(_)) {
        if key == Key::code(Code::Enter) {
            return open_entry::follow(model, now);
        }
        if let Some(reader) = &mut model.screen.reader {
            reader.digits.clear();
        }
    }
    commanded(model, now, command)
}

/// A key that means something of its own in a line that is being typed.
fn own_meaning(
    model: &mut Model,
    now: DateTime<Utc>,
    purpose: PromptPurpose,
    key: Key,
) -> Option<Vec<Effect>> {
    if purpose == PromptPurpose::Search {
        return search_pane::pressed(model, now, key);
    }
    let completes = matches!(purpose, PromptPurpose::Tags(_)) && key == Key::code(Code::Tab);
    completes.then(|| {
        tag_dialog::complete(model);
        Vec::new()
    })
}

/// The command that a key ends, if it ends one; the beginning of a sequence is kept.
fn typed_command(model: &mut Model, now: DateTime<Utc>, key: Key) -> Option<Command> {
    let mut typed = std::mem::take(&mut model.screen.begun);
    if !typed.is_empty() && key == Key::code(Code::Esc) {
        return None;
    }
    typed.push(key);
    match model.settings.keys.meaning(&typed, model.screen.focus) {
        Meaning::Command(command) => return Some(command),
        Meaning::Begun => model.screen.begun = typed,
        Meaning::Nothing => {
            let text = format!("{} does nothing here · ? shows the keys", shown(&typed));
            model.screen.say(now, text);
        }
    }
    None
}

/// Does what a command says, if it works where the reader is.
pub fn commanded(model: &mut Model, now: DateTime<Utc>, command: Command) -> Vec<Effect> {
    let over = matches!(model.screen.overlay, Some(Overlay::Plan(_) | Overlay::Timetable(_)));
    if over && !plan_pane::works_over_panes(command) {
        model.screen.say(now, "that works in the panes below: q closes this one");
        return Vec::new();
    }
    obey(model, now, command)
}

/// The keys of the welcome pane (UX 1).
fn welcomed(model: &mut Model, key: Key) -> Option<Vec<Effect>> {
    match key {
        Key { code: Code::Char('i'), ctrl: false } => {
            model.screen.lay_over(Overlay::Prompt(Prompt::new(PromptPurpose::Import)));
            Some(Vec::new())
        }
        Key { code: Code::Char('d'), ctrl: false } => Some(vec![Effect::OpenDemo]),
        _ => None,
    }
}

/// A key while the feeds of a page are offered.
fn choosing(model: &mut Model, now: DateTime<Utc>, choice: Choice, key: Key) -> Vec<Effect> {
    let count = model.additions.get(&choice.addition).map_or(0, |addition| addition.found.len());
    let moved = match model.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Down) => choice.selected.saturating_add(1).min(count.saturating_sub(1)),
        Some(Command::Up) => choice.selected.saturating_sub(1),
        Some(command @ (Command::Enter | Command::Back | Command::Quit)) => {
            model.screen.uncover();
            return feed_preview::chosen(model, now, choice, command == Command::Enter);
        }
        Some(_) | None => choice.selected,
    };
    model.screen.overlay = Some(Overlay::Choice(Choice { selected: moved, ..choice }));
    feed_preview::look(model, now)
}

/// A typed line is finished.
fn finished(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(Overlay::Prompt(prompt)) = model.screen.overlay.take() else { return Vec::new() };
    model.screen.uncover();
    if let PromptPurpose::Rule { feed, replaces } = prompt.purpose {
        return hour_selection::typed(model, now, (feed, replaces), &prompt.text);
    }
    if let PromptPurpose::Tags(feed) = prompt.purpose {
        return tag_dialog::tagged(model, now, feed, &prompt.text);
    }
    if prompt.text.trim().is_empty() {
        return Vec::new();
    }
    match prompt.purpose {
        PromptPurpose::Add => {
            let id = model.next_addition();
            subscribe::add(
                model,
                now,
                Wanted { id, address: prompt.text, choose: true, ..Wanted::default() },
            )
        }
        PromptPurpose::Import => vec![Effect::Import(prompt.text.trim().to_owned())],
        PromptPurpose::Rename(id) => saved_searches::renamed(model, now, id, &prompt.text),
        PromptPurpose::RenameTag => tag_dialog::renamed(model, now, &prompt.text),
        PromptPurpose::GoTo => browsing::go_to(model, now, &prompt.text),
        PromptPurpose::Pipe => run_external::pipe(model, now, &prompt.text),
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
