//! Selects a theme, or the layout of the panes, with a key or by name.

use super::colours::Colours;
use super::theme_roles;
use crate::ui::app::{App, Cx, SIDE_BY_SIDE_COLUMNS, STACKED_ROWS, THREE_COLUMNS};
use crate::ui::settings::LayoutChoice;
use crate::ui::state::layout::{Arrangement, LIST_SHARE, LIST_SHARES, share_of};

/// Switches to the next available theme.
pub fn choose_next(cx: &mut Cx<'_>) {
    let appearance = &mut cx.app.ui.appearance;
    let next = appearance.chosen.saturating_add(1);
    appearance.chosen = if next < appearance.themes.len() { next } else { 0 };
    keep_theme(cx);
}

/// Switches to the theme with the given name. An unknown name is reported in the status line.
pub fn choose_theme(cx: &mut Cx<'_>, name: &str) {
    match cx.app.ui.appearance.choose(name) {
        Ok(()) => keep_theme(cx),
        Err(why) => cx.complain(why.to_string()),
    }
}

/// Handles the background colour that the terminal reported. If it is light, the light theme is used, unless the user has chosen
/// or configured a theme.
pub fn follow_ground(app: &mut App) {
    let Some(is_light) = app.ui.is_light else { return };
    if app.ui.theme.is_none() && app.ui.settings.theme.is_none() {
        let name = if is_light { theme_roles::LIGHT } else { theme_roles::FIRST };
        app.ui.appearance.choose(name).ok();
    }
}

/// Remembers the theme that the user has chosen, and names it in the status line.
fn keep_theme(cx: &mut Cx<'_>) {
    cx.app.ui.theme = cx.app.ui.appearance.theme().map(|theme| theme.name.clone());
    let appearance = &cx.app.ui.appearance;
    let name = appearance.theme().map_or("", |theme| theme.name.as_str());
    let text = if appearance.colours == Colours::None {
        format!("theme {name}: this terminal shows no colours (NO_COLOR or TERM)")
    } else {
        format!("theme {name}")
    };
    cx.say(text);
}

/// Change of the list's share with one key press, in percent.
const STEP: u16 = 5;

/// All layouts, each with its name, in the order in which a key switches between them.
const LAYOUTS: [(LayoutChoice, &str); 4] = [
    (LayoutChoice::Auto, "auto"),
    (LayoutChoice::Three, "three"),
    (LayoutChoice::Two, "two"),
    (LayoutChoice::One, "one"),
];

/// Switches to the next layout in the list.
pub fn choose_next_layout(cx: &mut Cx<'_>) {
    let chosen = cx.app.ui.layout_choice();
    let place = LAYOUTS.iter().position(|(layout, _)| *layout == chosen).unwrap_or(0);
    let next = LAYOUTS.iter().cycle().nth(place.saturating_add(1));
    choose(cx, next);
}

/// Switches to the layout with the given name. An unknown name is reported in the status line.
pub fn choose_layout(cx: &mut Cx<'_>, name: &str) {
    let found = LAYOUTS.iter().find(|(_, known)| *known == name);
    if found.is_none() {
        let text = format!("unknown layout '{name}'; the layouts are auto, three, two, one");
        cx.complain(text);
    }
    choose(cx, found);
}

fn choose(cx: &mut Cx<'_>, layout: Option<&(LayoutChoice, &str)>) {
    if let Some((layout, name)) = layout {
        cx.app.ui.layout = Some(*layout);
        let words = words(*layout, cx.app.ui.usual_arrangement());
        cx.say(format!("layout {name}: {words}"));
    }
}

/// Increases or decreases the share of the list in the space that it shares with the text.
pub fn resize_list(cx: &mut Cx<'_>, larger: bool) {
    let (shared, layout) = (cx.app.ui.viewport.shared, cx.app.ui.pane_layout());
    let usual = match layout.arrangement {
        Arrangement::Wide => share_of(layout.entries, shared.columns),
        Arrangement::Stacked => LIST_SHARE,
        Arrangement::Medium | Arrangement::Narrow => {
            return cx.say("the list and the text do not share this screen");
        }
    };
    let share = cx.app.ui.list_share().unwrap_or(usual);
    let share = if larger { share.saturating_add(STEP) } else { share.saturating_sub(STEP) };
    let share = share.clamp(*LIST_SHARES.start(), *LIST_SHARES.end());
    cx.app.ui.list_share = Some(share);
    cx.say(format!("the list has {share} % beside the text"));
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
            Cx::run(&mut app, noon(), |cx| choose_layout(cx, name));
            told.push(app.ui.notice.take().unwrap().text);
        }
        app.ui.size = (50, 12);
        Cx::run(&mut app, noon(), |cx| choose_layout(cx, "two"));
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
                Cx::run(&mut app, noon(), |cx| choose_next_layout(cx));
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
