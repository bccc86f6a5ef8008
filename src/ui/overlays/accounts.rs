//! The list of accounts on servers, with the last sync and the possible actions for each account, and the dialog that adds an
//! account. The dialog sends the same requests to the server as the command line.

use backissue_core::InputFlaw;
use backissue_core::feed::text::counted_words;

use super::form::AccountForm;
use crate::engine::entries::account_sync;
use crate::engine::feeds::addresses::web_address;
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::request::Request;
use crate::ui::actions::marking;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::command_table::Command;
use crate::ui::keys::key::Key;
use crate::ui::overlays::form::FormOutcome;
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::state::overlay::{AskedQuestion, Asks, OpenList, Overlay};

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
        action(&[Command::Enter, Command::Poll, Command::PollAll], "syncs all now", |cx, _| {
            sync_now(cx);
            Some(())
        }),
        action(&[Command::Add, Command::AccountAdd], "adds one", |cx, _| {
            cx.app.ui.uncover();
            open_form(cx);
            Some(())
        }),
        action(&[Command::PollHere], "polls its feeds here, too", poll_here),
        action(&[Command::Unsubscribe], "removes it", |cx, open| {
            ask_to_leave(cx.app, open);
            Some(())
        }),
    ],
    ..ListKind::PLAIN
};

fn poll_here(cx: &mut Cx<'_>, open: OpenList) -> Option<()> {
    let account = cx.app.engine.accounts.get(open.list.selected)?;
    let feeds = account_sync::feeds_of(&cx.app.engine, &account.name);
    let feeds: Vec<_> = feeds.map(|feed| feed.key).collect();
    marking::poll_here(cx, &feeds);
    Some(())
}

/// Asks whether to keep the feeds of the selected account when the account is removed.
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
fn sync_now(cx: &mut Cx<'_>) {
    if cx.app.engine.offline {
        return cx.say("backissue was started with --offline: no sync");
    }
    cx.say("syncing all accounts");
    cx.ask(Request::SyncAccounts);
}

/// Removes the account: `k` keeps its feeds, and `u` unsubscribes from them. After any other key, the account is not removed.
pub fn leave(cx: &mut Cx<'_>, key: Key, name: &str) {
    let kept = key == Key::char('k');
    if !kept && key != Key::char('u') {
        return cx.say(format!("the account '{name}' stays"));
    }
    for request in account_sync::leave(&cx.app.engine, name, kept, cx.now) {
        cx.ask(request);
    }
    let mut others = cx.app.engine.accounts.clone();
    others.retain(|account| account.name != name);
    cx.ask(Request::AccountsSeen(others));
    list_panel::close_empty(cx, &LIST);
    cx.out.push(ScreenEffect::ForgetAccount(name.to_owned()));
    let told = if kept {
        "its feeds are polled here now".to_owned()
    } else {
        cx.app.ui.words("{undo} subscribes to its feeds again")
    };
    cx.answer(format!("the account '{name}' was removed · {told}"));
}

/// Opens the form.
pub fn open_form(cx: &mut Cx<'_>) {
    if cx.app.engine.offline {
        cx.say("an account cannot be added with --offline");
    } else {
        cx.app.ui.lay_over(Overlay::Account(Box::new(AccountForm::new())));
    }
}

/// Handles a key in the form. While the response of the server is pending, the form can only be closed.
pub fn press_key(cx: &mut Cx<'_>, key: Key) {
    let Some(Overlay::Account(typed)) = &mut cx.app.ui.overlay else { return };
    let before = typed.form.clone();
    match typed.form.press(key) {
        FormOutcome::Open if typed.is_waiting => typed.form = before,
        FormOutcome::Open => {}
        FormOutcome::GiveUp => cx.app.ui.uncover(),
        FormOutcome::Save if typed.is_waiting => {}
        FormOutcome::Save => cx.out.extend(log_in(typed)),
    }
}

/// Inserts pasted text into the form.
pub fn paste_text(cx: &mut Cx<'_>, text: &str) {
    if let Some(Overlay::Account(typed)) = &mut cx.app.ui.overlay
        && !typed.is_waiting
    {
        typed.form.paste(text);
    }
}

/// Selects the clicked input line.
pub fn click_line(cx: &mut Cx<'_>, line: usize) {
    let place = usize::from(cx.app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Account(typed)) = &mut cx.app.ui.overlay {
        typed.form.click(place);
    }
}

/// Sends the login to the server. Before a password is sent over an unencrypted connection, the user must confirm this.
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

