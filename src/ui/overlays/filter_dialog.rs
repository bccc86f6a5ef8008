//! The list of the user's filters, and the filter dialog: proposes a filter for an entry, edits it line by line, and previews which
//! entries it matches.

use backissue_core::filters::{Action, EntryFilter, FilterScope};
use backissue_core::history::EntryKey;
use backissue_core::search::field_query;

use super::form::{FilterForm, FormOutcome, Offer};
use super::list_panel::{self, ListKind, action};
use crate::engine::entries::filter_work::FilterPreview;
use crate::engine::request::Request;
use crate::engine::store_work::Job;
use crate::engine::wording::telling;
use crate::ui::app::{App, Cx};
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::command_table::Command;
use crate::ui::keys::key::Key;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{ListOf, OpenList, Overlay};

/// Proposes a filter based on the selected entry.
pub fn propose_filter(cx: &mut Cx<'_>) {
    let Some(row) = cx.app.ui.list.selected_row() else { return };
    let Some(EntryKey { feed, .. }) = row.key.entry() else {
        return cx.say("select an entry first: {mute} creates a filter from it");
    };
    // If a filter hides the selected entry, open this filter instead of a new one.
    let hides = |id: &&u32| {
        cx.app.engine.filters.get(**id).is_some_and(|filter| filter.action == Action::Hide)
    };
    if let Some(id) = row.ruled.iter().find(hides).copied().filter(|_| row.flags.is_hidden()) {
        return edit_filter(cx, id);
    }
    let opened = cx.app.ui.reader.as_ref().map(|reader| &reader.entry);
    let opened = opened.filter(|entry| row.key.entry() == Some(entry.key));
    let author = opened.and_then(|entry| entry.kept.author.clone()).or_else(|| row.author.clone());
    let title = field_query("title", &telling(&row.title));
    let author = author.map(|author| field_query("author", &author));
    let offered = author.filter(|author| !author.is_empty()).or_else(|| Some(title.clone()));
    let filter =
        EntryFilter { scope: FilterScope::Feed(feed), query: title, ..EntryFilter::default() };
    let query = offered.filter(|query| !query.is_empty());
    open_form(cx, filter, &Offer { feed: Some(feed), query });
}

/// Opens the filter dialog for an existing filter.
pub fn edit_filter(cx: &mut Cx<'_>, id: u32) {
    let Some(filter) = cx.app.engine.filters.get(id).cloned() else { return };
    if filter.scope == FilterScope::ByHand {
        cx.say("{label} sets this label on entries; {unsubscribe} removes it from all of them");
        return;
    }
    open_form(cx, filter, &Offer::default());
}

/// Opens the filter dialog for a new, empty filter.
pub fn create_filter(cx: &mut Cx<'_>) {
    open_form(cx, EntryFilter::default(), &Offer::default());
}

/// Opens the filter dialog for a filter, with suggested values from an entry.
fn open_form(cx: &mut Cx<'_>, filter: EntryFilter, offer: &Offer) {
    let edited = FilterForm::new(&cx.app.engine, filter, offer);
    cx.app.ui.lay_over(Overlay::FilterDialog(Box::new(edited)));
    ask_preview(cx);
}

/// Handles a key in the filter form.
pub fn press_key(cx: &mut Cx<'_>, key: Key) {
    let Some(Overlay::FilterDialog(edited)) = &mut cx.app.ui.overlay else { return };
    match edited.press(key) {
        FormOutcome::Open => ask_preview(cx),
        FormOutcome::Save => save_filter(cx),
        FormOutcome::GiveUp => {
            cx.app.ui.uncover();
        }
    }
}

/// Inserts pasted text into the filter form.
pub fn paste_text(cx: &mut Cx<'_>, text: &str) {
    if let Some(Overlay::FilterDialog(edited)) = &mut cx.app.ui.overlay {
        edited.form.paste(text);
    }
    ask_preview(cx);
}

/// Selects the clicked line of the filter form.
pub fn click_line(cx: &mut Cx<'_>, line: usize) {
    let place = usize::from(cx.app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::FilterDialog(edited)) = &mut cx.app.ui.overlay {
        edited.form.click(place);
    }
}

