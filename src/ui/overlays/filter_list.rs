//! The list of the user's filters.

use chrono::{DateTime, Utc};

use super::filter_dialog;
use super::list_panel::{self, ListKind, action};
use crate::engine::request::{Request, ScreenRequest};
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::commands::Command;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{ListOf, OpenList, Overlay};

/// The list of filters.
pub static LIST: ListKind = ListKind {
    title: "Filters",
    empty: "no filters yet: {mute} on an entry adds one",
    lines: 2,
    toggles: &[Command::Filters, Command::Mute],
    count: |app, _, _| app.engine.filters.list.len(),
    actions: &[
        action(&[Command::Enter, Command::Edit], "edits", |app, now, open| {
            Some(filter_dialog::edit_filter(app, now, id_at(app, open)?))
        }),
        action(&[Command::Unsubscribe], "removes", |app, now, open| {
            Some(app.ask(now, Request::RemoveFilter(id_at(app, open)?)))
        }),
        action(&[Command::Add], "adds one", |app, now, _| {
            Some(filter_dialog::create_filter(app, now))
        }),
    ],
    ..ListKind::PLAIN
};

fn id_at(app: &App, open: OpenList) -> Option<u32> {
    app.engine.filters.list.get(open.list.selected).map(|filter| filter.id)
}

/// Opens or closes the list of filters.
pub fn toggle_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let mut effects = list_panel::toggle(app, now, ListOf::Filters, &LIST);
    if matches!(app.ui.overlay, Some(Overlay::List(_))) {
        effects.push(ask_store(ScreenRequest::FilterCounts));
    }
    effects
}

/// Handles the `m` key: proposes a filter based on the selected entry. In the subscriptions pane, or if no entry is selected, opens
/// the list of filters.
pub fn mute_entry(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.focus == Pane::Feeds || app.ui.list.selected_row().is_none() {
        return toggle_list(app, now);
    }
    filter_dialog::propose_filter(app, now)
}

#[cfg(test)]
mod tests {
    use crate::ui::input::ScreenInput;
    use crate::ui::keys::key_bindings::{Keymap, OwnKeys, place_of};
    use crate::ui::keys::key_names::{parse_key, sequence};
    use crate::ui::overlays::filter_list::*;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::update::update;
    use backissue_core::filters::EntryFilter;

    fn listed() -> App {
        let mut app = app_with(&[("Orchard", &[])]);
        for id in 1..=3 {
            app.engine.filters.list.push(EntryFilter { id, ..EntryFilter::default() });
        }
        toggle_list(&mut app, noon());
        app
    }

    fn press(app: &mut App, key: &str) -> Vec<ScreenEffect> {
        update(app, noon(), ScreenInput::Key(parse_key(key).unwrap()))
    }

    fn selected(app: &App) -> Option<usize> {
        match app.ui.overlay {
            Some(Overlay::List(open)) => Some(open.list.selected),
            _ => None,
        }
    }

    #[test]
    fn global_commands_pass_through_a_list_and_others_name_its_keys() {
        let mut app = listed();
        press(&mut app, "Ctrl-x");
        let told = "in this list: Enter edits, D removes, a adds one, q closes";
        assert_eq!(app.ui.notice.as_ref().map(|notice| notice.text.as_str()), Some(told));
        press(&mut app, "z");
        assert_eq!(app.ui.notice.as_ref().map(|notice| notice.text.as_str()), Some(told));
        press(&mut app, "?");
        assert!(matches!(app.ui.overlay, Some(Overlay::Help(_))));
        press(&mut app, "q");
        assert_eq!(selected(&app), Some(0));
        press(&mut app, "q");
        assert_eq!(app.ui.overlay, None);
    }

    #[test]
    fn a_hint_names_the_keys_that_are_bound() {
        let bound = |command: &str, keys: &str| OwnKeys {
            place: place_of(command).unwrap(),
            sequences: vec![sequence(keys).unwrap()],
            line: 1,
        };
        let keys = Keymap::new(&[bound("open", "F2"), bound("back", "g b")]).0;
        assert_eq!(LIST.hint(&keys), "F2 edits, D removes, a adds one, g\u{a0}b closes");
    }

    #[test]
    fn every_list_moves_by_pages_and_to_its_ends() {
        let mut app = listed();
        app.ui.viewport.overlay.rows = 4;
        for (key, expected) in
            [("G", 2), ("k", 1), ("Home", 0), ("PgDn", 1), ("End", 2), ("PgUp", 1), ("Ctrl-d", 2)]
        {
            press(&mut app, key);
            assert_eq!(selected(&app), Some(expected), "{key}");
        }
    }

    #[test]
    fn a_click_selects_a_row_and_the_next_one_opens_it() {
        let mut app = listed();
        list_panel::click(&mut app, noon(), &LIST, 4);
        assert_eq!(selected(&app), Some(2));
        list_panel::click(&mut app, noon(), &LIST, 5);
        assert!(matches!(app.ui.overlay, Some(Overlay::FilterDialog(_))));
    }
}
