//! Selects a theme, or the layout of the panes, with a key or by name.

use chrono::{DateTime, Utc};

use super::colours::Colours;
use super::theme_roles;
use crate::ui::app::{App, SIDE_BY_SIDE_COLUMNS, STACKED_ROWS, THREE_COLUMNS};
use crate::ui::effect::ScreenEffect;
use crate::ui::settings::LayoutChoice;
use crate::ui::state::layout::{Arrangement, LIST_SHARE, LIST_SHARES, share_of};

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
        let name = if is_light { theme_roles::LIGHT } else { theme_roles::FIRST };
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

/// Percent by which a key changes the share of the list.
const STEP: u16 = 5;

/// All layouts, each with its name, in the order in which a key switches between them.
const LAYOUTS: [(LayoutChoice, &str); 4] = [
    (LayoutChoice::Auto, "auto"),
    (LayoutChoice::Three, "three"),
    (LayoutChoice::Two, "two"),
    (LayoutChoice::One, "one"),
];

/// Switches to the next layout in the list.
pub fn choose_next_layout(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let chosen = app.ui.layout_choice();
    let place = LAYOUTS.iter().position(|(layout, _)| *layout == chosen).unwrap_or(0);
    let next = LAYOUTS.iter().cycle().nth(place.saturating_add(1));
    choose(app, now, next)
}

/// Switches to the layout with the given name. An unknown name is reported in the status line.
pub fn choose_layout(app: &mut App, now: DateTime<Utc>, name: &str) -> Vec<ScreenEffect> {
    let found = LAYOUTS.iter().find(|(_, known)| *known == name);
    if found.is_none() {
        let text = format!("unknown layout '{name}'; the layouts are auto, three, two, one");
        app.ui.complain(now, text);
    }
    choose(app, now, found)
}

fn choose(
    app: &mut App,
    now: DateTime<Utc>,
    layout: Option<&(LayoutChoice, &str)>,
) -> Vec<ScreenEffect> {
    if let Some((layout, name)) = layout {
        app.ui.layout = Some(*layout);
        let words = words(*layout, app.ui.usual_arrangement());
        app.ui.say(now, format!("layout {name}: {words}"));
    }
    Vec::new()
}

/// Gives the list more or less of the space that it shares with the text.
pub fn resize_list(app: &mut App, now: DateTime<Utc>, larger: bool) -> Vec<ScreenEffect> {
    let (shared, layout) = (app.ui.viewport.shared, app.ui.pane_layout());
    let usual = match layout.arrangement {
        Arrangement::Wide => share_of(layout.entries, shared.columns),
        Arrangement::Stacked => LIST_SHARE,
        Arrangement::Medium | Arrangement::Narrow => {
            return app.ui.say_only(now, "the list and the text do not share this screen");
        }
    };
    let share = app.ui.list_share().unwrap_or(usual);
    let share = if larger { share.saturating_add(STEP) } else { share.saturating_sub(STEP) };
    let share = share.clamp(*LIST_SHARES.start(), *LIST_SHARES.end());
    app.ui.list_share = Some(share);
    app.ui.say_only(now, format!("the list has {share} % beside the text"))
}

/// Moves the border between the list and the text to a cell of the screen.
pub fn move_border(app: &mut App, column: u16, row: u16) {
    let shared = app.ui.viewport.shared;
    let part = |to: u16, from: u16| to.saturating_sub(from).saturating_add(1);
    app.ui.list_share = match app.ui.arrangement() {
        Arrangement::Wide => Some(share_of(part(column, shared.column), shared.columns)),
        Arrangement::Stacked => Some(share_of(part(row, shared.row), shared.rows)),
        Arrangement::Medium | Arrangement::Narrow => app.ui.list_share,
    };
}

/// Checks whether a cell of the screen is the border between the list and the text.
pub fn is_border(app: &App, column: u16, row: u16) -> bool {
    let (list, text) = (app.ui.viewport.entries, app.ui.viewport.reader);
    let is_shown = list.rows > 0 && text.rows > 0;
    is_shown
        && match app.ui.arrangement() {
            Arrangement::Wide => column == list.column.saturating_add(list.columns),
            Arrangement::Stacked => {
                row == list.row.saturating_add(list.rows) && column >= list.column
            }
            Arrangement::Medium | Arrangement::Narrow => false,
        }
}

/// Describes a layout, and how the panes are actually arranged on this screen.
fn words(layout: LayoutChoice, shown: Arrangement) -> String {
    let here = match shown {
        Arrangement::Wide => "three panes side by side",
        Arrangement::Stacked => "entries above the text",
        Arrangement::Medium => "two panes",
        Arrangement::Narrow => "one pane at a time",
    };
    match (layout, shown) {
        (LayoutChoice::Auto, _) => format!("automatic (now {here})"),
        (LayoutChoice::Three, Arrangement::Wide)
        | (LayoutChoice::Two, Arrangement::Stacked)
        | (LayoutChoice::One, _) => here.to_owned(),
        (LayoutChoice::Three, _) => {
            format!("three panes from {THREE_COLUMNS} columns on (now {here})")
        }
        (LayoutChoice::Two, _) => format!(
            "entries above the text from {SIDE_BY_SIDE_COLUMNS} columns by {STACKED_ROWS} rows on (now {here})"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::state::layout::Arrangement::{Medium, Narrow, Stacked, Wide};

    #[test]
    fn unfitting_layout_names_the_width_it_needs() {
        let mut app = app_with(&[("Orchard", &[])]);
        app.ui.size = (80, 24);
        let mut told = Vec::new();
        for name in ["three", "two", "one", "auto"] {
            choose_layout(&mut app, noon(), name);
            told.push(app.ui.notice.take().unwrap().text);
        }
        app.ui.size = (50, 12);
        choose_layout(&mut app, noon(), "two");
        told.push(app.ui.notice.take().unwrap().text);
        assert_eq!(
            told,
            [
                "layout three: three panes from 100 columns on (now two panes)",
                "layout two: entries above the text",
                "layout one: one pane at a time",
                "layout auto: automatic (now two panes)",
                "layout two: entries above the text from 60 columns by 20 rows on (now one pane at a time)",
            ]
        );
    }

    #[test]
    fn layout_key_cycles_and_small_screens_keep_what_fits() {
        let mut app = app_with(&[("Orchard", &[])]);
        let mut seen = Vec::new();
        for size in [(140, 40), (110, 40), (80, 24), (80, 15), (50, 24)] {
            app.ui.size = size;
            let all = (0..4).map(|_| {
                choose_next_layout(&mut app, noon());
                app.ui.arrangement()
            });
            seen.push(all.collect::<Vec<_>>());
        }
        assert_eq!(
            seen,
            [
                [Wide, Stacked, Narrow, Wide],
                [Wide, Stacked, Narrow, Medium],
                [Medium, Stacked, Narrow, Medium],
                [Medium, Medium, Narrow, Medium],
                [Narrow, Narrow, Narrow, Narrow],
            ]
        );
    }
}