/// Handles the result of adding an account: the name of the account, or a sentence with the reason why it was not added.
pub fn take_result(cx: &mut Cx<'_>, result: Result<String, InputFlaw>) {
    let is_open = matches!(&cx.app.ui.overlay, Some(Overlay::Account(typed)) if typed.is_waiting);
    match result {
        Ok(name) => {
            if is_open {
                cx.app.ui.uncover();
            }
            cx.answer(format!("the account '{name}' was added; its first sync begins"));
            cx.ask(Request::SyncAccounts);
        }
        Err(why) => match &mut cx.app.ui.overlay {
            Some(Overlay::Account(typed)) if typed.is_waiting => {
                (typed.is_waiting, typed.form.problem) = (false, Some(why.into()));
            }
            Some(_) | None => cx.answer(why.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::entries::account_state::{AccountStatus, WaitingMarks};
    use crate::engine::feeds::subscription::GivenBy;
    use crate::ui::keys::key::parse_key;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::state::layout::Pane;
    use crate::ui::state::overlay::ListOf;
    use crate::ui::update::ScreenInput;
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
        Cx::run(&mut app, noon(), |cx| cx.ask(Request::Set(FIRST, Box::new(chosen))));
        let brought = app.engine.feeds.get_mut(&FIRST).unwrap();
        brought.record.given_by = Some(GivenBy::Account);
        Cx::run(&mut app, noon(), |cx| list_panel::toggle(cx, ListOf::Accounts, &LIST));
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
                // This test has no store that answers, so a key would wait for the rows.
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
        Cx::run(&mut app, noon(), |cx| cx.ask(Request::AccountsSeen(others.clone())));
        assert_eq!(app.engine.accounts, others);
        assert!(!app.engine.feeds[&FIRST].record.feed_settings.is_polled_by_server());
    }

    #[test]
    fn without_accounts_the_command_to_add_one_is_named() {
        let mut app = app_with(&[]);
        Cx::run(&mut app, noon(), |cx| list_panel::toggle(cx, ListOf::Accounts, &LIST));
        assert!(app.ui.overlay.is_none());
        assert!(app.ui.notice.unwrap().text.contains(":account-add"));
    }
}

#[cfg(test)]
mod add_dialog_tests {
    use super::*;
    use crate::ui::keys::key::parse_key;
    use crate::ui::sample_app::{app_with, noon};

    fn press(app: &mut App, keys: &str) -> Vec<ScreenEffect> {
        keys.split(' ')
            .flat_map(|key| Cx::run(app, noon(), |cx| press_key(cx, parse_key(key).unwrap())))
            .collect()
    }

    fn problem(app: &App) -> &str {
        let Some(Overlay::Account(typed)) = &app.ui.overlay else { return "" };
        typed.form.problem.as_deref().unwrap_or_default()
    }

    #[test]
    fn the_server_is_asked_with_what_was_typed() {
        let mut app = app_with(&[("Orchard", &[])]);
        Cx::run(&mut app, noon(), |cx| open_form(cx));
        assert_eq!(press(&mut app, "Enter"), []);
        assert_eq!(problem(&app), "type the address of the server");
        Cx::run(&mut app, noon(), |cx| paste_text(cx, "rss.example"));
        assert_eq!(press(&mut app, "Enter"), []);
        assert_eq!(problem(&app), "type the password, or the API token");
        Cx::run(&mut app, noon(), |cx| paste_text(cx, " secret "));
        press(&mut app, "Up");
        Cx::run(&mut app, noon(), |cx| paste_text(cx, "ann"));
        let asked = press(&mut app, "Enter");
        let [ScreenEffect::AddAccount(login)] = asked.as_slice() else { panic!("{asked:?}") };
        let typed = (login.address.as_str(), login.user.as_str(), login.password.reveal());
        assert_eq!(typed, ("rss.example", "ann", " secret "));
        assert!(!format!("{asked:?}").contains("secret \""), "the password is not shown");
        assert_eq!(press(&mut app, "x Enter"), [], "one request at a time");
        Cx::run(&mut app, noon(), |cx| take_result(cx, Err("no".into())));
        assert_eq!(problem(&app), "no");
        press(&mut app, "Enter");
        let before = app.engine.syncs_asked;
        Cx::run(&mut app, noon(), |cx| take_result(cx, Ok("rss.example".into())));
        assert_eq!((app.ui.overlay.is_none(), app.engine.syncs_asked), (true, before + 1));
    }

    #[test]
    fn a_server_without_encryption_needs_a_second_enter() {
        let mut app = app_with(&[("Orchard", &[])]);
        for (address, warned) in [("http://rss.example", true), ("http://127.0.0.1:8080", false)] {
            Cx::run(&mut app, noon(), |cx| open_form(cx));
            Cx::run(&mut app, noon(), |cx| paste_text(cx, address));
            press(&mut app, "Up");
            Cx::run(&mut app, noon(), |cx| paste_text(cx, "token"));
            assert_eq!(press(&mut app, "Enter").is_empty(), warned, "{address}");
            assert_eq!(press(&mut app, "Enter").is_empty(), !warned, "{address}");
            press(&mut app, "Esc");
            Cx::run(&mut app, noon(), |cx| take_result(cx, Err("late".into())));
            assert!(app.ui.overlay.is_none());
        }
    }
}
