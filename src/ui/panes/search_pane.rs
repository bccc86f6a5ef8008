//! The search: parses the query, looks up the feeds and tags that it names, and updates the results while the user types.

use chrono::{DateTime, Utc};

use super::entry_list::{Listing, sight_rows};
use super::{counts, list_query, load_rows, saved_searches};
use crate::engine::entries::rows::{RowOrder, RowsWanted};
use crate::engine::request::ScreenRequest;
use crate::engine::search_query::resolve;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use crate::ui::state::search::{Search, ViewBeforeSearch};
use backissue_core::search::{Marks, Matching};

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
        Key { code: Code::Char('s'), ctrl: true } => Some(saved_searches::save_search(app, now)),
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
    let query = list_query::build_search_query(app, &matching, now);
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
    let mut effects = counts::count_searches(app, now);
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
