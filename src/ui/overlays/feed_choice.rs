//! Lets the user choose between the feeds found on a page, and blocks the panes while an address is looked up.

use chrono::{DateTime, Utc};

use super::list_panel::{ListKind, action};
use super::outcome::KeyOutcome;
use crate::engine::feeds::addition::{Addition, Subscribe};
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{ListOf, OpenList, Overlay};
use backissue_core::history::FeedKey;

/// Subscribes to a typed address. While the address is looked up, keys do not reach the panes.
pub fn subscribe_to(app: &mut App, now: DateTime<Utc>, address: String) -> Vec<ScreenEffect> {
    look_up(app, now, Subscribe { address, ..Subscribe::default() })
}

/// Changes the address of a feed to a typed address, once a feed is found there.
pub fn move_to(
    app: &mut App,
    now: DateTime<Utc>,
    feed: FeedKey,
    address: String,
) -> Vec<ScreenEffect> {
    look_up(app, now, Subscribe { address, moves: Some(feed), ..Subscribe::default() })
}

fn look_up(app: &mut App, now: DateTime<Utc>, wanted: Subscribe) -> Vec<ScreenEffect> {
    let id = app.engine.next_addition();
    let wanted = Subscribe { id, choose: true, ..wanted };
    let effects = app.ask(now, Request::Subscribe(Box::new(wanted)));
    wait_for(app, id);
    effects
}

/// Opens the overlay that keeps keys from the panes until the address lookup ends or offers a choice between feeds.
fn wait_for(app: &mut App, addition: u32) {
    let open = app.engine.additions.get(&addition);
    if open.is_some_and(|addition| addition.ended.is_none()) {
        app.ui.lay_over(Overlay::Looking(addition));
    }
}

/// Closes the overlay that keeps keys from the panes if the address lookup has ended.
pub fn follow_addition(app: &mut App) {
    let Some(Overlay::Looking(id)) = app.ui.overlay else { return };
    let addition = app.engine.additions.get(&id);
    if addition.is_none_or(|addition| addition.ended.is_some()) {
        app.ui.uncover();
    }
}

/// Handles a key while an address is looked up: Esc cancels the lookup, and any other key does nothing.
pub fn press_waiting_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Looking(addition)) = app.ui.overlay else { return KeyOutcome::Passed };
    match app.ui.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Quit) => KeyOutcome::Passed,
        Some(Command::Back | Command::Close) => {
            app.ui.uncover();
            let effects = app.ask(now, Request::Choose { addition, url: None });
            app.ui.say(now, "cancelled: nothing was changed");
            KeyOutcome::Done(effects)
        }
        Some(_) | None => KeyOutcome::Done(Vec::new()),
    }
}

/// The choice between the feeds found on a page.
pub static LIST: ListKind = ListKind {
    title: "Which feed?",
    count: |app, _, of| found(app, of).map_or(0, |addition| addition.found.len()),
    actions: &[action(&[Command::Enter], "subscribes", |app, now, open| {
        let (addition, url) = url_at(app, open)?;
        app.ui.uncover();
        let effects = app.ask(now, Request::Choose { addition, url: Some(url) });
        wait_for(app, addition);
        Some(effects)
    })],
    moved: |app, now, open| {
        let Some((addition, url)) = url_at(app, open) else { return Vec::new() };
        app.ask(now, Request::Preview { addition, url })
    },
    closed: |app, now, open| {
        let ListOf::Choice(addition) = open.of else { return Vec::new() };
        app.ask(now, Request::Choose { addition, url: None })
    },
    ..ListKind::PLAIN
};

/// Returns the addition (the pending subscription) that a choice belongs to.
pub fn found(app: &App, of: ListOf) -> Option<&Addition> {
    let ListOf::Choice(addition) = of else { return None };
    app.engine.additions.get(&addition)
}

/// Returns the addition that waits for the choice, and the selected address.
fn url_at(app: &App, open: OpenList) -> Option<(u32, String)> {
    let addition = found(app, open.of)?;
    let candidate = addition.found.get(open.list.selected)?;
    Some((addition.wanted.id, candidate.url.clone()))
}
