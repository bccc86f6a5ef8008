//! Loads rows of the entry list: opens and rebuilds lists, also when gaps in them appear or disappear, and requests rows before
//! they become visible. The query is for the entries of the selected row in the subscriptions pane or of the open search. Also
//! shows entries that share a row in rows of their own, and remembers that they are not the same story.

use std::collections::BTreeSet;

use backissue_core::feed::dates::calendar::{day_of, day_start};
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::search::{Marks, Matching};
use chrono::{DateTime, Utc};

use super::entry_list::{Listing, WINDOW_ROWS, sight_rows};
use crate::engine::backfill::history_requests;
use crate::engine::change::value::SavedSearch;
use crate::engine::entries::rows::{
    JoinBy, ListQuery, RareTerms, RowKey, RowOrder, RowsWanted, Scope, Show,
};
use crate::engine::search_query::resolve;
use crate::engine::settings::Join;
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx};
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::scroll_list::{Distance, ScrollList, moved};
use crate::ui::state::feeds_pane::{FeedsRow, PlaceList};
use crate::ui::state::layout::Pane;

/// Moves the selection down (`true`) or up in the entry list.
pub fn move_in_list(cx: &mut Cx<'_>, down: bool, distance: Distance) {
    let lines = u16::try_from(cx.app.ui.row_shape().lines).unwrap_or(1).max(1);
    let steps = distance.steps(cx.app.ui.viewport.entries_rows / lines);
    let list = &mut cx.app.ui.list;
    list.selected = moved(list.selected, list.total, down, steps);
    load_visible_rows(cx);
}

/// Scrolls so that the selected row is visible, and requests more rows if the selection is near the edge of the rows in memory.
pub fn load_visible_rows(cx: &mut Cx<'_>) {
    let height = usize::from(cx.app.ui.viewport.entries_rows);
    let shape = cx.app.ui.row_shape();
    cx.app.ui.list.keep_in_sight(height.max(1), shape, cx.app.engine.zone);
    let Some(wanted) = cx.app.ui.list.wanted(height) else { return };
    cx.app.ui.list.waiting = true;
    cx.read_rows(wanted);
}

/// Opens the entry list of the selected row in the subscriptions pane, with its first row selected.
pub fn open_list(cx: &mut Cx<'_>) {
    let number = cx.app.ui.list.number.saturating_add(1);
    let order = cx.app.ui.chosen_order();
    let of = cx.app.ui.feeds.selected_row().map(PlaceList::of).unwrap_or_default();
    let opened = Listing { number, of, order, waiting: true, fresh: true, ..Listing::default() };
    cx.app.ui.list = opened;
    cx.app.ui.then = None;
    cx.app.ui.attention = ScrollList::default();
    cx.app.ui.marked.entries.clear();
    forget_search(cx.app);
    // The entry in the reader pane belongs to the previous list.
    (cx.app.ui.reader, cx.app.ui.opening) = (None, None);
    let query = build_query(cx.app, cx.now);
    cx.app.ui.list.gaps.clone_from(&query.gaps);
    let height = usize::from(cx.app.ui.viewport.feeds_rows);
    cx.app.ui.feeds.keep_in_sight(height);
    let rows = sight_rows(cx.app.ui.viewport.entries_rows.into());
    let wanted = RowsWanted { rebuild: Some(query), ..RowsWanted::at(number, 0, rows) };
    cx.read_rows(wanted);
    if matches!(cx.app.ui.feeds.selected_row(), Some(FeedsRow::Search(_))) {
        cx.out.push(ScreenEffect::HurryIndex);
    }
}

/// Opens the list again after the user chose its order or contents. Marked entries stay marked. The selected entry stays selected,
/// unless it was the first one and its text is not open.
pub fn reopen_list(cx: &mut Cx<'_>) {
    let marked = std::mem::take(&mut cx.app.ui.marked.entries);
    let is_used = cx.app.ui.list.selected > 0 || cx.app.ui.read_entry().is_some();
    if is_used && cx.app.ui.focus != Pane::Feeds {
        cx.app.ui.list.order = cx.app.ui.chosen_order();
        cx.app.ui.list.is_due = true;
        cx.app.ui.list.keep.clear();
        refresh_list(cx);
    } else {
        open_list(cx);
    }
    cx.app.ui.marked.entries = marked;
}

