//! The menu of the programs in `[share]`, which receive the selected entry.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::run_own;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::overlays::list_panel::{self, ListKind, action};
use crate::ui::state::overlay::ListOf;

/// The menu.
pub static LIST: ListKind = ListKind {
    title: "Share",
    empty: "nothing to share with: name programs in [share] of the configuration",
    toggles: &[Command::Share],
    count: |app, _, _| app.engine.settings.commands.share.len(),
    actions: &[action(&[Command::Enter], "shares", |app, now, open| {
        let (name, _) = app.engine.settings.commands.share.get(open.list.selected)?.clone();
        app.ui.uncover();
        Some(share_with(app, now, &name))
    })],
    ..ListKind::PLAIN
};

/// Opens or closes the menu.
pub fn toggle_menu(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let is_entry = app.ui.list.selected_row().is_some_and(|row| row.key.entry().is_some());
    if !is_entry && !app.engine.settings.commands.share.is_empty() {
        return app.ui.say_only(now, "select an entry first, then share it");
    }
    list_panel::toggle(app, now, ListOf::Share, &LIST)
}

/// Shares the selected entry with a program by its name.
pub fn share_with(app: &mut App, now: DateTime<Utc>, name: &str) -> Vec<ScreenEffect> {
    let share = &app.engine.settings.commands.share;
    let Some((name, command)) = share.iter().find(|(known, _)| known == name).cloned() else {
        return app.ui.complain_only(now, format!("[share] has no '{name}'"));
    };
    app.ui.say(now, format!("sharing with {name} …"));
    run_own::run_program(app, now, &name, command, VecDeque::new())
}
