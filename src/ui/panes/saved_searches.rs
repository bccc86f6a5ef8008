//! Saved searches: each appears as a list in the subscriptions pane, below the other smart lists, with its number of unread
//! entries.

use chrono::{DateTime, Utc};

use super::{counts, list_query, load_rows};
use crate::engine::request::Request;
use crate::engine::save_searches::{SEARCHES_MAX, short_name, with_new};
use crate::engine::saved_searches::SavedSearch;
use crate::engine::search_query::resolve;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;

/// Saves the open search as it is typed, selects it in the subscriptions pane, and asks for its name.
pub fn save_search(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let text = app.ui.search.as_ref().map(|search| search.text.trim().to_owned());
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return app.ui.say_only(now, "search for something first: {search} opens the search");
    };
    let known = app.engine.saved_searches.iter().find(|search| search.text == text);
    if let Some(known) = known {
        let said = format!("this search is already saved as '{}'", known.name);
        return app.ui.say_only(now, said);
    }
    if let Err(flaw) = resolve(&app.engine, now, &text, false) {
        return app.ui.complain_only(now, flaw.to_string());
    }
    if app.engine.saved_searches.len() >= SEARCHES_MAX {
        return app
            .ui
            .complain_only(now, format!("{SEARCHES_MAX} searches are saved: remove one first"));
    }
    let list = with_new(&app.engine.saved_searches, [(text.clone(), text)]);
    let id = list.last().map_or(0, |search| search.id);
    if matches!(app.ui.overlay, Some(Overlay::Prompt(_))) {
        app.ui.uncover();
    }
    let mut effects = change_list(app, now, list);
    // Show the list of the saved search instead of the open search.
    let place = app.ui.feeds.rows.iter().position(|row| *row == FeedsRow::Search(id));
    if let Some(place) = place {
        app.ui.feeds.selected = place;
        effects.extend(load_rows::open_list(app, now));
        app.ui.focus = Pane::Entries;
    }
    app.ui.say_undoable(now, "saved as a list");
    if let Some(saved) = list_query::find_search(app, id) {
        let name = saved.name.clone();
        app.ui.open_prompt(Prompt::selected(PromptPurpose::Rename(id), name));
    }
    effects
}

/// Returns the ID of the saved search that is selected in the subscriptions pane.
fn selected_search(app: &App) -> Option<u32> {
    match app.ui.feeds.selected_row() {
        Some(FeedsRow::Search(id)) if app.ui.focus == Pane::Feeds => Some(*id),
        Some(_) | None => None,
    }
}

/// Opens the input line for a new name of the selected saved search. Returns `None` if no saved search is selected.
pub fn ask_name(app: &mut App) -> Option<Vec<ScreenEffect>> {
    let id = selected_search(app)?;
    let name = list_query::find_search(app, id)?.name.clone();
    app.ui.open_prompt(Prompt::filled(PromptPurpose::Rename(id), name));
    Some(Vec::new())
}

/// Renames a saved search.
pub fn rename_search(app: &mut App, now: DateTime<Utc>, id: u32, name: &str) -> Vec<ScreenEffect> {
    let mut list = app.engine.saved_searches.clone();
    let Some(search) = list.iter_mut().find(|search| search.id == id) else { return Vec::new() };
    search.name = short_name(name);
    change_list(app, now, list)
}

/// Removes the selected saved search. Returns `None` if no saved search is selected.
pub fn give_up_selected(app: &mut App, now: DateTime<Utc>) -> Option<Vec<ScreenEffect>> {
    let id = selected_search(app)?;
    let mut list = app.engine.saved_searches.clone();
    list.retain(|search| search.id != id);
    let mut effects = change_list(app, now, list);
    effects.extend(load_rows::open_list(app, now));
    app.ui.say_undoable(now, "the search was removed; its entries stay");
    Some(effects)
}

fn change_list(app: &mut App, now: DateTime<Utc>, list: Vec<SavedSearch>) -> Vec<ScreenEffect> {
    let mut effects = app.ask(now, Request::SaveSearches(list));
    effects.extend(counts::count_searches(app, now));
    effects
}
