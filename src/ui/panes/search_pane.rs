//! The search: parses the query, looks up the feeds and tags that it names, and updates the results while the user types. Each
//! saved search is a list in the subscriptions pane, with its number of unread entries. The store counts these entries, and
//! today's unread entries too.

use backissue_core::feed::dates::calendar::{day_of, day_start};
use backissue_core::search::{Condition, Marks, Matching};

use super::entry_list::{Listing, sight_rows};
use super::load_rows;
use crate::engine::change::value::SavedSearch;
use crate::engine::entries::rows::{RowOrder, RowsWanted};
use crate::engine::request::Request;
use crate::engine::search_query::{SEARCHES_MAX, resolve, short_name, with_new};
use crate::engine::store_work::{CountsWanted, Job, UnreadCounts};
use crate::ui::app::{App, Cx};
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
pub fn open_search(cx: &mut Cx<'_>) {
    let screen = &mut cx.app.ui;
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
    cx.out.push(ScreenEffect::HurryIndex);
}

/// Handles a key that has a special meaning while a search query is typed. Returns `None` for other keys.
pub fn press_key(cx: &mut Cx<'_>, key: Key) -> Option<()> {
    match key {
        Key { code: Code::Down, .. } => {
            load_rows::move_in_list(cx, true, Distance::One);
            Some(())
        }
        Key { code: Code::Up, .. } => {
            load_rows::move_in_list(cx, false, Distance::One);
            Some(())
        }
        Key { code: Code::PageDown, .. } => {
            load_rows::move_in_list(cx, true, Distance::Page);
            Some(())
        }
        Key { code: Code::PageUp, .. } => {
            load_rows::move_in_list(cx, false, Distance::Page);
            Some(())
        }
        Key { code: Code::Esc, .. } | Key { code: Code::Char('c'), ctrl: true } => {
            cx.app.ui.uncover();
            leave_search(cx);
            Some(())
        }
        Key { code: Code::Char('s'), ctrl: true } => {
            save_search(cx);
            Some(())
        }
        Key { code: Code::Enter, .. } => {
            press_enter(cx);
            Some(())
        }
        _ => None,
    }
}

/// Ends the typing, unless something is missing in the query. The missing part is explained now.
fn press_enter(cx: &mut Cx<'_>) {
    let text = cx.app.ui.search.as_ref().map(|search| search.text.clone()).unwrap_or_default();
    match resolve(&cx.app.engine, cx.now, &text, false) {
        Err(flaw) if !text.trim().is_empty() => {
            if let Some(search) = &mut cx.app.ui.search {
                search.flaw = Some(flaw.to_string());
            }
        }
        Ok(matching) if finds_all(&matching) && !text.trim().is_empty() => {
            if let Some(search) = &mut cx.app.ui.search {
                search.flaw = Some(NO_WORD.to_owned());
            }
        }
        Ok(_) | Err(_) => {
            cx.app.ui.uncover();
            end_typing(cx);
        }
    }
}

/// Message if a query has only signs, which are not searched for.
const NO_WORD: &str = "this has no word to search for";

/// Checks whether a query asks for nothing, so that every entry would match.
fn finds_all(matching: &Matching) -> bool {
    matching.condition == Condition::default()
}

/// Ends the typing of a query. If the results were incomplete, requests the complete results.
fn end_typing(cx: &mut Cx<'_>) {
    let matching = cx.app.ui.search.as_ref().and_then(|search| search.matching.clone());
    match matching {
        None => leave_search(cx),
        Some(matching) if matching.texts_max.is_some() => {
            let ranked = matching.has_words();
            search_for(cx, Matching { texts_max: None, ..matching }, ranked);
        }
        Some(_) => {}
    }
}

/// Updates the search results if the typed query has changed.
pub fn follow_line(cx: &mut Cx<'_>) {
    let Some(Overlay::Prompt(prompt)) = &cx.app.ui.overlay else { return };
    if prompt.purpose != PromptPurpose::Search {
        return;
    }
    let text = prompt.text.clone();
    let known = cx.app.ui.search.as_ref().map(|search| search.text.as_str());
    if known == Some(text.as_str()) {
        return;
    }
    let read = resolve(&cx.app.engine, cx.now, &text, true);
    let Some(search) = &mut cx.app.ui.search else { return };
    search.text = text;
    match read {
        Err(flaw) => {
            search.flaw = Some(flaw.to_string());
        }
        Ok(matching) if finds_all(&matching) => {
            (search.matching, search.flaw) = (None, None);
            let (list, marks) = (search.before.list.clone(), search.before.marks.clone());
            put_back(cx, list, marks);
        }
        Ok(mut matching) => {
            matching.texts_max = matching.reads_texts().then_some(TYPED_TEXTS_MAX);
            let unchanged = search.matching.as_ref() == Some(&matching);
            search.flaw = None;
            if unchanged {
                return;
            }
            cx.app.ui.marks = Marks::for_condition(&matching.condition);
            let ranked = matching.has_words();
            search_for(cx, matching, ranked);
        }
    }
}

