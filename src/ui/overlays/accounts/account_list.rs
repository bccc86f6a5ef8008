//! The list of accounts on servers: the last sync of each, and what can be done with it.

use chrono::{DateTime, Utc};

use super::{AccountList, add_dialog};
use crate::engine::entries::account_sync;
use crate::engine::request::Request;
use crate::ui::actions::change_marked;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::overlays::outcome::{ClickOutcome, KeyOutcome};
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;

/// Number of screen lines for the last sync of an account.
pub const STATE_LINES: usize = 3;
/// Number of screen lines that each account takes in the list.
pub const ACCOUNT_LINES: usize = STATE_LINES + 1;

/// Opens or closes the list.
pub fn toggle_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::Accounts(_))) {
        app.ui.uncover();
    } else if app.engine.accounts.is_empty() {
        app.ui.say(now, "no accounts: :account-add adds one");
    } else {
        app.ui.lay_over(Overlay::Accounts(AccountList::default()));
    }
    Vec::new()
}

/// Handles a key in the list.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Accounts(mut pane)) = app.ui.overlay.clone() else {
        return KeyOutcome::Passed;
    };
    if let Some(name) = pane.leaving.take() {
        app.ui.overlay = Some(Overlay::Accounts(pane));
        return KeyOutcome::Done(answer(app, now, key, &name));
    }
    let count = app.engine.accounts.len();
    pane.list.selected = pane.list.selected.min(count.saturating_sub(1));
    let selected = app.engine.accounts.get(pane.list.selected).map(|account| account.name.clone());
    match app.ui.settings.keys.command(key, Pane::Entries) {
        Some(Command::Down) => pane.list.step(true, 1, count),
        Some(Command::Up) => pane.list.step(false, 1, count),
        Some(Command::First) => pane.list.step(false, count, count),
        Some(Command::Last) => pane.list.step(true, count, count),
        Some(command @ (Command::Undo | Command::Redo | Command::Help | Command::Quit)) => {
            return KeyOutcome::Run(command);
        }
        Some(Command::Back | Command::Close | Command::Left | Command::Accounts) => {
            app.ui.uncover();
            return KeyOutcome::Done(Vec::new());
        }
        Some(Command::Enter | Command::Poll | Command::PollAll) => {
            return KeyOutcome::Done(sync_now(app, now));
        }
        Some(Command::Add | Command::AccountAdd) => {
            app.ui.uncover();
            return KeyOutcome::Done(add_dialog::open_form(app, now));
        }
        Some(Command::Unsubscribe) => pane.leaving = selected,
        Some(Command::PollHere) => {
            let feeds = selected.iter().flat_map(|name| account_sync::feeds_of(&app.engine, name));
            let feeds: Vec<_> = feeds.map(|feed| feed.key).collect();
            return KeyOutcome::Done(change_marked::poll_here(app, now, &feeds));
        }
        Some(_) | None => app.ui.say(
            now,
            "in the accounts: Enter syncs all now, a adds one, & polls its feeds here, too, D removes it, q closes",
        ),
    }
    app.ui.overlay = Some(Overlay::Accounts(pane));
    KeyOutcome::Done(Vec::new())
}

/// Syncs all accounts.
fn sync_now(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.engine.offline {
        app.ui.say(now, "backissue was started with --offline: no sync");
        return Vec::new();
    }
    app.ui.say(now, "syncing all accounts");
    app.ask(now, Request::SyncAccounts)
}

/// Removes the account: `k` keeps its feeds, `u` unsubscribes from them. Every other key leaves it.
fn answer(app: &mut App, now: DateTime<Utc>, key: Key, name: &str) -> Vec<ScreenEffect> {
    let kept = key == Key::char('k');
    if !kept && key != Key::char('u') {
        app.ui.say(now, format!("the account '{name}' stays"));
        return Vec::new();
    }
    let mut effects = Vec::new();
    for request in account_sync::leave(&app.engine, name, kept, now) {
        effects.extend(app.ask(now, request));
    }
    let mut others = app.engine.accounts.clone();
    others.retain(|account| account.name != name);
    if others.is_empty() {
        app.ui.uncover();
    }
    effects.extend(app.ask(now, Request::AccountsSeen(others)));
    effects.push(ScreenEffect::ForgetAccount(name.to_owned()));
    let told = if kept {
        "its feeds are polled here now".to_owned()
    } else {
        format!("{} subscribes to its feeds again", app.ui.settings.keys.key_of("undo"))
    };
    app.ui.answer(now, format!("the account '{name}' was removed · {told}"));
    effects
}