/// Saves the edited filter, unless it is invalid.
fn save_filter(cx: &mut Cx<'_>) {
    let Some(Overlay::FilterDialog(edited)) = &cx.app.ui.overlay else { return };
    let filter = edited.read(&cx.app.engine, cx.now);
    let saved = filter.and_then(|filter| cx.try_ask(Request::SaveFilter(Box::new(filter))));
    match saved {
        Ok(_effects) => {
            cx.app.ui.uncover();
        }
        Err(why) => {
            if let Some(Overlay::FilterDialog(edited)) = &mut cx.app.ui.overlay {
                edited.form.problem = Some(why.into());
            }
        }
    }
}

/// Requests a new preview of matching entries if the edited filter has changed since the last request.
fn ask_preview(cx: &mut Cx<'_>) {
    let Some(Overlay::FilterDialog(edited)) = &mut cx.app.ui.overlay else { return };
    match edited.read(&cx.app.engine, cx.now) {
        Err(why) => {
            (edited.form.problem, edited.preview, edited.asked_for) =
                (Some(why.into()), None, None);
        }
        Ok(filter) => {
            edited.form.problem = None;
            if edited.asked_for.as_ref() == Some(&filter) {
                return;
            }
            let number = cx.app.ui.filter_previews.saturating_add(1);
            (edited.asked, edited.asked_for) = (number, Some(filter.clone()));
            cx.app.ui.filter_previews = number;
            cx.out.push(ScreenEffect::PreviewFilter(number, Box::new(filter)));
        }
    }
}

/// Shows a preview of matching entries in the dialog, unless a newer preview has been requested.
pub fn show_preview(app: &mut App, number: u64, preview: &FilterPreview) {
    let covered = app.ui.overlay.iter_mut().chain(&mut app.ui.beneath);
    for overlay in covered {
        if let Overlay::FilterDialog(form) = overlay
            && form.asked == number
        {
            form.preview = Some(preview.clone());
        }
    }
}

/// The list of filters.
pub static LIST: ListKind = ListKind {
    title: "Filters and labels",
    empty: "no filters yet: {mute} on an entry adds one",
    lines: 2,
    toggles: &[Command::Filters, Command::Mute],
    count: |app, _, _| app.engine.filters.list.len(),
    actions: &[
        action(&[Command::Enter, Command::Edit], "edits", |cx, open| {
            edit_filter(cx, id_at(cx.app, open)?);
            Some(())
        }),
        action(&[Command::Unsubscribe], "removes", |cx, open| {
            cx.ask(Request::RemoveFilter(id_at(cx.app, open)?));
            Some(())
        }),
        action(&[Command::Add], "adds one", |cx, _| {
            create_filter(cx);
            Some(())
        }),
    ],
    ..ListKind::PLAIN
};

fn id_at(app: &App, open: OpenList) -> Option<u32> {
    app.engine.filters.list.get(open.list.selected).map(|filter| filter.id)
}

/// Opens or closes the list of filters.
pub fn toggle_list(cx: &mut Cx<'_>) {
    list_panel::toggle(cx, ListOf::Filters, &LIST);
    if matches!(cx.app.ui.overlay, Some(Overlay::List(_))) {
        cx.out.push(ask_store(Job::CountFilters));
    }
}

/// Handles the `m` key: proposes a filter based on the selected entry. In the subscriptions pane, or if no entry is selected, opens
/// the list of filters.
pub fn mute_entry(cx: &mut Cx<'_>) {
    if cx.app.ui.focus == Pane::Feeds || cx.app.ui.list.selected_row().is_none() {
        return toggle_list(cx);
    }
    propose_filter(cx);
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::key::{parse_key, sequence};
    use crate::ui::keys::key_bindings::{Keymap, OwnKeys, place_of};
    use crate::ui::overlays::filter_dialog::*;
    use crate::ui::sample_app::{app_with, noon};
    use crate::ui::update::ScreenInput;
    use crate::ui::update::update;
    use backissue_core::filters::EntryFilter;

    fn listed() -> App {
        let mut app = app_with(&[("Orchard", &[])]);
        for id in 1..=3 {
            app.engine.filters.list.push(EntryFilter { id, ..EntryFilter::default() });
        }
        Cx::run(&mut app, noon(), |cx| toggle_list(cx));
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
        Cx::run(&mut app, noon(), |cx| list_panel::click(cx, &LIST, 4));
        assert_eq!(selected(&app), Some(2));
        Cx::run(&mut app, noon(), |cx| list_panel::click(cx, &LIST, 5));
        assert!(matches!(app.ui.overlay, Some(Overlay::FilterDialog(_))));
    }
}