/// Rebuilds the open list. The selected entry stays selected.
pub fn refresh_list(cx: &mut Cx<'_>) {
    let around = cx.app.ui.list.selected_row().map(|row| row.key);
    // If the first row is selected in an unfocused list, new entries appear above it. Otherwise, the visible rows stay in place.
    let around = around.filter(|_| cx.app.ui.list.selected > 0 || cx.app.ui.focus != Pane::Feeds);
    // A filter may hide the entry that the user reads. It keeps its row, because keys act on the selected row.
    let read = around.and_then(RowKey::entry).filter(|key| cx.app.ui.read_entry() == Some(*key));
    let read = read.filter(|key| cx.app.engine.feeds.contains_key(&key.feed));
    cx.app.ui.list.keep.extend(read);
    let query = build_query(cx.app, cx.now);
    let list = &mut cx.app.ui.list;
    list.waiting = true;
    list.gaps.clone_from(&query.gaps);
    let wanted = RowsWanted {
        rebuild: Some(query),
        around,
        asked: around.map(|_| list.selected),
        ..RowsWanted::at(list.number, list.offset, WINDOW_ROWS)
    };
    cx.read_rows(wanted);
}

/// Closes the search because another list is opened.
pub fn forget_search(app: &mut App) {
    (app.ui.search, app.ui.marks) = (None, find_marks(app));
}

/// Builds the query for the list of the selected row in the subscriptions pane or, if a search is open, for the search results.
pub fn build_query(app: &App, now: DateTime<Utc>) -> ListQuery {
    let screen = &app.ui;
    if let Some(matching) = screen.search.as_ref().and_then(|search| search.matching.as_ref()) {
        return build_search_query(app, matching, now);
    }
    let everything = |show, since| ListQuery {
        scope: Scope::Everything,
        show,
        since,
        keep: screen.list.keep.clone(),
        gaps: Vec::new(),
        order: screen.list.order,
        join: join_by(app),
        apart: screen.list.unfolded.values().flatten().copied().collect(),
        rare: rare_terms(app),
    };
    let feeds = |feeds| ListQuery { scope: Scope::Feeds(feeds), ..everything(screen.show, None) };
    let query = match screen.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread) => {
            ListQuery { scope: app.engine.loud_feeds(), ..everything(Show::Unread, None) }
        }
        Some(FeedsRow::Today) => {
            everything(screen.show, Some(day_start(day_of(now, app.engine.zone), app.engine.zone)))
        }
        Some(FeedsRow::Starred) => everything(Show::Starred, None),
        Some(FeedsRow::Ended) => everything(Show::Ended, None),
        Some(FeedsRow::Reading) => ListQuery {
            scope: Scope::Portion(screen.settings.portion(now, app.engine.zone)),
            rare: Some(Box::new(app.engine.rare_terms())),
            ..everything(Show::All, None)
        },
        Some(FeedsRow::Gaps) => {
            let keep = BTreeSet::new();
            let gaps = history_requests::everywhere(&app.engine, now);
            return ListQuery { show: Show::All, keep, gaps, ..feeds(Vec::new()) };
        }
        Some(FeedsRow::Attention) => feeds(Vec::new()),
        Some(FeedsRow::Search(id)) => match resolve_search(app, now, *id) {
            Some(matching) => ListQuery {
                scope: Scope::Found(Box::new(matching)),
                ..everything(screen.show, None)
            },
            None => feeds(Vec::new()),
        },
        Some(FeedsRow::Tag(_, keys)) => feeds(keys.clone()),
        Some(FeedsRow::Feed(key, _)) => feeds(vec![*key]),
    };
    ListQuery { gaps: history_requests::in_query(&app.engine, &query, now), ..query }
}

/// Returns how the store finds entries that are the same article. Returns `None` if each entry has its own row.
fn join_by(app: &App) -> Option<JoinBy> {
    let feeds = app.engine.feeds.values();
    match app.engine.settings.join {
        Join::Never => None,
        Join::Link => Some(JoinBy::Link),
        Join::Title => {
            Some(JoinBy::Title(feeds.map(|feed| (feed.key, feed.record.tags.clone())).collect()))
        }
    }
}

