//! The choice between the feeds that a page names.

use chrono::{DateTime, Utc};

use super::outcome::ClickOutcome;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{Choice, Overlay};

/// A key while the feeds of a page are offered.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> Vec<ScreenEffect> {
    let Some(Overlay::Choice(mut choice)) = app.ui.overlay else { return Vec::new() };
    let count = count_candidates(app, choice);
    match app.ui.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Down) => choice.list.step(true, 1, count),
        Some(Command::Up) => choice.list.step(false, 1, count),
        Some(command @ (Command::Enter | Command::Back | Command::Quit)) => {
            app.ui.uncover();
            let url = url_at(app, choice.addition, choice.list.selected);
            let url = url.filter(|_| command == Command::Enter);
            return app.ask(now, Request::Choose { addition: choice.addition, url });
        }
        Some(_) | None => {}
    }
    select_candidate(app, now, choice)
}

/// A click on a feed selects it; a second one subscribes to it.
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

/// Selects one of the feeds: it is looked at.
fn select_candidate(app: &mut App, now: DateTime<Utc>, choice: Choice) -> Vec<ScreenEffect> {
    app.ui.overlay = Some(Overlay::Choice(choice));
    let Some(url) = url_at(app, choice.addition, choice.list.selected) else { return Vec::new() };
    app.ask(now, Request::Preview { addition: choice.addition, url })
}

fn url_at(app: &App, addition: u32, place: usize) -> Option<String> {
    let addition = app.engine.additions.get(&addition)?;
    addition.found.get(place).map(|candidate| candidate.url.clone())
}
