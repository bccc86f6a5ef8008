//! The search: parses the query, looks up the feeds and tags that it names, and updates the results while the user types. Each
//! saved search appears as a list in the subscriptions pane, with its number of unread entries, which the store computes, as it
//! does today's.

use std::collections::BTreeMap;

use backissue_core::feed::dates::calendar::{day_of, day_start};
use backissue_core::search::{Marks, Matching};
use chrono::{DateTime, Utc};

use super::entry_list::{Listing, sight_rows};
use super::load_rows;
use crate::engine::change::value::SavedSearch;
use crate::engine::entries::rows::{RowOrder, RowsWanted};
use crate::engine::request::{Request, ScreenRequest};
use crate::engine::search_query::{SEARCHES_MAX, resolve, short_name, with_new};
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use crate::ui::state::reader::{Search, ViewBeforeSearch};

/// Maximum number of entries whose texts are read after each key while a query is typed.
const TYPED_TEXTS_MAX: usize = 40;

/// Opens a new search or, if a search is already open, its input line.
pub fn open_search(app: &mut App) -> Vec<ScreenEffect> {
    let screen = &mut app.ui;
    let text = screen.search.as_ref().map(|search| search.text.clone()).unwrap_or_default();
    if screen.search.is_none() {
        let before = ViewBeforeSearch {
            focus: screen.focus,
            list: screen.list.clone(),
            reader: screen.reader.clone(),
            marks: screen.marks.clone(),
        };
        let text = String::new();
        screen.search = Some(Box::new(Search { text, matching: None, flaw: None, before }));
    }
    screen.focus = Pane::Entries;
    screen.open_prompt(Prompt::selected(PromptPurpose::Search, text));
    // Pending entries are added to the index while the user types the first words.
    vec![ScreenEffect::HurryIndex]
}

/// Handles a key that has a special meaning while a search query is typed. Returns `None` for other keys.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> Option<Vec<ScreenEffect>> {
    match key {
        Key { code: Code::Down, .. } => Some(load_rows::move_in_list(app, true, Distance::One)),
        Key { code: Code::Up, .. } => Some(load_rows::move_in_list(app, false, Distance::One)),
        Key { code: Code::PageDown, .. } => {
            Some(load_rows::move_in_list(app, true, Distance::Page))
        }
        Key { code: Code::PageUp, .. } => Some(load_rows::move_in_list(app, false, Distance::Page)),
        Key { code: Code::Esc, .. } | Key { code: Code::Char('c'), ctrl: true } => {
            app.ui.uncover();
            Some(leave_search(app, now))
        }
        Key { code: Code::Char('s'), ctrl: true } => Some(save_search(app, now)),
        Key { code: Code::Enter, .. } => Some(press_enter(app, now)),
        _ => None,
    }
}

/// Ends the typing, unless something is missing in the query. The missing part is explained now.
fn press_enter(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let text = app.ui.search.as_ref().map(|search| search.text.clone()).unwrap_or_default();
    match resolve(&app.engine, now, &text, false) {
        Err(flaw) if !text.trim().is_empty() => {
            if let Some(search) = &mut app.ui.search {
                search.flaw = Some(flaw.to_string());
            }
            Vec::new()
        }
        Ok(_) | Err(_) => {
            app.ui.uncover();
            end_typing(app, now)
        }
    }
}

/// Ends the typing of a query. If it was answered only in part, it is now answered whole.
fn end_typing(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let matching = app.ui.search.as_ref().and_then(|search| search.matching.clone());
    match matching {
        None => leave_search(app, now),
        Some(matching) if matching.texts_max.is_some() => {
            let ranked = matching.has_words();
            search_for(app, now, Matching { texts_max: None, ..matching }, ranked)
        }
        Some(_) => Vec::new(),
    }
}

/// Updates the search results if the typed query has changed.
pub fn follow_line(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::Prompt(prompt)) = &app.ui.overlay else { return Vec::new() };
    if prompt.purpose != PromptPurpose::Search {
        return Vec::new();
    }
    let text = prompt.text.clone();
    let known = app.ui.search.as_ref().map(|search| search.text.as_str());
    if known == Some(text.as_str()) {
        return Vec::new();
    }
    let read = resolve(&app.engine, now, &text, true);
    let Some(search) = &mut app.ui.search else { return Vec::new() };
    search.text = text;
    match read {
        Err(flaw) => {
            search.flaw = Some(flaw.to_string());
            Vec::new()
        }
        Ok(_) if search.text.trim().is_empty() => {
            (search.matching, search.flaw) = (None, None);
            let (list, marks) = (search.before.list.clone(), search.before.marks.clone());
            put_back(app, now, list, marks)
        }
        Ok(mut matching) => {
            matching.texts_max = matching.reads_texts().then_some(TYPED_TEXTS_MAX);
            let unchanged = search.matching.as_ref() == Some(&matching);
            search.flaw = None;
            if unchanged {
                return Vec::new();
            }
            app.ui.marks = Marks::for_condition(&matching.condition);
            let ranked = matching.has_words();
            search_for(app, now, matching, ranked)
        }
    }
}