/// Selects the clicked account; a click on the selected one is Enter.
pub fn click_line(app: &mut App, _now: DateTime<Utc>, line: usize) -> ClickOutcome {
    let count = app.engine.accounts.len();
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line / ACCOUNT_LINES);
    if let Some(Overlay::Accounts(pane)) = &mut app.ui.overlay
        && pane.list.click(place, count)
    {
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::entries::account_sync::{AccountStatus, Waiting};
    use crate::engine::feeds::subscription::GivenBy;
    use crate::ui::input::ScreenInput;
    use crate::ui::keys::key_names::parse_key;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::update::update;
    use backissue_core::history::FeedKey;

    const FIRST: FeedKey = FeedKey(1);

    fn with_accounts() -> App {
        let mut app = app_with(&[("Orchard", &[]), ("Tower", &[])]);
        let status = |name: &str| AccountStatus {
            name: name.into(),
            place: "ann at https://rss.example/".into(),
            last: None,
            failure: None,
            waits: Waiting::default(),
        };
        app.engine.accounts = vec![status("home"), status("work")];
        let mut chosen = app.engine.feeds[&FIRST].record.chosen();
        chosen.feed_settings.account = Some("home".into());
        app.ask(noon(), Request::Set(FIRST, Box::new(chosen)));
        let brought = app.engine.feeds.get_mut(&FIRST).unwrap();
        brought.record.given_by = Some(GivenBy::Account);
        toggle_list(&mut app, noon());
        app
    }

    fn press(app: &mut App, keys: &str) -> Vec<ScreenEffect> {
        let press = |key| update(app, noon(), ScreenInput::Key(parse_key(key).unwrap()));
        keys.split(' ').flat_map(press).collect()
    }

    #[test]
    fn accounts_are_synced_and_removed_with_or_without_their_feeds() {
        let mut app = with_accounts();
        let before = app.engine.syncs_asked;
        press(&mut app, "Enter");
        assert_eq!(app.engine.syncs_asked, before + 1);
        assert!(press(&mut app, "D x").is_empty(), "another key is no");
        assert_eq!(app.engine.accounts.len(), 2);
        for (keys, feeds) in [("D k", 2), ("D u", 1)] {
            let mut app = with_accounts();
            let effects = press(&mut app, keys);
            assert!(effects.contains(&ScreenEffect::ForgetAccount("home".into())), "{effects:?}");
            assert_eq!(app.engine.feeds.len(), feeds, "{keys}");
            assert_eq!(account_sync::feeds_of(&app.engine, "home").count(), 0, "{keys}");
            let left: Vec<&str> = app.engine.accounts.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(left, ["work"], "{keys}");
            for _ in 0..2 {
                press(&mut app, "q u");
                assert_eq!(account_sync::feeds_of(&app.engine, "home").count(), 0, "{keys}");
            }
            assert_eq!(app.engine.feeds.len(), 2, "{keys}: undo subscribes again");
        }
    }

    #[test]
    fn one_key_polls_an_account_a_feed_or_a_tag_here() {
        let by_server =
            |app: &App| app.engine.feeds[&FIRST].record.feed_settings.is_polled_by_server();
        let mut app = with_accounts();
        let row = app.ui.feeds.rows.iter().position(|row| row.feed() == Some(FIRST));
        (app.ui.feeds.selected, app.ui.focus) = (row.unwrap(), Pane::Feeds);
        for keys in ["&", "q &"] {
            press(&mut app, keys);
            assert!(!by_server(&app), "{keys}");
            press(&mut app, "&");
            assert!(by_server(&app), "{keys}: the same key leaves it to the server again");
        }
        press(&mut app, "& u");
        assert!(by_server(&app));
        let mut app = app_with(&[("Orchard", &[])]);
        assert!(press(&mut app, "&").is_empty(), "a feed of no account is polled here anyway");
    }

    #[test]
    fn feeds_of_an_account_that_does_not_exist_become_local_ones() {
        let mut app = with_accounts();
        let others = app.engine.accounts.split_off(1);
        app.ask(noon(), Request::AccountsSeen(others.clone()));
        assert_eq!(app.engine.accounts, others);
        assert!(!app.engine.feeds[&FIRST].record.feed_settings.is_polled_by_server());
    }

    #[test]
    fn without_accounts_the_command_to_add_one_is_named() {
        let mut app = app_with(&[]);
        toggle_list(&mut app, noon());
        assert!(app.ui.overlay.is_none());
        assert!(app.ui.notice.unwrap().text.contains(":account-add"));
    }
}
