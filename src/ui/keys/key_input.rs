//! Passes keys and pasted text to the open input line, the open overlay, or the command that is bound to the key.

use chrono::{DateTime, Utc};

use super::commands::Command;
use super::key::{ALT_BACKSPACE, Code, Key};
use super::key_bindings::{Meaning, reason_for_nothing};
use super::key_names::shown;
use super::run_command::{run_command, run_with};
use crate::engine::feeds::addresses;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::outcome::KeyOutcome;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::overlays::{list_panel, prompt_input, table};
use crate::ui::reader::open_entry;
use crate::ui::screen::ANSWER_STAYS;
use crate::ui::state::layout::Pane;

/// Largest number before a movement.
const COUNT_MAX: u32 = 999;

/// Handles pasted text: passes it to the open overlay or, if the text is an address, starts a subscription.
pub fn paste_text(app: &mut App, now: DateTime<Utc>, text: &str) -> Vec<ScreenEffect> {
    app.ui.begun.clear();
    let several = text.split_whitespace().filter(|word| word.contains("://")).count() > 1;
    if several && prompt_input::takes_address(app) {
        app.ui
            .answer(now, "paste one address at a time, or import a file that lists them: :import");
        return Vec::new();
    }
    if let Some(row) = table::open_row(app)
        && let Some(effects) = (row.paste)(app, now, text)
    {
        return effects;
    }
    // If no overlay accepts pasted text, a pasted address opens the input line for a subscription.
    if addresses::address_of(text).is_ok() && (text.contains('.') || text.contains("://")) {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        prompt.insert(text.trim());
        app.ui.open_prompt(prompt);
    } else {
        app.ui.say(now, "paste the address of a site or feed to subscribe to it");
    }
    Vec::new()
}

/// Handles a key press.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    if let Some(keys) = split_alt(app, key) {
        return keys.into_iter().flat_map(|key| press_key(app, now, key)).collect();
    }
    app.ui.notice = app.ui.notice.take().filter(|notice| {
        (notice.trouble && notice.at == now)
            || (notice.stays && now.signed_duration_since(notice.at) < ANSWER_STAYS)
    });
    // If the key that suspends the program includes Ctrl, it works even while an overlay is open.
    let meaning = app.ui.settings.keys.meaning(&[key], key_pane(app));
    if key.ctrl && meaning == Meaning::Command(Command::Suspend) {
        return run_command(app, now, Command::Suspend);
    }
    if let Some(row) = table::open_row(app) {
        match (row.key)(app, now, key) {
            KeyOutcome::Done(effects) => return effects,
            KeyOutcome::Run(command) => return run_where_it_works(app, now, command),
            KeyOutcome::RunWith(name, text) => return run_with(app, now, name, &text),
            KeyOutcome::Passed => {}
        }
    }
    if app.engine.feeds.is_empty()
        && app.ui.overlay.is_none()
        && let Some(effects) = press_welcome_key(app, key)
    {
        return effects;
    }
    if takes_count(app, now, key) {
        return Vec::new();
    }
    let count = std::mem::take(&mut app.ui.count).max(1);
    let Some(command) = typed_command(app, now, key) else { return Vec::new() };
    if count > 1 && matches!(command, Command::Down | Command::Up) {
        return (0..count).flat_map(|_| run_command(app, now, command)).collect();
    }
    if let Some(effects) = table::take_command(app, now, command) {
        return effects;
    }
    let pending_link = app.ui.reader.as_ref().is_some_and(|reader| !reader.digits.is_empty());
    if pending_link && !matches!(command, Command::Digit(_)) {
        if key == Key::code(Code::Enter) {
            return open_entry::follow_typed(app, now);
        }
        if let Some(reader) = &mut app.ui.reader {
            reader.digits.clear();
        }
    }
    run_command(app, now, command)
}

/// Handles a digit of a number before a movement in a list, as in `5j`. Returns `false` for other keys.
fn takes_count(app: &mut App, now: DateTime<Utc>, key: Key) -> bool {
    let Key { code: Code::Char(char), ctrl: false } = key else { return false };
    let digit = char.to_digit(10).filter(|digit| *digit > 0 || app.ui.count > 0);
    let is_list = app.ui.overlay.is_none() && app.ui.focus != Pane::Reader;
    let is_free = app.ui.begun.is_empty()
        && app.ui.settings.keys.meaning(&[key], key_pane(app)) == Meaning::Nothing;
    let Some(digit) = digit.filter(|_| is_list && is_free) else { return false };
    app.ui.count = app.ui.count.saturating_mul(10).saturating_add(digit).min(COUNT_MAX);
    let count = app.ui.count;
    app.ui.say(now, format!("{count}: now the key that moves by {count} rows"));
    true
}