/// Opens the list of results for a query. The rows of the previous list stay visible until the results arrive.
fn search_for(
    app: &mut App,
    now: DateTime<Utc>,
    matching: Matching,
    ranked: bool,
) -> Vec<ScreenEffect> {
    let order = if ranked { RowOrder::BestFirst } else { RowOrder::NewestFirst };
    let list = &mut app.ui.list;
    let number = list.number.saturating_add(1);
    let rows = std::mem::take(&mut list.rows);
    let (total, offset) = (list.total, list.offset);
    *list = Listing { number, waiting: true, fresh: true, order, ..Listing::default() };
    if offset == 0 {
        (list.rows, list.total) = (rows, total);
    }
    app.ui.then = None;
    (app.ui.reader, app.ui.opening) = (None, None);
    let query = load_rows::build_search_query(app, &matching, now);
    if let Some(search) = &mut app.ui.search {
        search.matching = Some(matching);
    }
    app.ui.list.gaps.clone_from(&query.gaps);
    let rows = sight_rows(app.ui.viewport.entries_rows.into());
    let wanted = RowsWanted { rebuild: Some(query), ..RowsWanted::at(number, 0, rows) };
    // Entries that arrived since the last key press are included in the results as soon as they are indexed.
    vec![ask_store(ScreenRequest::Rows(wanted)), ScreenEffect::HurryIndex]
}

/// Closes the search and restores the list and text that were open before it.
pub fn leave_search(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(search) = app.ui.search.take() else { return Vec::new() };
    let ViewBeforeSearch { focus, list, reader, marks } = search.before;
    (app.ui.focus, app.ui.reader, app.ui.opening) = (focus, reader, None);
    put_back(app, now, list, marks)
}

/// Restores the list that was open before the search, and requests its rows again because they may have changed.
fn put_back(app: &mut App, now: DateTime<Utc>, list: Listing, marks: Marks) -> Vec<ScreenEffect> {
    let number = app.ui.list.number.saturating_add(1);
    app.ui.list = Listing { number, ..list };
    (app.ui.then, app.ui.marks) = (None, marks);
    load_rows::refresh_list(app, now)
}

/// Refreshes the results of an open search after entries were added to the index. `missing` is the number of entries that are not
/// indexed yet.
pub fn show_indexed(app: &mut App, now: DateTime<Utc>, missing: u32) -> Vec<ScreenEffect> {
    app.ui.unindexed = missing;
    if !app.ui.is_on() {
        return Vec::new();
    }
    let mut effects = count_searches(app, now);
    let searching = app.ui.search.as_ref().map_or_else(
        || matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Search(_))),
        |search| search.matching.is_some(),
    );
    if searching && app.ui.list.waiting {
        app.ui.list.stale = true;
    } else if searching {
        effects.extend(load_rows::refresh_list(app, now));
    }
    effects
}

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
    if let Some(saved) = load_rows::find_search(app, id) {
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
    let name = load_rows::find_search(app, id)?.name.clone();
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
    effects.extend(count_searches(app, now));
    effects
}

/// Requests the count of today's unread entries and the counts of the saved searches.
pub fn count_all(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let mut effects = count_today(app, now);
    effects.extend(count_searches(app, now));
    effects
}

/// Requests the number of today's unread entries. If a request is already pending, a new request follows after it.
pub fn count_today(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.today.begin() {
        vec![ask_store(ScreenRequest::TodayCount(day_start(
            day_of(now, app.engine.zone),
            app.engine.zone,
        )))]
    } else {
        Vec::new()
    }
}

/// Stores the number of today's unread entries that the store returned. If entries have changed since the request, requests the
/// number again.
pub fn take_today_count(app: &mut App, now: DateTime<Utc>, count: u32) -> Vec<ScreenEffect> {
    if app.ui.today.end(count) { count_today(app, now) } else { Vec::new() }
}

/// Requests the number of unread entries in each saved search. If a request is already pending, a new request follows after it.
pub fn count_searches(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.engine.saved_searches.is_empty() || !app.ui.is_on() || !app.ui.found.begin() {
        return Vec::new();
    }
    let ids = app.engine.saved_searches.iter().map(|search| search.id);
    let wanted = ids.filter_map(|id| Some((id, load_rows::resolve_search(app, now, id)?)));
    vec![ask_store(ScreenRequest::SearchCounts(wanted.collect()))]
}

/// Stores the numbers of unread entries in the saved searches that the store returned. If entries have changed since the request,
/// requests the numbers again.
pub fn take_search_counts(
    app: &mut App,
    now: DateTime<Utc>,
    unread: BTreeMap<u32, u32>,
) -> Vec<ScreenEffect> {
    if app.ui.found.end(unread) { count_searches(app, now) } else { Vec::new() }
}

/// Handles a count that the store could not compute: the counts are requested again after the next change.
pub const fn stop_waiting(app: &mut App) {
    (app.ui.today.waiting, app.ui.found.waiting) = (false, false);
}

#[cfg(test)]
mod tests {
    use crate::engine::store_work::Job;
    use crate::ui::panes::search_pane::*;
    use crate::ui::sample_app::{app_with, jobs, noon};

    #[test]
    fn today_count_runs_one_query_at_a_time() {
        let mut app = app_with(&[]);
        let day = day_start(day_of(noon(), app.engine.zone), app.engine.zone);
        assert_eq!(
            jobs(&count_all(&mut app, noon())),
            [&Job::CountToday(day)],
            "no search is saved"
        );
        assert!(count_today(&mut app, noon()).is_empty());
        assert_eq!(jobs(&take_today_count(&mut app, noon(), 7)), [&Job::CountToday(day)]);
        assert!(take_today_count(&mut app, noon(), 8).is_empty());
        assert_eq!(app.ui.today.value, 8);
    }

    #[test]
    fn failed_count_is_retried_after_a_change() {
        let mut app = app_with(&[]);
        count_today(&mut app, noon());
        stop_waiting(&mut app);
        assert_eq!(count_today(&mut app, noon()).len(), 1);
    }
}
