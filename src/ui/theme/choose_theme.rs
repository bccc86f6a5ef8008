//! Selects a theme, with a key or by name.

use chrono::{DateTime, Utc};

use super::colours::Colours;
use super::theme_files;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;

/// Switches to the next available theme.
pub fn choose_next(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let appearance = &mut app.ui.appearance;
    let next = appearance.chosen.saturating_add(1);
    appearance.chosen = if next < appearance.themes.len() { next } else { 0 };
    keep_theme(app, now);
    Vec::new()
}

/// Switches to the theme with the given name. An unknown name is reported in the status line.
pub fn choose_theme(app: &mut App, now: DateTime<Utc>, name: &str) -> Vec<ScreenEffect> {
    match app.ui.appearance.choose(name) {
        Ok(()) => keep_theme(app, now),
        Err(why) => app.ui.complain(now, why.to_string()),
    }
    Vec::new()
}

/// Applies the colour of the terminal's background, which the terminal has reported: on a light one the light theme is used, unless a
/// theme is chosen or configured.
pub fn follow_ground(app: &mut App) {
    let Some(is_light) = app.ui.is_light else { return };
    if app.ui.theme.is_none() && app.ui.settings.theme.is_none() {
        let name = if is_light { theme_files::LIGHT } else { theme_files::FIRST };
        app.ui.appearance.choose(name).ok();
    }
}

/// Remembers the theme that the user has chosen, and names it in the status line.
fn keep_theme(app: &mut App, now: DateTime<Utc>) {
    app.ui.theme = app.ui.appearance.theme().map(|theme| theme.name.clone());
    let appearance = &app.ui.appearance;
    let name = appearance.theme().map_or("", |theme| theme.name.as_str());
    let text = if appearance.colours == Colours::None {
        format!("theme {name}: this terminal shows no colours (NO_COLOR or TERM)")
    } else {
        format!("theme {name}")
    };
    app.ui.say(now, text);
}
