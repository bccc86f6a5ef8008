//! The list of accounts on servers: the last sync of each, and what can be done with it.

use chrono::{DateTime, Utc};

use super::add_dialog;
use crate::engine::entries::account_sync;
use crate::engine::request::Request;
use crate::ui::actions::change_marked;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::state::overlay::{AskedQuestion, Asks, OpenList, Overlay};
use backissue_core::feed::text::counted_words;

/// Number of screen lines for the last sync of an account.
pub const STATE_LINES: u16 = 3;

/// The list of accounts.
pub static LIST: ListKind = ListKind {
    title: "Accounts",
    empty: "no accounts: {account-add} adds one",
    lines: STATE_LINES + 1,
    toggles: &[Command::Accounts],
    count: |app, _, _| app.engine.accounts.len(),
    actions: &[
        action(
            &[Command::Enter, Command::Poll, Command::PollAll],
            "syncs all now",
            |app, now, _| Some(sync_now(app, now)),
        ),
        action(&[Command::Add, Command::AccountAdd], "adds one", |app, now, _| {
            app.ui.uncover();
            Some(add_dialog::open_form(app, now))
        }),
        action(&[Command::PollHere], "polls its feeds here, too", poll_here),
        action(&[Command::Unsubscribe], "removes it", |app, _, open| {
            ask_to_leave(app, open);
            Some(Vec::new())
        }),
    ],
    ..ListKind::PLAIN
};

fn poll_here(app: &mut App, now: DateTime<Utc>, open: OpenList) -> Option<Vec<ScreenEffect>> {
    let account = app.engine.accounts.get(open.list.selected)?;
    let feeds = account_sync::feeds_of(&app.engine, &account.name);
    let feeds: Vec<_> = feeds.map(|feed| feed.key).collect();
    Some(change_marked::poll_here(app, now, &feeds))
}

/// Asks what becomes of the feeds of the selected account.
fn ask_to_leave(app: &mut App, open: OpenList) {
    let Some(account) = app.engine.accounts.get(open.list.selected) else { return };
    let name = account.name.clone();
    let unsent = match account.waits.marks.saturating_add(account.waits.unsent) {
        0 => String::new(),
        count => format!(" {} never sent.", counted_words(count, "mark was", "marks were")),
    };
    let text = format!(
        "Remove '{name}' here? k keeps its feeds as local ones, u unsubscribes from them, any other key: no.{unsent} Nothing changes on the server."
    );
    app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks: Asks::LeaveAccount(name) }));
}

/// Syncs all accounts.
fn sync_now(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.engine.offline {
        return app.ui.say_only(now, "backissue was started with --offline: no sync");
    }
    app.ui.say(now, "syncing all accounts");
    app.ask(now, Request::SyncAccounts)
}

/// Removes the account: `k` keeps its feeds, `u` unsubscribes from them. Every other key leaves it.
pub fn leave(app: &mut App, now: DateTime<Utc>, key: Key, name: &str) -> Vec<ScreenEffect> {
    let kept = key == Key::char('k');
    if !kept && key != Key::char('u') {
        return app.ui.say_only(now, format!("the account '{name}' stays"));
    }
    let mut effects = Vec::new();
    for request in account_sync::leave(&app.engine, name, kept, now) {
        effects.extend(app.ask(now, request));
    }
    let mut others = app.engine.accounts.clone();
    others.retain(|account| account.name != name);
    effects.extend(app.ask(now, Request::AccountsSeen(others)));
    list_panel::close_empty(app, now, &LIST);
    effects.push(ScreenEffect::ForgetAccount(name.to_owned()));
    let told = if kept {
        "its feeds are polled here now".to_owned()
    } else {
        app.ui.words("{undo} subscribes to its feeds again")
    };
    app.ui.answer(now, format!("the account '{name}' was removed · {told}"));
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::entries::account_state::{AccountStatus, WaitingMarks};
    use crate::engine::feeds::subscription::GivenBy;
    use crate::ui::input::ScreenInput;
    use crate::ui::keys::key_names::parse_key;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::state::layout::Pane;
    use crate::ui::state::overlay::ListOf;
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
            waits: WaitingMarks::default(),
        };
        app.engine.accounts = vec![status("home"), status("work")];
        let mut chosen = app.engine.feeds[&FIRST].record.chosen();
        chosen.feed_settings.account = Some("home".into());
        app.ask(noon(), Request::Set(FIRST, Box::new(chosen)));
        let brought = app.engine.feeds.get_mut(&FIRST).unwrap();
        brought.record.given_by = Some(GivenBy::Account);
        list_panel::toggle(&mut app, noon(), ListOf::Accounts, &LIST);
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
                // No store answers here, and a key would wait for the rows.
                app.ui.list.waiting = false;
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
        list_panel::toggle(&mut app, noon(), ListOf::Accounts, &LIST);
        assert!(app.ui.overlay.is_none());
        assert!(app.ui.notice.unwrap().text.contains(":account-add"));
    }
}
