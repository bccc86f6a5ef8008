//! The dialog that adds an account on a server. The server is asked as the command line asks it.

use chrono::{DateTime, Utc};

use super::account_form::AccountForm;
use crate::engine::feeds::addresses::web_address;
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::Key;
use crate::ui::overlays::form::FormOutcome;
use crate::ui::state::overlay::Overlay;
use backissue_core::InputFlaw;

/// Opens the form.
pub fn open_form(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.engine.offline {
        app.ui.say(now, "an account cannot be added with --offline");
    } else {
        app.ui.lay_over(Overlay::Account(Box::new(AccountForm::new())));
    }
    Vec::new()
}

/// Handles a key in the form. While the server is asked, only closing works.
pub fn press_key(app: &mut App, key: Key) -> Vec<ScreenEffect> {
    let Some(Overlay::Account(typed)) = &mut app.ui.overlay else { return Vec::new() };
    let before = typed.form.clone();
    match typed.form.press(key) {
        FormOutcome::Open if typed.is_waiting => typed.form = before,
        FormOutcome::Open => {}
        FormOutcome::GiveUp => app.ui.uncover(),
        FormOutcome::Save if typed.is_waiting => {}
        FormOutcome::Save => return log_in(typed),
    }
    Vec::new()
}

/// Inserts pasted text into the form.
pub fn paste_text(app: &mut App, text: &str) -> Vec<ScreenEffect> {
    if let Some(Overlay::Account(typed)) = &mut app.ui.overlay
        && !typed.is_waiting
    {
        typed.form.paste(text);
    }
    Vec::new()
}

/// Selects the clicked input line.
pub fn click_line(app: &mut App, line: usize) -> Vec<ScreenEffect> {
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Account(typed)) = &mut app.ui.overlay {
        typed.form.click(place);
    }
    Vec::new()
}

/// Asks the server. Before a password goes over an unencrypted connection, the user must confirm it once more.
fn log_in(typed: &mut AccountForm) -> Vec<ScreenEffect> {
    let login = match typed.login() {
        Ok(login) => login,
        Err((place, why)) => {
            (typed.form.selected, typed.form.problem) = (place, Some(why));
            return Vec::new();
        }
    };
    let is_open = |address: &String| address.starts_with("http://") && !is_loopback(address);
    let open = web_address(&login.address).ok().filter(is_open);
    if open.is_some() && open != typed.warned_of {
        let why = "this server is not encrypted: others could read your password; Enter logs in all the same";
        (typed.warned_of, typed.form.problem) = (open, Some(why.to_owned()));
        return Vec::new();
    }
    (typed.is_waiting, typed.form.problem) = (true, None);
    vec![ScreenEffect::AddAccount(Box::new(login))]
}

/// Shows whether the account was added: its name, or a sentence with the reason that it was not.
pub fn take_result(
    app: &mut App,
    now: DateTime<Utc>,
    result: Result<String, InputFlaw>,
) -> Vec<ScreenEffect> {
    let is_open = matches!(&app.ui.overlay, Some(Overlay::Account(typed)) if typed.is_waiting);
    match result {
        Ok(name) => {
            if is_open {
                app.ui.uncover();
            }
            app.ui.answer(now, format!("the account '{name}' was added; its first sync begins"));
            app.ask(now, Request::SyncAccounts)
        }
        Err(why) => {
            match &mut app.ui.overlay {
                Some(Overlay::Account(typed)) if typed.is_waiting => {
                    (typed.is_waiting, typed.form.problem) = (false, Some(why.into()));
                }
                Some(_) | None => app.ui.answer(now, why.to_string()),
            }
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keys::key_names::parse_key;
    use crate::ui::sample_app::{app_with, noon};

    fn press(app: &mut App, keys: &str) -> Vec<ScreenEffect> {
        keys.split(' ').flat_map(|key| press_key(app, parse_key(key).unwrap())).collect()
    }

    fn problem(app: &App) -> &str {
        let Some(Overlay::Account(typed)) = &app.ui.overlay else { return "" };
        typed.form.problem.as_deref().unwrap_or_default()
    }

    #[test]
    fn the_server_is_asked_with_what_was_typed() {
        let mut app = app_with(&[("Orchard", &[])]);
        open_form(&mut app, noon());
        assert_eq!(press(&mut app, "Enter"), []);
        assert_eq!(problem(&app), "type the address of the server");
        paste_text(&mut app, "rss.example");
        assert_eq!(press(&mut app, "Enter"), []);
        assert_eq!(problem(&app), "type the password, or the API token");
        paste_text(&mut app, " secret ");
        press(&mut app, "Up");
        paste_text(&mut app, "ann");
        let asked = press(&mut app, "Enter");
        let [ScreenEffect::AddAccount(login)] = asked.as_slice() else { panic!("{asked:?}") };
        let typed = (login.address.as_str(), login.user.as_str(), login.password.reveal());
        assert_eq!(typed, ("rss.example", "ann", " secret "));
        assert!(!format!("{asked:?}").contains("secret \""), "the password is not shown");
        assert_eq!(press(&mut app, "x Enter"), [], "one request at a time");
        take_result(&mut app, noon(), Err("no".into()));
        assert_eq!(problem(&app), "no");
        press(&mut app, "Enter");
        let before = app.engine.syncs_asked;
        take_result(&mut app, noon(), Ok("rss.example".into()));
        assert_eq!((app.ui.overlay.is_none(), app.engine.syncs_asked), (true, before + 1));
    }

    #[test]
    fn a_server_without_encryption_needs_a_second_enter() {
        let mut app = app_with(&[("Orchard", &[])]);
        for (address, warned) in [("http://rss.example", true), ("http://127.0.0.1:8080", false)] {
            open_form(&mut app, noon());
            paste_text(&mut app, address);
            press(&mut app, "Up");
            paste_text(&mut app, "token");
            assert_eq!(press(&mut app, "Enter").is_empty(), warned, "{address}");
            assert_eq!(press(&mut app, "Enter").is_empty(), !warned, "{address}");
            press(&mut app, "Esc");
            take_result(&mut app, noon(), Err("late".into()));
            assert!(app.ui.overlay.is_none());
        }
    }
}