/// Returns the pane whose keys apply: in a list over the panes, those of the entries.
fn key_pane(app: &App) -> Pane {
    if table::open_list(app).is_some() { Pane::Entries } else { app.ui.focus }
}

/// Returns Esc and a key for this key with Alt, if it has no meaning with Alt: terminals send the same if the key is typed at once
/// after Esc, or if a connection delivers both together.
fn split_alt(app: &App, key: Key) -> Option<[Key; 2]> {
    let Code::Alt(char) = key.code else { return None };
    let typed = [app.ui.begun.as_slice(), &[key]].concat();
    if app.ui.settings.keys.meaning(&typed, key_pane(app)) != Meaning::Nothing {
        return None;
    }
    let code = match char {
        // It deletes a word in an input line.
        ALT_BACKSPACE if app.ui.overlay.is_some() => return None,
        ALT_BACKSPACE => Code::Backspace,
        char => Code::Char(char),
    };
    Some([Key::code(Code::Esc), Key { code, ..key }])
}

/// Returns the command that is bound to the keys typed so far, including this key. If they are only the beginning of a longer
/// sequence, they are stored and `None` is returned.
fn typed_command(app: &mut App, now: DateTime<Utc>, key: Key) -> Option<Command> {
    let mut typed = std::mem::take(&mut app.ui.begun);
    if !typed.is_empty() && key == Key::code(Code::Esc) {
        return None;
    }
    typed.push(key);
    match app.ui.settings.keys.meaning(&typed, key_pane(app)) {
        Meaning::Command(command) => return Some(command),
        Meaning::Begun => app.ui.begun = typed,
        Meaning::Nothing => {
            if let Some(kind) = table::open_list(app) {
                list_panel::explain(app, now, kind);
                return None;
            }
            let keys = shown(&typed);
            let why = reason_for_nothing(app.ui.settings.key_preset, &keys);
            let why = app.ui.words(why.unwrap_or("{help} shows the keys"));
            app.ui.say(now, format!("{keys} does nothing here · {why}"));
        }
    }
    None
}

/// Lets the open overlay handle a command, or runs the command if the overlay does not handle it.
fn run_where_it_works(app: &mut App, now: DateTime<Utc>, command: Command) -> Vec<ScreenEffect> {
    table::take_command(app, now, command).unwrap_or_else(|| run_command(app, now, command))
}