/// Opens the list of results for a query. The rows of the previous list stay visible until the results arrive.
fn search_for(cx: &mut Cx<'_>, matching: Matching, ranked: bool) {
    let order = if ranked { RowOrder::BestFirst } else { RowOrder::NewestFirst };
    let list = &mut cx.app.ui.list;
    let number = list.number.saturating_add(1);
    let rows = std::mem::take(&mut list.rows);
    let (total, offset) = (list.total, list.offset);
    let of = list.of.clone();
    *list = Listing { number, of, waiting: true, fresh: true, order, ..Listing::default() };
    if offset == 0 {
        (list.rows, list.total) = (rows, total);
    }
    cx.app.ui.then = None;
    (cx.app.ui.reader, cx.app.ui.opening) = (None, None);
    let query = load_rows::build_search_query(cx.app, &matching, cx.now);
    if let Some(search) = &mut cx.app.ui.search {
        search.matching = Some(matching);
    }
    cx.app.ui.list.gaps.clone_from(&query.gaps);
    let rows = sight_rows(cx.app.ui.viewport.entries_rows.into());
    let wanted = RowsWanted { rebuild: Some(query), ..RowsWanted::at(number, 0, rows) };
    // Entries that arrived since the last key press are included in the results as soon as they are indexed.
    cx.read_rows(wanted);
    cx.out.push(ScreenEffect::HurryIndex);
}

/// Closes the search and restores the list and text that were open before it.
pub fn leave_search(cx: &mut Cx<'_>) {
    let Some(search) = cx.app.ui.search.take() else { return };
    let ViewBeforeSearch { focus, list, reader, marks } = search.before;
    (cx.app.ui.focus, cx.app.ui.reader, cx.app.ui.opening) = (focus, reader, None);
    put_back(cx, list, marks);
}

/// Restores the list that was open before the search, and requests its rows again because they may have changed.
fn put_back(cx: &mut Cx<'_>, list: Listing, marks: Marks) {
    let number = cx.app.ui.list.number.saturating_add(1);
    cx.app.ui.list = Listing { number, ..list };
    (cx.app.ui.then, cx.app.ui.marks) = (None, marks);
    load_rows::refresh_list(cx);
}

/// Refreshes the results of an open search after entries were added to the index. `missing` is the number of entries that are not
/// indexed yet.
pub fn show_indexed(cx: &mut Cx<'_>, missing: u32) {
    cx.app.ui.unindexed = missing;
    if !cx.app.ui.is_on() {
        return;
    }
    count_all(cx);
    let searching = cx.app.ui.search.as_ref().map_or_else(
        || matches!(cx.app.ui.feeds.selected_row(), Some(FeedsRow::Search(_))),
        |search| search.matching.is_some(),
    );
    if searching && cx.app.ui.list.waiting {
        cx.app.ui.list.stale = true;
    } else if searching {
        load_rows::refresh_list(cx);
    }
}

/// Returns the typed query, and the one that finds what the open search shows: its last word also finds longer words.
fn saved_query(cx: &Cx<'_>) -> Option<(String, String)> {
    let search = cx.app.ui.search.as_ref()?;
    let text = search.text.trim();
    let longer = format!("{text}*");
    let read = |text: &str| resolve(&cx.app.engine, cx.now, text, false).ok();
    let is_shown = |text: &str| {
        let (read, shown) = (read(text), search.matching.as_ref());
        read.is_some_and(|read| shown.is_some_and(|shown| read.condition == shown.condition))
    };
    let saved = if !is_shown(text) && is_shown(&longer) { &longer } else { text };
    Some((text.to_owned(), saved.to_owned()))
}

/// Saves the open search as it is typed, selects it in the subscriptions pane, and asks for its name.
pub fn save_search(cx: &mut Cx<'_>) {
    let Some((name, text)) = saved_query(cx).filter(|(name, _)| !name.is_empty()) else {
        return cx.say("search for something first: {search} opens the search");
    };
    let known = cx.app.engine.saved_searches.iter().find(|search| search.text == text);
    if let Some(known) = known {
        let said = format!("this search is already saved as '{}'", known.name);
        return cx.say(said);
    }
    if let Err(flaw) = resolve(&cx.app.engine, cx.now, &text, false) {
        return cx.complain(flaw.to_string());
    }
    if cx.app.engine.saved_searches.len() >= SEARCHES_MAX {
        return cx.complain(format!("{SEARCHES_MAX} searches are saved: remove one first"));
    }
    let list = with_new(&cx.app.engine.saved_searches, [(name, text)]);
    let id = list.last().map_or(0, |search| search.id);
    if matches!(cx.app.ui.overlay, Some(Overlay::Prompt(_))) {
        cx.app.ui.uncover();
    }
    change_list(cx, list);
    // Show the list of the saved search instead of the open search.
    let place = cx.app.ui.feeds.rows.iter().position(|row| *row == FeedsRow::Search(id));
    if let Some(place) = place {
        cx.app.ui.feeds.selected = place;
        load_rows::open_list(cx);
        cx.app.ui.focus = Pane::Entries;
    }
    cx.say_undoable("saved as a list");
    if let Some(saved) = load_rows::find_search(cx.app, id) {
        let name = saved.name.clone();
        cx.app.ui.open_prompt(Prompt::selected(PromptPurpose::Rename(id), name));
    }
}

