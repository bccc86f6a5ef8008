//! The query for the rows of the open list: the entries of the selected row in the subscriptions pane or of the open search.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::engine::backfill::gap_rows;
use crate::engine::entries::rows::{JoinBy, ListQuery, Scope, Show};
use crate::engine::saved_searches::SavedSearch;
use crate::engine::search_query::resolve;
use crate::engine::settings::Join;
use crate::ui::app::App;
use crate::ui::state::feeds_pane::FeedsRow;
use backissue_core::feed::dates::calendar::{day_of, day_start};
use backissue_core::history::FeedKey;
use backissue_core::search::{Marks, Matching};

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
        Some(FeedsRow::Gaps) => {
            let keep = BTreeSet::new();
            let gaps = gap_rows::everywhere(&app.engine, now);
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
    ListQuery { gaps: gap_rows::in_query(&app.engine, &query, now), ..query }
}

/// Returns how entries that are the same article are found, if they are to be shown as one row.
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
    };
    ListQuery { gaps: gap_rows::in_query(&app.engine, &query, now), ..query }
}

/// Checks whether the list of the selected row can show gaps: it does not if it shows unread or starred entries only.
pub fn can_show_gaps(app: &App) -> bool {
    match app.ui.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread | FeedsRow::Starred | FeedsRow::Attention) => false,
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
        None | Some(FeedsRow::AllUnread | FeedsRow::Today | FeedsRow::Starred) => true,
        Some(FeedsRow::Gaps | FeedsRow::Attention | FeedsRow::Search(_)) => false,
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

#[cfg(test)]
mod tests {
    use crate::ui::panes::list_query::*;
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
