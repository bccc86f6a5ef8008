//! The list of the user's filters.

use chrono::{DateTime, Utc};

use super::filter_dialog;
use super::outcome::{ClickOutcome, KeyOutcome};
use crate::engine::request::{Request, ScreenRequest};
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{FilterList, Overlay};

/// Number of screen lines that each filter takes in the list.
pub const FILTER_LINES: usize = 2;

/// Opens or closes the list of filters.
pub fn toggle_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::FilterList(_))) {
        app.ui.uncover();
        return Vec::new();
    }
    if app.engine.filters.list.is_empty() {
        app.ui.say(now, "no filters yet: m on an entry adds one");
        return Vec::new();
    }
    app.ui.lay_over(Overlay::FilterList(FilterList::default()));
    vec![ask_store(ScreenRequest::FilterCounts)]
}

/// Handles the `m` key: proposes a filter based on the selected entry. In the subscriptions pane, or if no entry is selected, opens
/// the list of filters.
pub fn mute_entry(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.focus == Pane::Feeds || app.ui.list.selected_row().is_none() {
        return toggle_list(app, now);
    }
    filter_dialog::propose_filter(app, now)
}

/// Handles a key in the list of filters.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::FilterList(open)) = app.ui.overlay else { return KeyOutcome::Passed };
    let count = app.engine.filters.list.len();
    let selected = open.list.selected.min(count.saturating_sub(1));
    let id = app.engine.filters.list.get(selected).map(|filter| filter.id);
    let step = |app: &mut App, down: bool, steps: usize| {
        let mut list = ScrollList { selected, ..open.list };
        list.step(down, steps, count);
        app.ui.overlay = Some(Overlay::FilterList(FilterList { list }));
        Vec::new()
    };
    KeyOutcome::Done(match app.ui.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Down) => step(app, true, 1),
        Some(Command::Up) => step(app, false, 1),
        Some(Command::First) => step(app, false, count),
        Some(Command::Last) => step(app, true, count),
        Some(Command::Enter | Command::Edit) => {
            id.map(|id| filter_dialog::edit_filter(app, now, id)).unwrap_or_default()
        }
        Some(Command::Unsubscribe) => {
            id.map(|id| app.ask(now, Request::RemoveFilter(id))).unwrap_or_default()
        }
        Some(Command::Add) => filter_dialog::create_filter(app, now),
        Some(command @ (Command::Undo | Command::Redo | Command::Help | Command::Quit)) => {
            return KeyOutcome::Run(command);
        }
        Some(Command::Back | Command::Close | Command::Mute | Command::Filters | Command::Left) => {
            app.ui.uncover();
            Vec::new()
        }
        Some(_) | None => {
            app.ui.say(now, "in the filters: Enter edits, D removes, a adds one, q closes");
            Vec::new()
        }
    })
}

/// Selects the clicked filter; a click on the selected filter opens its dialog.
pub fn click_line(app: &mut App, _now: DateTime<Utc>, line: usize) -> ClickOutcome {
    let top = usize::from(app.ui.viewport.overlay_top);
    if let Some(Overlay::FilterList(open)) = &mut app.ui.overlay
        && open.list.click(top.saturating_add(line / FILTER_LINES), app.engine.filters.list.len())
    {
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done(Vec::new())
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::key_names::parse_key;
    use crate::ui::overlays::filter_list::*;
    use crate::ui::sample_app::{app_with, noon};
    use backissue_core::filters::EntryFilter;

    fn listed() -> App {
        let mut app = app_with(&[("Orchard", &[])]);
        for id in 1..=3 {
            app.engine.filters.list.push(EntryFilter { id, ..EntryFilter::default() });
        }
        toggle_list(&mut app, noon());
        app
    }

    fn press(app: &mut App, key: &str) -> KeyOutcome {
        press_key(app, noon(), parse_key(key).unwrap())
    }

    #[test]
    fn global_commands_pass_through_the_filter_list() {
        let mut app = listed();
        for (key, command) in
            [("u", Command::Undo), ("?", Command::Help), ("Ctrl-c", Command::Quit)]
        {
            assert_eq!(press(&mut app, key), KeyOutcome::Run(command));
        }
        assert_eq!(press(&mut app, "q"), KeyOutcome::Done(Vec::new()));
        assert_eq!(app.ui.overlay, None);
    }

    #[test]
    fn a_click_on_the_selected_filter_is_enter() {
        let mut app = listed();
        assert_eq!(click_line(&mut app, noon(), 2 * FILTER_LINES), ClickOutcome::Done(Vec::new()));
        assert_eq!(click_line(&mut app, noon(), 2 * FILTER_LINES + 1), ClickOutcome::Enter);
        press(&mut app, "G");
        press(&mut app, "k");
        assert!(
            matches!(app.ui.overlay, Some(Overlay::FilterList(open)) if open.list.selected == 1)
        );
    }
}