/// Returns the ID of the saved search that is selected in the subscriptions pane.
fn selected_search(app: &App) -> Option<u32> {
    match app.ui.feeds.selected_row() {
        Some(FeedsRow::Search(id)) if app.ui.focus == Pane::Feeds => Some(*id),
        Some(_) | None => None,
    }
}

/// Opens the input line for a new name of the selected saved search. Returns `None` if no saved search is selected.
pub fn ask_name(cx: &mut Cx<'_>) -> Option<()> {
    let id = selected_search(cx.app)?;
    let name = load_rows::find_search(cx.app, id)?.name.clone();
    cx.app.ui.open_prompt(Prompt::filled(PromptPurpose::Rename(id), name));
    Some(())
}

/// Renames a saved search.
pub fn rename_search(cx: &mut Cx<'_>, id: u32, name: &str) {
    let mut list = cx.app.engine.saved_searches.clone();
    let Some(search) = list.iter_mut().find(|search| search.id == id) else { return };
    search.name = short_name(name);
    change_list(cx, list);
}

/// Removes the selected saved search. Returns `None` if no saved search is selected.
pub fn give_up_selected(cx: &mut Cx<'_>) -> Option<()> {
    let id = selected_search(cx.app)?;
    let mut list = cx.app.engine.saved_searches.clone();
    list.retain(|search| search.id != id);
    change_list(cx, list);
    load_rows::open_list(cx);
    cx.say_undoable("the search was removed; its entries stay");
    Some(())
}

fn change_list(cx: &mut Cx<'_>, list: Vec<SavedSearch>) {
    cx.ask(Request::SaveSearches(list));
    count_all(cx);
}

/// Requests the number of today's unread entries, and the number of unread entries in each saved search. If an earlier request is
/// pending, the new request follows it.
pub fn count_all(cx: &mut Cx<'_>) {
    count(cx, true);
}

/// Like [`count_all`], without the saved searches.
pub fn count_today(cx: &mut Cx<'_>) {
    count(cx, false);
}

fn count(cx: &mut Cx<'_>, searches: bool) {
    if !cx.app.ui.counts.begin(searches) {
        return;
    }
    let (zone, is_on) = (cx.app.engine.zone, cx.app.ui.is_on());
    let saved = cx.app.engine.saved_searches.iter().filter(|_| searches && is_on);
    let searches = saved
        .filter_map(|saved| Some((saved.id, load_rows::resolve_search(cx.app, cx.now, saved.id)?)));
    let (since, day) =
        (day_start(day_of(cx.now, zone), zone), cx.app.ui.settings.portion(cx.now, zone).day);
    let wanted = CountsWanted { since, day, searches: searches.collect() };
    cx.out.push(ask_store(Job::Count(Box::new(wanted))));
}

/// Stores the numbers that the store returned. If entries have changed since the request, requests the numbers again.
pub fn take_counts(cx: &mut Cx<'_>, counts: UnreadCounts) {
    if let Some(searches) = cx.app.ui.counts.end(counts) {
        count(cx, searches);
    }
}

/// Handles a failed count of the store. The numbers are requested again after the next change.
pub const fn stop_waiting(app: &mut App) {
    app.ui.counts.waiting = false;
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
        let portion = app.ui.settings.portion(noon(), app.engine.zone).day;
        let dated = |dated| UnreadCounts { dated, ..UnreadCounts::default() };
        let wanted = CountsWanted { since: day, day: portion, searches: Vec::new() };
        let job = Job::Count(Box::new(wanted));
        assert_eq!(
            jobs(&Cx::run(&mut app, noon(), |cx| count_all(cx))),
            [&job],
            "no search is saved"
        );
        assert!(Cx::run(&mut app, noon(), |cx| count_today(cx)).is_empty());
        assert_eq!(jobs(&Cx::run(&mut app, noon(), |cx| take_counts(cx, dated(7)))), [&job]);
        assert!(Cx::run(&mut app, noon(), |cx| take_counts(cx, dated(8))).is_empty());
        assert_eq!(app.ui.counts.value, dated(8));
    }

    #[test]
    fn failed_count_is_retried_after_a_change() {
        let mut app = app_with(&[]);
        Cx::run(&mut app, noon(), |cx| count_today(cx));
        stop_waiting(&mut app);
        assert_eq!(Cx::run(&mut app, noon(), |cx| count_today(cx)).len(), 1);
    }
}
