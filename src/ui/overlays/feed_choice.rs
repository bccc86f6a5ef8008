//! Lets the user choose between the feeds found on a page, and blocks the panes while an address is looked up.

use chrono::{DateTime, Utc};

use super::outcome::{ClickOutcome, KeyOutcome};
use crate::engine::feeds::addition::Subscribe;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{Choice, Overlay};
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

/// Handles a key while the user chooses between the feeds found on a page.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    let Some(Overlay::Choice(mut choice)) = app.ui.overlay else { return Vec::new() };
    let count = count_candidates(app, choice);
    match app.ui.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Down) => choice.list.step(true, 1, count),
        Some(Command::Up) => choice.list.step(false, 1, count),
        Some(command @ (Command::Enter | Command::Back | Command::Close | Command::Quit)) => {
            app.ui.uncover();
            let url = url_at(app, choice.addition, choice.list.selected);
            let url = url.filter(|_| command == Command::Enter);
            let reads = url.is_some();
            let effects = app.ask(now, Request::Choose { addition: choice.addition, url });
            if reads {
                wait_for(app, choice.addition);
            }
            return effects;
        }
        Some(_) | None => {}
    }
    select_candidate(app, now, choice)
}

/// Selects the clicked feed; a click on the selected feed subscribes to it.
pub fn click_line(app: &mut App, now: DateTime<Utc>, line: usize) -> ClickOutcome {
    let Some(Overlay::Choice(mut choice)) = app.ui.overlay else {
        return ClickOutcome::Done(Vec::new());
    };
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if choice.list.click(place, count_candidates(app, choice)) {
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done(select_candidate(app, now, choice))
}

fn count_candidates(app: &App, choice: Choice) -> usize {
    app.engine.additions.get(&choice.addition).map_or(0, |addition| addition.found.len())
}

/// Selects one of the feeds found on a page and requests its preview.
fn select_candidate(app: &mut App, now: DateTime<Utc>, choice: Choice) -> Vec<ScreenEffect> {
    app.ui.overlay = Some(Overlay::Choice(choice));
    let Some(url) = url_at(app, choice.addition, choice.list.selected) else { return Vec::new() };
    app.ask(now, Request::Preview { addition: choice.addition, url })
}

fn url_at(app: &App, addition: u32, place: usize) -> Option<String> {
    let addition = app.engine.additions.get(&addition)?;
    addition.found.get(place).map(|candidate| candidate.url.clone())
}