/// Returns the data that the store needs to order the list by how rarely feeds publish. Returns `None` if the list has another
/// order.
fn rare_terms(app: &App) -> Option<Box<RareTerms>> {
    (app.ui.list.order == RowOrder::RareFirst).then(|| Box::new(app.engine.rare_terms()))
}

/// Builds the query for the results of a search.
pub fn build_search_query(app: &App, matching: &Matching, now: DateTime<Utc>) -> ListQuery {
    let list = &app.ui.list;
    let query = ListQuery {
        scope: Scope::Found(Box::new(matching.clone())),
        show: Show::All,
        since: None,
        keep: list.keep.clone(),
        gaps: Vec::new(),
        order: list.order,
        join: join_by(app),
        apart: list.unfolded.values().flatten().copied().collect(),
        rare: rare_terms(app),
    };
    ListQuery { gaps: history_requests::in_query(&app.engine, &query, now), ..query }
}

/// Checks whether the list of the selected row can show gaps. A list that only contains unread or starred entries cannot.
pub fn can_show_gaps(app: &App) -> bool {
    match app.ui.feeds.selected_row() {
        None
        | Some(
            FeedsRow::AllUnread
            | FeedsRow::Reading
            | FeedsRow::Starred
            | FeedsRow::Ended
            | FeedsRow::Attention,
        ) => false,
        Some(FeedsRow::Gaps) => true,
        Some(FeedsRow::Today | FeedsRow::Search(_) | FeedsRow::Tag(..) | FeedsRow::Feed(..)) => {
            app.ui.show == Show::All
        }
    }
}

/// Checks whether the open list can contain entries of a feed.
pub fn may_hold(app: &App, feed: FeedKey) -> bool {
    if app.ui.search.is_some() {
        // Search results are refreshed when new entries have been added to the search index, not when a feed changes.
        return false;
    }
    match app.ui.feeds.selected_row() {
        None
        | Some(FeedsRow::AllUnread | FeedsRow::Today | FeedsRow::Starred | FeedsRow::Ended) => true,
        Some(FeedsRow::Reading | FeedsRow::Gaps | FeedsRow::Attention | FeedsRow::Search(_)) => {
            false
        }
        Some(FeedsRow::Tag(_, keys)) => keys.contains(&feed),
        Some(FeedsRow::Feed(key, _)) => *key == feed,
    }
}

/// Returns the saved search with an ID.
pub fn find_search(app: &App, id: u32) -> Option<&SavedSearch> {
    app.engine.saved_searches.iter().find(|search| search.id == id)
}

/// Converts a saved search to a query. Dates in the search can be relative to today, so the query depends on the current time.
/// Returns `None` if the search does not exist or is invalid.
pub fn resolve_search(app: &App, now: DateTime<Utc>, id: u32) -> Option<Matching> {
    resolve(&app.engine, now, &find_search(app, id)?.text, false).ok()
}

/// Returns the words to highlight in the selected list. Only saved searches have such words.
pub fn find_marks(app: &App) -> Marks {
    let Some(FeedsRow::Search(id)) = app.ui.feeds.selected_row() else {
        return Marks::default();
    };
    let text = find_search(app, *id).map_or("", |search| search.text.as_str());
    let query = backissue_core::search::parse(text, false, app.engine.zone);
    query.map(|query| Marks::for_condition(&query.condition)).unwrap_or_default()
}

/// Rebuilds the open list if the gaps in it have changed.
pub fn follow_gaps(cx: &mut Cx<'_>) {
    if !cx.app.ui.is_on() || cx.app.ui.list.waiting || cx.app.ui.search.is_some() {
        return;
    }
    // Building the query takes time for each feed, and this function runs after every input. Lists of unread entries show no
    // gaps, so no query is built for them.
    if cx.app.ui.list.gaps.is_empty() && !can_show_gaps(cx.app) {
        return;
    }
    if build_query(cx.app, cx.now).gaps == cx.app.ui.list.gaps {
        return;
    }
    refresh_list(cx);
}

/// Checks whether the list of the gaps in all feeds is open.
pub fn is_open(app: &App) -> bool {
    matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Gaps))
}

