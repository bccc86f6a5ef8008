//! Which entries the open list holds: those of the selected row, or those of the open search.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::engine::backfill::gap_rows;
use crate::engine::calendar::day_start;
use crate::engine::entries::rows::{ListQuery, Scope, Show};
use crate::engine::saved_searches::SavedSearch;
use crate::engine::search_query::resolve;
use crate::history::FeedKey;
use crate::search::{Marks, Matching};
use crate::ui::app::App;
use crate::ui::state::feeds_pane::FeedsRow;

/// The entries that the selected row stands for.
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
    };
    let feeds = |feeds| ListQuery { scope: Scope::Feeds(feeds), ..everything(screen.show, None) };
    let query = match screen.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread) => everything(Show::Unread, None),
        Some(FeedsRow::Today) => everything(screen.show, Some(day_start(now, app.engine.zone))),
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

/// The list of what is looked for.
pub fn build_search_query(app: &App, matching: &Matching, now: DateTime<Utc>) -> ListQuery {
    let list = &app.ui.list;
    let query = ListQuery {
        scope: Scope::Found(Box::new(matching.clone())),
        show: Show::All,
        since: None,
        keep: list.keep.clone(),
        gaps: Vec::new(),
        order: list.order,
    };
    ListQuery { gaps: gap_rows::in_query(&app.engine, &query, now), ..query }
}

/// Whether entries of a feed can be in the open list.
pub fn may_hold(app: &App, feed: FeedKey) -> bool {
    if app.ui.search.is_some() {
        // The index says itself when it holds more.
        return false;
    }
    match app.ui.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread | FeedsRow::Today | FeedsRow::Starred) => true,
        Some(FeedsRow::Gaps | FeedsRow::Attention | FeedsRow::Search(_)) => false,
        Some(FeedsRow::Tag(_, keys)) => keys.contains(&feed),
        Some(FeedsRow::Feed(key, _)) => *key == feed,
    }
}

/// One of the saved searches.
pub fn find_search(app: &App, id: u32) -> Option<&SavedSearch> {
    app.engine.saved_searches.iter().find(|search| search.id == id)
}

/// What a saved search looks for now: its dates may be counted from today.
pub fn resolve_search(app: &App, now: DateTime<Utc>, id: u32) -> Option<Matching> {
    resolve(&app.engine, now, &find_search(app, id)?.text, false).ok()
}

/// The words that are marked in the selected list.
pub fn find_marks(app: &App) -> Marks {
    let Some(FeedsRow::Search(id)) = app.ui.feeds.selected_row() else {
        return Marks::default();
    };
    let text = find_search(app, *id).map_or("", |search| search.text.as_str());
    let query = crate::search::parse(text, false, DateTime::UNIX_EPOCH, app.engine.zone);
    query.map(|query| Marks::for_terms(&query.terms)).unwrap_or_default()
}
