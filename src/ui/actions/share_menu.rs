//! The menu of the programs in `[share]`, which receive the selected entry.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::run_own;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::overlays::outcome::{ClickOutcome, KeyOutcome};
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;

/// Opens or closes the menu.
pub fn toggle_menu(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let is_entry = app.ui.list.selected_row().is_some_and(|row| row.key.entry().is_some());
    if matches!(app.ui.overlay, Some(Overlay::Share(_))) {
        app.ui.uncover();
    } else if app.engine.settings.commands.share.is_empty() {
        app.ui.say(now, "nothing to share with: name programs in [share] of the configuration");
    } else if !is_entry {
        app.ui.say(now, "select an entry first, then share it");
    } else {
        app.ui.lay_over(Overlay::Share(ScrollList::default()));
    }
    Vec::new()
}

/// Handles a key in the menu.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Share(mut list)) = app.ui.overlay else { return KeyOutcome::Passed };
    let count = app.engine.settings.commands.share.len();
    match app.ui.settings.keys.command(key, Pane::Entries) {
        Some(Command::Down) => list.step(true, 1, count),
        Some(Command::Up) => list.step(false, 1, count),
        Some(Command::First) => list.step(false, count, count),
        Some(Command::Last) => list.step(true, count, count),
        Some(Command::Enter) => {
            app.ui.uncover();
            let target = app.engine.settings.commands.share.get(list.selected);
            let name = target.map(|(name, _)| name.clone()).unwrap_or_default();
            return KeyOutcome::Done(share_with(app, now, &name));
        }
        Some(command @ (Command::Help | Command::Quit)) => return KeyOutcome::Run(command),
        Some(Command::Back | Command::Close | Command::Left | Command::Share) => {
            app.ui.uncover();
            return KeyOutcome::Done(Vec::new());
        }
        Some(_) | None => app.ui.say(now, "in this menu: Enter shares the entry, q closes"),
    }
    app.ui.overlay = Some(Overlay::Share(list));
    KeyOutcome::Done(Vec::new())
}

/// Selects the clicked program; a click on the selected one shares the entry.
pub fn click_line(app: &mut App, _now: DateTime<Utc>, line: usize) -> ClickOutcome {
    let count = app.engine.settings.commands.share.len();
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Share(list)) = &mut app.ui.overlay
        && list.click(place, count)
    {
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done(Vec::new())
}

/// Shares the selected entry with a program by its name.
pub fn share_with(app: &mut App, now: DateTime<Utc>, name: &str) -> Vec<ScreenEffect> {
    let share = &app.engine.settings.commands.share;
    let Some((name, command)) = share.iter().find(|(known, _)| known == name).cloned() else {
        app.ui.complain(now, format!("[share] has no '{name}'"));
        return Vec::new();
    };
    app.ui.say(now, format!("sharing with {name} …"));
    run_own::run_program(app, now, &name, command, VecDeque::new())
}
