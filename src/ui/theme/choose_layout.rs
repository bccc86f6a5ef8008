//! Choosing how the panes are arranged, by a key or by name.

use chrono::{DateTime, Utc};

use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::settings::LayoutChoice;

/// The layouts with their names and what they are.
const LAYOUTS: [(LayoutChoice, &str, &str); 4] = [
    (LayoutChoice::Auto, "auto", "as the width allows"),
    (LayoutChoice::Three, "three", "three panes side by side"),
    (LayoutChoice::Two, "two", "feeds, and the entries above the text"),
    (LayoutChoice::One, "one", "one pane at a time"),
];

/// The next layout.
pub fn choose_next(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let chosen = app.ui.layout_choice();
    let place = LAYOUTS.iter().position(|(layout, ..)| *layout == chosen).unwrap_or(0);
    let next = LAYOUTS.iter().cycle().nth(place.saturating_add(1));
    choose(app, now, next)
}

/// The layout of a name.
pub fn choose_layout(app: &mut App, now: DateTime<Utc>, name: &str) -> Vec<ScreenEffect> {
    let found = LAYOUTS.iter().find(|(_, known, _)| *known == name);
    if found.is_none() {
        let text = format!("there is no layout '{name}'; there are auto, three, two, one");
        app.ui.complain(now, text);
    }
    choose(app, now, found)
}

fn choose(
    app: &mut App,
    now: DateTime<Utc>,
    layout: Option<&(LayoutChoice, &str, &str)>,
) -> Vec<ScreenEffect> {
    if let Some((layout, name, words)) = layout {
        app.ui.layout = Some(*layout);
        let keeps = format!("[ui] layout = \"{name}\" in config.toml keeps it");
        app.ui.say(now, format!("layout: {words} · {keeps}"));
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::state::layout::Arrangement::{Medium, Narrow, Stacked, Wide};

    #[test]
    fn the_key_goes_through_all_layouts_and_small_screens_keep_what_fits() {
        let mut app = app_with(&[("Orchard", &[])]);
        let mut seen = Vec::new();
        for size in [(140, 40), (110, 40), (80, 24), (80, 15), (50, 24)] {
            app.ui.size = size;
            let all = (0..4).map(|_| {
                choose_next(&mut app, noon());
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