/// Unfolds the selected row. If the row was already unfolded, its entries never share a row again because of a link to the same
/// page. A third call undoes the second one.
pub fn unfold(cx: &mut Cx<'_>) {
    let row = cx.app.ui.list.selected_row();
    let Some((row, key)) = row.and_then(|row| Some((row, row.key.entry()?))) else {
        return;
    };
    let fold = row.inside.clone();
    if !fold.entries.is_empty() {
        let entries: Vec<EntryKey> = fold.entries.into_iter().chain([key]).collect();
        let again = cx.app.ui.words("{unfold} again: not the same story");
        cx.say(format!("{} rows; {again}", entries.len()));
        for entry in entries {
            cx.app.ui.list.unfolded.entry(entry).or_default().extend(&fold.links);
        }
        return refresh_list(cx);
    }
    let Some(links) = cx.app.ui.list.unfolded.get(&key).cloned() else {
        return cx.say("no other entry that links to the same page shares this row");
    };
    let is_back = !cx.app.ui.list.noted_apart.insert(key);
    if is_back {
        cx.app.ui.list.noted_apart.remove(&key);
        cx.app.ui.list.unfolded.retain(|_, other| *other != links);
    }
    let again = cx.app.ui.words("{unfold} again takes it back");
    cx.say(if is_back {
        "they share a row again".to_owned()
    } else {
        format!("noted: not the same story · {again}")
    });
    cx.out.push(ask_store(Job::KeepApart(links)));
    if is_back {
        refresh_list(cx);
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::panes::load_rows::*;
    use crate::ui::sample_app::{app_with, noon, select};

    #[test]
    fn each_subscription_row_selects_its_own_entries() {
        let mut app = app_with(&[("Orchard", &["garden"]), ("Tower", &[])]);
        app.ui.show = Show::All;
        let (first, second) = (FeedKey(1), FeedKey(2));
        for (row, scope, show, today) in [
            (FeedsRow::AllUnread, Scope::Everything, Show::Unread, false),
            (FeedsRow::Today, Scope::Everything, Show::All, true),
            (FeedsRow::Starred, Scope::Everything, Show::Starred, false),
            (FeedsRow::Gaps, Scope::Feeds(Vec::new()), Show::All, false),
            (FeedsRow::Attention, Scope::Feeds(Vec::new()), Show::All, false),
            (
                FeedsRow::Tag("garden".into(), vec![first]),
                Scope::Feeds(vec![first]),
                Show::All,
                false,
            ),
            (FeedsRow::Feed(second, 0), Scope::Feeds(vec![second]), Show::All, false),
        ] {
            select(&mut app, &row);
            let query = build_query(&app, noon());
            assert_eq!((query.scope, query.show), (scope, show), "{row:?}");
            assert_eq!(query.since.is_some(), today, "{row:?}");
        }
    }

    #[test]
    fn only_feeds_of_the_selected_row_can_change_the_open_list() {
        let mut app = app_with(&[("Orchard", &["garden"]), ("Tower", &[])]);
        for (row, first, second) in [
            (FeedsRow::AllUnread, true, true),
            (FeedsRow::Gaps, false, false),
            (FeedsRow::Tag("garden".into(), vec![FeedKey(1)]), true, false),
            (FeedsRow::Feed(FeedKey(2), 0), false, true),
        ] {
            select(&mut app, &row);
            let held = [1, 2].map(|feed| may_hold(&app, FeedKey(feed)));
            assert_eq!(held, [first, second], "{row:?}");
        }
    }

    #[test]
    fn saved_search_is_found_by_number_and_marks_words() {
        let mut app = app_with(&[]);
        let (name, text) = ("wax".to_owned(), "wax -candle".to_owned());
        app.engine.saved_searches.push(SavedSearch { id: 4, name, text });
        assert_eq!(find_search(&app, 4).map(|search| search.name.as_str()), Some("wax"));
        assert!(resolve_search(&app, noon(), 4).is_some());
        assert!(find_search(&app, 5).is_none() && resolve_search(&app, noon(), 5).is_none());
        assert_eq!(find_marks(&app), Marks::default(), "it is not selected");
        app.ui.feeds.rows.push(FeedsRow::Search(4));
        select(&mut app, &FeedsRow::Search(4));
        assert_ne!(find_marks(&app), Marks::default());
    }
}