/// Handles the keys of the welcome pane (UX 1).
fn press_welcome_key(app: &mut App, key: Key) -> Option<Vec<ScreenEffect>> {
    match key {
        Key { code: Code::Char('i'), ctrl: false } => {
            app.ui.open_prompt(Prompt::new(PromptPurpose::Import));
            Some(Vec::new())
        }
        Key { code: Code::Char('d'), ctrl: false } => Some(vec![ScreenEffect::OpenDemo]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::key_bindings::{Keymap, OwnKeys, place_of};
    use crate::ui::keys::key_input::*;
    use crate::ui::keys::key_names::{parse_key, sequence};
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::state::overlay::Overlay;

    fn press(app: &mut App, keys: &str) -> Vec<ScreenEffect> {
        let keys = keys.split(' ').map(|key| parse_key(key).unwrap());
        keys.flat_map(|key| press_key(app, noon(), key)).collect()
    }

    fn told(app: &App) -> &str {
        app.ui.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn key_sequence_is_kept_until_it_ends_or_is_cancelled() {
        let mut app = app_with(&[("Orchard", &[])]);
        let own = OwnKeys {
            place: place_of("help").unwrap(),
            sequences: vec![sequence("g h").unwrap()],
            line: 1,
        };
        app.ui.settings.keys = Keymap::new(&[own]).0;
        press(&mut app, "g");
        assert_eq!((app.ui.begun.len(), &app.ui.overlay), (1, &None));
        press(&mut app, "h");
        assert!(matches!(app.ui.overlay, Some(Overlay::Help(_))) && app.ui.begun.is_empty());
        app.ui.overlay = None;
        press(&mut app, "g Esc");
        assert_eq!((app.ui.begun.len(), &app.ui.overlay, told(&app)), (0, &None, ""));
    }

    #[test]
    fn a_number_before_a_movement_repeats_it() {
        let names: Vec<String> = (0..30).map(|number| format!("Feed {number:02}")).collect();
        let feeds: Vec<(&str, &[&str])> = names.iter().map(|it| (it.as_str(), &[][..])).collect();
        let mut app = app_with(&feeds);
        let selected = |app: &mut App, keys: &str| {
            press(app, keys);
            app.ui.feeds.selected
        };
        assert_eq!(selected(&mut app, "1 2 j"), 12);
        assert_eq!(selected(&mut app, "j"), 13);
        assert_eq!(selected(&mut app, "1 0 k"), 3);
        assert_eq!(selected(&mut app, "5 Esc j"), 4, "any other key ends the number");
    }

    #[test]
    fn unbound_key_shows_a_message_until_the_next_key() {
        let mut app = app_with(&[("Orchard", &[])]);
        press(&mut app, "Ctrl-x");
        assert_eq!(told(&app), "Ctrl-x does nothing here · ? shows the keys");
        press(&mut app, "j");
        assert_eq!(told(&app), "");
    }

    #[test]
    fn suspend_works_while_typing_anything() {
        let mut app = app_with(&[("Orchard", &[])]);
        app.ui.open_prompt(Prompt::new(PromptPurpose::Add));
        assert_eq!(press(&mut app, "Ctrl-z"), [ScreenEffect::Suspend]);
        assert!(app.ui.overlay.is_some());
    }

    #[test]
    fn letters_of_the_welcome_work_only_while_there_are_no_feeds() {
        let mut app = app_with(&[]);
        assert_eq!(press(&mut app, "d"), [ScreenEffect::OpenDemo]);
        let mut app = app_with(&[("Orchard", &[])]);
        assert!(press(&mut app, "d").is_empty());
    }

    #[test]
    fn a_key_with_alt_without_a_meaning_is_esc_and_the_key() {
        let mut app = app_with(&[("Orchard", &[])]);
        press(&mut app, "a x Alt-y");
        // Esc closed the line, so the y is a command.
        assert_eq!((&app.ui.overlay, told(&app)), (&None, "there is no link to copy here"));
        press(&mut app, "Alt-a x");
        assert_eq!(
            app.ui.overlay,
            Some(Overlay::Prompt(Prompt::filled(PromptPurpose::Add, "x".into())))
        );
        press_key(&mut app, noon(), Key::code(Code::Alt(ALT_BACKSPACE)));
        assert_eq!(app.ui.overlay, Some(Overlay::Prompt(Prompt::new(PromptPurpose::Add))));
        press(&mut app, "Esc");
        let (place, sequences) = (place_of("help").unwrap(), vec![sequence("Alt-a").unwrap()]);
        app.ui.settings.keys = Keymap::new(&[OwnKeys { place, sequences, line: 1 }]).0;
        press(&mut app, "Alt-a");
        assert!(matches!(app.ui.overlay, Some(Overlay::Help(_))));
    }

    #[test]
    fn pasted_address_subscribes_and_other_text_does_not() {
        let mut app = app_with(&[("Orchard", &[])]);
        paste_text(&mut app, noon(), "just words");
        assert_eq!(app.ui.overlay, None);
        paste_text(&mut app, noon(), " https://a.example/feed\n");
        let typed = Prompt::filled(PromptPurpose::Add, "https://a.example/feed".into());
        assert_eq!(app.ui.overlay, Some(Overlay::Prompt(typed)));
        let before = app.ui.overlay.clone();
        paste_text(&mut app, noon(), "https://a.example/feed\nhttps://b.example/feed\n");
        assert_eq!(app.ui.overlay, before);
        assert!(told(&app).starts_with("paste one address at a time"), "{}", told(&app));
    }

    #[test]
    fn a_command_of_the_palette_is_run_where_it_was_opened() {
        let mut app = app_with(&[("Orchard", &[])]);
        press(&mut app, ": t h e m e Enter");
        assert!(app.ui.overlay.is_none());
        assert!(told(&app).starts_with("theme "), "{}", told(&app));
        press(&mut app, ": z z z z Enter");
        assert_eq!(told(&app), "no command matches 'zzzz' · ? shows the keys");
    }
}
