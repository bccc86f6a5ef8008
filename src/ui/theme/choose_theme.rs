//! Selects a theme, with a key or by name.

use chrono::{DateTime, Utc};

use super::colours::Colours;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;

/// Switches to the next available theme.
pub fn choose_next(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let appearance = &mut app.ui.appearance;
    let next = appearance.chosen.saturating_add(1);
    appearance.chosen = if next < appearance.themes.len() { next } else { 0 };
    tell_theme(app, now);
    Vec::new()
}

/// Switches to the theme with the given name. An unknown name is reported in the status line.
pub fn choose_theme(app: &mut App, now: DateTime<Utc>, name: &str) -> Vec<ScreenEffect> {
    match app.ui.appearance.choose(name) {
        Ok(()) => tell_theme(app, now),
        Err(why) => app.ui.complain(now, why),
    }
    Vec::new()
}

pub(in crate::ui) fn tell_theme(app: &mut App, now: DateTime<Utc>) {
    let appearance = &app.ui.appearance;
    let name = appearance.theme().map_or("", |theme| theme.name.as_str());
    let text = if appearance.colours == Colours::None {
        format!("theme {name}: this terminal shows no colours (NO_COLOR or TERM)")
    } else {
        format!("theme {name} · to keep it: [ui] theme = \"{name}\" in config.toml")
    };
    app.ui.say(now, text);
}
